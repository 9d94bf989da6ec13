#include "find/wheel_record.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"

/* One character of the row's first field; -1 at the field's end. `quoted` is kept between calls. */
static int field_next(struct cursor *cursor, bool *quoted)
{
	while (cursor_left(cursor)) {
		uint8_t c = cursor_u8(cursor);

		if (c != '"') {
			if (!*quoted && (c == ',' || c == '\n')) {
				cursor->at--;
				return -1;
			}
			return c;
		}
		if (*quoted && cursor_left(cursor) && *cursor->at == '"')
			return cursor_u8(cursor);
		*quoted = !*quoted;
	}
	return -1;
}

static void skip_row(struct cursor *cursor)
{
	const uint8_t *feed =
		cursor_left(cursor) ? memchr(cursor->at, '\n', cursor_left(cursor)) : NULL;

	cursor->at = feed ? feed + 1 : cursor->end;
}

/* The bytes of a field up to the first special one: usually the whole field. */
static size_t plain_length(const struct cursor *cursor)
{
	/* The line's end first: of the rest of the text no byte is looked at again for each line. */
	static const char special[] = {'\n', ',', '"', '\r', '\0'};
	const size_t left = cursor_left(cursor);
	size_t length = left < RECORD_MOST_PATH ? left : RECORD_MOST_PATH;

	for (size_t i = 0; i < sizeof special && length; i++) {
		const uint8_t *at = memchr(cursor->at, special[i], length);

		length = at ? (size_t)(at - cursor->at) : length;
	}
	return length;
}

bool wheel_record_next(struct cursor *cursor, struct buf *path)
{
	while (cursor_left(cursor)) {
		size_t plain = plain_length(cursor);
		bool quoted = false, sound;
		int c;

		buf_clear(path);
		sound = !buf_append(NULL, path, cursor_take(cursor, plain), plain);
		while ((c = field_next(cursor, &quoted)) >= 0) {
			uint8_t byte = (uint8_t)c;

			sound =
				sound && c && path->size < RECORD_MOST_PATH && !buf_append(NULL, path, &byte, 1);
		}
		skip_row(cursor);
		while (path->size && path->data[path->size - 1] == '\r')
			path->data[--path->size] = 0;
		if (sound && path->size)
			return true;
	}
	return false;
}

/* Removes the last component of a path of `length` bytes without a separator at its end. */
static size_t parent_length(const char *path, size_t length)
{
	while (length && !os_is_separator(path[length - 1]))
		length--;
	return length ? length - 1 : 0;
}

/* Whether `path` is `root` or lies below it; neither ends in a separator. */
static bool is_within(const char *path, const char *root, size_t root_length)
{
	for (size_t i = 0; i < root_length; i++)
		if (path[i] != root[i] && !(os_is_separator(path[i]) && os_is_separator(root[i])))
			return false;
	return !path[root_length] || os_is_separator(path[root_length]);
}

static size_t trimmed_length(const char *path)
{
	size_t length = strlen(path);

	while (length && os_is_separator(path[length - 1]))
		length--;
	return length;
}

/* Appends the components of `path` to `to`, which has room for all of them. */
static bool apply_components(char *to, const char *path)
{
	size_t length = strlen(to);

	while (*path) {
		size_t part = 0;

		while (path[part] && !os_is_separator(path[part]))
			part++;
		if (part == 2 && path[0] == '.' && path[1] == '.') {
			if (!length || (length == 2 && to[1] == ':'))
				return false;
			length = parent_length(to, length);
		} else if (part && !(part == 1 && *path == '.')) {
			to[length++] = '/';
			memcpy(to + length, path, part);
			length += part;
		}
		to[length] = 0;
		path += part + (path[part] != 0);
	}
	return true;
}

char *wheel_record_resolve(struct jw_error *err, const char *root, const char *base,
						   const char *path)
{
	bool absolute = os_is_absolute(path);
	/* On Windows "C:x" is relative to the drive's own directory: refused. */
	bool odd = os_list_separator == ';' && !absolute && strchr(path, ':');
	size_t start = absolute ? 0 : trimmed_length(base);
	char *full = mem_alloc(err, start + strlen(path) + 2);

	if (!full)
		return NULL;
	memcpy(full, base, start);
	if (absolute && os_list_separator == ';' && path[1] == ':') {
		memcpy(full, path, 2);
		path += 2;
	}
	if (odd || !apply_components(full, path) || !is_within(full, root, trimmed_length(root))) {
		error_set(err, JW_ERR_FORMAT, "“%.300s” is outside of %s", path, root);
		mem_free(full);
		return NULL;
	}
	return full;
}
