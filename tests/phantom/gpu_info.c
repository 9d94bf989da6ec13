/* The lists of numbers. Indices: OGK ctrl2080fb.h, ctrl0080gr.h, ctrl2080bus.h. */
#include "gpu_info.h"

struct info {
	uint32_t index, value;
};

static uint32_t info_lookup(const struct info *table, size_t count, uint32_t index)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].index == index)
			return table[i].value;
	return 0;
}

/* Sizes in KiB, except the L2 cache. */
uint32_t info_memory(const struct gpu *gpu, uint32_t index)
{
	static const struct info constants[] = {
		{0x05, 256 << 10}, /* BAR1_SIZE */
		{0x14, 0xff},      /* PARTITION_MASK */
		{0x19, 4},         /* FBP_COUNT */
		{0x1a, 0xf},       /* FBP_MASK */
		{0x1d, 200000},    /* BAR1_AVAIL_SIZE */
		{0x1f, 200000},    /* BAR1_MAX_CONTIGUOUS_AVAIL_SIZE */
		{0x22, 8},         /* LTC_COUNT */
		{0x23, 32},        /* LTS_COUNT */
		{0x2b, 0xff},      /* LTC_MASK */
	};
	const struct gpu_model *model = gpu->model;
	uint32_t partitions = model->bus_width_bits / 32;
	switch (index) {
	case 0x04: return partitions < 32 ? partitions : 32; /* PARTITION_COUNT */
	case 0x07:                                           /* RAM_SIZE */
	case 0x08:                                           /* TOTAL_RAM_SIZE */
	case 0x09:                                           /* HEAP_SIZE */
	case 0x0a:                                           /* MAPPABLE_HEAP_SIZE */
	case 0x12:                                           /* LARGEST_FREE_REGION_SIZE */
	case 0x16:                                           /* HEAP_FREE */
	case 0x20: return model->vram_mib << 10;             /* USABLE_RAM_SIZE */
	case 0x0b: return model->bus_width_bits;             /* BUS_WIDTH */
	case 0x0d: return model->ram_type;                   /* RAM_TYPE */
	case 0x1b: return model->l2_kib << 10;               /* L2CACHE_SIZE, in bytes */
	default: return info_lookup(constants, COUNT(constants), index);
	}
}

static uint32_t graphics_constant(uint32_t index)
{
	static const struct info constants[] = {
		{0x03, 32},                           /* BUFFER_ALIGNMENT */
		{0x04, 65536},                        /* SWIZZLE_ALIGNMENT */
		{0x08, 2},                            /* THREAD_STACK_SCALING_FACTOR */
		{0x0a, 1},                            /* SM_REG_BANK_COUNT */
		{0x0b, 65536},                        /* SM_REG_BANK_REG_COUNT */
		{0x0e, 32},                           /* MAX_THREADS_PER_WARP */
		{0x11, 32},                           /* FB_MEMORY_REQUEST_GRANULARITY */
		{0x12, 32},                           /* HOST_MEMORY_REQUEST_GRANULARITY */
		{0x15, 8},                            /* LITTER_NUM_FBPS */
		{0x16, 6},                            /* LITTER_NUM_ZCULL_BANKS */
		{0x18, 4},                            /* LITTER_NUM_MIN_FBPS */
		{0x1a, 1},                            /* TIMESLICE_ENABLED */
		{0x1b, 8},                            /* LITTER_NUM_FBPAS */
		{0x1c, 3},                            /* LITTER_NUM_PES_PER_GPC */
		{0x1e, 2},                            /* LITTER_NUM_TPCS_PER_PES */
		{0x20, 2},                            /* LITTER_NUM_SM_PER_TPC */
		{0x24, 1},                            /* GRS */
		{0x25, 8},                            /* LITTER_NUM_LTCS */
		{0x26, 32},                           /* LITTER_NUM_LTC_SLICES */
		{0x27, 1},                            /* LITTER_NUM_GPCMMU_PER_GPC */
		{0x28, 1},                            /* LITTER_NUM_LTC_PER_FBP */
		{0x29, 2},                            /* LITTER_NUM_ROP_PER_GPC */
		{0x2b, 1},                            /* LITTER_NUM_FBPA_PER_FBP */
		{0x2c, 64},                           /* subcontexts, three counts of them */
		{0x2d, 64},    {0x2e, 64}, {0x32, 4}, /* LITTER_NUM_SLICES_PER_LTC */
	};
	return info_lookup(constants, COUNT(constants), index);
}

uint32_t info_graphics(const struct gpu *gpu, uint32_t index)
{
	const struct gpu_model *model = gpu->model;
	uint32_t sms = 2 * model->tpcs;
	switch (index) {
	case 0x06:                                                /* VPE_COUNT */
	case 0x09: return model->tpcs;                            /* SHADER_PIPE_SUB_COUNT */
	case 0x07:                                                /* SHADER_PIPE_COUNT */
	case 0x14: return model->gpcs;                            /* LITTER_NUM_GPCS */
	case 0x0c: return model->sm_version;                      /* SM_VERSION */
	case 0x0d: return model->warps_per_sm;                    /* MAX_WARPS_PER_SM */
	case 0x13: return model->cores_per_sm;                    /* MAX_SP_PER_SM */
	case 0x17:                                                /* LITTER_NUM_TPC_PER_GPC */
	case 0x2a:                                                /* FAMILY_MAX_TPC_PER_GPC */
		return (model->tpcs + model->gpcs - 1) / model->gpcs; /* rounded up */
	case 0x1d: return sms * model->cores_per_sm;              /* GPU_CORE_COUNT */
	case 0x22: return sms * model->rt_cores_per_sm;           /* RT_CORE_COUNT */
	case 0x23: return sms * model->tensor_per_sm;             /* TENSOR_CORE_COUNT */
	default: return graphics_constant(index);
	}
}

uint32_t info_bus(const struct gpu *gpu, uint32_t index)
{
	switch (index) {
	case 0x00:
		return 3; /* TYPE: PCI Express; libcuda asks for the numbers below only then (SEEN) */
	case 0x0f: return gpu->bus; /* BUS_NUMBER */
	default: return 0;          /* DEVICE_NUMBER, DOMAIN_NUMBER, no coherence ... */
	}
}

uint32_t info_nothing(const struct gpu *gpu, uint32_t index)
{
	(void)gpu;
	(void)index;
	return 0;
}
