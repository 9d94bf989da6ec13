/* The record of settings that jitwarm changed: what is written is read back, hostile lines count
 * for nothing, and a file that cannot be read now is not thrown away. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "folder.h"
#include "lacking.h"
#include "tune/settings_record.h"

static struct settings_record record;
static char *aside;

static int read_record(struct jw_error *err)
{
	return settings_record_read(err, folder, &record, &aside);
}

static void put_record(const char *text)
{
	files_put_text(folder, "tuned.json", text);
}

static bool is_there(const char *name)
{
	char *path = os_join(NULL, folder, name);
	bool there = !access(path, F_OK);

	mem_free(path);
	return there;
}

static void add(bool machine, size_t which, const char *set_to, const char *was)
{
	assert_int_equal(
		settings_record_set(NULL, &record.variables[machine][which], set_to, was, was != NULL), 0);
}

static bool has_variables(void)
{
	return record.variables[false][0].set_to || record.variables[false][1].set_to ||
		   record.variables[true][0].set_to || record.variables[true][1].set_to;
}

TEST(what_is_written_is_read_back)
{
	const struct settings_record_variable *variable;

	assert_int_equal(settings_record_add_file(NULL, &record, "/home/a/.profile"), 0);
	assert_int_equal(settings_record_add_file(NULL, &record, "/home/a/.bashrc"), 0);
	assert_int_equal(settings_record_add_file(NULL, &record, "/home/a/.profile"), 0);
	add(false, 1, "D:\\cache", "%TEMP%\\한글");
	add(false, 0, "2147483648", NULL);
	add(true, 0, "1", NULL);
	assert_int_equal(settings_record_write(NULL, folder, &record), 0);
	settings_record_free(&record);
	assert_int_equal(read_record(NULL), 0);
	assert_null(aside);
	assert_int_equal(record.file_count, 2);
	assert_string_equal(record.files[1], "/home/a/.bashrc");
	variable = &record.variables[false][1];
	assert_string_equal(variable->set_to, "D:\\cache");
	assert_string_equal(variable->was, "%TEMP%\\한글");
	assert_true(variable->expands);
	variable = &record.variables[false][0];
	assert_string_equal(variable->set_to, "2147483648");
	assert_null(variable->was);
	assert_false(variable->expands);
	/* Of the machine's variables nothing is written where the account itself may write. */
	assert_null(record.variables[true][0].set_to);
	settings_record_free(&record);
}

TEST(dropped_ones_are_gone_and_the_last_ends_the_file)
{
	assert_int_equal(settings_record_add_file(NULL, &record, "/a"), 0);
	assert_int_equal(settings_record_add_file(NULL, &record, "/b"), 0);
	assert_int_equal(settings_record_add_file(NULL, &record, "/c"), 0);
	add(false, 1, "D:\\cache", NULL);
	add(false, 0, "1", "2");
	settings_record_drop_file(&record, "/a");
	settings_record_drop_file(&record, "/none");
	assert_int_equal(record.file_count, 2);
	assert_string_equal(record.files[0], "/b");
	assert_string_equal(record.files[1], "/c");
	settings_record_drop(&record.variables[false][1]);
	assert_int_equal(settings_record_write(NULL, folder, &record), 0);
	assert_true(is_there("tuned.json"));
	settings_record_drop(&record.variables[false][0]);
	settings_record_drop_file(&record, "/b");
	settings_record_drop_file(&record, "/c");
	/* The machine's stand in the registry: they keep no file */
	add(true, 1, "D:\\cache", NULL);
	assert_int_equal(settings_record_write(NULL, NULL, &record), 0);
	assert_true(is_there("tuned.json"));
	assert_int_equal(settings_record_write(NULL, folder, &record), 0);
	assert_false(is_there("tuned.json"));
	settings_record_free(&record);
}

#define HEAD            "{\"schema\": \"jitwarm.tuned/1\", "
#define VARIABLES(item) HEAD "\"files\": [], \"variables\": [" item "]}"

/* As many as there may be, and one more. */
TEST(there_is_a_most_of_files)
{
	struct jw_error err = {0};
	char path[32];

	for (unsigned i = 0; i < RECORD_MOST_FILES; i++) {
		(void)snprintf(path, sizeof path, "/%u", i);
		assert_int_equal(settings_record_add_file(NULL, &record, path), 0);
	}
	assert_int_equal(settings_record_add_file(&err, &record, "/more"), -1);
	assert_int_equal(err.code, JW_ERR_LIMIT);
	assert_int_equal(record.file_count, RECORD_MOST_FILES);
	settings_record_free(&record);
}

TEST(a_damaged_file_is_kept_aside)
{
	static const char *const damaged[] = {"", "{", "[]", "{\"schema\": \"jitwarm.tuned/2\"}"};

	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		put_record(damaged[i]);
		assert_int_equal(read_record(NULL), 0);
		assert_non_null(aside);
		assert_true(os_exists(aside));
		assert_false(is_there("tuned.json"));
		assert_true(!record.file_count && !has_variables());
		assert_int_equal(os_remove(NULL, aside), 0);
		mem_free(aside);
	}
	assert_int_equal(read_record(NULL), 0);
	assert_null(aside);
}

TEST(the_first_of_two_of_a_name_counts)
{
	put_record(VARIABLES("{\"name\": \"CUDA_CACHE_PATH\", \"set_to\": \"a\"}, "
						 "{\"name\": \"CUDA_CACHE_PATH\", \"set_to\": \"b\"}"));
	assert_int_equal(read_record(NULL), 0);
	assert_string_equal(record.variables[false][1].set_to, "a");
	settings_record_free(&record);
}

/* A whole file that memory does not suffice for is no damaged one: it holds the former values. */
TEST(without_memory_the_file_stays)
{
	put_record(VARIABLES("{\"name\": \"CUDA_CACHE_PATH\", \"set_to\": \"a\", \"was\": \"b\"}"));
	STARVE(read_record(&err), settings_record_free(&record));
	assert_true(is_there("tuned.json"));
	assert_false(is_there("tuned.json.damaged"));
	assert_int_equal(read_record(NULL), 0);
	assert_int_equal(settings_record_add_file(NULL, &record, "/a"), 0);
	STARVE(settings_record_write(&err, NULL, &record), (void)0);
	assert_int_equal(settings_record_write(NULL, folder, &record), 0);
	STARVE(settings_record_add_file(&err, &record, "/b"), (void)0);
	settings_record_free(&record);
	assert_int_equal(read_record(NULL), 0);
	assert_int_equal(record.file_count, 1);
	assert_true(has_variables());
	settings_record_free(&record);
}

/* A folder in its place: what cannot be read is not nothing. */
TEST(what_cannot_be_read_is_an_error)
{
	struct jw_error err = {0};
	char *path = os_join(NULL, folder, "tuned.json");

	(void)os_remove(NULL, path);
	assert_int_equal(read_record(&err), 0);
	settings_record_free(&record);
	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	assert_int_equal(read_record(&err), -1);
	assert_true(strstr(err.message, path) != NULL);
	assert_int_equal(os_remove_tree(NULL, path), 0);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
