/* A run whose workers behave as faulty drivers do. The workers are shell scripts. */
#include "runs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the cases */

CASE(the_job_that_was_begun_is_to_blame)
{
	OK(run_with(why, 1, "do_job() { [ $1 != 2 ] || kill -SEGV $$; fine $1; }\nhello; serve\n"));
	assert_int_equal(result->compile.compiled, MODULES - 1);
	assert_int_equal(result->compile.failed, 1);
	assert_non_null(strstr(result->compile.failures[0].reason, "segmentation fault"));
	assert_int_equal(warm(), MODULES - 1);
}

CASE(the_second_try_comes_last_and_alone)
{
	/* "N+" marks the beginning of a job, "N-" its end. */
	OK(run_with(why, 2,
				"do_job() { echo \"$1+\" >>\"$marks/order\";\n"
				"[ $1 != 0 ] || ! once bad || kill -ABRT $$;\n"
				"sleep 0.05; echo \"$1-\" >>\"$marks/order\"; fine $1; }\n"
				"hello; serve\n"));
	expect_all();
	expect_order("0+\n0-\n", true);
}

CASE(a_context_that_is_always_lost_ends_the_run)
{
	GIVES(JW_ERR_DRIVER, run_with(why, 1,
								  "do_job() { answer $1 700 true false CUDA_ERROR_ILLEGAL_ADDRESS; "
								  "exit 0; }\nhello; serve\n"));
	assert_int_equal(result->compile.compiled, 0);
}

CASE(a_worker_that_does_not_end_is_ended)
{
	end_ms = 100;
	OK(run_with(why, 2, "do_job() { fine $1; }\nhello; serve; exec sleep 100\n"));
	expect_all();
}

CASE(nor_is_one_waited_for_that_said_it_ends)
{
	end_ms = 100;
	(void)alarm(30);
	OK(run_with(why, 1,
				"do_job() { if once lost; then answer $1 700 true; exec sleep 100;\n"
				"else fine $1; fi; }\nhello; serve\n"));
	expect_all();
}

/* The worker's next job, which it has not begun, is no suspect that comes last and alone. */
CASE(one_that_said_it_ends_and_hangs_is_not_blamed_for_more)
{
	end_ms = 100;
	OK(run_with(why, 1,
				"do_job() { echo \"$1+\" >>\"$marks/order\";\n"
				"if once lost; then answer $1 700 true; exec sleep 100; else fine $1; fi; }\n"
				"hello; serve\n"));
	expect_all();
	expect_order("0+\n1+\n2+\n3+\n4+\n5+\n0+\n", true);
}

CASE(nobody_waits_for_what_a_worker_left_behind)
{
	char *over = keep(mark_path("over")), *outlived = keep(mark_path("outlived"));

	/* The worker's pipes stay open while this child lives. */
	OK(run_with(why, 1,
				"do_job() { fine $1; }\n"
				"(tries=0; until [ -e \"$marks/over\" ]; do sleep 0.1\n"
				"tries=$((tries + 1)); [ $tries -lt 150 ] || exec mkdir "
				"\"$marks/outlived\"; done) & hello; serve\n"));
	assert_false(os_exists(outlived));
	OK(os_make_dirs(why, over, 0700));
	expect_all();
}

CASE(a_driver_that_does_not_start_ends_the_run)
{
	start_ms = 500;
	GIVES(JW_ERR_DRIVER, run_with(why, 3, "exec sleep 100\n"));
	assert_int_equal(result->compile.undone, MODULES);
}

CASE(what_was_not_asked_is_not_taken)
{
	OK(run_with(why, 1,
				"do_job() { if once odd; then answer 77 0; else fine $1; fi; }\n"
				"hello; serve\n"));
	expect_all();
}

/* A run that has waited for the lock and then cannot write ends as it would have ended at once. */
CASE(a_cache_that_cannot_be_written_ends_the_run)
{
	for (unsigned held_ms = 0; held_ms < 1000; held_ms += 700) {
		char *entry = keep(cache_entry_path(cache, modules[2].key));
		pid_t pid;

		(void)end(state);
		(void)begin(state);
		/* a file in the place of the entry's folder */
		files_put_at(os_dir_name(entry), "x", 1);
		pid = held_ms ? hold_lock(held_ms) : 0;
		assert_int_equal(run_with(why, 1, "do_job() { fine $1; }\nhello; serve\n"), -1);
		assert_true(!pid || waitpid(pid, NULL, 0) == pid);
		assert_int_equal(result->compile.failed, 0);
	}
}

CASE(a_lock_that_is_never_free_is_reported)
{
	char holder[80];
	pid_t pid = hold_lock(60000);

	OK(run_with(why, 2, "do_job() { fine $1; }\nhello; serve\n"));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compile.compiled, 0);
	assert_int_equal(result->compile.undone, MODULES);
	assert_int_equal(result->note_count, 1);
	(void)snprintf(holder, sizeof holder, "locked by unit (process %d)", (int)pid);
	assert_non_null(strstr(result->notes[0], holder));
}

CASE(what_another_run_has_added_is_not_compiled)
{
	char *root = keep(mem_printf("%s/trees/3", folder)),
		 *from = keep(cache_entry_path(root, modules[3].key));
	struct buf bytes = {0};

	OK(os_read_file(why, from, 1 << 20, &bytes));
	files_put_at(cache_entry_path(cache, modules[3].key), bytes.data, bytes.size);
	OK(run_with(why, 1, "do_job() { fine $1; }\nhello; serve\n"));
	assert_int_equal(result->compile.compiled, MODULES - 1);
	assert_int_equal(result->compile.met, 1);
	assert_int_equal(result->compile.undone, 0);
	/* A worker that uses the cache itself looks for entries itself. */
	opaque = true;
	OK(run_with(why, 1, "do_job() { answer $1 0; }\nhello; serve\n"));
	assert_int_equal(result->compile.met, 1);
	buf_free(&bytes);
}

/* Makes an entry of the driver with a longer key, which belongs to no module of the plan. */
static void make_foreign(void)
{
	char *root = keep(mem_printf("%s/trees/77", folder));
	struct entries_entry entry;

	entries_make(&entry, 100077, 100);
	files_put_at(cache_entry_path(root, entry.key), entry.bytes, entry.size);
}

/* A foreign entry does not wait for the lock with the others, whose names are those of modules. */
CASE(a_foreign_entry_does_not_wait_for_the_lock)
{
	char *wanted = keep(os_join(folder, "marks/lock")), *held = keep(os_join(folder, "marks/held"));
	pid_t pid = fork();

	if (!pid) {
		while (!os_exists(wanted))
			(void)usleep(1000);
		pid = hold_lock(1500);
		_exit(os_make_dirs(NULL, held, 0700) || waitpid(pid, NULL, 0) != pid);
	}
	make_foreign();
	OK(run_with(why, 1,
				"do_job() { if [ $1 = 3 ]; then mkdir \"$marks/lock\"\n"
				"until [ -e \"$marks/held\" ]; do sleep 0.01; done\n"
				"make_entry 77; answer 3 0\n"
				"else fine $1; fi; }\nhello; serve\n"));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compile.compiled, MODULES - 1);
	assert_int_equal(result->compile.failed, 1);
	assert_non_null(strstr(result->compile.failures[0].reason, "locked by"));
}

/* ---- how workers begin and end */

CASE(each_worker_has_an_environment_of_its_own)
{
	static const char body[] = "do_job() { fine $1; }\necho \"${CUDA_CACHE_PATH##*/} "
							   "$CUDA_CACHE_MAXSIZE $JITWARM_BACKGROUND $JITWARM_WORKER_TASK\" "
							   ">>\"$marks/order\"\nhello; serve\n";

	OK(run_with(why, 2, body));
	expect_all();
	expect_order("worker-0 4294967296  \n", false);
	expect_order("worker-1 4294967296  \n", false);
	(void)end(state);
	(void)begin(state);
	/* A worker that uses the live cache itself has the cache's limit. */
	opaque = options.compile.low_priority = true;
	jw_machine.cache.limit_bytes = 12345;
	task = "a-task";
	OK(run_with(why, 1, body));
	expect_order("cache 12345 1 a-task\n", true);
}

/* An idle worker may wait as long as others work. Its end may take that long again. */
CASE(idle_workers_live_and_end_by_themselves)
{
	char *marks = keep(mark_path(""));

	options.compile.max_memory_bytes = UINT64_C(600) << 20;
	options.plan.budget_ms = 2000;
	modules[0].memory_bytes = UINT64_C(1) << 30;
	modules[0].cost_ms = 600;
	end_ms = 1700;
	files_put_text(marks, "order", "run\n");
	OK(run_with(why, 2,
				"echo begun >>\"$marks/order\"\n"
				"do_job() { sleep 2.5; fine $1; }\nhello; serve\n"
				"sleep 0.3; echo ended >>\"$marks/order\"\n"));
	assert_int_equal(result->compile.compiled, 1);
	expect_order("run\nbegun\nbegun\nended\nended\n", true);
}

CASE(a_torn_entry_is_tried_once_more)
{
	OK(run_with(why, 1,
				"do_job() { if [ $1 = 2 ] && once torn; then make_entry 2\n"
				"find \"$CUDA_CACHE_PATH\" -type f | while read -r f; do : >\"$f\"; done\n"
				"answer 2 0; else fine $1; fi; }\nhello; serve\n"));
	expect_all();
}

CASE(what_a_driver_found_compiled_is_unchanged)
{
	OK(run_with(why, 1, "do_job() { [ $1 = 2 ] || make_entry $1; answer $1 0; }\nhello; serve\n"));
	assert_int_equal(result->compile.compiled, MODULES - 1);
	assert_int_equal(result->compile.unchanged, 1);
	assert_int_equal(result->compile.undone, 0);
}

/* The run ends while a module is compiled, which is finished; a long one is not begun. */
CASE(a_budget_leaves_suspects_too)
{
	for (int suspect = 0; suspect < 2; suspect++) {
		char *body = keep(mem_printf("do_job() { [ $1 != %d ] || kill -SEGV $$\n"
									 "[ $1 != 5 ] || sleep 2; fine $1; }\nhello; serve\n",
									 suspect ? 1 : -1));

		(void)end(state);
		(void)begin(state);
		modules[0].cost_ms = suspect ? 10 : 9e3, modules[5].cost_ms = 9;
		options.plan.budget_ms = 1500;
		OK(run_with(why, 1, body));
		assert_true(result->compile.out_of_time);
		assert_int_equal(result->compile.undone, 1);
		assert_int_equal(result->compile.compiled, MODULES - 1);
	}
}

/* ---- while this process is stopped */

static char state_of(pid_t process)
{
	char *path = keep(mem_printf("/proc/%d/stat", (int)process));
	struct buf text = {0};
	const char *end_of_name;
	char letter = '?';

	if (!os_read_file(NULL, path, 4096, &text) && (end_of_name = strrchr(buf_text(&text), ')')))
		letter = end_of_name[2];
	buf_free(&text);
	return letter;
}

/* Once a job was begun, the child that this starts stops this process for so long. It ends with 0
 * if the worker was stopped, too, or with `worker_too` false, if it was not. */
static pid_t stop_parent(int number, unsigned milliseconds, bool worker_too)
{
	const pid_t parent = getpid(), child = fork();
	char *path = keep(mark_path("pid"));
	struct buf text = {0};
	pid_t worker;

	if (child) {
		return child;
	}
	await_mark("begun");
	worker = os_read_file(NULL, path, 20, &text) ? 0 : (pid_t)atoi(buf_text(&text));
	(void)kill(parent, number);
	while (state_of(parent) != 'T')
		(void)usleep(1000);
	(void)usleep(milliseconds * 1000);
	for (unsigned i = 0; worker_too && state_of(worker) != 'T' && i < 20000; i++)
		(void)usleep(1000);
	if ((state_of(worker) == 'T') != worker_too)
		worker = 0;
	(void)kill(parent, SIGCONT);
	_exit(!worker);
}

static const char one_begins[] =
	"do_job() { if once begun-$1; then echo $$ >\"$marks/pid\"; once begun\n"
	"[ $1 != 0 ] || sleep 1.5; fi; fine $1; }\nhello; serve\n";

/* The keyboard's Ctrl-Z stops the workers, a signal to this process alone does not. */
CASE(workers_are_stopped_with_the_run)
{
	const pid_t child = stop_parent(SIGTSTP, 100, true);
	int status = -1;

	OK(run_with(why, 1, one_begins));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect_all();
}

/* The time in which the process was stopped does not count for a compile. */
CASE(stopped_time_is_not_a_workers)
{
	const pid_t child = stop_parent(SIGSTOP, 3000, false);
	char *again = keep(mark_path("again"));
	int status = -1;

	/* The module ends after the stop, and is not begun again. */
	options.compile.module_timeout_ms = 2500;
	OK(run_with(why, 1,
				"do_job() { if [ $1 = 0 ]; then once first || once again\n"
				"echo $$ >\"$marks/pid\"; once begun; sleep 4; fi; fine $1; }\n"
				"hello; serve\n"));
	assert_false(os_exists(again));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect_all();
}

RUN_TESTS(make_folder, remove_folder)
