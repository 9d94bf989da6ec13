/* Reports to the run's caller: progress, lines, the trace, compiled and failed modules. */
#include <stdio.h>

#include "os/clock.h"
#include "os/file.h"
#include "run/prime_result.h"
#include "run/run_state.h"
#include "run/trace.h"

/* This many modules are scheduled one by one, the rest as a sum. */
enum { MOST_SCHEDULED = 64 };
/* Assumed start time of a driver, before one has started. */
static const double START_MS = 1000;
static const uint64_t GUESS_EVERY_NS = 100000000;

static double ms_since(uint64_t since_ns, uint64_t now_ns)
{
	return now_ns > since_ns ? (double)(now_ns - since_ns) / 1e6 : 0;
}

static const struct plan_module *module_of(const struct run *run, size_t index)
{
	return &run->setup->plan->modules[index];
}

/* The elapsed time of a worker's oldest job. */
static double in_hand_ms(const struct slot *slot, uint64_t now_ns)
{
	return slot->greeted && slot->job_count ? ms_since(slot->since_ns, now_ns) : 0;
}

/* Includes modules that already take longer than predicted. */
static struct pace pace_now(const struct run *run, uint64_t now_ns)
{
	struct pace pace = run->pace;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const double taken = in_hand_ms(&run->slots[i], now_ns);
		const struct plan_module *module =
			taken > 0 ? module_of(run, run->slots[i].jobs[0].module) : NULL;

		if (module)
			pace_take_running(&pace, module->form, module->cost_ms, taken);
	}
	return pace;
}

/* A module in progress counts by its elapsed time, up to nine tenths: a bar that does not move for
 * minutes looks like a hang. */
static double begun_weight(const struct run *run, const struct pace *pace, uint64_t now_ns)
{
	double sum = 0;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const double taken = in_hand_ms(&run->slots[i], now_ns);
		const struct plan_module *module =
			taken > 0 ? module_of(run, run->slots[i].jobs[0].module) : NULL;
		const double share =
			module ? taken / (pace_ms(pace, module->form, module->cost_ms) + 1e-9) : 0;

		sum += module ? module->cost_ms * (share < 0.9 ? share : 0.9) : 0;
	}
	return sum;
}

/* When a worker finishes its jobs; less than 0: it gets no more. */
static double free_in_ms(const struct run *run, const struct slot *slot, const struct pace *pace,
						 uint64_t now_ns)
{
	const double start_ms = run->start_ms > 0 ? run->start_ms : START_MS;
	double left_ms = 0;

	if (!slot->child || slot->retired || slot->finishing)
		return -1;
	if (!slot->greeted) {
		left_ms = start_ms - ms_since(slot->since_ns, now_ns);
		return left_ms > 0 ? left_ms : 0;
	}
	for (size_t i = 0; i < slot->job_count; i++) {
		const struct plan_module *module = module_of(run, slot->jobs[i].module);

		left_ms +=
			pace_left_ms(pace, module->form, module->cost_ms, i ? 0 : in_hand_ms(slot, now_ns));
	}
	return left_ms;
}

/* Of a module that takes this long already. */
static enum jw_prime_left left_of_module(const struct run *run, const struct plan_module *module,
										 double taken_ms)
{
	return pace_is_measured(&run->pace, module->cost_ms)                   ? JW_LEFT_MEASURED
		   : taken_ms > pace_ms(&run->pace, module->form, module->cost_ms) ? JW_LEFT_OVERDUE
																		   : JW_LEFT_PREDICTED;
}

/* A module that is most of the time left decides. */
static void judge_left(struct run *run, size_t index, double taken_ms)
{
	const struct plan_module *module = module_of(run, index);
	const double left_ms = pace_left_ms(&run->pace, module->form, module->cost_ms, taken_ms);
	const enum jw_prime_left left = left_of_module(run, module, taken_ms);

	if (left_ms * 2 > run->progress.seconds_left * 1000 && left > run->progress.left)
		run->progress.left = left;
}

static void judge_all_left(struct run *run, uint64_t now_ns)
{
	const struct job_queue *queue = &run->queue;

	run->progress.left = pace_is_measured(&run->pace, 0) ? JW_LEFT_MEASURED : JW_LEFT_PREDICTED;
	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *slot = &run->slots[i];
		const double taken_ms = in_hand_ms(slot, now_ns);

		if (taken_ms > 0)
			judge_left(run, slot->jobs[0].module, taken_ms);
	}
	if (queue->next < queue->count)
		judge_left(run, queue->order[queue->next], 0);
}

static double guess_seconds_left(struct run *run, const struct pace *pace, uint64_t now_ns)
{
	const struct job_queue *queue = &run->queue;
	double next_ms[MOST_SCHEDULED], rest_ms = 0;
	size_t workers = 0, next = 0;

	for (unsigned i = 0; run->slots && i < run->setup->workers; i++) {
		const double free_ms = free_in_ms(run, &run->slots[i], pace, now_ns);

		if (free_ms >= 0)
			run->free_ms[workers++] = free_ms;
	}
	for (size_t i = queue->next; i < queue->count; i++) {
		const struct plan_module *module = module_of(run, queue->order[i]);
		const double ms = pace_ms(pace, module->form, module->cost_ms);

		if (next < MOST_SCHEDULED)
			next_ms[next++] = ms;
		else
			rest_ms += ms;
	}
	for (size_t i = 0; i < queue->again_count; i++)
		rest_ms += module_of(run, queue->again[i])->cost_ms;
	for (size_t i = queue->next_suspect; i < queue->suspect_count; i++)
		rest_ms += module_of(run, queue->suspects[i])->cost_ms * (double)workers;
	return run->on_battery ? 0 : schedule_ms(run->free_ms, workers, next_ms, next, rest_ms) / 1000;
}

void run_report(struct run *run)
{
	const struct jw_prime_options *options = run->setup->options;
	const uint64_t now_ns = os_monotonic_ns();
	const struct pace pace = run->slots ? pace_now(run, now_ns) : run->pace;
	const double weight = run->done_weight + (run->slots ? begun_weight(run, &pace, now_ns) : 0);

	run->progress.done = run->done;
	run->progress.failed = run->result->failed;
	run->progress.done_bytes = run->done_bytes;
	if (weight > run->progress.done_weight)
		run->progress.done_weight = weight;
	if (run->free_ms && now_ns - run->guessed_ns >= GUESS_EVERY_NS) {
		run->progress.seconds_left = guess_seconds_left(run, &pace, now_ns);
		if (run->slots)
			judge_all_left(run, now_ns);
		run->guessed_ns = now_ns;
	}
	if (options->progress)
		options->progress(options->context, &run->progress);
}

void run_message(struct run *run, const char *line)
{
	if (run->setup->options->message)
		run->setup->options->message(run->setup->options->context, line);
}

void run_trace_start(const struct run *run, const struct slot *slot)
{
	const unsigned worker = (unsigned)(slot - run->slots);

	prime_result_add_slice(run->result, &(struct jw_prime_slice){.worker = worker,
																 .from_ns = slot->since_ns,
																 .what = JW_SLICE_START});
	trace_slice(run->setup->trace, TRACE_FIRST_WORKER + worker, "starting the driver",
				slot->since_ns);
}

void run_trace(const struct run *run, const struct slot *slot, size_t module,
			   const struct trace_end *end)
{
	const struct plan *plan = run->setup->plan;
	const struct plan_file *file = &plan->files[plan->modules[module].file];
	struct jw_prime_slice slice = {.worker = (unsigned)(slot - run->slots),
								   .from_ns = slot->since_ns,
								   .what = end->failed ? JW_SLICE_FAILED : JW_SLICE_COMPILED};

	(void)snprintf(slice.name, sizeof slice.name, "%.70s+0x%llx",
				   os_base_name(file->member ? file->member : file->path),
				   (unsigned long long)plan->modules[module].container_offset);
	prime_result_add_slice(run->result, &slice);

	trace_module(run->setup->trace, TRACE_FIRST_WORKER + (unsigned)(slot - run->slots), plan,
				 &plan->modules[module], slot->since_ns, end);
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
