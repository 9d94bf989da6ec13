#include "run/run_report.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "plan/estimate.h"
#include "run/run_state.h"

/* Failures and notes beyond these are counted, not listed. */
enum { MOST_FAILURES = 10000, MOST_NOTES = 100000 };

/* One module that could not be compiled: the reason, and the driver's log ("" if it has none). */
static int prime_result_add_failure(struct jw_prime_compiled *result, const struct plan *plan,
									const struct plan_module *module, const char *reason,
									const char *log)
{
	const struct plan_file *file = &plan->files[module->file];
	struct jw_prime_failure failure = {.offset = module->container_offset,
									   .target = plan->targets[module->target].device};
	struct jw_prime_failure *larger;

	result->failed++;
	if (result->failure_count >= MOST_FAILURES)
		return 0;
	larger = mem_resize(result->failures, (result->failure_count + 1) * sizeof *larger);
	result->failures = larger;
	failure.path = mem_string(file->path);
	failure.member = file->member ? mem_string(file->member) : NULL;
	failure.reason = mem_string(reason);
	failure.log = mem_string(log);
	larger[result->failure_count++] = failure;
	return failure.path && failure.reason && failure.log && (!file->member || failure.member) ? 0
																							  : -1;
}

int prime_result_add_note(struct jw_prime_result *result, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	line = mem_vprintf(format, arguments);
	va_end(arguments);
	mem_add_string(&result->notes, &result->note_count, MOST_NOTES, line);
	mem_free(line);
	return 0;
}

void prime_result_forget_failures(struct jw_prime_compiled *result)
{
	for (size_t i = 0; i < result->failure_count; i++) {
		mem_free(result->failures[i].path);
		mem_free(result->failures[i].member);
		mem_free(result->failures[i].reason);
		mem_free(result->failures[i].log);
	}
	result->failure_count = result->failed = result->refused = 0;
}

int insert_backlog_open(const char *folder, struct insert_backlog *ret_later)
{
	*ret_later = (struct insert_backlog){.folder = os_join(folder, "later")};
	return ret_later->folder ? 0 : -1;
}

void insert_backlog_close(struct insert_backlog *later)
{
	mem_free(later->folder);
	mem_free(later->modules);
	*later = (struct insert_backlog){0};
}

static char *path_of(const struct insert_backlog *later, uint64_t key)
{
	return mem_printf("%s/%016llx", later->folder, (unsigned long long)key);
}

int insert_backlog_add(struct jw_error *err, struct insert_backlog *later, const struct plan *plan,
					   size_t module, const char *path, const struct jw_error *why)
{
	char *waiting = path_of(later, plan->modules[module].key);
	int result = -1;

	if (waiting && !os_make_dirs(err, later->folder, 0700) &&
		!VEC_ROOM(err, later->modules, later->capacity, later->count, plan->module_count) &&
		!os_rename(err, path, waiting)) {
		later->modules[later->count++] = module;
		later->tried_ns = os_monotonic_ns();
		later->why = *why;
		result = 0;
	}
	mem_free(waiting);
	return result;
}

int insert_backlog_try(struct jw_error *err, struct insert_backlog *later, struct cache_live *live,
					   const struct plan *plan,
					   void (*done)(void *context, size_t module, int64_t grown_bytes,
									const struct jw_error *why),
					   void *context)
{
	while (later->count) {
		size_t module = later->modules[later->count - 1];
		const uint64_t key = plan->modules[module].key;
		struct collected entry = {COLLECTED, path_of(later, key), key};
		struct jw_error why = {0};
		int64_t grown_bytes = 0;
		int failed;

		if (!entry.path)
			return -1;
		failed = collect_insert(&why, live, &entry, plan, &plan->modules[module], &grown_bytes);
		later->tried_ns = os_monotonic_ns();
		if (failed && why.code == JW_ERR_BUSY) {
			later->why = why;
			mem_free(entry.path);
			return 0;
		}
		if (failed)
			(void)os_remove(NULL, entry.path);
		mem_free(entry.path);
		if (failed && why.code != JW_ERR_FORMAT)
			return error_copy(err, &why);
		later->count--;
		later->progress_ns = later->tried_ns;
		done(context, module, grown_bytes, failed ? &why : NULL);
	}
	return 0;
}

/* ---- what the run's caller hears */

/* Then enough is known for a new prediction. */
static const double UNSTEADY_MS = 5000;
/* Less of the processor in other programs explains no difference. */
static const double LEAST_OTHERS = 0.2;
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
			pace_take_running(&pace, module->cost_ms, taken);
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
		const double share = module ? taken / (pace_ms(pace, 1, module->cost_ms) + 1e-9) : 0;

		sum += module ? module->cost_ms * (share < 0.9 ? share : 0.9) : 0;
	}
	return sum;
}

/* When a worker finishes its jobs; less than 0: it gets no more. */
static double free_in_ms(const struct run *run, const struct slot *slot, const struct pace *pace,
						 uint64_t now_ns)
{
	const double start_ms = run->start_ms > 0 ? run->start_ms : PLAN_START_MS;
	double left_ms = 0;

	if (!slot->child || slot->retired || slot->finishing)
		return -1;
	if (!slot->greeted) {
		left_ms = start_ms - ms_since(slot->since_ns, now_ns);
		return left_ms > 0 ? left_ms : 0;
	}
	for (size_t i = 0; i < slot->job_count; i++) {
		const struct plan_module *module = module_of(run, slot->jobs[i].module);

		left_ms += pace_left_ms(pace, 1, module->cost_ms, i ? 0 : in_hand_ms(slot, now_ns));
	}
	return left_ms;
}

static double guess_seconds_left(struct run *run, const struct pace *pace, uint64_t now_ns)
{
	const struct job_queue *queue = &run->queue;
	double next_ms = 0, rest_ms = 0;
	size_t workers = 0;

	for (unsigned i = 0; run->slots && i < run->setup->workers; i++) {
		const double free_ms = free_in_ms(run, &run->slots[i], pace, now_ns);

		if (free_ms >= 0)
			run->free_ms[workers++] = free_ms;
	}
	if (run->on_battery || !workers)
		return 0;
	if (queue->next < queue->count)
		next_ms = pace_ms(pace, 1, module_of(run, queue->order[queue->next])->cost_ms);
	for (size_t i = queue->next; i < queue->count; i++)
		rest_ms += pace_ms(pace, 1, module_of(run, queue->order[i])->cost_ms);
	for (size_t i = 0; i < queue->again_count; i++)
		rest_ms += module_of(run, queue->again[i])->cost_ms;
	for (size_t i = queue->next_suspect; i < queue->suspect_count; i++)
		rest_ms += module_of(run, queue->suspects[i])->cost_ms * (double)workers;
	return schedule_ms(run->free_ms, workers, next_ms, rest_ms) / 1000;
}

const char *new_time_text(char text[NEW_TIME_TEXT], const struct jw_seconds *said, double seconds,
						  double others)
{
	char now[TEXT_SHORT], before[TEXT_SHORT];

	if (said->low <= seconds && seconds <= said->high)
		return NULL;
	(void)text_duration(now, seconds);
	(void)text_duration(before, said->likely);
	if (seconds > said->high && others >= LEAST_OTHERS)
		(void)text_format(text, NEW_TIME_TEXT,
						  "other programs take %.0f %% of the processor: about %s instead of %s",
						  others * 100, now, before);
	else
		(void)text_format(text, NEW_TIME_TEXT,
						  seconds > said->high
							  ? "compiling takes longer than predicted: about %s instead of %s"
							  : "compiling takes less time than predicted: about %s instead of %s",
						  now, before);
	return text;
}

static void tell_new_time(struct run *run, double seconds)
{
	const unsigned busy = run_busy_workers(run);
	/* What this run's own workers leave each other is no other program's. */
	const double whole = busy > run->threads ? (double)run->threads / busy : 1;
	char text[NEW_TIME_TEXT];
	const char *line =
		new_time_text(text, &run->forecast->prime, seconds, 1 - pace_share(&run->pace) / whole);

	if (line && !run->setup->options->plan.budget_ms)
		run_message(run, line);
}

/* The time left by the run itself is steady; before it, guesses follow the first few modules. */
static void renew_seconds_left(struct run *run, double guess, double passed_ms)
{
	if (run->steady)
		guess = steady_seconds(run->progress.seconds_left, guess);
	run->progress.seconds_left = guess;
	if (run->steady || passed_ms < UNSTEADY_MS || guess <= 0)
		return;
	run->steady = true;
	tell_new_time(run, passed_ms / 1000 + guess);
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
		renew_seconds_left(run, guess_seconds_left(run, &pace, now_ns),
						   ms_since(run->began_ns, now_ns));
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

	if (prime_result_add_failure(run->result, plan, &plan->modules[index], reason, log))
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
