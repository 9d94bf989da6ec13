#include "run/run.h"

#include <uv.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/uv.h"
#include "run/run_report.h"
#include "run/run_state.h"

enum {
	TICK_MS = 100,
	/* If the clock is this late, this process was suspended, or the machine slept. */
	STOPPED_MS = 2000,
	HOLD_TRIES_MS = 200,
	LATE_WRITE_MS = 20,
};

/* The time that a driver may take to start and end. It may wait in the kernel for a faulty GPU. */
enum { START_MS = 120000, END_MS = 30000 };
/* The interval for trying a lock that another process holds, and the time limit when nothing else
 * is left to do. */
static const uint64_t LOCK_EVERY_NS = 1000000000, LOCK_LAST_NS = 5000000000;

static uint64_t ms_to_ns(uint64_t milliseconds)
{
	return milliseconds * UINT64_C(1000000);
}

/* A worker whose driver writes the live cache itself must not be killed while it writes: it would
 * leave an index that the next driver answers with a wipe. While we hold the lock it does not begin
 * to write, and a write after its unlock takes milliseconds. NULL if there is nothing to hold. */
static struct os_file *hold_live_cache(const struct run *run)
{
	char *path = run->setup->live ? NULL : os_join(run->setup->system->cache.path, "index");
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

static void end_workers(struct run *run, const struct slot *only)
{
	struct os_file *held = run->alive ? hold_live_cache(run) : NULL;

	for (unsigned i = 0; run->slots && i < run->setup->workers; i++)
		if (run->slots[i].child && (!only || only == &run->slots[i]))
			child_kill(run->slots[i].child);
	if (held)
		uv_sleep(LATE_WRITE_MS);
	os_file_close(held);
}

static void look_for_interrupt(struct run *run)
{
	if (run->stopping || !cancel_asked(&run->setup->options->cancel))
		return;
	run->result->interrupted = true;
	run_stop(run);
}

static void close_clock(struct run *run)
{
	run_remote_end(run);
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

/* No worker is left: only entries that wait for the cache's lock remain. */
static void last_one_gone(struct run *run)
{
	run->last_ns = os_monotonic_ns();
	if (run->later.count && !run->broken && !run->result->opaque)
		try_later(run);
	if ((!run->later.count || run->stopping) && !run_remote_is_needed(run))
		close_clock(run);
}

/* The slot for the next worker: this one's, unless there was no room for its worker. */
static struct slot *choose_slot(struct run *run, struct slot *slot)
{
	if (!slot->retired)
		return slot;
	for (unsigned i = 0; i < run->setup->workers; i++)
		if (!run->slots[i].child && !run->slots[i].retired)
			return run->alive ? NULL : &run->slots[i];
	/* Starts a worker for the remaining modules. */
	slot->retired = run->alive > 0;
	return slot->retired ? NULL : slot;
}

static int start_worker(struct run *run, struct slot *slot);

/* Workers end only here, whichever code decided to end the run. */
static void end_event(struct run *run)
{
	if (run->stopping && !run->ended) {
		end_workers(run, NULL);
		run_remote_end(run);
	}
	run->ended = run->stopping;
	run_report(run);
}

static int send_job(struct run *run, struct slot *slot, const struct run_job *job)
{
	struct protocol_job protocol = {0};

	run_describe_job(run, slot, job, &protocol);
	if (child_send(run->err, slot->child, &protocol))
		return -1;
	if (!slot->job_count)
		slot->since_ns = os_monotonic_ns();
	slot->devices |= UINT64_C(1) << job->device;
	slot->jobs[slot->job_count++] = *job;
	run->progress.current =
		run->setup->plan->files[run->setup->plan->modules[job->module].file].path;
	return 0;
}

/* Compiles in progress are finished, and none begins that would not end in time. */
static void look_at_budget(struct run *run)
{
	const double left_ms = (double)run->setup->options->plan.budget_ms -
						   (double)(os_monotonic_ns() - run->began_ns) / 1e6;
	size_t index;

	if (!run->setup->options->plan.budget_ms || run->stopping)
		return;
	/* What comes from a place takes less time than compiling. */
	while (!run->remote.modules && (index = job_queue_peek(&run->queue)) != QUEUE_EMPTY &&
		   pace_ms(&run->pace, 1, run->setup->plan->modules[index].cost_ms) > left_ms) {
		(void)job_queue_take(&run->queue);
		run->result->out_of_time = true;
	}
	if (left_ms > 0)
		return;
	if (job_queue_peek(&run->queue) != QUEUE_EMPTY || job_queue_has_suspects(&run->queue))
		run->result->out_of_time = true;
	job_queue_clear(&run->queue);
}

/* Gives a worker jobs until it has enough or has to end. */
static void feed_worker(struct run *run, struct slot *slot)
{
	struct run_order order = {.what = ORDER_MET};

	look_at_budget(run);
	while (!run->stopping && order.what != ORDER_NOTHING && order.what != ORDER_FINISH) {
		order = run_next_order(run, slot);
		if (order.what == ORDER_FINISH && slot->child) {
			slot->since_ns = os_monotonic_ns();
			slot->finishing = true;
			child_finish(slot->child);
		}
		if (order.what == ORDER_COMPILE && send_job(run, slot, &order.job))
			run_break_off(run);
		if (order.what == ORDER_CANNOT)
			run_module_failed(run, order.job.module, order.why, "");
		if (order.what != ORDER_MET)
			continue;
		run->result->met++;
		run_module_done(run, order.job.module);
	}
}

/* Gives work to workers that were held back, and starts new ones if there is room again. */
static void wake_workers(struct run *run)
{
	run->held_back = false;
	for (unsigned i = 0; !run->stopping && i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		if (slot->retired)
			continue;
		if (!slot->child && run_needs_worker(run) && start_worker(run, slot))
			run_break_off(run);
		else if (slot->child && slot->greeted && !slot->job_count && !slot->finishing &&
				 !slot->spent && !slot->hung)
			feed_worker(run, slot);
	}
}

static void on_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct slot *slot = context;
	struct run *run = slot->run;

	(void)child;
	if (run_take_hello(run, slot, hello))
		feed_worker(run, slot);
	end_event(run);
}

static void on_answer(void *context, struct child *child, const struct protocol_answer *answer)
{
	struct slot *slot = context;
	struct run *run = slot->run;

	if (run->stopping)
		return;
	if (!run_take_answer(run, slot, answer)) {
		child_distrust(child, "an answer to a job that was not sent");
		return;
	}
	if (!run->stopping && !slot->spent)
		feed_worker(run, slot);
	if (run->held_back)
		wake_workers(run);
	end_event(run);
}

static void on_end(void *context, struct child *child, const struct child_end *how)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	bool in_compile = slot->job_count > 0;

	(void)child;
	slot->child = NULL;
	run->alive--;
	/* The same signal may have reached the workers too. */
	look_for_interrupt(run);
	if (!run->stopping) {
		run_blame(run, slot, how);
		if (run_is_hopeless(run, slot, how, in_compile))
			run_break_off(run);
	}
	if (!run->stopping && run_needs_worker(run) && (slot = choose_slot(run, slot)) &&
		start_worker(run, slot))
		run_break_off(run);
	if (!run->alive)
		last_one_gone(run);
	end_event(run);
}

static int start_worker(struct run *run, struct slot *slot)
{
	struct child_setup setup = {
		.command = run->setup->worker,
		.cache_dir = slot->cache_dir,
		.cache_limit_bytes =
			run->setup->live ? UINT64_C(4294967296) : run->setup->system->cache.limit_bytes,
		.low_priority = run->setup->options->compile.low_priority,
		.task = run->setup->task,
	};
	struct child_events events = {
		.context = slot, .hello = on_hello, .answer = on_answer, .end = on_end};

	slot->greeted = slot->hung = slot->spent = slot->finishing = slot->yielded = false;
	slot->resident_bytes = slot->peak_bytes = slot->devices = 0;
	slot->cpu_ms = 0;
	slot->since_ns = os_monotonic_ns();
	if (child_start(run->err, &run->loop, &setup, &events, &slot->child))
		return -1;
	run->alive++;
	return 0;
}

static void look_at_time(struct run *run, struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	uint64_t took = os_monotonic_ns() - slot->since_ns;
	uint64_t most = slot->job_count ? run_limit_ns(run, run_first_cost_ms(run, slot))
					: slot->greeted ? ms_to_ns(setup->end_ms ? setup->end_ms : END_MS)
									: ms_to_ns(setup->start_ms ? setup->start_ms : START_MS);

	bool idle = slot->greeted && !slot->job_count && !slot->finishing;

	if (!slot->child || slot->hung || idle || took <= most)
		return;
	slot->hung = true;
	end_workers(run, slot);
}

static uint64_t put_off(uint64_t since, uint64_t gap, uint64_t now)
{
	return now - since > gap ? since + gap : now;
}

/* Time while suspended does not count. */
static void forgive_stop(struct run *run)
{
	uint64_t now = os_monotonic_ns(), gap = now - run->ticked_ns;

	run->ticked_ns = now;
	if (gap < ms_to_ns(STOPPED_MS))
		return;
	for (unsigned i = 0; i < run->setup->workers; i++) {
		run->slots[i].since_ns = put_off(run->slots[i].since_ns, gap, now);
		run->slots[i].cpu_ms = 0;
	}
	run->last_ns = put_off(run->last_ns, gap, now);
	run->later.progress_ns = put_off(run->later.progress_ns, gap, now);
}

static bool has_waited_enough(const struct run *run)
{
	uint64_t now = os_monotonic_ns();

	return now - run->last_ns > LOCK_LAST_NS && now - run->later.progress_ns > LOCK_LAST_NS;
}

static void on_tick(uv_timer_t *timer)
{
	struct run *run = timer->data;
	struct slot *victim;

	look_at_budget(run);
	forgive_stop(run);
	look_for_interrupt(run);
	for (unsigned i = 0; !run->stopping && i < run->setup->workers; i++)
		look_at_time(run, &run->slots[i]);
	victim = run_look_at_machine(run);
	if (victim) {
		victim->yielded = true;
		end_workers(run, victim);
	}
	run_remote_step(run);
	wake_workers(run);
	if (run->later.count && !run->stopping &&
		os_monotonic_ns() - run->later.tried_ns > LOCK_EVERY_NS)
		try_later(run);
	if (!run->alive && !run_remote_is_needed(run) &&
		(!run->later.count || run->stopping || has_waited_enough(run)))
		close_clock(run);
	end_event(run);
}

static int open_slots(struct run *run)
{
	const struct run_setup *setup = run->setup;

	run->slots = mem_array(setup->workers, sizeof *run->slots);
	run->free_ms = mem_array(setup->workers, sizeof *run->free_ms);
	if (!run->free_ms)
		return -1;
	for (unsigned i = 0; i < setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		slot->run = run;
		slot->cache_dir = setup->live ? mem_printf("%s/worker-%u", setup->folder, i)
									  : mem_string(setup->system->cache.path);
		if (!slot->cache_dir || os_make_dirs(run->err, slot->cache_dir, 0700))
			return -1;
	}
	if (run_remote_open(run, wake_workers))
		return -1;
	/* Where everything may come from elsewhere, none may be needed. */
	for (unsigned i = 0; run_remote_ready(run) == SIZE_MAX && i < setup->workers; i++)
		if (start_worker(run, &run->slots[i]))
			return -1;
	return 0;
}

static void begin_memory(struct run *run)
{
	uint64_t total, available;

	if (!os_memory(&total, &available))
		available = 0;
	memory_budget_begin(&run->memory, run->setup->workers,
						run->setup->options->compile.max_memory_bytes, available);
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

static void note_later(const struct run *run, struct jw_prime_result *result)
{
	if (run->later.count && !run->broken)
		prime_result_add_note(
			result, "%s could not be put into the cache; the same command compiles again: %s",
			TEXT_COUNT(run->later.count, "compiled module", "compiled modules"),
			run->later.why.message);
}

int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result)
{
	struct run run = {
		.setup = setup, .result = &result->compile, .forecast = &result->plan.forecast, .err = err};
	uint64_t began = os_monotonic_ns();

	if (job_queue_open(setup->plan, &run.queue))
		return -1;
	if (insert_backlog_open(setup->folder, &run.later) || os_loop_open(err, &run.loop)) {
		insert_backlog_close(&run.later);
		job_queue_close(&run.queue);
		return -1;
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
	if (open_slots(&run)) {
		run_break_off(&run);
		end_event(&run);
	}
	if (!run.alive && !run_remote_is_needed(&run))
		close_clock(&run);
	(void)uv_run(&run.loop, UV_RUN_DEFAULT);
	run_release_stop(&run);
	(void)uv_loop_close(&run.loop);
	note_later(&run, result);
	run.result->undone = run.queue.count - run.done;
	run.result->seconds += (double)(os_monotonic_ns() - began) / 1e9;
	for (unsigned i = 0; run.slots && i < setup->workers; i++)
		mem_free(run.slots[i].cache_dir);
	run_remote_free(&run);
	mem_free(run.slots);
	mem_free(run.free_ms);
	insert_backlog_close(&run.later);
	job_queue_close(&run.queue);
	return run.broken ? -1 : 0;
}
