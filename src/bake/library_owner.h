/* Whose a library is, and whether it may be changed. */
#pragma once

#include <stdbool.h>

#include <jitwarm/find.h>

#include "base/buf.h"

/* NVIDIA's licences do not allow modifying its libraries, and a change breaks a signature: refused
 * in copies too. JW_ERR_UNSUPPORTED with the reason, which does not name the file. */
int library_owner_allows_copy(struct jw_error *err, const struct jw_found_file *file);

/* The same for a member of a package that is not installed: the package's name, whether its
 * metadata names NVIDIA's licence, the member's name, and its unpacked copy. */
int library_owner_allows_member(struct jw_error *err, const char *package, bool nvidia,
								const char *member, const char *path);
/* The same for all members of such a package. */
int library_owner_allows_package(struct jw_error *err, const char *package, bool nvidia);
/* Whether a header like METADATA's names NVIDIA's licence. */
bool library_owner_is_nvidia(const struct buf *metadata);

/* A package manager checks and replaces its own files. `path`: without links; `dpkg_folder`:
 * dpkg's lists of files, usually library_owner_dpkg. JW_ERR_UNSUPPORTED with the reason, which does
 * not name the file. */
extern const char library_owner_dpkg[];
int library_owner_allows_change(struct jw_error *err, const char *path, const char *dpkg_folder);
