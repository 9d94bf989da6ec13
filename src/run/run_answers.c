/* Handles the answers of workers. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "machine/known_gpus.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "plan/estimate.h"
#include "run/run_state.h"
#include "worker/collect.h"

enum { OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* Chooses which other worker ends: one without work. */
static void make_room_for_exclusive(struct run *run, const struct slot *first)
{
	const struct plan *plan = run->setup->plan;
	unsigned most = device_pool_most_workers(&run->pool, plan->targets, plan->target_count);
	unsigned kept = 1;
	char line[256];

	if (most >= run->setup->workers)
		return;
	(void)text_format(line, sizeof line,
					  "the GPU is in exclusive-process mode, which gives a context to one process "
					  "only: going on with %s",
					  TEXT_COUNT(most, "worker", "workers"));
	run_message(run, line);
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		if (slot == first || kept++ < most)
			continue;
		slot->retired = true;
	}
	run->forecast->workers = most;
}

/* All workers have the same environment, so the first one's devices count for all. */
static int take_devices(struct run *run, const struct slot *slot,
						const struct protocol_hello *hello)
{
	const struct plan *plan = run->setup->plan;
	char name[JW_TARGET_TEXT];
	bool usable = false;

	device_pool_fill(&run->pool, hello);
	for (size_t i = 0; i < plan->target_count; i++) {
		usable =
			usable || device_pool_choose(&run->pool, plan->targets[i].device, 0) != DEVICE_NONE;
		if (device_pool_has(&run->pool, plan->targets[i].device))
			continue;
		known_gpus_forget(run->setup->system->state_dir);
		return error_set(run->err, JW_ERR_DRIVER,
						 "the driver shows no %s GPU any more: run the same command again",
						 jw_target_sm(name, plan->targets[i].device));
	}
	if (usable)
		make_room_for_exclusive(run, slot);
	return usable ? 0
				  : error_set(run->err, JW_ERR_DRIVER, "no GPU gives a context: %s", run->pool.why);
}

bool run_take_hello(struct run *run, struct slot *slot, const struct protocol_hello *hello)
{
	slot->greeted = true;
	run->start_ms = (double)(os_monotonic_ns() - slot->since_ns) / 1e6;
	if (hello->result && !run_retire(run, slot, hello->error)) {
		error_set(run->err, JW_ERR_DRIVER, "the driver does not start: %s", hello->error);
		run_break_off(run);
	} else if (!hello->result && !run->pool.count && take_devices(run, slot, hello)) {
		run_break_off(run);
	}
	return !hello->result && !run->stopping;
}

static void failed_to_collect(struct run *run, size_t index, const struct jw_error *why)
{
	struct jw_error full = {0};

	if (why->code != JW_ERR_FORMAT)
		run_break_off_with(run, why);
	else if (collect_disk_is_full(&full, run->setup->folder, 0))
		run_break_off_with(run, &full);
	/* A torn entry, for example from a full disk: tried once more, alone. */
	else if (!job_queue_retry(&run->queue, index))
		run_module_failed(run, index, why->message, "");
}

void run_inserted(void *context, size_t index, int64_t grown_bytes, const struct jw_error *why)
{
	struct run *run = context;
	struct remote_module *known = run->remote.modules ? &run->remote.modules[index] : NULL;

	if (why) {
		run_module_failed(run, index, why->message, "");
		return;
	}
	if (!known || known->state != REMOTE_FETCHED)
		run->result->compiled++;
	if (known && known->state != REMOTE_FETCHED && !run->remote.gone) {
		known->state = REMOTE_TO_PUT;
		run->remote.to_put++;
	}
	run->grown_bytes += grown_bytes;
	run->result->added_bytes = run->grown_bytes > 0 ? (uint64_t)run->grown_bytes : 0;
	if (run->setup->inserted)
		run->setup->inserted[index] = true;
	run_module_done(run, index);
}

/* Inserts the entry into the cache, now or later. If other entries of this run were as predicted,
 * the form is known: then a foreign entry only means that the driver chose another image of this
 * container than predicted, and the application will need it. */
static void take_collected(struct run *run, size_t index, const struct collected *entry)
{
	const struct plan *plan = run->setup->plan;
	const bool foreign = entry->what == COLLECTED_FOREIGN;
	struct jw_error why = {0}, worse = {0};
	int64_t grown_bytes = 0;

	if (!collect_insert(&why, run->setup->live, entry, plan, &plan->modules[index], &grown_bytes)) {
		run->result->misjudged += foreign;
		run_inserted(run, index, grown_bytes, NULL);
		return;
	}
	if (why.code != JW_ERR_BUSY)
		failed_to_collect(run, index, &why);
	else if (foreign)
		run_module_failed(run, index, why.message, "");
	else if (insert_backlog_add(&worse, &run->later, plan, index, entry->path, &why))
		run_break_off_with(run, &worse);
	(void)os_remove(NULL, entry->path);
}

static void compiled(struct run *run, struct slot *slot, size_t index)
{
	const struct plan *plan = run->setup->plan;
	struct collected entry = {.what = COLLECTED_NOTHING};
	struct jw_error why = {0};

	if (!run->setup->live) {
		run->result->compiled++;
		run_module_done(run, index);
	} else if (collect_find(&why, slot->cache_dir, plan, &plan->modules[index], run->setup->workers,
							&entry)) {
		run_break_off_with(run, &why);
	} else if (entry.what == COLLECTED_FOREIGN && !run->result->compiled) {
		run->result->opaque = true;
		run_stop(run);
	} else if (entry.what == COLLECTED_NOTHING) {
		run->result->unchanged++;
		run_module_done(run, index);
	} else {
		take_collected(run, index, &entry);
	}
	mem_free(entry.path);
}

static void job_refused(struct run *run, struct slot *slot, struct run_job job,
						const struct protocol_answer *answer)
{
	const size_t index = job.module;
	bool crowded = answer->result == OUT_OF_MEMORY;

	/* Other processes may have taken the memory, even if they have ended since, so the module is
	 * tried once more. */
	if ((answer->sticky || crowded) && job_queue_retry(&run->queue, index)) {
		if (crowded)
			(void)run_retire(run, slot, answer->error);
		return;
	}
	if (run->setup->refused && !run->setup->task && refusal_name((unsigned)answer->result)) {
		run->setup->refused[index] = (unsigned)answer->result;
		run->result->refused++;
	}
	run_module_failed(run, index, answer->error[0] ? answer->error : "the driver refused it",
					  answer->log);
}

/* Threads that share a core are slower; learns the time of one thread alone. */
static void learn(const struct run *run, const struct slot *slot, const struct run_job *job,
				  const struct protocol_answer *answer)
{
	/* Workers with jobs, and this one, which has just finished its own. */
	unsigned busy = run_busy_workers(run) + !slot->job_count;
	double alone;

	busy = busy < run->threads ? busy : run->threads;
	alone = plan_capacity(busy, run->threads, run->cores) / busy;
	speed_take(run->setup->learnt, &run->setup->plan->modules[job->module], answer->cpu_ms * alone,
			   answer->wall_ms * alone);
}

static void take_result(struct run *run, struct slot *slot, struct run_job job,
						const struct protocol_answer *answer)
{
	double seconds = answer->wall_ms / 1000;

	slot->spent = answer->sticky || answer->no_context;
	if (answer->no_context) {
		run_without_context(run, slot, job, answer->error);
		return;
	}
	run->no_context[0] = '\0';
	/* A worker that can only report the loss of its context counts as dead. */
	if (!answer->sticky)
		run->fruitless = run->unborn = 0;
	else
		run_count_loss(run, job.module);
	run->pool.works[job.device] = true;
	if (answer->peak_bytes > run->result->peak_worker_bytes)
		run->result->peak_worker_bytes = answer->peak_bytes;
	if (answer->peak_bytes > slot->peak_bytes) {
		slot->peak_bytes = answer->peak_bytes;
		memory_budget_measured(&run->memory, run_job_bytes(run, &job), answer->peak_bytes);
	}
	/* A worker that uses the live cache itself may have found the module there. */
	if (!answer->result && run->setup->learnt && run->setup->live)
		learn(run, slot, &job, answer);
	pace_take(&run->pace, 1, run->setup->plan->modules[job.module].cost_ms,
			  answer->cpu_ms > 0 ? answer->cpu_ms : answer->wall_ms);
	run->result->compile_cpu_seconds += answer->cpu_ms / 1000;
	run->result->compile_seconds += seconds;
	if (seconds > run->result->longest_seconds)
		run->result->longest_seconds = seconds;
	if (answer->result == 0)
		compiled(run, slot, job.module);
	else
		job_refused(run, slot, job, answer);
}

bool run_take_answer(struct run *run, struct slot *slot, const struct protocol_answer *answer)
{
	struct run_job job = slot->jobs[0];

	if (!slot->job_count || answer->id != job.module)
		return false;
	slot->job_count--;
	memmove(slot->jobs, slot->jobs + 1, slot->job_count * sizeof *slot->jobs);
	slot->since_ns = os_monotonic_ns();
	take_result(run, slot, job, answer);
	return true;
}

/* Handles workers that are lost, and workers for which there is no room. */

enum {
	/* Give up after so many workers in a row that ended outside a compile (before their hello, or
	 * without a job): a retry does not help. */
	MOST_UNBORN = 3,
	/* Give up after N first tries in a row that ended their workers: N = 2 × workers + this, before
	 * anything was compiled and after. */
	MOST_FRUITLESS = 6,
	MOST_FRUITLESS_LATER = 50,
};

/* A compile that takes longer than this hangs: forty times the prediction, ten minutes at least */
uint64_t run_limit_ns(const struct run *run, double cost_ms)
{
	double limit_ms = cost_ms * 40;

	if (run->setup->options->compile.module_timeout_ms)
		return run->setup->options->compile.module_timeout_ms * UINT64_C(1000000);
	return (uint64_t)((limit_ms < 600e3 ? 600e3 : limit_ms) * 1e6);
}

static unsigned others_of(const struct run *run, const struct slot *slot)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->setup->workers; i++)
		count += &run->slots[i] != slot && run->slots[i].child && run->slots[i].greeted &&
				 !run->slots[i].retired;
	return count;
}

bool run_retire(struct run *run, struct slot *slot, const char *why)
{
	unsigned others = others_of(run, slot);
	char line[512];

	if (!others)
		return false;
	slot->retired = true;
	(void)text_format(line, sizeof line,
					  "there is no room for so many workers (%.300s): going on with %u", why,
					  others);
	run_message(run, line);
	return true;
}

static bool is_device_in_use(const struct run *run, const struct slot *slot, size_t device)
{
	for (unsigned i = 0; i < run->setup->workers; i++)
		for (size_t k = 0; &run->slots[i] != slot && k < run->slots[i].job_count; k++)
			if (run->slots[i].jobs[k].device == device)
				return true;
	return false;
}

void run_without_context(struct run *run, struct slot *slot, struct run_job job, const char *why)
{
	struct jw_error error = {0};

	job_queue_return(&run->queue, job.module);
	if (run->pool.works[job.device] || is_device_in_use(run, slot, job.device)) {
		/* Replaces the only worker: the process that had the context may have ended meanwhile. */
		if (!run_retire(run, slot, why)) {
			run->fruitless++;
			(void)text_format(run->no_context, sizeof run->no_context,
							  "got no CUDA context (%.200s)", why);
		}
		return;
	}
	if (!device_pool_bar(&error, &run->pool, job.device, why))
		run_break_off_with(run, &error);
}

void run_count_loss(struct run *run, size_t index)
{
	/* Suspects are tried alone at the end of a good run and may all end their workers. */
	run->fruitless += !run->result->compiled || !job_queue_is_suspect(&run->queue, index);
}

/* How a worker ended, for people. */
static const char *end_text(char *text, size_t size, const struct run *run, const struct slot *slot,
							const struct child_end *how)
{
	char limit[TEXT_SHORT];

	if (!slot->hung || !slot->job_count)
		return slot->hung ? "did not end" : child_end_text(text, size, how);
	(void)text_format(
		text, size, "did not end within %s",
		text_duration(limit, (double)run_limit_ns(run, run_first_cost_ms(run, slot)) / 1e9));
	return text;
}

/* The oldest of its jobs is to blame; the others were not begun. */
void run_blame(struct run *run, struct slot *slot, const struct child_end *how)
{
	char text[256], reason[512];
	size_t index = slot->jobs[0].module;

	while (slot->job_count > (slot->spent || slot->yielded ? 0 : 1))
		job_queue_return(&run->queue, slot->jobs[--slot->job_count].module);
	if (!slot->job_count)
		return;
	(void)text_format(reason, sizeof reason, "the driver's compiler %s, twice",
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

/* Whether starting other workers is pointless. `in_compile`: it was compiling a module. */
bool run_is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
					 bool in_compile)
{
	char text[256];
	const char *lost = run->no_context[0] ? run->no_context : "lost its CUDA context";
	const char *end = slot->hung    ? "did not end"
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

/* Ctrl-Z and continuing. The keyboard stops the workers too; a signal to only the supervisor would
 * not. The supervisor must not be stopped while it holds the lock of the cache's index, since
 * programs wait for it. On the loop's thread it holds no lock. */

static void pause_workers(struct run *run, bool paused)
{
	for (unsigned i = 0; run->slots && i < run->setup->workers; i++)
		if (run->slots[i].child)
			child_pause(run->slots[i].child, paused);
}

static void on_stop(uv_signal_t *handle, int number)
{
	struct run *run = handle->data;

	(void)number;
	pause_workers(run, true);
	os_stop_self();
	pause_workers(run, false);
}

void run_catch_stop(struct run *run)
{
	int number = os_stop_signal();

	(void)uv_signal_init(&run->loop, &run->stop_signal);
	run->stop_signal.data = run;
	if (number)
		(void)uv_signal_start(&run->stop_signal, on_stop, number);
	/* This handle does not keep the loop running. */
	uv_unref((uv_handle_t *)&run->stop_signal);
}

void run_release_stop(struct run *run)
{
	uv_close((uv_handle_t *)&run->stop_signal, NULL);
	(void)uv_run(&run->loop, UV_RUN_DEFAULT);
}
