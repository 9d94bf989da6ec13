/* A run with little memory or with GPUs that give no context. The workers are shell scripts. */
#include "runs.h"

#include <stdio.h>
#include <unistd.h>

static size_t messages;
static char last_message[512];

static void on_message(void *context, const char *line)
{
	(void)context;
	messages++;
	(void)snprintf(last_message, sizeof last_message, "%s", line);
}

static void what_needs_much_memory_is_compiled_alone(void **state)
{
	struct jw_error err = {0};

	(void)state;
	options.max_memory_bytes = UINT64_C(600) << 20;
	modules[1].memory_bytes = modules[3].memory_bytes = UINT64_C(1) << 30;
	assert_int_equal(run_with(&err, 3,
							  "do_job() { echo \"$1+\" >>\"$marks/order\"; sleep 0.05;\n"
							  "echo \"$1-\" >>\"$marks/order\"; fine $1; }\nhello; serve\n"),
					 0);
	expect_all();
	expect_order("1+\n1-\n", false);
	expect_order("3+\n3-\n", false);
}

static void an_exclusive_gpu_takes_one_worker(void **state)
{
	struct jw_error err = {0};

	(void)state;
	/* The first worker with a job gets the context, and keeps it until its end. */
	assert_int_equal(run_with(&err, 4,
							  "trap '[ -z \"$mine\" ] || rmdir \"$marks/context\"' EXIT\n"
							  "do_job() { [ -n \"$mine\" ] || { once context && mine=yes; } ||\n"
							  "{ answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
							  "sleep 0.05; fine $1; }\nhello; serve\n"),
					 0);
	expect_all();
}

static void a_gpu_that_says_it_is_exclusive_is_believed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	messages = 0;
	options.message = on_message;
	/* A second worker with a job would be refused permanently, and that would be reported. */
	assert_int_equal(run_with(&err, 4,
							  "do_job() { [ -n \"$mine\" ] || { once context && mine=yes; } ||\n"
							  "{ answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
							  "sleep 0.05; fine $1; }\nhello 86 3; serve\n"),
					 0);
	expect_all();
	assert_int_equal(messages, 1);
	assert_non_null(strstr(last_message, "exclusive-process mode"));
}

static void no_context_at_all_is_one_clear_line(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(
		run_with(&err, 3,
				 "do_job() { answer $1 2 false true CUDA_ERROR_OUT_OF_MEMORY; exit 0; }\n"
				 "hello; serve\n"),
		-1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_non_null(strstr(err.message, "CUDA_ERROR_OUT_OF_MEMORY"));
	assert_int_equal(result->failed, 0);
}

static void a_context_that_is_never_given_again_is_told(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1,
							  "do_job() { ! once context || { fine $1; exit 0; }\n"
							  "answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
							  "hello; serve\n"),
					 -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_non_null(strstr(err.message, "got no CUDA context (CUDA_ERROR_DEVICE_UNAVAILABLE)"));
	assert_int_equal(result->compiled, 1);
	assert_int_equal(result->failed, 0);
}

static void a_prohibited_gpu_is_not_asked(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello 86 2; serve\n"), -1);
	assert_non_null(strstr(err.message, "prohibited"));
}

static void a_gpu_that_is_gone_is_noticed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 1, "do_job() { fine $1; }\nhello 89; serve\n"), -1);
	assert_non_null(strstr(err.message, "sm_86"));
}

static void a_module_without_memory_is_tried_again_with_fewer_workers(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 2,
							  "do_job() { sleep 0.05; if [ $1 = 1 ] && once poor; then\n"
							  "answer 1 2; else fine $1; fi; }\nhello; serve\n"),
					 0);
	expect_all();
}

static void one_that_the_system_kills_is_not_missed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(run_with(&err, 3,
							  "do_job() { sleep 0.05; ! once killed || kill -KILL $$; fine $1; }\n"
							  "hello; serve\n"),
					 0);
	expect_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_needs_much_memory_is_compiled_alone),
		CASE(an_exclusive_gpu_takes_one_worker),
		CASE(a_gpu_that_says_it_is_exclusive_is_believed),
		CASE(no_context_at_all_is_one_clear_line),
		CASE(a_context_that_is_never_given_again_is_told),
		CASE(a_prohibited_gpu_is_not_asked),
		CASE(a_gpu_that_is_gone_is_noticed),
		CASE(a_module_without_memory_is_tried_again_with_fewer_workers),
		CASE(one_that_the_system_kills_is_not_missed),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
