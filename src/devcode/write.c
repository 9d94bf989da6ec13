#include "devcode/write.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "base/cursor.h"
#include "devcode/container.h"

enum {
	OPTIONS_AT = CONTAINER_ENTRY,  /* `{u32 off, u32 len}` behind the fixed fields */
	OPTIONS_TEXT = OPTIONS_AT + 8, /* and the string behind that */
	MOST_OPTIONS = 1 << 16,
	FLAGS = 0x11, /* 64 bits, Linux: as nvcc writes it */
	ZSTD_LEVEL = 3,
};

static size_t padded(size_t size)
{
	return (size + CONTAINER_ALIGN - 1) / CONTAINER_ALIGN * CONTAINER_ALIGN;
}

static int pack_lz4(struct jw_error *err, const struct write_ptx *ptx, struct buf *packed)
{
	int room, got;

	if (ptx->payload_size > LZ4_MAX_INPUT_SIZE)
		return error_set(err, JW_ERR_LIMIT, "too large for LZ4");
	room = LZ4_compressBound((int)ptx->payload_size);
	if (buf_reserve(err, packed, (size_t)room))
		return -1;
	got = LZ4_compress_default(ptx->payload, (char *)packed->data, (int)ptx->payload_size, room);
	if (got <= 0)
		return error_set(err, JW_ERR_FORMAT, "LZ4 cannot compress this");
	packed->size = (size_t)got;
	return 0;
}

static int pack_zstd(struct jw_error *err, const struct write_ptx *ptx, struct buf *packed)
{
	size_t room = ZSTD_compressBound(ptx->payload_size), got;

	if (buf_reserve(err, packed, room))
		return -1;
	got = ZSTD_compress(packed->data, room, ptx->payload, ptx->payload_size, ZSTD_LEVEL);
	if (ZSTD_isError(got))
		return error_set(err, JW_ERR_FORMAT, "zstd cannot compress this: %s",
						 ZSTD_getErrorName(got));
	packed->size = got;
	return 0;
}

static uint64_t flags_of(const struct write_ptx *ptx)
{
	uint64_t flags = FLAGS;

	if (ptx->compression == DEVCODE_LZ4)
		flags |= CONTAINER_LZ4;
	else if (ptx->compression == DEVCODE_ZSTD)
		flags |= CONTAINER_ZSTD;
	if (ptx->target.suffix == 'a')
		flags |= CONTAINER_SUFFIX_A;
	else if (ptx->target.suffix == 'f')
		flags |= CONTAINER_SUFFIX_F;
	return flags;
}

/* `header` is zeroed. */
static void fill_header(uint8_t *header, size_t header_size, const struct write_ptx *ptx,
						size_t stored, const char *options)
{
	bool raw = ptx->compression == DEVCODE_RAW;
	uint8_t *entry = header + CONTAINER_HEADER;

	store_u64(header, CONTAINER_START);
	store_u64(header + 8, header_size + padded(stored));
	store_u16(entry, (uint16_t)(ptx->kind ? ptx->kind : DEVCODE_KIND_PTX));
	store_u16(entry + 2, 0x0101);
	store_u32(entry + 4, (uint32_t)header_size);
	store_u64(entry + 8, padded(stored));
	store_u32(entry + 16, raw ? 0 : (uint32_t)stored);
	store_u32(entry + 20, OPTIONS_AT);
	store_u16(entry + 24, ptx->isa_minor);
	store_u16(entry + 26, ptx->isa_major);
	store_u32(entry + 28, ptx->target.sm);
	store_u64(entry + 40, flags_of(ptx));
	store_u64(entry + 56, raw ? 0 : ptx->payload_size);
	store_u32(entry + OPTIONS_AT, OPTIONS_TEXT);
	store_u32(entry + OPTIONS_AT + 4, (uint32_t)padded(strlen(options)));
	memcpy(entry + OPTIONS_TEXT, options, strlen(options));
}

static int append_ptx(struct jw_error *err, const struct write_ptx *ptx, const void *stored,
					  size_t stored_size, struct buf *out)
{
	static const uint8_t zeros[CONTAINER_ALIGN];
	const char *options = ptx->options ? ptx->options : "";
	size_t header_size = padded(OPTIONS_TEXT + strlen(options) + 1), before = out->size;

	if (strlen(options) > MOST_OPTIONS)
		return error_set(err, JW_ERR_LIMIT, "options of %zu bytes", strlen(options));
	if (buf_reserve(err, out, CONTAINER_HEADER + header_size + padded(stored_size)))
		return -1;
	memset(out->data + before, 0, CONTAINER_HEADER + header_size);
	fill_header(out->data + before, header_size, ptx, stored_size, options);
	out->size += CONTAINER_HEADER + header_size;
	return buf_append(err, out, stored, stored_size) ||
				   buf_append(err, out, zeros, padded(stored_size) - stored_size)
			   ? -1
			   : 0;
}

int write_container(struct jw_error *err, const struct write_ptx *ptx, struct buf *out)
{
	struct buf packed = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	int result = -1;

	if (ptx->compression == DEVCODE_FOREIGN || ptx->payload_size > DEVCODE_MOST_PAYLOAD)
		return error_set(err, JW_ERR_USAGE, "a payload that cannot be written");
	if (ptx->compression == DEVCODE_RAW)
		return append_ptx(err, ptx, ptx->payload, ptx->payload_size, out);
	if (!(ptx->compression == DEVCODE_LZ4 ? pack_lz4(err, ptx, &packed)
										  : pack_zstd(err, ptx, &packed)))
		result = append_ptx(err, ptx, packed.data, packed.size, out);
	buf_free(&packed);
	return result;
}
