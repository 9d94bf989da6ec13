/* Numbers about a GPU, which libcuda requests by index, in lists. */
#pragma once

#include "phantom.h"

/* Returns the value with this index; 0 if it is not emulated. */
typedef uint32_t info_fn(const struct gpu *gpu, uint32_t index);

info_fn info_memory;   /* NV2080_CTRL_FB_INFO_INDEX_* */
info_fn info_graphics; /* NV0080_CTRL_GR_INFO_INDEX_* */
info_fn info_bus;      /* NV2080_CTRL_BUS_INFO_INDEX_* */
info_fn info_nothing;
