#include "code/zip_directory.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>

#ifdef JITWARM_ISAL
#include <isa-l.h>
#endif

#include "base/cursor.h"
#include "base/mem.h"

enum {
	MAX_ZIP_MEMBERS = 1 << 20,
	MAX_ZIP_DIRECTORY = 256 << 20, /* bytes; a name may have 64 KiB, a usual one has 60 bytes */
	MAX_COMMENT = 0xffff,
	FLAGS_ENCRYPTED = 1 | 1 << 6 | 1 << 13,
	MADE_BY_UNIX = 3,
	UNIX_KIND = 0170000,
	UNIX_LINK = 0120000,
};

/* ---- the end of the directory */

struct zip_end {
	uint64_t count, size_bytes, offset, at; /* `at` is the place of the record that holds these */
};

/* Finds the last record whose comment ends where the file ends. */
static int find_end(struct jw_error *err, const uint8_t *data, size_t size, struct zip_end *end)
{
	for (size_t back = ZIP_END_BYTES; back <= size && back <= ZIP_END_BYTES + MAX_COMMENT; back++) {
		struct cursor cursor = cursor_of(data + size - back, back);
		uint32_t disks;

		if (cursor_u32(&cursor) != ZIP_END_SIGNATURE)
			continue;
		disks = cursor_u32(&cursor);
		end->count = cursor_u16(&cursor);
		if (cursor_u16(&cursor) != end->count)
			disks = 1;
		end->size_bytes = cursor_u32(&cursor);
		end->offset = cursor_u32(&cursor);
		if (cursor_u16(&cursor) != back - ZIP_END_BYTES)
			continue;
		end->at = size - back;
		if (disks)
			return error_set(err, JW_ERR_UNSUPPORTED, "is one part of a split zip file");
		return 0;
	}
	return error_set(err, JW_ERR_FORMAT, "is not a zip file: the end of its directory is missing");
}

bool zip_has_member(const struct os_map *map)
{
	return map->size >= ZIP_LOCAL_BYTES && load_u32(map->data) == ZIP_LOCAL_SIGNATURE;
}

bool zip_has_end(const struct os_map *map)
{
	const size_t most = ZIP_END_BYTES + MAX_COMMENT;

	for (size_t back = ZIP_END_BYTES; back <= map->size && back <= most; back++)
		if (load_u32(map->data + map->size - back) == ZIP_END_SIGNATURE)
			return true;
	return false;
}

/* Reads the records of sections 4.3.14 and 4.3.15. */
static int read_end_64(struct jw_error *err, const uint8_t *data, struct zip_end *end)
{
	struct cursor cursor;
	uint64_t at;

	if (end->at < ZIP64_LOCATOR_BYTES)
		return 0;
	cursor = cursor_of(data + end->at - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES);
	if (cursor_u32(&cursor) != ZIP64_LOCATOR_SIGNATURE)
		return 0;
	(void)cursor_u32(&cursor);
	at = cursor_u64(&cursor);
	if (!range_fits(at, ZIP64_END_BYTES, end->at - ZIP64_LOCATOR_BYTES))
		return error_set(err, JW_ERR_FORMAT, "the zip64 end of its directory is missing");
	cursor = cursor_of(data + at, ZIP64_END_BYTES);
	if (cursor_u32(&cursor) != ZIP64_END_SIGNATURE)
		return error_set(err, JW_ERR_FORMAT, "the zip64 end of its directory is missing");
	(void)cursor_take(&cursor, 28);
	end->count = cursor_u64(&cursor);
	end->size_bytes = cursor_u64(&cursor);
	end->offset = cursor_u64(&cursor);
	end->at = at;
	return 0;
}

/* ---- one member */

bool zip_name_is_safe(const char *name, size_t length)
{
	const char *part = name, *end = name + length;

	if (!length || *name == '/' || memchr(name, 0, length) || memchr(name, '\\', length) ||
		(length > 1 && name[1] == ':'))
		return false;
	while (part < end) {
		const char *slash = memchr(part, '/', (size_t)(end - part));
		const size_t size = (size_t)((slash ? slash : end) - part);

		if (!size || (size == 1 && *part == '.') || (size == 2 && !memcmp(part, "..", 2)))
			return false;
		part = slash ? slash + 1 : end;
	}
	return true;
}

/* Takes the values that do not fit 32 bits from the extra field, and removes that field, which
 * splits the rest in two pieces: only a writer's own zip64 field is written again. */
static bool read_extra_64(struct zip_member *member, uint64_t *offset)
{
	struct cursor cursor = cursor_of(member->extra.data, member->extra.size);
	uint64_t *values[] = {&member->size_bytes, &member->packed_bytes, offset};

	while (cursor_left(&cursor) >= 4) {
		const uint16_t kind = cursor_u16(&cursor), size = cursor_u16(&cursor);
		const uint8_t *bytes = cursor_take(&cursor, size);
		struct cursor field = cursor_of(bytes, bytes ? size : 0);

		if (kind != ZIP64_EXTRA)
			continue;
		for (size_t i = 0; i < sizeof values / sizeof *values; i++)
			if (*values[i] == (uint32_t)ZIP_IN_64)
				*values[i] = cursor_u64(&field);
		return bytes && !field.overrun;
	}
	return true;
}

static int read_local(struct jw_error *err, const uint8_t *data, uint64_t limit, uint64_t offset,
					  struct zip_member *member)
{
	struct cursor cursor;
	uint16_t flags, method, name_length, extra_length;
	const uint8_t *name;

	if (offset > limit)
		return error_set(err, JW_ERR_FORMAT, "%.300s: lies outside of the file", member->name);
	cursor = cursor_of(data + offset, (size_t)(limit - offset));
	if (cursor_u32(&cursor) != ZIP_LOCAL_SIGNATURE)
		return error_set(err, JW_ERR_FORMAT, "%.300s: has no local header", member->name);
	(void)cursor_u16(&cursor);
	flags = cursor_u16(&cursor);
	method = cursor_u16(&cursor);
	(void)cursor_take(&cursor, 16);
	name_length = cursor_u16(&cursor);
	extra_length = cursor_u16(&cursor);
	name = cursor_take(&cursor, name_length);
	(void)cursor_take(&cursor, extra_length);
	member->data_offset = (uint64_t)(cursor.at - data);
	if (!name || cursor.overrun || !range_fits(member->data_offset, member->packed_bytes, limit))
		return error_set(err, JW_ERR_FORMAT, "%.300s: lies outside of the file", member->name);
	if (name_length != strlen(member->name) || memcmp(name, member->name, name_length) != 0 ||
		method != member->method || ((flags ^ member->flags) & FLAGS_ENCRYPTED))
		return error_set(err, JW_ERR_FORMAT,
						 "%.300s: its own header differs from the one in the directory",
						 member->name);
	return 0;
}

/* Reads a header of the directory; `names` is the next free byte for names. */
static int read_central(struct jw_error *err, struct cursor *cursor, const uint8_t *data,
						uint64_t limit, char **names, struct zip_member *member)
{
	size_t name_length, extra_length, comment_length;
	const uint8_t *name_bytes;
	char *name = *names;
	uint64_t offset;

	if (cursor_u32(cursor) != ZIP_CENTRAL_SIGNATURE)
		return error_set(err, JW_ERR_FORMAT, "its directory is damaged");
	member->made_by = cursor_u16(cursor);
	(void)cursor_u16(cursor);
	member->flags = cursor_u16(cursor);
	member->method = cursor_u16(cursor);
	member->time = cursor_u16(cursor);
	member->date = cursor_u16(cursor);
	member->crc = cursor_u32(cursor);
	member->packed_bytes = cursor_u32(cursor);
	member->size_bytes = cursor_u32(cursor);
	name_length = cursor_u16(cursor);
	extra_length = cursor_u16(cursor);
	comment_length = cursor_u16(cursor);
	(void)cursor_take(cursor, 4);
	member->external = cursor_u32(cursor);
	offset = cursor_u32(cursor);
	name_bytes = cursor_take(cursor, name_length);
	member->extra = (struct zip_bytes){cursor_take(cursor, extra_length), extra_length};
	(void)cursor_take(cursor, comment_length);
	if (cursor->overrun)
		return error_set(err, JW_ERR_FORMAT, "its directory is cut off");
	memcpy(name, name_bytes, name_length);
	name[name_length] = '\0';
	if (!zip_name_is_safe(name, name_length))
		return error_set(err, JW_ERR_FORMAT, "a member's name leads out of it: %.300s", name);
	member->name = name;
	*names += name_length + 1;
	if (!read_extra_64(member, &offset))
		return error_set(err, JW_ERR_FORMAT, "%.300s: its zip64 sizes are cut off", member->name);
	if (member->flags & FLAGS_ENCRYPTED)
		return error_set(err, JW_ERR_UNSUPPORTED, "%.300s: is encrypted", member->name);
	if (member->made_by >> 8 == MADE_BY_UNIX && (member->external >> 16 & UNIX_KIND) == UNIX_LINK)
		return error_set(err, JW_ERR_UNSUPPORTED, "%.300s: is a link", member->name);
	if (member->method == ZIP_STORED && member->packed_bytes != member->size_bytes)
		return error_set(err, JW_ERR_FORMAT, "%.300s: is stored, and has two sizes", member->name);
	return read_local(err, data, limit, offset, member);
}

/* ---- all members */

static int compare_members(const void *a, const void *b)
{
	return strcmp((*(const struct zip_member *const *)a)->name,
				  (*(const struct zip_member *const *)b)->name);
}

static int compare_places(const void *a, const void *b)
{
	const uint64_t x = (*(const struct zip_member *const *)a)->data_offset,
				   y = (*(const struct zip_member *const *)b)->data_offset;

	return (x > y) - (x < y);
}

/* Reads the members of the directory into its arrays, which have room for them. */
static int read_members(struct jw_error *err, const struct os_map *map, const struct zip_end *end,
						struct zip_directory *directory)
{
	enum { FORGET = 256 }; /* the members after which mapped pages are released */
	const uint8_t *data = map->data;
	const struct zip_member **placed = directory->by_place, **named = directory->by_name;
	struct cursor cursor = cursor_of(data + end->offset, (size_t)end->size_bytes);
	char *names = directory->names;

	for (size_t i = 0; i < end->count; i++) {
		/* Each header is on a page of its own, with the pages that the system maps around it. */
		if (i % FORGET == 0)
			os_map_forget(map, 0, map->size);
		if (read_central(err, &cursor, data, end->offset, &names, &directory->members[i]))
			return -1;
		placed[i] = named[i] = &directory->members[i];
	}
	if (cursor_left(&cursor))
		return error_set(err, JW_ERR_FORMAT, "its directory lists fewer members than it holds");
	os_map_forget(map, 0, map->size);
	directory->count = (size_t)end->count;
	/* Two members that share bytes unpack to more than the file can hold. */
	qsort(placed, directory->count, sizeof(struct zip_member *), compare_places);
	for (size_t i = 1; i < directory->count; i++)
		if (placed[i]->data_offset - placed[i - 1]->data_offset <
			placed[i - 1]->packed_bytes + ZIP_LOCAL_BYTES)
			return error_set(err, JW_ERR_FORMAT, "two members share bytes: %.200s and %.200s",
							 placed[i - 1]->name, placed[i]->name);
	qsort(named, directory->count, sizeof(struct zip_member *), compare_members);
	for (size_t i = 1; i < directory->count; i++)
		if (!strcmp(named[i - 1]->name, named[i]->name))
			return error_set(err, JW_ERR_FORMAT, "two members are called %.300s", named[i]->name);
	return 0;
}

int zip_directory_read(struct jw_error *err, const struct os_map *map,
					   struct zip_directory *ret_directory)
{
	struct zip_directory directory = {0};
	struct zip_end end = {0};

	if (find_end(err, map->data, map->size, &end) || read_end_64(err, map->data, &end))
		return -1;
	if (!range_fits(end.offset, end.size_bytes, end.at) || end.offset + end.size_bytes != end.at)
		return error_set(err, JW_ERR_FORMAT, "its directory is not before the file's end");
	if (!end.count && zip_has_member(map))
		return error_set(err, JW_ERR_FORMAT, "its directory is empty, but a member is before it");
	if (end.count > MAX_ZIP_MEMBERS || end.count > end.size_bytes / ZIP_CENTRAL_BYTES)
		return error_set(err, end.count > MAX_ZIP_MEMBERS ? JW_ERR_LIMIT : JW_ERR_FORMAT,
						 "its directory claims %llu members", (unsigned long long)end.count);
	if (end.size_bytes > MAX_ZIP_DIRECTORY)
		return error_set(err, JW_ERR_LIMIT, "its directory claims %llu bytes",
						 (unsigned long long)end.size_bytes);
	directory.members = mem_array((size_t)end.count + 1, sizeof *directory.members);
	directory.by_place = mem_array((size_t)end.count + 1, sizeof(struct zip_member *));
	directory.by_name = mem_array((size_t)end.count + 1, sizeof(struct zip_member *));
	directory.names = mem_alloc((size_t)end.size_bytes + 1);
	if (read_members(err, map, &end, &directory)) {
		zip_directory_free(&directory);
		return -1;
	}
	*ret_directory = directory;
	return 0;
}

void zip_directory_free(struct zip_directory *directory)
{
	mem_free(directory->members);
	mem_free(directory->by_place);
	mem_free(directory->by_name);
	mem_free(directory->names);
	*directory = (struct zip_directory){0};
}

/* ---- the bytes of members */

enum { UNPACK_STEP = 1 << 18, MAX_INPUT_BYTES = 1 << 16 };

struct zip_reader {
	const struct os_map *map;
	const struct zip_member *member;
	z_stream z;
	bool ended;         /* the end of the deflated data was reached */
	uint64_t read;      /* packed bytes that were read */
	uint64_t forgotten; /* the place in the file up to which pages were released */
	uint64_t got;       /* unpacked bytes so far */
	uint32_t crc;
	uint8_t step[UNPACK_STEP]; /* the buffer of zip_member_unpack */
	/* A copy of packed bytes, which may change in the file: those from `packed_from` on. */
	uint8_t packed[MAX_INPUT_BYTES];
	uint64_t packed_from;
	uint32_t packed_size;
	const struct jw_cancel *cancel;
	bool quick; /* unpacked by ISA-L */
#ifdef JITWARM_ISAL
	struct inflate_state isal;
#endif
};

struct zip_reader *zip_reader_open(const struct os_map *map, const struct jw_cancel *cancel)
{
	struct zip_reader *reader = mem_alloc(sizeof *reader);

	if (inflateInit2(&reader->z, -MAX_WBITS) != Z_OK)
		mem_ended(0);
	reader->map = map;
	reader->cancel = cancel;
	return reader;
}

void zip_reader_close(struct zip_reader *reader)
{
	if (reader)
		(void)inflateEnd(&reader->z);
	mem_free(reader);
}

static const uint8_t *packed_data(const struct zip_reader *reader)
{
	return reader->map->data + reader->member->data_offset;
}

/* Returns the next packed bytes for a decoder. */
static uint8_t *peek_packed(struct zip_reader *reader, uint32_t *ret_size)
{
	const uint64_t left = reader->member->packed_bytes - reader->read;

	if (reader->read - reader->packed_from >= reader->packed_size) {
		reader->packed_from = reader->read;
		reader->packed_size = left < MAX_INPUT_BYTES ? (uint32_t)left : MAX_INPUT_BYTES;
		memcpy(reader->packed, packed_data(reader) + reader->read, reader->packed_size);
	}
	*ret_size = reader->packed_size - (uint32_t)(reader->read - reader->packed_from);
	return reader->packed + (reader->read - reader->packed_from);
}

/* Starts at the beginning of the member. */
static void start_inflating(struct zip_reader *reader)
{
	reader->read = reader->got = 0;
	reader->packed_from = reader->packed_size = 0;
	if (reader->forgotten > reader->member->data_offset)
		reader->forgotten = reader->member->data_offset;
	reader->crc = 0;
	reader->ended = reader->quick = false;
	(void)inflateReset(&reader->z);
}

int zip_reader_begin(struct jw_error *err, struct zip_reader *reader,
					 const struct zip_member *member)
{
	if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "is compressed with method %u, which jitwarm does not read",
						 member->method);
	reader->member = member;
	start_inflating(reader);
#ifdef JITWARM_ISAL
	reader->quick = member->method == ZIP_DEFLATED;
	isal_inflate_init(&reader->isal);
#endif
	return 0;
}

#ifdef JITWARM_ISAL
static int unpack_quickly(struct zip_reader *reader, uint8_t *to, size_t size, size_t *ret_got)
{
	struct inflate_state *isal = &reader->isal;

	isal->next_out = to;
	isal->avail_out = (uint32_t)size;
	while (!reader->ended && isal->avail_out) {
		const uint32_t room = isal->avail_out;
		uint32_t in;
		int state;

		isal->next_in = peek_packed(reader, &in);
		isal->avail_in = in;
		state = isal_inflate(isal);
		reader->read += in - isal->avail_in;
		reader->ended = isal->block_state == ISAL_BLOCK_FINISH;
		if (state != ISAL_DECOMP_OK ||
			(!reader->ended && isal->avail_in == in && isal->avail_out == room))
			return -1;
		/* It has read bytes after the data's end, too. */
		if (reader->ended)
			reader->read -= (uint64_t)isal->read_in_length / 8;
	}
	*ret_got = size - isal->avail_out;
	return 0;
}
#endif

/* Fills `to`; *ret_got is less than `size` only at the end. */
static int unpack_some(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					   size_t *ret_got)
{
	z_stream *z = &reader->z;

	if (reader->member->method == ZIP_STORED) {
		const uint64_t left = reader->member->packed_bytes - reader->read;

		*ret_got = left < size ? (size_t)left : size;
		if (*ret_got)
			memcpy(to, packed_data(reader) + reader->read, *ret_got);
		reader->read += *ret_got;
		return 0;
	}
#ifdef JITWARM_ISAL
	if (reader->quick)
		return unpack_quickly(reader, to, size, ret_got);
#endif
	z->next_out = to;
	z->avail_out = (uInt)size;
	while (!reader->ended && z->avail_out) {
		uint32_t in;
		int state;

		z->next_in = peek_packed(reader, &in);
		z->avail_in = in;
		state = inflate(z, Z_NO_FLUSH);
		reader->read += in - z->avail_in;
		reader->ended = state == Z_STREAM_END;
		if (state == Z_MEM_ERROR)
			mem_ended(0);
		if (state != Z_OK && state != Z_STREAM_END)
			return error_set(err, JW_ERR_FORMAT,
							 in ? "its deflated data is damaged" : "its deflated data is cut off");
	}
	*ret_got = size - z->avail_out;
	return 0;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *data, size_t size)
{
#ifdef JITWARM_ISAL
	return crc32_gzip_refl(crc, data, size);
#else
	return (uint32_t)crc32(crc, data, (uInt)size);
#endif
}

/* Unpacks the next bytes of a member; fails if the member differs from its headers in size or sum.
 */
static int take_some(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					 size_t *ret_got)
{
	enum { FORGET = 1 << 20 };
	const struct zip_member *member = reader->member;
	uint64_t at;

	if (unpack_some(err, reader, to, size, ret_got))
		return -1;
	at = member->data_offset + reader->read;
	/* Releases also the pages of the members between, and the pages that the system maps around a
	 * page. */
	if (at >= reader->forgotten + FORGET) {
		os_map_forget(reader->map, (size_t)reader->forgotten, (size_t)(at - reader->forgotten));
		reader->forgotten = at;
	}
	if (*ret_got > member->size_bytes - reader->got)
		return error_set(err, JW_ERR_FORMAT, "is longer than its header says");
	reader->got += *ret_got;
	reader->crc = crc_of(reader->crc, to, *ret_got);
	if (*ret_got)
		return 0;
	if (reader->got != member->size_bytes || reader->read != member->packed_bytes)
		return error_set(err, JW_ERR_FORMAT, "is not as long as its header says");
	return reader->crc == member->crc ? 0 : error_set(err, JW_ERR_FORMAT, "its checksum is wrong");
}

int zip_reader_take(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					size_t *ret_got)
{
	const uint64_t got = reader->got;
	size_t again;

	if (!reader->quick)
		return take_some(err, reader, to, size, ret_got);
	if (!take_some(NULL, reader, to, size, ret_got))
		return 0;
	/* zlib decides what is damaged, and how, so it reads the member once more. */
	start_inflating(reader);
	while (reader->got < got)
		if (cancel_check(err, reader->cancel) ||
			take_some(err, reader, reader->step,
					  got - reader->got < UNPACK_STEP ? (size_t)(got - reader->got) : UNPACK_STEP,
					  &again))
			return -1;
	return take_some(err, reader, to, size, ret_got);
}

int zip_member_unpack(struct jw_error *err, const struct os_map *map,
					  const struct zip_member *member, const struct jw_cancel *cancel,
					  zip_take take, void *context)
{
	struct zip_reader *reader = zip_reader_open(map, cancel);
	size_t got = 1;
	int result = zip_reader_begin(err, reader, member);

	if (result)
		error_prefix(err, "%.300s", member->name);
	while (!result && got) {
		result = cancel_check(err, cancel);
		if (result)
			break;
		result = zip_reader_take(err, reader, reader->step, UNPACK_STEP, &got);
		if (result)
			error_prefix(err, "%.300s", member->name);
		else if (got)
			result = take(err, context, reader->step, got);
	}
	zip_reader_close(reader);
	return result;
}

static int take_content(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	return buf_append(err, context, data, size);
}

int zip_member_read(struct jw_error *err, const struct os_map *map, const struct zip_member *member,
					size_t most, struct buf *ret_content)
{
	struct buf content = BUF_MAX(most);

	if (member->size_bytes > most)
		return error_set(err, JW_ERR_LIMIT, "%.300s: has more than %llu bytes", member->name,
						 (unsigned long long)most);
	if (zip_member_unpack(err, map, member, NULL, take_content, &content)) {
		buf_free(&content);
		return -1;
	}
	*ret_content = content;
	return 0;
}

size_t zip_member_head(const struct os_map *map, const struct zip_member *member, uint8_t *head,
					   size_t size)
{
	struct zip_reader *reader = zip_reader_open(map, NULL);
	size_t got = 0;

	if (zip_reader_begin(NULL, reader, member) || zip_reader_take(NULL, reader, head, size, &got))
		got = 0;
	zip_reader_close(reader);
	return got;
}
