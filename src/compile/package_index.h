/* Wheels where pip would find them: in the package indexes and the folders of its configuration.
 *
 * pip is asked what it is configured to (“pip config list”), and variables PIP_… count before that;
 * where there is no pip, and where PIP_CONFIG_FILE names the null device, they alone. pip reads
 * [download] for “pip download”; [install] counts here too, since most users write it there.
 *
 * Indexes are asked in JSON (PEP 691), by plain http only on this machine and on a trusted-host.
 * Names and passwords, also those of .netrc, go only to the scheme, host and port of an index that
 * the configuration names. Messages never contain them. */
#pragma once

#include <stdbool.h>

#include <jitwarm/scan.h>

#include "base/cancel.h"
#include "compile/wheel_name.h"

struct wheel_found {
	char *place;                /* an address, or a file's path */
	bool local;                 /* it is a file */
	char name[WHEEL_MOST_NAME]; /* of the file, without a folder */
	char sha256[65];            /* of the index; "": it lists none */
	uint64_t size_bytes;        /* of the index; 0: it lists none */
	struct wheel_named named;
};

struct package_index;
/* NULL and err set. `cancel` must outlive it. */
struct package_index *package_index_open(struct jw_error *err, const struct jw_cancel *cancel);
void package_index_close(struct package_index *index);
/* The newest that fits, from all places; a pre-release only if there is nothing else. Ignores
 * withdrawn wheels (PEP 592). The failure of a place is reported only if no other place has the
 * wheel. JW_ERR_NOT_FOUND. The caller frees ret_found->place. */
int package_index_find(struct jw_error *err, struct package_index *index,
					   const struct wheel_wanted *wanted, struct wheel_found *ret_found);
/* One that is not local, into a new file at `path`, of which a part may be left on failure.
 * JW_ERR_FORMAT: its SHA-256 is not the one that the index lists. `progress` may be NULL. */
int package_index_download(struct jw_error *err, struct package_index *index,
						   const struct wheel_found *found, const char *path,
						   void (*progress)(void *context, uint64_t done_bytes,
											uint64_t total_bytes),
						   void *context);

/* ---- parts, for tests */

struct wheel_choice {
	const struct wheel_wanted *wanted;
	struct wheel_found best; /* place NULL: none so far */
	struct version newest;   /* of the platform, regardless of the request; count 0: none */
	/* Of what was requested: taken back by its author, for other platforms, not built, with other
	 * hashes, without any since they are in a folder */
	bool withdrawn, foreign, source, other, linked;
};
/* Chooses from a project's page at the address `page`. */
int package_index_read(struct jw_error *err, const char *page, const char *text, size_t size,
					   struct wheel_choice *choice);
