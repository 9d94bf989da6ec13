/* Between store.c and refill.c. */
#ifndef JW_STORE_STORE_PACK_H
#define JW_STORE_STORE_PACK_H

#include "pack/manifest.h"

/* The manifest of a pack whose digest holds. */
int store_read_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest);

#endif
