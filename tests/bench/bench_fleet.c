/* bench_fleet [NODES WORKERS MODULES ROUND-TRIP-MS REQUESTS-A-SECOND]
 *
 * Plays nodes that begin within a second and share their work through one place, by the program's
 * own order and rules of claims (run/share_order.h), in simulated time. A request waits half a
 * round trip, for the place, which serves so many a second in turn, and half a round trip. Prints
 * how often modules are compiled in all, and the time beside the ideal: all nodes' workers busy, or
 * the longest module. How many requests a node has under way, and when it goes on alone for a time,
 * is decided as in the program, too (run/share_pace.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/share_order.h"
#include "worker/object_protocol.h"

enum { MOST_EVENTS = 1 << 24 };
/* As in run/run_remote.c */
enum { SLOWNESS_S = 10, SHARE_OF_WORK = 10 };

static const uint64_t MS = 1000000;

enum act { BEGIN, SERVED, ANSWERED, COMPILED, BEAT };
enum job { LOOK, GET_CLAIM_OBJECT, READ_CLAIM, WRITE_CLAIM, READ_AGAIN, PUT };

struct event {
	uint64_t ns;
	enum act act;
	enum job job;
	unsigned node, module; /* the place in the node's order */
	uint64_t value;        /* a claim; an object that is there */
};

struct node {
	struct share_turn *order;
	struct remote_module *modules; /* in that order */
	uint64_t *written;             /* claims, in that order */
	struct share_pace pace;
	size_t first, busy, left;
	unsigned asked, ahead;
	double waited_ms, saved_ms;
	bool gone;
};

static struct {
	unsigned nodes, workers, modules;
	uint64_t trip_ns, serve_ns, free_ns, now_ns, claims, requests, compiles, end_ns;
	double sum_ms, longest_ms;
	struct node *node;
	bool *there;
	uint64_t *claim, *seconds;
	struct event *heap;
	size_t count, capacity;
	unsigned gone;
	uint64_t rests; /* beats */
} fleet;

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void push_event(struct event event)
{
	size_t at;

	if (VEC_ROOM(NULL, fleet.heap, fleet.capacity, fleet.count, MOST_EVENTS))
		abort();
	for (at = fleet.count++; at && fleet.heap[(at - 1) / 2].ns > event.ns; at = (at - 1) / 2)
		fleet.heap[at] = fleet.heap[(at - 1) / 2];
	fleet.heap[at] = event;
}

static struct event pop_event(void)
{
	const struct event first = fleet.heap[0], last = fleet.heap[--fleet.count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < fleet.count) {
		if (child + 1 < fleet.count && fleet.heap[child + 1].ns < fleet.heap[child].ns)
			child++;
		if (fleet.heap[child].ns >= last.ns)
			break;
		fleet.heap[at] = fleet.heap[child];
		at = child;
	}
	fleet.heap[at] = last;
	return first;
}

/* The same numbers in each run */
static uint64_t half_trip_ns(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return fleet.trip_ns / 4 + state % (fleet.trip_ns / 2 + 1);
}

/* It comes to the place in half a round trip, and is served when those before it are. */
static void send_request(struct event event)
{
	const uint64_t there_ns = fleet.now_ns + half_trip_ns();

	fleet.free_ns = (there_ns > fleet.free_ns ? there_ns : fleet.free_ns) + fleet.serve_ns;
	fleet.requests++;
	event.act = SERVED;
	event.ns = fleet.free_ns;
	push_event(event);
}

static void ask(unsigned index, size_t module, enum job job, bool ahead)
{
	struct node *node = &fleet.node[index];
	struct remote_module *known = &node->modules[module];

	known->asked = true;
	known->ahead = ahead;
	known->asked_ns = fleet.now_ns;
	node->asked++;
	node->ahead += ahead;
	send_request((struct event){.job = job, .node = index, .module = (unsigned)module});
}

static void compile_module(unsigned index, size_t module)
{
	struct node *node = &fleet.node[index];

	node->busy++;
	fleet.compiles++;
	node->modules[module].state = REMOTE_DONE;
	push_event((struct event){.ns = fleet.now_ns + (uint64_t)(node->order[module].cost_ms * 1e6),
							  .act = COMPILED,
							  .node = index,
							  .module = (unsigned)module});
}

/* All that follows is as in run/run_remote.c. */
static size_t feed_workers(unsigned index)
{
	struct node *node = &fleet.node[index];
	size_t ready = 0;

	while (node->first < fleet.modules && node->modules[node->first].state >= REMOTE_FETCHED)
		node->first++;
	for (size_t i = node->first; i < fleet.modules; i++) {
		const enum remote_state state = node->modules[i].state;

		if (state >= REMOTE_FETCHED || (state != REMOTE_OURS && !node->gone && !node->pace.resting))
			continue;
		if (node->busy < fleet.workers)
			compile_module(index, i);
		else
			ready++;
	}
	return ready;
}

static void ask_for_idle(unsigned index)
{
	struct node *node = &fleet.node[index];
	size_t under_way = node->asked - node->ahead;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = node->first; i < fleet.modules && under_way + node->busy < fleet.workers &&
									 node->asked < node->pace.room;
			 i++)
			if (pass ? share_may_look(&node->modules[i], fleet.now_ns)
					 : share_may_claim(&node->modules[i], fleet.now_ns)) {
				ask(index, i, pass ? LOOK : GET_CLAIM_OBJECT, false);
				under_way++;
			}
}

static void step_node(unsigned index)
{
	struct node *node = &fleet.node[index];
	unsigned looks;

	if (feed_workers(index) || node->gone || node->pace.resting)
		return;
	ask_for_idle(index);
	looks = share_pace_looks(&node->pace, node->asked, node->ahead);
	for (size_t i = node->first; looks && i < fleet.modules; i++)
		if (share_may_look(&node->modules[i], fleet.now_ns)) {
			ask(index, i, LOOK, true);
			looks--;
		}
}

/* Also what the clock of the program does */
static void beat(unsigned index)
{
	struct node *node = &fleet.node[index];

	if (!node->gone && !node->pace.resting && node->asked && node->busy < fleet.workers) {
		node->waited_ms += OBJECT_BEAT_MS;
		share_pace_silent(&node->pace, fleet.now_ns, OBJECT_BEAT_MS);
		node->gone = node->waited_ms > 1000 * SLOWNESS_S + node->saved_ms +
										   fleet.sum_ms / SHARE_OF_WORK / fleet.workers;
		fleet.gone += node->gone;
	}
	fleet.rests += node->pace.resting;
	if (node->pace.resting && !node->asked && fleet.now_ns >= node->pace.probe_ns)
		for (size_t i = fleet.modules; i-- > node->first && !node->asked;)
			if (share_may_look(&node->modules[i], UINT64_MAX))
				ask(index, i, LOOK, false);
	if (node->left)
		push_event(
			(struct event){.ns = fleet.now_ns + OBJECT_BEAT_MS * MS, .act = BEAT, .node = index});
}

static void finish_module(struct node *node)
{
	if (!--node->left)
		fleet.end_ns = fleet.now_ns;
}

/* At the place */
static void serve(struct event event)
{
	const struct share_turn *turn = &fleet.node[event.node].order[event.module];

	switch (event.job) {
	case LOOK:
	case GET_CLAIM_OBJECT: event.value = fleet.there[turn->module]; break;
	case READ_CLAIM:
	case READ_AGAIN: event.value = fleet.claim[turn->module]; break;
	case WRITE_CLAIM:
		event.value = fleet.claim[turn->module] = ++fleet.claims;
		fleet.seconds[turn->module] = share_claim_seconds(turn->cost_ms);
		break;
	case PUT: fleet.there[turn->module] = true; break;
	}
	event.act = ANSWERED;
	event.ns += half_trip_ns();
	push_event(event);
}

/* As claim_object in share/object_entry.c. True: another request of the same job follows. */
static bool goes_on(const struct event *event, const struct remote_module *known)
{
	const struct node *node = &fleet.node[event->node];
	enum job next;

	if (event->job == GET_CLAIM_OBJECT && !event->value)
		next = READ_CLAIM;
	else if (event->job == READ_CLAIM &&
			 (!event->value || event->value == share_dead_claim(known, fleet.now_ns)))
		next = WRITE_CLAIM;
	else if (event->job == WRITE_CLAIM)
		next = READ_AGAIN;
	else
		return false;
	if (event->job == WRITE_CLAIM)
		node->written[event->module] = event->value;
	send_request((struct event){.job = next, .node = event->node, .module = event->module});
	return true;
}

static void take_answer(const struct event *event)
{
	struct node *node = &fleet.node[event->node];
	struct remote_module *known = &node->modules[event->module];
	const struct share_turn *turn = &node->order[event->module];
	const bool look = event->job == LOOK || event->job == GET_CLAIM_OBJECT;

	if (goes_on(event, known))
		return;
	known->asked = false;
	node->asked--;
	node->ahead -= known->ahead;
	share_pace_answered(&node->pace, fleet.now_ns - known->asked_ns, true);
	if (node->gone || known->state >= REMOTE_OURS)
		return;
	if (known->ahead || (look && event->value))
		share_pace_found(&node->pace, event->value);
	if (look && event->value) {
		known->state = REMOTE_FETCHED;
		node->saved_ms += turn->cost_ms;
		finish_module(node);
	} else if (look) {
		share_see_nothing(known, turn->cost_ms, fleet.now_ns);
	} else if (event->job == READ_AGAIN && event->value == node->written[event->module]) {
		known->state = REMOTE_OURS;
	} else {
		share_see_claim(known, turn->cost_ms, fleet.now_ns, event->value,
						fleet.seconds[turn->module]);
	}
}

static void act(const struct event *event)
{
	struct node *node = &fleet.node[event->node];

	fleet.now_ns = event->ns;
	switch (event->act) {
	case SERVED: serve(*event); return;
	case BEGIN:
	case BEAT: beat(event->node); break;
	case ANSWERED:
		if (event->job == PUT)
			share_pace_answered(&node->pace, 0, true);
		else
			take_answer(event);
		break;
	case COMPILED:
		node->busy--;
		finish_module(node);
		if (!node->gone)
			send_request((struct event){.job = PUT, .node = event->node, .module = event->module});
		break;
	}
	step_node(event->node);
}

static void make_fleet(void)
{
	struct share_turn *plan = need(mem_array(NULL, fleet.modules, sizeof *plan));

	fleet.node = need(mem_array(NULL, fleet.nodes, sizeof *fleet.node));
	fleet.there = need(mem_array(NULL, fleet.modules, sizeof *fleet.there));
	fleet.claim = need(mem_array(NULL, fleet.modules, sizeof *fleet.claim));
	fleet.seconds = need(mem_array(NULL, fleet.modules, sizeof *fleet.seconds));
	/* As libraries have them: many short ones, few of half a minute */
	for (unsigned i = 0; i < fleet.modules; i++) {
		plan[i] = (struct share_turn){i, 0x9e3779b97f4a7c15u * (i + 1),
									  i % 50 == 0  ? 30000
									  : i % 5 == 0 ? 4000
												   : 300 + (double)(i * 37 % 1000)};
		fleet.sum_ms += plan[i].cost_ms;
		fleet.longest_ms = plan[i].cost_ms > fleet.longest_ms ? plan[i].cost_ms : fleet.longest_ms;
	}
	for (unsigned i = 0; i < fleet.nodes; i++) {
		struct node *node = &fleet.node[i];

		*node = (struct node){.left = fleet.modules};
		node->order = need(mem_array(NULL, fleet.modules, sizeof *node->order));
		node->modules = need(mem_array(NULL, fleet.modules, sizeof *node->modules));
		node->written = need(mem_array(NULL, fleet.modules, sizeof *node->written));
		share_pace_begin(&node->pace);
		memcpy(node->order, plan, fleet.modules * sizeof *plan);
		if (share_order(NULL, 0x2545f4914f6cdd1du * (i + 1), node->order, fleet.modules))
			abort();
		push_event((struct event){.ns = (uint64_t)i * 1000 * MS / fleet.nodes, .node = i});
	}
	mem_free(plan);
}

static double argument(int argc, char **argv, int at, double otherwise)
{
	return argc > at ? strtod(argv[at], NULL) : otherwise;
}

int main(int argc, char **argv)
{
	const double trip_ms = argument(argc, argv, 4, 100), rate = argument(argc, argv, 5, 20000);
	double ideal_ms;

	fleet.nodes = (unsigned)argument(argc, argv, 1, 1000);
	fleet.workers = (unsigned)argument(argc, argv, 2, 8);
	fleet.modules = (unsigned)argument(argc, argv, 3, 400);
	fleet.trip_ns = (uint64_t)(trip_ms * 1e6);
	fleet.serve_ns = (uint64_t)(1e9 / rate);
	if (!fleet.nodes || !fleet.workers || !fleet.modules || rate <= 0)
		return 64;
	make_fleet();
	while (fleet.count) {
		const struct event event = pop_event();

		act(&event);
	}
	for (unsigned i = 0; i < fleet.nodes; i++)
		if (fleet.node[i].left)
			return fprintf(stderr, "node %u lacks %zu modules\n", i, fleet.node[i].left), 1;
	ideal_ms = fleet.sum_ms / fleet.nodes / fleet.workers;
	if (ideal_ms < fleet.longest_ms)
		ideal_ms = fleet.longest_ms;
	printf("%u nodes of %u workers, %u modules (%.0f s of compiling), round trips of %.0f ms, %.0f "
		   "requests/s:\n  %.3f compiles a module, %.1f s (%.2f times the ideal of %.1f s), %.1f "
		   "requests a node and module; %u nodes gave "
		   "the place up, each left it alone for %.1f s\n",
		   fleet.nodes, fleet.workers, fleet.modules, fleet.sum_ms / 1000, trip_ms, rate,
		   (double)fleet.compiles / fleet.modules, (double)fleet.end_ns / 1e9,
		   (double)fleet.end_ns / 1e6 / ideal_ms, ideal_ms / 1000,
		   (double)fleet.requests / fleet.nodes / fleet.modules, fleet.gone,
		   (double)fleet.rests * OBJECT_BEAT_MS / 1000 / fleet.nodes);
	return 0;
}
