#include "cli/parts/eyes.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/doctor.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cli/parts/next_step.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/processes.h"

enum { MOST_PATHS = 8192, MOST_REPLACED = 256 };

/* Compilers whose results the driver's cache does not hold, by the beginning of a library's name */
static const struct {
	const char *start, *name;
} other_compilers[] = {
	{"libtriton", "Triton"},
	{"libnvrtc.", "NVRTC"},
	{"nvrtc64", "NVRTC"},
	{"libnvJitLink", "nvJitLink"},
	{"nvJitLink", "nvJitLink"},
	{"xla_extension", "XLA"},
	{"libpjrt", "XLA"},
	{"libtensorflow_framework", "XLA"},
	{"libnvidia-opencl", "OpenCL"},
	{"libnvinfer_builder", "TensorRT"},
	{"libnvoptix", "OptiX"},
};

struct code_reading {
	struct process_code *code;
	struct set seen;
	size_t capacity;
};

static void note_compiler(struct process_code *code, const char *name)
{
	code->driver = code->driver || text_starts(name, "libcuda.so") ||
				   text_starts_fold(name, "nvcuda.dll") || text_starts_fold(name, "nvcuda64.dll");
	code->compiler = code->compiler || text_starts(name, "libnvidia-ptxjitcompiler") ||
					 text_starts_fold(name, "nvptxjitcompiler");
	for (size_t i = 0; i < sizeof other_compilers / sizeof *other_compilers; i++) {
		const size_t used = strlen(code->others);

		if (text_starts(name, other_compilers[i].start) &&
			!strstr(code->others, other_compilers[i].name))
			(void)snprintf(code->others + used, sizeof code->others - used, "%s%s",
						   used ? ", " : "", other_compilers[i].name);
	}
}

static int note_code(struct jw_error *err, void *context, const char *path)
{
	struct code_reading *reading = context;
	struct process_code *code = reading->code;
	const uint64_t hash = fnv_update(FNV_START, path, strlen(path));

	if (set_has(&reading->seen, hash) || code->count == MOST_PATHS)
		return 0;
	set_add(&reading->seen, hash, code->count);
	if (VEC_ROOM(err, code->paths, reading->capacity, code->count, MOST_PATHS))
		return -1;
	code->paths[code->count++] = mem_string(path);
	note_compiler(code, os_base_name(path));
	return 0;
}

static int note_replaced(struct jw_error *err, void *context, const char *path)
{
	struct process_code *code = context;

	(void)err;
	for (size_t i = 0; i < code->replaced_count; i++)
		if (!strcmp(code->replaced[i], path))
			return 0;
	if (code->replaced_count == MOST_REPLACED)
		return 0;
	note_compiler(code, os_base_name(path));
	mem_add_string(&code->replaced, &code->replaced_count, MOST_REPLACED, path);
	return 0;
}

static int read_code(struct jw_error *err, int pid, struct process_code *ret_code)
{
	struct process_code code = {.pid = pid};
	struct code_reading reading = {.code = &code};
	int result = os_mapped_code(err, pid, note_code, &reading) ||
						 os_replaced_code(err, pid, note_replaced, &code)
					 ? -1
					 : 0;

	set_free(&reading.seen);
	if (result)
		process_code_free(&code);
	*ret_code = code;
	return result;
}

/* Every program has mapped its own code, but for moments: one that starts another program in its
 * place has nothing mapped yet, and one that ends nothing any more. */
int process_code_read(struct jw_error *err, int pid, struct process_code *ret_code)
{
	enum { LOOKS = 10, BETWEEN_MS = 50 };
	struct process_code code = {0};

	for (int look = 0; look < LOOKS; look++) {
		struct jw_error why;
		struct os_process_use use;

		if (look)
			uv_sleep(BETWEEN_MS);
		if (read_code(err, pid, &code))
			return -1;
		if (code.count) {
			os_program_name(pid, code.name, sizeof code.name);
			*ret_code = code;
			return 0;
		}
		process_code_free(&code);
		if (os_process_used(&why, pid, &use) && why.code == JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
	}
	return error_set(err, JW_ERR_IO, "process %d: permission denied to what it has loaded", pid);
}

void process_code_free(struct process_code *code)
{
	for (size_t i = 0; i < code->count; i++)
		mem_free(code->paths[i]);
	mem_free(code->paths);
	jw_lines_free(code->replaced, code->replaced_count);
	*code = (struct process_code){0};
}

enum { MOST_BEFORE = 1 << 18 };

/* The variables that decide which cache is meant, and which GPUs. */
static const char *const deciding[] = {"HOME",
									   "CUDA_CACHE_PATH",
									   "CUDA_CACHE_MAXSIZE",
									   "CUDA_CACHE_DISABLE",
									   "CUDA_FORCE_PTX_JIT",
									   "CUDA_FORCE_JIT",
									   "CUDA_VISIBLE_DEVICES",
									   "CUDA_DEVICE_ORDER"};
enum { DECIDING = sizeof deciding / sizeof *deciding };

/* Who looks before, with which variables, and at what. */
struct looking {
	struct cli *cli;
	const char *user;
	int pid;
	uint32_t owner;
	char *values[DECIDING];
};

static int read_question(struct jw_error *err, struct looking *looking)
{
	const struct options *options = &looking->cli->options;

	looking->user = options_value(options, "user");
	looking->pid = (int)options_number(options, "pid", 0);
	if (looking->user && looking->pid)
		return error_set(err, JW_ERR_USAGE, "--user and --pid: name one, it has its own account");
	if (looking->pid && options->operand_count)
		return error_set(err, JW_ERR_USAGE,
						 "--pid looks at what the process has loaded: name "
						 "either it or files");
	return 0;
}

static int owner_now(struct jw_error *err, uint32_t *ret_owner)
{
	struct os_account account;

	if (os_account(err, &account))
		return -1;
	*ret_owner = account.owner;
	os_account_free(&account);
	return 0;
}

static int remember_own(struct jw_error *err, struct looking *looking)
{
	if (owner_now(err, &looking->owner))
		return -1;
	for (size_t i = 0; i < DECIDING; i++)
		looking->values[i] = os_env(deciding[i]);
	return 0;
}

static int look_as(struct jw_error *err, struct looking *looking, struct eyes *eyes)
{
	if (looking->user)
		return jw_look_as_user(err, looking->user);
	if (!looking->pid)
		return 0;
	return jw_look_as_process(err, looking->pid) ||
				   process_code_read(err, looking->pid, &eyes->process)
			   ? -1
			   : 0;
}

/* ---- the same eyes for a command */

static bool differs(const char *own, const char *its, bool reset)
{
	if (reset || !own || !its)
		return its || (own && !reset);
	return strcmp(own, its) != 0;
}

/* How another account is had: "sudo -u ollama", to which our own variables do not get; then "env"
 * with the variables that differ, which takes what is not set before what is. */
static int describe_eyes(struct jw_error *err, const struct looking *looking, struct eyes *eyes)
{
	struct buf line = BUF_MAX(MOST_BEFORE), unset = BUF_MAX(MOST_BEFORE),
			   set = BUF_MAX(MOST_BEFORE);
	bool reset = false;
	uint32_t now;
	char *name = NULL;

	if (owner_now(err, &now))
		return -1;
	reset = now != looking->owner;
	if (reset && os_account_id(err, &name))
		return -1;
	if (reset)
		shell_add_words(&line, (const char *const[]){"sudo", "-u", name}, 3);
	for (size_t i = 0; i < DECIDING; i++) {
		char *its = os_env(deciding[i]), *pair;

		if (differs(looking->values[i], its, reset) && its) {
			pair = mem_printf("%s=%s", deciding[i], its);
			set.lacking = set.lacking || !pair;
			shell_add_word(&set, pair ? pair : "");
			mem_free(pair);
		} else if (differs(looking->values[i], its, reset)) {
			shell_add_words(&unset, (const char *const[]){"-u", deciding[i]}, 2);
		}
		mem_free(its);
	}
	if (unset.size + set.size)
		buf_say(&line, " env%s%s", buf_text(&unset), buf_text(&set));
	line.lacking = line.lacking || unset.lacking || set.lacking;
	mem_free(name);
	buf_free(&unset);
	buf_free(&set);
	if (!line.size && !line.lacking)
		return 0;
	eyes->before = next_step_take(&line);
	return eyes->before ? 0 : -1;
}

int eyes_choose(struct jw_error *err, struct cli *cli, struct eyes *ret_eyes)
{
	struct looking looking = {.cli = cli};
	struct eyes eyes = {0};
	int result = read_question(err, &looking);

	if (!result)
		result = remember_own(err, &looking);
	if (!result)
		result = look_as(err, &looking, &eyes);
	if (!result && (looking.user || looking.pid))
		result = describe_eyes(err, &looking, &eyes);
	for (size_t i = 0; i < DECIDING; i++)
		mem_free(looking.values[i]);
	if (result)
		eyes_free(&eyes);
	else
		*ret_eyes = eyes;
	return result;
}

void eyes_free(struct eyes *eyes)
{
	process_code_free(&eyes->process);
	mem_free(eyes->before);
	*eyes = (struct eyes){0};
}
