/* Numbers about a GPU that libcuda asks for by index, in lists. */
#pragma once

#include "phantom.h"

/* The value with this index; 0 if it is not emulated. */
typedef uint32_t info_fn(const struct gpu *gpu, uint32_t index);

info_fn info_memory;   /* NV2080_CTRL_FB_INFO_INDEX_* */
info_fn info_graphics; /* NV0080_CTRL_GR_INFO_INDEX_* */
info_fn info_bus;      /* NV2080_CTRL_BUS_INFO_INDEX_* */
info_fn info_nothing;
