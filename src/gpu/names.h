/* What people call the GPUs of a capability. */
#ifndef JW_GPU_NAMES_H
#define JW_GPU_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "RTX 30, A10, A40" for 86; "" for one that is not in the table. */
const char *gpu_capability_names(uint16_t sm);

/* Whether a device of this capability exists, or may: it is in the table or newer than all of it.
 */
bool gpu_capability_plausible(uint16_t sm);

#endif
