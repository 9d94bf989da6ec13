/* The bake of one library: its job, its state, and the content of its containers for each GPU. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/baked_copy.h"
#include "bake/container_edit.h"
#include "bake/grow.h"
#include "bake/linker.h"
#include "base/buf.h"
#include "cache/profile.h"
#include "code/devcode.h"
#include "code/write.h"

struct bake_file_job {
	const struct jw_system *system; /* the system whose driver links; NULL to link nothing */
	struct linker *linker;          /* links the objects */
	const char *cache_dir;          /* the cache whose entries supply the code */
	const struct cache_profile *profile;
	/* The CUDA version of the compiler of that code (1000 * major + 10 * minor). */
	uint32_t code_cuda;
	const struct jw_target *targets; /* one for each GPU */
	size_t target_count;
	const char *output; /* the copy's path; NULL only to count */
	struct jw_cancel cancel;
};

/* The place of a container, and its use. */
struct bake_place {
	uint64_t offset, size_bytes;
	enum devcode_role role;
	bool linked, text;
	bool may_move; /* the container is registered, so that a wrapper may point to it */
};

struct bake_places {
	struct bake_place *items;
	size_t count, capacity;
	bool archive;                   /* the file has members */
	uint64_t ids_offset, ids_bytes; /* the place of the section with module ids */
};

struct baking {
	const struct bake_file_job *job;
	struct jw_bake_file *file;
	struct os_map map;
	struct bake_places places;
	bool link[PLAN_MAX_TARGETS]; /* a start links the library's objects */
	/* The containers of objects, as indices into places, and for each object the number of the
	 * linked container that it is part of. `links` is NULL if unknown. */
	size_t *objects;
	uint32_t *links;
	size_t object_count;
	/* The copy, in which each container is in its room or in another place: */
	struct container_room *rooms; /* of all containers, sorted by offset */
	struct baked_copy copy;       /* copy.file is NULL if no container has been written */
	struct grow *grow;
	struct jw_error no_grow; /* why the file cannot become longer; JW_OK if not tried yet */
	/* The current container: */
	struct devcode_container container;
	struct devcode_entry *entries;
	struct jw_target *texts;
	size_t entry_room;
	struct buf scratch;
	struct buf cubins[PLAN_MAX_TARGETS]; /* the cubins for the entries */
	struct write_cubin writes[PLAN_MAX_TARGETS];
	size_t write_count;
};

void baking_free(struct baking *baking);

/* Makes the container at `place` the current one. False if the file does not have it there in this
 * form, for example because it was decompressed since. */
bool baking_open(struct baking *baking, const struct bake_place *place);
/* Returns the PTX of the current container that the driver would compile for the GPU; SIZE_MAX if
 * it would compile none. Reads the texts only if no cubin runs. */
size_t baking_find_ptx(struct baking *baking, const struct bake_place *place, size_t target);
/* Reads the value of the entry that a start with this driver would look up into the target's
 * buffer. JW_ERR_NOT_FOUND if it is missing or damaged. */
int baking_find_cubin(struct jw_error *err, struct baking *baking, size_t target, size_t index,
					  bool relocatable, struct devcode_view *ret_cubin);
/* Returns the target of the entry that holds a compiler's code for a GPU. From sm_100 on it is `a`:
 * the driver compiles for the GPU's own features (docs/internals/driver-cache.md), and a later GPU
 * of the same major version has to take the PTX. On 9.0, which has no later one, the text's suffix
 * stays. */
struct jw_target baking_entry_target(struct jw_target gpu, char text_suffix);
/* Returns whether the driver loads the cubin for the GPU, and its entry has a known form: from
 * sm_100 on the entry repeats a section of the cubin. */
bool baking_is_written(const struct baking *baking, struct devcode_view cubin,
					   struct jw_target device);

/* Opens the output. JW_ERR_FORMAT if something that the loader reads overlaps a container. */
int baking_output_open(struct jw_error *err, struct baking *baking);
struct baked_put {
	bool written, moved;
	struct jw_error why; /* why it was not written */
};
/* Writes the new form of the current container into its space. If it does not fit and `may_move`
 * (it is registered), into another place. The first container begins the copy. */
int baking_output_put(struct jw_error *err, struct baking *baking,
					  const struct container_form *form, bool may_move, struct baked_put *put);
/* Moves the copy to its place; *ret_size_bytes is its length. */
int baking_output_finish(struct jw_error *err, struct baking *baking, uint64_t *ret_size_bytes);
