#include "devcode/walk.h"

#include <stddef.h>

#include "base/cancel.h"
#include "devcode/code_file.h"

enum { MOST_DEPTH = 5 }; /* a .conda has three: zip, zstd, tar */

int walk_cancelled(struct jw_error *err, const struct jw_cancel *cancel)
{
	return cancel_asked(cancel)
			   ? error_set(err, JW_ERR_INTERRUPTED, "interrupted while files were read")
			   : 0;
}

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
	if (kind == KIND_ZIP && !member && stream->map) {
		bool plain;
		const int result = walk_zip(err, visitor, stream->map, depth + 1, &plain);

		if (plain)
			return result;
	}
	return kind == KIND_ZSTD ? walk_zstd(err, visitor, member, stream, depth + 1)
							 : walk_archive(err, visitor, member, stream, depth + 1);
}

/* Ignores a file of an unknown kind, unless its name promises another: an interrupted download, for
 * example. */
static void check_promise(const struct visitor *visitor, const char *path, const struct os_map *map)
{
	struct jw_error why;
	size_t head = map->size < KIND_HEAD ? map->size : KIND_HEAD;
	const char *promise = code_file_promise(path);

	if (!promise || kind_of(map->data, head) != KIND_NONE)
		return;
	error_set(&why, JW_ERR_FORMAT, "%s, and not %s as its name says",
			  map->size ? "unknown content" : "empty", promise);
	visitor->trouble(visitor->context, NULL, &why);
}

int walk_file(struct jw_error *err, const struct visitor *visitor, const char *path)
{
	struct os_map map;
	struct stream stream;
	int result;

	if (os_map_open(err, path, &map))
		return -1;
	check_promise(visitor, path, &map);
	stream_of_memory(&stream, map.data, map.size, &map);
	result = walk_stream(err, visitor, NULL, &stream, 0);
	os_map_close(&map);
	return result;
}
