/* The oldest ptxas at hand that will do: most drivers load its code. */
#pragma once

#include <stdint.h>

/* Among those that jw_compiler_find finds, of CUDA versions from `least` to `most` (1000 * major +
 * 10 * minor). NULL: there is none. The caller frees it. */
char *compiler_oldest(uint32_t least, uint32_t most);
