/* Static archives: System V's, GNU's and BSD's long names, Microsoft's libraries. Source: ar(5),
 * Microsoft's PE format specification ("Archive (Library) File Format"). */
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "devcode/devcode.h"
#include "devcode/walk.h"

enum {
	MAGIC_SIZE = 8,
	HEADER_SIZE = 60,
	NAME_SIZE = 16,
	SIZE_AT = 48,
	SIZE_SIZE = 10,
	END_AT = 58,
	MOST_NAMES = 1 << 26, /* bytes of GNU's long names */
	MOST_NAME = 1 << 12,  /* bytes of one name */
	MOST_MEMBERS = 1 << 22,
};

struct archive {
	const struct visitor *visitor;
	const char *outer; /* the archive's own name inside another one, or NULL */
	struct stream *stream;
	struct buf long_names;
	/* Names seen, to number repeated ones. */
	struct set seen;
	uint32_t *times;
	size_t count, capacity;
	unsigned depth;
};

struct member {
	char name[NAME_SIZE + 1];
	uint64_t size_bytes; /* without a name before the data */
	uint64_t padding;
};

/* A field of digits and spaces; false for anything else. */
static bool read_field(const uint8_t *field, size_t size, uint64_t *ret_value)
{
	char text[NAME_SIZE + 1] = {0};

	while (size && field[size - 1] == ' ')
		size--;
	memcpy(text, field, size);
	return text_number(text, UINT64_C(1) << 40, ret_value);
}

/* *ret_end is set at the archive's end. */
static int read_ar_header(struct jw_error *err, struct archive *archive, struct member *ret_member,
						  bool *ret_end)
{
	struct member member = {0};
	const uint8_t *header;
	size_t got;

	if (stream_peek(err, archive->stream, HEADER_SIZE, &header, &got))
		return -1;
	*ret_end = got < 2;
	if (*ret_end)
		return 0;
	if (got < HEADER_SIZE || header[END_AT] != '`' || header[END_AT + 1] != '\n' ||
		!read_field(header + SIZE_AT, SIZE_SIZE, &member.size_bytes))
		return error_set(err, JW_ERR_FORMAT, "damaged member header at offset %llu",
						 (unsigned long long)archive->stream->offset);
	memcpy(member.name, header, NAME_SIZE);
	for (size_t i = NAME_SIZE; i-- > 0 && member.name[i] == ' ';)
		member.name[i] = 0;
	member.padding = member.size_bytes % 2;
	*ret_member = member;
	return stream_skip(err, archive->stream, HEADER_SIZE);
}

/* The bytes up to a slash, a NUL or the end. */
static char *cut_name(struct jw_error *err, const char *text, size_t size, bool at_slash)
{
	size_t length = 0;

	while (length < size && text[length] && text[length] != '\n' &&
		   !(at_slash && text[length] == '/' &&
			 (length + 1 == size || text[length + 1] == '\n' || !text[length + 1])))
		length++;
	return mem_string_n(err, text, length);
}

/* BSD: "#1/20", with the 20 bytes of the name before the data. */
static char *bsd_name(struct jw_error *err, struct archive *archive, struct member *member)
{
	uint64_t length;
	const uint8_t *data;
	size_t got;
	char *name;

	if (!text_number(member->name + 3, MOST_NAME, &length) || length > member->size_bytes) {
		error_set(err, JW_ERR_FORMAT, "damaged name of a member (%s)", member->name);
		return NULL;
	}
	if (stream_peek(err, archive->stream, (size_t)length, &data, &got))
		return NULL;
	if (got < length) {
		error_set(err, JW_ERR_FORMAT, "the archive is cut off");
		return NULL;
	}
	name = cut_name(err, (const char *)data, (size_t)length, false);
	member->size_bytes -= length;
	if (name && stream_skip(err, archive->stream, length)) {
		mem_free(name);
		return NULL;
	}
	return name;
}

static char *member_name(struct jw_error *err, struct archive *archive, struct member *member)
{
	uint64_t at;

	if (text_starts(member->name, "#1/"))
		return bsd_name(err, archive, member);
	if (member->name[0] == '/' && text_number(member->name + 1, MOST_NAMES, &at)) {
		size_t left;

		if (at >= archive->long_names.size) {
			error_set(err, JW_ERR_FORMAT, "a member's name is outside of the table of names");
			return NULL;
		}
		left = archive->long_names.size - (size_t)at;
		return cut_name(err, (const char *)archive->long_names.data + at,
						left < MOST_NAME ? left : MOST_NAME, true);
	}
	return cut_name(err, member->name, NAME_SIZE, true);
}

static int count_name(struct jw_error *err, struct archive *archive, const char *name,
					  uint32_t *ret_times)
{
	uint64_t key = fnv_update(FNV_START, name, strlen(name));
	size_t cursor = 0, index = set_find(&archive->seen, key, &cursor);

	if (index == SET_NONE) {
		index = archive->count;
		if (VEC_ROOM(err, archive->times, archive->capacity, archive->count, MOST_MEMBERS) ||
			set_add(err, &archive->seen, key, index))
			return -1;
		archive->times[archive->count++] = 0;
	}
	if (!archive->times) /* impossible otherwise: an index was found in it */
		return error_set(err, JW_ERR_FORMAT, "a static archive's list of names is lost");
	*ret_times = ++archive->times[index];
	return 0;
}

/* The member's name for callers: "NAME", "NAME#2", "ARCHIVE(NAME)". */
static char *full_name(struct jw_error *err, struct archive *archive, const char *name)
{
	uint32_t times;
	char *numbered, *full;

	if (count_name(err, archive, name, &times))
		return NULL;
	numbered = times == 1 ? mem_string(err, name) : mem_printf(err, "%s#%u", name, times);
	if (!archive->outer || !numbered)
		return numbered;
	full = mem_printf(err, "%s(%s)", archive->outer, numbered);
	mem_free(numbered);
	return full;
}

struct ar_part {
	struct stream *stream;
	uint64_t left;
};

static int read_part(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got)
{
	struct ar_part *part = context;

	if (size > part->left)
		size = (size_t)part->left;
	*ret_got = 0;
	if (size && stream_take(err, part->stream, to, size, ret_got))
		return -1;
	if (size && !*ret_got)
		return error_set(err, JW_ERR_FORMAT, "the archive is cut off");
	part->left -= *ret_got;
	return 0;
}

/* Hands over one member's data and moves the stream behind it. Returns 1 if the visitor has
 * stopped, -1 and `why` if the rest of the archive cannot be read. */
static int enter_ar_member(struct jw_error *err, struct jw_error *why, struct archive *archive,
						   const char *name, uint64_t size)
{
	struct stream *outer = archive->stream, inner;
	struct ar_part part = {outer, size};
	const uint8_t *data;
	size_t got;
	int result;

	if (outer->memory) {
		if (stream_peek(why, outer, 1, &data, &got))
			return -1;
		stream_of_memory(&inner, data, got < size ? got : (size_t)size, outer->map);
	} else {
		stream_of_reader(&inner, read_part, &part, DEVCODE_MOST_STREAMED);
	}
	result = walk_stream(err, archive->visitor, name, &inner, archive->depth);
	stream_free(&inner);
	return result ? 1 : stream_skip(why, outer, part.left);
}

/* Symbol tables and other members of the archiver: "/", "/SYM64/", "/<HYBRIDMAP>/". */
static bool is_internal(const struct member *member)
{
	return member->name[0] == '/' && !(member->name[1] >= '0' && member->name[1] <= '9');
}

static int keep_long_names(struct jw_error *err, struct archive *archive, uint64_t size)
{
	const uint8_t *data;
	size_t got;

	if (size > MOST_NAMES)
		return error_set(err, JW_ERR_LIMIT, "a table of names of %llu bytes",
						 (unsigned long long)size);
	if (stream_peek(err, archive->stream, (size_t)size, &data, &got))
		return -1;
	if (got < size)
		return error_set(err, JW_ERR_FORMAT, "the archive is cut off");
	buf_clear(&archive->long_names);
	return buf_append(err, &archive->long_names, data, (size_t)size) ||
				   stream_skip(err, archive->stream, size)
			   ? -1
			   : 0;
}

/* Returns as enter_ar_member does. */
static int next_member(struct jw_error *err, struct archive *archive, struct jw_error *why,
					   bool *ret_end)
{
	struct member member;
	char *plain, *name;
	int result = -1;

	if (read_ar_header(why, archive, &member, ret_end))
		return -1;
	if (*ret_end)
		return 0;
	if (!strcmp(member.name, "//"))
		return keep_long_names(why, archive, member.size_bytes) ||
					   stream_skip(why, archive->stream, member.padding)
				   ? -1
				   : 0;
	if (is_internal(&member))
		return stream_skip(why, archive->stream, member.size_bytes + member.padding);
	plain = member_name(why, archive, &member);
	name = plain ? full_name(why, archive, plain) : NULL;
	if (name)
		result = enter_ar_member(err, why, archive, name, member.size_bytes);
	mem_free(plain);
	mem_free(name);
	return result ? result : stream_skip(why, archive->stream, member.padding);
}

int walk_ar(struct jw_error *err, const struct visitor *visitor, const char *member,
			struct stream *stream, unsigned depth)
{
	struct archive archive = {.visitor = visitor,
							  .outer = member,
							  .stream = stream,
							  .depth = depth,
							  .long_names = BUF_MAX(MOST_NAMES)};
	struct jw_error why = {0};
	bool end = false;
	int result = stream_skip(&why, stream, MAGIC_SIZE);

	while (!result && !end)
		result = next_member(err, &archive, &why, &end);
	if (result < 0)
		visitor->trouble(visitor->context, member, &why);
	buf_free(&archive.long_names);
	set_free(&archive.seen);
	mem_free(archive.times);
	return result > 0 ? -1 : 0;
}
