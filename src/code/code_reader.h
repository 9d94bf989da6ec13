/* Reads one image step by step: its containers are searched, then its sections are read, then it is
 * complete. */
#pragma once

#include "code/code_file.h"
#include "code/image.h"
#include "code/reread.h"
#include "code/search.h"
#include "code/walk.h"

struct leaf {
	struct origin origin;
	enum kind kind;
	struct stream *stream;
	struct stream whole; /* for an object or a PTX file: all of it in memory, where `stream` then
							reads */
	struct buf text;     /* the bytes of a PTX file */
	enum {
		LEAF_NEW,
		LEAF_SINGLE,   /* the file is one container */
		LEAF_MEMORY,   /* searched in memory */
		LEAF_STREAM,   /* searched in a stream */
		LEAF_SEARCHED, /* all containers were returned */
		LEAF_COMPLETE  /* the image itself was returned */
	} state;
	/* Reported as possibly holding code, although its sections cannot be read. */
	bool may_hold_code;
	bool hosts; /* see code_take_hosts */
	struct image image;
	struct devcode_image full; /* the complete image */
	struct bytes bytes;
	struct section_table table;
	/* For LEAF_MEMORY: the section that is being searched. */
	struct range_search range;
	size_t section;
	/* For LEAF_STREAM: */
	struct stream_search search;
};

/* Begins to read a file of that kind, which `stream` returns. */
void leaf_open(struct leaf *leaf, struct origin origin, enum kind kind, struct stream *stream);
/* Returns the next step like code_next, but fails for an unreadable image instead of skipping
 * it. */
enum code_step leaf_next(struct jw_error *err, struct leaf *leaf, struct code_found *found);
void leaf_close(struct leaf *leaf);

/* Makes a reader for the files that a walk finds; the reader closes the walk. */
struct code_reader *code_of_walk(const char *path, struct walk *walk,
								 const struct jw_cancel *cancel);
