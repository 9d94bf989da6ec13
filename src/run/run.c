#include "run/run.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/cores.h"
#include "os/file.h"
#include "os/memory.h"
#include "run/prime_result.h"
#include "run/run_state.h"

enum {
	TICK_MS = 100,
	/* Workers that end while they compile nothing (before they say hello, or without a job), one
	   after the other: something is wrong that no retry mends. So it is where workers end at a
	   first try of one module after the other, this many more than twice as many as there are:
	   before anything was compiled at all, or later. */
	MOST_UNBORN = 3,
	MOST_FRUITLESS = 6,
	MOST_FRUITLESS_LATER = 50,
	/* A clock that strikes so late has stood still with us: we were stopped, or the machine
	   slept. */
	STOPPED_MS = 2000,
	HOLD_TRIES_MS = 200,
	LATE_WRITE_MS = 20,
};

/* How long a driver may take to start and to end. It may wait in the kernel for a GPU that has gone
 * wrong. */
enum { START_MS = 120000, END_MS = 30000 };
/* How often a lock that another process holds is tried for, and for how long when nothing else is
 * left to do. */
static const uint64_t LOCK_EVERY_NS = 1000000000, LOCK_LAST_NS = 5000000000;

static uint64_t ms_to_ns(uint64_t milliseconds)
{
	return milliseconds * UINT64_C(1000000);
}

/* A compile that takes longer than this hangs: forty times the prediction, and never less than ten
 * minutes. */
static uint64_t limit_ns(const struct run *run, double cost_ms)
{
	double limit_ms = cost_ms * 40;

	if (run->setup->options->module_timeout_ms)
		return ms_to_ns(run->setup->options->module_timeout_ms);
	return (uint64_t)((limit_ms < 600e3 ? 600e3 : limit_ms) * 1e6);
}

/* ---- the end of things */

/* Where the worker's driver writes the live cache itself, it must not be killed at it: it would
 * leave an index that the next driver answers with a wipe. While we hold the lock it does not
 * begin, and what it writes after it has let go takes some milliseconds. NULL where there is
 * nothing to hold. */
static struct os_file *hold_live_cache(const struct run *run)
{
	char *path = run->setup->live ? NULL : os_join(NULL, run->setup->system->cache.path, "index");
	struct os_file *file = NULL;
	bool held = false;

	if (path && !os_file_open(NULL, path, OS_OPEN_UPDATE, &file)) {
		for (int tries = 0; !held && tries < HOLD_TRIES_MS; tries++) {
			if (os_file_lock(NULL, file, true, &held))
				break;
			if (!held)
				uv_sleep(1);
		}
		uv_sleep(LATE_WRITE_MS);
	}
	mem_free(path);
	return file;
}

void run_end_workers(struct run *run, const struct slot *only)
{
	struct os_file *held = run->alive ? hold_live_cache(run) : NULL;

	for (unsigned i = 0; run->slots && i < run->setup->workers; i++)
		if (run->slots[i].child && (!only || only == &run->slots[i]))
			child_kill(run->slots[i].child);
	if (held)
		uv_sleep(LATE_WRITE_MS);
	os_file_close(held);
}

void run_stop(struct run *run)
{
	run->stopping = true;
	run_end_workers(run, NULL);
}

void run_break_off(struct run *run)
{
	run->broken = true;
	run_stop(run);
}

void run_break_off_with(struct run *run, const struct jw_error *why)
{
	error_copy(run->err, why);
	run_break_off(run);
}

static void look_for_interrupt(struct run *run)
{
	if (run->stopping || !cancel_asked(&run->setup->options->cancel))
		return;
	run->result->interrupted = true;
	run_stop(run);
}

/* ---- workers that are gone */

void run_count_loss(struct run *run, size_t index)
{
	/* Where others were compiled, those that are tried alone at the end may well die one after the
	 * other. */
	run->fruitless += !run->result->compiled || !job_queue_is_suspect(&run->queue, index);
}

/* What a worker came to, for people. */
static const char *end_text(char *text, size_t size, const struct run *run, const struct slot *slot,
							const struct child_end *how)
{
	char limit[TEXT_SHORT];

	if (!slot->hung || !slot->job_count)
		return slot->hung ? "did not come to an end" : child_end_text(text, size, how);
	(void)snprintf(text, size, "did not come to an end within %s",
				   text_duration(limit, (double)limit_ns(run, run_first_cost_ms(run, slot)) / 1e9));
	return text;
}

/* With jobs in its hands: the oldest is to blame, the others were not begun. */
static void blame(struct run *run, struct slot *slot, const struct child_end *how)
{
	char text[256], reason[512];
	size_t index = slot->jobs[0].module;

	while (slot->job_count > (slot->spent || slot->yielded ? 0 : 1))
		job_queue_return(&run->queue, slot->jobs[--slot->job_count].module);
	if (!slot->job_count)
		return;
	(void)snprintf(reason, sizeof reason, "the driver's compiler %s, twice",
				   end_text(text, sizeof text, run, slot, how));
	slot->job_count = 0;
	run_count_loss(run, index);
	/* Linux ends the largest process when memory runs out. */
	if (how->signal == SIGKILL && !how->killed &&
		run_retire(run, slot, "one was killed, as Linux does when memory runs out")) {
		job_queue_return(&run->queue, index);
		return;
	}
	if (job_queue_retry(&run->queue, index))
		return;
	run_module_failed(run, index, reason, how->said);
}

/* Whether it makes sense to start others. `in_compile`: it had a module in its hands. */
static bool is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
						bool in_compile)
{
	char text[256];
	const char *lost = run->no_context[0] ? run->no_context : "lost its CUDA context";
	const char *end = slot->hung    ? "did not come to an end"
					  : slot->spent ? lost
									: child_end_text(text, sizeof text, how);
	unsigned most =
		(run->result->compiled ? MOST_FRUITLESS_LATER : MOST_FRUITLESS) + 2 * run->setup->workers;

	run->unborn +=
		!in_compile && !slot->finishing && !slot->spent && !slot->retired && !slot->yielded;
	if (run->unborn < MOST_UNBORN && run->fruitless < most)
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

	if (insert_backlog_try(&why, &run->later, run->setup->live, run->setup->plan, run_inserted,
						   run) &&
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

/* In whose place the next worker starts: this one's, unless there was no room for it. */
static struct slot *choose_slot(struct run *run, struct slot *slot)
{
	if (!slot->retired)
		return slot;
	for (unsigned i = 0; i < run->setup->workers; i++)
		if (!run->slots[i].child && !run->slots[i].retired)
			return run->alive ? NULL : &run->slots[i];
	/* Somebody has to do what is left. */
	slot->retired = run->alive > 0;
	return slot->retired ? NULL : slot;
}

static void on_end(void *context, struct child *child, const struct child_end *how)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	bool in_compile = slot->job_count > 0;
	char text[256];

	(void)child;
	slot->child = NULL;
	run->alive--;
	/* Who asks us to stop may have asked the workers too. */
	look_for_interrupt(run);
	if (in_compile && !slot->spent)
		run_trace(run, slot, slot->jobs[0].module,
				  run->stopping ? "stopped" : child_end_text(text, sizeof text, how));
	if (!run->stopping) {
		blame(run, slot, how);
		if (is_hopeless(run, slot, how, in_compile))
			run_break_off(run);
	}
	if (!run->stopping && run_needs_worker(run) && (slot = choose_slot(run, slot)) &&
		run_start(run, slot))
		run_break_off(run);
	if (!run->alive)
		last_one_gone(run);
}

int run_start(struct run *run, struct slot *slot)
{
	struct child_setup setup = {
		.command = run->setup->worker,
		.cache_dir = slot->cache_dir,
		.cache_limit_bytes =
			run->setup->live ? UINT64_C(4294967296) : run->setup->system->cache.limit_bytes,
		.low_priority = run->setup->options->low_priority,
		.task = run->setup->task,
	};
	struct child_events events = {
		.context = slot, .hello = run_on_hello, .answer = run_on_answer, .end = on_end};

	slot->greeted = slot->hung = slot->spent = slot->finishing = slot->yielded = false;
	slot->resident_bytes = slot->peak_bytes = slot->devices = 0;
	slot->since_ns = os_monotonic_ns();
	if (child_start(run->err, &run->loop, &setup, &events, &slot->child))
		return -1;
	run->alive++;
	return 0;
}

/* ---- the clock */

static void look_at_time(struct run *run, struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	uint64_t took = os_monotonic_ns() - slot->since_ns;
	uint64_t most = slot->job_count ? limit_ns(run, run_first_cost_ms(run, slot))
					: slot->greeted ? ms_to_ns(setup->end_ms ? setup->end_ms : END_MS)
									: ms_to_ns(setup->start_ms ? setup->start_ms : START_MS);

	bool idle = slot->greeted && !slot->job_count && !slot->finishing;

	if (!slot->child || slot->hung || idle || took <= most)
		return;
	slot->hung = true;
	run_end_workers(run, slot);
}

static uint64_t put_off(uint64_t since, uint64_t gap, uint64_t now)
{
	return now - since > gap ? since + gap : now;
}

/* The time in which we were stopped counts for nobody. */
static void forgive_stop(struct run *run)
{
	uint64_t now = os_monotonic_ns(), gap = now - run->ticked_ns;

	run->ticked_ns = now;
	if (gap < ms_to_ns(STOPPED_MS))
		return;
	for (unsigned i = 0; i < run->setup->workers; i++)
		run->slots[i].since_ns = put_off(run->slots[i].since_ns, gap, now);
	run->last_ns = put_off(run->last_ns, gap, now);
	run->later.progress_ns = put_off(run->later.progress_ns, gap, now);
}

static bool has_waited_enough(const struct run *run)
{
	uint64_t now = os_monotonic_ns();

	return now - run->last_ns > LOCK_LAST_NS && now - run->later.progress_ns > LOCK_LAST_NS;
}

/* What is being compiled is finished, nothing more is begun. */
static void look_at_budget(struct run *run)
{
	uint64_t budget_ms = run->setup->options->budget_ms;

	if (!budget_ms || run->stopping || (os_monotonic_ns() - run->began_ns) / 1000000 < budget_ms)
		return;
	if (job_queue_peek(&run->queue) != QUEUE_EMPTY || job_queue_has_suspects(&run->queue))
		run->result->out_of_time = true;
	job_queue_clear(&run->queue);
}

static void on_tick(uv_timer_t *timer)
{
	struct run *run = timer->data;

	look_at_budget(run);
	forgive_stop(run);
	look_for_interrupt(run);
	for (unsigned i = 0; !run->stopping && i < run->setup->workers; i++)
		look_at_time(run, &run->slots[i]);
	run_look_at_machine(run);
	run_wake(run);
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
		if (!slot->cache_dir || os_make_dirs(run->err, slot->cache_dir, 0700) ||
			run_start(run, slot))
			return -1;
	}
	return 0;
}

static void begin_memory(struct run *run)
{
	uint64_t total, available;

	if (!os_memory(&total, &available))
		available = 0;
	memory_budget_begin(&run->memory, run->setup->workers, run->setup->options->max_memory_bytes,
						available);
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
	(void)prime_result_add_note(NULL, run->result, line);
}

int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result)
{
	struct run run = {.setup = setup, .result = result, .err = err};
	uint64_t began = os_monotonic_ns();

	if (job_queue_open(err, setup->plan, &run.queue))
		return -1;
	if (insert_backlog_open(err, setup->folder, &run.later) || uv_loop_init(&run.loop)) {
		insert_backlog_close(&run.later);
		job_queue_close(&run.queue);
		return error_set(err, JW_ERR_IO, "no event loop can be made");
	}
	run.threads = os_cores();
	run.cores = os_physical_cores();
	prepare_progress(&run);
	begin_memory(&run);
	(void)uv_timer_init(&run.loop, &run.tick);
	run.tick.data = &run;
	(void)uv_timer_start(&run.tick, on_tick, TICK_MS, TICK_MS);
	run.ticked_ns = run.began_ns = began;
	run_catch_stop(&run);
	if (open_slots(&run))
		run_break_off(&run);
	if (!run.alive)
		close_clock(&run);
	(void)uv_run(&run.loop, UV_RUN_DEFAULT);
	run_release_stop(&run);
	(void)uv_loop_close(&run.loop);
	note_later(&run);
	result->undone += run.queue.count - run.done;
	result->seconds += (double)(os_monotonic_ns() - began) / 1e9;
	for (unsigned i = 0; run.slots && i < setup->workers; i++)
		mem_free(run.slots[i].cache_dir);
	mem_free(run.slots);
	insert_backlog_close(&run.later);
	job_queue_close(&run.queue);
	return run.broken ? -1 : 0;
}
