#include "pack/pack_source.h"

#include <string.h>

#include <sodium.h>

#include "base/hash.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/stream.h"

enum { BLOCK = 1 << 20 };

struct source {
	const char *name;
	struct os_file *file;
	char *spool; /* the private folder for standard input */
	uint64_t size_bytes;
	struct digest *blocks;
	size_t block_count, block_capacity;
	uint8_t prehash[PACK_PREHASH_SIZE];
	uint8_t *buffer;
};

static int spool_into(struct jw_error *err, struct source *source)
{
	for (uint64_t at = 0;;) {
		size_t got;

		if (os_fd_read(err, 0, source->buffer, BLOCK, &got))
			return error_prefix(err, "%s", source->name);
		if (os_file_write(err, source->file, at, source->buffer, got))
			return -1;
		at += got;
		if (at > PACK_MOST_SIZE)
			return error_set(err, JW_ERR_LIMIT, "%s: too large for a pack", source->name);
		if (got < BLOCK)
			return 0;
	}
}

static int spool(struct jw_error *err, struct source *source)
{
	char *path = NULL;
	int result = -1;

	if (os_make_temp_dir(err, "jitwarm-import", &source->spool))
		return -1;
	path = os_join(err, source->spool, "pack");
	if (path && !os_file_open(err, path, OS_OPEN_CREATE, &source->file))
		result = spool_into(err, source);
	mem_free(path);
	return result;
}

static int open_file(struct jw_error *err, const char *path, struct source *source)
{
	struct os_stat stat;

	if (os_stat(err, path, &stat))
		return -1;
	if (stat.kind != OS_REGULAR)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: not a regular file", path);
	return os_file_open(err, path, OS_OPEN_READ, &source->file);
}

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

/* The digest covers everything before the trailer, whose bytes may begin in the last block but one.
 */
struct first_reading {
	crypto_generichash_state digest, prehash;
	uint8_t trailer[PACK_TRAILER_SIZE];
};

static int read_first(struct jw_error *err, struct source *source, struct first_reading *reading)
{
	const uint64_t content = source->size_bytes - PACK_TRAILER_SIZE;

	for (uint64_t start = 0; start < source->size_bytes; start += BLOCK) {
		size_t size, covered;

		if (VEC_ROOM(err, source->blocks, source->block_capacity, source->block_count,
					 PACK_MOST_SIZE / BLOCK + 1) ||
			read_block(err, source, source->block_count, &size))
			return -1;
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

static int read_whole_pack(struct jw_error *err, struct source *source)
{
	struct first_reading reading = {0};
	uint8_t digest[DIGEST_SIZE], wanted[PACK_TRAILER_SIZE];

	if (os_file_size(err, source->file, &source->size_bytes))
		return -1;
	if (source->size_bytes > PACK_MOST_SIZE)
		return error_set(err, JW_ERR_LIMIT, "%s: too large for a pack", source->name);
	if (source->size_bytes <= PACK_TRAILER_SIZE)
		return error_set(err, JW_ERR_FORMAT, "%s: not a pack, or only the beginning of one",
						 source->name);
	crypto_generichash_init(&reading.digest, NULL, 0, DIGEST_SIZE);
	crypto_generichash_init(&reading.prehash, NULL, 0, PACK_PREHASH_SIZE);
	if (read_first(err, source, &reading))
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

int source_open(struct jw_error *err, const char *path, struct source **ret_source)
{
	struct source *source = mem_alloc(err, sizeof *source);
	bool standard_input = !strcmp(path, "-");

	if (!source)
		return -1;
	source->name = standard_input ? "standard input" : path;
	source->buffer = mem_alloc(err, BLOCK);
	if (!source->buffer || (standard_input ? spool(err, source) : open_file(err, path, source)) ||
		read_whole_pack(err, source)) {
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
	if (source->spool)
		(void)os_remove_tree(NULL, source->spool);
	mem_free(source->spool);
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

int source_block(struct jw_error *err, struct source *source, size_t at, const uint8_t **ret_data,
				 size_t *ret_size)
{
	uint64_t start = (uint64_t)at * BLOCK, content = source->size_bytes - PACK_TRAILER_SIZE;
	struct digest digest;
	size_t size;

	if (at >= source->block_count || start >= content) {
		*ret_size = 0;
		return 0;
	}
	if (read_block(err, source, at, &size))
		return -1;
	digest_of(&digest, source->buffer, size);
	if (!digest_equal(&digest, &source->blocks[at]))
		return error_set(err, JW_ERR_FORMAT, "%s: was changed while it was read", source->name);
	*ret_data = source->buffer;
	*ret_size = content - start < size ? (size_t)(content - start) : size;
	return 0;
}
