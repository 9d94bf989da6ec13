#include "pack/writer.h"

#include <assert.h>
#include <string.h>

#include <sodium.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "os/platform.h"

enum {
	SKIPPABLE_MAGIC = 0x184d2a5f, /* RFC 8878, 3.1.2: 0x184d2a50 to 0x184d2a5f */
	TAG_SIZE = 8,
	OUT_SIZE = 128 << 10,
	MAX_WORKERS = 4, /* each takes 10 MB, and the process that reads the entries is one more */
};

void pack_trailer(uint8_t trailer[48], const uint8_t digest[32])
{
	static_assert(PACK_TRAILER_SIZE == 8 + TAG_SIZE + DIGEST_SIZE, "trailer");
	store_u32(trailer, SKIPPABLE_MAGIC);
	store_u32(trailer + 4, TAG_SIZE + DIGEST_SIZE);
	memcpy(trailer + 8, "jitwarm\1", TAG_SIZE);
	memcpy(trailer + 8 + TAG_SIZE, digest, DIGEST_SIZE);
}

struct writer {
	struct writer_options options;
	ZSTD_CCtx *compressor;
	crypto_generichash_state digest, prehash;
	uint64_t left_bytes; /* what remains of the current frame */
	uint64_t written_bytes;
	uint8_t out[OUT_SIZE];
};

/* Returns memory or ends the process: libzstd 1.5.4 crashes if memory runs out while it makes its
 * threads. */
static void *take_memory(void *context, size_t size)
{
	(void)context;
	return mem_resize(NULL, size);
}

static void release_memory(void *context, void *memory)
{
	(void)context;
	mem_free(memory);
}

static int zstd_failed(struct jw_error *err, size_t code)
{
	return error_set(err, JW_ERR_LIMIT, "zstd: %s", ZSTD_getErrorName(code));
}

/* Sets the parameters. The first four are for all packs; all are for WRITER_USUAL, tuned for PTX
 * and cubins: the search depth of higher levels, matches from 6 bytes on, and long-distance matches
 * from 128 bytes on, looked up twice as often. For the 126 MB of a framework's cache the result is
 * as small as with level 6, in three quarters of its time. */
static size_t set_parameters(ZSTD_CCtx *compressor, int level)
{
	const struct {
		ZSTD_cParameter parameter;
		int value;
	} settings[] = {
		{.parameter = ZSTD_c_compressionLevel, .value = level},
		{.parameter = ZSTD_c_windowLog, .value = PACK_WINDOW_LOG},
		{.parameter = ZSTD_c_enableLongDistanceMatching, .value = 1},
		{.parameter = ZSTD_c_checksumFlag, .value = 1},
		{.parameter = ZSTD_c_minMatch, .value = 6},
		{.parameter = ZSTD_c_searchLog, .value = 5},
		{.parameter = ZSTD_c_ldmMinMatch, .value = 128},
		{.parameter = ZSTD_c_ldmHashRateLog, .value = 6},
	};
	const size_t count = level == WRITER_USUAL ? sizeof settings / sizeof *settings : 4;
	size_t code = 0;

	for (size_t i = 0; i < count && !ZSTD_isError(code); i++)
		code = ZSTD_CCtx_setParameter(compressor, settings[i].parameter, settings[i].value);
	return code;
}

int writer_open(struct jw_error *err, const struct writer_options *options,
				struct writer **ret_writer)
{
	struct writer *writer = mem_alloc(sizeof *writer);
	unsigned workers;
	size_t code;

	writer->options = *options;
	crypto_generichash_init(&writer->digest, NULL, 0, DIGEST_SIZE);
	crypto_generichash_init(&writer->prehash, NULL, 0, PACK_PREHASH_SIZE);
	writer->compressor =
		ZSTD_createCCtx_advanced((ZSTD_customMem){take_memory, release_memory, NULL});
	if (!writer->compressor)
		mem_ended(0);
	code = set_parameters(writer->compressor, options->level);
	if (ZSTD_isError(code)) {
		(void)writer_close(NULL, writer, NULL);
		return zstd_failed(err, code);
	}
	workers = options->workers ? options->workers : os_cores();
	/* A libzstd that was built without threads refuses this option, and still compresses. */
	(void)ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_nbWorkers,
								 workers < MAX_WORKERS ? (int)workers : MAX_WORKERS);
	*ret_writer = writer;
	return 0;
}

static int emit(struct jw_error *err, struct writer *writer, const void *data, size_t size)
{
	crypto_generichash_update(&writer->digest, data, size);
	crypto_generichash_update(&writer->prehash, data, size);
	writer->written_bytes += size;
	return writer->options.write(err, writer->options.context, data, size);
}

static int compress_data(struct jw_error *err, struct writer *writer, const void *data, size_t size,
						 ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {data, size, 0};

	for (;;) {
		ZSTD_outBuffer out = {writer->out, OUT_SIZE, 0};
		size_t left = ZSTD_compressStream2(writer->compressor, &out, &in, directive);

		if (ZSTD_isError(left))
			return zstd_failed(err, left);
		if (out.pos && emit(err, writer, writer->out, out.pos))
			return -1;
		if (directive == ZSTD_e_end ? !left : in.pos == in.size)
			return 0;
	}
}

int writer_frame(struct jw_error *err, struct writer *writer, uint64_t size_bytes)
{
	size_t code;

	if (writer->left_bytes)
		return error_set(err, JW_ERR_FORMAT, "fewer bytes than the frame should have");
	code = ZSTD_CCtx_setPledgedSrcSize(writer->compressor, size_bytes);
	writer->left_bytes = size_bytes;
	return ZSTD_isError(code) ? zstd_failed(err, code) : 0;
}

int writer_put(struct jw_error *err, struct writer *writer, const void *data, size_t size)
{
	if (size > writer->left_bytes)
		return error_set(err, JW_ERR_LIMIT, "more bytes than the frame should have");
	writer->left_bytes -= size;
	/* Ends the frame with its last bytes, so that a small frame is compressed in one piece. */
	return compress_data(err, writer, data, size,
						 writer->left_bytes ? ZSTD_e_continue : ZSTD_e_end);
}

int writer_member(struct jw_error *err, struct writer *writer, const char *name, const void *data,
				  uint64_t size)
{
	static const uint8_t zeros[TAR_BLOCK];
	uint8_t header[TAR_BLOCK];

	tar_header(header, name, size);
	if (writer_put(err, writer, header, sizeof header) ||
		writer_put(err, writer, data, (size_t)size))
		return -1;
	return tar_padding(size) ? writer_put(err, writer, zeros, tar_padding(size)) : 0;
}

static int add_trailer(struct jw_error *err, struct writer *writer)
{
	uint8_t trailer[PACK_TRAILER_SIZE], digest[DIGEST_SIZE];
	crypto_generichash_state state = writer->digest;

	if (writer->left_bytes)
		return error_set(err, JW_ERR_FORMAT, "fewer bytes than the frame should have");
	crypto_generichash_final(&state, digest, sizeof digest);
	pack_trailer(trailer, digest);
	return emit(err, writer, trailer, sizeof trailer);
}

int writer_close(struct jw_error *err, struct writer *writer, struct written *ret_written)
{
	int result = 0;

	if (!writer)
		return 0;
	if (ret_written) {
		result = add_trailer(err, writer);
		if (!result) {
			ret_written->size_bytes = writer->written_bytes;
			crypto_generichash_final(&writer->prehash, ret_written->prehash, PACK_PREHASH_SIZE);
		}
	}
	(void)ZSTD_freeCCtx(writer->compressor);
	mem_free(writer);
	return result;
}

int writer_pack(struct jw_error *err, const struct writer_options *options,
				const struct pack_manifest *manifest, struct written *ret_written)
{
	static const uint8_t end[TAR_END];
	struct buf text = {0};
	struct writer *writer = NULL;
	int result = -1;

	if (manifest_content(manifest) > PACK_MAX_TOTAL)
		return error_set(err, JW_ERR_LIMIT, "a pack holds at most %llu GiB",
						 (unsigned long long)(PACK_MAX_TOTAL >> 30));
	if (!manifest_format(err, manifest, &text) && !writer_open(err, options, &writer) &&
		!writer_frame(err, writer, tar_extent(text.size)) &&
		!writer_member(err, writer, PACK_MANIFEST, text.data, text.size) &&
		!writer_frame(err, writer, manifest_extent(manifest)) &&
		!options->content(err, options->context, writer))
		result = writer_put(err, writer, end, sizeof end);
	buf_free(&text);
	if (writer_close(err, writer, result ? NULL : ret_written))
		return -1;
	return result;
}
