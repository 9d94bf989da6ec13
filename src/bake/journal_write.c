/* The journal's frame: the ranges in which two files differ. */
#include <string.h>

#include <sodium.h>
#include <zstd.h>

#include "bake/journal_text.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "package/package_row.h"

enum { BLOCK = 256, OUT_BYTES = 128 << 10, LEVEL = 3 };

struct ranges {
	ZSTD_CCtx *compressor;
	struct os_file *file;
	uint64_t written;
	crypto_generichash_state before, after;
	crypto_hash_sha256_state result; /* as RECORD has it */
	uint8_t out[OUT_BYTES];
};

static int put_bytes(struct jw_error *err, struct ranges *ranges, const void *bytes, size_t size,
					 bool last)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {ranges->out, OUT_BYTES, 0};

		left = ZSTD_compressStream2(ranges->compressor, &out, &in,
									last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return error_set(err, JW_ERR_MEMORY, "compressing: %s", ZSTD_getErrorName(left));
		if (os_file_write(err, ranges->file, ranges->written, ranges->out, out.pos))
			return -1;
		ranges->written += out.pos;
	} while (last ? left > 0 : in.pos < in.size);
	return 0;
}

static int put_range(struct jw_error *err, struct ranges *ranges, uint64_t offset,
					 const uint8_t *bytes, size_t size)
{
	uint8_t head[JOURNAL_RANGE];

	store_u64(head, offset);
	store_u64(head + 8, size);
	return put_bytes(err, ranges, head, sizeof head, false) ||
				   put_bytes(err, ranges, bytes, size, false)
			   ? -1
			   : 0;
}

/* `now`: the same place in the new file, of which `known` bytes are there. */
static int put_differences(struct jw_error *err, struct ranges *ranges, uint64_t offset,
						   const uint8_t *was, size_t size, const uint8_t *now, size_t known)
{
	size_t start = SIZE_MAX;

	for (size_t at = 0; at < size; at += BLOCK) {
		const size_t bytes = size - at < BLOCK ? size - at : BLOCK;
		const bool same = at + bytes <= known && !memcmp(was + at, now + at, bytes);

		if (!same && start == SIZE_MAX)
			start = at;
		if (same && start != SIZE_MAX) {
			if (put_range(err, ranges, offset + start, was + start, at - start))
				return -1;
			start = SIZE_MAX;
		}
	}
	return start == SIZE_MAX ? 0
							 : put_range(err, ranges, offset + start, was + start, size - start);
}

/* Hashes [from, until) of the new file, and gives its pages back. */
static void hash_result(struct ranges *ranges, const struct os_map *to, uint64_t from,
						uint64_t until, bool row)
{
	for (uint64_t at = from; at < until;) {
		const size_t size = until - at < JOURNAL_PIECE ? (size_t)(until - at) : JOURNAL_PIECE;

		(void)crypto_generichash_update(&ranges->after, to->data + at, size);
		if (row)
			(void)crypto_hash_sha256_update(&ranges->result, to->data + at, size);
		os_map_forget(to, (size_t)at, size);
		at += size;
	}
}

static int write_ranges(struct jw_error *err, struct ranges *ranges, struct original *original,
						const struct os_map *to, struct journal *journal)
{
	uint8_t end[JOURNAL_RANGE] = {0};
	const uint8_t *piece;
	uint64_t at = 0, hashed = 0;
	size_t size;

	for (;; at += size) {
		const size_t known = at < to->size ? (size_t)(to->size - at) : 0;

		if (original_next(err, original, &piece, &size))
			return -1;
		if (!size)
			break;
		(void)crypto_generichash_update(&ranges->before, piece, size);
		if (put_differences(err, ranges, at, piece, size, to->data + (known ? at : 0), known))
			return -1;
		hash_result(ranges, to, hashed, known < size ? to->size : at + size,
					journal->record != NULL);
		hashed = known < size ? to->size : at + size;
	}
	hash_result(ranges, to, hashed, to->size, journal->record != NULL);
	journal->size_before = at;
	journal->size_after = to->size;
	store_u64(end, UINT64_MAX);
	return put_bytes(err, ranges, end, sizeof end, true);
}

static int end_hashes(struct jw_error *err, struct ranges *ranges, struct journal *journal)
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	(void)crypto_generichash_final(&ranges->before, journal->before.bytes, DIGEST_SIZE);
	(void)crypto_generichash_final(&ranges->after, journal->after.bytes, DIGEST_SIZE);
	if (!journal->record)
		return 0;
	(void)crypto_hash_sha256_final(&ranges->result, hash);
	journal->row_after = package_row_with(err, journal->row_before, hash, journal->size_after);
	return journal->row_after ? 0 : -1;
}

static int write_journal(struct jw_error *err, struct ranges *ranges, struct original *original,
						 const struct os_map *to, struct journal *journal)
{
	struct buf text = BUF_MAX(1 << 20);
	uint8_t trailer[JOURNAL_TRAILER];
	int result;

	if (write_ranges(err, ranges, original, to, journal) || end_hashes(err, ranges, journal))
		return -1;
	result = journal_document(err, journal, &text);
	store_u64(trailer, text.size);
	store_u64(trailer + 8, ranges->written);
	memcpy(trailer + 16, journal_magic, 8);
	result =
		result || os_file_write(err, ranges->file, ranges->written, text.data, text.size) ||
		os_file_write(err, ranges->file, ranges->written + text.size, trailer, sizeof trailer) ||
		os_file_sync(err, ranges->file);
	buf_free(&text);
	return result ? -1 : 0;
}

int journal_write(struct jw_error *err, const char *file, struct original *original,
				  const struct os_map *to, struct journal *journal)
{
	struct ranges *ranges = mem_alloc(err, sizeof *ranges);
	int result = -1;

	if (!ranges)
		return -1;
	(void)crypto_generichash_init(&ranges->before, NULL, 0, DIGEST_SIZE);
	(void)crypto_generichash_init(&ranges->after, NULL, 0, DIGEST_SIZE);
	(void)crypto_hash_sha256_init(&ranges->result);
	ranges->compressor = ZSTD_createCCtx();
	if (!ranges->compressor ||
		ZSTD_isError(ZSTD_CCtx_setParameter(ranges->compressor, ZSTD_c_compressionLevel, LEVEL)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(ranges->compressor, ZSTD_c_checksumFlag, 1)))
		error_set(err, JW_ERR_MEMORY, "out of memory");
	else if (!os_remove(err, file) && !os_file_open(err, file, OS_OPEN_CREATE, &ranges->file))
		result = write_journal(err, ranges, original, to, journal);
	os_file_close(ranges->file);
	(void)ZSTD_freeCCtx(ranges->compressor);
	mem_free(ranges);
	if (result)
		(void)os_remove(NULL, file);
	return result;
}
