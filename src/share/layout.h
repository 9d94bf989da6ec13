/* A pack in an OCI image layout, the folder that skopeo and oras copy. docs/internals/formats.md
 * has the form.
 *
 *     FOLDER/oci-layout, FOLDER/index.json, FOLDER/blobs/sha256/HEX */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* The name of what is in it. No tag: skopeo takes fewer names here than registries take tags. */
#define LAYOUT_NAME "pack"

/* Moves the pack and its signature, NULL: none, into a new one. */
int layout_write(struct jw_error *err, const char *folder, const char *pack, const char *signature);

/* Moves the pack out of the layout to `path`, its signature, if it has one, to `path`.minisig.
 * JW_ERR_FORMAT: no pack of jitwarm's. */
int layout_read(struct jw_error *err, const char *folder, const char *path);

/* Of a manifest: the digits of the pack's digest and of its signature's ("": it has none). */
enum { LAYOUT_HEX = 65 };
struct layout_parts {
	char pack[LAYOUT_HEX], signature[LAYOUT_HEX];
};
int layout_parts_read(struct jw_error *err, const char *text, size_t size,
					  struct layout_parts *ret_parts);
