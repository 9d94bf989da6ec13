/* The checksum in a PE file's header. */
#pragma once

#include "bake/baked_copy.h"

/* Computes it anew, where the original has one: after all else is written. Does nothing for other
 * files. */
int pe_checksum_renew(struct jw_error *err, struct baked_copy *copy);
