#include "compile/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compile/compiler_trust.h"
#include "os/file.h"
#include "os/library.h"
#include "os/platform.h"

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
	int major = 0, minor = 0, count = 0, archs[NVRTC_MOST_ARCHS] = {0};

	if (nvrtc->nvrtcVersion(&major, &minor) || major < 0 || minor < 0 || major > 999 || minor > 99)
		return error_set(err, JW_ERR_UNSUPPORTED, "it does not say which version it is");
	if (nvrtc->nvrtcGetNumSupportedArchs(&count) || count < 1 || count > NVRTC_MOST_ARCHS ||
		nvrtc->nvrtcGetSupportedArchs(archs))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "it does not say which architectures it compiles for");
	nvrtc->major = (unsigned)major;
	nvrtc->minor = (unsigned)minor;
	for (int i = 0; i < count; i++)
		if (archs[i] > 0 && archs[i] <= 999)
			nvrtc->archs[nvrtc->arch_count++] = (uint16_t)archs[i];
	qsort(nvrtc->archs, nvrtc->arch_count, sizeof *nvrtc->archs, compare_versions);
	return 0;
}

/* Source: the libraries' SONAMEs; 11.2 was kept up to 11.8. */
static int open_by_name(struct jw_error *err, struct os_library **ret_library)
{
	static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
										"libnvrtc.so"};

	for (size_t i = 0; !strcmp(os_name, "linux") && i < sizeof names / sizeof *names; i++) {
		if (compiler_check_name(err, names[i]))
			return -1;
		if (!os_library_open(NULL, names[i], ret_library))
			return 0;
	}
	return error_set(err, JW_ERR_NOT_FOUND,
					 "no NVRTC found: name one with --nvrtc (a file, or a package that brings it, "
					 "such as nvidia-cuda-nvrtc-cu12)");
}

/* NVRTC loads its builtins by name, from its own folder or by the system's settings. It always
 * finds a library that is loaded already. Fails where they are not to be run; other failures are
 * NVRTC's to report. */
static int load_builtins(struct jw_error *err, const struct nvrtc *nvrtc, const char *path)
{
	char *folder = os_dir_name(NULL, path), name[64], *builtins = NULL;
	struct os_library *library;
	int result = 0;

	if (!strcmp(os_name, "windows"))
		(void)snprintf(name, sizeof name, "nvrtc-builtins64_%u%u.dll", nvrtc->major, nvrtc->minor);
	else
		(void)snprintf(name, sizeof name, "libnvrtc-builtins.so.%u.%u", nvrtc->major, nvrtc->minor);
	if (folder)
		builtins = os_join(NULL, folder, name);
	if (builtins && os_exists(builtins)) {
		result = compiler_check_trust(err, builtins);
		if (!result)
			(void)os_library_open(NULL, builtins, &library);
	}
	mem_free(builtins);
	mem_free(folder);
	return result;
}

int nvrtc_open(struct jw_error *err, const char *path, struct nvrtc *ret_nvrtc)
{
	struct nvrtc nvrtc = {0};

	if (*path ? compiler_check_trust(err, path) || os_library_open(err, path, &nvrtc.library)
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

const char *nvrtc_error_name(const struct nvrtc *nvrtc, int result)
{
	const char *name = nvrtc->nvrtcGetErrorString(result);

	return name ? name : "an error without a name";
}

/* A text whose size one function returns and another one writes; both include the NUL. */
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
		return error_set(err, JW_ERR_FORMAT, "NVRTC does not hand over its output");
	text->data[size - 1] = '\0';
	text->size = strlen((const char *)text->data);
	return 0;
}

int nvrtc_compile(struct jw_error *err, const struct nvrtc *nvrtc,
				  const struct nvrtc_source *source, int *ret_result, struct buf *log,
				  struct buf *ptx)
{
	void *program = NULL;
	int result = nvrtc->nvrtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL);
	int failed = 0;

	if (result) {
		*ret_result = result;
		return 0;
	}
	result = nvrtc->nvrtcCompileProgram(program, (int)source->option_count, source->options);
	failed = take_text(err, program, nvrtc->nvrtcGetProgramLogSize, nvrtc->nvrtcGetProgramLog,
					   NVRTC_MOST_LOG, log);
	if (!failed && !result)
		failed = take_text(err, program, nvrtc->nvrtcGetPTXSize, nvrtc->nvrtcGetPTX, NVRTC_MOST_PTX,
						   ptx);
	(void)nvrtc->nvrtcDestroyProgram(&program);
	if (!failed)
		*ret_result = result;
	return failed;
}
