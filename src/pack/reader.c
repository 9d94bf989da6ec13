#include "pack/reader.h"

#include <string.h>

#include <sodium.h>

/* for ZSTD_d_stableOutBuffer, which a libzstd may refuse */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "pack/pack_tar.h"

enum { BLOCK = 1 << 20 };

struct source {
	const char *name;
	struct os_file *file;
	uint64_t size_bytes;
	struct digest *blocks;
	size_t block_count, block_capacity;
	uint8_t prehash[PACK_PREHASH_SIZE];
	uint8_t *buffer;
};

static int read_block(struct jw_error *err, struct source *source, size_t at, size_t *ret_size)
{
	uint64_t start = (uint64_t)at * BLOCK, left = source->size_bytes - start;
	size_t wanted = left < BLOCK ? (size_t)left : BLOCK, got;

	if (os_file_read(err, source->file, start, source->buffer, wanted, &got))
		return error_prefix(err, "%s", source->name);
	if (got != wanted)
		return error_set(err, JW_ERR_IO, "%s: was shortened while it was read", source->name);
	*ret_size = got;
	return 0;
}

/* The digest covers all bytes before the trailer, which may begin in the last block but one. */
struct first_reading {
	crypto_generichash_state digest, prehash;
	uint8_t trailer[PACK_TRAILER_SIZE];
};

static int read_first(struct jw_error *err, struct source *source, const struct jw_cancel *cancel,
					  struct first_reading *reading)
{
	const uint64_t content = source->size_bytes - PACK_TRAILER_SIZE;

	for (uint64_t start = 0; start < source->size_bytes; start += BLOCK) {
		size_t size, covered;

		if (cancel_check(err, cancel) || read_block(err, source, source->block_count, &size))
			return -1;
		VEC_GROW(source->blocks, source->block_capacity, source->block_count);
		digest_of(&source->blocks[source->block_count++], source->buffer, size);
		covered = start >= content ? 0 : content - start < size ? (size_t)(content - start) : size;
		crypto_generichash_update(&reading->digest, source->buffer, covered);
		crypto_generichash_update(&reading->prehash, source->buffer, size);
		if (covered < size)
			memcpy(reading->trailer + (start + covered - content), source->buffer + covered,
				   size - covered);
	}
	return 0;
}

static int read_whole_pack(struct jw_error *err, struct source *source,
						   const struct jw_cancel *cancel)
{
	struct first_reading reading = {0};
	uint8_t digest[DIGEST_SIZE], wanted[PACK_TRAILER_SIZE];

	if (os_file_size(err, source->file, &source->size_bytes))
		return -1;
	if (source->size_bytes > PACK_MAX_SIZE)
		return error_set(err, JW_ERR_LIMIT, "%s: too large for a pack", source->name);
	if (source->size_bytes <= PACK_TRAILER_SIZE)
		return error_set(err, JW_ERR_FORMAT, "%s: not a pack, or only the beginning of one",
						 source->name);
	crypto_generichash_init(&reading.digest, NULL, 0, DIGEST_SIZE);
	crypto_generichash_init(&reading.prehash, NULL, 0, PACK_PREHASH_SIZE);
	if (read_first(err, source, cancel, &reading))
		return -1;
	crypto_generichash_final(&reading.digest, digest, sizeof digest);
	crypto_generichash_final(&reading.prehash, source->prehash, PACK_PREHASH_SIZE);
	pack_trailer(wanted, digest);
	if (memcmp(wanted, reading.trailer, PACK_TRAILER_SIZE) != 0)
		return error_set(err, JW_ERR_FORMAT,
						 "%s: not a pack, or damaged: its last bytes are not the digest of "
						 "those before",
						 source->name);
	return 0;
}

int source_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
				struct source **ret_source)
{
	struct source *source;
	struct os_stat stat;

	if (os_stat(err, path, &stat))
		return -1;
	if (stat.kind != OS_REGULAR)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: not a regular file", path);
	source = mem_alloc(sizeof *source);
	source->name = path;
	source->buffer = mem_alloc(BLOCK);
	if (os_file_open(err, path, OS_OPEN_READ, &source->file) ||
		read_whole_pack(err, source, cancel)) {
		source_close(source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	os_file_close(source->file);
	mem_free(source->blocks);
	mem_free(source->buffer);
	mem_free(source);
}

const char *source_name(const struct source *source)
{
	return source->name;
}

uint64_t source_size(const struct source *source)
{
	return source->size_bytes;
}

const uint8_t *source_prehash(const struct source *source)
{
	return source->prehash;
}

/* Reads block number `at` of the compressed bytes, without the trailer; *ret_size is 0 after the
 * last. The bytes are valid until the next call. */
static int source_block(struct jw_error *err, struct source *source, size_t at,
						const uint8_t **ret_data, size_t *ret_size)
{
	uint64_t start = (uint64_t)at * BLOCK, content = source->size_bytes - PACK_TRAILER_SIZE;
	struct digest digest;
	size_t size;

	*ret_data = source->buffer;
	*ret_size = 0;
	if (at >= source->block_count || start >= content)
		return 0;
	if (read_block(err, source, at, &size))
		return -1;
	digest_of(&digest, source->buffer, size);
	if (!digest_equal(&digest, &source->blocks[at]))
		return error_set(err, JW_ERR_FORMAT, "%s: was changed while it was read", source->name);
	*ret_size = content - start < size ? (size_t)(content - start) : size;
	return 0;
}

/* The most compressed bytes that are decompressed at a time, so that the walk gets a member before
 * the whole block is decompressed. */
enum { MAX_STEP = 32 << 10 };

/* one frame of the manifest, and one of the members */
enum { MAX_FRAMES = 2 };

struct reader {
	struct source *source;
	ZSTD_DCtx *decompressor;
	ZSTD_inBuffer in; /* the input that is being decompressed, a part of the block */
	size_t block_size, next_block;
	bool at_frame_end;
	unsigned frames;      /* the number of frames begun so far */
	ZSTD_outBuffer whole; /* the output of reader_into; dst is NULL without it */
	size_t taken;         /* bytes decompressed so far */
};

static int damaged(struct jw_error *err, const struct reader *reader, const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "%s: %s", source_name(reader->source), what);
}

/* Takes one step of the decompressor, which may output nothing; *ret_ended is set at the end of the
 * input. */
static int step_stream(struct jw_error *err, struct reader *reader, ZSTD_outBuffer *out,
					   bool *ret_ended)
{
	size_t before = out->pos, taken, code;

	if (reader->in.pos == reader->in.size) {
		size_t size = reader->block_size - reader->in.size;

		if (!size) {
			const uint8_t *data = NULL;

			if (source_block(err, reader->source, reader->next_block, &data, &size))
				return -1;
			reader->next_block++;
			reader->in = (ZSTD_inBuffer){data, 0, 0};
			reader->block_size = size;
		}
		reader->in.size += size < MAX_STEP ? size : MAX_STEP;
	}
	taken = reader->in.pos;
	if (reader->in.size == 0 && reader->at_frame_end) {
		*ret_ended = true;
		return 0;
	}
	if (reader->at_frame_end && ++reader->frames > MAX_FRAMES)
		return damaged(err, reader, "has more than two frames");
	code = ZSTD_decompressStream(reader->decompressor, out, &reader->in);
	if (ZSTD_getErrorCode(code) == ZSTD_error_dstSize_tooSmall)
		return damaged(err, reader, "holds more than its manifest says");
	if (ZSTD_isError(code))
		return error_set(err, JW_ERR_FORMAT, "%s: cannot be decompressed: %s",
						 source_name(reader->source), ZSTD_getErrorName(code));
	reader->at_frame_end = code == 0;
	if (out->pos == before && reader->in.pos == taken && reader->in.size == 0)
		return damaged(err, reader, "ends in the middle of a frame");
	*ret_ended = false;
	return 0;
}

/* Takes the next `size` bytes: decompressed to *bytes, or, after reader_into, into the whole, where
 * *bytes points to them. */
static int take_bytes(struct jw_error *err, struct reader *reader, uint8_t **bytes, size_t size)
{
	const bool whole = reader->whole.dst != NULL;
	ZSTD_outBuffer room = {*bytes, size, 0}, *out = whole ? &reader->whole : &room;
	const size_t from = whole ? reader->taken : 0;

	if (size > out->size - from)
		return damaged(err, reader, "holds more than its manifest says");
	while (out->pos < from + size) {
		bool ended = false;

		if (step_stream(err, reader, out, &ended))
			return -1;
		if (ended)
			return damaged(err, reader, "holds less than its manifest says");
	}
	if (whole) {
		*bytes = (uint8_t *)reader->whole.dst + reader->taken;
		reader->taken += size;
	}
	return 0;
}

static int read_zeros(struct jw_error *err, struct reader *reader, size_t size)
{
	uint8_t room[TAR_END], *zeros = room;

	if (take_bytes(err, reader, &zeros, size))
		return -1;
	for (size_t i = 0; i < size; i++)
		if (zeros[i])
			return damaged(err, reader, "unexpected bytes between its members");
	return 0;
}

/* Reads the size that the first frame states. */
static int read_frame_size(struct jw_error *err, struct reader *reader, uint64_t *ret_size)
{
	const uint8_t *data;
	size_t size;
	unsigned long long says;

	if (source_block(err, reader->source, 0, &data, &size))
		return -1;
	says = ZSTD_getFrameContentSize(data, size);
	if (says == ZSTD_CONTENTSIZE_ERROR)
		return damaged(err, reader, "not a pack: it does not begin with a manifest");
	if (says == ZSTD_CONTENTSIZE_UNKNOWN)
		return damaged(err, reader, "the first frame has no size");
	*ret_size = says;
	return 0;
}

static int read_manifest(struct jw_error *err, struct reader *reader,
						 struct pack_manifest *ret_manifest)
{
	uint8_t room[TAR_BLOCK], *header = room, *text;
	uint64_t size, frame_size = 0;
	int result = -1;

	if (read_frame_size(err, reader, &frame_size) || take_bytes(err, reader, &header, sizeof room))
		return -1;
	if (!tar_read(header, PACK_MANIFEST, &size))
		return damaged(err, reader, "not a pack: it does not begin with a manifest");
	if (size > PACK_MAX_MANIFEST)
		return error_set(err, JW_ERR_LIMIT, "%s: a manifest of more than %d MiB",
						 source_name(reader->source), PACK_MAX_MANIFEST >> 20);
	if (frame_size != tar_extent(size))
		return damaged(err, reader, "its first frame does not hold the manifest alone");
	text = mem_alloc((size_t)size + 1);
	if (!take_bytes(err, reader, &text, (size_t)size) &&
		!read_zeros(err, reader, tar_padding(size))) {
		result = manifest_parse(err, (const char *)text, (size_t)size, ret_manifest);
		if (result)
			error_prefix(err, "%s", source_name(reader->source));
	}
	mem_free(text);
	return result;
}

int reader_open(struct jw_error *err, struct source *source, struct pack_manifest *ret_manifest,
				struct reader **ret_reader)
{
	struct reader *reader = mem_alloc(sizeof *reader);
	struct pack_manifest manifest = {0};
	ZSTD_outBuffer nothing = {NULL, 0, 0};
	const uint64_t size = source_size(source);
	char text[2][TEXT_SHORT];
	uint64_t content;
	bool ended;

	reader->source = source;
	reader->at_frame_end = true;
	reader->decompressor = ZSTD_createDCtx();
	if (!reader->decompressor)
		mem_ended(0);
	(void)ZSTD_DCtx_setParameter(reader->decompressor, ZSTD_d_windowLogMax, PACK_WINDOW_LOG);
	if (read_manifest(err, reader, &manifest))
		goto fail;
	/* The checksum after the manifest's frame may lie in the next compressed bytes: at the frame's
	 * end the decompressor accepts a new output buffer. */
	if (!reader->at_frame_end && step_stream(err, reader, &nothing, &ended))
		goto fail;
	content = manifest_content(&manifest);
	if (content > PACK_FREE_BYTES && (content - PACK_FREE_BYTES) / PACK_MAX_RATIO > size) {
		error_set(err, JW_ERR_LIMIT,
				  "%s: damaged or hostile: claims to hold %s in %s, which no compression of cubins "
				  "and PTX reaches",
				  source_name(source), text_bytes(text[0], content), text_bytes(text[1], size));
		goto fail;
	}
	*ret_manifest = manifest;
	*ret_reader = reader;
	return 0;
fail:
	manifest_free(&manifest);
	reader_close(reader);
	return -1;
}

void reader_into(struct reader *reader, void *room, size_t size)
{
	/* In the middle of a frame the decompressor already has its window. */
	if (reader->at_frame_end)
		(void)ZSTD_DCtx_setParameter(reader->decompressor, ZSTD_d_stableOutBuffer, 1);
	reader->whole = (ZSTD_outBuffer){room, size, 0};
}

int reader_member(struct jw_error *err, struct reader *reader, const struct pack_member *member,
				  uint8_t **bytes)
{
	uint8_t room[TAR_BLOCK], *header = room;
	char name[TAR_MAX_NAME + 1];
	uint64_t size;

	if (take_bytes(err, reader, &header, sizeof room))
		return -1;
	if (!tar_read(header, pack_member_name(name, member), &size) || size != member->size_bytes)
		return damaged(err, reader, "its members differ from those in its manifest");
	if (take_bytes(err, reader, bytes, (size_t)size))
		return -1;
	return read_zeros(err, reader, tar_padding(size));
}

int reader_end(struct jw_error *err, struct reader *reader)
{
	uint8_t more;

	if (read_zeros(err, reader, TAR_END))
		return -1;
	for (;;) {
		ZSTD_outBuffer room = {&more, 1, 0};
		/* The frame that filled the whole is ended into the same buffer. */
		ZSTD_outBuffer *out = reader->whole.dst && !reader->at_frame_end ? &reader->whole : &room;
		size_t before = out->pos;
		bool ended;

		if (step_stream(err, reader, out, &ended))
			return -1;
		if (out->pos != before)
			return damaged(err, reader, "holds more than its manifest says");
		if (ended)
			return 0;
	}
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	(void)ZSTD_freeDCtx(reader->decompressor);
	mem_free(reader);
}

int reader_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest)
{
	struct source *source = NULL;
	struct reader *reader = NULL;
	int result = source_open(err, path, NULL, &source);

	if (!result)
		result = reader_open(err, source, ret_manifest, &reader);
	reader_close(reader);
	source_close(source);
	return result;
}
