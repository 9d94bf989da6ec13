/* What comes back from workers. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"
#include "prime/collect.h"
#include "prime/remember.h"
#include "prime/run_state.h"

enum { OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* All workers have the same environment, so the first one speaks for all. */
static int take_devices(struct run *run, const struct protocol_hello *hello)
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
		remember_forget(run->setup->system->state_dir);
		return error_set(run->err, JW_ERR_DRIVER,
						 "the driver shows no %s GPU any more: run the same command again",
						 jw_target_sm(name, plan->targets[i].device));
	}
	return usable ? 0
				  : error_set(run->err, JW_ERR_DRIVER, "no GPU gives a context: %s", run->pool.why);
}

void run_on_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct slot *slot = context;
	struct run *run = slot->run;

	(void)child;
	slot->greeted = true;
	run->unborn = 0;
	if (hello->result && !run_retire(run, slot, hello->error)) {
		error_set(run->err, JW_ERR_DRIVER, "the driver does not start: %s", hello->error);
		run_break_off(run);
	} else if (!hello->result && !run->pool.count && take_devices(run, hello)) {
		run_break_off(run);
	} else if (!hello->result) {
		run_feed(run, slot);
	}
}

static void failed_to_collect(struct run *run, size_t index, const struct jw_error *why)
{
	struct jw_error full = {0};

	if (why->code != JW_ERR_FORMAT)
		run_break_off_with(run, why);
	else if (collect_disk_is_full(&full, run->setup->folder))
		run_break_off_with(run, &full);
	else
		run_module_failed(run, index, why->message, "");
}

void run_inserted(void *context, size_t index, uint64_t bytes, const struct jw_error *why)
{
	struct run *run = context;

	if (why) {
		run_module_failed(run, index, why->message, "");
		return;
	}
	run->result->compiled++;
	run->result->added_bytes += bytes;
	run_module_done(run, index);
}

/* The entry is there: into the cache with it, now or later. */
static void take_entry(struct run *run, size_t index, const char *path)
{
	const struct plan *plan = run->setup->plan;
	struct jw_error why = {0}, worse = {0};
	uint64_t bytes = 0;

	if (!collect_insert(&why, run->setup->live, path, plan, &plan->modules[index], &bytes))
		run_inserted(run, index, bytes, NULL);
	else if (why.code != JW_ERR_BUSY)
		failed_to_collect(run, index, &why);
	else if (later_add(&worse, &run->later, plan, index, path, &why))
		run_break_off_with(run, &worse);
	(void)os_remove(NULL, path);
}

/* Where others of this run were as predicted, the form is the one we know: the driver has merely
 * chosen another image of this container than we thought, and the application will want that. */
static void take_foreign(struct run *run, size_t index, const char *path)
{
	const struct plan *plan = run->setup->plan;
	struct jw_error why = {0};
	uint64_t bytes = 0;

	if (!run->result->compiled) {
		run->result->opaque = true;
		run_stop(run);
		return;
	}
	if (!collect_insert_foreign(&why, run->setup->live, path, plan, &plan->modules[index],
								&bytes)) {
		run->result->misjudged++;
		run_inserted(run, index, bytes, NULL);
	} else if (why.code == JW_ERR_BUSY) {
		run_module_failed(run, index, why.message, "");
	} else {
		failed_to_collect(run, index, &why);
	}
	(void)os_remove(NULL, path);
}

static void compiled(struct run *run, struct slot *slot, size_t index)
{
	const struct plan *plan = run->setup->plan;
	enum collected what = COLLECTED_NOTHING;
	struct jw_error why = {0};
	char *path = NULL;

	if (!run->setup->live) {
		run->result->compiled++;
		run_module_done(run, index);
	} else if (collect_find(&why, slot->cache_dir, plan, &plan->modules[index], &what, &path)) {
		run_break_off_with(run, &why);
	} else if (what == COLLECTED_FOREIGN) {
		take_foreign(run, index, path);
	} else if (what == COLLECTED_NOTHING) {
		run->result->unchanged++;
		run_module_done(run, index);
	} else {
		take_entry(run, index, path);
	}
	mem_free(path);
}

static void refused(struct run *run, struct slot *slot, size_t index,
					const struct protocol_answer *answer)
{
	bool crowded = answer->result == OUT_OF_MEMORY;

	if ((answer->sticky || (crowded && run_others(run, slot))) && queue_retry(&run->queue, index)) {
		if (crowded)
			(void)run_retire(run, slot, answer->error);
		return;
	}
	run_module_failed(run, index, answer->error[0] ? answer->error : "the driver refused it",
					  answer->log);
}

static void take_answer(struct run *run, struct slot *slot, struct job job,
						const struct protocol_answer *answer)
{
	double seconds = answer->wall_ms / 1000;

	slot->spent = answer->sticky || answer->no_context;
	if (answer->no_context) {
		run_without_context(run, slot, job, answer->error);
		return;
	}
	run->fruitless = 0;
	run->pool.works[job.device] = true;
	if (answer->peak_bytes > run->result->peak_worker_bytes)
		run->result->peak_worker_bytes = answer->peak_bytes;
	run->result->compile_seconds += seconds;
	if (seconds > run->result->longest_seconds)
		run->result->longest_seconds = seconds;
	if (answer->result == 0)
		compiled(run, slot, job.module);
	else
		refused(run, slot, job.module, answer);
}

void run_on_answer(void *context, struct child *child, const struct protocol_answer *answer)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	struct job job = slot->jobs[0];

	if (run->stopping)
		return;
	if (!slot->job_count || answer->id != job.module) {
		child_distrust(child, "an answer to what was not asked");
		return;
	}
	slot->job_count--;
	memmove(slot->jobs, slot->jobs + 1, slot->job_count * sizeof *slot->jobs);
	slot->since_ns = os_monotonic_ns();
	take_answer(run, slot, job, answer);
	if (!run->stopping && !slot->spent)
		run_feed(run, slot);
}
