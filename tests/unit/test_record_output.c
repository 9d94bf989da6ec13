/* jw_record and the file that it writes: `output` of its options. */
#include "folder.h"

#include <string.h>

#include <jitwarm/record.h>

#include "os/env.h"

#include <unistd.h>

static char *inside(const char *name)
{
	char *path = os_join(NULL, folder, name);

	assert_non_null(path);
	return path;
}

/* Records a command that compiles nothing; the caller frees the result. */
static struct jw_record_result *record_into(const char *output)
{
	static const char *const command[] = {"sh", "-c", "exit 7", NULL};
	const struct jw_system_options asleep = {.size = sizeof asleep, .asleep = true};
	const struct jw_record_options options = {
		.size = sizeof options, .command = command, .output = output};
	char *state_dir = inside("state"), *cache = inside("cache");
	struct jw_record_result *result = NULL;
	struct jw_system *system = NULL;
	struct jw_error err = {0};

	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", state_dir), 0);
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_PATH", cache), 0);
	if (jw_system_open(&err, &asleep, &system) || jw_record(&err, system, &options, &result))
		fail_msg("%s", err.message);
	assert_int_equal(result->exit_status, 7);
	jw_system_free(system);
	mem_free(state_dir);
	mem_free(cache);
	return result;
}

TEST(the_recording_is_written)
{
	char *path = inside("r.json");
	struct jw_record_result *result = record_into(path);
	struct jw_recording *read = NULL;

	assert_int_equal(result->not_written.code, JW_OK);
	assert_int_equal(jw_recording_read(NULL, path, &read), 0);
	assert_string_equal(read->command, "sh");
	jw_recording_free(read);
	jw_record_result_free(result);
	mem_free(path);
}

/* The command has run: its status and its modules are not lost with the file. */
TEST(a_recording_that_cannot_be_written_does_not_fail_the_command)
{
	char *path = inside("nowhere/r.json");
	struct jw_record_result *result = record_into(path);

	assert_int_equal(result->not_written.code, JW_ERR_NOT_FOUND);
	assert_non_null(strstr(result->not_written.message, "r.json"));
	jw_record_result_free(result);
	mem_free(path);
}

TEST(without_a_name_no_file_is_written)
{
	struct jw_record_result *result = record_into(NULL);
	char *path = inside("jitwarm-recording.json");

	assert_int_equal(result->not_written.code, JW_OK);
	assert_int_equal(access(path, F_OK), -1);
	jw_record_result_free(result);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
