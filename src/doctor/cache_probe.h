/* Whether programs use the driver's cache: has the driver load a tiny module twice, each time in a
 * new process with the settings that programs have, and looks at the module's entry. */
#pragma once

#include <jitwarm/doctor.h>

struct cache_probe {
	enum jw_probe_use use;
	char *entry;    /* its path; NULL where the driver was not asked */
	char why[1024]; /* JW_PROBE_FAILED: a line */
};

/* Does nothing (JW_PROBE_NOT) without a GPU or a profile and in a cache that the next entry would
 * harm, nor for the superuser in a cache that another account could replace (JW_PROBE_UNSAFE). The
 * caller frees `entry`. -1: out of memory, cancelled, no folder for temporary files. */
int cache_probe(struct jw_error *err, const struct jw_system *system,
				const struct jw_cancel *cancel, struct cache_probe *ret_probe);
