/* Decompresses an entry, or only its beginning. */
#include <lz4.h>
#include <stdatomic.h>
#include <zstd.h>

#include "base/cursor.h"
#include "devcode/cubin.h"
#include "devcode/devcode.h"
#include "devcode/ptx.h"

enum {
	PTX_HEAD = 1024,       /* contains .version and .target in all texts seen */
	PTX_LONG_HEAD = 65536, /* second try, for a long comment before them */
	LZ4_MOST_RATIO = 255,  /* the format's bound: one byte expands to at most this many */
	WINDOW_LOG = 27,       /* largest zstd window that is allocated */
};

/* The stored bytes, with the bounds that all code below relies on. */
int devcode_stored(struct jw_error *err, const struct devcode_container *container,
				   const struct devcode_entry *entry, struct devcode_view *ret_view)
{
	const uint64_t held = container->held_bytes ? container->held_bytes : container->size_bytes;

	if (entry->damaged)
		return error_set(err, JW_ERR_FORMAT, "the entry's header contradicts itself");
	if (entry->payload_offset == DEVCODE_NOT_HELD)
		return error_set(err, JW_ERR_UNSUPPORTED, "the payload was not kept");
	if (!range_fits(entry->payload_offset, entry->stored_bytes, held))
		return error_set(err, JW_ERR_FORMAT, "the payload is outside of its container");
	if (entry->compression == DEVCODE_FOREIGN)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "compressed or obfuscated in an unknown way (flags 0x%llx)",
						 (unsigned long long)entry->flags);
	if (entry->compression == DEVCODE_RAW && entry->size_bytes > entry->stored_bytes)
		return error_set(err, JW_ERR_FORMAT, "a raw payload larger than its stored bytes");
	ret_view->data = container->bytes + entry->payload_offset;
	ret_view->size = (size_t)entry->stored_bytes;
	return 0;
}

static int unpack_lz4(struct jw_error *err, struct devcode_view from, uint8_t *to, size_t size)
{
	int got = LZ4_decompress_safe((const char *)from.data, (char *)to, (int)from.size, (int)size);

	if (got < 0 || (size_t)got != size)
		return error_set(err, JW_ERR_FORMAT, "LZ4 payload is damaged");
	return 0;
}

/* A decoder takes some 160 KB. Mapping and touching them for each of thousands of small modules
 * takes as long as decompressing those. One decoder is kept between calls; a concurrent second
 * thread makes another. */
static _Atomic(ZSTD_DCtx *) idle_decoder;

static ZSTD_DCtx *take_decoder(struct jw_error *err)
{
	ZSTD_DCtx *decoder = atomic_exchange(&idle_decoder, NULL);

	if (!decoder)
		decoder = ZSTD_createDCtx();
	if (!decoder) {
		error_set(err, JW_ERR_MEMORY, "out of memory (zstd)");
		return NULL;
	}
	(void)ZSTD_DCtx_reset(decoder, ZSTD_reset_session_and_parameters);
	(void)ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, WINDOW_LOG);
	return decoder;
}

static void give_decoder(ZSTD_DCtx *decoder)
{
	(void)ZSTD_freeDCtx(atomic_exchange(&idle_decoder, decoder));
}

static int unpack_zstd(struct jw_error *err, struct devcode_view from, uint8_t *to, size_t size)
{
	ZSTD_DCtx *decoder = take_decoder(err);
	size_t got;

	if (!decoder)
		return -1;
	got = ZSTD_decompressDCtx(decoder, to, size, from.data, from.size);
	give_decoder(decoder);
	if (ZSTD_isError(got))
		return error_set(err, JW_ERR_FORMAT, "zstd payload is damaged: %s", ZSTD_getErrorName(got));
	if (got != size)
		return error_set(err, JW_ERR_FORMAT, "zstd payload has %zu bytes instead of %zu", got,
						 size);
	return 0;
}

/* Whether the payload can expand to so many bytes at all, checked before allocating them. */
static bool plausible(const struct devcode_entry *entry, struct devcode_view from, uint64_t size)
{
	unsigned long long content;

	if (size > DEVCODE_MOST_PAYLOAD || from.size > LZ4_MAX_INPUT_SIZE)
		return false;
	if (entry->compression == DEVCODE_LZ4)
		return size / LZ4_MOST_RATIO <= from.size;
	content = ZSTD_getFrameContentSize(from.data, from.size);
	return content == size || content == ZSTD_CONTENTSIZE_UNKNOWN;
}

int devcode_payload(struct jw_error *err, const struct devcode_container *container,
					const struct devcode_entry *entry, struct buf *scratch,
					struct devcode_view *ret_view)
{
	struct devcode_view from;
	size_t size;
	int result;

	if (devcode_stored(err, container, entry, &from))
		return -1;
	if (entry->compression == DEVCODE_RAW) {
		*ret_view = (struct devcode_view){from.data, (size_t)entry->size_bytes};
		return 0;
	}
	if (!plausible(entry, from, entry->size_bytes))
		return error_set(err, JW_ERR_FORMAT, "the payload cannot unpack to %llu bytes",
						 (unsigned long long)entry->size_bytes);
	size = (size_t)entry->size_bytes;
	buf_clear(scratch);
	if (buf_reserve(err, scratch, size))
		return -1;
	result = entry->compression == DEVCODE_LZ4 ? unpack_lz4(err, from, scratch->data, size)
											   : unpack_zstd(err, from, scratch->data, size);
	if (result)
		return -1;
	scratch->size = size;
	scratch->data[size] = 0;
	*ret_view = (struct devcode_view){scratch->data, size};
	return 0;
}

/* Decompresses up to `size` bytes; *ret_got is smaller if the payload is shorter or damaged. */
static int head_zstd(struct jw_error *err, struct devcode_view from, uint8_t *to, size_t size,
					 size_t *ret_got)
{
	ZSTD_DCtx *decoder = take_decoder(err);
	ZSTD_inBuffer in = {from.data, from.size, 0};
	ZSTD_outBuffer out = {to, size, 0};
	size_t left = 1;

	if (!decoder)
		return -1;
	while (left && !ZSTD_isError(left) && out.pos < out.size) {
		size_t in_before = in.pos, out_before = out.pos;

		left = ZSTD_decompressStream(decoder, &out, &in);
		if (in.pos == in_before && out.pos == out_before)
			break;
	}
	give_decoder(decoder);
	*ret_got = out.pos;
	return 0;
}

static int head(struct jw_error *err, const struct devcode_container *container,
				const struct devcode_entry *entry, uint8_t *to, size_t size,
				struct devcode_view *ret_view)
{
	struct devcode_view from;
	int got;

	if (devcode_stored(err, container, entry, &from))
		return -1;
	*ret_view = (struct devcode_view){to, 0};
	if (entry->compression == DEVCODE_RAW) {
		*ret_view = from;
	} else if (entry->compression == DEVCODE_ZSTD) {
		return head_zstd(err, from, to, size, &ret_view->size);
	} else {
		if (from.size > LZ4_MAX_INPUT_SIZE)
			return error_set(err, JW_ERR_FORMAT, "LZ4 payload is too large");
		got = LZ4_decompress_safe_partial((const char *)from.data, (char *)to, (int)from.size,
										  (int)size, (int)size);
		ret_view->size = got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int devcode_ptx_header(struct jw_error *err, const struct devcode_container *container,
					   const struct devcode_entry *entry, struct devcode_ptx_header *ret_header)
{
	uint8_t small[PTX_HEAD];
	struct buf large = BUF_MAX(PTX_LONG_HEAD);
	struct devcode_view view;
	int result = -1;

	if (head(err, container, entry, small, sizeof small, &view))
		return -1;
	if (!ptx_header_read(NULL, view.data, view.size, ret_header))
		return 0;
	if (!buf_reserve(err, &large, PTX_LONG_HEAD) &&
		!head(err, container, entry, large.data, PTX_LONG_HEAD, &view))
		result = ptx_header_read(err, view.data, view.size, ret_header);
	buf_free(&large);
	return result;
}

uint32_t devcode_cubin_cuda(const struct devcode_container *container,
							const struct devcode_entry *entry)
{
	/* A small buffer suffices: for zstd the entry gives the cubin's ABI. */
	uint8_t room[CUBIN_HEAD];
	struct devcode_view view = {room, 0};

	if (entry->compression == DEVCODE_ZSTD ||
		head(NULL, container, entry, room, sizeof room, &view))
		view.size = 0;
	return cubin_cuda(view.data, view.size, entry->isa_minor, entry->target.sm);
}
