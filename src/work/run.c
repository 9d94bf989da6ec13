/* The supervisor. From top to bottom: reports to the caller, memory, the next step of a worker,
 * lost workers, entries that wait for the cache, answers, the loop. */
#include "work/run.h"

#include <signal.h>
#include <string.h>

#include <uv.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/insert.h"
#include "driver/collect.h"
#include "driver/known_gpus.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/processes.h"
#include "os/uv.h"
#include "plan/estimate.h"
#include "plan/inventory.h"
#include "work/supervisor.h"

static const struct plan_module *module_of(const struct run *run, size_t index)
{
	return &run->setup->plan->modules[index];
}

static unsigned busy_workers(const struct run *run)
{
	unsigned busy = 0;

	for (unsigned i = 0; i < run->setup->workers; i++)
		busy += run->workers.slots[i].job_count > 0;
	return busy;
}

/* ---- reports to the caller */

/* Failures and notes beyond these numbers are counted, not listed. */
enum { MAX_FAILURES = 10000, MAX_NOTES = 100000 };
static const uint64_t GUESS_EVERY_NS = 100000000;

void run_add_note(struct jw_prime_result *result, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	line = arena_keep(result, mem_vprintf(format, arguments));
	va_end(arguments);
	arena_add_string(result, &result->notes, &result->note_count, MAX_NOTES, line);
}

static void report_line(struct run *run, const char *line)
{
	if (run->setup->options->message)
		run->setup->options->message(run->setup->options->context, line);
}

static void module_done(struct run *run, size_t index)
{
	const struct plan_module *module = module_of(run, index);

	run->report.progress.done++;
	run->report.progress.used_done += module->used;
	run->report.progress.done_bytes += module->payload_bytes;
	run->report.progress.current = run->setup->plan->files[module->file].path;
	run->report.done_weight_ms += module->cost_ms;
}

static void note_module_failure(struct run *run, size_t index, const char *reason, const char *log)
{
	struct jw_prime_compiled *result = run->result;
	void *owner = run->outcome;
	const struct plan_module *module = module_of(run, index);
	const struct plan_file *file = &run->setup->plan->files[module->file];

	result->failed++;
	if (!ARENA_ROOM(NULL, owner, result->failures, run->failure_capacity, result->failure_count,
					MAX_FAILURES))
		result->failures[result->failure_count++] = (struct jw_prime_failure){
			.path = arena_string(owner, file->path),
			.member = arena_string(owner, file->member),
			.offset = module->container_offset,
			.target = run->setup->plan->targets[module->target].device,
			.reason = arena_string(owner, reason),
			.log = arena_string(owner, log),
		};
}

void run_module_failed(struct run *run, size_t index, const char *reason, const char *log)
{
	note_module_failure(run, index, reason, log);
	module_done(run, index);
}

/* Reports the modules that are not in the queue, because the cache has another module's entry under
 * their name: they would be compiled in vain. */
static void note_taken_names(struct run *run)
{
	const struct plan *plan = run->setup->plan;

	for (size_t i = 0; i < plan->module_count; i++) {
		struct jw_error why = {0};
		char *path;

		if (plan->modules[i].state != PLAN_COLD || plan->modules[i].damage != CACHE_DAMAGE_OTHER)
			continue;
		path = cache_entry_path(plan->cache_dir, plan->modules[i].key);
		cache_say_taken(&why, path);
		note_module_failure(run, i, why.message, "");
		mem_free(path);
	}
}

/* Ends the run with the error in run->err. */
static void break_off(struct run *run)
{
	run->loop.broken = true;
	run->loop.stopping = true;
}

void run_break_off(struct run *run, const struct jw_error *why)
{
	error_copy(run->err, why);
	break_off(run);
}

static double ms_since(uint64_t since_ns, uint64_t now_ns)
{
	return now_ns > since_ns ? (double)(now_ns - since_ns) / 1e6 : 0;
}

/* Returns when a worker finishes its jobs; negative if it gets no more. */
static double free_in_ms(const struct run *run, const struct slot *slot, const struct pace *pace,
						 uint64_t now_ns)
{
	const double start_ms = run->workers.start_ms > 0 ? run->workers.start_ms : PLAN_START_MS;
	double left_ms = 0;

	if (!slot->child || slot->retired || slot->state == WORKER_FINISHING)
		return -1;
	if (slot->state == WORKER_STARTING || slot->state == WORKER_MUTE) {
		left_ms = start_ms - ms_since(slot->since_ns, now_ns);
		return left_ms > 0 ? left_ms : 0;
	}
	for (size_t i = 0; i < slot->job_count; i++)
		left_ms += pace_left_ms(pace, 1, module_of(run, slot->jobs[i].module)->cost_ms,
								i ? 0 : ms_since(slot->since_ns, now_ns));
	return left_ms;
}

static double guess_seconds_left(const struct run *run, const struct pace *pace, uint64_t now_ns)
{
	const struct job_queue *queue = &run->queue;
	double *free_ms = mem_array(run->setup->workers, sizeof *free_ms);
	double next_ms = 0, rest_ms = 0, seconds = 0;
	size_t workers = 0;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const double ms = free_in_ms(run, &run->workers.slots[i], pace, now_ns);

		if (ms >= 0)
			free_ms[workers++] = ms;
	}
	if (workers && !run->memory.on_battery) {
		if (queue->next < queue->count)
			next_ms = pace_ms(pace, 1, module_of(run, queue->order[queue->next])->cost_ms);
		for (size_t i = queue->next; i < queue->count; i++)
			rest_ms += pace_ms(pace, 1, module_of(run, queue->order[i])->cost_ms);
		for (size_t i = 0; i < queue->again_count; i++)
			rest_ms += module_of(run, queue->again[i])->cost_ms;
		for (size_t i = queue->next_suspect; i < queue->suspect_count; i++)
			rest_ms += module_of(run, queue->suspects[i])->cost_ms * (double)workers;
		seconds = schedule_ms(free_ms, workers, next_ms, rest_ms) / 1000;
	}
	mem_free(free_ms);
	return seconds;
}

/* Reports the run's progress. */
static void report_progress(struct run *run)
{
	const struct jw_prime_options *options = run->setup->options;
	struct run_report *report = &run->report;
	const uint64_t now_ns = os_monotonic_ns();
	struct pace pace = report->pace;
	double weight_ms = report->done_weight_ms;

	/* Counts also modules that already take longer than predicted. */
	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *slot = &run->workers.slots[i];

		if (slot->job_count)
			pace_take_running(&pace, module_of(run, slot->jobs[0].module)->cost_ms,
							  ms_since(slot->since_ns, now_ns));
	}
	/* A module in progress counts by its elapsed time, up to nine tenths: a bar that does not move
	 * for minutes looks like a hang. */
	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *slot = &run->workers.slots[i];

		if (slot->job_count) {
			const double cost_ms = module_of(run, slot->jobs[0].module)->cost_ms;
			const double part =
				ms_since(slot->since_ns, now_ns) / (pace_ms(&pace, 1, cost_ms) + 1e-9);

			weight_ms += cost_ms * (part < 0.9 ? part : 0.9);
		}
	}
	if (weight_ms > report->progress.done_weight_ms)
		report->progress.done_weight_ms = weight_ms;
	report->progress.failed = run->result->failed;
	if (now_ns - report->guessed_ns >= GUESS_EVERY_NS) {
		report->progress.seconds_left =
			steady_seconds(report->progress.seconds_left, guess_seconds_left(run, &pace, now_ns));
		report->guessed_ns = now_ns;
	}
	if (options->progress)
		options->progress(options->context, &report->progress);
}

/* ---- memory of the machine and of its GPUs */

static const uint64_t POLL_NS = 1000000000;

/* Returns whether memory has room for this module beside the other workers' jobs. A module alone is
 * always admitted, or the run would never end. */
static bool has_room(const struct run *run, const struct slot *slot, size_t module)
{
	const struct memory_budget *budget = &run->memory.budget;
	uint64_t others_bytes = 0;
	bool alone = true;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *other = &run->workers.slots[i];
		uint64_t dearest = 0, need;

		if (other == slot || !other->child)
			continue;
		for (size_t k = 0; k < other->job_count; k++) {
			const uint64_t bytes = module_of(run, other->jobs[k].module)->memory_bytes;

			dearest = bytes > dearest ? bytes : dearest;
		}
		/* The memory that the worker has, or will have before its jobs are done. */
		need = memory_budget_need(budget, dearest);
		others_bytes += other->resident_bytes > need ? other->resident_bytes : need;
		alone = alone && !other->job_count;
	}
	return alone ||
		   memory_budget_admits(budget, others_bytes,
								memory_budget_need(budget, module_of(run, module)->memory_bytes));
}

uint64_t run_gpu_spare_bytes(const struct run *run, const struct slot *slot, size_t device)
{
	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *other = &run->workers.slots[i];

		if (other != slot && other->child && (other->devices & UINT64_C(1) << device))
			return (uint64_t)MEMORY_GPU_SPARE_MIB << 20;
	}
	return 0;
}

/* Measures a worker's share of the processor since the last check, if it compiled then and now. A
 * job's wall time does not show the share: the first part of a job waits for the GPU. */
static void check_share(struct run *run, struct slot *slot, double passed_ms)
{
	struct os_process_use use;

	if (!slot->child || !slot->job_count || os_process_used(NULL, child_pid(slot->child), &use) ||
		!use.runnable) {
		slot->cpu_ms = 0;
		return;
	}
	if (slot->cpu_ms > 0)
		pace_spend(&run->report.pace, use.cpu_ms - slot->cpu_ms, passed_ms);
	slot->cpu_ms = use.cpu_ms;
}

struct slot *run_check_machine(struct run *run)
{
	struct run_memory *memory = &run->memory;
	const uint64_t now = os_monotonic_ns();
	const double passed_ms = (double)(now - memory->checked_ns) / 1e6;
	const bool was_on_battery = memory->on_battery;
	uint64_t total, available;
	enum memory_verdict verdict;
	struct slot *victim = NULL;

	if (run->loop.stopping || now - memory->checked_ns < POLL_NS)
		return NULL;
	memory->checked_ns = now;
	memory->on_battery = run->setup->options->compile.low_priority && os_on_battery();
	if (memory->on_battery && !was_on_battery)
		report_line(run, "the machine runs on battery: waiting for mains power (--background)");
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		slot->resident_bytes = slot->child ? os_process_resident(child_pid(slot->child)) : 0;
		check_share(run, slot, passed_ms);
	}
	if (!os_memory(&total, &available))
		return NULL;
	verdict = memory_budget_judge(&memory->budget, now, busy_workers(run), os_memory_pressure(),
								  total, available);
	if (verdict == MEMORY_AS_IT_IS)
		return NULL;
	if (!memory->reported_short)
		report_line(run, "memory is running low: continuing with fewer workers for a while");
	memory->reported_short = true;
	/* The worker that began last loses least. */
	for (unsigned i = 0; verdict == MEMORY_AT_ONCE && i < run->setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		if (slot->state == WORKER_READY && slot->job_count &&
			(!victim || slot->since_ns > victim->since_ns))
			victim = slot;
	}
	return victim;
}

/* ---- the next step of a worker */

/* Only if the current job is shorter than this, the next one has to be sent early. */
enum { SHORT_MS = 250 };

/* Returns whether there is work for another worker. */
static bool needs_worker(const struct run *run)
{
	const unsigned alive = run->workers.alive;

	if (job_queue_peek(&run->queue) != QUEUE_EMPTY)
		return alive < run->memory.budget.allowed;
	return job_queue_has_suspects(&run->queue) && !alive;
}

/* Takes the next module. A suspect is tried when all else is done, and alone, so that neither
 * another worker's memory nor a second job can be the cause. QUEUE_WAIT if none of the remaining
 * modules may begin now. */
static size_t take_next_module(struct run *run, const struct slot *slot)
{
	struct job_queue *queue = &run->queue;
	const unsigned busy = busy_workers(run);
	const size_t first = job_queue_peek(queue);

	if (slot->retired || slot->job_count == RUN_DEPTH)
		return QUEUE_EMPTY;
	if (slot->job_count && (module_of(run, slot->jobs[0].module)->cost_ms > SHORT_MS ||
							job_queue_is_suspect(queue, slot->jobs[0].module)))
		return QUEUE_EMPTY;
	if (run->memory.on_battery && (first != QUEUE_EMPTY || job_queue_has_suspects(queue)))
		return QUEUE_WAIT;
	if (first == QUEUE_EMPTY)
		return busy ? QUEUE_EMPTY : job_queue_take_suspect(queue);
	if (busy - (slot->job_count > 0) >= run->memory.budget.allowed)
		return QUEUE_WAIT;
	if (has_room(run, slot, first))
		return job_queue_take(queue);
	for (size_t at = queue->next; at < queue->count; at++) {
		const size_t module = queue->order[at];

		if (has_room(run, slot, module)) {
			(void)job_queue_take_this(queue, module);
			return module;
		}
	}
	return QUEUE_WAIT;
}

struct run_order run_next_order(struct run *run, const struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	const size_t index = take_next_module(run, slot);
	struct run_order order = {.what = ORDER_COMPILE, .job.module = index};
	const char *path;

	if (index == QUEUE_WAIT) {
		run->workers.held_back = true;
		/* A worker that has grown, or is one too many, ends meanwhile. */
		if (slot->job_count || (slot->resident_bytes <= 2 * run->memory.budget.worker_bytes &&
								run->workers.alive <= run->memory.budget.allowed))
			return (struct run_order){.what = ORDER_NOTHING};
	}
	if (index == QUEUE_WAIT || index == QUEUE_EMPTY)
		return (struct run_order){.what = slot->job_count ? ORDER_NOTHING : ORDER_FINISH};
	/* GPUs of the same architecture share the workers, and each GPU has a context of its own. */
	order.job.device = device_pool_choose(
		&run->workers.pool, setup->plan->targets[module_of(run, index)->target].device,
		(size_t)(slot - run->workers.slots));
	path = setup->spool->places[index].path;
	/* Another run may have compiled it since the plan was made. */
	if (setup->live && plan_is_compiled(setup->system->cache.path, module_of(run, index))) {
		order.what = ORDER_MET;
	} else if (!path || strlen(path) >= sizeof((struct protocol_job *)0)->path) {
		order.what = ORDER_CANNOT;
		(void)text_format(order.why, sizeof order.why, "%s",
						  path ? "its path is too long" : "its bytes cannot be read");
	} else if (order.job.device == DEVICE_NONE) {
		order.what = ORDER_CANNOT;
		(void)text_format(order.why, sizeof order.why,
						  "none of the GPUs for this code can be used: %s", run->workers.pool.why);
	}
	return order;
}

/* ---- workers that are lost, and workers that memory has no room for */

enum {
	/* The number of workers that may end in a row outside a compile (before their hello, or without
	 * a job) until the run stops, because a retry does not help. */
	MAX_FAILED_STARTS = 3,
	/* The number of first tries in a row that may end their workers until the run stops: 2 ×
	 * workers + this, before anything was compiled and after. */
	MAX_FAILED_COMPILES = 6,
	MAX_FAILED_COMPILES_LATER = 50,
};

enum worker_event {
	EVENT_STARTED,
	EVENT_GREETED,
	EVENT_NO_MORE_JOBS, /* the supervisor sends no more jobs */
	EVENT_CANNOT_GO_ON,
	EVENT_TOO_LATE,   /* it took too long and is killed */
	EVENT_MAKES_ROOM, /* it is killed to make room */
	EVENT_GONE,
};

/* Changes a worker's state; no other function does. */
static void worker_event(struct slot *slot, enum worker_event event)
{
	switch (event) {
	case EVENT_STARTED: slot->state = WORKER_STARTING; break;
	case EVENT_GREETED: slot->state = WORKER_READY; break;
	case EVENT_NO_MORE_JOBS: slot->state = WORKER_FINISHING; break;
	case EVENT_CANNOT_GO_ON: slot->state = WORKER_SPENT; break;
	case EVENT_TOO_LATE:
		/* A worker that reported its end before is not blamed on the jobs that it has not begun. */
		if (slot->state == WORKER_SPENT)
			break;
		slot->state = slot->state == WORKER_STARTING ? WORKER_MUTE : WORKER_HUNG;
		return;
	case EVENT_MAKES_ROOM: slot->state = WORKER_YIELDING; return;
	case EVENT_GONE: slot->state = WORKER_NONE; return;
	}
	/* The time limit of its start, its job, or its end begins. */
	slot->since_ns = os_monotonic_ns();
}

/* Returns the time after which a compile counts as hung: forty times the prediction, at least ten
 * minutes. */
static uint64_t compile_limit_ns(const struct run *run, size_t module)
{
	const double limit_ms = module_of(run, module)->cost_ms * 40;

	if (run->setup->options->compile.module_timeout_ms)
		return run->setup->options->compile.module_timeout_ms * UINT64_C(1000000);
	return (uint64_t)((limit_ms < 600e3 ? 600e3 : limit_ms) * 1e6);
}

/* Retires a slot, because each worker takes memory of the machine and of the GPU, and an exclusive
 * GPU accepts only one. Returns false for the only worker, which is not retired. */
static bool retire(struct run *run, struct slot *slot, const char *why)
{
	unsigned others = 0;
	char line[512];

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *other = &run->workers.slots[i];

		others += other != slot && other->child && other->state >= WORKER_READY && !other->retired;
	}
	if (!others)
		return false;
	slot->retired = true;
	(void)text_format(line, sizeof line,
					  "there is not enough memory for so many workers (%.300s): continuing with %u",
					  why, others);
	report_line(run, line);
	return true;
}

void run_without_context(struct run *run, struct slot *slot, struct run_job job, const char *why)
{
	struct run_workers *workers = &run->workers;
	struct jw_error error = {0};
	bool in_use = workers->pool.works[job.device];

	job_queue_return(&run->queue, job.module);
	for (unsigned i = 0; i < run->setup->workers; i++)
		for (size_t k = 0; &workers->slots[i] != slot && k < workers->slots[i].job_count; k++)
			in_use = in_use || workers->slots[i].jobs[k].device == job.device;
	if (!in_use) {
		if (!device_pool_bar(&error, &workers->pool, job.device, why))
			run_break_off(run, &error);
	} else if (!retire(run, slot, why)) {
		/* The only worker is replaced, because the process that had the context may have ended
		 * meanwhile. */
		workers->failed_compiles++;
		(void)text_format(workers->no_context, sizeof workers->no_context,
						  "could not use the GPU (%.200s)", why);
	}
}

/* Counts a worker that this module ended; too many in a row end the run. Suspects are not counted
 * at the end of a good run: they are tried alone, and each may end its worker. */
static void count_loss(struct run *run, size_t index)
{
	run->workers.failed_compiles +=
		!run->result->compiled || !job_queue_is_suspect(&run->queue, index);
}

/* The oldest of its jobs is to blame; the others were not begun. */
void run_blame(struct run *run, struct slot *slot, const struct child_end *how)
{
	const bool blameless = slot->state == WORKER_SPENT || slot->state == WORKER_YIELDING;
	const size_t index = slot->jobs[0].module;
	char text[256], limit[TEXT_SHORT], reason[512];

	while (slot->job_count > (blameless ? 0 : 1))
		job_queue_return(&run->queue, slot->jobs[--slot->job_count].module);
	if (!slot->job_count)
		return;
	slot->job_count = 0;
	count_loss(run, index);
	/* Linux ends the largest process when memory runs out. */
	if (how->signal == SIGKILL && !how->killed &&
		retire(run, slot, "one was killed, as Linux does when memory runs out")) {
		job_queue_return(&run->queue, index);
		return;
	}
	if (job_queue_retry(&run->queue, index))
		return;
	if (slot->state == WORKER_HUNG)
		(void)text_format(text, sizeof text, "did not end within %s",
						  text_set_time(limit, compile_limit_ns(run, index) / 1000000));
	else
		(void)child_end_text(text, sizeof text, how);
	(void)text_format(reason, sizeof reason, "the driver's compiler %s, twice", text);
	run_module_failed(run, index, reason, how->said);
}

bool run_is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
					 bool in_compile)
{
	struct run_workers *workers = &run->workers;
	const unsigned most =
		(run->result->compiled ? MAX_FAILED_COMPILES_LATER : MAX_FAILED_COMPILES) +
		2 * run->setup->workers;
	char text[256];
	const char *end;

	if (slot->state == WORKER_MUTE || slot->state == WORKER_HUNG)
		end = "did not end";
	else if (slot->state == WORKER_SPENT)
		end = workers->no_context[0] ? workers->no_context : "lost its CUDA context";
	else
		end = child_end_text(text, sizeof text, how);
	/* Workers that were finishing, spent or killed end as expected. */
	workers->failed_starts += !in_compile && !slot->retired && slot->state <= WORKER_READY;
	if (workers->failed_starts < MAX_FAILED_STARTS && workers->failed_compiles < most)
		return false;
	if (workers->failed_starts >= MAX_FAILED_STARTS && retire(run, slot, end)) {
		workers->failed_starts = 0;
		return false;
	}
	error_set(run->err, JW_ERR_DRIVER, "workers keep dying: the last %s%s%s", end,
			  how->said[0] ? ", saying: " : "", how->said);
	return true;
}

/* ---- entries that wait for the cache */

/* If nothing else is left to do, the lock is tried for this long. */
static const uint64_t LOCK_EVERY_NS = 1000000000, LOCK_LAST_NS = 5000000000;

void run_inserted(struct run *run, size_t index, int64_t grown_bytes, const struct jw_error *why)
{
	if (why) {
		run_module_failed(run, index, why->message, "");
		return;
	}
	run->result->compiled++;
	run->report.grown_bytes += grown_bytes;
	run->result->added_bytes = run->report.grown_bytes > 0 ? (uint64_t)run->report.grown_bytes : 0;
	if (run->setup->inserted)
		run->setup->inserted[index] = true;
	module_done(run, index);
}

static char *late_path(const struct run *run, size_t index)
{
	return mem_printf("%s/later/%016llx", run->setup->folder,
					  (unsigned long long)module_of(run, index)->key);
}

/* Keeps the entry at `path`, which waits for the lock; `why` is the reason of the refusal. */
static int defer_entry(struct jw_error *err, struct run *run, size_t index, const char *path,
					   const struct jw_error *why)
{
	struct late_entries *late = &run->late;
	char *waiting = late_path(run, index);
	int result = os_make_parent(err, waiting, 0700);

	if (!result)
		result = os_rename(err, path, waiting);
	if (!result) {
		late->modules[late->count++] = index;
		late->tried_ns = late->news_ns = os_monotonic_ns();
		late->why = *why;
	}
	mem_free(waiting);
	return result;
}

/* Inserts waiting entries until the lock is refused again. */
static void insert_late(struct run *run)
{
	struct late_entries *late = &run->late;
	const struct plan *plan = run->setup->plan;

	while (late->count && !run->loop.broken) {
		const size_t index = late->modules[late->count - 1];
		const struct plan_module *module = module_of(run, index);
		struct collected entry = {COLLECTED, late_path(run, index), module->key};
		struct jw_error why = {0};
		int64_t grown_bytes = 0;
		int result = collect_insert(&why, run->setup->live, &entry, plan, module, &grown_bytes);

		late->tried_ns = os_monotonic_ns();
		if (result && why.code != JW_ERR_BUSY)
			(void)os_remove(NULL, entry.path);
		mem_free(entry.path);
		if (result < 0 && why.code == JW_ERR_BUSY) {
			late->why = why;
			return;
		}
		if (result < 0 && why.code != JW_ERR_FORMAT) {
			run_break_off(run, &why);
			return;
		}
		late->count--;
		late->news_ns = late->tried_ns;
		run_inserted(run, index, grown_bytes, result ? &why : NULL);
	}
}

/* ---- answers */

enum { OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* The first worker's devices count for all, because all workers have the same environment. */
static int take_devices(struct run *run, const struct slot *first,
						const struct protocol_hello *hello)
{
	const struct plan *plan = run->setup->plan;
	struct device_pool *pool = &run->workers.pool;
	unsigned most, kept = 1;
	char name[JW_TARGET_TEXT], line[256];
	bool usable = false;

	device_pool_fill(pool, hello);
	for (size_t i = 0; i < plan->target_count; i++) {
		const struct jw_target target = plan->targets[i].device;

		if (!device_pool_has(pool, target)) {
			known_gpus_forget(run->setup->system->state_dir);
			return error_set(run->err, JW_ERR_DRIVER,
							 "the driver no longer shows an %s GPU: run the same command again",
							 jw_target_sm(name, target));
		}
		usable = usable || device_pool_choose(pool, target, 0) != DEVICE_NONE;
	}
	if (!usable)
		return error_set(run->err, JW_ERR_DRIVER, "no GPU can be used: %s", pool->why);
	most = device_pool_max_workers(pool, plan->targets, plan->target_count);
	if (most >= run->setup->workers)
		return 0;
	(void)text_format(
		line, sizeof line,
		"the GPU is in exclusive-process mode, which serves one process only: continuing with %s",
		TEXT_COUNT(most, "worker", "workers"));
	report_line(run, line);
	/* The other workers have no work yet. */
	for (unsigned i = 0; i < run->setup->workers; i++)
		if (&run->workers.slots[i] != first && kept++ >= most)
			run->workers.slots[i].retired = true;
	run->forecast->workers = most;
	return 0;
}

bool run_take_hello(struct run *run, struct slot *slot, const struct protocol_hello *hello)
{
	run->workers.start_ms = (double)(os_monotonic_ns() - slot->since_ns) / 1e6;
	worker_event(slot, hello->result ? EVENT_CANNOT_GO_ON : EVENT_GREETED);
	if (hello->result && !retire(run, slot, hello->error)) {
		error_set(run->err, JW_ERR_DRIVER, "the driver does not start: %s", hello->error);
		break_off(run);
	} else if (!hello->result && !run->workers.pool.count && take_devices(run, slot, hello)) {
		break_off(run);
	}
	return !hello->result && !run->loop.stopping;
}

/* Inserts the entry into the cache, now or later. If the form is known, a foreign entry only means
 * that the driver chose another image of this container than predicted, and the application will
 * need it. */
static void take_collected(struct run *run, size_t index, const struct collected *entry)
{
	const bool foreign = entry->what == COLLECTED_FOREIGN;
	struct jw_error why = {0}, worse = {0};
	int64_t grown_bytes = 0;
	int result;

	result = collect_insert(&why, run->setup->live, entry, run->setup->plan, module_of(run, index),
							&grown_bytes);
	if (!result) {
		run->result->misjudged += foreign;
		run_inserted(run, index, grown_bytes, NULL);
		return;
	}
	if (result > 0) {
		run_module_failed(run, index, why.message, "");
	} else if (why.code == JW_ERR_BUSY) {
		if (foreign)
			run_module_failed(run, index, why.message, "");
		else if (defer_entry(&worse, run, index, entry->path, &why))
			run_break_off(run, &worse);
	} else if (why.code == JW_ERR_FORMAT) {
		/* A torn entry, for example from a full disk, is tried once more, alone. */
		if (collect_disk_is_full(&worse, run->setup->folder, 0))
			run_break_off(run, &worse);
		else if (!job_queue_retry(&run->queue, index))
			run_module_failed(run, index, why.message, "");
	} else {
		run_break_off(run, &why);
	}
	(void)os_remove(NULL, entry->path);
}

/* Fails the module if its file is no longer what was planned, so that its entry has another name.
 */
static bool fail_changed(struct run *run, size_t index)
{
	const struct spool_place *place = &run->setup->spool->places[index];

	if (!plan_is_changed(run->setup->plan, module_of(run, index), place->path, place->offset,
						 place->size_bytes))
		return false;
	/* A writer through a mapping leaves the file's times as they are. */
	inventory_forget(run->setup->system->state_dir);
	run_module_failed(run, index,
					  "the file was changed while it was primed: run the same command again", "");
	return true;
}

/* Takes the entry of a module that a worker has compiled: inserts it, or ends the run if entries do
 * not have the predicted names. */
static void take_compiled(struct run *run, struct slot *slot, size_t index)
{
	const struct run_setup *setup = run->setup;
	struct collected entry = {.what = COLLECTED_NOTHING};
	struct jw_error why = {0};

	if (!setup->live) {
		run->result->compiled++;
		module_done(run, index);
	} else if (collect_find(&why, slot->cache_dir, setup->plan, module_of(run, index),
							setup->workers, &entry)) {
		run_break_off(run, &why);
	} else if (entry.what == COLLECTED_FOREIGN && fail_changed(run, index)) {
		(void)os_remove(NULL, entry.path);
	} else if (entry.what == COLLECTED_FOREIGN && !run->result->compiled && !setup->form_known) {
		run->result->opaque = true;
		run->loop.stopping = true;
	} else if (entry.what == COLLECTED_NOTHING) {
		run->result->unchanged++;
		module_done(run, index);
	} else {
		take_collected(run, index, &entry);
	}
	mem_free(entry.path);
}

/* Handles a module that the driver refused: it is tried once more if memory or the context may be
 * the cause, else it has failed. */
static void take_refusal(struct run *run, struct slot *slot, size_t index,
						 const struct protocol_answer *answer)
{
	const bool crowded = answer->result == OUT_OF_MEMORY;

	/* The module is tried once more, because other processes may have taken the memory, even if
	 * they have ended since. */
	if ((answer->sticky || crowded) && job_queue_retry(&run->queue, index)) {
		if (crowded)
			(void)retire(run, slot, answer->error);
		return;
	}
	if (run->setup->refused && !run->setup->task && refusal_name((unsigned)answer->result)) {
		run->setup->refused[index] = (unsigned)answer->result;
		run->result->refused++;
	}
	run_module_failed(run, index, answer->error[0] ? answer->error : "the driver refused it",
					  answer->log);
}

/* Learns the time of one thread alone, because threads that share a core are slower. */
static void learn(const struct run *run, const struct slot *slot, const struct plan_module *module,
				  const struct protocol_answer *answer)
{
	const unsigned threads = run->workers.threads;
	/* Counts the workers with jobs, and this one, which has just finished its own. */
	unsigned busy = busy_workers(run) + !slot->job_count;
	double alone;

	busy = busy < threads ? busy : threads;
	alone = plan_capacity(busy, threads, run->workers.cores) / busy;
	speed_take(run->setup->learnt, module, answer->cpu_ms * alone, answer->wall_ms * alone);
}

bool run_take_answer(struct run *run, struct slot *slot, const struct protocol_answer *answer)
{
	struct run_workers *workers = &run->workers;
	struct jw_prime_compiled *result = run->result;
	const struct run_job job = slot->jobs[0];
	const struct plan_module *module = module_of(run, job.module);
	const double seconds = answer->wall_ms / 1000;

	if (!slot->job_count || answer->id != job.module)
		return false;
	slot->job_count--;
	memmove(slot->jobs, slot->jobs + 1, slot->job_count * sizeof *slot->jobs);
	slot->since_ns = os_monotonic_ns();
	if (answer->sticky || answer->no_context)
		worker_event(slot, EVENT_CANNOT_GO_ON);
	if (answer->no_context) {
		run_without_context(run, slot, job, answer->error);
		return true;
	}
	workers->no_context[0] = '\0';
	/* A worker that can only report the loss of its context counts as dead. */
	if (answer->sticky)
		count_loss(run, job.module);
	else
		workers->failed_compiles = workers->failed_starts = 0;
	workers->pool.works[job.device] = true;
	if (answer->peak_bytes > result->peak_worker_bytes)
		result->peak_worker_bytes = answer->peak_bytes;
	if (answer->peak_bytes > slot->peak_bytes) {
		slot->peak_bytes = answer->peak_bytes;
		memory_budget_measured(&run->memory.budget, module->memory_bytes, answer->peak_bytes);
	}
	/* A worker that uses the live cache itself may have found the module there. */
	if (!answer->result && run->setup->learnt && run->setup->live)
		learn(run, slot, module, answer);
	pace_take(&run->report.pace, 1, module->cost_ms,
			  answer->cpu_ms > 0 ? answer->cpu_ms : answer->wall_ms);
	result->compile_cpu_seconds += answer->cpu_ms / 1000;
	result->compile_seconds += seconds;
	if (seconds > result->longest_seconds)
		result->longest_seconds = seconds;
	if (answer->result == 0)
		take_compiled(run, slot, job.module);
	else
		take_refusal(run, slot, job.module, answer);
	return true;
}

/* ---- the loop: only here are workers started, fed and ended */

enum {
	TICK_MS = 100,
	/* If the clock is this late, this process was suspended, or the machine slept. */
	STOPPED_MS = 2000,
	HOLD_MS = 200,
	LATE_WRITE_MS = 20,
	/* The time that a driver may take to start and to end. It may wait in the kernel for a faulty
	 * GPU. */
	START_MS = 120000,
	END_MS = 30000,
};

/* Holds the lock of the live cache while a worker is killed whose driver writes the cache itself:
 * if it were killed while it writes, it would leave an index that the next driver answers with a
 * wipe. While we hold the lock it does not begin to write, and a write after its unlock takes
 * milliseconds. NULL if there is nothing to hold. */
static struct os_file *hold_live_cache(const struct run *run)
{
	char *path = run->setup->live ? NULL : os_join(run->setup->system->cache.path, "index");
	struct os_file *file = NULL;
	struct jw_error no_locks = {0};

	if (path && !os_file_open(NULL, path, OS_OPEN_UPDATE, &file)) {
		(void)os_file_wait_lock(NULL, file, path, HOLD_MS, &no_locks);
		uv_sleep(LATE_WRITE_MS);
	}
	mem_free(path);
	return file;
}

static void kill_workers(struct run *run, const struct slot *only)
{
	struct os_file *held = run->workers.alive ? hold_live_cache(run) : NULL;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		if (slot->child && (!only || only == slot))
			child_kill(slot->child);
	}
	if (held)
		uv_sleep(LATE_WRITE_MS);
	os_file_close(held);
}

/* Each event of the loop ends here, and with it all workers if any code has decided to end the
 * run. */
static void end_event(struct run *run)
{
	if (run->loop.stopping && !run->loop.ended)
		kill_workers(run, NULL);
	run->loop.ended = run->loop.stopping;
	report_progress(run);
}

static void check_interrupt(struct run *run)
{
	if (run->loop.stopping || !cancel_asked(&run->setup->options->cancel))
		return;
	run->result->interrupted = true;
	run->loop.stopping = true;
}

/* Nothing is left to wait for. */
static void close_clock(struct run *run)
{
	if (!uv_is_closing((uv_handle_t *)&run->loop.tick))
		uv_close((uv_handle_t *)&run->loop.tick, NULL);
}

/* Checks the time budget: compiles in progress are finished, and none begins that would not end in
 * time. */
static void check_budget(struct run *run)
{
	const double left_ms = (double)run->setup->options->plan.budget_ms -
						   (double)(os_monotonic_ns() - run->loop.began_ns) / 1e6;
	size_t index;

	if (!run->setup->options->plan.budget_ms || run->loop.stopping)
		return;
	while ((index = job_queue_peek(&run->queue)) != QUEUE_EMPTY &&
		   pace_ms(&run->report.pace, 1, module_of(run, index)->cost_ms) > left_ms) {
		(void)job_queue_take(&run->queue);
		run->result->out_of_time = true;
	}
	if (left_ms > 0)
		return;
	if (job_queue_peek(&run->queue) != QUEUE_EMPTY || job_queue_has_suspects(&run->queue))
		run->result->out_of_time = true;
	job_queue_clear(&run->queue);
}

static int send_job(struct run *run, struct slot *slot, const struct run_job *job)
{
	const struct plan_module *module = module_of(run, job->module);
	const struct spool_place *place = &run->setup->spool->places[job->module];
	struct protocol_job message = {
		.id = job->module,
		.device = run->workers.pool.devices[job->device].ordinal,
		.form = module->form,
		.offset = place->offset,
		.size_bytes = place->size_bytes,
		.spare_bytes = run_gpu_spare_bytes(run, slot, job->device),
		.entry_offset = module->entry_offset - module->container_offset,
	};

	memcpy(message.path, place->path, strlen(place->path) + 1);
	if (child_send(run->err, slot->child, &message))
		return -1;
	if (!slot->job_count)
		slot->since_ns = os_monotonic_ns();
	slot->devices |= UINT64_C(1) << job->device;
	slot->jobs[slot->job_count++] = *job;
	run->report.progress.current = run->setup->plan->files[module->file].path;
	return 0;
}

/* Gives a worker jobs until it has enough or has to end. */
static void feed_worker(struct run *run, struct slot *slot)
{
	check_budget(run);
	while (!run->loop.stopping) {
		const struct run_order order = run_next_order(run, slot);

		switch (order.what) {
		case ORDER_NOTHING: return;
		case ORDER_FINISH:
			worker_event(slot, EVENT_NO_MORE_JOBS);
			child_finish(slot->child);
			return;
		case ORDER_COMPILE:
			if (send_job(run, slot, &order.job))
				break_off(run);
			break;
		case ORDER_MET:
			run->result->met++;
			module_done(run, order.job.module);
			break;
		case ORDER_CANNOT: run_module_failed(run, order.job.module, order.why, ""); break;
		}
	}
}

static void start_worker(struct run *run, struct slot *slot);

/* Gives work to workers that were held back, and starts new ones if there is room again. */
static void wake_workers(struct run *run)
{
	run->workers.held_back = false;
	for (unsigned i = 0; !run->loop.stopping && i < run->setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		if (slot->retired)
			continue;
		if (!slot->child && needs_worker(run))
			start_worker(run, slot);
		else if (slot->state == WORKER_READY && !slot->job_count)
			feed_worker(run, slot);
	}
}

static void on_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct slot *slot = context;

	(void)child;
	if (run_take_hello(slot->run, slot, hello))
		feed_worker(slot->run, slot);
	end_event(slot->run);
}

static void on_answer(void *context, struct child *child, const struct protocol_answer *answer)
{
	struct slot *slot = context;
	struct run *run = slot->run;

	if (run->loop.stopping)
		return;
	if (!run_take_answer(run, slot, answer)) {
		child_distrust(child, "an answer to a job that was not sent");
		return;
	}
	if (!run->loop.stopping && slot->state == WORKER_READY)
		feed_worker(run, slot);
	if (run->workers.held_back)
		wake_workers(run);
	end_event(run);
}

/* Returns the slot for the next worker: this one's, unless its worker was retired. */
static struct slot *choose_slot(struct run *run, struct slot *slot)
{
	if (!slot->retired)
		return slot;
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *other = &run->workers.slots[i];

		if (!other->child && !other->retired)
			return run->workers.alive ? NULL : other;
	}
	/* Starts a worker for the remaining modules. */
	slot->retired = run->workers.alive > 0;
	return slot->retired ? NULL : slot;
}

static void on_end(void *context, struct child *child, const struct child_end *how)
{
	struct slot *slot = context;
	struct run *run = slot->run;
	const bool in_compile = slot->job_count > 0;

	(void)child;
	slot->child = NULL;
	run->workers.alive--;
	/* The same signal may have reached the workers too. */
	check_interrupt(run);
	if (!run->loop.stopping) {
		run_blame(run, slot, how);
		if (run_is_hopeless(run, slot, how, in_compile))
			break_off(run);
	}
	worker_event(slot, EVENT_GONE);
	if (!run->loop.stopping && needs_worker(run) && (slot = choose_slot(run, slot)))
		start_worker(run, slot);
	/* Only entries that wait for the cache's lock remain. */
	if (!run->workers.alive) {
		run->late.news_ns = os_monotonic_ns();
		if (!run->result->opaque)
			insert_late(run);
		if (!run->late.count || run->loop.stopping)
			close_clock(run);
	}
	end_event(run);
}

/* A failure ends the run. */
static void start_worker(struct run *run, struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	const struct child_setup child = {
		.command = setup->worker,
		.cache_dir = slot->cache_dir,
		.cache_limit_bytes = setup->live ? UINT64_C(4294967296) : setup->system->cache.limit_bytes,
		.low_priority = setup->options->compile.low_priority,
		.task = setup->task,
	};
	const struct child_events events = {
		.context = slot, .hello = on_hello, .answer = on_answer, .end = on_end};

	worker_event(slot, EVENT_STARTED);
	slot->resident_bytes = slot->peak_bytes = slot->devices = 0;
	slot->cpu_ms = 0;
	if (child_start(run->err, &run->loop.uv, &child, &events, &slot->child))
		break_off(run);
	else
		run->workers.alive++;
}

static void kill_if_late(struct run *run, struct slot *slot)
{
	const struct run_setup *setup = run->setup;
	uint64_t most_ns;

	if (slot->state == WORKER_STARTING)
		most_ns = (setup->start_ms ? setup->start_ms : START_MS) * UINT64_C(1000000);
	else if (slot->state == WORKER_READY && slot->job_count)
		most_ns = compile_limit_ns(run, slot->jobs[0].module);
	else if (slot->state == WORKER_FINISHING || slot->state == WORKER_SPENT)
		most_ns = (setup->end_ms ? setup->end_ms : END_MS) * UINT64_C(1000000);
	else
		return;
	if (os_monotonic_ns() - slot->since_ns <= most_ns)
		return;
	worker_event(slot, EVENT_TOO_LATE);
	kill_workers(run, slot);
}

/* The time since which something lasts, without a pause that has just ended. */
static uint64_t shift_by_pause(uint64_t since, uint64_t gap, uint64_t now)
{
	return now - since > gap ? since + gap : now;
}

/* Shifts all clocks by the time of a suspension, which does not count. */
static void leave_out_suspension(struct run *run)
{
	const uint64_t now = os_monotonic_ns(), gap = now - run->loop.ticked_ns;

	run->loop.ticked_ns = now;
	if (gap < STOPPED_MS * UINT64_C(1000000))
		return;
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		slot->since_ns = shift_by_pause(slot->since_ns, gap, now);
		slot->cpu_ms = 0;
	}
	run->late.news_ns = shift_by_pause(run->late.news_ns, gap, now);
}

static void on_tick(uv_timer_t *timer)
{
	struct run *run = timer->data;
	const struct late_entries *late = &run->late;
	struct slot *victim;

	check_budget(run);
	leave_out_suspension(run);
	check_interrupt(run);
	for (unsigned i = 0; !run->loop.stopping && i < run->setup->workers; i++)
		kill_if_late(run, &run->workers.slots[i]);
	victim = run_check_machine(run);
	if (victim) {
		worker_event(victim, EVENT_MAKES_ROOM);
		kill_workers(run, victim);
	}
	wake_workers(run);
	if (!run->loop.stopping && os_monotonic_ns() - late->tried_ns > LOCK_EVERY_NS)
		insert_late(run);
	if (!run->workers.alive &&
		(!late->count || run->loop.stopping || os_monotonic_ns() - late->news_ns > LOCK_LAST_NS))
		close_clock(run);
	end_event(run);
}

static void pause_workers(struct run *run, bool paused)
{
	for (unsigned i = 0; i < run->setup->workers; i++)
		if (run->workers.slots[i].child)
			child_pause(run->workers.slots[i].child, paused);
}

/* Stops and continues the run for Ctrl-Z. The keyboard stops the workers too; a signal to only the
 * supervisor would not. The supervisor must not be stopped while it holds the lock of the cache's
 * index, since programs wait for it. On the loop's thread it holds no lock. */
static void on_stop(uv_signal_t *handle, int number)
{
	struct run *run = handle->data;

	(void)number;
	pause_workers(run, true);
	os_stop_self();
	pause_workers(run, false);
}

static void begin_run(struct run *run)
{
	const struct run_setup *setup = run->setup;
	struct jw_prime_progress *progress = &run->report.progress;
	uint64_t total, available;

	run->workers.threads = os_cores();
	run->workers.cores = os_physical_cores();
	if (!os_memory(&total, &available))
		available = 0;
	memory_budget_begin(&run->memory.budget, setup->workers,
						setup->options->compile.max_memory_bytes, available);
	progress->total = run->queue.count;
	progress->current = "";
	for (size_t i = 0; i < run->queue.count; i++) {
		const struct plan_module *module = module_of(run, run->queue.order[i]);

		progress->used += module->used;
		progress->total_bytes += module->payload_bytes;
		progress->total_weight_ms += module->cost_ms;
	}
	(void)uv_timer_init(&run->loop.uv, &run->loop.tick);
	run->loop.tick.data = run;
	(void)uv_timer_start(&run->loop.tick, on_tick, TICK_MS, TICK_MS);
	(void)uv_signal_init(&run->loop.uv, &run->loop.stop_signal);
	run->loop.stop_signal.data = run;
	if (os_stop_signal())
		(void)uv_signal_start(&run->loop.stop_signal, on_stop, os_stop_signal());
	/* This handle does not keep the loop running. */
	uv_unref((uv_handle_t *)&run->loop.stop_signal);
	for (unsigned i = 0; !run->loop.broken && i < setup->workers; i++) {
		struct slot *slot = &run->workers.slots[i];

		slot->run = run;
		slot->cache_dir = setup->live ? mem_printf("%s/worker-%u", setup->folder, i)
									  : mem_string(setup->system->cache.path);
		if (os_make_dirs(run->err, slot->cache_dir, 0700))
			break_off(run);
	}
	for (unsigned i = 0; !run->loop.broken && i < setup->workers; i++)
		start_worker(run, &run->workers.slots[i]);
	if (run->loop.broken)
		end_event(run);
	if (!run->workers.alive)
		close_clock(run);
}

int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result)
{
	const uint64_t began_ns = os_monotonic_ns();
	struct run run = {.setup = setup,
					  .outcome = result,
					  .result = &result->compile,
					  .failure_capacity = result->compile.failure_count,
					  .forecast = &result->plan.forecast,
					  .err = err,
					  .loop = {.began_ns = began_ns, .ticked_ns = began_ns}};

	if (os_loop_open(err, &run.loop.uv))
		return -1;
	job_queue_open(setup->plan, &run.queue);
	run.late.modules = mem_array(setup->plan->module_count, sizeof *run.late.modules);
	run.workers.slots = mem_array(setup->workers, sizeof *run.workers.slots);
	begin_run(&run);
	note_taken_names(&run);
	(void)uv_run(&run.loop.uv, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&run.loop.stop_signal, NULL);
	(void)uv_run(&run.loop.uv, UV_RUN_DEFAULT);
	(void)uv_loop_close(&run.loop.uv);
	if (run.late.count && !run.loop.broken)
		run_add_note(result,
					 "%s could not be put into the cache; the same command compiles again: %s",
					 TEXT_COUNT(run.late.count, "compiled module", "compiled modules"),
					 run.late.why.message);
	result->compile.undone = run.queue.count - run.report.progress.done;
	result->compile.seconds += (double)(os_monotonic_ns() - began_ns) / 1e9;
	for (unsigned i = 0; i < setup->workers; i++)
		mem_free(run.workers.slots[i].cache_dir);
	mem_free(run.workers.slots);
	mem_free(run.late.modules);
	job_queue_close(&run.queue);
	if (run.loop.broken)
		return -1;
	return 0;
}
