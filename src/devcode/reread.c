#include <string.h>

#include "base/cursor.h"
#include "devcode/devcode.h"
#include "devcode/walk.h"

struct request {
	const char *member;
	uint64_t offset, size_bytes;
	struct buf *bytes;
	struct jw_error why; /* the last trouble on the way */
	bool found, done;
};

/* In pieces, so that nothing is held twice. */
static int copy(struct jw_error *err, struct request *request, struct stream *stream)
{
	size_t left = (size_t)request->size_bytes;

	if (buf_reserve(err, request->bytes, left) || stream_skip(err, stream, request->offset))
		return -1;
	while (left) {
		const uint8_t *data;
		size_t got;

		if (stream_peek(err, stream, left < STREAM_STEP ? left : STREAM_STEP, &data, &got))
			return -1;
		if (!got)
			return error_set(err, JW_ERR_FORMAT, "the file is shorter than it was");
		got = got < left ? got : left;
		if (buf_append(err, request->bytes, data, got) || stream_skip(err, stream, got))
			return -1;
		left -= got;
	}
	return 0;
}

static int visit(struct jw_error *err, void *context, const char *member, enum kind kind,
				 struct stream *stream)
{
	struct request *request = context;

	(void)err;
	(void)kind;
	if (request->member ? !member || strcmp(member, request->member) != 0 : member != NULL)
		return 0;
	request->found = true;
	request->done = !copy(&request->why, request, stream);
	return -1;
}

static void note_trouble(void *context, const char *member, const struct jw_error *why)
{
	struct request *request = context;

	(void)member;
	request->why = *why;
}

int devcode_reread(struct jw_error *err, const char *path, const char *member, uint64_t offset,
				   uint64_t size_bytes, struct buf *ret_bytes)
{
	struct buf bytes = BUF_MAX((size_t)size_bytes);
	struct request request = {
		.member = member, .offset = offset, .size_bytes = size_bytes, .bytes = &bytes};
	struct visitor visitor = {&request, visit, note_trouble};

	/* A container may be larger than an archive allows only in a file of its own. */
	if (size_bytes > SIZE_MAX / 2 || (member && size_bytes > DEVCODE_MOST_STREAMED))
		return error_set(err, JW_ERR_LIMIT, "%s: %llu bytes wanted of it", path,
						 (unsigned long long)size_bytes);
	if (walk_file(err, &visitor, path) && !request.found)
		return -1;
	if (!request.done) {
		buf_free(&bytes);
		if (request.why.code)
			return error_set(err, request.why.code, "%s%s%s: %s", path, member ? ": " : "",
							 member ? member : "", request.why.message);
		return error_set(err, JW_ERR_NOT_FOUND, "%s: holds no %s any more", path,
						 member ? member : "device code");
	}
	*ret_bytes = bytes;
	return 0;
}
