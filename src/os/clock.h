/* Time. */
#pragma once

#include <stdint.h>

/* Returns a time that rises steadily, also when the clock is set; its zero has no meaning. */
uint64_t os_monotonic_ns(void);
/* Returns the seconds since 1970-01-01 UTC. */
int64_t os_now_s(void);
/* Returns the processor time of all threads of this process; 0 if unknown. */
uint64_t os_cpu_ns(void);
