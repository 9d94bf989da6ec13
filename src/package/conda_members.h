/* A .conda package that is opened to be written again: a zip file of two archives, info-NAME and
 * pkg-NAME, and what the first one says. Source: conda's documentation, “Conda package
 * specification”, format 2. */
#pragma once

#include "devcode/zip_directory.h"
#include "package/conda_edit.h"
#include "package/tar_edit.h"

struct conda_members {
	struct os_map map;
	struct zip_directory directory;
	const struct zip_member *info, *pkg;
	char *package;            /* its name */
	char *build, *file_name;  /* of the new package */
	char *new_info, *new_pkg; /* names of the two archives in it */
	struct buf index, paths;  /* info/index.json, info/paths.json; later the new ones */
	bool nvidia;              /* its licence is NVIDIA's */
	struct conda_change *changes;
	size_t change_count, change_capacity;
};

int conda_members_open(struct jw_error *err, const char *path, const struct jw_target *gpus,
					   size_t gpu_count, const struct jw_cancel *cancel,
					   struct conda_members *ret_conda);
void conda_members_close(struct conda_members *conda);

/* Adds a change; takes nothing over. */
int conda_members_change(struct jw_error *err, struct conda_members *conda,
						 const struct conda_change *change);

/* Unpacks one of the two archives, edits it, and packs it to `write`; NULL: nothing is packed.
 * `edit`: without its read and write. */
int conda_members_edit(struct jw_error *err, const struct conda_members *conda,
					   const struct zip_member *member, const struct tar_edit *edit,
					   const struct jw_cancel *cancel, zip_take write, void *to);
/* Packs the info archive with the new index.json and paths.json. */
int conda_members_write_info(struct jw_error *err, struct conda_members *conda,
							 const struct jw_cancel *cancel, zip_take write, void *to);
