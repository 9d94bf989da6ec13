/* The parts of one image, collected until it is complete: containers, places that only look like
 * one, wrappers. */
#pragma once

#include "code/container.h"
#include "code/ptx_text.h"
#include "code/sections.h"

/* A version 2 wrapper, `{u32 0x466243B1, u32 2, void *data, void *more}`. */
struct wrapper {
	uint64_t offset;
	uint64_t data; /* the pointer in the file */
};

enum {
	WRAPPER_SIZE = 24,
	WRAPPER_DATA_AT = 8,
	WRAPPER_ALIGN = 8,
};
#define WRAPPER_MAGIC  UINT32_C(0x466243B1)
#define WRAPPER_LINKED (UINT64_C(2) << 32 | WRAPPER_MAGIC) /* magic and version as one number */

struct image {
	enum devcode_format format;
	bool mapped;                          /* its bytes are those of a mapped file */
	struct devcode_container found;       /* the container found last */
	struct devcode_container *containers; /* all containers, without bytes and entries; by offset */
	size_t count, capacity;
	uint64_t *damaged; /* the offsets of broken containers */
	size_t damaged_count, damaged_capacity;
	struct wrapper *wrappers; /* by offset */
	size_t wrapper_count, wrapper_capacity;
	struct devcode_entry *entries; /* the entries of the last container */
	size_t entry_capacity;
	struct ptx_run run; /* the run of the last text, with its end in the file */
	uint64_t run_end;
	uint64_t wasted_steps; /* steps over entries at places that turned out not to be containers */
	uint64_t wasted_bytes; /* bytes read after a ".version" that do not belong to its module */
	/* Sections that hold containers, once the image is complete. */
	struct devcode_section *sections;
};

/* Reads a sound container's entries into image->entries. */
int image_entries(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t offset,
				  const struct container_walk *walk);
/* Records a container with these entries. `offset`s come in ascending order. `held_bytes` is not 0
 * if `bytes` holds only the payloads (devcode_container). */
int image_keep(struct jw_error *err, struct image *image, const uint8_t *bytes, size_t held_bytes,
			   uint64_t offset, const struct container_walk *walk);
/* Makes room for `count` of image->entries. */
int image_entry_room(struct jw_error *err, struct image *image, size_t count);
/* Records a place where a container seems to start but is unsound. A file full of such places would
 * cost quadratic time: beyond a few million steps that is JW_ERR_LIMIT. */
int image_damage(struct jw_error *err, struct image *image, uint64_t offset,
				 const struct container_walk *walk);
int image_wrapper(struct jw_error *err, struct image *image, uint64_t offset, uint64_t data);
/* Assigns the sections, drops containers outside of them, and follows the wrappers. The result
 * points into `image`; the caller sets path and member. Only an image with containers or damage is
 * of use. */
struct devcode_image image_finish(struct image *image, const struct section_table *table,
								  struct bytes *bytes);
/* Records a PTX text in an image's data as its own container. `version` points to ".version", at
 * `offset`, with `before` unassigned bytes before it and `size` bytes from there on. *ret_size of
 * these bytes need no further search. */
int image_text(struct jw_error *err, struct image *image, const uint8_t *version, size_t before,
			   size_t size, uint64_t offset, size_t *ret_size);
/* Returns the number of bytes, from that ".version" on, that image_text needs; more than `size` if
 * some are missing. */
size_t image_text_needs(const struct image *image, const uint8_t *version, size_t size,
						uint64_t offset);
/* Records one cubin or one PTX text, by its format, as its own container. */
int image_single(struct jw_error *err, struct image *image, enum devcode_format format,
				 const uint8_t *bytes, uint64_t size, uint64_t offset);
void image_free(struct image *image);

/* Marks the containers that version 2 wrappers point to as linked. False if that could not be
 * determined. */
bool wrappers_follow(struct image *image, const struct section_table *table, struct bytes *bytes);
