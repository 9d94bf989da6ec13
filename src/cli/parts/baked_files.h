/* Libraries that were baked in their places: bake --undo, bake list. */
#pragma once

#include <jitwarm/bake.h>

#include "cli/command.h"

/* "as baked" … */
const char *baked_state_text(enum jw_baked_state state);
/* jw_baked_find, which is no reason to fail: *ret_list stays NULL where it cannot be told. */
int baked_files_find(struct jw_error *err, const struct output *out, const char *const *paths,
					 size_t path_count, struct jw_baked_list **ret_list);
/* Says which were baked, and which are not as baked; each line begins with `head`. NULL: none. */
void baked_files_print(const struct output *out, const char *head,
					   const struct jw_baked_list *list);
/* bake --undo */
int baked_files_undo(struct jw_error *err, struct cli *cli);
