#include "run/share_order.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* A claim holds for three times its predicted compile, and some seconds for starting a driver. */
enum { CLAIM_TIMES = 3, CLAIM_SPARE_S = 5, MOST_RENEWALS = 3 };
/* How long to leave a claimed module alone. */
enum { AGAIN_MS = 250, MOST_AGAIN_MS = 5000 };

static const uint64_t CLAIM_SECOND_NS = 1000000000;

struct turned {
	struct share_turn own;
	unsigned dear; /* twice as dear is one more */
	uint64_t turn;
};

static int by_node_turn(const void *a, const void *b)
{
	const struct turned *left = a, *right = b;

	if (left->dear != right->dear)
		return left->dear > right->dear ? -1 : 1;
	return left->turn < right->turn ? -1 : left->turn > right->turn;
}

int share_order(struct jw_error *err, uint64_t node, struct share_turn *turns, size_t count)
{
	struct turned *turned = mem_array(err, count, sizeof *turned);

	if (!turned)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct share_turn *own = &turns[i];

		turned[i] = (struct turned){.own = *own,
									.turn = fnv_update(fnv_update(FNV_START, &node, sizeof node),
													   &own->key, sizeof own->key)};
		for (uint64_t ms = own->cost_ms > 0 ? (uint64_t)own->cost_ms : 0; ms; ms /= 2)
			turned[i].dear++;
	}
	qsort(turned, count, sizeof *turned, by_node_turn);
	for (size_t i = 0; i < count; i++)
		turns[i] = turned[i].own;
	mem_free(turned);
	return 0;
}

uint64_t share_claim_seconds(double cost_ms)
{
	return CLAIM_SPARE_S + (uint64_t)(CLAIM_TIMES * cost_ms / 1000);
}

bool share_may_claim(const struct remote_module *known, uint64_t now_ns)
{
	return !known->asked && (known->state == REMOTE_MISSING ||
							 (known->state == REMOTE_THEIRS && now_ns >= known->until_ns));
}

bool share_may_look(const struct remote_module *known, uint64_t now_ns)
{
	return !known->asked && (known->state == REMOTE_MISSING || known->state == REMOTE_THEIRS) &&
		   now_ns >= known->again_ns;
}

uint64_t share_dead_claim(const struct remote_module *known, uint64_t now_ns)
{
	return known->until_ns && now_ns >= known->until_ns ? known->claim : 0;
}

void share_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns)
{
	uint64_t again_ms = (uint64_t)(cost_ms / 2);

	again_ms = again_ms < AGAIN_MS ? AGAIN_MS : again_ms > MOST_AGAIN_MS ? MOST_AGAIN_MS : again_ms;
	known->again_ns = now_ns + again_ms * 1000000;
	if (known->state == REMOTE_THEIRS && known->again_ns > known->until_ns)
		known->again_ns = known->until_ns;
}

void share_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim,
					 uint64_t seconds)
{
	const uint64_t most = share_claim_seconds(cost_ms);

	known->state = REMOTE_THEIRS;
	if (claim != known->claim) {
		known->claim = claim;
		known->until_ns = now_ns + (seconds < most ? seconds : most) * CLAIM_SECOND_NS;
		if (known->renewals++ >= MOST_RENEWALS)
			known->state = REMOTE_OURS;
	}
	share_see_nothing(known, cost_ms, now_ns);
}
