/* Confirming a driver's profile: have it compile a tiny module into an empty directory, and look at
 * the entry it makes. Then a few larger ones, to see how fast its compiler is here. */
#pragma once

#include <jitwarm/system.h>

#include "cache/profile.h"
#include "history/speed_model.h"
#include "worker/protocol.h"

/* Asks the driver behind `worker` to compile the probe for one of its devices. On success the
 * profile's stamp is the driver's own and its trust CACHE_STAMP_CONFIRMED, or CACHE_STAMP_OPAQUE
 * where the entry is not of the known form. -1: the driver could not be asked, refuses the
 * probe, or keeps nothing where it is told to; the profile is untouched. `folder`: an empty
 * directory for this. `ret_time`: what the larger modules took, by the model and here; zeros where
 * they did not compile. May be NULL: they are not tried. */
int driver_probe(struct jw_error *err, const char *const *worker, const char *folder,
				 const struct protocol_device *device, struct cache_profile *profile,
				 struct speed_time *ret_time);

/* The same for the first usable GPU of a system, in a directory made for it; the profile is kept in
 * the state directory, and so is the time. Starts the system's `worker`. */
int driver_probe_confirm(struct jw_error *err, const struct jw_system *system,
						 struct cache_profile *profile, struct speed_time *ret_time);
