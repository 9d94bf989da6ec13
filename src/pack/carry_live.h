/* The entries of wanted modules in the live cache that other drivers have compiled. */
#pragma once

#include <jitwarm/carry.h>

#include "base/set.h"
#include "cache/key.h"
#include "pack/manifest.h"

/* An entry of the cache for one wanted module, by another driver of this CUDA minor version. */
struct carry_find {
	bool found;
	struct pack_driver driver; /* the driver whose compiler made it */
	struct jw_target target;
	enum cache_key_form form;
	uint64_t key; /* its present name */
	uint64_t value_bytes, checksum;
	size_t row; /* its position in the index; SIZE_MAX if it is not there */
};

struct carry {
	const struct jw_carry_options *options;
	struct jw_carry_result *result;
	struct carry_find *finds; /* for each wanted module */
	bool *done;               /* for each wanted module: its entry is in the cache now */
	struct set by_key, by_length;
	uint64_t left_bytes; /* what remains of options->most_bytes */
	size_t group_capacity, tried, to_try;
};

/* Fills in `finds`. If the cache is missing or unreadable, nothing is found. */
void carry_list_live(struct carry *carry);
/* Inserts the found entries under their new names; each entry is read and verified again. -1 if the
 * cache cannot be written; entries inserted before stay. */
int carry_insert(struct jw_error *err, struct carry *carry);
