/* Walks through a file and its layers of packing: archives, wheels, zstd. Each step returns one
 * unpacked file or member, whose stream the caller reads before the next step, as far as it wants.
 *
 *     walk_open(err, path, cancel, NULL, &walk);
 *     while ((step = walk_next(err, walk, &found)) > WALK_END)
 *             ...
 *     walk_close(walk); */
#pragma once

#include <stdatomic.h>

#include <jitwarm/cancel.h>

#include "code/code_file.h"
#include "code/code_stream.h"

struct walk;

enum walk_step {
	WALK_FAILED = -1, /* the walk was interrupted */
	WALK_END,
	WALK_LEAF,    /* a file or member of a kind that may hold device code */
	WALK_TROUBLE, /* an archive or member, the rest of which cannot be read */
};

struct walk_found {
	const char *member; /* NULL for the file itself. Valid until the next step, like the stream */
	enum kind kind;
	struct stream *stream;
	struct jw_error why; /* for WALK_TROUBLE */
};

/* Opens a walk. `again_bytes` (see walk_again) is NULL if the file is read for the first time.
 * `cancel` may be NULL. */
int walk_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
			  atomic_uint_least64_t *again_bytes, struct walk **ret_walk);
/* Splits a wheel into parts, each of which has its own walk: the members before, between and after
 * its large libraries, and, with odd numbers, each of these. Anything else is one part. The walk
 * must not have begun. */
size_t walk_parts(struct walk *walk);
/* Returns whether a wheel that walk_parts has split has a library for that platform
 * (jw_platform). */
bool walk_has_library(const struct walk *walk, const char *platform);
/* Opens the walk of one part. `whole` must stay open, and may be shared. */
struct walk *walk_part(const struct walk *whole, size_t part);
/* Walks over bytes in memory, for tests; the walk's path is "input". */
struct walk *walk_of_memory(const uint8_t *data, size_t size);
int walk_next(struct jw_error *err, struct walk *walk, struct walk_found *ret_found);
void walk_close(struct walk *walk); /* may be NULL */

/* Returns -1 with JW_ERR_INTERRUPTED if reading has to end (cancel_check, with words about files).
 * A layer's reader asks before each piece, and then fails; an outer layer must not report that as
 * damage. */
int cancel_check_reading(struct jw_error *err, const struct jw_cancel *cancel);

/* Returns the most bytes to which a file or member of this size may unpack. Wheels unpack to 3 to
 * 12 times their size; a hostile file of a few MiB could hold terabytes. */
uint64_t walk_most_unpacked(uint64_t packed_bytes);
/* Counts the unpacked bytes of a payload in a container, as the walk counts those of its layers. -1
 * with JW_ERR_LIMIT if the file's whole contents unpack to too much: then the next step reports it,
 * and ends the walk. */
int walk_unpacks(struct jw_error *err, struct walk *walk, uint64_t size);

/* Counts bytes that are unpacked once more. One file may need that for each of its members, and, in
 * a stream, for everything before them: beyond a total it fails at once with JW_ERR_LIMIT. */
int walk_again(struct jw_error *err, atomic_uint_least64_t *again_bytes, uint64_t size);
