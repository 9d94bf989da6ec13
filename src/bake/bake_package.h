/* A wheel: a new one, whose libraries have machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/bake_file.h"
#include "bake/package_part.h"

struct bake_package_job {
	struct bake_file_job file; /* for each library; its output is ignored */
	bool any_owner;            /* as jw_bake_options has it */
	const char *path;          /* of the package */
	const char *folder;        /* for the new one; NULL: only count */
	const char *state_dir;
	/* Only looks for what refuses the package before a library is unpacked: nothing is counted. */
	bool only_check;
};

/* Its libraries with something to bake, or that failed; or one item, which has no member: why there
 * is no new package. The caller owns the texts of the items. */
struct bake_package_files {
	struct jw_bake_file *items;
	size_t count, capacity;
};

/* Whether the name is one of a package, also of one that cannot be baked. */
bool bake_is_package(const char *path);
/* -1: out of memory, JW_ERR_INTERRUPTED. */
int bake_package(struct jw_error *err, const struct bake_package_job *job,
				 struct bake_package_files *ret_files);
void bake_package_files_free(struct bake_package_files *files);
/* Takes the texts over, unless it fails. */
int bake_package_file_add(struct jw_error *err, struct bake_package_files *files,
						  const struct jw_bake_file *file);
/* Frees the texts of one item. */
void bake_package_file_clear(struct jw_bake_file *file);

/* ---- for each kind of package */

/* Why a file that one package wants to take as a member is not unpacked at all: it unpacks to too
 * much. */
int bake_package_check_size(struct jw_error *err, const char *member, uint64_t packed_bytes,
							uint64_t size_bytes);
/* Bakes an unpacked member and notes it. *ret_baked: the baked file's path, which the caller
 * removes and frees; NULL: there is none. `package`: its name. */
struct bake_member {
	const char *package, *member;
	bool nvidia; /* the package's metadata names NVIDIA's licence */
	const struct package_file *file;
};
int bake_package_member(struct jw_error *err, const struct bake_package_job *job,
						const struct package_part *part, const struct bake_member *member,
						struct bake_package_files *files, char **ret_baked);
/* The new package's path; untouched where there will be none. */
int bake_package_output(struct jw_error *err, const struct bake_package_job *job,
						const char *file_name, char **ret_output);
/* With only_check: why the libraries of a package called so are not baked. */
int bake_package_check_owner(struct jw_error *err, const struct bake_package_job *job,
							 const char *package, bool nvidia);
/* Before the new package gets its name. JW_ERR_USAGE: it is the old one's. JW_ERR_IO: the package
 * is no longer the one that was mapped. */
int bake_package_check(struct jw_error *err, const struct bake_package_job *job,
					   const struct os_map *map, const char *output);
/* Reports what the package's own failure is in `err`. *ret_output: the new package, NULL:
 * there was nothing to bake. */
int bake_wheel(struct jw_error *err, const struct bake_package_job *job,
			   struct bake_package_files *files, char **ret_output);
