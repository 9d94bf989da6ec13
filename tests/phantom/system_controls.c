/* Controls of the root (NV0000): the system and its list of GPUs. */
#include <stdio.h>
#include <string.h>

#include "controls.h"

/* { u32 size; p64 driver, version, title } */
static uint32_t build_version(const struct call *call, void *params)
{
	uint32_t size = *(uint32_t *)params;
	const char *text[] = {module_version(), module_version(), "NVIDIA UNIX x86_64 Kernel Module"};
	(void)call;
	for (size_t i = 0; i < COUNT(text); i++) {
		char *out = pointer_at(params, 8 + 8 * i);
		if (out)
			snprintf(out, size ? size : 64, "%s", text[i]);
	}
	return NV_OK;
}

/* u32 gpuIds[32]; PROBED has excludedGpuIds[32] after them */
static uint32_t gpu_ids(const struct call *call, void *params)
{
	uint32_t *ids = params;
	memset(ids, 0xff, call->size);
	for (uint32_t i = 0; i < gpu_count; i++)
		ids[i] = gpus[i].id;
	return NV_OK;
}

/* u32 id, flags, device, subdevice; version 1: u64 name; u32 sli, board, instance; i32 numa_node */
static uint32_t describe_id(uint32_t *first, uint32_t *second)
{
	const struct gpu *gpu = gpu_by_id(first[0]);
	if (!gpu)
		return NV_ERR_INVALID_ARGUMENT;
	first[1] = first[3] = second[0] = 0;
	first[2] = second[2] = gpu->index;
	second[1] = gpu->id;
	second[3] = UINT32_MAX;
	return NV_OK;
}

static uint32_t id_info(const struct call *call, void *params)
{
	uint32_t *info = params;
	(void)call;
	return describe_id(info, info + 6);
}

static uint32_t id_info_v2(const struct call *call, void *params)
{
	uint32_t *info = params;
	(void)call;
	return describe_id(info, info + 4);
}

static uint32_t pci_info(const struct call *call, void *params)
{
	struct {
		uint32_t id, domain;
		uint16_t bus, slot;
	} *info = params;
	const struct gpu *gpu = gpu_by_id(info->id);
	(void)call;
	if (!gpu)
		return NV_ERR_INVALID_ARGUMENT;
	info->domain = info->slot = 0;
	info->bus = (uint16_t)gpu->bus;
	return NV_OK;
}

/* { handle, flags; out type }: 3 is REGMEM, memory that libcuda maps */
static uint32_t address_space_type(const struct call *call, void *params)
{
	(void)call;
	((uint32_t *)params)[2] = 3;
	return NV_OK;
}

const struct control system_controls[] = {
	{0x00000101, 32, "SYSTEM_GET_BUILD_VERSION", build_version},
	{0x00000201, 128, "GPU_GET_ATTACHED_IDS", gpu_ids},
	{0x00000202, 40, "GPU_GET_ID_INFO", id_info},
	{0x00000205, 32, "GPU_GET_ID_INFO_V2", id_info_v2},
	{0x00000214, 128, "GPU_GET_PROBED_IDS", gpu_ids},
	{0x0000021b, 12, "GPU_GET_PCI_INFO", pci_info},
	{0x00000d01, 12, "CLIENT_GET_ADDR_SPACE_TYPE", address_space_type},
};
const size_t system_control_count = COUNT(system_controls);
