/* Contexts: which device they use, and which one may compile. */
#include "cuda_api.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "os.h"

static _Thread_local struct context *current;
static struct context *primary[SIM_GPUS_MAX]; /* under the process lock; never freed */

struct context *context_current(void)
{
	return current;
}

static struct context *context_new(int device, bool is_primary)
{
	struct context *context = sim_alloc(sizeof *context);

	context->device = device;
	context->primary = is_primary;
	context->compiling = os_mutex_new();
	return context;
}

static int check_device(int device)
{
	int bad = api_state();

	if (!bad && (device < 0 || (size_t)device >= sim.gpu_count))
		bad = CU_INVALID_DEVICE;
	return bad;
}

/* In the exclusive mode a lock in SIMDRIVER_STATE represents the one process that has a context;
 * the lock ends with that process. The caller holds the process lock. */
static int take_device(int device)
{
	static bool taken[SIM_GPUS_MAX];
	struct os_file file;
	char path[1024];

	if (sim.gpus[device].compute_mode == 2)
		return CU_DEVICE_UNAVAILABLE;
	if (sim.gpus[device].compute_mode != 3 || taken[device] || !sim.state)
		return CU_OK;
	os_make_directory(sim.state);
	snprintf(path, sizeof path, "%s/exclusive-%d", sim.state, device);
	if (!os_open(&file, path, OS_CREATE_UPDATE))
		return CU_UNKNOWN;
	if (os_try_lock(&file, true) != OS_LOCKED) {
		os_close(&file);
		return CU_DEVICE_UNAVAILABLE;
	}
	taken[device] = true;
	return CU_OK;
}

int cuDevicePrimaryCtxRetain(struct context **context, int device)
{
	int bad = check_device(device);

	if (bad)
		return bad;
	os_process_lock();
	if (!primary[device] && !(bad = take_device(device)))
		primary[device] = context_new(device, true);
	*context = primary[device];
	os_process_unlock();
	return bad;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	return check_device(device);
}

int cuDevicePrimaryCtxRelease(int device)
{
	return check_device(device);
}

int cuCtxCreate_v2(struct context **context, unsigned flags, int device)
{
	int bad = check_device(device);

	(void)flags;
	if (!bad) {
		os_process_lock();
		bad = take_device(device);
		os_process_unlock();
	}
	if (!bad)
		*context = current = context_new(device, false);
	return bad;
}

int cuCtxDestroy_v2(struct context *context)
{
	int bad = api_state();

	if (bad)
		return bad;
	if (!context || context->primary)
		return CU_INVALID_CONTEXT;
	if (current == context)
		current = NULL;
	os_mutex_free(context->compiling);
	free(context);
	return CU_OK;
}

int cuCtxSetCurrent(struct context *context)
{
	int bad = api_state();

	if (!bad)
		current = context;
	return bad;
}

int cuCtxGetCurrent(struct context **context)
{
	int bad = api_state();

	if (!bad)
		*context = current;
	return bad;
}

int cuCtxGetDevice(int *device)
{
	int bad = api_state();

	if (bad)
		return bad;
	if (!current)
		return CU_INVALID_CONTEXT;
	*device = current->device;
	return CU_OK;
}

int cuCtxSynchronize(void)
{
	int bad = api_state();

	return bad ? bad : current ? CU_OK : CU_INVALID_CONTEXT;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
	int bad = cuCtxSynchronize();

	if (bad)
		return bad;
	*total = (size_t)sim.gpus[current->device].memory_mib << 20;
	/* A desktop and one context take this much memory. */
	*available = sim.free_mib ? (size_t)sim.free_mib << 20 : *total - ((size_t)400 << 20);
	return CU_OK;
}
