/* The journal of a library that was baked in its place: what is needed to get the original back,
 * byte for byte.
 *
 *     STATE/baked/HASH-OF-PATH.journal
 *
 *     zstd frame: ranges { offset, length: 8 bytes each; the original's bytes }, in order; the last
 *                 one has the offset 2^64 - 1
 *     one JSON document: path, sizes, hashes (BLAKE2b-256), the row of RECORD before and after
 *     trailer: length of the document, length of the frame, "jwbaked\1": 8 bytes each
 *
 * Numbers are little endian. Before the library is replaced its journal is called .next: a crash
 * leaves the original with a .next, or the baked file with one; in_place_enter tells them apart by
 * the file's hash. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/hash.h"
#include "os/file.h"

enum { JOURNAL_PIECE = 1 << 20, JOURNAL_TEXT = 256 };

struct journal {
	char *path;   /* of the library, without links */
	char *record; /* its package's RECORD, and the row there; NULL: there is none */
	char *row_before, *row_after;
	char *record_rest;      /* the hash of RECORD's other rows, in hex */
	char *driver, *targets; /* for people */
	char *kept;             /* how it was baked: --keep, "sm_80,sm_90"; NULL: not given */
	bool drop_ptx, any_owner;
	struct jw_driver from; /* the first driver that loads it; zeros: unknown */
	int64_t when_s;        /* since 1970, UTC */
	int64_t mtime_ns;      /* of the baked file */
	uint64_t size_before, size_after;
	struct digest before, after;
	uint64_t frame_bytes; /* of the journal's file */
	char *file;           /* its path, set by journal_read */
};

/* The folder of all journals, and one library's journal there; the caller frees them. */
char *journal_folder(struct jw_error *err, const char *state_dir);
char *journal_file(struct jw_error *err, const char *state_dir, const char *library);

/* The journal of a library that has none under its own path, but is byte for byte what another
 * path's library was baked to: it was moved, or paths lead elsewhere now. Its path and RECORD are
 * those of `library`, which has no links. Untouched: there is none. JW_ERR_UNSUPPORTED: it is a
 * copy, and that library is still there. The caller frees it. */
int journal_find(struct jw_error *err, const char *state_dir, const char *library,
				 struct journal *ret_journal);

/* JW_ERR_NOT_FOUND, JW_ERR_FORMAT. The caller frees it. */
int journal_read(struct jw_error *err, const char *file, struct journal *ret_journal);
void journal_free(struct journal *journal);

/* The original's bytes in order, from the file as it is and its journal (NULL: the file is the
 * original). Keeps both only by pointer. */
struct original;
int original_open(struct jw_error *err, const struct os_map *file, const struct journal *journal,
				  struct original **ret_original);
/* The next piece, of at most JOURNAL_PIECE bytes; *ret_size is 0 at the end. JW_ERR_FORMAT: the
 * journal is damaged. */
int original_next(struct jw_error *err, struct original *original, const uint8_t **ret_piece,
				  size_t *ret_size);
void original_close(struct original *original);

/* Writes the journal of `to`, which was made of `original`, to a new file, and syncs it. Fills in
 * sizes, hashes and row_after of `journal`, whose other members the caller has set. */
int journal_write(struct jw_error *err, const char *file, struct original *original,
				  const struct os_map *to, struct journal *journal);
/* Whether the original can be had back from `to` and that journal. JW_ERR_FORMAT if not. */
int journal_prove(struct jw_error *err, const char *file, const struct os_map *to);
