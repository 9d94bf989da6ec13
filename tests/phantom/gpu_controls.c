/* Controls of a GPU: device (NV0080) and subdevice (NV2080). */
#include <stdio.h>
#include <string.h>

#include "controls.h"
#include "gpu_info.h"

/* ---- the GPU's identity */

/* { count; classes[] } */
static uint32_t class_list(const struct call *call, void *params)
{
	uint32_t *list = params;
	list[0] = call->model->class_count;
	memcpy(list + 1, call->model->classes, 4 * (size_t)list[0]);
	return NV_OK;
}

/* { count, p64 classes[] }: the form that 470 and older use, first without a list. */
static uint32_t class_list_v1(const struct call *call, void *params)
{
	uint32_t *count = params, room = *count;
	void *classes = pointer_at(params, 8);
	*count = call->model->class_count;
	if (!classes)
		return NV_OK;
	if (room < *count)
		return NV_ERR_INVALID_ARGUMENT;
	memcpy(classes, call->model->classes, 4 * (size_t)*count);
	return NV_OK;
}

static uint32_t subdevice_count(const struct call *call, void *params)
{
	(void)call;
	*(uint32_t *)params = 1;
	return NV_OK;
}

/* { index, flags, length; data[] } */
static uint32_t gid_info(const struct call *call, void *params)
{
	((uint32_t *)params)[2] = 16;
	memcpy(at(params, 12), call->gpu->uuid, 16);
	return NV_OK;
}

static uint32_t arch_info(const struct call *call, void *params)
{
	uint32_t *info = params;
	info[0] = call->model->arch;
	info[1] = call->model->impl;
	info[2] = call->model->revision;
	*(uint8_t *)at(params, 12) = 0;
	return NV_OK;
}

/* { device, subsystem, revision, extended device } */
static uint32_t pci_info(const struct call *call, void *params)
{
	uint32_t *info = params, device = call->model->pci_device;
	info[0] = device << 16 | PCI_VENDOR_NVIDIA;
	info[1] = 0x146b << 16 | PCI_VENDOR_NVIDIA;
	info[2] = call->model->revision;
	info[3] = device;
	return NV_OK;
}

/* { flags; name[64] } */
static uint32_t name_string(const struct call *call, void *params)
{
	snprintf(at(params, 4), 64, "%s", call->model->name);
	return NV_OK;
}

static uint32_t short_name(const struct call *call, void *params)
{
	snprintf(params, call->size < 64 ? call->size : 64, "%s", call->model->chip);
	return NV_OK;
}

/* ---- lists of (index, value): inline behind their count, or behind a pointer */

static uint32_t info_inline(const struct call *call, void *params, info_fn *value)
{
	uint32_t *list = params, count = list[0], room = (call->size - 4) / 8;
	for (uint32_t i = 0; i < count && i < room; i++)
		list[2 + 2 * i] = value(call->gpu, list[1 + 2 * i]);
	return NV_OK;
}

static uint32_t info_pointer(const struct call *call, void *params, info_fn *value)
{
	uint32_t count = *(uint32_t *)params, *list = pointer_at(params, 8);
	for (size_t i = 0; list && i < count; i++)
		list[2 * i + 1] = value(call->gpu, list[2 * i]);
	return NV_OK;
}

static uint32_t memory_info(const struct call *call, void *params)
{
	return info_pointer(call, params, info_memory);
}

static uint32_t memory_info_v2(const struct call *call, void *params)
{
	return info_inline(call, params, info_memory);
}

static uint32_t graphics_info(const struct call *call, void *params)
{
	return info_pointer(call, params, info_graphics);
}

static uint32_t graphics_info_v2(const struct call *call, void *params)
{
	return info_inline(call, params, info_graphics);
}

static uint32_t bus_info(const struct call *call, void *params)
{
	return info_pointer(call, params, info_bus);
}

static uint32_t bus_info_v2(const struct call *call, void *params)
{
	return info_inline(call, params, info_bus);
}

static uint32_t gpu_info_v2(const struct call *call, void *params)
{
	return info_inline(call, params, info_nothing);
}

/* ---- its units */

/* { count; NV2080_ENGINE_TYPE_*[] }: GR0, COPY0 ... */
static uint32_t engines(const struct call *call, void *params)
{
	enum { ENGINE_GR0 = 1, ENGINE_COPY0 = 9 };
	uint32_t *list = params;
	list[1] = ENGINE_GR0;
	for (uint32_t i = 0; i < call->model->copy_engines; i++)
		list[2 + i] = ENGINE_COPY0 + i;
	list[0] = 1 + call->model->copy_engines;
	return NV_OK;
}

/* NV2080_CTRL_GR_GET_GLOBAL_SM_ORDER_PARAMS: 512 multiprocessors of six numbers (gpc, tpc in it, sm
 * in that, tpc, virtual gpc, migratable tpc), then two counts. 470 and older know the first four
 * only, and their parameters have 4120 bytes. */
static uint32_t sm_order(const struct call *call, void *params)
{
	uint32_t sms = 2 * call->model->tpcs, words = call->size < 6148 ? 4 : 6;
	uint16_t *counts = (uint16_t *)params + 512 * words;
	for (uint32_t i = 0; i < sms; i++) {
		uint16_t tpc = (uint16_t)(i / 2), gpc = (uint16_t)(tpc % call->model->gpcs);
		uint16_t local_tpc = (uint16_t)(tpc / call->model->gpcs);
		uint16_t row[] = {gpc, local_tpc, i & 1, tpc, gpc, local_tpc};
		memcpy((uint16_t *)params + (size_t)i * words, row, 2 * (size_t)words);
	}
	counts[0] = (uint16_t)sms;
	counts[1] = (uint16_t)call->model->tpcs;
	return NV_OK;
}

/* { 16 bytes of route; u32 mask } */
static uint32_t gpc_mask(const struct call *call, void *params)
{
	((uint32_t *)params)[4] = (1u << call->model->gpcs) - 1;
	return NV_OK;
}

/* { 16 bytes of route; u32 gpc, mask } */
static uint32_t tpc_mask(const struct call *call, void *params)
{
	uint32_t *words = params;
	words[5] = gpu_tpc_mask(call->gpu, words[4]);
	return NV_OK;
}

static uint32_t watchdog_info(const struct call *call, void *params)
{
	(void)call;
	*(uint32_t *)params = 5;
	return NV_OK;
}

/* ---- clocks. These controls have no public names; cuDeviceGetAttribute (CLOCK_RATE,
 * MEMORY_CLOCK_RATE) and the start of the CUDA runtime use them. SEEN: which word becomes which
 * attribute. The masks of domains are those reported for a real GA10x board. */

enum { CLOCK_GRAPHICS = 1, CLOCK_MEMORY = 4, CLOCK_VIDEO = 8 };
enum { DOMAIN_GRAPHICS = 1, DOMAIN_MEMORY = 0x10, DOMAIN_VIDEO = 0x100000 };

static uint32_t clock_domains(const struct call *call, void *params)
{
	(void)call;
	((uint32_t *)params)[1] = CLOCK_GRAPHICS | CLOCK_MEMORY | CLOCK_VIDEO;
	return NV_OK;
}

static uint32_t clock_domain_mask(const struct call *call, void *params)
{
	(void)call;
	*(uint32_t *)params = 0x03fc007f;
	return NV_OK;
}

/* { 0, count, { public domain; out domain, 1, 100 }[] } */
static uint32_t clock_domain_info(const struct call *call, void *params)
{
	uint32_t *words = params, *entry = words + 2;
	(void)call;
	for (uint32_t i = 0; i < words[1] && i < 32; i++, entry += 4) {
		entry[1] = entry[0] == CLOCK_GRAPHICS ? DOMAIN_GRAPHICS
				   : entry[0] == CLOCK_MEMORY ? DOMAIN_MEMORY
											  : DOMAIN_VIDEO;
		entry[2] = 1;
		entry[3] = 100;
	}
	return NV_OK;
}

/* 4 words, count, { domain, 0; out kHz; 0 }[32] */
static uint32_t clock_frequencies(const struct call *call, void *params)
{
	uint32_t *words = params, *entry = words + 5;
	for (uint32_t i = 0; i < words[4] && i < 32; i++, entry += 4)
		entry[2] = entry[0] == DOMAIN_MEMORY ? call->model->memory_khz : call->model->core_khz;
	return NV_OK;
}

const struct control gpu_controls[] = {
	{0x00800201, 16, "GPU_GET_CLASSLIST", class_list_v1},
	{0x00800280, 4, "GPU_GET_NUM_SUBDEVICES", subdevice_count},
	{0x00800292, 404, "GPU_GET_CLASSLIST_V2", class_list},
	{0x20800102, 4, "GPU_GET_INFO_V2", gpu_info_v2},
	{0x20800110, 68, "GPU_GET_NAME_STRING", name_string},
	{0x20800111, 8, "GPU_GET_SHORT_NAME_STRING", short_name},
	{0x2080014a, 28, "GPU_GET_GID_INFO", gid_info},
	{0x20800170, 252, "GPU_GET_ENGINES_V2", engines},
	{0x20801201, 16, "GR_GET_INFO", graphics_info},
	{0x2080121b, 4100, "GR_GET_GLOBAL_SM_ORDER", sm_order},
	{0x20801228, 4, "GR_GET_INFO_V2", graphics_info_v2},
	{0x2080122a, 20, "GR_GET_GPC_MASK", gpc_mask},
	{0x2080122b, 24, "GR_GET_TPC_MASK", tpc_mask},
	{0x20801301, 16, "FB_GET_INFO", memory_info},
	{0x20801303, 4, "FB_GET_INFO_V2", memory_info_v2},
	{0x20801701, 13, "MC_GET_ARCH_INFO", arch_info},
	{0x20801801, 16, "BUS_GET_PCI_INFO", pci_info},
	{0x20801802, 16, "BUS_GET_INFO", bus_info},
	{0x20801823, 4, "BUS_GET_INFO_V2", bus_info_v2},
	{0x20802209, 4, "RC_GET_WATCHDOG_INFO", watchdog_info},
	{0x20809001, 8, "(clock domain mask)", clock_domain_mask},
	{0x20809009, 8, "(clock domains)", clock_domains},
	{0x20809064, 520, "(clock domain info)", clock_domain_info},
	{0x2080a026, 532, "(clock frequencies)", clock_frequencies},
};
const size_t gpu_control_count = COUNT(gpu_controls);
