/* The owner of a library, and whether bake may write a copy of it. */
#pragma once

#include <stdbool.h>

#include <jitwarm/find.h>

#include "base/buf.h"

/* Fails with JW_ERR_UNSUPPORTED if bake may not copy a library; the reason does not name the file.
 * NVIDIA's licences do not allow modifying its libraries, not even in copies (except with
 * `any_owner`), and bake writes no Windows libraries. */
int library_allows_copy(struct jw_error *err, const struct jw_found_file *file, bool any_owner);

/* Fails like library_allows_copy, for a member of a package that is not installed: by the package's
 * name, whether its metadata names NVIDIA's licence, the member's name, and its unpacked copy. */
int library_allows_member(struct jw_error *err, const char *package, bool nvidia, bool any_owner,
						  const char *member, const char *path);
/* ---- for all members of such a package */
/* Sets the reason why a Windows library is not changed. */
int library_refuse_windows(struct jw_error *err);
int library_allows_package(struct jw_error *err, const char *package, bool nvidia);
/* Returns whether a header such as METADATA names NVIDIA's licence. */
bool library_owner_is_nvidia(const struct buf *metadata);
