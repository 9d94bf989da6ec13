/* The linked containers of one library: whether the runtime links them at a start, and the machine
 * code that makes that unnecessary. */
#pragma once

#include "bake/baking.h"

/* Returns whether the current, linked container has no machine code that runs. */
bool link_place_is_unlinked(const struct baking *baking, size_t target);
/* Finds out to which linked container each object belongs. */
void link_place_read(struct baking *baking);
/* Links container number `linked`, at `place`, for one GPU, unless it has code that runs, and adds
 * the code to `writes`. Containers that cannot be linked are counted. */
int link_place_add(struct jw_error *err, struct baking *baking, const struct bake_place *place,
				   size_t linked, size_t target);
