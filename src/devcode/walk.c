#include "devcode/walk.h"

#include "devcode/devcode.h"

enum { MOST_DEPTH = 5 }; /* a .conda has three: zip, zstd, tar */

int walk_stream(struct jw_error *err, const struct visitor *visitor, const char *member,
				struct stream *stream, unsigned depth)
{
	struct jw_error why = {0};
	const uint8_t *head;
	size_t size;
	enum kind kind;

	if (stream_peek(&why, stream, KIND_HEAD, &head, &size)) {
		visitor->trouble(visitor->context, member, &why);
		return 0;
	}
	kind = kind_of(head, size < KIND_HEAD ? size : KIND_HEAD);
	if (kind == KIND_NONE)
		return 0;
	if (kind < KIND_AR)
		return visitor->leaf(err, visitor->context, member, kind, stream);
	if (depth == MOST_DEPTH) {
		error_set(&why, JW_ERR_LIMIT, "archives in archives, more than %d deep", MOST_DEPTH);
		visitor->trouble(visitor->context, member, &why);
		return 0;
	}
	if (kind == KIND_AR)
		return walk_ar(err, visitor, member, stream, depth + 1);
	return kind == KIND_ZSTD ? walk_zstd(err, visitor, member, stream, depth + 1)
							 : walk_archive(err, visitor, member, stream, depth + 1);
}

int walk_file(struct jw_error *err, const struct visitor *visitor, const char *path)
{
	struct os_map map;
	struct stream stream;
	int result;

	if (os_map_open(err, path, &map))
		return -1;
	stream_of_memory(&stream, map.data, map.size, &map);
	result = walk_stream(err, visitor, NULL, &stream, 0);
	os_map_close(&map);
	return result;
}
