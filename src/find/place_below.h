/* Environments below a folder. */
#pragma once

#include "find/place_list.h"

struct place_depth {
	size_t depth, most_names; /* levels of folders; names that are looked at */
	bool one_device;          /* other file systems are not entered: they may not answer */
};

/* Adds the environments below a folder, without following links or looking into environments but
 * for conda's `envs`. *ret_any: there are some, though they were known. */
int place_below(struct jw_error *err, struct place_list *list, const char *folder,
				const struct place_depth *how, bool *ret_any);
