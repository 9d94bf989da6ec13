/* Private to the bake of one library: its state, and what its containers hold for each GPU. */
#pragma once

#include <jitwarm/bake.h>
#include <jitwarm/compiler.h>

#include "bake/bake_file.h"
#include "bake/baked_copy.h"
#include "bake/container_edit.h"
#include "bake/grow.h"
#include "base/buf.h"
#include "code/devcode.h"
#include "code/write.h"
#include "plan/analyse.h"

/* Where a container is, and how it is used. */
struct bake_place {
	uint64_t offset, size_bytes;
	enum devcode_role role;
	bool linked, text;
	bool may_move; /* it is registered, so that a wrapper may point to it */
};

struct bake_places {
	struct bake_place *items;
	size_t count, capacity;
	bool archive;                   /* the file has members */
	uint64_t ids_offset, ids_bytes; /* the section of module ids */
};

struct baking {
	const struct bake_file_job *job;
	struct jw_bake_file *file;
	struct os_map map;
	struct bake_places places;
	bool link[ANALYSE_MAX_TARGETS]; /* a start links the library's objects */
	/* The containers of objects, as indices of places, and for each the number of the linked
	 * container that it is part of. `links` NULL: unknown. */
	size_t *objects;
	uint32_t *links;
	size_t object_count;
	/* The copy: each container in its room or another place */
	struct container_room *rooms; /* of all containers, by offset */
	struct baked_copy copy;       /* copy.file NULL: no container has been written */
	struct grow *grow;
	struct jw_error no_grow; /* why there is none; JW_OK: not tried yet */
	/* Of the container at hand */
	struct devcode_container container;
	struct devcode_entry *entries;
	struct jw_target *texts;
	size_t entry_room;
	struct buf scratch;
	struct buf cubins[ANALYSE_MAX_TARGETS]; /* entries' files */
	struct write_cubin writes[ANALYSE_MAX_TARGETS];
	size_t write_count;
};

void baking_free(struct baking *baking);

/* Makes the container at `place` the one at hand. False: the file does not hold it there in this
 * form, for example since it was decompressed. */
bool baking_open(struct baking *baking, const struct bake_place *place);
/* The PTX of the container at hand that the driver would compile for the GPU, SIZE_MAX if it would
 * compile none. Reads the texts only if no cubin runs. */
size_t baking_find_ptx(struct baking *baking, const struct bake_place *place, size_t target);
/* Reads the value of the entry that a start with this driver would look up into the target's
 * buffer. JW_ERR_NOT_FOUND: it is missing or damaged. */
int baking_find_cubin(struct jw_error *err, struct baking *baking, size_t target, size_t index,
					  bool relocatable, struct devcode_view *ret_cubin);
/* The target of the entry that holds a compiler's code for a GPU. From sm_100 on it is `a`: the
 * driver compiles for the GPU's own features (docs/internals/driver-cache.md), and a later GPU of
 * the same major version has to take the PTX. On 9.0, which has no later one, the text's suffix
 * stays. */
struct jw_target baking_entry_target(struct jw_target gpu, char text_suffix);
/* Whether the driver loads it for the GPU, and its entry has a form that is known: from sm_100 on
 * it repeats a section of the cubin. */
bool baking_is_written(const struct baking *baking, struct devcode_view cubin,
					   struct jw_target device);

/* JW_ERR_FORMAT: what the loader reads overlaps a container. */
int baking_output_open(struct jw_error *err, struct baking *baking);
struct baked_put {
	bool written, moved;
	struct jw_error why; /* it was not written */
};
/* Writes the new form of the container at hand into its space; if it does not fit and `may_move`
 * (it is a registered one), into another place. The first container begins the copy. */
int baking_output_put(struct jw_error *err, struct baking *baking,
					  const struct container_form *form, bool may_move, struct baked_put *put);
/* Puts the copy into its place; *ret_size_bytes: its length. */
int baking_output_finish(struct jw_error *err, struct baking *baking, uint64_t *ret_size_bytes);
