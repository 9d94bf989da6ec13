#include "base/cancel.h"
#include "prime/record_entries.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/find.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "driver/installed_compilers.h"
#include "driver/run_folder.h"
#include "os/child_variables.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/processes.h"
#include "os/uv.h"
#include "pack/ledger.h"

/* The pauses between two polls of the command's processes: short soon after the start, since a
 * program may be short; longer later, but short enough to see the programs that it starts. */
enum { FIRST_POLL_MS = 20, LAST_POLL_MS = 250 };

static int take_path(struct jw_error *err, struct recorder *recorder, const char *path)
{
	const uint64_t key = fnv_update(FNV_START, path, strlen(path));

	if (set_has(&recorder->known_paths, key))
		return 0;
	if (ARENA_ROOM(err, recorder->result, recorder->paths, recorder->path_capacity,
				   recorder->path_count, RECORD_MAX_PATHS))
		return -1;
	set_add(&recorder->known_paths, key, recorder->path_count);
	recorder->paths[recorder->path_count++] = arena_string(recorder->result, path);
	return 0;
}

/* Records the newest NVRTC if the driver does not read its PTX; the driver stores nothing for PTX
 * that it refuses. */
static void note_nvrtc(struct recorder *recorder, const char *path, const char *name)
{
	const uint64_t key = fnv_update(FNV_START, path, strlen(path));
	uint32_t cuda;

	if ((!text_starts(name, "libnvrtc") && !text_starts(name, "nvrtc")) ||
		set_has(&recorder->known_paths, key))
		return;
	cuda = compiler_nvrtc_cuda(path);
	if (cuda <= recorder->nvrtc_cuda)
		return;
	recorder->nvrtc_cuda = cuda;
	recorder->result->refused_ptx = arena_keep(
		recorder->result, compiler_refused_ptx("NVRTC", cuda, &recorder->system->driver.version));
}

/* The compiler is loaded if a module is compiled or linked, but not if machine code or an entry is
 * loaded (470 to 555; docs/internals/driver-cache.md). */
static int see_code(struct jw_error *err, void *context, const char *path, bool replaced)
{
	struct recorder *recorder = context;
	const char *name = os_base_name(path);

	if (replaced)
		return 0;
	if (text_starts(name, "libnvidia-ptxjitcompiler.so") ||
		text_starts_fold(name, "nvptxjitcompiler"))
		recorder->result->compiler_seen = true;
	note_nvrtc(recorder, path, name);
	return recorder->given ? 0 : take_path(err, recorder, path);
}

/* Takes the files that the caller has named or found. */
static int take_given(struct jw_error *err, struct recorder *recorder)
{
	const struct jw_found *found = recorder->options->found;

	for (size_t i = 0; i < recorder->options->path_count; i++)
		if (take_path(err, recorder, recorder->options->paths[i]))
			return -1;
	for (size_t i = 0; found && i < found->file_count; i++)
		if (take_path(err, recorder, found->files[i].path))
			return -1;
	recorder->given = recorder->path_count > 0;
	return 0;
}

struct running {
	struct recorder *recorder;
	char *program; /* the command's program, as libuv resolves it */
	uv_loop_t loop;
	uv_process_t process;
	uv_timer_t clock;
	uv_fs_event_t watch;
	uint64_t every_ms, checked_ns;
	int64_t exit_status;
	int signal;
	struct jw_error why; /* why polling was stopped */
};

static void poll_processes(struct running *running)
{
	running->checked_ns = os_monotonic_ns();
	if (running->why.code ||
		os_mapped_code(&running->why, running->process.pid, see_code, running->recorder))
		return;
	running->every_ms += running->every_ms / 4 + 1;
	if (running->every_ms > LAST_POLL_MS)
		running->every_ms = LAST_POLL_MS;
}

static void on_clock(uv_timer_t *clock)
{
	struct running *running = clock->data;

	poll_processes(running);
	(void)uv_timer_start(clock, on_clock, running->every_ms, 0);
}

static void on_change(uv_fs_event_t *watch, const char *name, int events, int status)
{
	struct running *running = watch->data;

	(void)name;
	(void)events;
	(void)status;
	if (uv_is_closing((uv_handle_t *)&running->clock))
		return;
	running->every_ms = FIRST_POLL_MS;
	if (os_monotonic_ns() - running->checked_ns > FIRST_POLL_MS * UINT64_C(1000000))
		poll_processes(running);
	(void)uv_timer_start(&running->clock, on_clock, running->every_ms, 0);
}

static void close_all(struct running *running)
{
	uv_close((uv_handle_t *)&running->process, NULL);
	uv_close((uv_handle_t *)&running->clock, NULL);
	uv_close((uv_handle_t *)&running->watch, NULL);
}

static void on_exit(uv_process_t *process, int64_t exit_status, int signal)
{
	struct running *running = process->data;

	os_forward_signals(0);
	running->exit_status = exit_status;
	running->signal = signal;
	close_all(running);
}

static int spawn(struct jw_error *err, struct running *running, char **environment)
{
	const struct jw_record_options *options = running->recorder->options;
	const struct os_spawn how = {
		.program = running->program,
		.arguments = options->command,
		.environment = environment,
		.streams = {{.flags = UV_INHERIT_FD, .data.fd = 0},
					{.flags = UV_INHERIT_FD, .data.fd = options->output_to_stderr ? 2 : 1},
					{.flags = UV_INHERIT_FD, .data.fd = 2}},
		.ended = on_exit,
		.has_console = true,
	};
	const int failed = os_spawn(&running->loop, &running->process, &how);

	if (failed)
		return error_set(err, failed == UV_ENOENT ? JW_ERR_NOT_FOUND : JW_ERR_IO,
						 "%s cannot be started: %s", options->command[0], uv_strerror(failed));
	return 0;
}

static int run_to_its_end(struct jw_error *err, struct running *running, char **environment)
{
	const uint64_t began = os_monotonic_ns();
	struct recorder *recorder = running->recorder;
	int failed;

	if (os_loop_open(err, &running->loop))
		return -1;
	os_hold_signals();
	if (record_is_stopped(recorder)) {
		os_forward_signals(0);
		(void)uv_loop_close(&running->loop);
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted before the command was started");
	}
	(void)uv_timer_init(&running->loop, &running->clock);
	(void)uv_fs_event_init(&running->loop, &running->watch);
	running->process.data = running->clock.data = running->watch.data = running;
	failed = spawn(err, running, environment);
	os_forward_signals(failed ? 0 : running->process.pid);
	if (failed)
		close_all(running);
	else {
		(void)uv_timer_start(&running->clock, on_clock, running->every_ms, 0);
		(void)uv_fs_event_start(&running->watch, on_change, running->recorder->cache_dir, 0);
	}
	(void)uv_run(&running->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&running->loop);
	recorder->result->seconds = (double)(os_monotonic_ns() - began) / 1e9;
	recorder->result->exit_status =
		running->signal ? 128 + running->signal : (int)running->exit_status;
	return failed;
}

static int run_recorded_command(struct jw_error *err, struct recorder *recorder)
{
	char limit[TEXT_SHORT];
	const struct child_variable variables[] = {
		{"CUDA_CACHE_PATH", recorder->cache_dir},
		{"CUDA_CACHE_DISABLE", "0"},
		{"CUDA_CACHE_MAXSIZE", limit},
	};
	const size_t given = !recorder->result->live || recorder->options->limit_bytes ? 3 : 2;
	const char *const *command = recorder->options->command;
	struct running running = {.recorder = recorder, .every_ms = FIRST_POLL_MS};
	char **environment = NULL, *file = NULL, *real = NULL;
	int failed;

	(void)snprintf(limit, sizeof limit, "%" PRIu64,
				   recorder->result->live ? recorder->options->limit_bytes : CACHE_MAX_LIMIT);
	environment = child_variables_with(err, variables, given);
	running.program = os_find_program(err, command[0]);
	failed = environment && running.program ? 0 : -1;
	/* The program's file is recorded now, because the command may end before its maps are read for
	 * the first time. A script has no code. */
	if (!failed)
		file = strchr(running.program, os_separator) ? mem_string(running.program)
													 : os_program_on_path(running.program);
	if (file && !recorder->given && !os_real_path(NULL, file, &real))
		failed = take_path(err, recorder, real);
	mem_free(real);
	mem_free(file);
	if (!failed)
		failed = run_to_its_end(err, &running, environment);
	mem_free(running.program);
	jw_result_free(environment);
	if (!failed && running.why.code)
		record_note(recorder->result, running.why.message);
	return failed;
}

/* Records warm modules and those that were compiled, so that a later report can say why a module is
 * cold, and which ones programs use. */
static void remember(const struct recorder *recorder)
{
	const struct jw_system *system = recorder->system;
	struct ledger ledger;

	if (!recorder->plan)
		return;
	ledger_open(&ledger, system->state_dir, system->cache.path);
	ledger_begin(&ledger, recorder->plan);
	ledger_note_used(&ledger, system->state_dir);
	ledger_close(&ledger);
}

/* Learns the modules. The command has run, so a failure here must not lose its status. */
static void learn_modules(struct recorder *recorder)
{
	const struct jw_record_options *options = recorder->options;
	struct jw_record_result *result = recorder->result;
	struct jw_error *why = &result->unread;

	if (!why->code && !record_read_entries(why, recorder)) {
		/* The entries are inserted before the owners are searched for, which may take a while, so
		 * that they stay even if the user cancels the search. */
		record_warm(recorder);
		if (!record_find_owners(why, recorder)) {
			remember(recorder);
			if (options->output) {
				record_keep_texts(recorder);
				jw_recording_name_files(result->recording, options->found);
				(void)jw_recording_write(&result->not_written, options->output, result->recording);
			}
		}
	}
	if (options->output && why->code)
		result->not_written = *why;
}

/* Decides which cache the command has, and remembers its content. */
static int choose_cache(struct jw_error *err, struct recorder *recorder, const char *folder)
{
	const struct jw_cache_info *cache = &recorder->system->cache;
	struct jw_error why;

	recorder->result->live = recorder->options->live && cache->path &&
							 (!cache->why_useless[0] || cache->reads) && cache->limit_bytes;
	if (!recorder->result->live) {
		recorder->cache_dir = os_join(folder, "cache");
		return os_make_dirs(err, recorder->cache_dir, 0700);
	}
	recorder->cache_dir = mem_string(cache->path);
	return cache_files_scan(&why, cache->path, /* headers= */ false, NULL, &recorder->before) &&
				   why.code != JW_ERR_NOT_FOUND
			   ? error_copy(err, &why)
			   : 0;
}

int jw_record(struct jw_error *err, const struct jw_system *system,
			  const struct jw_record_options *options, struct jw_record_result **ret_result)
{
	struct recorder recorder = {.system = system, .options = options};
	struct run_folder folder = {0};
	struct jw_recording *recording;
	int failed = -1;

	recorder.result = arena_open(sizeof *recorder.result);
	recording = recorder.result->recording = arena_open(sizeof *recording);
	arena_join(recorder.result, recording);
	recording->command = arena_string(recording, os_base_name(options->command[0]));
	if (run_folder_make(err, system->state_dir, &folder) ||
		choose_cache(err, &recorder, folder.path) || take_given(err, &recorder))
		goto done;
	if (run_recorded_command(err, &recorder))
		goto done;
	learn_modules(&recorder);
	failed = 0;
done:
	run_folder_remove(&folder);
	plan_free(recorder.plan);
	recorder.result->searched = recorder.paths;
	recorder.result->searched_count = recorder.path_count;
	set_free(&recorder.known_paths);
	cache_files_free(&recorder.before);
	mem_free(recorder.entries);
	mem_free(recorder.cache_dir);
	if (failed)
		jw_result_free(recorder.result);
	else
		*ret_result = recorder.result;
	return failed;
}
