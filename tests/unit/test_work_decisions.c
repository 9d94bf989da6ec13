/* The decisions of a run by its queue, without workers or a clock. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/platform.h"
#include "root.h"
#include "work/run.h"
#include "work/supervisor.h"

static struct plan_module modules[5];
static struct plan plan = {.modules = modules, .module_count = 5};

static int prepare(void **state)
{
	static const enum plan_state states[5] = {PLAN_COLD, PLAN_WARM, PLAN_COLD, PLAN_LEFT_OUT,
											  PLAN_COLD};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		modules[i].state = states[i];
	return 0;
}

/* ---- the queue: most expensive first, each module once; a module that ended its worker gets a
 * second try when nothing else is left */

TEST_WITH(a_module_is_tried_twice_and_no_more, prepare, NULL)
{
	struct job_queue queue;

	job_queue_open(&plan, &queue);
	assert_int_equal(job_queue_take(&queue), 0);
	assert_false(job_queue_is_suspect(&queue, 0));
	assert_true(job_queue_retry(&queue, 0));
	assert_true(job_queue_is_suspect(&queue, 0));
	assert_int_equal(job_queue_take(&queue), 2);
	assert_true(job_queue_retry(&queue, 2));
	assert_int_equal(job_queue_take(&queue), 4);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), 0);
	assert_false(job_queue_retry(&queue, 0));
	/* The module was taken and never begun: it is next again, and still a suspect. */
	assert_int_equal(job_queue_take_suspect(&queue), 2);
	assert_false(job_queue_has_suspects(&queue));
	job_queue_return(&queue, 2);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), 2);
	assert_int_equal(job_queue_take_suspect(&queue), QUEUE_EMPTY);
	job_queue_close(&queue);
}

/* A living worker without a job is idle. */
TEST_WITH(nothing_is_left_of_a_cleared_queue, prepare, NULL)
{
	struct job_queue queue;

	job_queue_open(&plan, &queue);
	assert_int_equal(job_queue_take(&queue), 0);
	job_queue_return(&queue, 0);
	assert_int_equal(job_queue_take(&queue), 0);
	assert_true(job_queue_retry(&queue, 0));
	/* one module from the middle; the others keep their order */
	assert_true(job_queue_take_this(&queue, 4));
	assert_false(job_queue_take_this(&queue, 4));
	assert_int_equal(job_queue_peek(&queue), 2);
	job_queue_return(&queue, 4);
	job_queue_clear(&queue);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), QUEUE_EMPTY);
	job_queue_close(&queue);
}

/* ---- a run of three workers, the first of which asks */

enum { WORKERS = 3, GPUS = 3 };

static struct plan_target target = {.device = {.sm = 86}};
static char path[] = "library.so", long_path[5000];
static struct plan_file file = {.path = path};
static struct spool_place places[5];
static char nowhere[] = "/nonexistent";
static struct jw_system machine = {.cache.path = nowhere};
static struct jw_prime_options options;
static struct jw_prime_compiled result;
static struct jw_forecast forecast;
static struct slot slots[WORKERS];
static bool inserted[5];
static struct run_setup setup;
static struct run *run;

static int begin_run(void **state)
{
	static const struct spool spool = {.places = places};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		modules[i] = (struct plan_module){
			.state = PLAN_COLD, .cost_ms = 10, .payload_bytes = 7, .memory_bytes = i << 20};
		places[i] = (struct spool_place){path, 100 * i, i};
		inserted[i] = false;
	}
	plan.files = &file;
	plan.file_count = 1;
	plan.targets = &target;
	plan.target_count = 1;
	options = (struct jw_prime_options){0};
	result = (struct jw_prime_compiled){0};
	forecast = (struct jw_forecast){0};
	*why = (struct jw_error){0};
	memset(slots, 0, sizeof slots);
	setup = (struct run_setup){.plan = &plan,
							   .spool = &spool,
							   .system = &machine,
							   .options = &options,
							   .workers = WORKERS,
							   .live = (struct cache_live *)slots,
							   .inserted = inserted};
	run = keep(mem_alloc(sizeof *run));
	job_queue_open(&plan, &run->queue);
	run->setup = &setup;
	run->outcome = arena_open(sizeof *run->outcome);
	run->result = &result;
	run->forecast = &forecast;
	run->err = why;
	run->workers.slots = slots;
	run->workers.alive = WORKERS;
	memory_budget_begin(&run->memory.budget, WORKERS, UINT64_C(1) << 40, 0);
	for (size_t i = 0; i < WORKERS; i++) {
		slots[i].run = run;
		slots[i].child = (struct child *)&slots[i];
		slots[i].state = WORKER_READY;
	}
	run->workers.pool.count = GPUS;
	for (size_t i = 0; i < GPUS; i++) {
		run->workers.pool.devices[i].ordinal = (int)i + 7;
		run->workers.pool.devices[i].target.sm = 86;
	}
	return 0;
}

static int end_run(void **state)
{
	(void)state;
	job_queue_close(&run->queue);
	jw_result_free(run->outcome);
	return 0;
}

#define CASE(name) TEST_WITH(name, begin_run, end_run)

static void give(struct slot *slot, size_t device)
{
	slot->jobs[slot->job_count++] = (struct run_job){job_queue_take(&run->queue), device};
}

static void make_suspect(size_t module)
{
	assert_true(job_queue_take_this(&run->queue, module));
	assert_true(job_queue_retry(&run->queue, module));
}

static int next_step(void)
{
	return (int)run_next_order(run, &slots[0]).what;
}

/* A second job waits behind a short one that is no suspect. */
CASE(a_second_job_waits_behind_a_short_one)
{
	static const struct {
		double cost_ms;
		bool suspect;
		int step;
	} cases[] = {
		{250, false, ORDER_COMPILE}, {251, false, ORDER_NOTHING}, {1, true, ORDER_NOTHING}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		slots[0].job_count = 0;
		give(&slots[0], 0);
		modules[slots[0].jobs[0].module].cost_ms = cases[i].cost_ms;
		run->queue.tries[slots[0].jobs[0].module] = cases[i].suspect;
		assert_int_equal(next_step(), cases[i].step);
	}
	assert_int_equal(slots[0].job_count, 1);
	slots[0].jobs[1] = slots[0].jobs[0];
	slots[0].job_count = RUN_DEPTH;
	assert_int_equal(next_step(), ORDER_NOTHING);
}

CASE(who_waits_and_who_ends)
{
	/* On battery, everybody waits, also if only suspects are left. */
	run->memory.on_battery = true;
	assert_int_equal(next_step(), ORDER_NOTHING);
	for (size_t i = 0; i < 5; i++)
		make_suspect(i);
	assert_int_equal(next_step(), ORDER_NOTHING);
	assert_true(run->workers.held_back);
	run->memory.on_battery = false;
	assert_int_equal(run_next_order(run, &slots[0]).job.module, 0);
	/* A suspect waits for the working workers. */
	slots[1].job_count = 1;
	assert_int_equal(next_step(), ORDER_FINISH);
	slots[1].job_count = 0;
	slots[0].retired = true;
	assert_int_equal(next_step(), ORDER_FINISH);
}

CASE(memory_lets_few_work)
{
	run->memory.budget.allowed = 1;
	give(&slots[1], 0);
	/* One more worker lives than may work, so it ends; so does one that has grown. */
	assert_int_equal(next_step(), ORDER_FINISH);
	run->workers.alive = 1;
	assert_int_equal(next_step(), ORDER_NOTHING);
	slots[0].resident_bytes = 2 * run->memory.budget.worker_bytes;
	assert_int_equal(next_step(), ORDER_NOTHING);
	slots[0].resident_bytes++;
	assert_int_equal(next_step(), ORDER_FINISH);
	/* A worker's own job does not count as another's. */
	slots[1].job_count = 0;
	give(&slots[0], 0);
	assert_int_equal(next_step(), ORDER_COMPILE);
}

/* A worker leaves memory to others on the same GPU, and to no others: each set of GPUs of the two
 * other workers, dead or alive. */
CASE(memory_of_a_gpu_is_spared_for_its_own_workers)
{
	for (uint64_t at = 0; at < 1 << (3 * GPUS + 2); at++) {
		bool others[GPUS] = {false};

		for (size_t i = 0; i < WORKERS; i++) {
			slots[i].devices = at >> (GPUS * i) & 7;
			slots[i].child = !i || at >> (3 * GPUS + i - 1) & 1 ? (struct child *)&slots[i] : NULL;
			for (size_t k = 0; k < GPUS; k++)
				others[k] = others[k] || (i && slots[i].child && slots[i].devices >> k & 1);
		}
		for (size_t k = 0; k < GPUS; k++)
			assert_int_equal(run_gpu_spare_bytes(run, &slots[0], k) > 0, others[k]);
	}
}

CASE(what_cannot_be_compiled_says_why)
{
	struct run_order order;

	memset(long_path, 'x', sizeof long_path - 1);
	places[0].path = NULL;
	order = run_next_order(run, &slots[0]);
	assert_int_equal(order.what, ORDER_CANNOT);
	assert_string_equal(order.why, "its bytes cannot be read");
	places[1].path = long_path + sizeof long_path - sizeof((struct protocol_job *)0)->path - 1;
	order = run_next_order(run, &slots[0]);
	assert_int_equal(order.what, ORDER_CANNOT);
	assert_string_equal(order.why, "its path is too long");
	places[2].path = places[1].path + 1;
	assert_int_equal(next_step(), ORDER_COMPILE);
	for (size_t i = 0; i < GPUS; i++)
		run->workers.pool.barred[i] = true;
	TEXT_COPY(run->workers.pool.why, "busy");
	order = run_next_order(run, &slots[0]);
	assert_int_equal(order.what, ORDER_CANNOT);
	assert_string_equal(order.why, "none of the GPUs for this code can be used: busy");
}

static void on_battery_message(void *context, const char *line)
{
	++*(unsigned *)context;
	assert_non_null(strstr(line, "battery"));
}

/* Only a run in the background waits for the mains, and it says so once. */
CASE(the_battery_matters_in_the_background)
{
	unsigned messages = 0;

	if (os_is_windows)
		skip();
	assert_int_equal(root_make(state), 0);
	root_put("sys/class/power_supply/BAT0/type", "Battery\n");
	root_put("sys/class/power_supply/BAT0/status", "Discharging\n");
	options.message = on_battery_message;
	options.context = &messages;
	for (size_t i = 0; i < WORKERS; i++)
		slots[i].child = NULL;
	for (unsigned i = 0; i < 4; i++) {
		options.compile.low_priority = i % 3 > 0;
		run->memory.checked_ns = 0;
		assert_null(run_check_machine(run));
		assert_int_equal(run->memory.on_battery, options.compile.low_priority);
	}
	assert_int_equal(messages, 1);
	assert_int_equal(root_remove(state), 0);
}

/* ---- inserted entries */

CASE(what_was_inserted_is_counted)
{
	const struct jw_error bad = {.code = JW_ERR_FORMAT, .message = "torn"};

	run_inserted(run, 0, 100, NULL);
	run_inserted(run, 1, -30, NULL);
	run_inserted(run, 2, 0, &bad);
	assert_int_equal(result.compiled, 2);
	assert_int_equal(result.added_bytes, 70);
	assert_int_equal(result.failed, 1);
	assert_true(inserted[0] && inserted[1] && !inserted[2]);
	run_inserted(run, 3, -100, NULL);
	assert_int_equal(result.compiled, 3);
	assert_int_equal(result.added_bytes, 0);
	assert_int_equal(run->report.progress.done, 4);
	assert_int_equal(run->report.progress.done_bytes, 28);
}

/* ---- lost workers */

/* The way in which a worker ended decides whether its module is a suspect, waits again, or neither.
 */
CASE(each_end_has_its_blame)
{
	static const struct {
		struct child_end how;
		enum worker_state state;
		bool suspect, again, retired;
	} cases[] = {
		{{.signal = SIGSEGV}, WORKER_READY, .suspect = true},
		{{.exit_status = 3}, WORKER_READY, .suspect = true},
		{{.signal = SIGKILL}, WORKER_READY, .again = true, .retired = true},
		{{.signal = SIGKILL, .killed = true}, WORKER_HUNG, .suspect = true},
		{{.signal = SIGKILL, .killed = true}, WORKER_YIELDING, .again = true},
		{{0}, WORKER_SPENT, .again = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct child_end how = cases[i].how;

		(void)end_run(NULL);
		OK(begin_run(NULL));
		how.said = how.protocol = "";
		give(&slots[0], 0);
		give(&slots[0], 0);
		slots[0].state = cases[i].state;
		run_blame(run, &slots[0], &how);
		assert_int_equal(slots[0].job_count, 0);
		assert_int_equal(run->queue.again_count, cases[i].again ? 2 : 1);
		assert_int_equal(job_queue_has_suspects(&run->queue), cases[i].suspect);
		assert_int_equal(job_queue_is_suspect(&run->queue, 0), cases[i].suspect);
		assert_int_equal(slots[0].retired, cases[i].retired);
		assert_int_equal(result.failed, 0);
	}
	/* The second time the module is given up, and the message says how the worker ended. */
	give(&slots[0], 0);
	give(&slots[0], 0);
	(void)job_queue_retry(&run->queue, slots[0].jobs[0].module);
	slots[0].state = WORKER_HUNG;
	run_blame(run, &slots[0], &(struct child_end){.said = "log", .protocol = ""});
	assert_int_equal(result.failed, 1);
	assert_string_equal(result.failures[0].reason,
						"the driver's compiler did not end within 10 min, twice");
	assert_string_equal(result.failures[0].log, "log");
}

/* A worker ends outside a compile three times in a row; then one of several workers is given up. */
CASE(workers_that_do_not_live_end_a_run)
{
	static const struct {
		enum worker_state state;
		bool in_compile, retired;
		unsigned failed_starts;
	} cases[] = {
		{WORKER_READY, .failed_starts = 1},    {WORKER_READY, .in_compile = true},
		{WORKER_READY, .retired = true},       {WORKER_STARTING, .failed_starts = 1},
		{WORKER_MUTE, .failed_starts = 1},     {WORKER_FINISHING, .failed_starts = 0},
		{WORKER_SPENT, .failed_starts = 0},    {WORKER_HUNG, .failed_starts = 0},
		{WORKER_YIELDING, .failed_starts = 0},
	};
	const struct child_end how = {.exit_status = 5, .said = "oh", .protocol = ""};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		run->workers.failed_starts = 0;
		slots[0].state = cases[i].state;
		slots[0].retired = cases[i].retired;
		assert_false(run_is_hopeless(run, &slots[0], &how, cases[i].in_compile));
		assert_int_equal(run->workers.failed_starts, cases[i].failed_starts);
	}
	slots[0].state = WORKER_READY;
	run->workers.failed_starts = 2;
	assert_false(run_is_hopeless(run, &slots[0], &how, false));
	assert_true(slots[0].retired);
	assert_int_equal(run->workers.failed_starts, 0);
	slots[0].retired = false;
	slots[1].state = WORKER_STARTING;
	slots[2].retired = true;
	run->workers.failed_starts = 2;
	assert_true(run_is_hopeless(run, &slots[0], &how, false));
	assert_string_equal(why->message,
						"workers keep dying: the last ended with status 5, saying: oh");
}

/* A device gives no context: others have one there, it has had one before, or it never had one. */
CASE(a_device_without_a_context_is_barred_or_tried_again)
{
	struct run_job job = {0, 1};

	assert_int_equal(job_queue_take(&run->queue), 0);
	run_without_context(run, &slots[0], job, "mine");
	assert_true(run->workers.pool.barred[1]);
	assert_int_equal(job_queue_take(&run->queue), 0);
	job.device = 2;
	give(&slots[1], 2);
	run_without_context(run, &slots[0], job, "theirs");
	assert_false(run->workers.pool.barred[2]);
	assert_true(slots[0].retired);
	slots[1].job_count = 0;
	slots[0].retired = false;
	slots[1].state = slots[2].state = WORKER_STARTING;
	run->workers.pool.works[2] = true;
	assert_int_equal(job_queue_take(&run->queue), 0);
	run_without_context(run, &slots[0], job, "was");
	assert_false(run->workers.pool.barred[2] || slots[0].retired || run->loop.stopping);
	assert_int_equal(run->workers.failed_compiles, 1);
	assert_string_equal(run->workers.no_context, "could not use the GPU (was)");
	run->workers.pool.works[2] = false;
	run->workers.pool.barred[0] = true;
	assert_int_equal(job_queue_take(&run->queue), 0);
	run_without_context(run, &slots[0], job, "never");
	assert_true(run->loop.broken);
}

/* ---- answers */

static bool takes(const struct protocol_answer *answer)
{
	return run_take_answer(run, &slots[0], answer);
}

CASE(an_answer_is_to_the_first_job)
{
	struct protocol_answer answer = {.id = 0, .result = 1, .error = "bad"};

	assert_false(takes(&answer));
	give(&slots[0], 0);
	give(&slots[0], 0);
	answer.id = 1;
	assert_false(takes(&answer));
	assert_int_equal(slots[0].job_count, 2);
	answer.id = 0;
	assert_true(takes(&answer));
	assert_int_equal(slots[0].job_count, 1);
	assert_int_equal(slots[0].jobs[0].module, 1);
	assert_int_equal(result.failed, 1);
}

/* Every order of answers and of workers that end outside a compile: three such ends in a row are
 * too many, whatever came before. */
CASE(ends_count_in_a_row)
{
	enum { EVENTS = 7, MAX_IN_A_ROW = 3 };
	const struct child_end how = {.exit_status = 5, .said = "", .protocol = ""};
	const struct protocol_answer answer = {.id = 0, .result = 1, .error = "bad"};

	/* No other worker could continue. */
	slots[1].state = WORKER_STARTING;
	slots[2].retired = true;
	for (unsigned order = 0; order < 1u << EVENTS; order++) {
		unsigned in_a_row = 0;

		run->workers.failed_starts = run->workers.failed_compiles = 0;
		for (unsigned i = 0; i < EVENTS && in_a_row < MAX_IN_A_ROW; i++) {
			if (order >> i & 1) {
				slots[0].jobs[0] = (struct run_job){0, 0};
				slots[0].job_count = 1;
				assert_true(takes(&answer));
				in_a_row = 0;
				continue;
			}
			in_a_row++;
			assert_int_equal(run_is_hopeless(run, &slots[0], &how, false),
							 in_a_row == MAX_IN_A_ROW);
		}
	}
}

/* All workers see the same devices, so the first worker's list counts. */
CASE(only_the_first_hello_tells_the_devices)
{
	struct protocol_hello hello = {.device_count = 1, .devices = {{.target = {.sm = 89}}}};

	run->workers.pool.barred[1] = true;
	slots[0].state = WORKER_STARTING;
	assert_true(run_take_hello(run, &slots[0], &hello));
	assert_true(slots[0].state == WORKER_READY && !run->loop.stopping);
	assert_int_equal(run->workers.pool.count, GPUS);
	assert_true(run->workers.pool.barred[1]);
	/* A worker whose driver does not start is not replaced, unless it is the only one. */
	hello.result = 100;
	assert_false(run_take_hello(run, &slots[0], &hello));
	assert_true(slots[0].retired && !run->loop.stopping);
	slots[0].retired = false;
	slots[1].state = slots[2].state = WORKER_STARTING;
	assert_false(run_take_hello(run, &slots[0], &hello));
	assert_true(run->loop.broken && !slots[0].retired);
}

/* Only compile times of this run teach: neither refusals nor entries of the live cache do. */
CASE(only_compiles_teach)
{
	struct cache_live *const live = setup.live;
	struct protocol_answer answer = {
		.cpu_ms = 500, .wall_ms = 600, .peak_bytes = UINT64_C(1) << 30};

	for (int round = 0; round < 2; round++) {
		struct speed_time learnt = {0};

		setup.learnt = &learnt;
		setup.live = round ? NULL : live;
		answer.result = !round;
		slots[0].job_count = 0;
		give(&slots[0], 0);
		answer.id = slots[0].jobs[0].module;
		assert_true(takes(&answer));
		assert_memory_equal(&learnt, &(struct speed_time){0}, sizeof learnt);
	}
	assert_int_equal(result.peak_worker_bytes, UINT64_C(1) << 30);
	assert_int_equal(memory_budget_need(&run->memory.budget, 0), UINT64_C(1) << 30);
	assert_int_equal(result.compiled, 1);
}

/* Failures beyond a limit are counted, too. */
CASE(failures_are_counted)
{
	run_break_off(run, &(struct jw_error){.code = JW_ERR_LIMIT, .message = "first"});
	assert_true(run->loop.broken && run->loop.stopping);
	assert_int_equal(why->code, JW_ERR_LIMIT);
	for (unsigned i = 0; i < 2; i++)
		run_module_failed(run, i, "reason", "");
	assert_int_equal(result.failed, 2);
	assert_int_equal(result.failure_count, 2);
	result.failure_count = 10000;
	run_module_failed(run, 0, "reason", "");
	assert_int_equal(result.failed, 3);
	assert_int_equal(result.failure_count, 10000);
	result.failure_count = 0;
}

RUN_TESTS(NULL, NULL)
