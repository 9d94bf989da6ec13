#include "code/write.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "code/container.h"

enum {
	OPTIONS_AT = CONTAINER_ENTRY,  /* `{u32 off, u32 len}` after the fixed fields */
	OPTIONS_TEXT = OPTIONS_AT + 8, /* the option string follows it */
	MAX_OPTIONS = 1 << 16,
	FLAGS = 0x11, /* 64 bits, Linux: as nvcc writes it */
	ZSTD_LEVEL = 3,
};

static size_t padded(size_t size)
{
	return (size + CONTAINER_ALIGN - 1) / CONTAINER_ALIGN * CONTAINER_ALIGN;
}

static int pack_payload(struct jw_error *err, enum devcode_compression compression,
						struct devcode_view payload, struct buf *out)
{
	size_t room, got;

	if (compression == DEVCODE_FOREIGN || payload.size > DEVCODE_MAX_PAYLOAD)
		return error_set(err, JW_ERR_USAGE, "a payload that cannot be written");
	if (compression == DEVCODE_RAW)
		return buf_append(err, out, payload.data, payload.size);
	room = compression == DEVCODE_LZ4 ? (size_t)LZ4_compressBound((int)payload.size)
									  : ZSTD_compressBound(payload.size);
	if (buf_reserve(err, out, room))
		return -1;
	if (compression == DEVCODE_LZ4)
		got =
			(size_t)LZ4_compress_default((const char *)payload.data, (char *)out->data + out->size,
										 (int)payload.size, (int)room);
	else
		got = ZSTD_compress(out->data + out->size, room, payload.data, payload.size, ZSTD_LEVEL);
	/* In a buffer of this size they fail only for lack of memory. */
	if (!got || ZSTD_isError(got))
		mem_ended(0);
	out->size += got;
	return 0;
}

static uint64_t entry_flags(enum devcode_compression compression, struct jw_target target)
{
	return (compression == DEVCODE_LZ4    ? CONTAINER_LZ4
			: compression == DEVCODE_ZSTD ? CONTAINER_ZSTD
										  : 0) |
		   (target.suffix == 'a'   ? CONTAINER_SUFFIX_A
			: target.suffix == 'f' ? CONTAINER_SUFFIX_F
								   : 0);
}

int write_container(struct jw_error *err, const struct write_ptx *ptx, struct buf *out)
{
	static const uint8_t zeros[CONTAINER_ALIGN];
	const struct devcode_view payload = {ptx->payload, ptx->payload_size};
	const char *options = ptx->options ? ptx->options : "";
	const size_t header_size = padded(OPTIONS_TEXT + strlen(options) + 1), before = out->size;
	const bool raw = ptx->compression == DEVCODE_RAW;
	struct buf packed = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	uint8_t *header, *entry;
	int result = -1;

	if (pack_payload(err, ptx->compression, payload, &packed))
		goto done;
	if (strlen(options) > MAX_OPTIONS) {
		error_set(err, JW_ERR_LIMIT, "options of %zu bytes", strlen(options));
		goto done;
	}
	if (buf_reserve(err, out, CONTAINER_HEADER + header_size + padded(packed.size)))
		goto done;
	header = out->data + before;
	entry = header + CONTAINER_HEADER;
	memset(header, 0, CONTAINER_HEADER + header_size);
	store_u64(header, container_start());
	store_u64(header + 8, header_size + padded(packed.size));
	store_u16(entry, (uint16_t)(ptx->kind ? ptx->kind : DEVCODE_KIND_PTX));
	store_u16(entry + 2, 0x0101);
	store_u32(entry + 4, (uint32_t)header_size);
	store_u64(entry + 8, padded(packed.size));
	store_u32(entry + 16, raw ? 0 : (uint32_t)packed.size);
	store_u32(entry + 20, OPTIONS_AT);
	store_u16(entry + 24, ptx->isa_minor);
	store_u16(entry + 26, ptx->isa_major);
	store_u32(entry + 28, ptx->target.sm);
	store_u64(entry + 40, FLAGS | entry_flags(ptx->compression, ptx->target));
	store_u64(entry + 56, raw ? 0 : ptx->payload_size);
	store_u32(entry + OPTIONS_AT, OPTIONS_TEXT);
	store_u32(entry + OPTIONS_AT + 4, (uint32_t)padded(strlen(options)));
	memcpy(entry + OPTIONS_TEXT, options, strlen(options));
	out->size += CONTAINER_HEADER + header_size;
	result = buf_append(err, out, packed.data, packed.size);
	if (!result)
		result = buf_append(err, out, zeros, padded(packed.size) - packed.size);
done:
	buf_free(&packed);
	return result;
}
