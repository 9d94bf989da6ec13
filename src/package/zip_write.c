#include "package/zip_write.h"

#include <string.h>

#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>

#include "base/cursor.h"
#include "base/mem.h"

enum {
	PACK_STEP = 1 << 18,
	COPY_STEP = 1 << 20,
	FLAG_DESCRIPTOR = 1 << 3,
	FLAGS_DEFLATE = 3 << 1,
	MOST_HEADER = 1 << 19, /* name, extra fields and comment have 65,535 bytes each at most */
	MEMORY_LEVEL = 8,      /* zlib's own */
};

struct zip_written {
	struct zip_member member; /* as it was written */
	uint64_t offset;
	bool there;
	bool large; /* its own header has 64-bit sizes */
};

struct zip_writer {
	struct os_file *file;
	struct zip_written *written;
	size_t count;
	uint64_t at; /* bytes written */
	struct buf header;
	/* Of the member at hand */
	struct zip_written *open;
	uint64_t promised_bytes;
	z_stream z;
	bool deflating;
	uint8_t step[PACK_STEP];
};

int zip_writer_open(struct jw_error *err, struct os_file *file, size_t count,
					struct zip_writer **ret_writer)
{
	struct zip_writer *writer = mem_alloc(err, sizeof *writer);

	if (!writer)
		return -1;
	writer->file = file;
	writer->count = count;
	writer->header = BUF_MAX(MOST_HEADER);
	writer->written = mem_array(err, count, sizeof *writer->written);
	if (!writer->written) {
		mem_free(writer);
		return -1;
	}
	*ret_writer = writer;
	return 0;
}

void zip_writer_close(struct zip_writer *writer)
{
	if (!writer)
		return;
	if (writer->deflating)
		(void)deflateEnd(&writer->z);
	buf_free(&writer->header);
	mem_free(writer->written);
	mem_free(writer);
}

static int append_bytes(struct jw_error *err, struct zip_writer *writer, const void *data,
						size_t size)
{
	if (os_file_write(err, writer->file, writer->at, data, size))
		return -1;
	writer->at += size;
	return 0;
}

/* ---- headers */

/* What does not fit shows in the header's size, which write_header checks. */
static void put_header_bytes(struct zip_writer *writer, const void *data, size_t size)
{
	if (size)
		(void)buf_append(NULL, &writer->header, data, size);
}

static void put_zip_number(struct zip_writer *writer, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	store_u64(bytes, value);
	put_header_bytes(writer, bytes, size);
}

static uint32_t in_32(uint64_t value, bool in_64)
{
	return in_64 ? UINT32_MAX : (uint32_t)value;
}

static bool is_large(uint64_t value)
{
	return value >= UINT32_MAX;
}

/* All of the member's extra fields but an old zip64 one, and their size. */
static size_t put_other_extra(struct zip_writer *writer, struct zip_bytes extra)
{
	struct cursor cursor = cursor_of(extra.data, extra.size);
	const size_t before = writer->header.size;

	while (cursor_left(&cursor) >= 4) {
		const uint8_t *field = cursor.at;
		const uint16_t kind = cursor_u16(&cursor), size = cursor_u16(&cursor);

		if (cursor_take(&cursor, size) && kind != ZIP64_EXTRA)
			put_header_bytes(writer, field, 4 + (size_t)size);
	}
	return writer->header.size - before;
}

/* The part that both headers have, from `needed` to the lengths. */
static void put_common(struct zip_writer *writer, const struct zip_member *member, bool large_size,
					   bool large_packed, bool zip64)
{
	const uint16_t least = zip64 ? ZIP64_VERSION : 20;

	put_zip_number(writer, member->needed < least ? least : member->needed, 2);
	put_zip_number(writer, member->flags, 2);
	put_zip_number(writer, member->method, 2);
	put_zip_number(writer, member->time, 2);
	put_zip_number(writer, member->date, 2);
	put_zip_number(writer, member->crc, 4);
	put_zip_number(writer, in_32(member->packed_bytes, large_packed), 4);
	put_zip_number(writer, in_32(member->size_bytes, large_size), 4);
	put_zip_number(writer, strlen(member->name), 2);
}

static int check_zip_header(struct jw_error *err, const struct zip_writer *writer, size_t wanted)
{
	if (writer->header.lacking)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	return writer->header.size == wanted
			   ? 0
			   : error_set(err, JW_ERR_LIMIT, "a zip header of more than %d bytes", MOST_HEADER);
}

static int make_local(struct jw_error *err, struct zip_writer *writer,
					  const struct zip_written *written)
{
	const struct zip_member *member = &written->member;
	const size_t name = strlen(member->name), fixed = written->large ? 20 : 0;
	size_t extra;

	buf_clear(&writer->header);
	put_zip_number(writer, ZIP_LOCAL_SIGNATURE, 4);
	put_common(writer, member, written->large, written->large, written->large);
	put_zip_number(writer, 0, 2);
	put_header_bytes(writer, member->name, name);
	if (written->large) {
		put_zip_number(writer, ZIP64_EXTRA, 2);
		put_zip_number(writer, 16, 2);
		put_zip_number(writer, member->size_bytes, 8);
		put_zip_number(writer, member->packed_bytes, 8);
	}
	extra = fixed + put_other_extra(writer, member->local_extra);
	if (name > UINT16_MAX || extra > UINT16_MAX)
		return error_set(err, JW_ERR_LIMIT, "%.300s: too long a name, or too many extra fields",
						 member->name);
	if (check_zip_header(err, writer, ZIP_LOCAL_BYTES + name + extra))
		return -1;
	store_u16(writer->header.data + 28, (uint16_t)extra);
	return 0;
}

static int write_central(struct jw_error *err, struct zip_writer *writer,
						 const struct zip_written *written)
{
	const struct zip_member *member = &written->member;
	const bool size = is_large(member->size_bytes), packed = is_large(member->packed_bytes),
			   far = is_large(written->offset), zip64 = size || packed || far;
	const size_t name = strlen(member->name), values = (size_t)size + packed + far;
	size_t extra = zip64 ? 4 + 8 * values : 0;

	buf_clear(&writer->header);
	put_zip_number(writer, ZIP_CENTRAL_SIGNATURE, 4);
	put_zip_number(writer, member->made_by, 2);
	put_common(writer, member, size, packed, zip64 || written->large);
	put_zip_number(writer, 0, 2);
	put_zip_number(writer, member->comment.size, 2);
	put_zip_number(writer, 0, 2);
	put_zip_number(writer, member->internal, 2);
	put_zip_number(writer, member->external, 4);
	put_zip_number(writer, in_32(written->offset, far), 4);
	put_header_bytes(writer, member->name, name);
	if (zip64) {
		put_zip_number(writer, ZIP64_EXTRA, 2);
		put_zip_number(writer, 8 * values, 2);
		put_zip_number(writer, member->size_bytes, size ? 8 : 0);
		put_zip_number(writer, member->packed_bytes, packed ? 8 : 0);
		put_zip_number(writer, written->offset, far ? 8 : 0);
	}
	extra += put_other_extra(writer, member->extra);
	put_header_bytes(writer, member->comment.data, member->comment.size);
	if (extra > UINT16_MAX ||
		check_zip_header(err, writer, ZIP_CENTRAL_BYTES + name + extra + member->comment.size))
		return extra > UINT16_MAX
				   ? error_set(err, JW_ERR_LIMIT, "%.300s: too many extra fields", member->name)
				   : -1;
	store_u16(writer->header.data + 30, (uint16_t)extra);
	return append_bytes(err, writer, writer->header.data, writer->header.size);
}

/* ---- members */

static struct zip_written *new_written(struct zip_writer *writer, size_t place,
									   const struct zip_member *member, const char *name)
{
	struct zip_written *written = &writer->written[place];

	written->member = *member;
	written->member.name = name;
	/* The sizes stand in the header itself. */
	written->member.flags &= (uint16_t)~FLAG_DESCRIPTOR;
	written->offset = writer->at;
	written->there = true;
	return written;
}

int zip_writer_copy(struct jw_error *err, struct zip_writer *writer, size_t place,
					const struct os_map *map, const struct zip_member *member, const char *name,
					const struct jw_cancel *cancel)
{
	struct zip_written *written = new_written(writer, place, member, name);

	written->large = is_large(member->size_bytes) || is_large(member->packed_bytes);
	if (make_local(err, writer, written) ||
		append_bytes(err, writer, writer->header.data, writer->header.size))
		return -1;
	for (uint64_t at = 0; at < member->packed_bytes; at += COPY_STEP) {
		const uint64_t left = member->packed_bytes - at;
		const size_t size = left < COPY_STEP ? (size_t)left : COPY_STEP;
		const size_t offset = (size_t)(member->data_offset + at);

		if (cancel_check(err, cancel) || append_bytes(err, writer, map->data + offset, size))
			return -1;
		os_map_forget(map, offset, size);
	}
	return 0;
}

int zip_writer_begin(struct jw_error *err, struct zip_writer *writer, size_t place,
					 const struct zip_member *member, const char *name, bool deflated,
					 uint64_t size_bytes)
{
	struct zip_written *written = new_written(writer, place, member, name);
	struct zip_member *now = &written->member;

	now->method = deflated ? ZIP_DEFLATED : ZIP_STORED;
	now->flags &= (uint16_t)~FLAGS_DEFLATE;
	now->size_bytes = now->packed_bytes = 0;
	now->crc = (uint32_t)crc32(0, NULL, 0);
	/* Deflate makes what it cannot pack longer by 5 bytes in 16,383. */
	written->large = is_large(size_bytes + size_bytes / 1024 + 64);
	writer->promised_bytes = size_bytes;
	writer->z = (z_stream){0};
	if (deflated && deflateInit2(&writer->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
								 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return error_set(err, JW_ERR_MEMORY, "out of memory (zlib)");
	writer->deflating = deflated;
	writer->open = written;
	return make_local(err, writer, written) ||
				   append_bytes(err, writer, writer->header.data, writer->header.size)
			   ? -1
			   : 0;
}

static int pack_bytes(struct jw_error *err, struct zip_writer *writer, const void *data,
					  size_t size, int flush)
{
	z_stream *z = &writer->z;

	z->next_in = data;
	z->avail_in = (uInt)size;
	do {
		size_t got;

		z->next_out = writer->step;
		z->avail_out = PACK_STEP;
		(void)deflate(z, flush);
		got = PACK_STEP - z->avail_out;
		writer->open->member.packed_bytes += got;
		if (append_bytes(err, writer, writer->step, got))
			return -1;
	} while (!z->avail_out);
	return 0;
}

int zip_writer_put(struct jw_error *err, struct zip_writer *writer, const void *data, size_t size)
{
	struct zip_member *member = &writer->open->member;
	const uint8_t *bytes = data;

	for (size_t done = 0; done < size;) {
		const size_t step = size - done < COPY_STEP ? size - done : COPY_STEP;

		member->crc = (uint32_t)crc32(member->crc, bytes + done, (uInt)step);
		if (writer->deflating ? pack_bytes(err, writer, bytes + done, step, Z_NO_FLUSH)
							  : append_bytes(err, writer, bytes + done, step))
			return -1;
		member->size_bytes += step;
		done += step;
	}
	if (!writer->deflating)
		member->packed_bytes = member->size_bytes;
	return 0;
}

int zip_writer_end(struct jw_error *err, struct zip_writer *writer)
{
	struct zip_written *written = writer->open;
	int result = writer->deflating ? pack_bytes(err, writer, NULL, 0, Z_FINISH) : 0;

	if (writer->deflating)
		(void)deflateEnd(&writer->z);
	writer->deflating = false;
	if (!result && written->member.size_bytes != writer->promised_bytes)
		result = error_set(err, JW_ERR_IO, "%.300s: its new content changed meanwhile",
						   written->member.name);
	if (result || make_local(err, writer, written))
		return -1;
	return os_file_write(err, writer->file, written->offset, writer->header.data,
						 writer->header.size);
}

/* ---- the end */

static void put_end_64(struct zip_writer *writer, uint64_t count, uint64_t offset, uint64_t size)
{
	const uint64_t at = writer->at;

	put_zip_number(writer, ZIP64_END_SIGNATURE, 4);
	put_zip_number(writer, ZIP64_END_BYTES - 12, 8);
	put_zip_number(writer, ZIP64_VERSION, 2);
	put_zip_number(writer, ZIP64_VERSION, 2);
	put_zip_number(writer, 0, 8); /* disks */
	put_zip_number(writer, count, 8);
	put_zip_number(writer, count, 8);
	put_zip_number(writer, size, 8);
	put_zip_number(writer, offset, 8);
	put_zip_number(writer, ZIP64_LOCATOR_SIGNATURE, 4);
	put_zip_number(writer, 0, 4);
	put_zip_number(writer, at, 8);
	put_zip_number(writer, 1, 4);
}

int zip_writer_finish(struct jw_error *err, struct zip_writer *writer, struct zip_bytes comment)
{
	const uint64_t offset = writer->at;
	uint64_t size, count = 0;
	size_t wanted;
	bool zip64;

	for (size_t i = 0; i < writer->count; i++) {
		if (!writer->written[i].there)
			continue;
		count++;
		if (write_central(err, writer, &writer->written[i]))
			return -1;
	}
	size = writer->at - offset;
	zip64 = count >= UINT16_MAX || is_large(offset) || is_large(size);
	wanted = ZIP_END_BYTES + comment.size;
	if (zip64)
		wanted += ZIP64_END_BYTES + ZIP64_LOCATOR_BYTES;
	buf_clear(&writer->header);
	if (zip64)
		put_end_64(writer, count, offset, size);
	put_zip_number(writer, ZIP_END_SIGNATURE, 4);
	put_zip_number(writer, 0, 4); /* disks */
	put_zip_number(writer, zip64 ? UINT16_MAX : count, 2);
	put_zip_number(writer, zip64 ? UINT16_MAX : count, 2);
	put_zip_number(writer, in_32(size, zip64), 4);
	put_zip_number(writer, in_32(offset, zip64), 4);
	put_zip_number(writer, comment.size, 2);
	put_header_bytes(writer, comment.data, comment.size);
	if (check_zip_header(err, writer, wanted))
		return -1;
	return append_bytes(err, writer, writer->header.data, writer->header.size);
}
