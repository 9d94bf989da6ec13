#include "driver/nvjitlink.h"

#include <stdio.h>
#include <string.h>

#include "code/container.h"
#include "code/devcode.h"
#include "os/file.h"
#include "os/library.h"
#include "os/private.h"

/* Source: nvJitLink.h, nvJitLinkInputType and nvJitLinkResult */
enum { INPUT_FATBIN = 4, ERROR_INVALID_INPUT = 3 };

/* Reads "12_4" of __nvJitLinkCreate_12_4, with the NUL at its end; 0 if it is something else. */
static uint32_t read_symbol_version(const uint8_t *text, size_t size)
{
	unsigned numbers[2] = {0};
	size_t at = 0;

	for (size_t i = 0; i < 2; i++) {
		const size_t start = at;

		for (; at < size && at < start + 2 && text[at] >= '0' && text[at] <= '9'; at++)
			numbers[i] = 10 * numbers[i] + (unsigned)(text[at] - '0');
		if (at == start || at == size || text[at++] != (i ? '\0' : '_'))
			return 0;
	}
	return numbers[0] * 1000 + numbers[1] * 10;
}

int nvjitlink_version(struct jw_error *err, const char *path, uint32_t *ret_cuda)
{
	static const char symbol[] = "__nvJitLinkCreate_";
	const size_t length = sizeof symbol - 1;
	uint32_t newest = 0;
	struct os_map map;

	if (os_map_open(err, path, &map))
		return -1;
	for (const uint8_t *at = map.data, *end = at + map.size;
		 (at = memchr(at, symbol[0], (size_t)(end - at))); at++) {
		const size_t left = (size_t)(end - at);
		uint32_t cuda = 0;

		if (left > length && !memcmp(at, symbol, length))
			cuda = read_symbol_version(at + length, left - length);
		if (cuda > newest)
			newest = cuda;
	}
	os_map_close(&map);
	if (!newest)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: not an nvJitLink of CUDA 12.0 or newer",
						 path);
	*ret_cuda = newest;
	return 0;
}

int nvjitlink_open(struct jw_error *err, const char *path, struct nvjitlink *ret_nvjitlink)
{
	struct nvjitlink nvjitlink = {0};
	char symbol[64];

	if (os_guard(err, path) || nvjitlink_version(err, path, &nvjitlink.cuda) ||
		os_library_open(err, path, &nvjitlink.library))
		return -1;
#define NVJITLINK_FIND(name, parameters)                                                           \
	(void)snprintf(symbol, sizeof symbol, "__nvJitLink" #name "_%u_%u", nvjitlink.cuda / 1000,     \
				   nvjitlink.cuda % 1000 / 10);                                                    \
	if (!os_library_function(nvjitlink.library, symbol, &nvjitlink.name))                          \
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: not an nvJitLink of CUDA 12.0 or newer",    \
						 path);
	NVJITLINK_FUNCTIONS(NVJITLINK_FIND)
#undef NVJITLINK_FIND
	*ret_nvjitlink = nvjitlink;
	return 0;
}

static int add_inputs(const struct nvjitlink *nvjitlink, void *handle,
					  const struct nvjitlink_input *input)
{
	int result = 0;

	for (size_t at = 0; !result && at < input->size;) {
		const size_t left = input->size - at;
		struct container_walk walk = {0};

		if (container_check(&walk, input->containers + at, left, left) != CONTAINER_SOUND)
			return ERROR_INVALID_INPUT;
		result = nvjitlink->AddData(handle, INPUT_FATBIN, input->containers + at,
									(size_t)walk.size_bytes, "jitwarm");
		at += (size_t)walk.size_bytes;
	}
	return result;
}

/* Fetches the error log; a missing log is not an error. */
static void take_log(const struct nvjitlink *nvjitlink, void *handle, struct buf *log)
{
	size_t size = 0;

	if (nvjitlink->GetErrorLogSize(handle, &size) || size <= 1 || size > NVJITLINK_MAX_LOG)
		return;
	(void)buf_reserve(NULL, log, size);
	memset(log->data, 0, size);
	if (nvjitlink->GetErrorLog(handle, (char *)log->data))
		return;
	log->data[size - 1] = '\0';
	log->size = strlen((const char *)log->data);
}

int nvjitlink_link(struct jw_error *err, const struct nvjitlink *nvjitlink,
				   const struct nvjitlink_input *input, int *ret_result, struct buf *log,
				   struct buf *cubin)
{
	char sm[JW_TARGET_TEXT], arch[JW_TARGET_TEXT + 8];
	const char *const options[] = {arch};
	void *handle = NULL;
	size_t size = 0;
	int code, result = 0;

	(void)snprintf(arch, sizeof arch, "-arch=%s", jw_target_sm(sm, input->target));
	buf_clear(log);
	buf_clear(cubin);
	log->most = NVJITLINK_MAX_LOG;
	cubin->most = DEVCODE_MAX_PAYLOAD;
	code = nvjitlink->Create(&handle, 1, options);
	if (code) {
		*ret_result = code;
		return 0;
	}
	code = add_inputs(nvjitlink, handle, input);
	if (!code)
		code = nvjitlink->Complete(handle);
	if (!code)
		code = nvjitlink->GetLinkedCubinSize(handle, &size);
	if (!code && (!size || size > DEVCODE_MAX_PAYLOAD)) {
		result = error_set(err, JW_ERR_LIMIT, "nvJitLink's output has %zu bytes", size);
	} else if (!code) {
		(void)buf_reserve(NULL, cubin, size);
		code = nvjitlink->GetLinkedCubin(handle, cubin->data);
		cubin->size = code ? 0 : size;
	}
	if (code)
		take_log(nvjitlink, handle, log);
	(void)nvjitlink->Destroy(&handle);
	if (!result)
		*ret_result = code;
	return result;
}
