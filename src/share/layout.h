/* A pack in an OCI image layout, the folder that skopeo and oras copy. docs/internals/formats.md
 * has the form.
 *
 *     FOLDER/oci-layout, FOLDER/index.json, FOLDER/blobs/sha256/HEX */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* The name of the layout's content. It is not the tag, because skopeo accepts fewer names here than
 * registries accept tags. */
#define LAYOUT_NAME "pack"

/* Moves the pack and its signature (NULL if there is none) into a new layout. */
int layout_write(struct jw_error *err, const char *folder, const char *pack, const char *signature);

/* Moves the pack out of the layout to `path`, and its signature, if it has one, to `path`.minisig.
 * JW_ERR_FORMAT if it is not a pack of jitwarm's. */
int layout_read(struct jw_error *err, const char *folder, const char *path);

/* The parts of a manifest: the digits of the pack's digest and of its signature's ("" without
 * one). */
enum { LAYOUT_HEX = 65 };
struct layout_parts {
	char pack[LAYOUT_HEX], signature[LAYOUT_HEX];
};
int layout_parts_read(struct jw_error *err, const char *text, size_t size,
					  struct layout_parts *ret_parts);
