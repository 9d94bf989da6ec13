/* Handles workers that are lost, and workers for which there is no room. */
#include <signal.h>
#include <stdio.h>

#include "base/text.h"
#include "run/run_state.h"

enum {
	/* Give up after so many workers in a row that ended outside a compile (before their hello, or
	 * without a job): a retry does not help. */
	MOST_UNBORN = 3,
	/* Give up after N first tries in a row that ended their workers: N = 2 × workers + this, before
	 * anything was compiled and after. */
	MOST_FRUITLESS = 6,
	MOST_FRUITLESS_LATER = 50,
};

/* A compile that takes longer than this hangs: forty times the prediction, and at least ten
 * minutes. */
uint64_t run_limit_ns(const struct run *run, double cost_ms)
{
	double limit_ms = cost_ms * 40;

	if (run->setup->options->module_timeout_ms)
		return run->setup->options->module_timeout_ms * UINT64_C(1000000);
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
	(void)snprintf(line, sizeof line,
				   "there is no room for so many workers (%.300s): going on with %u", why, others);
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
			(void)snprintf(run->no_context, sizeof run->no_context, "got no CUDA context (%.200s)",
						   why);
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
	(void)snprintf(
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
