/* The manifest of an opaque pack: a cache directory of unknown form, file by file, for the driver
 * that wrote it. docs/pack-format.md, "Opaque packs". */
#pragma once

#include <cjson/cJSON.h>

#include "pack/manifest.h"

/* Whether a file may have this name in a pack: letters, digits, "._-" and '/'; at most eight parts,
 * each of at most 64 bytes, not hidden and not reserved on any system. */
bool opaque_path_is_sound(const char *path);
/* Compares names (below zero, zero, above) in the manifest's order, which is that of a
 * case-insensitive file system. */
int opaque_path_compare(const char *a, const char *b);
/* A path of the list, which ascends, that another one needs as a folder; NULL where there is none.
 */
const char *opaque_file_and_folder(const struct pack_leaf *tree, size_t count);
bool opaque_write(cJSON *document, const struct pack_manifest *manifest);
/* Called after members are read. */
int opaque_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest);
void opaque_free(struct pack_manifest *manifest);
