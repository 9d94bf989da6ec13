/* Time. */
#pragma once

#include <stdint.h>

/* Rises steadily, whatever happens to the clock; its zero means nothing. */
uint64_t os_monotonic_ns(void);
/* Seconds since 1970-01-01 UTC. */
int64_t os_now_s(void);
/* Processor time that this process has used, all its threads together. 0 where unknown. */
uint64_t os_cpu_ns(void);
