/* The files that a thin pack's modules come from, in its manifest. They are told to people and
 * compared with names of files that are here; no path is ever made of them. */
#pragma once

#include <cjson/cJSON.h>

#include "pack/manifest.h"

/* Whether a name may stand in a manifest: relative, '/' between its parts, none of them "..", no
 * control characters. */
bool pack_path_is_sound(const char *path);
/* The same of a package's name or version: letters, digits, "._-+!". */
bool pack_word_is_sound(const char *word);
/* And of a name inside an archive, which may be any text of one line. */
bool pack_member_is_sound(const char *member);

/* Adds the manifest's files to `document`. */
bool file_list_write(cJSON *document, const struct pack_manifest *manifest);
/* Reads them, hostile as they may be. A document without any has none. */
int file_list_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest);
void file_list_free(struct pack_manifest *manifest);
