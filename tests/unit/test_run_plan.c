/* A run whose workers behave as faulty drivers do. The workers are shell scripts. */
#include "runs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the cases */

CASE(good_workers_do_everything)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
}

CASE(the_job_that_was_begun_is_to_blame)
{
	struct jw_error err = {0};

	assert_int_equal(
		run_with(&err, 1, "do_job() { [ $1 != 2 ] || kill -SEGV $$; fine $1; }\nhello; serve\n"),
		0);
	assert_int_equal(result->compiled, MODULES - 1);
	assert_int_equal(result->failed, 1);
	assert_non_null(strstr(result->failures[0].reason, "segmentation fault"));
	assert_int_equal(warm(), MODULES - 1);
}

CASE(the_second_try_comes_last_and_alone)
{
	struct jw_error err = {0};

	/* "N+" at the beginning of a job, "N-" at its end. */
	assert_int_equal(run_with(&err, 2,
							  "do_job() { echo \"$1+\" >>\"$marks/order\";\n"
							  "[ $1 != 0 ] || ! once bad || kill -ABRT $$;\n"
							  "sleep 0.05; echo \"$1-\" >>\"$marks/order\"; fine $1; }\n"
							  "hello; serve\n"),
					 0);
	expect_all();
	expect_order("0+\n0-\n", true);
}

CASE(modules_that_kill_do_not_keep_others_from_being_compiled)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 2,
							  "do_job() { case $1 in [123]) kill -SEGV $$;; 4) exit 3;; esac\n"
							  "fine $1; }\nhello; serve\n"),
					 0);
	assert_int_equal(result->compiled, 2);
	assert_int_equal(result->failed, 4);
	assert_int_equal(result->failure_count, 4);
	assert_int_equal(result->undone, 0);
}

/* Module 3 does not end within that time; the others, processes of a shell, do. */
static bool hangs_within(unsigned timeout_ms)
{
	struct jw_error err = {0};
	char words[32];

	options.module_timeout_ms = timeout_ms;
	(void)snprintf(words, sizeof words, "within %g s", timeout_ms / 1000.0);
	assert_int_equal(
		run_with(&err, 2, "do_job() { [ $1 != 3 ] || exec sleep 1000; fine $1; }\nhello; serve\n"),
		0);
	if (result->failed != 1)
		return false;
	assert_int_equal(result->compiled, MODULES - 1);
	assert_non_null(strstr(result->failures[0].reason, words));
	return true;
}

/* On a machine where all of them are slow, they may take longer. */
CASE(a_module_that_hangs_is_given_up)
{
	unsigned timeout_ms = 1500;

	while (!hangs_within(timeout_ms) && timeout_ms < 20000) {
		print_message("not all others were compiled within %u ms\n", timeout_ms);
		timeout_ms *= 4;
		(void)end(state);
		(void)begin(state);
	}
	assert_int_equal(result->failed, 1);
}

CASE(a_context_that_is_always_lost_ends_the_run)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 1,
							  "do_job() { answer $1 700 true false CUDA_ERROR_ILLEGAL_ADDRESS; "
							  "exit 0; }\nhello; serve\n"),
					 -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_int_equal(result->compiled, 0);
}

CASE(a_worker_that_does_not_end_is_ended)
{
	struct jw_error err = {0};

	end_ms = 100;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve; exec sleep 100\n"), 0);
	expect_all();
}

CASE(nobody_waits_for_what_a_worker_left_behind)
{
	struct jw_error err = {0};

	/* Its pipes stay open while this sleeps. */
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nsleep 30 & hello; serve\n"), 0);
	expect_all();
}

CASE(a_driver_that_does_not_start_ends_the_run)
{
	struct jw_error err = {0};

	start_ms = 500;
	assert_int_equal(run_with(&err, 3, "exec sleep 100\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_int_equal(result->undone, MODULES);
}

CASE(workers_that_die_at_once_end_the_run)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 2, "echo 'no such library' >&2; exit 5\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_non_null(strstr(err.message, "no such library"));
}

CASE(a_driver_that_dies_of_every_module_ends_the_run)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 1, "do_job() { kill -SEGV $$; }\nhello; serve\n"), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_true(result->failed < MODULES);
}

CASE(what_was_not_asked_is_not_taken)
{
	struct jw_error err = {0};

	assert_int_equal(run_with(&err, 1,
							  "do_job() { if once odd; then answer 77 0; else fine $1; fi; }\n"
							  "hello; serve\n"),
					 0);
	expect_all();
}

/* Another process that has the lock of the cache's index for `milliseconds`. */
static pid_t hold_lock(unsigned milliseconds)
{
	char *index = os_join(NULL, cache, "index");
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int ready[2], fd;
	char byte;
	pid_t pid;

	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		fd = open(index, O_RDWR | O_CREAT, 0666);
		while (fcntl(fd, F_SETLK, &lock))
			(void)usleep(1000);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		(void)usleep(milliseconds * 1000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	mem_free(index);
	return pid;
}

CASE(entries_wait_for_the_lock)
{
	struct jw_error err = {0};
	pid_t pid = hold_lock(1500);

	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

CASE(a_lock_that_is_never_free_is_reported)
{
	struct jw_error err = {0};
	char holder[80];
	pid_t pid = hold_lock(60000);

	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compiled, 0);
	assert_int_equal(result->undone, MODULES);
	assert_int_equal(result->note_count, 1);
	(void)snprintf(holder, sizeof holder, "locked by %s (process %d)", "test_run_plan", (int)pid);
	assert_non_null(strstr(result->notes[0], holder));
}

/* Each module waits until the bar has moved because of it; only the cap keeps it from continuing.
 */
static void on_progress(void *context, const struct jw_prime_progress *progress)
{
	double *most = context, ahead = progress->done_weight - 10.0 * (double)progress->done;
	char *go = mem_printf(NULL, "%s/marks/go-%zu", folder, progress->done);

	if (ahead > *most)
		*most = ahead;
	if (ahead > 0 && !os_exists(go))
		assert_int_equal(os_write_atomic(NULL, go, "", 0), 0);
	mem_free(go);
}

CASE(what_is_being_compiled_moves_the_bar)
{
	struct jw_error err = {0};
	double most = 0;

	options.progress = on_progress;
	options.context = &most;
	assert_int_equal(run_with(&err, 1,
							  "n=0\ndo_job() { while [ ! -e $marks/go-$n ]; do sleep 0.01; done; "
							  "n=$((n + 1)); fine $1; }\nhello; serve\n"),
					 0);
	expect_all();
	assert_true(most > 0 && most < 9.001);
}

CASE(what_another_run_has_added_is_not_compiled)
{
	struct jw_error err = {0};
	char *root = mem_printf(NULL, "%s/trees/3", folder),
		 *from = cache_entry_path(NULL, root, modules[3].key);
	struct buf bytes = {0};

	assert_int_equal(os_read_file(NULL, from, 1 << 20, &bytes), 0);
	files_put_at(cache_entry_path(NULL, cache, modules[3].key), bytes.data, bytes.size);
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello; serve\n"), 0);
	assert_int_equal(result->compiled, MODULES - 1);
	assert_int_equal(result->met, 1);
	assert_int_equal(result->undone, 0);
	buf_free(&bytes);
	mem_free(root);
	mem_free(from);
}

/* An entry of the driver with a longer key that belongs to no module of the plan. */
static void make_foreign(void)
{
	char *root = mem_printf(NULL, "%s/trees/77", folder);
	struct entries_entry entry;

	entries_make(&entry, 100077, 100);
	files_put_at(cache_entry_path(NULL, root, entry.key), entry.bytes, entry.size);
	mem_free(root);
}

CASE(one_prediction_that_fails_does_not_end_the_run)
{
	struct jw_error err = {0};

	make_foreign();
	assert_int_equal(run_with(&err, 1,
							  "do_job() { if [ $1 = 3 ]; then make_entry 77; answer 3 0;\n"
							  "else fine $1; fi; }\nhello; serve\n"),
					 0);
	assert_false(result->opaque);
	assert_int_equal(result->compiled, MODULES);
	assert_int_equal(result->misjudged, 1);
	assert_int_equal(warm(), MODULES - 1);
}

/* It does not wait for the lock with the others: those entries have the names of modules. */
CASE(a_foreign_entry_does_not_wait_for_the_lock)
{
	struct jw_error err = {0};
	char *wanted = os_join(NULL, folder, "marks/lock"), *held = os_join(NULL, folder, "marks/held");
	pid_t pid = fork();

	if (!pid) {
		while (!os_exists(wanted))
			(void)usleep(1000);
		pid = hold_lock(1500);
		_exit(os_make_dirs(NULL, held, 0700) || waitpid(pid, NULL, 0) != pid);
	}
	make_foreign();
	assert_int_equal(run_with(&err, 1,
							  "do_job() { if [ $1 = 3 ]; then mkdir \"$marks/lock\"\n"
							  "until [ -e \"$marks/held\" ]; do sleep 0.01; done\n"
							  "make_entry 77; answer 3 0\n"
							  "else fine $1; fi; }\nhello; serve\n"),
					 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compiled, MODULES - 1);
	assert_int_equal(result->failed, 1);
	assert_non_null(strstr(result->failures[0].reason, "locked by"));
	mem_free(wanted);
	mem_free(held);
}

CASE(a_first_prediction_that_fails_does)
{
	struct jw_error err = {0};

	make_foreign();
	assert_int_equal(run_with(&err, 2, "do_job() { make_entry 77; answer $1 0; }\nhello; serve\n"),
					 0);
	assert_true(result->opaque);
	assert_int_equal(result->undone, MODULES);
}

static bool stop_at_once(void *context)
{
	(void)context;
	return true;
}

CASE(workers_that_are_stopped_too_are_no_failure)
{
	struct jw_error err = {0};

	/* As when a service is stopped: all of its processes get the signal. */
	options.cancel.is_cancelled = stop_at_once;
	assert_int_equal(run_with(&err, 4, "kill -TERM $$\n"), 0);
	assert_true(result->interrupted);
	assert_int_equal(result->undone, MODULES);
}

RUN_TESTS(make_folder, remove_folder)
