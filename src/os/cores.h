/* Cores that this process may use. */
#pragma once

/* Affinity and quotas (cgroup, job object) count; each hardware thread counts as one; at least 1.
 */
unsigned os_cores(void);
/* The same, with threads that share a core counted once; at most os_cores(), and equal to it if the
 * system does not tell. */
unsigned os_physical_cores(void);
