/* The bytes of a zip file's members. */
#include <string.h>

#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>

#include "base/mem.h"
#include "package/zip_directory.h"

enum { UNPACK_STEP = 1 << 18 };

struct zip_unpacker {
	const struct os_map *map;
	const struct zip_member *member;
	uint64_t read; /* packed bytes */
	uint64_t got;  /* unpacked ones */
	uLong crc;
	z_stream z; /* z.state NULL: the member is stored */
	bool ended;
	uint8_t step[UNPACK_STEP];
};

static int fail_member(struct jw_error *err, const struct zip_member *member, const char *why)
{
	return error_set(err, JW_ERR_FORMAT, "%.300s: %s", member->name, why);
}

static int open_unpacker(struct jw_error *err, const struct os_map *map,
						 const struct zip_member *member, struct zip_unpacker **ret_unpacker)
{
	struct zip_unpacker *unpacker;

	if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED)
		return error_set(err, JW_ERR_UNSUPPORTED, "%.300s: is packed by method %u", member->name,
						 member->method);
	if (!(unpacker = mem_alloc(err, sizeof *unpacker)))
		return -1;
	unpacker->map = map;
	unpacker->member = member;
	unpacker->crc = crc32(0, NULL, 0);
	if (member->method == ZIP_DEFLATED && inflateInit2(&unpacker->z, -MAX_WBITS) != Z_OK) {
		mem_free(unpacker);
		return error_set(err, JW_ERR_MEMORY, "out of memory (zlib)");
	}
	*ret_unpacker = unpacker;
	return 0;
}

static void close_unpacker(struct zip_unpacker *unpacker)
{
	if (unpacker->member->method == ZIP_DEFLATED)
		(void)inflateEnd(&unpacker->z);
	mem_free(unpacker);
}

static const uint8_t *next_packed(struct zip_unpacker *unpacker, size_t most, size_t *ret_size)
{
	const struct zip_member *member = unpacker->member;
	const uint64_t left = member->packed_bytes - unpacker->read;
	const uint8_t *data = unpacker->map->data + member->data_offset + unpacker->read;

	*ret_size = left < most ? (size_t)left : most;
	return data;
}

/* Fills `to`; *ret_got is 0 at the end. */
static int unpack_step(struct jw_error *err, struct zip_unpacker *unpacker, uint8_t *to,
					   size_t size, size_t *ret_got)
{
	size_t in;
	const uint8_t *data = next_packed(unpacker, UNPACK_STEP, &in);
	z_stream *z = &unpacker->z;

	*ret_got = 0;
	if (unpacker->member->method == ZIP_STORED) {
		in = in < size ? in : size;
		memcpy(to, data, in);
		unpacker->read += in;
		*ret_got = in;
		return 0;
	}
	z->next_out = to;
	z->avail_out = (uInt)size;
	while (!unpacker->ended && z->avail_out) {
		int state;

		data = next_packed(unpacker, UNPACK_STEP, &in);
		z->next_in = data;
		z->avail_in = (uInt)in;
		state = inflate(z, Z_NO_FLUSH);
		unpacker->read += in - z->avail_in;
		unpacker->ended = state == Z_STREAM_END;
		if (state == Z_MEM_ERROR)
			return error_set(err, JW_ERR_MEMORY, "out of memory (zlib)");
		if (state != Z_OK && state != Z_STREAM_END)
			return fail_member(err, unpacker->member,
							   in ? "its deflated data is damaged"
								  : "its deflated data is cut off");
	}
	*ret_got = size - z->avail_out;
	return 0;
}

static int unpack_all(struct jw_error *err, struct zip_unpacker *unpacker,
					  const struct jw_cancel *cancel, zip_take take, void *context)
{
	const struct zip_member *member = unpacker->member;
	size_t got;

	for (;;) {
		const uint64_t before = unpacker->read;

		if (cancel_check(err, cancel) ||
			unpack_step(err, unpacker, unpacker->step, UNPACK_STEP, &got))
			return -1;
		os_map_forget(unpacker->map, (size_t)(member->data_offset + before),
					  (size_t)(unpacker->read - before));
		if (!got)
			break;
		if (got > member->size_bytes - unpacker->got)
			return fail_member(err, member, "is longer than its header says");
		unpacker->got += got;
		unpacker->crc = crc32(unpacker->crc, unpacker->step, (uInt)got);
		if (take(err, context, unpacker->step, got))
			return -1;
	}
	if (unpacker->got != member->size_bytes || unpacker->read != member->packed_bytes)
		return fail_member(err, member, "is not as long as its header says");
	return unpacker->crc == member->crc ? 0 : fail_member(err, member, "its checksum is wrong");
}

int zip_member_unpack(struct jw_error *err, const struct os_map *map,
					  const struct zip_member *member, const struct jw_cancel *cancel,
					  zip_take take, void *context)
{
	struct zip_unpacker *unpacker;
	int result;

	if (open_unpacker(err, map, member, &unpacker))
		return -1;
	result = unpack_all(err, unpacker, cancel, take, context);
	close_unpacker(unpacker);
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
	struct zip_unpacker *unpacker = NULL;
	struct jw_error why;
	size_t got = 0;
	int result = open_unpacker(&why, map, member, &unpacker);

	if (!result) {
		result = unpack_step(&why, unpacker, head, *size, &got);
		close_unpacker(unpacker);
	}
	if (result && why.code == JW_ERR_MEMORY)
		return error_copy(err, &why);
	*size = result ? 0 : got;
	return 0;
}
