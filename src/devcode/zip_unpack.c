/* The bytes of a zip file's members. */
#include <string.h>

#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>

#include "base/mem.h"
#include "devcode/zip_directory.h"

enum { UNPACK_STEP = 1 << 18, MOST_INPUT = 1 << 20 };

struct zip_reader {
	const struct os_map *map;
	const struct zip_member *member;
	z_stream z;
	bool ended;         /* the deflated data */
	uint64_t read;      /* packed bytes */
	uint64_t forgotten; /* those whose pages were released */
	uint64_t got;       /* unpacked ones */
	uLong crc;
	uint8_t step[UNPACK_STEP]; /* of zip_member_unpack */
};

int zip_reader_open(struct jw_error *err, const struct os_map *map, struct zip_reader **ret_reader)
{
	struct zip_reader *reader = mem_alloc(err, sizeof *reader);

	if (!reader)
		return -1;
	if (inflateInit2(&reader->z, -MAX_WBITS) != Z_OK) {
		mem_free(reader);
		return error_set(err, JW_ERR_MEMORY, "out of memory (zlib)");
	}
	reader->map = map;
	*ret_reader = reader;
	return 0;
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

int zip_reader_begin(struct jw_error *err, struct zip_reader *reader,
					 const struct zip_member *member)
{
	if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED)
		return error_set(err, JW_ERR_UNSUPPORTED, "is packed by method %u", member->method);
	reader->member = member;
	reader->read = reader->forgotten = reader->got = 0;
	reader->crc = crc32(0, NULL, 0);
	reader->ended = false;
	(void)inflateReset(&reader->z);
	return 0;
}

/* Fills `to`; *ret_got is less than `size` only at the end of the deflated data. */
static int inflate_some(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
						size_t *ret_got)
{
	z_stream *z = &reader->z;

	z->next_out = to;
	z->avail_out = (uInt)size;
	while (!reader->ended && z->avail_out) {
		const uint64_t left = reader->member->packed_bytes - reader->read;
		const uInt in = left < MOST_INPUT ? (uInt)left : MOST_INPUT;
		int state;

		z->next_in = packed_data(reader) + reader->read;
		z->avail_in = in;
		state = inflate(z, Z_NO_FLUSH);
		reader->read += in - z->avail_in;
		reader->ended = state == Z_STREAM_END;
		if (state == Z_MEM_ERROR)
			return error_set(err, JW_ERR_MEMORY, "out of memory (zlib)");
		if (state != Z_OK && state != Z_STREAM_END)
			return error_set(err, JW_ERR_FORMAT,
							 in ? "its deflated data is damaged" : "its deflated data is cut off");
	}
	*ret_got = size - z->avail_out;
	return 0;
}

static int unpack_some(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					   size_t *ret_got)
{
	const uint64_t left = reader->member->packed_bytes - reader->read;

	if (reader->member->method == ZIP_DEFLATED)
		return inflate_some(err, reader, to, size, ret_got);
	*ret_got = left < size ? (size_t)left : size;
	if (*ret_got)
		memcpy(to, packed_data(reader) + reader->read, *ret_got);
	reader->read += *ret_got;
	return 0;
}

int zip_reader_take(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					size_t *ret_got)
{
	enum { FORGET = 1 << 20 };
	const struct zip_member *member = reader->member;

	if (unpack_some(err, reader, to, size, ret_got))
		return -1;
	if (reader->read - reader->forgotten >= FORGET || !*ret_got) {
		os_map_forget(reader->map, (size_t)(member->data_offset + reader->forgotten),
					  (size_t)(reader->read - reader->forgotten));
		reader->forgotten = reader->read;
	}
	if (*ret_got > member->size_bytes - reader->got)
		return error_set(err, JW_ERR_FORMAT, "is longer than its header says");
	reader->got += *ret_got;
	reader->crc = crc32(reader->crc, to, (uInt)*ret_got);
	if (*ret_got)
		return 0;
	if (reader->got != member->size_bytes || reader->read != member->packed_bytes)
		return error_set(err, JW_ERR_FORMAT, "is not as long as its header says");
	return reader->crc == member->crc ? 0 : error_set(err, JW_ERR_FORMAT, "its checksum is wrong");
}

static int unpack_all(struct jw_error *err, struct zip_reader *reader,
					  const struct jw_cancel *cancel, zip_take take, void *context)
{
	size_t got;

	do {
		if (cancel_check(err, cancel))
			return -1;
		if (zip_reader_take(err, reader, reader->step, UNPACK_STEP, &got))
			return error_prefix(err, "%.300s", reader->member->name);
		if (got && take(err, context, reader->step, got))
			return -1;
	} while (got);
	return 0;
}

int zip_member_unpack(struct jw_error *err, const struct os_map *map,
					  const struct zip_member *member, const struct jw_cancel *cancel,
					  zip_take take, void *context)
{
	struct zip_reader *reader;
	int result;

	if (zip_reader_open(err, map, &reader))
		return -1;
	result = zip_reader_begin(err, reader, member) ? error_prefix(err, "%.300s", member->name)
												   : unpack_all(err, reader, cancel, take, context);
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

int zip_member_head(struct jw_error *err, const struct os_map *map, const struct zip_member *member,
					uint8_t *head, size_t *size)
{
	struct zip_reader *reader;
	struct jw_error why;
	size_t got = 0;

	if (zip_reader_open(err, map, &reader))
		return -1;
	if (zip_reader_begin(&why, reader, member) || unpack_some(&why, reader, head, *size, &got))
		got = 0;
	zip_reader_close(reader);
	*size = got;
	return 0;
}
