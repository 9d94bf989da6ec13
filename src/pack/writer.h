/* Writes a pack: takes bytes, and outputs compressed frames and the closing digest. The order of
 * calls follows docs/internals/formats.md:
 *
 *     writer_open(err, &options, &writer);
 *     writer_frame(err, writer, bytes);  writer_put(...) ...   a frame of exactly so many bytes
 *     ...
 *     writer_close(err, writer, &written);
 *
 * Only the compressor's buffers are in memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pack/manifest.h"

enum { PACK_PREHASH_SIZE = 64 };
enum { WRITER_USUAL = 5 }; /* the level that the parameters are tuned for */

struct writer;

struct writer_options {
	void *context;
	/* Called with the bytes to write. */
	int (*write)(struct jw_error *err, void *context, const void *data, size_t size);
	/* For writer_pack: puts the pack's members, in the manifest's order. */
	int (*content)(struct jw_error *err, void *context, struct writer *writer);
	int level;        /* zstd's level */
	unsigned workers; /* the number of compression threads; 0 for as many as cores, up to a small
						 limit. The bytes do not depend on the number (a libzstd without threads
						 writes different ones) */
};

struct written {
	uint64_t size_bytes;
	uint8_t prehash[PACK_PREHASH_SIZE]; /* BLAKE2b-512 of the whole pack, which minisign signs */
};

int writer_open(struct jw_error *err, const struct writer_options *options,
				struct writer **ret_writer);
/* Begins a frame of exactly `size_bytes`; the frame before it must be complete. */
int writer_frame(struct jw_error *err, struct writer *writer, uint64_t size_bytes);
int writer_put(struct jw_error *err, struct writer *writer, const void *data, size_t size);
/* Writes a member of the archive: header, content and padding, tar_extent(size) bytes of the
 * frame. */
int writer_member(struct jw_error *err, struct writer *writer, const char *name, const void *data,
				  uint64_t size);
/* Ends the last frame and adds the trailer. Frees the writer in any case; with a NULL result the
 * pack is abandoned. */
int writer_close(struct jw_error *err, struct writer *writer, struct written *ret_written);

/* Writes a whole pack: the manifest, the content and the trailer. JW_ERR_LIMIT if there is too much
 * content. */
int writer_pack(struct jw_error *err, const struct writer_options *options,
				const struct pack_manifest *manifest, struct written *ret_written);

/* Computes the trailer that follows bytes with this BLAKE2b-256. */
void pack_trailer(uint8_t trailer[48], const uint8_t digest[32]);
