/* A run with workers that behave as drivers do on bad days. The workers are shell scripts. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/insert.h"
#include "cache/probe.h"
#include "entries.h"
#include "os/file.h"
#include "os/system.h"
#include "prime/run.h"

enum { MODULES = 6 };

/* Greets, then answers each job with `do_job ID DEVICE`; make_entry copies the entry of a job into
 * the worker's cache. "$first" is true in the first worker that asks. */
static const char common[] =
	"answer() { echo \"{\\\"answer\\\":$1,\\\"result\\\":$2,\\\"sticky\\\":${3:-false},"
	"\\\"no_context\\\":${4:-false},\\\"error\\\":\\\"${5:-}\\\"}\"; }\n"
	"hello() { echo \"{\\\"hello\\\":0,\\\"cuda\\\":12040,\\\"devices\\\":[{\\\"ordinal\\\":0,"
	"\\\"sm\\\":${1:-86},\\\"name\\\":\\\"test\\\",\\\"compute_mode\\\":${2:-0}}]}\"; }\n"
	"make_entry() { cp -R \"$trees/$1/.\" \"$CUDA_CACHE_PATH/\"; }\n"
	"fine() { make_entry $1; answer $1 0; }\n"
	"once() { mkdir \"$marks/$1\" 2>/dev/null; }\n"
	"serve() { while read -r line; do id=${line#*:}; do_job \"${id%%,*}\"; done; }\n";

static char *folder, *script, *cache;
static struct plan_module modules[MODULES];
static char file_path[] = "library.so";
static struct plan_file file = {.path = file_path};
static struct plan_target target = {.device = {.sm = 86}};
static struct plan plan = {.files = &file,
						   .file_count = 1,
						   .targets = &target,
						   .target_count = 1,
						   .modules = modules,
						   .module_count = MODULES};
static struct spool_place places[MODULES];
static struct spool spool = {.places = places};
static struct jw_system jw_machine;
static struct jw_prime_options options;
static struct jw_prime_result *result;
static unsigned start_ms, end_ms;

static int make_folder(void **state)
{
	(void)state;
	if (os_make_temp_dir(NULL, "jitwarm-run", &folder))
		return -1;
	script = os_join(NULL, folder, "worker.sh");
	cache = os_join(NULL, folder, "cache");
	return script && cache ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	mem_free(script);
	mem_free(cache);
	if (os_remove_tree(NULL, folder))
		return -1;
	mem_free(folder);
	return 0;
}

static void make_tree(size_t id)
{
	struct entries_entry entry;
	char *root = mem_printf(NULL, "%s/trees/%zu", folder, id), *path, *parent;

	entries_make(&entry, (unsigned)id, 100);
	path = cache_entry_path(NULL, root, entry.key);
	parent = os_dir_name(NULL, path);
	assert_int_equal(os_make_dirs(NULL, parent, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, path, entry.bytes, entry.size), 0);
	modules[id] = (struct plan_module){.container_bytes = 1,
									   .key = entry.key,
									   .key_bytes = entry.key_bytes,
									   .payload_bytes = 100,
									   .cost_ms = 10};
	places[id] = (struct spool_place){.path = "library.so", .size_bytes = 1};
	mem_free(parent);
	mem_free(path);
	mem_free(root);
}

/* Everything anew, with a worker that does `body`. */
static int begin(void **state)
{
	char *marks = os_join(NULL, folder, "marks");

	(void)state;
	assert_int_equal(os_remove_tree(NULL, cache), 0);
	assert_int_equal(os_remove_tree(NULL, marks), 0);
	assert_int_equal(os_make_dirs(NULL, marks, 0700), 0);
	mem_free(marks);
	for (size_t i = 0; i < MODULES; i++)
		make_tree(i);
	jw_machine = (struct jw_system){.cache = {.path = cache, .limit_bytes = 1 << 30}};
	options = (struct jw_prime_options){0};
	start_ms = end_ms = 0;
	result = mem_alloc(NULL, sizeof *result);
	return result ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	jw_prime_result_free(result);
	return 0;
}

static int run_with(struct jw_error *err, unsigned workers, const char *body)
{
	const char *const command[] = {"/bin/sh", script, NULL};
	struct cache_live_options how = {.limit_bytes = 1 << 30, .lock_wait_ms = 20};
	char *text =
		mem_printf(NULL, "trees='%s/trees' marks='%s/marks'\n%s%s", folder, folder, common, body);
	char *private_folder = os_join(NULL, folder, "run");
	struct cache_live *live = NULL;
	struct run_setup setup = {.plan = &plan,
							  .spool = &spool,
							  .system = &jw_machine,
							  .options = &options,
							  .worker = command,
							  .folder = private_folder,
							  .workers = workers,
							  .start_ms = start_ms,
							  .end_ms = end_ms};
	int failed;

	assert_int_equal(os_write_atomic(NULL, script, text, strlen(text)), 0);
	assert_int_equal(os_remove_tree(NULL, private_folder), 0);
	assert_int_equal(os_make_dirs(NULL, private_folder, 0700), 0);
	assert_int_equal(cache_live_open(NULL, cache, &how, &live), 0);
	setup.live = live;
	failed = run_plan(err, &setup, result);
	(void)cache_live_close(NULL, live);
	mem_free(private_folder);
	mem_free(text);
	return failed;
}

static size_t warm(void)
{
	size_t count = 0;

	for (size_t i = 0; i < MODULES; i++)
		count += cache_probe(cache, modules[i].key, modules[i].key_bytes, NULL) == CACHE_PRESENT;
	return count;
}

static void expect_all(void)
{
	assert_int_equal(result->compiled, MODULES);
	assert_int_equal(result->failed, 0);
	assert_int_equal(result->undone, 0);
	assert_int_equal(warm(), MODULES);
}

/* ---- the cases */

static void good_workers_do_everything(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
}

static void the_job_that_was_begun_is_to_blame(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(
		run_with(&err, 1, "do_job() { [ $1 != 2 ] || kill -SEGV $$; fine $1; }\nhello; serve\n"),
		0);
	assert_int_equal(result->compiled, MODULES - 1);
	assert_int_equal(result->failed, 1);
	assert_non_null(strstr(result->failures[0].reason, "segmentation fault"));
	assert_int_equal(warm(), MODULES - 1);
}

static void a_worker_that_does_not_end_is_ended(void **state)
{
	struct jw_error err = {0};

	(void)state;
	end_ms = 100;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve; exec sleep 100\n"), 0);
	expect_all();
}

static void nobody_waits_for_what_a_worker_left_behind(void **state)
{
	struct jw_error err = {0};

	(void)state;
	/* Its pipes are open as long as this sleeps. */
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nsleep 30 & hello; serve\n"), 0);
	expect_all();
}

static void a_driver_that_does_not_start_ends_the_run(void **state)
{
	struct jw_error err = {0};

	(void)state;
	start_ms = 500;
	assert_int_equal(run_with(&err, 3, "exec sleep 100\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_int_equal(result->undone, MODULES);
}

static void workers_that_die_at_once_end_the_run(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 2, "echo 'no such library' >&2; exit 5\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_non_null(strstr(err.message, "no such library"));
}

static void a_driver_that_dies_of_every_module_ends_the_run(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1, "do_job() { kill -SEGV $$; }\nhello; serve\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_true(result->failed < MODULES);
}

static void what_was_not_asked_is_not_taken(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1,
							  "do_job() { if once odd; then answer 77 0; else fine $1; fi; }\n"
							  "hello; serve\n"),
					 0);
	expect_all();
}

static void an_exclusive_gpu_takes_one_worker(void **state)
{
	struct jw_error err = {0};

	(void)state;
	/* The first to have a job gets the context, and keeps it. */
	assert_int_equal(run_with(&err, 4,
							  "do_job() { [ -n \"$mine\" ] || { once context && mine=yes; } ||\n"
							  "{ answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
							  "sleep 0.05; fine $1; }\nhello; serve\n"),
					 0);
	expect_all();
}

static void no_context_at_all_is_one_clear_line(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(
		run_with(&err, 3,
				 "do_job() { answer $1 2 false true CUDA_ERROR_OUT_OF_MEMORY; exit 0; }\n"
				 "hello; serve\n"),
		-1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_non_null(strstr(err.message, "CUDA_ERROR_OUT_OF_MEMORY"));
	assert_int_equal(result->failed, 0);
}

static void a_prohibited_gpu_is_not_asked(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello 86 2; serve\n"), -1);
	assert_non_null(strstr(err.message, "prohibited"));
}

static void a_gpu_that_is_gone_is_noticed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello 89; serve\n"), -1);
	assert_non_null(strstr(err.message, "sm_86"));
}

static void a_module_without_memory_is_tried_again_with_fewer_workers(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 2,
							  "do_job() { sleep 0.05; if [ $1 = 1 ] && once poor; then\n"
							  "answer 1 2; else fine $1; fi; }\nhello; serve\n"),
					 0);
	expect_all();
}

static void one_that_the_system_kills_is_not_missed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 3,
							  "do_job() { sleep 0.05; ! once killed || kill -KILL $$; fine $1; }\n"
							  "hello; serve\n"),
					 0);
	expect_all();
}

/* Another process that has the lock of the cache's index for `milliseconds`. */
static pid_t hold_lock(unsigned milliseconds)
{
	char *index = os_join(NULL, cache, "index");
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int ready[2], fd;
	char byte;
	pid_t pid;

	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		fd = open(index, O_RDWR | O_CREAT, 0666);
		if (fcntl(fd, F_SETLK, &lock) || write(ready[1], "x", 1) != 1)
			_exit(1);
		(void)usleep(milliseconds * 1000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	mem_free(index);
	return pid;
}

static void entries_wait_for_the_lock(void **state)
{
	struct jw_error err = {0};
	pid_t pid = hold_lock(1500);

	(void)state;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_lock_that_is_never_free_is_reported(void **state)
{
	struct jw_error err = {0};
	pid_t pid = hold_lock(60000);

	(void)state;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compiled, 0);
	assert_int_equal(result->undone, MODULES);
	assert_int_equal(result->note_count, 1);
	assert_non_null(strstr(result->notes[0], "locked by another process"));
}

static void what_another_run_has_added_is_not_compiled(void **state)
{
	struct jw_error err = {0};
	char *from = NULL, *to = cache_entry_path(NULL, cache, modules[3].key), *parent;
	struct buf bytes = {0};
	char *root = mem_printf(NULL, "%s/trees/3", folder);

	(void)state;
	from = cache_entry_path(NULL, root, modules[3].key);
	parent = os_dir_name(NULL, to);
	assert_int_equal(os_read_file(NULL, from, 1 << 20, &bytes), 0);
	assert_int_equal(os_make_dirs(NULL, parent, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, to, bytes.data, bytes.size), 0);
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello; serve\n"), 0);
	assert_int_equal(result->compiled, MODULES - 1);
	assert_int_equal(result->met, 1);
	assert_int_equal(result->undone, 0);
	buf_free(&bytes);
	mem_free(parent);
	mem_free(root);
	mem_free(from);
	mem_free(to);
}

/* An entry of the driver's that no module of the plan stands for. */
static void make_foreign(void)
{
	char *root = mem_printf(NULL, "%s/trees/77", folder), *path, *parent;
	struct entries_entry entry;

	entries_make(&entry, 77, 100);
	path = cache_entry_path(NULL, root, entry.key);
	parent = os_dir_name(NULL, path);
	assert_int_equal(os_make_dirs(NULL, parent, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, path, entry.bytes, entry.size), 0);
	mem_free(parent);
	mem_free(path);
	mem_free(root);
}

static void one_prediction_that_fails_does_not_end_the_run(void **state)
{
	struct jw_error err = {0};

	(void)state;
	make_foreign();
	assert_int_equal(run_with(&err, 1,
							  "do_job() { if [ $1 = 3 ]; then make_entry 77; answer 3 0;\n"
							  "else fine $1; fi; }\nhello; serve\n"),
					 0);
	assert_false(result->opaque);
	assert_int_equal(result->compiled, MODULES);
	assert_int_equal(result->misjudged, 1);
	assert_int_equal(warm(), MODULES - 1);
}

static void a_first_prediction_that_fails_does(void **state)
{
	struct jw_error err = {0};

	(void)state;
	make_foreign();
	assert_int_equal(run_with(&err, 2, "do_job() { make_entry 77; answer $1 0; }\nhello; serve\n"),
					 0);
	assert_true(result->opaque);
	assert_int_equal(result->undone, MODULES);
}

static bool stop_at_once(void *context)
{
	(void)context;
	return true;
}

static void workers_that_are_stopped_too_are_no_failure(void **state)
{
	struct jw_error err = {0};

	(void)state;
	/* As when a service is stopped: the signal comes to all of its processes. */
	options.stop = stop_at_once;
	assert_int_equal(run_with(&err, 4, "kill -TERM $$\n"), 0);
	assert_true(result->interrupted);
	assert_int_equal(result->undone, MODULES);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(good_workers_do_everything),
		CASE(the_job_that_was_begun_is_to_blame),
		CASE(a_worker_that_does_not_end_is_ended),
		CASE(nobody_waits_for_what_a_worker_left_behind),
		CASE(a_driver_that_does_not_start_ends_the_run),
		CASE(workers_that_die_at_once_end_the_run),
		CASE(a_driver_that_dies_of_every_module_ends_the_run),
		CASE(what_was_not_asked_is_not_taken),
		CASE(an_exclusive_gpu_takes_one_worker),
		CASE(no_context_at_all_is_one_clear_line),
		CASE(a_prohibited_gpu_is_not_asked),
		CASE(a_gpu_that_is_gone_is_noticed),
		CASE(a_module_without_memory_is_tried_again_with_fewer_workers),
		CASE(one_that_the_system_kills_is_not_missed),
		CASE(entries_wait_for_the_lock),
		CASE(a_lock_that_is_never_free_is_reported),
		CASE(what_another_run_has_added_is_not_compiled),
		CASE(one_prediction_that_fails_does_not_end_the_run),
		CASE(a_first_prediction_that_fails_does),
		CASE(workers_that_are_stopped_too_are_no_failure),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
