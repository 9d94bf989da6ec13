/* A pack's bytes on disk. They are read several times (digest and signature, checks, insertion),
 * and a file may change in between: the first reading remembers a hash of each block, and each
 * later one compares with it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/error.h"
#include "pack/format.h"
#include "pack/manifest.h"
#include "pack/writer.h"

/* The largest size of a pack: PACK_MAX_TOTAL never compresses worse than this. */
#define PACK_MAX_SIZE (UINT64_C(17) << 30)

struct source;

/* Opens `path` and reads all of it: JW_ERR_FORMAT if it does not end with the digest of the bytes
 * before. `path` must outlive the source. `cancel` may be NULL. */
int source_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
				struct source **ret_source);
void source_close(struct source *source);

const char *source_name(const struct source *source);
uint64_t source_size(const struct source *source);
const uint8_t *source_prehash(const struct source *source); /* PACK_PREHASH_SIZE bytes */

/* Reads a pack's content from its manifest to its last member, any number of times. Every header,
 * every padding byte and the end must match exactly. */
struct reader;

/* Reads the manifest, the first member. The caller owns both: manifest_free, reader_close. The
 * source must outlive the reader. */
int reader_open(struct jw_error *err, struct source *source, struct pack_manifest *ret_manifest,
				struct reader **ret_reader);
/* Called before the first member: decompresses all members into `room`, manifest_extent bytes,
 * where they stay. The decompressor then needs no window, and nothing is copied. */
void reader_into(struct reader *reader, void *room, size_t size);
/* Reads the content of the next member, which must be the given one: copied to *bytes, which has
 * room for member->size_bytes; after reader_into, *bytes points to it. */
int reader_member(struct jw_error *err, struct reader *reader, const struct pack_member *member,
				  uint8_t **bytes);
/* Checks after the last member that nothing follows. */
int reader_end(struct jw_error *err, struct reader *reader);
void reader_close(struct reader *reader);
/* Reads only the manifest of a pack whose digest matches. The caller frees it. */
int reader_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest);
