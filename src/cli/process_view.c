#include "cli/process_view.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/doctor.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cli/next_step.h"
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
	struct process_view *code;
	struct set seen;
	size_t capacity;
};

static void note_compiler(struct process_view *code, const char *name)
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
	struct process_view *code = reading->code;
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
	struct process_view *code = context;

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

static int read_code(struct jw_error *err, int pid, struct process_view *ret_code)
{
	struct process_view code = {.pid = pid};
	struct code_reading reading = {.code = &code};
	int result = os_mapped_code(err, pid, note_code, &reading) ||
						 os_replaced_code(err, pid, note_replaced, &code)
					 ? -1
					 : 0;

	set_free(&reading.seen);
	if (result)
		process_view_free(&code);
	*ret_code = code;
	return result;
}

/* Every program has mapped its own code, but for moments: one that starts another program in its
 * place has nothing mapped yet, and one that ends nothing any more. */
int process_view_read(struct jw_error *err, int pid, struct process_view *ret_code)
{
	enum { LOOKS = 10, BETWEEN_MS = 50 };
	struct process_view code = {0};

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
		process_view_free(&code);
		if (os_process_used(&why, pid, &use) && why.code == JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
	}
	return error_set(err, JW_ERR_IO, "process %d: permission denied to what it has loaded", pid);
}

void process_view_free(struct process_view *code)
{
	for (size_t i = 0; i < code->count; i++)
		mem_free(code->paths[i]);
	mem_free(code->paths);
	jw_lines_free(code->replaced, code->replaced_count);
	*code = (struct process_view){0};
}
