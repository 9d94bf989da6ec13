/* Files packed with zstd: Blender's kernels, the layers of a .conda. */
#include <zstd.h>

#include "devcode/devcode.h"
#include "devcode/walk.h"

enum { WINDOW_LOG = 27 }; /* as `zstd --long` makes them; libzstd refuses larger windows */

struct unpacker {
	ZSTD_DCtx *context;
	struct stream *from;
	const struct jw_cancel *cancel;
	bool inside; /* a frame has begun and not ended */
};

static int unpack(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got)
{
	struct unpacker *unpacker = context;
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos < out.size) {
		ZSTD_inBuffer in = {0};
		const uint8_t *data;
		size_t left;

		if (walk_cancelled(err, unpacker->cancel) ||
			stream_peek(err, unpacker->from, STREAM_STEP, &data, &in.size))
			return -1;
		in.src = data;
		/* After the last input the decoder may still hold unpacked bytes. */
		left = ZSTD_decompressStream(unpacker->context, &out, &in);
		if (ZSTD_isError(left))
			return error_set(err, JW_ERR_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(left));
		if (in.pos || left == 0)
			unpacker->inside = left != 0;
		if (stream_skip(err, unpacker->from, in.pos))
			return -1;
		if (!in.size && out.pos < out.size)
			break;
	}
	*ret_got = out.pos;
	if (!out.pos && unpacker->inside)
		return error_set(err, JW_ERR_FORMAT, "the zstd data is cut off");
	return 0;
}

int walk_zstd(struct jw_error *err, const struct visitor *visitor, const char *member,
			  struct stream *stream, unsigned depth)
{
	struct unpacker unpacker = {
		.context = ZSTD_createDCtx(), .from = stream, .cancel = visitor->cancel};
	struct jw_error why = {0};
	struct stream unpacked;
	int result;

	if (!unpacker.context) {
		error_set(&why, JW_ERR_MEMORY, "out of memory (zstd)");
		visitor->trouble(visitor->context, member, &why);
		return 0;
	}
	(void)ZSTD_DCtx_setParameter(unpacker.context, ZSTD_d_windowLogMax, WINDOW_LOG);
	stream_of_reader(&unpacked, unpack, &unpacker, DEVCODE_MOST_STREAMED);
	result = walk_stream(err, visitor, member, &unpacked, depth);
	stream_free(&unpacked);
	(void)ZSTD_freeDCtx(unpacker.context);
	return result || walk_cancelled(err, visitor->cancel) ? -1 : 0;
}
