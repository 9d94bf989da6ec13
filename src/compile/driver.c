#include "compile/driver.h"

#include <string.h>

#include "devcode/container.h"
#include "os/clock.h"

/* Returns a CUresult. */
static int make_context(struct driver *driver, int ordinal)
{
	const struct cuda *cuda = &driver->cuda;
	void *context = NULL;
	int device, result = cuda->cuDeviceGet(&device, ordinal);

	if (!result)
		result = cuda->cuDevicePrimaryCtxRetain(&context, device);
	if (!result)
		driver->contexts[ordinal] = context;
	return result;
}

/* The outcome gives the reason why a device cannot be used. */
static void use_device(struct driver *driver, int ordinal, uint64_t spare_bytes,
					   struct driver_outcome *outcome)
{
	const struct cuda *cuda = &driver->cuda;
	size_t free_bytes, total_bytes;
	bool is_new = !driver->contexts[ordinal];

	if (is_new)
		outcome->result = make_context(driver, ordinal);
	if (!outcome->result)
		outcome->result = cuda->cuCtxSetCurrent(driver->contexts[ordinal]);
	outcome->no_context = outcome->result != CUDA_SUCCESS;
	if (outcome->no_context || !is_new || !spare_bytes || !cuda->cuMemGetInfo_v2 ||
		cuda->cuMemGetInfo_v2(&free_bytes, &total_bytes))
		return;
	outcome->free_bytes = free_bytes;
	outcome->no_context = free_bytes < spare_bytes;
}

/* The log buffers, and the options that pass them. */
struct logs {
	char info[DRIVER_LOG_BYTES], errors[DRIVER_LOG_BYTES];
	int options[4];
	void *values[4];
};

static void logs_prepare(struct logs *logs)
{
	static const int options[4] = {CUDA_JIT_INFO_LOG_BUFFER, CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
								   CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};

	memset(logs->info, 0, sizeof logs->info);
	memset(logs->errors, 0, sizeof logs->errors);
	memcpy(logs->options, options, sizeof options);
	/* The driver takes a size in the pointer itself. */
	logs->values[0] = logs->info;
	logs->values[1] = (void *)(uintptr_t)sizeof logs->info; /* NOLINT(performance-no-int-to-ptr) */
	logs->values[2] = logs->errors;
	logs->values[3] =
		(void *)(uintptr_t)sizeof logs->errors; /* NOLINT(performance-no-int-to-ptr) */
}

static int load_module(const struct cuda *cuda, const void *image, struct logs *logs)
{
	void *module = NULL;
	int result = cuda->cuModuleLoadDataEx(&module, image, 4, logs->options, logs->values);

	if (!result)
		(void)cuda->cuModuleUnload(module);
	return result;
}

/* The input is compiled when it is added; the link itself is never completed, since its result is
 * not cached (measured). */
static int add_to_link(const struct cuda *cuda, void *image, size_t size, struct logs *logs)
{
	void *state = NULL;
	int result = cuda->cuLinkCreate_v2(4, logs->options, logs->values, &state);

	if (result)
		return result;
	result = cuda->cuLinkAddData_v2(state, CUDA_JIT_INPUT_FATBINARY, image, size, "jitwarm", 0,
									NULL, NULL);
	(void)cuda->cuLinkDestroy(state);
	return result;
}

/* Adds each of the containers to the link. */
static int add_containers(const struct cuda *cuda, void *state, const struct driver_input *input)
{
	uint8_t *image = input->image;
	int result = CUDA_SUCCESS;

	for (size_t at = 0; !result && at < input->size;) {
		struct container_walk walk = {0};

		if (container_check(&walk, image + at, input->size - at, input->size - at) !=
			CONTAINER_SOUND)
			return CUDA_ERROR_INVALID_IMAGE;
		result = cuda->cuLinkAddData_v2(state, CUDA_JIT_INPUT_FATBINARY, image + at,
										(size_t)walk.size_bytes, "jitwarm", 0, NULL, NULL);
		at += (size_t)walk.size_bytes;
	}
	return result;
}

/* The linked code is the link's own, and goes with it. -1: out of memory. */
static int link_containers(struct jw_error *err, const struct cuda *cuda,
						   const struct driver_input *input, struct logs *logs, int *ret_result)
{
	void *state = NULL, *linked = NULL;
	size_t size = 0;
	int failed = 0;

	*ret_result = cuda->cuLinkCreate_v2(4, logs->options, logs->values, &state);
	if (*ret_result)
		return 0;
	*ret_result = add_containers(cuda, state, input);
	if (!*ret_result)
		*ret_result = cuda->cuLinkComplete(state, &linked, &size);
	if (!*ret_result)
		failed = buf_append(err, input->linked, linked, size);
	(void)cuda->cuLinkDestroy(state);
	return failed;
}

/* Returns a CUresult. */
static int run_input(const struct cuda *cuda, const struct driver_input *input, struct logs *logs)
{
	return input->form == CACHE_KEY_LINK ? add_to_link(cuda, input->image, input->size, logs)
										 : load_module(cuda, input->image, logs);
}

static int check_input(struct jw_error *err, const struct cuda *cuda,
					   const struct driver_input *input)
{
	const bool link = input->form == CACHE_KEY_LINK || input->linked;

	if (input->device < 0 || input->device >= DRIVER_MOST_DEVICES)
		return error_set(err, JW_ERR_USAGE, "no device %d", input->device);
	if (link && (!cuda->cuLinkCreate_v2 || !cuda->cuLinkAddData_v2 || !cuda->cuLinkDestroy ||
				 (input->linked && !cuda->cuLinkComplete)))
		return error_set(err, JW_ERR_DRIVER, "the driver has no cuLinkAddData: it is too old");
	return 0;
}

int driver_compile(struct jw_error *err, struct driver *driver, const struct driver_input *input,
				   struct driver_outcome *ret_outcome)
{
	static struct logs
		logs; /* a worker has one thread; 32 KiB of stack would be too much on Windows */
	const struct cuda *cuda = &driver->cuda;
	uint64_t used_ns;
	int failed = 0;

	if (check_input(err, cuda, input))
		return -1;
	memset(ret_outcome, 0, sizeof *ret_outcome);
	use_device(driver, input->device, input->spare_bytes, ret_outcome);
	if (ret_outcome->no_context)
		return 0;
	logs_prepare(&logs);
	used_ns = os_cpu_ns();
	if (input->linked)
		failed = link_containers(err, cuda, input, &logs, &ret_outcome->result);
	else
		ret_outcome->result = run_input(cuda, input, &logs);
	ret_outcome->cpu_ms = (double)(os_cpu_ns() - used_ns) / 1e6;
	memcpy(ret_outcome->log, logs.errors[0] ? logs.errors : logs.info, sizeof ret_outcome->log);
	ret_outcome->log[sizeof ret_outcome->log - 1] = '\0';
	ret_outcome->sticky = ret_outcome->result && cuda->cuCtxSynchronize() != CUDA_SUCCESS;
	return failed;
}
