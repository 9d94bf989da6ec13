/* One image, read step by step: searched, its sections read, then complete. */
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
	struct stream whole; /* of an object: all of it in memory, which `stream` then points to */
	enum {
		LEAF_NEW,
		LEAF_SINGLE,   /* is one container */
		LEAF_MEMORY,   /* is searched there */
		LEAF_STREAM,   /* is searched there */
		LEAF_SEARCHED, /* all its containers were given */
		LEAF_COMPLETE  /* and so was the image */
	} state;
	bool may_hold_code; /* although its sections cannot be read */
	struct image image;
	struct devcode_image full; /* when it is complete */
	struct bytes bytes;
	struct section_table table;
	/* In memory: the section that is searched */
	struct range_search range;
	size_t section;
	/* In a stream */
	struct stream_search search;
};

void leaf_open(struct leaf *leaf, struct origin origin, enum kind kind, struct stream *stream);
/* As code_next, but what cannot be read of it fails. */
enum code_step leaf_next(struct jw_error *err, struct leaf *leaf, struct code_found *found);
void leaf_close(struct leaf *leaf);

/* A reader of what a walk finds; it closes the walk. */
struct code_reader *code_of_walk(const char *path, struct walk *walk,
								 const struct jw_cancel *cancel);
