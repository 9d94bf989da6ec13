/* A run with little memory, or with GPUs that give no context. The workers are shell scripts. */
#include "runs.h"

#include <stdio.h>
#include <unistd.h>

#include "driver/state_file.h"
#include "root.h"

static size_t messages;
static char last_message[512];

static void on_message(void *context, const char *line)
{
	(void)context;
	messages++;
	(void)snprintf(last_message, sizeof last_message, "%s", line);
}

CASE(what_needs_much_memory_is_compiled_alone)
{
	options.compile.max_memory_bytes = UINT64_C(600) << 20;
	modules[1].memory_bytes = modules[3].memory_bytes = UINT64_C(1) << 30;
	OK(run_with(why, 3,
				"do_job() { echo \"$1+\" >>\"$marks/order\"; sleep 0.05;\n"
				"echo \"$1-\" >>\"$marks/order\"; fine $1; }\nhello; serve\n"));
	expect_all();
	expect_order("1+\n1-\n", false);
	expect_order("3+\n3-\n", false);
}

CASE(an_exclusive_gpu_takes_one_worker)
{
	/* The first worker with a job gets the context, and keeps it until it ends. */
	OK(run_with(why, 4,
				"trap '[ -z \"$mine\" ] || rmdir \"$marks/context\"' EXIT\n"
				"do_job() { [ -n \"$mine\" ] || { once context && mine=yes; } ||\n"
				"{ answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
				"sleep 0.05; fine $1; }\nhello; serve\n"));
	expect_all();
}

CASE(a_gpu_that_says_it_is_exclusive_is_believed)
{
	messages = 0;
	options.message = on_message;
	/* A second worker with a job would be refused for good, and that would be reported. */
	OK(run_with(why, 4,
				"do_job() { [ -n \"$mine\" ] || { once context && mine=yes; } ||\n"
				"{ answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
				"sleep 0.05; fine $1; }\nhello 86 3; serve\n"));
	expect_all();
	assert_int_equal(messages, 1);
	assert_non_null(strstr(last_message, "exclusive-process mode"));
}

CASE(a_context_that_is_never_given_again_is_told)
{
	GIVES(JW_ERR_DRIVER,
		  run_with(why, 1,
				   "do_job() { ! once context || { fine $1; exit 0; }\n"
				   "answer $1 46 false true CUDA_ERROR_DEVICE_UNAVAILABLE; exit 0; }\n"
				   "hello; serve\n"));
	assert_non_null(strstr(why->message, "could not use the GPU (CUDA_ERROR_DEVICE_UNAVAILABLE)"));
	assert_int_equal(result->compile.compiled, 1);
	assert_int_equal(result->compile.failed, 0);
}

CASE(a_prohibited_gpu_is_not_asked)
{
	assert_int_equal(run_with(why, 1, "do_job() { fine $1; }\nhello 86 2; serve\n"), -1);
	assert_non_null(strstr(why->message, "prohibited"));
}

CASE(a_gpu_that_is_gone_is_noticed)
{
	cJSON *known;

	files_put_text(state_dir, "state.json", "{\"schema\":\"jitwarm.state/1\",\"devices\":{}}");
	assert_int_equal(run_with(why, 1, "do_job() { fine $1; }\nhello 89; serve\n"), -1);
	assert_non_null(strstr(why->message, "sm_86"));
	/* The GPU is not remembered, or the next run would plan for it again. */
	known = state_read(state_dir, STATE_DEVICES);
	assert_null(known);
}

CASE(a_module_without_memory_is_tried_again_with_fewer_workers)
{
	OK(run_with(why, 2,
				"do_job() { sleep 0.05; if [ $1 = 1 ] && once poor; then\n"
				"answer 1 2; else fine $1; fi; }\nhello; serve\n"));
	expect_all();
}

CASE(one_that_the_system_kills_is_not_missed)
{
	OK(run_with(why, 3,
				"do_job() { sleep 0.05; ! once killed || kill -KILL $$; fine $1; }\n"
				"hello; serve\n"));
	expect_all();
}

static void put_memory(unsigned available_kib)
{
	char text[100];

	(void)snprintf(text, sizeof text, "MemTotal: 16777216 kB\nMemAvailable: %u kB\n",
				   available_kib);
	root_put("proc/meminfo", text);
}

/* Releases the memory, so that the jobs continue, once a worker was asked to end. */
static void on_shortage(void *context, const char *line)
{
	on_message(context, line);
	put_memory(8 << 20);
	OK(os_write_atomic(why, keep(os_join(folder, "marks/told")), "", 0));
}

/* Workers get their first jobs one after the other; when the third has one, memory ends. */
CASE(the_youngest_makes_room_and_fewer_go_on)
{
	char *path = keep(os_join(folder, "marks/order")), *text;
	struct buf order = {0};

	assert_int_equal(root_make(state), 0);
	put_memory(8 << 20);
	root_put("proc/pressure/memory", "");
	options.message = on_shortage;
	messages = 0;
	for (size_t i = 0; i < MODULES; i++)
		modules[i].cost_ms = 60000;
	text = keep(
		mem_printf("short() { printf 'MemTotal: 16777216 kB\\nMemAvailable: 1000 kB\\n' "
				   ">'%s/proc/meminfo'; }\n"
				   "ticket=0; while ! once ticket-$ticket; do ticket=$((ticket + 1)); done\n"
				   "before=$((ticket - 1))\n"
				   "until [ $ticket = 0 ] || [ $ticket -gt 2 ] || [ -e \"$marks/began-$before\" ]\n"
				   "do sleep 0.02; done\n"
				   "do_job() { echo \"$1+$ticket\" >>\"$marks/order\"; once began-$ticket\n"
				   "[ $ticket != 2 ] || { echo $1 >\"$marks/third\"; short; }\n"
				   "[ $ticket = 2 ] || [ \"$(cat \"$marks/third\")\" != $1 ] || ! once crash ||\n"
				   "{ echo \"$1-\" >>\"$marks/order\"; kill -SEGV $$; }\n"
				   "until [ -e \"$marks/told\" ]; do sleep 0.02; done; sleep 0.5\n"
				   "echo \"$1-\" >>\"$marks/order\"; fine $1; }\nhello; serve\n",
				   root));
	OK(run_with(why, 3, text));
	expect_all();
	assert_int_equal(messages, 1);
	assert_non_null(strstr(last_message, "fewer workers"));
	OK(os_read_file(why, path, 1000, &order));
	{
		const char *third = strstr(buf_text(&order), "+2\n");
		char again[8] = "0+", ended[8] = "0-";
		unsigned busy = 0;

		/* The third worker's module was begun once more, and ended only then: the module was not to
		 * blame, since ending another worker would have been the second time. */
		assert_non_null(third);
		again[0] = ended[0] = third[-1];
		assert_non_null(strstr(third, again));
		assert_true(strstr(third, again) < strstr(buf_text(&order), ended));
		/* From then on, two workers at most are busy. */
		busy = 2;
		for (const char *at = third + 3; *at; at = strchr(at, '\n') + 1) {
			busy = at[1] == '+' ? busy + 1 : busy - 1;
			assert_in_range(busy, 0, 2);
		}
	}
	buf_free(&order);
	assert_int_equal(root_remove(state), 0);
}

RUN_TESTS(make_folder, remove_folder)
