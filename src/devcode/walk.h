/* Walks through a file and its layers of packing: archives, wheels, zstd. */
#pragma once

#include "devcode/code_stream.h"
#include "devcode/devcode.h"
#include "devcode/leaf.h"

struct visitor {
	void *context;
	/* One unpacked file or member. `member` is NULL for the file itself. A return other than 0 ends
	 * the walk: it means "stop", not that this file is damaged. */
	int (*leaf)(struct jw_error *err, void *context, const char *member, enum kind kind,
				struct stream *stream);
	/* An archive or member whose rest cannot be read. */
	void (*trouble)(void *context, const char *member, const struct jw_error *why);
	const struct jw_cancel *cancel; /* may be NULL */
	uint64_t *again_bytes;          /* see walk_again; NULL: read for the first time */
};

/* The reader of a layer checks before each piece whether to stop, and then fails. An outer layer
 * must not report that failure as damage. The layer itself then returns -1. */
int walk_cancelled(struct jw_error *err, const struct jw_cancel *cancel);

/* Counts what is unpacked once more. One file may ask for it for each of its members, and in a
 * stream that unpacks all before them: JW_ERR_LIMIT beyond a total, then at once. */
int walk_again(struct jw_error *err, uint64_t *again_bytes, uint64_t size);

/* `depth` counts the open layers, starting at 0. */
int walk_stream(struct jw_error *err, const struct visitor *visitor, const char *member,
				struct stream *stream, unsigned depth);
int walk_file(struct jw_error *err, const struct visitor *visitor, const char *path);

/* The layers: each passes its members to walk_stream, reports trouble, and returns -1 only if the
 * visitor has stopped. */
int walk_archive(struct jw_error *err, const struct visitor *visitor, const char *member,
				 struct stream *stream, unsigned depth);
/* A whole file; *ret_plain is false, and nothing was visited, where it is walk_archive's. */
int walk_zip(struct jw_error *err, const struct visitor *visitor, const struct os_map *map,
			 unsigned depth, bool *ret_plain);
int walk_zstd(struct jw_error *err, const struct visitor *visitor, const char *member,
			  struct stream *stream, unsigned depth);
