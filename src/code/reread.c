#include "code/reread.h"

#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "code/walk.h"

/* A walk reads directories and compares names: it costs as much as reading this many bytes. */
enum { COST_OF_WALK = 1 << 26 };

struct code_copying {
	struct walk *walk;
	struct walk_found at; /* the current member; without a stream there is none */
	struct set members;   /* the first part of each member, by name */
	size_t cursor;        /* where `members` is searched for further parts of this member */
	size_t next;          /* the part of the member to examine next */
	uint64_t left;        /* bytes of the part being copied */
	size_t done;
	struct jw_error why; /* the latest problem */
	const char *member;  /* the member whose part could not be read, if known */
};

static uint64_t member_key(const char *member)
{
	return member ? fnv_update(FNV_START, member, strlen(member)) : 0;
}

/* Maps each wanted member to its first part, and opens the archive again, within the limit of bytes
 * that are read more than once. */
static int begin_reread(struct jw_error *err, struct code_copy *copy)
{
	struct code_copying *copying = copy->copying = mem_alloc(sizeof *copying);

	for (size_t i = 0; i < copy->count; i++) {
		struct devcode_part *part = &copy->parts[i];

		part->done = false;
		if (!i || !text_same(part[-1].member, part->member))
			set_add(&copying->members, member_key(part->member), i);
	}
	if (!copy->count)
		return 0;
	if (walk_again(err, copy->again_bytes, COST_OF_WALK))
		return -1;
	return walk_open(err, copy->path, copy->cancel, copy->again_bytes, &copying->walk);
}

/* Moves to the next part in the current member, after the bytes that were read. */
static bool find_part(struct code_copy *copy)
{
	struct code_copying *copying = copy->copying;
	const struct walk_found *at = &copying->at;

	for (;;) {
		for (; copying->next < copy->count &&
			   text_same(copy->parts[copying->next].member, at->member);
			 copying->next++) {
			const struct devcode_part *part = &copy->parts[copying->next];

			if (part->done || part->offset < at->stream->offset)
				continue;
			copy->part = copying->next;
			copying->left = part->size_bytes;
			return true;
		}
		copying->next = set_find(&copying->members, member_key(at->member), &copying->cursor);
		if (copying->next == SET_NONE)
			return false;
	}
}

/* Returns 1 for a piece of the part, 0 if the part is complete. */
static int next_piece(struct jw_error *err, struct code_copy *copy)
{
	struct code_copying *copying = copy->copying;
	struct stream *stream = copying->at.stream;
	const uint64_t done = copy->parts[copy->part].size_bytes - copying->left;
	const size_t wanted = copying->left < DEVCODE_PIECE ? (size_t)copying->left : DEVCODE_PIECE;
	size_t got;

	if (stream_skip(err, stream, copy->parts[copy->part].offset + done - stream->offset))
		return -1;
	if (!wanted)
		return 0;
	if (stream_peek(err, stream, wanted, &copy->data, &got))
		return -1;
	if (got < wanted)
		return error_set(err, JW_ERR_FORMAT, "the file is shorter than it was");
	copy->size = wanted;
	copying->left -= wanted;
	return 1;
}

/* Reports that the walk is over and parts are missing. */
static int report_missing(struct jw_error *err, const struct code_copy *copy)
{
	const struct code_copying *copying = copy->copying;
	const char *member = copying->member;

	if (walk_again(err, copy->again_bytes, 0))
		return -1;
	for (size_t i = 0; !member && i < copy->count; i++)
		if (!copy->parts[i].done) {
			member = copy->parts[i].member;
			break;
		}
	if (copying->why.code)
		return error_set(err, copying->why.code, "%s%s%s: %s", copy->path, member ? ": " : "",
						 member ? member : "", copying->why.message);
	return error_set(err, JW_ERR_NOT_FOUND, "%s: no longer holds %s", copy->path,
					 member ? member : "device code");
}

int code_copy_next(struct jw_error *err, struct code_copy *copy)
{
	struct code_copying *copying;

	if (!copy->copying && begin_reread(err, copy))
		return -1;
	copying = copy->copying;
	while (copying->done < copy->count) {
		int step;

		if (!copying->at.stream) {
			step = walk_next(err, copying->walk, &copying->at);
			if (step == WALK_FAILED)
				return -1;
			if (step == WALK_END)
				return report_missing(err, copy);
			copying->next = copy->count;
			copying->cursor = 0;
			if (step == WALK_TROUBLE)
				copying->why = copying->at.why;
			if (step == WALK_TROUBLE || !find_part(copy))
				copying->at.stream = NULL;
			continue;
		}
		step = next_piece(&copying->why, copy);
		if (step > 0)
			return 1;
		if (step)
			copying->member = copy->parts[copy->part].member;
		else
			copying->done++;
		copy->parts[copy->part].done = !step;
		if (step || !find_part(copy))
			copying->at.stream = NULL;
	}
	return 0;
}

void code_copy_close(struct code_copy *copy)
{
	if (!copy->copying)
		return;
	walk_close(copy->copying->walk);
	set_free(&copy->copying->members);
	mem_free(copy->copying);
	copy->copying = NULL;
}

int reread(struct jw_error *err, const struct origin *origin, uint64_t offset, uint64_t size,
		   struct buf *ret_bytes)
{
	struct buf bytes = BUF_MAX((size_t)size);
	struct devcode_part part = {.member = origin->member, .offset = offset, .size_bytes = size};
	struct code_copy copy = copy_of(origin, &part);
	int step;

	/* Only an uncompressed file may hold a container above the bound for archives. */
	if (size > SIZE_MAX / 2 || (origin->member && size > DEVCODE_MAX_STREAMED))
		return error_set(err, JW_ERR_LIMIT, "%s: cannot read %llu bytes at once", origin->path,
						 (unsigned long long)size);
	(void)buf_reserve(NULL, &bytes, (size_t)size);
	while ((step = code_copy_next(err, &copy)) > 0)
		(void)buf_append(NULL, &bytes, copy.data, copy.size);
	code_copy_close(&copy);
	if (step) {
		buf_free(&bytes);
		return -1;
	}
	*ret_bytes = bytes;
	return 0;
}

static bool in_buf(const struct buf *buf, uint64_t start, uint64_t offset, uint64_t size,
				   const uint8_t **ret_data)
{
	if (offset < start || !range_fits(offset - start, size, buf->size))
		return false;
	*ret_data = buf->data + (offset - start);
	return true;
}

bool bytes_in_memory(const struct bytes *bytes, uint64_t offset, uint64_t size,
					 const uint8_t **ret_data)
{
	if (!bytes->origin) {
		if (!range_fits(offset, size, bytes->size_bytes))
			return false;
		*ret_data = bytes->memory + offset;
		return true;
	}
	return in_buf(bytes->head, 0, offset, size, ret_data) ||
		   in_buf(bytes->tail, bytes->tail_from, offset, size, ret_data) ||
		   in_buf(bytes->names, bytes->names_from, offset, size, ret_data);
}

int bytes_get(struct jw_error *err, struct bytes *bytes, uint64_t offset, uint64_t size,
			  const uint8_t **ret_data)
{
	if (bytes_in_memory(bytes, offset, size, ret_data))
		return 0;
	if (!bytes->origin)
		return error_set(err, JW_ERR_FORMAT,
						 "headers point past the end of the file, which is cut off");
	buf_free(&bytes->again);
	if (reread(err, bytes->origin, offset, size, &bytes->again))
		return -1;
	*ret_data = bytes->again.data;
	return 0;
}
