/* A driver profile: the facts that determine the name of every entry that one driver looks up.
 *
 * Source: docs/internals/driver-cache.md (measured on drivers 535, 550, 555). A profile belongs to
 * one library file and is stored in the state directory by that file's identity. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/system.h>

#include "base/error.h"
#include "cache/stamp.h"

struct cache_profile {
	char stamp[CACHE_STAMP_SIZE + 1]; /* "" if unknown */
	enum jw_trust trust;              /* how certain the stamp is */
	struct jw_driver driver;
	char library[1024]; /* the file that a worker loads; "" for --driver VERSION */
	uint64_t library_size;
	int64_t library_mtime_ns;
	char build_id[65]; /* hex, "" if there is none */
};

/* Finds the profile of one driver's library (the file itself, links resolved): the one stored in
 * the state directory, if the file is unchanged; else the stamp read from the file, and the release
 * from the file's name and the table of known drivers, confirmed by an entry of `cache_dir` with
 * this stamp, if there is one.
 *
 * Without a known stamp the profile is empty; that is not a failure. `state_dir` and `cache_dir`
 * may be NULL. -1 if the file cannot be read. */
int cache_profile_find(struct jw_error *err, const char *state_dir, const char *library,
					   const char *cache_dir, struct cache_profile *ret_profile);
/* Stores a profile for its library in state_dir/drivers. A stored profile of that file with another
 * stamp is kept as a former driver's. */
int cache_profile_save(struct jw_error *err, const char *state_dir,
					   const struct cache_profile *profile);
/* Writes a profile into a file, for another machine. */
int cache_profile_write(struct jw_error *err, const char *path,
						const struct cache_profile *profile);
int cache_profile_read(struct jw_error *err, const char *path, struct cache_profile *ret_profile);
/* Finds the stored profile of the driver with this stamp, even if its library is gone;
 * JW_ERR_NOT_FOUND. */
int cache_profile_of_stamp(struct jw_error *err, const char *state_dir, const char *stamp,
						   struct cache_profile *ret_profile);
/* Finds the stored profile of this file; JW_ERR_NOT_FOUND if there is none, or it belongs to an
 * earlier file. */
int cache_profile_of_library(struct jw_error *err, const char *state_dir, const char *library,
							 struct cache_profile *ret_profile);
/* Makes the profile of a driver that is not installed here ("550.163.01", or a CUDA version, which
 * has no stamp) from the table of known drivers. */
int cache_profile_for_release(struct jw_error *err, const char *driver,
							  struct cache_profile *ret_profile);

/* Reads a profile as stored. The bytes may be hostile; identity is not checked. */
int cache_profile_parse(struct jw_error *err, const char *text, size_t size,
						struct cache_profile *ret_profile);

/* Returns the stamp of the driver that uses the system's cache: this machine's. NULL for another
 * machine's cache. */
const char *cache_user_stamp(const struct jw_system *system);

/* A driver whose stamp is compiled in. */
struct cache_known_driver {
	uint32_t release[3];
	const char *name; /* "550.163.01" */
	const char *stamp;
	uint32_t cuda; /* as in struct jw_driver */
	bool seen;     /* seen in a key that this driver made; otherwise read from its library */
};
/* Returns the row of a release; NULL if there is none. */
const struct cache_known_driver *cache_known_driver(const uint32_t release[3]);
/* Returns the row at `index`; NULL after the last. */
const struct cache_known_driver *cache_known_driver_at(size_t index);
/* Returns the newest driver of the same branch, or, for a driver without a release, of its CUDA
 * version; NULL if there is none. */
const struct cache_known_driver *cache_known_driver_like(const struct jw_driver *driver);
