#include "prime/run.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"
#include "prime/child.h"
#include "prime/collect.h"
#include "prime/queue.h"
#include "prime/result.h"

enum {
	/* A second job waits in the worker's pipe, so that a short one costs no round trip. */
	DEPTH = 2,
	/* Only where the job in hand is shorter than this is there a need to hurry with the next. */
	SHORT_MS = 250,
	TICK_MS = 100,
	/* Workers that end before their first answer, one after the other: something is wrong that no
	   retry mends. */
	MOST_BARREN = 3,
};

/* A compile that takes longer than this hangs: forty times the prediction, and never less than ten
 * minutes. */
static uint64_t limit_ns(double cost_ms)
{
	double limit_ms = cost_ms * 40;

	return (uint64_t)((limit_ms < 600e3 ? 600e3 : limit_ms) * 1e6);
}

struct slot {
	struct run *run;
	struct child *child; /* NULL: none is running */
	char *cache_dir;
	size_t jobs[DEPTH]; /* modules sent and not yet answered, oldest first */
	size_t job_count;
	uint64_t began_ns; /* of the oldest */
	bool greeted, useful, hung;
	bool spent; /* it reported a lost context and ends by itself */
};

struct run {
	const struct run_setup *setup;
	struct jw_prime_result *result;
	struct jw_error *err; /* the caller's; `broken` says that it is filled in */
	bool broken, stopping;
	uv_loop_t loop;
	uv_timer_t tick;
	struct queue queue;
	struct slot *slots;
	unsigned alive;  /* slots with a child */
	unsigned barren; /* children in a row that ended without having answered anything */
	size_t done;
	uint64_t done_bytes;
	double done_weight;
	struct jw_prime_progress progress;
};

/* ---- what the caller sees */

static void report(struct run *run, const struct plan_module *current)
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

/* ---- the end of things */

static void stop(struct run *run)
{
	run->stopping = true;
	for (unsigned i = 0; i < run->setup->workers; i++)
		if (run->slots[i].child)
			child_kill(run->slots[i].child);
}

/* A failure that ends the whole run. The first one counts. */
static void break_off(struct run *run)
{
	run->broken = true;
	stop(run);
}

static void module_done(struct run *run, size_t index)
{
	const struct plan_module *module = &run->setup->plan->modules[index];

	run->done++;
	run->done_bytes += module->payload_bytes;
	run->done_weight += module->cost_ms;
	report(run, module);
}

static void module_failed(struct run *run, size_t index, const char *reason, const char *log)
{
	const struct plan *plan = run->setup->plan;

	if (result_add_failure(run->err, run->result, plan, &plan->modules[index], reason, log))
		break_off(run);
	module_done(run, index);
}

/* ---- work for a slot */

static int device_for(const struct run *run, const struct slot *slot,
					  const struct plan_module *module)
{
	const struct jw_system *system = run->setup->system;
	struct jw_target wanted = run->setup->plan->targets[module->target].device;
	size_t fitting = 0, turn;

	for (size_t i = 0; i < system->gpu_count; i++)
		fitting += jw_target_equal(system->gpus[i].target, wanted);
	/* GPUs of the same architecture share the workers: each holds a context of its own. */
	turn = fitting ? (size_t)(slot - run->slots) % fitting : 0;
	for (size_t i = 0; i < system->gpu_count; i++)
		if (jw_target_equal(system->gpus[i].target, wanted) && !turn--)
			return system->gpus[i].ordinal;
	return 0;
}

static int send_job(struct run *run, struct slot *slot, size_t index)
{
	static struct protocol_job job;
	const struct plan_module *module = &run->setup->plan->modules[index];
	const struct spool_place *place = &run->setup->spool->places[index];

	if (!place->path || strlen(place->path) >= sizeof job.path) {
		module_failed(run, index, place->path ? "its path is too long" : "its bytes cannot be read",
					  "");
		return 0;
	}
	job = (struct protocol_job){
		.id = index,
		.device = device_for(run, slot, module),
		.form = module->form,
		.offset = place->offset,
		.size_bytes = place->size_bytes,
	};
	memcpy(job.path, place->path, strlen(place->path) + 1);
	if (child_send(run->err, slot->child, &job))
		return -1;
	if (!slot->job_count)
		slot->began_ns = os_monotonic_ns();
	slot->jobs[slot->job_count++] = index;
	report(run, module);
	return 0;
}

static void feed(struct run *run, struct slot *slot)
{
	while (!run->stopping && slot->job_count < DEPTH) {
		size_t index = queue_peek(&run->queue);

		if (index == QUEUE_EMPTY ||
			(slot->job_count && run->setup->plan->modules[slot->jobs[0]].cost_ms > SHORT_MS))
			break;
		(void)queue_take(&run->queue);
		if (send_job(run, slot, index)) {
			break_off(run);
			return;
		}
	}
	if (!slot->job_count && slot->child)
		child_finish(slot->child);
}

static int start(struct run *run, struct slot *slot);

/* ---- what comes back */

static void on_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct slot *slot = context;

	(void)child;
	if (hello->result) {
		error_set(slot->run->err, JW_ERR_DRIVER, "the driver does not start: %s", hello->error);
		break_off(slot->run);
		return;
	}
	slot->greeted = true;
	feed(slot->run, slot);
}

static void compiled(struct run *run, struct slot *slot, size_t index)
{
	const struct plan_module *module = &run->setup->plan->modules[index];
	enum collected what = COLLECTED;
	uint64_t bytes = 0;
	struct jw_error why;

	if (run->setup->live && collect_module(&why, run->setup->live, slot->cache_dir,
										   run->setup->plan, module, &what, &bytes)) {
		if (why.code == JW_ERR_FORMAT) {
			module_failed(run, index, why.message, "");
			return;
		}
		if (run->err)
			*run->err = why;
		break_off(run);
		return;
	}
	if (what == COLLECTED_FOREIGN) {
		run->result->opaque = true;
		stop(run);
		return;
	}
	run->result->compiled += what == COLLECTED;
	run->result->unchanged += what == COLLECTED_NOTHING;
	run->result->added_bytes += bytes;
	module_done(run, index);
}

static void refused(struct run *run, size_t index, const struct protocol_answer *answer)
{
	char reason[256];

	if (answer->sticky && queue_retry(&run->queue, index))
		return;
	(void)snprintf(reason, sizeof reason, "%s",
				   answer->error[0] ? answer->error : "the driver refused it");
	module_failed(run, index, reason, answer->log);
}

static void on_answer(void *context, struct child *child, const struct protocol_answer *answer)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	size_t index = slot->jobs[0];

	(void)child;
	if (run->stopping)
		return;
	if (!slot->job_count || answer->id != index) {
		error_set(run->err, JW_ERR_FORMAT, "a worker answered what it was not asked");
		break_off(run);
		return;
	}
	slot->useful = true;
	slot->spent = answer->sticky;
	run->barren = 0;
	slot->job_count--;
	memmove(slot->jobs, slot->jobs + 1, slot->job_count * sizeof *slot->jobs);
	slot->began_ns = os_monotonic_ns();
	if (answer->peak_bytes > run->result->peak_worker_bytes)
		run->result->peak_worker_bytes = answer->peak_bytes;
	run->result->compile_seconds += answer->wall_ms / 1000;
	if (answer->wall_ms / 1000 > run->result->longest_seconds)
		run->result->longest_seconds = answer->wall_ms / 1000;
	if (answer->result == 0)
		compiled(run, slot, index);
	else
		refused(run, index, answer);
	if (!run->stopping && !answer->sticky)
		feed(run, slot);
}

/* The worker is gone with jobs in its hands: the oldest is to blame, the others were not begun. */
static void blame(struct run *run, struct slot *slot, const struct child_end *how)
{
	char text[256], reason[512];

	while (slot->job_count > (slot->spent ? 0 : 1))
		queue_return(&run->queue, slot->jobs[--slot->job_count]);
	if (!slot->job_count)
		return;
	slot->job_count = 0;
	if (queue_retry(&run->queue, slot->jobs[0]))
		return;
	(void)snprintf(reason, sizeof reason, "the driver's compiler %s, twice",
				   slot->hung ? "did not come to an end" : child_end_text(text, sizeof text, how));
	module_failed(run, slot->jobs[0], reason, how->said);
}

static void on_end(void *context, struct child *child, const struct child_end *how)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	char text[256];

	(void)child;
	slot->child = NULL;
	run->alive--;
	if (!run->stopping) {
		blame(run, slot, how);
		if (!slot->useful && ++run->barren >= MOST_BARREN && !slot->greeted) {
			error_set(run->err, JW_ERR_DRIVER, "workers do not stay alive: the last %s%s%s",
					  child_end_text(text, sizeof text, how), how->said[0] ? ", saying: " : "",
					  how->said);
			break_off(run);
		}
	}
	if (!run->stopping && queue_peek(&run->queue) != QUEUE_EMPTY && start(run, slot))
		break_off(run);
	if (!run->alive && !uv_is_closing((uv_handle_t *)&run->tick))
		uv_close((uv_handle_t *)&run->tick, NULL);
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
		.context = slot, .hello = on_hello, .answer = on_answer, .end = on_end};

	slot->greeted = slot->useful = slot->hung = slot->spent = false;
	if (child_start(run->err, &run->loop, &setup, &events, &slot->child))
		return -1;
	run->alive++;
	return 0;
}

/* ---- the clock */

static void on_tick(uv_timer_t *timer)
{
	struct run *run = timer->data;
	const struct jw_prime_options *options = run->setup->options;
	uint64_t now = os_monotonic_ns();

	if (!run->stopping && options->stop && options->stop(options->context)) {
		run->result->interrupted = true;
		stop(run);
	}
	for (unsigned i = 0; !run->stopping && i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		if (slot->child && slot->job_count && !slot->hung &&
			now - slot->began_ns > limit_ns(run->setup->plan->modules[slot->jobs[0]].cost_ms)) {
			slot->hung = true;
			child_kill(slot->child);
		}
	}
	report(run, NULL);
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

int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result)
{
	struct run run = {.setup = setup, .result = result, .err = err};
	uint64_t began = os_monotonic_ns();

	if (queue_open(err, setup->plan, &run.queue))
		return -1;
	if (uv_loop_init(&run.loop)) {
		queue_close(&run.queue);
		return error_set(err, JW_ERR_IO, "no event loop can be made");
	}
	prepare_progress(&run);
	(void)uv_timer_init(&run.loop, &run.tick);
	run.tick.data = &run;
	(void)uv_timer_start(&run.tick, on_tick, TICK_MS, TICK_MS);
	if (open_slots(&run))
		break_off(&run);
	if (!run.alive)
		uv_close((uv_handle_t *)&run.tick, NULL);
	(void)uv_run(&run.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&run.loop);
	result->undone += run.queue.count - run.done;
	result->seconds += (double)(os_monotonic_ns() - began) / 1e9;
	for (unsigned i = 0; run.slots && i < setup->workers; i++)
		mem_free(run.slots[i].cache_dir);
	mem_free(run.slots);
	queue_close(&run.queue);
	return run.broken ? -1 : 0;
}
