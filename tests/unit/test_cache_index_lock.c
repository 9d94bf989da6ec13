/* What the index is when its lock is taken: something else than a file, or not yet written. */
#include "gates_posix.h"

#include "inserting.h"

static unsigned locks;
static uint8_t sound[4096];
static size_t sound_bytes;

static bool is_index(const char *path)
{
	return !strcmp(os_base_name(path), "index");
}

/* A pipe in the index's place that cannot be removed ends the insertion; nothing is opened that
 * would wait, and nothing is locked that is not there. */
static void what_cannot_be_removed_is_no_index(void **state)
{
	char *index = os_join(NULL, dir, "index");
	struct cache_live *live;
	struct jw_error err = {0};

	(void)state;
	start_anew();
	assert_int_equal(os_make_dirs(NULL, dir, 0700), 0);
	assert_int_equal(mkfifo(index, 0600), 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	gate_removal_fails = true;
	assert_int_equal(insert_one(&err, live, 1, 0, NULL), -1);
	gate_removal_fails = false;
	assert_int_equal(err.code, JW_ERR_IO);
	assert_non_null(strstr(err.message, index));
	/* In the same hands, when it can be removed */
	assert_int_equal(insert_one(NULL, live, 1, 0, NULL), 0);
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_consistent(1);
	mem_free(index);
}

/* A driver's last bytes come after its unlocking: at the first lock its header is not there, at the
 * third one it is. Until then nobody writes anything else. */
static void write_late(const char *path)
{
	static const char unsound[] = "unsound!";
	char now[sizeof unsound] = "";
	int fd;

	if (!is_index(path) || ++locks > 3)
		return;
	/* No lock of this process is lost: it is about to be taken. */
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	if (locks > 1) {
		assert_int_equal(pread(fd, now, sizeof now - 1, 0), sizeof now - 1);
		assert_string_equal(now, unsound);
	}
	if (locks < 3)
		assert_int_equal(pwrite(fd, unsound, sizeof unsound - 1, 0), sizeof unsound - 1);
	else
		assert_int_equal(pwrite(fd, sound, sound_bytes, 0), sound_bytes);
	(void)close(fd);
}

static void an_index_that_is_being_written_is_read_again(void **state)
{
	char *index = os_join(NULL, dir, "index");
	struct cache_live *live;
	struct buf bytes = {0};

	(void)state;
	start_anew();
	fill(1, 3);
	assert_int_equal(os_read_file(NULL, index, sizeof sound, &bytes), 0);
	memcpy(sound, bytes.data, bytes.size);
	sound_bytes = bytes.size;
	buf_free(&bytes);
	locks = 0;
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	gate_before_lock = write_late;
	assert_int_equal(insert_one(NULL, live, 4, 0, NULL), 0);
	gate_before_lock = NULL;
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_true(locks >= 3);
	assert_consistent(4);
	mem_free(index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_removed_is_no_index),
		cmocka_unit_test(an_index_that_is_being_written_is_read_again),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
