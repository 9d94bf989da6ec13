/* Cores that this process may use. */
#pragma once

/* Affinity and quotas (cgroup, job object) count; hardware threads that share a core counted one
 * each; at least 1. */
unsigned os_cores(void);
/* The same, threads that share a core counted once; at most os_cores(), and that where the system
 * does not tell. */
unsigned os_physical_cores(void);
