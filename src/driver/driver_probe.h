/* The profile of a system's driver, and its confirmation: the driver compiles a tiny module into an
 * empty directory, and its entry is examined. */
#pragma once

#include <jitwarm/system.h>

#include "cache/profile.h"
#include "driver/protocol.h"

struct cache_profile profile_of_system(const struct jw_system *system);
/* Returns whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);

/* Asks the driver behind `worker` to compile the probe for one of its devices. On success the
 * profile's stamp is the driver's own and its trust JW_TRUST_CONFIRMED, or JW_TRUST_OPAQUE if the
 * entry's form is unknown. -1 if the driver could not be asked, refuses the probe, or stores
 * nothing in the given directory; then the profile is untouched. `folder` is an empty directory for
 * this. */
int driver_probe(struct jw_error *err, const char *const *worker, const char *folder,
				 const struct protocol_device *device, struct cache_profile *profile);

/* Writes the probe's container to a file, and returns the name of its entry for a device (0 if the
 * profile's names are unknown). */
int driver_probe_write(struct jw_error *err, const char *path);
uint64_t driver_probe_key(const struct cache_profile *profile, uint16_t sm);
/* Returns whether an entry's payload is the probe's PTX. */
bool driver_probe_is(const uint8_t *payload, size_t size);

/* Confirms the profile with the first usable GPU of a system, in a temporary directory, and stores
 * it in the state directory. Starts the system's `worker`. */
int driver_probe_confirm(struct jw_error *err, const struct jw_system *system,
						 struct cache_profile *profile);
