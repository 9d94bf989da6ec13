/* The files that a thin pack's modules come from, in its manifest. They are shown to people and
 * compared with names of local files; no path is ever built from them. */
#pragma once

#include <cjson/cJSON.h>

#include "pack/manifest.h"

/* Whether a manifest may hold this name: relative, parts separated by '/', no "..", no control
 * characters. */
bool pack_path_is_sound(const char *path);
/* The same for a package's name or version: letters, digits, "._-+!". */
bool pack_word_is_sound(const char *word);
/* The same for a name inside an archive: any text of one line. */
bool pack_member_is_sound(const char *member);

/* Reads the files from an untrusted document; the list is optional. */
int file_list_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest);
void file_list_free(struct pack_manifest *manifest);
