/* bench_fleet [NODES WORKERS MODULES ROUND-TRIP-MS REQUESTS-A-SECOND]
 *
 * Plays nodes that begin within a second and share their work through one place, by the program's
 * own order and rules of claims (run/share_order.h), in simulated time. A request waits half a
 * round trip, for the place, which serves so many a second in turn, and half a round trip. Prints
 * how often modules are compiled in all, and the time beside the ideal: all nodes' workers busy, or
 * the longest module. A node that hears nothing for two seconds while a worker is idle goes on
 * alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/share_order.h"

enum { CONNECTIONS = 16, SILENCE_MS = 2000, MOST_EVENTS = 1 << 24 };

static const uint64_t MS = 1000000;

enum act { BEGIN, SERVED, ANSWERED, COMPILED, WAKE };
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
	struct event *waiting;         /* for a connection: what workers wait for */
	size_t waiting_count, first, looked, open, busy, claiming, left;
	uint64_t heard_ns, wake_ns, done_ns;
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

static void use_connections(unsigned index)
{
	struct node *node = &fleet.node[index];

	while (!node->gone && node->open < CONNECTIONS) {
		struct event event = {.job = LOOK, .node = index};

		if (node->waiting_count)
			event = node->waiting[--node->waiting_count];
		else if (node->looked < fleet.modules)
			event.module = (unsigned)node->looked++;
		else
			return;
		node->open++;
		send_request(event);
	}
}

static void want(unsigned index, unsigned module, enum job job)
{
	struct node *node = &fleet.node[index];

	node->waiting[node->waiting_count++] =
		(struct event){.job = job, .node = index, .module = module};
	use_connections(index);
}

static void compile_module(unsigned index, unsigned module)
{
	struct node *node = &fleet.node[index];

	node->busy++;
	fleet.compiles++;
	node->modules[module].state = REMOTE_DONE;
	push_event((struct event){.ns = fleet.now_ns + (uint64_t)(node->order[module].cost_ms * 1e6),
							  .act = COMPILED,
							  .node = index,
							  .module = module});
}

static void step_alone(unsigned index)
{
	struct node *node = &fleet.node[index];

	for (size_t i = node->first; i < fleet.modules && node->busy < fleet.workers; i++)
		if (node->modules[i].state < REMOTE_FETCHED)
			compile_module(index, (unsigned)i);
}

/* As claim_for_idle in run/run_remote.c */
static void step_node(unsigned index)
{
	struct node *node = &fleet.node[index];
	uint64_t again_ns = UINT64_MAX;

	while (node->first < fleet.modules && node->modules[node->first].state >= REMOTE_FETCHED)
		node->first++;
	if (node->gone) {
		step_alone(index);
		return;
	}
	for (size_t i = node->first; i < fleet.modules; i++) {
		struct remote_module *known = &node->modules[i];

		if (node->busy + node->claiming >= fleet.workers)
			return;
		if (known->state == REMOTE_OURS) {
			compile_module(index, (unsigned)i);
		} else if (share_may_claim(known, fleet.now_ns)) {
			known->state = REMOTE_CLAIMING;
			node->claiming++;
			want(index, (unsigned)i, GET_CLAIM_OBJECT);
		} else if (known->state == REMOTE_THEIRS && known->again_ns < again_ns) {
			again_ns = known->again_ns;
		}
	}
	if (again_ns != UINT64_MAX && (node->wake_ns <= fleet.now_ns || again_ns < node->wake_ns)) {
		node->wake_ns = again_ns;
		push_event((struct event){.ns = again_ns, .act = WAKE, .node = index});
	}
}

static void finish_module(struct node *node)
{
	if (!--node->left) {
		node->done_ns = fleet.now_ns;
		fleet.end_ns = fleet.now_ns;
	}
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

static void end_claim(struct node *node, struct remote_module *known, enum remote_state state)
{
	node->claiming--;
	known->state = state;
	if (state == REMOTE_FETCHED)
		finish_module(node);
}

/* As claim_object in share/object_entry.c */
static void take_claim_answer(const struct event *event, struct remote_module *known)
{
	struct node *node = &fleet.node[event->node];
	const struct share_turn *turn = &node->order[event->module];
	static uint64_t *written; /* by node and module */

	if (!written)
		written = need(mem_array(NULL, (size_t)fleet.nodes * fleet.modules, sizeof *written));
	uint64_t *ours = &written[(size_t)event->node * fleet.modules + event->module];

	if (event->job == GET_CLAIM_OBJECT && event->value) {
		end_claim(node, known, REMOTE_FETCHED);
	} else if (event->job == GET_CLAIM_OBJECT) {
		want(event->node, event->module, READ_CLAIM);
	} else if (event->job == READ_CLAIM &&
			   (!event->value || event->value == share_dead_claim(known, fleet.now_ns))) {
		want(event->node, event->module, WRITE_CLAIM);
	} else if (event->job == WRITE_CLAIM) {
		*ours = event->value;
		want(event->node, event->module, READ_AGAIN);
	} else if (event->job == READ_AGAIN && event->value == *ours) {
		end_claim(node, known, REMOTE_OURS);
	} else {
		end_claim(node, known, REMOTE_THEIRS);
		share_see_claim(known, turn->cost_ms, fleet.now_ns, event->value,
						fleet.seconds[turn->module]);
	}
}

static void take_answer(const struct event *event)
{
	struct node *node = &fleet.node[event->node];
	struct remote_module *known = &node->modules[event->module];

	node->open--;
	if (node->gone)
		return;
	if (fleet.now_ns - node->heard_ns > SILENCE_MS * MS && node->busy < fleet.workers &&
		node->left) {
		node->gone = true;
		fleet.gone++;
		return;
	}
	node->heard_ns = fleet.now_ns;
	if (event->job == LOOK) {
		known->state = event->value ? REMOTE_FETCHED : REMOTE_MISSING;
		if (event->value)
			finish_module(node);
	} else if (event->job != PUT) {
		take_claim_answer(event, known);
	}
	use_connections(event->node);
}

static void act(const struct event *event)
{
	struct node *node = &fleet.node[event->node];

	fleet.now_ns = event->ns;
	switch (event->act) {
	case SERVED: serve(*event); return;
	case BEGIN:
		node->heard_ns = fleet.now_ns;
		use_connections(event->node);
		return;
	case ANSWERED: take_answer(event); break;
	case COMPILED:
		node->busy--;
		finish_module(node);
		node->heard_ns = node->open ? node->heard_ns : fleet.now_ns;
		if (!node->gone)
			want(event->node, event->module, PUT);
		break;
	case WAKE: node->heard_ns = node->open ? node->heard_ns : fleet.now_ns; break;
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
		node->waiting = need(mem_array(NULL, 2 * (size_t)fleet.modules, sizeof *node->waiting));
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
		   "requests a node and module, %u nodes went on alone\n",
		   fleet.nodes, fleet.workers, fleet.modules, fleet.sum_ms / 1000, trip_ms, rate,
		   (double)fleet.compiles / fleet.modules, (double)fleet.end_ns / 1e9,
		   (double)fleet.end_ns / 1e6 / ideal_ms, ideal_ms / 1000,
		   (double)fleet.requests / fleet.nodes / fleet.modules, fleet.gone);
	return 0;
}
