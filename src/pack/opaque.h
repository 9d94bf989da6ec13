/* Opaque packs: a cache directory whose form is not known, file by file, for the very driver that
 * wrote it. docs/pack-format.md, "Opaque packs". */
#ifndef JW_PACK_OPAQUE_H
#define JW_PACK_OPAQUE_H

#include <cjson/cJSON.h>

#include <jitwarm/pack.h>

#include "pack/import.h"

/* ---- the manifest's part */

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

/* ---- export */

/* Fills an empty manifest with all files of the directory, hashed. JW_ERR_UNSUPPORTED where it
 * cannot be told which driver they are of, or a file has a name that no pack takes. *ret_sources:
 * for each member the file, index in manifest->tree, that it is read from; the caller frees it. */
int opaque_gather(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				  struct pack_manifest *manifest, size_t **ret_sources);
/* A member's bytes again; JW_ERR_BUSY where the file has changed since. */
int opaque_take(struct jw_error *err, const char *dir, const struct pack_manifest *manifest,
				size_t member, size_t source, struct buf *bytes);

/* ---- import */

/* Reads every member and holds it against its name. */
int opaque_verify(struct jw_error *err, const struct import *import, struct reader *reader);
/* What becomes of it: all is accepted, or all refused, and why. */
int opaque_judge(struct jw_error *err, struct import *import);
/* Once more through the pack, into a new directory that takes the old one's place when it is
 * complete. */
int opaque_insert(struct jw_error *err, struct import *import);

#endif
