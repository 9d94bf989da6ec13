/* The emulated GPUs. To add one: a row here, its chip in gen-classes.py, and check.sh.
 *
 * Architecture and implementation: chip ids of NV_PMC_BOOT_0 (OGK: TU100 0x160, GA100 0x170, GH100
 * 0x180, AD100 0x190). RAM types: NV2080_CTRL_FB_INFO_RAM_TYPE_* (OGK). Sizes, clocks and counts:
 * the boards' public data sheets. */
#include <string.h>

#include "phantom.h"

#include "classes.inc"

enum { HBM2 = 0x0f, GDDR6 = 0x11, GDDR6X = 0x12 };

#define CLASSES(chip) .classes = classes_##chip, .class_count = COUNT(classes_##chip)

/* clang-format off */
static const struct gpu_model models[] = {
	{.key = "sm_75", .name = "NVIDIA GeForce RTX 2080", .chip = "TU104-A",
	 .arch = 0x160, .impl = 4, .revision = 0xa1, .sm_version = 0x705, .pci_device = 0x1e87,
	 .vram_mib = 8192, .ram_type = GDDR6, .bus_width_bits = 256, .l2_kib = 4096,
	 .gpcs = 6, .tpcs = 23, .warps_per_sm = 32, .cores_per_sm = 64,
	 .tensor_per_sm = 8, .rt_cores_per_sm = 1, .copy_engines = 5,
	 .core_khz = 1710000, .memory_khz = 7000000, CLASSES(TU104)},
	{.key = "sm_80", .name = "NVIDIA A100-PCIE-40GB", .chip = "GA100-A",
	 .arch = 0x170, .impl = 0, .revision = 0xa1, .sm_version = 0x800, .pci_device = 0x20f1,
	 .vram_mib = 40960, .ram_type = HBM2, .bus_width_bits = 5120, .l2_kib = 40960,
	 .gpcs = 7, .tpcs = 54, .warps_per_sm = 64, .cores_per_sm = 64,
	 .tensor_per_sm = 4, .rt_cores_per_sm = 0, .copy_engines = 5,
	 .core_khz = 1410000, .memory_khz = 1215000, CLASSES(GA100)},
	{.key = "sm_86", .name = "NVIDIA GeForce RTX 3070", .chip = "GA104-A",
	 .arch = 0x170, .impl = 4, .revision = 0xa1, .sm_version = 0x806, .pci_device = 0x2484,
	 .vram_mib = 8192, .ram_type = GDDR6, .bus_width_bits = 256, .l2_kib = 4096,
	 .gpcs = 6, .tpcs = 23, .warps_per_sm = 48, .cores_per_sm = 128,
	 .tensor_per_sm = 4, .rt_cores_per_sm = 1, .copy_engines = 5,
	 .core_khz = 1725000, .memory_khz = 7001000, CLASSES(GA104)},
	{.key = "sm_89", .name = "NVIDIA GeForce RTX 4070", .chip = "AD104-A",
	 .arch = 0x190, .impl = 4, .revision = 0xa1, .sm_version = 0x809, .pci_device = 0x2786,
	 .vram_mib = 12282, .ram_type = GDDR6X, .bus_width_bits = 192, .l2_kib = 36864,
	 .gpcs = 4, .tpcs = 23, .warps_per_sm = 48, .cores_per_sm = 128,
	 .tensor_per_sm = 4, .rt_cores_per_sm = 1, .copy_engines = 5,
	 .core_khz = 2475000, .memory_khz = 10501000, CLASSES(AD104)},
	{.key = "sm_90", .name = "NVIDIA H100 PCIe", .chip = "GH100-A",
	 .arch = 0x180, .impl = 0, .revision = 0xa1, .sm_version = 0x900, .pci_device = 0x2331,
	 .vram_mib = 81559, .ram_type = HBM2, .bus_width_bits = 5120, .l2_kib = 51200,
	 .gpcs = 8, .tpcs = 57, .warps_per_sm = 64, .cores_per_sm = 128,
	 .tensor_per_sm = 4, .rt_cores_per_sm = 0, .copy_engines = 5,
	 .core_khz = 1755000, .memory_khz = 1593000, CLASSES(GH100)},
};
/* clang-format on */

struct gpu gpus[GPUS_MAX];
uint32_t gpu_count;

static const struct gpu_model *model_by_key(const char *key, size_t length)
{
	for (size_t i = 0; i < COUNT(models); i++)
		if (strlen(models[i].key) == length && strncmp(models[i].key, key, length) == 0)
			return &models[i];
	return NULL;
}

static void gpu_add(const struct gpu_model *model)
{
	struct gpu *gpu = &gpus[gpu_count];
	gpu->model = model;
	gpu->index = gpu_count++;
	gpu->bus = gpu->index + 1;
	gpu->id = gpu->bus << 8; /* the id that the resource manager derives from bus and slot 0 */
	memcpy(gpu->uuid, "phantom-gpu-", 12);
	gpu->uuid[12] = (uint8_t)(model->sm_version >> 8);
	gpu->uuid[13] = (uint8_t)model->sm_version;
	gpu->uuid[15] = (uint8_t)gpu->index;
}

bool gpus_parse(const char *list, const char **ret_bad, size_t *ret_length)
{
	for (;;) {
		size_t length = strcspn(list, ",");
		const struct gpu_model *model = model_by_key(list, length);
		if (!model || gpu_count == GPUS_MAX) {
			*ret_bad = list;
			*ret_length = length;
			return false;
		}
		gpu_add(model);
		if (!list[length])
			return true;
		list += length + 1;
	}
}

struct gpu *gpu_by_id(uint32_t id)
{
	for (uint32_t i = 0; i < gpu_count; i++)
		if (gpus[i].id == id)
			return &gpus[i];
	return NULL;
}

/* TPCs are assigned to the GPCs in turn. */
uint32_t gpu_tpc_mask(const struct gpu *gpu, uint32_t gpc)
{
	const struct gpu_model *model = gpu->model;
	if (gpc >= model->gpcs)
		return 0;
	uint32_t count = model->tpcs / model->gpcs + (gpc < model->tpcs % model->gpcs ? 1 : 0);
	return (1u << count) - 1;
}
