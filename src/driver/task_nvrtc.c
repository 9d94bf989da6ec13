/* A worker with NVRTC: the job is a CUDA C source, the result a PTX file. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/task.h"
#include "os/env.h"
#include "os/file.h"
#include "os/library.h"
#include "os/platform.h"
#include "os/private.h"

/* Source: NVRTC's documentation, nvrtc.h of CUDA 11.2 to 13.0. */
enum { NVRTC_MAX_ARCHS = 64, NVRTC_MAX_LOG = 64 << 20, NVRTC_MAX_PTX = 1 << 30 };

/* X(name, (parameters)). Each function returns nvrtcResult as an int, and exists since CUDA 11.2. A
 * program is an opaque pointer. */
#define NVRTC_FUNCTIONS(X)                                                                         \
	X(nvrtcVersion, (int *ret_major, int *ret_minor))                                              \
	X(nvrtcCreateProgram,                                                                          \
	  (void **ret_program, const char *source, const char *name, int header_count,                 \
	   const char *const *headers, const char *const *header_names))                               \
	X(nvrtcDestroyProgram, (void **program))                                                       \
	X(nvrtcCompileProgram, (void *program, int option_count, const char *const *options))          \
	X(nvrtcGetPTXSize, (void *program, size_t *ret_size))                                          \
	X(nvrtcGetPTX, (void *program, char *ptx))                                                     \
	X(nvrtcGetProgramLogSize, (void *program, size_t *ret_size))                                   \
	X(nvrtcGetProgramLog, (void *program, char *log))                                              \
	X(nvrtcGetNumSupportedArchs, (int *ret_count))                                                 \
	X(nvrtcGetSupportedArchs, (int *ret_archs))

struct nvrtc {
	struct os_library *library;
	const char *(*nvrtcGetErrorString)(int result);
#define NVRTC_MEMBER(name, parameters) int(*name) parameters;
	NVRTC_FUNCTIONS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
	unsigned major, minor;
	uint16_t archs[NVRTC_MAX_ARCHS]; /* the capabilities that it compiles for (86), ascending */
	size_t arch_count;
};

struct nvrtc_source {
	const char *text; /* NUL-terminated */
	const char *name; /* the name in messages, in `.file` lines and in some symbols */
	const char *const *options;
	size_t option_count;
};

static int find_functions(struct jw_error *err, struct nvrtc *nvrtc)
{
#define NVRTC_FIND(name, parameters)                                                               \
	if (!os_library_function(nvrtc->library, #name, &nvrtc->name))                                 \
		return error_set(err, JW_ERR_UNSUPPORTED, "it has no %s", #name);
	NVRTC_FIND(nvrtcGetErrorString, (int result))
	NVRTC_FUNCTIONS(NVRTC_FIND)
#undef NVRTC_FIND
	return 0;
}

static int compare_versions(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return *x - *y;
}

static int ask_version(struct jw_error *err, struct nvrtc *nvrtc)
{
	int major = 0, minor = 0, count = 0, archs[NVRTC_MAX_ARCHS] = {0};

	if (nvrtc->nvrtcVersion(&major, &minor) || major < 0 || minor < 0 || major > 999 || minor > 99)
		return error_set(err, JW_ERR_UNSUPPORTED, "it does not say which version it is");
	if (nvrtc->nvrtcGetNumSupportedArchs(&count) || count < 1 || count > NVRTC_MAX_ARCHS ||
		nvrtc->nvrtcGetSupportedArchs(archs))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "NVRTC does not say for which architectures it compiles");
	nvrtc->major = (unsigned)major;
	nvrtc->minor = (unsigned)minor;
	for (int i = 0; i < count; i++)
		if (archs[i] > 0 && archs[i] <= 999)
			nvrtc->archs[nvrtc->arch_count++] = (uint16_t)archs[i];
	qsort(nvrtc->archs, nvrtc->arch_count, sizeof *nvrtc->archs, compare_versions);
	return 0;
}

/* Keeps the superuser from opening a library of NVRTC that another account could replace: the first
 * folder of LD_LIBRARY_PATH that has the name decides; the system's own folders are the
 * superuser's. */
static int compiler_check_name(struct jw_error *err, const char *name)
{
	char *list = os_env("LD_LIBRARY_PATH"), *at = list;
	bool found = false;
	int result = 0;

	while (at && !result && !found) {
		char *end = strpbrk(at, ":;"), *path;

		if (end)
			*end = '\0';
		/* An empty part of the list is the current folder. */
		path = os_join(*at ? at : ".", name);
		found = os_exists(path);
		if (found)
			result = os_guard(err, path);
		mem_free(path);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	return result;
}

/* Source: the libraries' SONAMEs; 11.2 was kept up to 11.8. */
static int open_by_name(struct jw_error *err, struct os_library **ret_library)
{
	static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
										"libnvrtc.so"};

	for (size_t i = 0; !os_is_windows && i < sizeof names / sizeof *names; i++) {
		if (compiler_check_name(err, names[i]))
			return -1;
		if (!os_library_open(NULL, names[i], ret_library))
			return 0;
	}
	return error_set(err, JW_ERR_NOT_FOUND,
					 "no NVRTC found: name one with --nvrtc (a file, or a package that brings it, "
					 "such as nvidia-cuda-nvrtc-cu12)");
}

/* Loads NVRTC's builtins first: NVRTC loads them by name, from its own folder or by the system's
 * settings, and always finds a library that is already loaded. Fails if they must not be run; other
 * failures are left to NVRTC. */
static int load_builtins(struct jw_error *err, const struct nvrtc *nvrtc, const char *path)
{
	char *folder = os_dir_name(path), name[64], *builtins;
	struct os_library *library;
	int result = 0;

	if (os_is_windows)
		(void)snprintf(name, sizeof name, "nvrtc-builtins64_%u%u.dll", nvrtc->major, nvrtc->minor);
	else
		(void)snprintf(name, sizeof name, "libnvrtc-builtins.so.%u.%u", nvrtc->major, nvrtc->minor);
	builtins = os_join(folder, name);
	if (os_exists(builtins)) {
		result = os_guard(err, builtins);
		if (!result)
			(void)os_library_open(NULL, builtins, &library);
	}
	mem_free(builtins);
	mem_free(folder);
	return result;
}

/* Loads the library at `path`; "" tries the names under which the system's linker may find one
 * (libnvrtc.so.13 …). JW_ERR_UNSUPPORTED if it is too old to report its architectures. It is never
 * unloaded. */
static int nvrtc_open(struct jw_error *err, const char *path, struct nvrtc *ret_nvrtc)
{
	struct nvrtc nvrtc = {0};

	if (*path ? os_guard(err, path) || os_library_open(err, path, &nvrtc.library)
			  : open_by_name(err, &nvrtc.library))
		return -1;
	if (find_functions(err, &nvrtc) || ask_version(err, &nvrtc))
		return error_prefix(err, "%s: not an NVRTC of CUDA 11.2 or newer",
							*path ? path : "libnvrtc.so");
	if (*path && load_builtins(err, &nvrtc, path))
		return -1;
	*ret_nvrtc = nvrtc;
	return 0;
}

/* Takes a text whose size one function returns and another one writes; both include the NUL. */
static int take_text(struct jw_error *err, void *program, int (*size_of)(void *, size_t *),
					 int (*write)(void *, char *), size_t most, struct buf *text)
{
	size_t size = 0;

	buf_clear(text);
	text->most = most;
	if (size_of(program, &size) || size <= 1)
		return 0;
	if (size > most)
		return error_set(err, JW_ERR_LIMIT, "NVRTC's output has %zu bytes", size);
	if (buf_reserve(err, text, size))
		return -1;
	if (write(program, (char *)text->data))
		return error_set(err, JW_ERR_FORMAT, "NVRTC does not return its output");
	text->data[size - 1] = '\0';
	text->size = strlen((const char *)text->data);
	return 0;
}

/* Compiles one source. Returns 0 with NVRTC's result in *ret_status (0: `ptx` holds the text
 * without its NUL) and its messages in `log`, which may be warnings; -1 if it was not tried. */
static int nvrtc_compile(struct jw_error *err, const struct nvrtc *nvrtc,
						 const struct nvrtc_source *source, int *ret_status, struct buf *log,
						 struct buf *ptx)
{
	void *program = NULL;
	int status = nvrtc->nvrtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL);
	int result;

	if (status) {
		*ret_status = status;
		return 0;
	}
	status = nvrtc->nvrtcCompileProgram(program, (int)source->option_count, source->options);
	result = take_text(err, program, nvrtc->nvrtcGetProgramLogSize, nvrtc->nvrtcGetProgramLog,
					   NVRTC_MAX_LOG, log);
	if (!result && !status)
		result =
			take_text(err, program, nvrtc->nvrtcGetPTXSize, nvrtc->nvrtcGetPTX, NVRTC_MAX_PTX, ptx);
	(void)nvrtc->nvrtcDestroyProgram(&program);
	if (!result)
		*ret_status = status;
	return result;
}

enum { MAX_OPTIONS = 4096 };

struct nvrtc_task {
	char *library, *name, *output;
	char **options;
	size_t option_count;
	struct nvrtc nvrtc;
};

static void nvrtc_close(void *state)
{
	struct nvrtc_task *task = state;

	for (size_t i = 0; task->options && i < task->option_count; i++)
		mem_free(task->options[i]);
	mem_free(task->options);
	mem_free(task->library);
	mem_free(task->name);
	mem_free(task->output);
	mem_free(task);
}

/* Architectures are sent as devices. */
static void nvrtc_greet(void *state, struct protocol_hello *hello)
{
	struct nvrtc_task *task = state;
	struct nvrtc *nvrtc = &task->nvrtc;
	struct jw_error why = {0};
	char *path = NULL;

	memset(hello, 0, sizeof *hello);
	if (nvrtc_open(&why, task->library, nvrtc)) {
		hello->result = -1;
		TEXT_COPY(hello->error, why.message);
		return;
	}
	if (!os_library_path(NULL, nvrtc->library, "nvrtcVersion", &path))
		TEXT_COPY(hello->library, path);
	mem_free(path);
	hello->cuda = nvrtc->major * 1000 + nvrtc->minor * 10;
	for (size_t i = 0; i < nvrtc->arch_count && i < PROTOCOL_MAX_DEVICES; i++)
		hello->devices[hello->device_count++] =
			(struct protocol_device){.ordinal = (int)i, .target = {.sm = nvrtc->archs[i]}};
}

static void nvrtc_work(void *state, const struct protocol_job *job, struct buf *image,
					   struct protocol_answer *answer)
{
	struct nvrtc_task *task = state;
	const struct nvrtc_source source = {.text = buf_text(image),
										.name = task->name,
										.options = (const char *const *)task->options,
										.option_count = task->option_count};
	struct buf log = {0}, ptx = {0};
	struct jw_error why = {0};
	int status = 0;

	(void)job;
	answer->result = -1;
	if (nvrtc_compile(&why, &task->nvrtc, &source, &status, &log, &ptx) ||
		(!status && os_write_atomic(&why, task->output, buf_text(&ptx), ptx.size))) {
		TEXT_COPY(answer->error, why.message);
	} else {
		/* NVRTC_ERROR_COMPILATION */
		const char *name = status ? task->nvrtc.nvrtcGetErrorString(status) : "";

		answer->result = status;
		TEXT_COPY(answer->error, name ? name : "an error without a name");
	}
	TEXT_COPY(answer->log, buf_text(&log));
	buf_free(&log);
	buf_free(&ptx);
}

int task_nvrtc(struct jw_error *err, const cJSON *document, struct task *ret_task)
{
	const cJSON *options = cJSON_GetObjectItemCaseSensitive(document, "options"), *item;
	struct nvrtc_task *task = mem_alloc(sizeof *task);

	task->library = mem_string(json_text(document, "library", ""));
	task->name = mem_string(json_text(document, "name", ""));
	task->output = mem_string(json_text(document, "output", ""));
	if (!cJSON_IsArray(options) || cJSON_GetArraySize(options) > MAX_OPTIONS) {
		error_set(err, JW_ERR_FORMAT, "a task without options");
		goto fail;
	}
	task->options = mem_array((size_t)cJSON_GetArraySize(options), sizeof *task->options);
	cJSON_ArrayForEach(item, options)
	{
		if (!cJSON_IsString(item)) {
			error_set(err, JW_ERR_FORMAT, "an option that is not text");
			goto fail;
		}
		task->options[task->option_count++] = mem_string(item->valuestring);
	}
	*ret_task = (struct task){
		.state = task, .greet = nvrtc_greet, .work = nvrtc_work, .close = nvrtc_close};
	return 0;
fail:
	nvrtc_close(task);
	return -1;
}
