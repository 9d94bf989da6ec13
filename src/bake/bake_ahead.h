/* The containers of a library, made by threads ahead of the one that writes them in order.
 *
 *     bake_ahead_open(err, baking, &ahead);
 *     for each place, in order:
 *         bake_ahead_take(err, ahead, i, &hand);
 *         ... bake_place_put(err, baking, hand, place) ...
 *         bake_ahead_give(ahead, i);
 *     bake_ahead_close(ahead);
 */
#pragma once

#include "bake/baking.h"

struct bake_ahead;

/* Without threads, where the containers are not worth them, each is made when it is taken. -1: out
 * of memory. */
int bake_ahead_open(struct jw_error *err, struct baking *baking, struct bake_ahead **ret_ahead);
/* *ret_hand has made the container, and stays until it is given back. -1: as bake_place_make. */
int bake_ahead_take(struct jw_error *err, struct bake_ahead *ahead, size_t place,
					struct baking **ret_hand);
void bake_ahead_give(struct bake_ahead *ahead, size_t place);
void bake_ahead_close(struct bake_ahead *ahead);
