/* Who compiles what, where many nodes want the same modules and nobody tells them: the order of
 * each node, and what a claim counts for. Facts and decisions alone, without a place or a clock. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "run/remote.h"

struct share_turn {
	size_t module;
	uint64_t key;
	double cost_ms; /* predicted */
};

/* Dear modules first, those of similar cost in an order of this node's own, so that nodes that
 * begin together begin with different ones. */
int share_order(struct jw_error *err, uint64_t node, struct share_turn *turns, size_t count);
/* For how long this node claims such a module: no other node's claim counts for longer here. */
uint64_t share_claim_seconds(double cost_ms);
/* Whether to claim this module now, where a worker is idle. */
bool share_may_claim(const struct remote_module *known, uint64_t now_ns);
/* Whether to look for it now, where there is nothing to claim, or other modules were there. */
bool share_may_look(const struct remote_module *known, uint64_t now_ns);
/* A look has not found it. */
void share_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns);
/* The other node's claim that counts no more; 0: none. */
uint64_t share_dead_claim(const struct remote_module *known, uint64_t now_ns);
/* Another node has claimed it, for so many seconds. Its claim counts from when it is first seen,
 * so that no two clocks are compared. A node that claims the same module again and again cannot
 * keep it from us forever. */
void share_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim,
					 uint64_t seconds);
