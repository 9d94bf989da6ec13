/* The process of a worker: it starts no workers, and the memory of ptxas, another compiler than the
 * driver's, is in its answer. */
#include "folder.h"

#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "driver/child.h"
#include "driver/task.h"
#include "os/env.h"
#include "os/file.h"

/* ptxas is a process of its own: its memory counts, not the worker's. */
TEST(what_ptxas_needs_of_memory_is_in_the_answer)
{
	static const char program[] = "#!/bin/sh\n"
								  "touched=$(head -c 200000000 /dev/zero | tr '\\0' x)\n"
								  "echo \"${#touched}\"; exit 1\n";
	static char ptx[] = ".version 7.0";
	const struct protocol_job job = {.form = CACHE_KEY_TEXT};
	struct protocol_answer answer = {0};
	struct buf image = {.data = (uint8_t *)ptx, .size = sizeof ptx};
	struct task task = {0};
	char *path = keep(os_join(folder, "ptxas"));
	char *text =
		keep(mem_printf("{\"program\": \"%s\", \"stamp\": \"x\", \"targets\": [86]}", path));
	cJSON *document = json_parse(why, text, strlen(text));

	OK(os_write_atomic(why, path, program, strlen(program)));
	assert_int_equal(chmod(path, 0700), 0);
	OK(os_env_set(why, "CUDA_CACHE_PATH", folder));
	OK(task_ptxas(why, document, &task));
	task.work(task.state, &job, &image, &answer);
	assert_string_equal(answer.log, "200000000\n");
	assert_string_equal(answer.error, "ptxas ended with status 1");
	assert_true(answer.peak_bytes > 200000000);
	task.close(task.state);
	cJSON_Delete(document);
}

/* Otherwise a program that is its own worker would start itself endlessly. */
TEST(a_worker_starts_no_workers)
{
	static const char *const command[] = {"jitwarm", "worker", NULL}, *const none[] = {NULL};

	OK(child_check_command(why, command));
	GIVES(JW_ERR_USAGE, child_check_command(why, none));
	OK(os_env_set(why, WORKER_MARKER, "1"));
	GIVES(JW_ERR_USAGE, child_check_command(why, command));
	OK(os_env_set(why, WORKER_MARKER, NULL));
	OK(child_check_command(why, command));
}

RUN_TESTS(make_folder, remove_folder)
