/* The entries of the live cache that former drivers have made of wanted modules. */
#pragma once

#include <jitwarm/carry.h>

#include "base/set.h"
#include "cache/key.h"
#include "pack/judge.h"
#include "pack/manifest.h"

/* For one wanted module, the best that the cache has: an entry that goes over before one that is
 * refused, the same compiler's before an older one's, the newest before others. */
struct carry_find {
	bool found;
	bool split; /* compiled over several threads */
	struct judgement judgement;
	struct pack_driver driver; /* whose compiler made it */
	struct jw_target target;
	enum cache_key_form form;
	uint64_t key; /* the name that it has */
	uint64_t value_bytes, checksum;
	size_t row; /* its place in the index; SIZE_MAX where it has none */
};

struct carry {
	const struct jw_carry_options *options;
	struct jw_carry_result *result;
	struct carry_find *finds; /* of each wanted module */
	bool *done;               /* of each: its entry is there now */
	struct set by_key, by_length;
	uint64_t left_bytes; /* of options->most_bytes */
	size_t group_capacity, tried, to_try;
};

/* Fills in `finds`. A cache that is not there, or cannot be read, has nothing. */
int carry_look(struct jw_error *err, struct carry *carry);
/* Inserts those that go over and are an older compiler's, or are none, under their new names; each
 * is read and verified once more. -1 where the cache cannot be written: what was done is done. */
int carry_insert(struct jw_error *err, struct carry *carry, bool older);
