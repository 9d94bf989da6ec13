#include "prime/run.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"
#include "prime/result.h"
#include "prime/run_state.h"

enum {
	TICK_MS = 100,
	/* Workers that end before they say hello, one after the other: something is wrong that no
	   retry mends. So it is where workers end, this many more than twice as many as there are,
	   and not one module was compiled between. */
	MOST_UNBORN = 3,
	MOST_FRUITLESS = 6,
};

/* How long a driver may take to start and to end. It may wait in the kernel for a GPU that has gone
 * wrong. */
enum { START_MS = 120000, END_MS = 30000 };
/* How often a lock that another process holds is tried for, and for how long when nothing else is
 * left to do. */
static const uint64_t LOCK_EVERY_NS = 1000000000, LOCK_LAST_NS = 5000000000;

/* A compile that takes longer than this hangs: forty times the prediction, and never less than ten
 * minutes. */
static uint64_t limit_ns(double cost_ms)
{
	double limit_ms = cost_ms * 40;

	return (uint64_t)((limit_ms < 600e3 ? 600e3 : limit_ms) * 1e6);
}

/* ---- what the caller sees */

void run_report(struct run *run, const struct plan_module *current)
{
	const struct jw_prime_options *options = run->setup->options;

	run->progress.done = run->done;
	run->progress.failed = run->result->failed;
	run->progress.done_bytes = run->done_bytes;
	run->progress.done_weight = run->done_weight;
	if (current)
		run->progress.current = run->setup->plan->files[current->file].path;
	if (options->progress)
		options->progress(options->context, &run->progress);
}

void run_message(struct run *run, const char *line)
{
	if (run->setup->options->message)
		run->setup->options->message(run->setup->options->context, line);
}

/* ---- the end of things */

void run_stop(struct run *run)
{
	run->stopping = true;
	for (unsigned i = 0; run->slots && i < run->setup->workers; i++)
		if (run->slots[i].child)
			child_kill(run->slots[i].child);
}

void run_break_off(struct run *run)
{
	run->broken = true;
	run_stop(run);
}

void run_break_off_with(struct run *run, const struct jw_error *why)
{
	error_set(run->err, why->code, "%s", why->message);
	run_break_off(run);
}

static void look_for_interrupt(struct run *run)
{
	const struct jw_prime_options *options = run->setup->options;

	if (run->stopping || !options->stop || !options->stop(options->context))
		return;
	run->result->interrupted = true;
	run_stop(run);
}

void run_module_done(struct run *run, size_t index)
{
	const struct plan_module *module = &run->setup->plan->modules[index];

	run->done++;
	run->done_bytes += module->payload_bytes;
	run->done_weight += module->cost_ms;
	run_report(run, module);
}

void run_module_failed(struct run *run, size_t index, const char *reason, const char *log)
{
	const struct plan *plan = run->setup->plan;

	if (result_add_failure(run->err, run->result, plan, &plan->modules[index], reason, log))
		run_break_off(run);
	run_module_done(run, index);
}

/* ---- workers that are gone */

static int start(struct run *run, struct slot *slot);

/* With jobs in its hands: the oldest is to blame, the others were not begun. */
static void blame(struct run *run, struct slot *slot, const struct child_end *how)
{
	char text[256], reason[512];
	size_t index = slot->jobs[0].module;

	while (slot->job_count > (slot->spent ? 0 : 1))
		queue_return(&run->queue, slot->jobs[--slot->job_count].module);
	if (!slot->job_count)
		return;
	slot->job_count = 0;
	run->fruitless++;
	/* Linux ends the largest process when memory runs out. */
	if (how->signal == SIGKILL && !how->killed &&
		run_retire(run, slot, "one was killed, as Linux does when memory runs out")) {
		queue_return(&run->queue, index);
		return;
	}
	if (queue_retry(&run->queue, index))
		return;
	(void)snprintf(reason, sizeof reason, "the driver's compiler %s, twice",
				   slot->hung ? "did not come to an end" : child_end_text(text, sizeof text, how));
	run_module_failed(run, index, reason, how->said);
}

/* Whether it makes sense to start others. */
static bool is_hopeless(struct run *run, struct slot *slot, const struct child_end *how)
{
	char text[256];
	const char *end =
		slot->hung ? "did not come to an end" : child_end_text(text, sizeof text, how);

	run->unborn += !slot->greeted;
	if (run->unborn < MOST_UNBORN && run->fruitless < MOST_FRUITLESS + 2 * run->setup->workers)
		return false;
	if (run->unborn >= MOST_UNBORN && run_retire(run, slot, end)) {
		run->unborn = 0;
		return false;
	}
	error_set(run->err, JW_ERR_DRIVER, "workers do not stay alive: the last %s%s%s", end,
			  how->said[0] ? ", saying: " : "", how->said);
	return true;
}

static void close_clock(struct run *run)
{
	if (!uv_is_closing((uv_handle_t *)&run->tick))
		uv_close((uv_handle_t *)&run->tick, NULL);
}

static void try_later(struct run *run)
{
	struct jw_error why = {0};

	if (later_try(&why, &run->later, run->setup->live, run->setup->plan, run_inserted, run) &&
		!run->broken)
		run_break_off_with(run, &why);
}

/* No worker is left: what waits for the cache's lock is all that is to be done. */
static void last_one_gone(struct run *run)
{
	run->last_ns = os_monotonic_ns();
	if (run->later.count && !run->broken && !run->result->opaque)
		try_later(run);
	if (!run->later.count || run->stopping)
		close_clock(run);
}

static void on_end(void *context, struct child *child, const struct child_end *how)
{
	struct slot *slot = context;
	struct run *run = slot->run;

	(void)child;
	slot->child = NULL;
	run->alive--;
	/* Who asks us to stop may have asked the workers too. */
	look_for_interrupt(run);
	if (!run->stopping) {
		blame(run, slot, how);
		if (is_hopeless(run, slot, how))
			run_break_off(run);
	}
	if (!run->stopping && !slot->retired && queue_peek(&run->queue) != QUEUE_EMPTY &&
		start(run, slot))
		run_break_off(run);
	if (!run->alive)
		last_one_gone(run);
}

static int start(struct run *run, struct slot *slot)
{
	struct child_setup setup = {
		.command = run->setup->worker,
		.cache_dir = slot->cache_dir,
		.cache_limit_bytes =
			run->setup->live ? UINT64_C(4294967296) : run->setup->system->cache.limit_bytes,
		.low_priority = run->setup->options->low_priority,
	};
	struct child_events events = {
		.context = slot, .hello = run_on_hello, .answer = run_on_answer, .end = on_end};

	slot->greeted = slot->hung = slot->spent = false;
	slot->since_ns = os_monotonic_ns();
	if (child_start(run->err, &run->loop, &setup, &events, &slot->child))
		return -1;
	run->alive++;
	return 0;
}

/* ---- the clock */

static uint64_t ms_to_ns(unsigned milliseconds)
{
	return milliseconds * UINT64_C(1000000);
}

static void look_at_time(struct run *run, struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	uint64_t took = os_monotonic_ns() - slot->since_ns;
	uint64_t most = slot->job_count ? limit_ns(run_first_cost_ms(run, slot))
					: slot->greeted ? ms_to_ns(setup->end_ms ? setup->end_ms : END_MS)
									: ms_to_ns(setup->start_ms ? setup->start_ms : START_MS);

	if (!slot->child || slot->hung || took <= most)
		return;
	slot->hung = true;
	child_kill(slot->child);
}

static bool has_waited_enough(const struct run *run)
{
	uint64_t now = os_monotonic_ns();

	return now - run->last_ns > LOCK_LAST_NS && now - run->later.progress_ns > LOCK_LAST_NS;
}

static void on_tick(uv_timer_t *timer)
{
	struct run *run = timer->data;

	look_for_interrupt(run);
	for (unsigned i = 0; !run->stopping && i < run->setup->workers; i++)
		look_at_time(run, &run->slots[i]);
	if (run->later.count && !run->stopping &&
		os_monotonic_ns() - run->later.tried_ns > LOCK_EVERY_NS)
		try_later(run);
	if (!run->alive && (!run->later.count || run->stopping || has_waited_enough(run)))
		close_clock(run);
	run_report(run, NULL);
}

/* ---- beginning and end */

static int open_slots(struct run *run)
{
	const struct run_setup *setup = run->setup;

	run->slots = mem_array(run->err, setup->workers, sizeof *run->slots);
	if (!run->slots)
		return -1;
	for (unsigned i = 0; i < setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		slot->run = run;
		slot->cache_dir = setup->live ? mem_printf(run->err, "%s/worker-%u", setup->folder, i)
									  : mem_string(run->err, setup->system->cache.path);
		if (!slot->cache_dir || os_make_dirs(run->err, slot->cache_dir, 0700) || start(run, slot))
			return -1;
	}
	return 0;
}

static void prepare_progress(struct run *run)
{
	run->progress.total = run->queue.count;
	run->progress.current = "";
	for (size_t i = 0; i < run->queue.count; i++) {
		const struct plan_module *module = &run->setup->plan->modules[run->queue.order[i]];

		run->progress.total_bytes += module->payload_bytes;
		run->progress.total_weight += module->cost_ms;
	}
}

static void note_later(struct run *run)
{
	char line[sizeof run->later.why.message + 200];

	if (!run->later.count || run->broken)
		return;
	(void)snprintf(
		line, sizeof line,
		"%zu compiled modules could not be put into the cache; the same command compiles "
		"them again: %s",
		run->later.count, run->later.why.message);
	(void)result_add_note(NULL, run->result, line);
}

int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result)
{
	struct run run = {.setup = setup, .result = result, .err = err};
	uint64_t began = os_monotonic_ns();

	if (queue_open(err, setup->plan, &run.queue))
		return -1;
	if (later_open(err, setup->folder, &run.later) || uv_loop_init(&run.loop)) {
		later_close(&run.later);
		queue_close(&run.queue);
		return error_set(err, JW_ERR_IO, "no event loop can be made");
	}
	prepare_progress(&run);
	(void)uv_timer_init(&run.loop, &run.tick);
	run.tick.data = &run;
	(void)uv_timer_start(&run.tick, on_tick, TICK_MS, TICK_MS);
	if (open_slots(&run))
		run_break_off(&run);
	if (!run.alive)
		close_clock(&run);
	(void)uv_run(&run.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&run.loop);
	note_later(&run);
	result->undone += run.queue.count - run.done;
	result->seconds += (double)(os_monotonic_ns() - began) / 1e9;
	for (unsigned i = 0; run.slots && i < setup->workers; i++)
		mem_free(run.slots[i].cache_dir);
	mem_free(run.slots);
	later_close(&run.later);
	queue_close(&run.queue);
	return run.broken ? -1 : 0;
}
