/* The original of a baked file: the file, with the journal's ranges over it. */
#include <string.h>

#include <sodium.h>
#include <zstd.h>

#include "bake/journal_text.h"
#include "base/cursor.h"
#include "base/mem.h"

struct original {
	const struct os_map *file;
	const struct journal *journal; /* NULL: the file is the original */
	uint64_t at, size;
	struct os_map map; /* of the journal's file */
	ZSTD_DCtx *decoder;
	ZSTD_inBuffer in;
	uint64_t range_at, range_left, last_end;
	uint64_t covered; /* up to here each byte is the file's or a range's */
	uint8_t piece[JOURNAL_PIECE];
};

static int damaged_journal(struct jw_error *err, const struct original *original)
{
	return error_set(err, JW_ERR_FORMAT, "%s: the journal is damaged", original->journal->file);
}

static int take_range_bytes(struct jw_error *err, struct original *original, void *bytes,
							size_t size)
{
	ZSTD_outBuffer out = {bytes, size, 0};

	while (out.pos < out.size) {
		const size_t before = out.pos, read = original->in.pos;
		const size_t left = ZSTD_decompressStream(original->decoder, &out, &original->in);

		if (ZSTD_isError(left) || (out.pos == before && original->in.pos == read))
			return damaged_journal(err, original);
	}
	return 0;
}

/* Begins the next range; behind the last one range_at is UINT64_MAX. */
static int next_range(struct jw_error *err, struct original *original)
{
	uint8_t head[JOURNAL_RANGE];

	if (take_range_bytes(err, original, head, sizeof head))
		return -1;
	original->range_at = load_u64(head);
	original->range_left = load_u64(head + 8);
	if (original->range_at == UINT64_MAX)
		return 0;
	if (!original->range_left || original->range_at < original->last_end ||
		!range_fits(original->range_at, original->range_left, original->size))
		return damaged_journal(err, original);
	original->last_end = original->range_at + original->range_left;
	return 0;
}

/* Puts the ranges that begin or go on in the piece over it. */
static int overlay(struct jw_error *err, struct original *original, size_t size)
{
	const uint64_t end = original->at + size;

	for (;;) {
		size_t bytes;

		if (!original->range_left && original->range_at != UINT64_MAX && next_range(err, original))
			return -1;
		if (original->range_at >= end)
			return original->covered < end ? damaged_journal(err, original) : 0;
		bytes = end - original->range_at < original->range_left ? (size_t)(end - original->range_at)
																: (size_t)original->range_left;
		if (take_range_bytes(err, original, original->piece + (original->range_at - original->at),
							 bytes))
			return -1;
		if (original->range_at <= original->covered &&
			original->covered < original->range_at + bytes)
			original->covered = original->range_at + bytes;
		original->range_at += bytes;
		original->range_left -= bytes;
	}
}

int original_next(struct jw_error *err, struct original *original, const uint8_t **ret_piece,
				  size_t *ret_size)
{
	const uint64_t left = original->size - original->at;
	const size_t size = left < JOURNAL_PIECE ? (size_t)left : JOURNAL_PIECE;
	const struct os_map *file = original->file;
	size_t known = original->at < file->size ? (size_t)(file->size - original->at) : 0;

	known = known < size ? known : size;
	if (known) {
		memcpy(original->piece, file->data + original->at, known);
		os_map_forget(file, (size_t)original->at, known);
	}
	memset(original->piece + known, 0, size - known);
	if (original->journal && size && overlay(err, original, size))
		return -1;
	original->at += size;
	*ret_piece = original->piece;
	*ret_size = size;
	return 0;
}

int original_open(struct jw_error *err, const struct os_map *file, const struct journal *journal,
				  struct original **ret_original)
{
	struct original *original = mem_alloc(err, sizeof *original);

	if (!original)
		return -1;
	original->file = file;
	original->journal = journal;
	original->size = journal ? journal->size_before : file->size;
	original->covered = file->size;
	if (journal) {
		original->decoder = ZSTD_createDCtx();
		if (!original->decoder) {
			error_set(err, JW_ERR_MEMORY, "out of memory");
			goto failed;
		}
		if (os_map_open(err, journal->file, &original->map))
			goto failed;
		if (journal->frame_bytes > original->map.size) {
			(void)damaged_journal(err, original);
			goto failed;
		}
		original->in = (ZSTD_inBuffer){original->map.data, (size_t)journal->frame_bytes, 0};
	}
	*ret_original = original;
	return 0;
failed:
	original_close(original);
	return -1;
}

void original_close(struct original *original)
{
	if (!original)
		return;
	(void)ZSTD_freeDCtx(original->decoder);
	os_map_close(&original->map);
	mem_free(original);
}

static int hash_original(struct jw_error *err, struct original *original, struct digest *ret_digest)
{
	crypto_generichash_state state;
	const uint8_t *piece;
	size_t size;

	(void)crypto_generichash_init(&state, NULL, 0, DIGEST_SIZE);
	do {
		if (original_next(err, original, &piece, &size))
			return -1;
		(void)crypto_generichash_update(&state, piece, size);
	} while (size);
	(void)crypto_generichash_final(&state, ret_digest->bytes, DIGEST_SIZE);
	return 0;
}

int journal_prove(struct jw_error *err, const char *file, const struct os_map *to)
{
	struct journal journal;
	struct original *original;
	struct digest digest;
	int result = -1;

	if (journal_read(err, file, &journal))
		return -1;
	if (!original_open(err, to, &journal, &original)) {
		result = hash_original(err, original, &digest);
		if (!result && !digest_equal(&digest, &journal.before))
			result = damaged_journal(err, original);
		original_close(original);
	}
	journal_free(&journal);
	return result;
}
