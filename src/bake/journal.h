/* What is known of libraries that were baked in their places, and the way back.
 *
 *     STATE/baked/PATH-BAKED.journal    one JSON document: path, sizes, hashes (BLAKE2b-256), the
 * row of RECORD before and after STATE/baked/ORIGINAL.original     the original, for all journals
 * that have its hash
 *
 * PATH, BAKED, ORIGINAL: the first 32, 16 and 32 digits of the hashes of the library's path and of
 * the two files. Both are on disk before the library is replaced: until that, a library that was
 * baked before has two journals, and the one that has the library's hash counts.
 *
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/bake.h>

#include "base/hash.h"
#include "os/file.h"

struct journal {
	char *path;   /* of the library, without links; NULL: it cannot be read, see `why` */
	char *record; /* its package's RECORD, and the row there; NULL: there is none */
	char *row_before, *row_after;
	char *record_rest;      /* the hash of RECORD's other rows, in hex */
	char *driver, *targets; /* for people */
	struct jw_driver from;  /* the first driver that loads it; zeros: unknown */
	int64_t when_s;         /* since 1970, UTC */
	int64_t mtime_ns;       /* of the baked file */
	uint64_t size_before, size_after;
	struct digest before, after;
	char *file; /* the journal's path */
	struct jw_error why;
};

struct journals {
	struct journal *items;
	size_t count;
};

/* The folder of all journals; the caller frees it. */
char *journal_folder(struct jw_error *err, const char *state_dir);
/* All of them, with those that cannot be read. The caller frees them. */
int journals_read(struct jw_error *err, const char *state_dir, struct journals *ret_journals);
void journals_free(struct journals *journals);

/* Sets its `file`, by its path and its hash. */
int journal_name(struct jw_error *err, const char *state_dir, struct journal *journal);
/* Its bytes and its name are on disk then. */
int journal_write(struct jw_error *err, struct journal *journal);
void journal_free(struct journal *journal);
/* The file of its original; the caller frees it. */
char *journal_original(struct jw_error *err, const struct journal *journal);

/* The superuser takes no journal that an account could write which may not write the library: it
 * would decide what is read and restored there. Where the library's folder is gone, nothing is. */
int journal_check_writers(struct jw_error *err, const char *folder, const char *library);

/* The hashes of a file that are not NULL. */
int journal_hash(struct jw_error *err, const char *path, struct digest *ret_digest,
				 uint8_t *ret_sha256);

/* How its library is now. Reads it; `quick`: not where its size and time are the baked file's. */
int journal_state(struct jw_error *err, const struct journal *journal, bool quick,
				  enum jw_baked_state *ret_state);

/* The journal of a library, whose path has no links, and the library's state. NULL: it has none. */
int journals_find(struct jw_error *err, const struct journals *journals, const char *library,
				  bool quick, struct journal **ret_journal, enum jw_baked_state *ret_state);
