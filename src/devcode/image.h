/* Parts of one image, gathered until it can be handed over: containers, places that only look like
 * one, wrappers. */
#pragma once

#include "devcode/bytes.h"
#include "devcode/container.h"
#include "devcode/ptx_run.h"
#include "devcode/sections.h"

/* One call of devcode_read. */
struct reading {
	const char *path;
	const struct devcode_sink *sink;
	bool stopped; /* by the sink: an error that is not about the file */
};

/* A version 2 wrapper, `{u32 0x466243B1, u32 2, void *data, void *more}`. */
struct wrapper {
	uint64_t offset;
	uint64_t data; /* as it is in the file */
};

enum {
	WRAPPER_SIZE = 24,
	WRAPPER_DATA_AT = 8,
};
#define WRAPPER_MAGIC  UINT32_C(0x466243B1)
#define WRAPPER_LINKED (UINT64_C(2) << 32 | WRAPPER_MAGIC) /* magic and version as one number */

struct image {
	struct reading *reading;
	const char *member;
	enum devcode_format format;
	struct devcode_container *containers; /* without bytes and entries; by offset */
	size_t count, capacity;
	uint64_t *damaged; /* offsets */
	size_t damaged_count, damaged_capacity;
	struct wrapper *wrappers; /* by offset */
	size_t wrapper_count, wrapper_capacity;
	struct devcode_entry *entries; /* of the container at hand */
	size_t entry_capacity;
	struct ptx_run run; /* that the last text belongs to, and where in the file it ends */
	uint64_t run_end;
	uint64_t vain_steps; /* entries that were walked over in places that are not containers */
	uint64_t vain_bytes; /* that were read after a ".version" that begins no module */
};

/* Reads a sound container's entries into image->entries. */
int image_entries(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t offset,
				  const struct container_walk *walk);
/* Hands the container with these entries to the sink, and notes it. `offset`s come in ascending
 * order. `held_bytes`: not 0 where `bytes` holds only the payloads (devcode_container). */
int image_keep(struct jw_error *err, struct image *image, const uint8_t *bytes, size_t held_bytes,
			   uint64_t offset, const struct container_walk *walk);
/* Room for `count` of image->entries. */
int image_entry_room(struct jw_error *err, struct image *image, size_t count);
/* A place where a container seems to start, without a sound one. A file made of nothing else would
 * cost quadratic time: beyond a few million steps that is JW_ERR_LIMIT. */
int image_damage(struct jw_error *err, struct image *image, uint64_t offset,
				 const struct container_walk *walk);
int image_wrapper(struct jw_error *err, struct image *image, uint64_t offset, uint64_t data);
/* Assigns the sections, drops containers outside of them, follows the wrappers, and calls the sink
 * if any container is left. */
int image_finish(struct jw_error *err, struct image *image, const struct section_table *table,
				 const struct bytes *bytes);
/* Hands over a PTX text in an image's data as a container of its own. `version`: where ".version"
 * is, at `offset`, with `before` bytes in front of it that belong to nothing yet, and `size` from
 * there on. *ret_size: so many of these need not be searched again. */
int image_text(struct jw_error *err, struct image *image, const uint8_t *version, size_t before,
			   size_t size, uint64_t offset, size_t *ret_size);
/* The bytes from that ".version" on that image_text has to be given; more than `size` if they are
 * not all there. */
size_t image_text_needs(const struct image *image, const uint8_t *version, size_t size,
						uint64_t offset);
/* A file that is one cubin or one PTX text. */
int image_single(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t size);
void image_free(struct image *image);

/* The containers that version 2 wrappers point to are marked as linked. Returns whether that could
 * be told. */
bool wrappers_follow(struct image *image, const struct section_table *table,
					 const struct bytes *bytes, struct devcode_container *containers, size_t count);
