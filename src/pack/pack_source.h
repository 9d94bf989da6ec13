/* A pack's bytes, on disk. They are read several times (digest and signature, checks, insertion),
 * and a file may change in between: the first reading remembers a hash of each block, and each
 * later one compares with it. Standard input is copied into a private file first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/format.h"
#include "pack/writer.h"

/* The largest pack: PACK_MOST_TOTAL does not compress worse than this. */
#define PACK_MOST_SIZE (UINT64_C(17) << 30)

struct source;

/* Opens `path` ("-": standard input) and reads all of it: JW_ERR_FORMAT if it does not end with the
 * digest of the bytes before. `path` must outlive the source. */
int source_open(struct jw_error *err, const char *path, struct source **ret_source);
void source_close(struct source *source);

const char *source_name(const struct source *source);
uint64_t source_size(const struct source *source);
const uint8_t *source_prehash(const struct source *source); /* PACK_PREHASH_SIZE bytes */

/* The next compressed block, without the trailer; *ret_size is 0 at the end. The bytes are valid
 * until the next call. */
int source_block(struct jw_error *err, struct source *source, size_t at, const uint8_t **ret_data,
				 size_t *ret_size);
