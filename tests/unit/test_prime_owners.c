/* The modules that a recorded command compiled are inserted into the user's cache; an early end is
 * reported. */
#include "gates_posix.h"

#include "base/arena.h"
#include "index_bytes.h"
#include "inserting.h"
#include "prime/record_entries.h"

/* The disk is full when the cache's index is written. */
static bool index_fails;

/* libuv writes through this function. */
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t size,
														off_t offset)
{
	char link[64], path[1024] = "";

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	(void)!readlink(link, path, sizeof path - 1);
	if (index_fails && !strcmp(os_base_name(path), "index")) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

/* Writes, as a driver that had the lock before, its own index over the added rows; afterwards the
 * disk is full. */
static void undo_rows(const char *path)
{
	const struct cache_index none = {0};
	struct cache_index index;
	struct buf bytes;
	int fd;

	OK(cache_index_load(why, dir, &index));
	if (index.count && !index_fails) {
		bytes = index_bytes(&none);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(fd, bytes.data, bytes.size, 0), bytes.size);
		(void)close(fd);
		buf_free(&bytes);
		index_fails = true;
	}
	cache_index_free(&index);
}

static bool is_added(void *context)
{
	const struct jw_record_result *result = context;

	return result->added > 0;
}

/* A command has compiled so many modules with a private cache. */
static void warm_from(size_t count, bool cancelled, struct jw_record_result *ret_result)
{
	struct jw_system system = {.cache = {.path = dir, .limit_bytes = 1 << 30}};
	struct jw_recording recording = {.modules = mem_array(count, sizeof *recording.modules),
									 .module_count = count};
	struct jw_record_result *result = arena_open(sizeof *result);
	const struct jw_record_options options = {.cancel = {result, cancelled ? is_added : NULL}};
	struct recorder recorder = {.system = &system,
								.options = &options,
								.result = result,
								.cache_dir = os_join(folder, "made"),
								.entries = mem_array(count, sizeof *recorder.entries)};

	start_anew();
	result->recording = &recording;
	for (size_t i = 0; i < count; i++) {
		struct entries_entry entry;
		char *path;

		entries_make(&entry, (unsigned)i, 0);
		path = keep(cache_entry_path(recorder.cache_dir, entry.key));
		OK(os_make_shared_parent(why, path, 0700));
		OK(os_write_atomic(why, path, entry.bytes, entry.size));
		recording.modules[i] = (struct jw_recorded_module){
			.key = entry.key, .key_bytes = entry.key_bytes, .target = {.sm = 86}};
		recorder.entries[i] = (struct record_entry){.form = CACHE_KEY_LOAD, .insertable = true};
	}
	record_warm(&recorder);
	index_fails = false;
	mem_free(recording.modules);
	mem_free(recorder.entries);
	mem_free(recorder.cache_dir);
	*ret_result = *result;
	ret_result->recording = NULL;
	jw_result_free(result);
}

TEST(all_modules_are_added)
{
	struct jw_record_result result;

	warm_from(65, false, &result);
	assert_int_equal(result.unwarmed.code, JW_OK);
	assert_int_equal(result.added, 65);
	assert_consistent(65);
}

TEST(what_was_cancelled_is_not_all)
{
	struct jw_record_result result;

	warm_from(65, true, &result);
	assert_int_equal(result.unwarmed.code, JW_ERR_INTERRUPTED);
	assert_true(result.interrupted);
	assert_int_equal(result.added, 64);
	assert_consistent(64);
}

TEST(an_index_that_cannot_be_written_is_said)
{
	struct jw_record_result result;

	index_fails = true;
	warm_from(1, false, &result);
	assert_int_equal(result.unwarmed.code, JW_ERR_IO);
}

TEST(an_index_that_cannot_be_written_at_the_end_is_said)
{
	struct jw_record_result result;

	gate_before_lock = undo_rows;
	warm_from(1, false, &result);
	gate_before_lock = NULL;
	assert_int_equal(result.unwarmed.code, JW_ERR_IO);
	assert_int_equal(result.added, 1);
}

RUN_TESTS(make_folder, remove_folder)
