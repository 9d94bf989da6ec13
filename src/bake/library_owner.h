/* Whose a library is, and whether bake may write a copy of it. */
#pragma once

#include <stdbool.h>

#include <jitwarm/find.h>

#include "base/buf.h"

/* NVIDIA's licences do not allow modifying its libraries, not even in copies (`any_owner`: the
 * caller may, all the same), and bake writes no Windows libraries. JW_ERR_UNSUPPORTED with the
 * reason, which does not name the file. */
int library_allows_copy(struct jw_error *err, const struct jw_found_file *file, bool any_owner);

/* The same for a member of a package that is not installed: the package's name, whether its
 * metadata names NVIDIA's licence, the member's name, and its unpacked copy. */
int library_allows_member(struct jw_error *err, const char *package, bool nvidia, bool any_owner,
						  const char *member, const char *path);
/* The same for all members of such a package, by its owner. */
/* Why a Windows library is not changed. */
int library_refuse_windows(struct jw_error *err);
int library_allows_package(struct jw_error *err, const char *package, bool nvidia);
/* Whether a header like METADATA's names NVIDIA's licence. */
bool library_owner_is_nvidia(const struct buf *metadata);
