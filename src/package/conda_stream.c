/* The two archives of a .conda package: tar, packed with zstd. */
#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "package/conda_members.h"

enum {
	WINDOW_LOG = 27, /* as devcode/walk_zstd.c reads them */
	LEVEL = 9,
	MOST_RATIO = 250,
	SMALL_BYTES = 64 << 20,
	PACKED_STEP = 1 << 18,
};

struct conda_stream {
	const struct conda_members *conda;
	const struct zip_member *member;
	const struct tar_edit *inner;
	const struct jw_cancel *cancel;
	ZSTD_DCtx *from;
	ZSTD_CCtx *to;
	zip_take write;
	void *write_context;
	uint64_t used, unpacked; /* packed bytes; unpacked ones */
	uLong crc;               /* of the packed bytes */
	bool inside;             /* a frame has begun and not ended */
	uint8_t step[PACKED_STEP];
};

static int check_stream(struct jw_error *err, const struct conda_stream *stream)
{
	if (stream->unpacked <= SMALL_BYTES || stream->unpacked / MOST_RATIO <= stream->used)
		return cancel_check(err, stream->cancel);
	return error_set(err, JW_ERR_LIMIT, "%.300s: unpacks to more than %d times its size",
					 stream->member->name, MOST_RATIO);
}

static int read_unpacked(struct jw_error *err, void *context, uint8_t *to, size_t size,
						 size_t *ret_got)
{
	struct conda_stream *stream = context;
	const struct zip_member *member = stream->member;
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos < size) {
		const uint64_t left = member->packed_bytes - stream->used;
		const size_t offset = (size_t)(member->data_offset + stream->used);
		ZSTD_inBuffer in = {stream->conda->map.data + offset,
							left < PACKED_STEP ? (size_t)left : PACKED_STEP, 0};
		const size_t before = out.pos, state = ZSTD_decompressStream(stream->from, &out, &in);

		if (ZSTD_isError(state))
			return error_set(err, JW_ERR_FORMAT, "%.300s: damaged zstd data: %s", member->name,
							 ZSTD_getErrorName(state));
		if (in.pos || !state)
			stream->inside = state != 0;
		stream->crc = crc32(stream->crc, in.src, (uInt)in.pos);
		stream->used += in.pos;
		stream->unpacked += out.pos - before;
		os_map_forget(&stream->conda->map, offset, in.pos);
		if (check_stream(err, stream))
			return -1;
		if (!in.size && out.pos == before)
			break;
	}
	if (out.pos < size && stream->inside)
		return error_set(err, JW_ERR_FORMAT, "%.300s: its zstd data is cut off", member->name);
	*ret_got = out.pos;
	return 0;
}

static int pack(struct jw_error *err, struct conda_stream *stream, const void *data, size_t size,
				ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {stream->step, PACKED_STEP, 0};

		left = ZSTD_compressStream2(stream->to, &out, &in, end);
		if (ZSTD_isError(left))
			return error_set(err, JW_ERR_MEMORY, "zstd: %s", ZSTD_getErrorName(left));
		if (out.pos && stream->write(err, stream->write_context, stream->step, out.pos))
			return -1;
	} while (in.pos < in.size || (end == ZSTD_e_end && left));
	return 0;
}

static int write_packed(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	return size ? pack(err, context, data, size, ZSTD_e_continue) : 0;
}

/* The caller's functions, with its context. */
static bool inner_wants(void *context, const char *name, uint64_t size_bytes, const uint8_t *head,
						size_t head_size)
{
	const struct tar_edit *inner = ((struct conda_stream *)context)->inner;

	return inner->wants(inner->context, name, size_bytes, head, head_size);
}

static int inner_take(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	const struct tar_edit *inner = ((struct conda_stream *)context)->inner;

	return inner->take(err, inner->context, data, size);
}

static int inner_taken(struct jw_error *err, void *context, const char *name,
					   const uint8_t **ret_data, uint64_t *ret_size_bytes)
{
	const struct tar_edit *inner = ((struct conda_stream *)context)->inner;

	return inner->taken(err, inner->context, name, ret_data, ret_size_bytes);
}

static int inner_link(struct jw_error *err, void *context, const char *name, const char *to)
{
	const struct tar_edit *inner = ((struct conda_stream *)context)->inner;

	return inner->link(err, inner->context, name, to);
}

static int run_stream(struct jw_error *err, struct conda_stream *stream)
{
	const struct tar_edit edit = {.context = stream,
								  .read = read_unpacked,
								  .write = stream->write ? write_packed : NULL,
								  .wants = inner_wants,
								  .take = inner_take,
								  .taken = inner_taken,
								  .link = inner_link};

	stream->from = ZSTD_createDCtx();
	stream->to = ZSTD_createCCtx();
	if (!stream->from || !stream->to)
		return error_set(err, JW_ERR_MEMORY, "out of memory (zstd)");
	(void)ZSTD_DCtx_setParameter(stream->from, ZSTD_d_windowLogMax, WINDOW_LOG);
	(void)ZSTD_CCtx_setParameter(stream->to, ZSTD_c_compressionLevel, LEVEL);
	(void)ZSTD_CCtx_setParameter(stream->to, ZSTD_c_checksumFlag, 1);
	if (tar_edit(err, &edit))
		return -1;
	/* Zstd's own checksum is optional, and the new package's would hide the damage. */
	if (stream->crc != stream->member->crc)
		return error_set(err, JW_ERR_FORMAT, "%.300s: its checksum is wrong", stream->member->name);
	return stream->write ? pack(err, stream, NULL, 0, ZSTD_e_end) : 0;
}

int conda_members_edit(struct jw_error *err, const struct conda_members *conda,
					   const struct zip_member *member, const struct tar_edit *edit,
					   const struct jw_cancel *cancel, zip_take write, void *to)
{
	struct conda_stream *stream = mem_alloc(err, sizeof *stream);
	int result;

	if (!stream)
		return -1;
	stream->conda = conda;
	stream->member = member;
	stream->inner = edit;
	stream->cancel = cancel;
	stream->write = write;
	stream->write_context = to;
	result = run_stream(err, stream);
	(void)ZSTD_freeDCtx(stream->from);
	(void)ZSTD_freeCCtx(stream->to);
	mem_free(stream);
	return result;
}
