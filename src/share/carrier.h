/* The program that carries packs between a folder (an OCI image layout) and a registry: skopeo, or
 * oras. Logins and certificates are left to it. */
#pragma once

#include "base/buf.h"
#include "base/cancel.h"
#include "os/process.h"
#include "share/reference.h"

struct carrier {
	const struct carrier_program *program;
	char *path;         /* the path of the program */
	const char *folder; /* the folder for its output; the caller keeps it, like the texts below */
	const char *place;  /* "HOST/REPOSITORY" */
	bool plain;         /* use plain HTTP */
	struct jw_cancel cancel;
	struct os_patience patience;
};

/* Finds the program. JW_ERR_UNSUPPORTED if neither is on PATH. */
int carrier_open(struct jw_error *err, struct carrier *carrier);
void carrier_close(struct carrier *carrier);

/* Copy the layout to the registry, or from it. JW_ERR_IO with the program's message;
 * JW_ERR_NOT_FOUND if something is missing; JW_ERR_LIMIT if the registry is too slow. */
int carrier_push(struct jw_error *err, struct carrier *carrier, const char *layout,
				 const char *tag);
int carrier_pull(struct jw_error *err, struct carrier *carrier, const char *layout,
				 const char *tag);

/* Lists the tags of the place, with ", " between them, and how many more there are.
 * JW_ERR_NOT_FOUND if there is no such place. */
int carrier_tags(struct jw_error *err, struct carrier *carrier, struct buf *ret_tags);
/* Converts such a program's output to the tags, one in each line, in place. */
void carrier_read_tags(struct buf *output);
