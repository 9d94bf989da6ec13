/* Reports to the run's caller: progress, lines, the trace, compiled and failed modules. */
#include "os/clock.h"
#include "run/prime_result.h"
#include "run/run_state.h"
#include "run/trace.h"

/* A module in progress counts by its elapsed time, up to nine tenths of the prediction: a bar that
 * does not move for minutes looks like a program that hangs. */
static double in_hand_ms(const struct run *run)
{
	const uint64_t now = os_monotonic_ns();
	double sum = 0;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *slot = &run->slots[i];
		double most, taken;

		if (!slot->greeted || !slot->job_count || now < slot->since_ns)
			continue;
		most = 0.9 * run->setup->plan->modules[slot->jobs[0].module].cost_ms;
		taken = (double)(now - slot->since_ns) / 1e6 * slot->jobs[0].threads;
		sum += taken < most ? taken : most;
	}
	return sum;
}

void run_report(struct run *run)
{
	const struct jw_prime_options *options = run->setup->options;

	run->progress.done = run->done;
	run->progress.failed = run->result->failed;
	run->progress.done_bytes = run->done_bytes;
	run->progress.done_weight = run->done_weight + in_hand_ms(run);
	if (options->progress)
		options->progress(options->context, &run->progress);
}

void run_message(struct run *run, const char *line)
{
	if (run->setup->options->message)
		run->setup->options->message(run->setup->options->context, line);
}

void run_trace(const struct run *run, const struct slot *slot, size_t module, const char *result)
{
	const struct plan *plan = run->setup->plan;

	trace_module(run->setup->trace, TRACE_FIRST_WORKER + (unsigned)(slot - run->slots), plan,
				 &plan->modules[module], slot->since_ns, result);
}

void run_module_done(struct run *run, size_t index)
{
	const struct plan_module *module = &run->setup->plan->modules[index];

	run->done++;
	run->done_bytes += module->payload_bytes;
	run->done_weight += module->cost_ms;
	run->progress.current = run->setup->plan->files[module->file].path;
}

void run_module_failed(struct run *run, size_t index, const char *reason, const char *log)
{
	const struct plan *plan = run->setup->plan;

	if (prime_result_add_failure(run->err, run->result, plan, &plan->modules[index], reason, log))
		run_break_off(run);
	run_module_done(run, index);
}

void run_stop(struct run *run)
{
	run->stopping = true;
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
