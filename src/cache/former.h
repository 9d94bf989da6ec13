/* The drivers that made a cache's entries: the installed one, a former one, or an unknown one. A
 * stamp that differs from the driver's may belong to an installed compiler library (nvJitLink has
 * its own, docs/internals/driver-cache.md, "Key"). So only stamps known to be a driver's count as a
 * former driver's: those of the compiled-in table, of profiles that jitwarm has kept for libraries
 * here, and those that a caller adds from its history. A library that still exists unchanged
 * (CUDA's compatibility packages bring a second driver) counts as installed; so does the driver
 * that is running (os_running_driver), whose library an update may have replaced before the next
 * boot. A driver newer than these was never here, unless a profile or the history has it: its
 * entries were made ahead, or on another machine. The same holds for entries whose driver the
 * history knows only from another machine. OpenCL's keys name a release, CUDA's a stamp: if the
 * table has both, they get one verdict. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cache/profile.h"

enum former_verdict { FORMER_LIVING, FORMER_FORMER, FORMER_NEWER, FORMER_UNKNOWN };

struct former_driver {
	char stamp[CACHE_STAMP_SIZE + 1];
	uint32_t release[3]; /* zeros if unknown */
	enum former_verdict verdict;
};

struct former_drivers {
	struct former_driver *items;
	size_t count, capacity;
	uint32_t running[3]; /* of the loaded kernel module; zeros if unknown or equal to the installed
							library's */
	uint32_t newest[3];  /* the newer one of `running` and the installed library's release: a still
							newer driver comes next, if ever */
	bool nameless;       /* the driver's stamp is unknown, so any stamp may be its own */
};

/* Collects the drivers from the table and the machine. `stamp` ("" if unknown) and `release` are
 * the installed driver's; the profiles that jitwarm has kept are in `state_dir`, NULL if there are
 * none. Profiles that cannot be read are passed over. JW_ERR_LIMIT if there are too many drivers.
 * The caller frees *ret_drivers with former_free. */
int former_read(struct jw_error *err, const char *state_dir, const char *stamp,
				const uint32_t release[3], struct former_drivers *ret_drivers);
/* Adds a driver's stamp, unless the list contains it. */
int former_add(struct jw_error *err, struct former_drivers *drivers, const char *stamp);
/* Makes a driver count as installed, whatever the list says: it is in use, if not here. */
int former_spare(struct jw_error *err, struct former_drivers *drivers, const char *stamp);
void former_free(struct former_drivers *drivers);

/* Judges a stamp, or the release that OpenCL's keys name ("418.39"); "" is unknown. */
enum former_verdict former_of(const struct former_drivers *drivers, const char *driver);
