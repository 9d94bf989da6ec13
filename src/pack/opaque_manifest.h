/* What a manifest says of an opaque pack: a cache directory whose form is not known, file by file,
 * for the very driver that wrote it. docs/pack-format.md, "Opaque packs". */
#pragma once

#include <cjson/cJSON.h>

#include "pack/manifest.h"

/* Whether a file may have this name in a pack: letters, digits, "._-" and '/', no part of it
 * hidden, special to some system, or longer than 64 bytes; at most eight parts. */
bool opaque_path_is_sound(const char *path);
/* Below zero, zero, above: names in the order in which a manifest has them, which is that of a file
 * system that does not tell "a" from "A". */
int opaque_path_compare(const char *a, const char *b);
bool opaque_write(cJSON *document, const struct pack_manifest *manifest);
/* Members are read already. */
int opaque_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest);
void opaque_free(struct pack_manifest *manifest);
