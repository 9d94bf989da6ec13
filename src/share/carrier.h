/* The program that carries packs between a folder (an OCI image layout) and a registry: skopeo, or
 * oras. Logins and certificates are its own. */
#pragma once

#include "base/buf.h"
#include "base/cancel.h"
#include "share/reference.h"

struct carrier {
	const struct carrier_program *program;
	char *path;         /* of the program */
	const char *folder; /* for its output; the caller keeps it, like the next ones */
	const char *place;  /* "HOST/REPOSITORY" */
	bool plain;         /* plain HTTP */
	struct jw_cancel cancel;
};

/* JW_ERR_UNSUPPORTED: neither program is on PATH. */
int carrier_open(struct jw_error *err, struct carrier *carrier);
void carrier_close(struct carrier *carrier);

/* From the layout, or into it. JW_ERR_IO: what the program says; JW_ERR_NOT_FOUND: so it is. */
int carrier_push(struct jw_error *err, const struct carrier *carrier, const char *layout,
				 const char *tag);
int carrier_pull(struct jw_error *err, const struct carrier *carrier, const char *layout,
				 const char *tag);

/* The tags of the place, with ", " between them, and how many more there are. JW_ERR_NOT_FOUND:
 * there is no such place. */
int carrier_tags(struct jw_error *err, const struct carrier *carrier, struct buf *ret_tags);
/* Of such a program's output, in place: the tags, a line each. */
void carrier_read_tags(struct buf *output);
