/* Private to the bake of one library: one of its containers, in two steps. Threads may take the
 * first one for several containers at once, each with a struct baking of its own (baking_twin). */
#pragma once

#include "bake/baking.h"

/* Makes the container at `place` the one at hand, finds its machine code, and writes its new form.
 * Nothing, for a linked container. */
int bake_place_make(struct jw_error *err, struct baking *baking, const struct bake_place *place);
/* Writes what `hand` has made, which may be `baking` itself, into baking's copy. */
int bake_place_put(struct jw_error *err, struct baking *baking, struct baking *hand,
				   const struct bake_place *place);
/* Links the objects of the linked container at `place`, the `linked`-th one, and does both. */
int bake_place_link(struct jw_error *err, struct baking *baking, const struct bake_place *place,
					size_t linked);
