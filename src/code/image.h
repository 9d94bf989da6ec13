/* Parts of one image, collected until it can be handed over: containers, places that only look like
 * one, wrappers. */
#pragma once

#include "code/container.h"
#include "code/ptx_text.h"
#include "code/sections.h"

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
	enum devcode_format format;
	struct devcode_container found;       /* the last container */
	struct devcode_container *containers; /* all, without bytes and entries; by offset */
	size_t count, capacity;
	uint64_t *damaged; /* offsets */
	size_t damaged_count, damaged_capacity;
	struct wrapper *wrappers; /* by offset */
	size_t wrapper_count, wrapper_capacity;
	struct devcode_entry *entries; /* of the last container */
	size_t entry_capacity;
	struct ptx_run run; /* of the last text, with its end in the file */
	uint64_t run_end;
	uint64_t wasted_steps; /* steps over entries at places that are not containers */
	uint64_t wasted_bytes; /* bytes read after a ".version" that are no part of its module */
	struct devcode_section *sections; /* that hold containers, when it is complete */
};

/* Reads a sound container's entries into image->entries. */
int image_entries(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t offset,
				  const struct container_walk *walk);
/* Records the container with these entries. `offset`s come in ascending order. `held_bytes`: not 0
 * if `bytes` holds only the payloads (devcode_container). */
int image_keep(struct jw_error *err, struct image *image, const uint8_t *bytes, size_t held_bytes,
			   uint64_t offset, const struct container_walk *walk);
/* Room for `count` of image->entries. */
int image_entry_room(struct jw_error *err, struct image *image, size_t count);
/* A place where a container seems to start but is unsound. A file full of such places would cost
 * quadratic time: beyond a few million steps that is JW_ERR_LIMIT. */
int image_damage(struct jw_error *err, struct image *image, uint64_t offset,
				 const struct container_walk *walk);
int image_wrapper(struct jw_error *err, struct image *image, uint64_t offset, uint64_t data);
/* Assigns the sections, drops containers outside of them, and follows the wrappers. The result
 * points into `image`; its path and member are the caller's. It is worth nothing without containers
 * and damage. */
struct devcode_image image_finish(struct image *image, const struct section_table *table,
								  struct bytes *bytes);
/* Records a PTX text in an image's data as its own container. `version` points to ".version", at
 * `offset`, with `before` unassigned bytes before it and `size` bytes from there on. *ret_size:
 * this many of them need no further search. */
int image_text(struct jw_error *err, struct image *image, const uint8_t *version, size_t before,
			   size_t size, uint64_t offset, size_t *ret_size);
/* The number of bytes from that ".version" on that image_text needs; more than `size` if they are
 * not all there. */
size_t image_text_needs(const struct image *image, const uint8_t *version, size_t size,
						uint64_t offset);
/* Records one cubin or one PTX text, by its format, as its own container. */
int image_single(struct jw_error *err, struct image *image, enum devcode_format format,
				 const uint8_t *bytes, uint64_t size, uint64_t offset);
void image_free(struct image *image);

/* Marks the containers that version 2 wrappers point to as linked. False: that could not be
 * determined. */
bool wrappers_follow(struct image *image, const struct section_table *table, struct bytes *bytes);
