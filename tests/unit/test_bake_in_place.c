/* A library that gets its baked copy's bytes: what was changed meanwhile stays, and the way back is
 * there before the library is replaced. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bake/in_place.h"
#include "base/text.h"

enum { LIBRARY_BYTES = 5000, AT = 100 };

static struct in_place place;
static struct baked_copy copy;
static struct os_map from;
static char *library, *journals;

/* What gets another name, in order. */
static char renamed[256];
static bool watched;

int renameat(int from_fd, const char *old, int to_fd, const char *name)
{
	if (watched) {
		const char *base = os_base_name(name);
		const size_t length = strlen(renamed);

		(void)snprintf(renamed + length, sizeof renamed - length, "%s ",
					   strchr(base, '.') ? strchr(base, '.') : base);
	}
	return (int)syscall(SYS_renameat, from_fd, old, to_fd, name);
}

/* Of the copy alone; libuv calls it. */
static bool sync_fails;

__attribute__((visibility("default"))) int fsync(int fd)
{
	char link[64], path[4096];
	ssize_t length;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	if (sync_fails && copy.part && !strcmp(os_base_name(path), os_base_name(copy.part))) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static int begin(void **state)
{
	uint8_t bytes[LIBRARY_BYTES];
	char *states = os_join(NULL, folder, "state");

	(void)state;
	memset(bytes, 'a', sizeof bytes);
	assert_int_equal(setenv("JITWARM_STATE", states, 1), 0);
	library = os_join(NULL, folder, "lib.so");
	assert_int_equal(os_write_atomic(NULL, library, bytes, sizeof bytes), 0);
	assert_int_equal(in_place_open(NULL, &place), 0);
	place.driver = "550.163.01";
	place.targets = "sm_86";
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	journals = os_join(NULL, states, "baked");
	assert_int_equal(os_map_open(NULL, library, &from), 0);
	assert_int_equal(in_place_begin(NULL, &place, library, &from, library, &copy), 0);
	assert_int_equal(baked_copy_write(NULL, &copy, AT, "baked", 5), 0);
	renamed[0] = '\0';
	mem_free(states);
	return 0;
}

static int end(void **state)
{
	(void)state;
	watched = false;
	baked_copy_drop(&copy);
	os_map_close(&from);
	in_place_close(&place);
	(void)os_remove_tree(NULL, journals);
	mem_free(library);
	mem_free(journals);
	return 0;
}

/* In the journals' folder, but for the lock */
static size_t count_kept(const char *end)
{
	struct os_names names;
	size_t count = 0;

	assert_int_equal(os_list(NULL, journals, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		count += text_ends(names.items[i], end) && strcmp(names.items[i], "lock") != 0;
	os_names_free(&names);
	return count;
}

static void expect_library(const char *text, size_t at)
{
	struct buf bytes;

	assert_int_equal(os_read_file(NULL, library, 2 * LIBRARY_BYTES, &bytes), 0);
	assert_true(bytes.size >= at + strlen(text));
	assert_memory_equal(bytes.data + at, text, strlen(text));
	buf_free(&bytes);
}

TEST_WITH(what_was_changed_meanwhile_stays, begin, end)
{
	struct os_names names;
	struct jw_error why = {0};

	assert_int_equal(os_write_atomic(NULL, library, "other", 5), 0);
	assert_int_equal(in_place_put(&why, &place, &copy, &from), -1);
	assert_non_null(strstr(why.message, "was changed while it was baked"));
	expect_library("other", 0);
	assert_int_equal(count_kept(".journal"), 0);
	/* Nor is an unfinished copy left beside it. */
	assert_int_equal(os_list(NULL, folder, &names), 0);
	assert_int_equal(names.count, 2);
	os_names_free(&names);
}

TEST_WITH(what_is_not_on_disk_takes_no_place, begin, end)
{
	struct jw_error why = {0};

	sync_fails = true;
	assert_int_equal(in_place_put(&why, &place, &copy, &from), -1);
	sync_fails = false;
	assert_int_equal(why.code, JW_ERR_IO);
	expect_library("aaaaa", AT);
	assert_int_equal(count_kept(".journal"), 0);
}

TEST_WITH(the_way_back_comes_first, begin, end)
{
	watched = true;
	assert_int_equal(in_place_put(NULL, &place, &copy, &from), 0);
	assert_string_equal(renamed, ".original .journal .so ");
	expect_library("baked", AT);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	assert_int_equal(place.state, JW_BAKED_SOUND);
	assert_int_equal(in_place_undo(NULL, &place), 0);
	expect_library("aaaaa", AT);
	assert_int_equal(count_kept(""), 0);
}

/* A library that is gone has a journal; one whose folder cannot be looked at is not gone. */
TEST_WITH(a_folder_that_cannot_be_looked_at_is_not_gone, begin, end)
{
	char *loop = os_join(NULL, folder, "loop"), *beyond = os_join(NULL, loop, "lib.so"),
		 *gone = os_join(NULL, folder, "gone/lib.so");
	struct jw_error err = {0};

	assert_int_equal(symlink("loop", loop), 0);
	assert_int_equal(in_place_enter(&err, &place, beyond), -1);
	assert_int_equal(err.code, JW_ERR_IO);
	assert_int_equal(in_place_enter(NULL, &place, "gone/lib.so"), -1);
	assert_int_equal(in_place_enter(NULL, &place, gone), 0);
	assert_string_equal(place.library, gone);
	assert_int_equal(os_remove(NULL, loop), 0);
	mem_free(loop);
	mem_free(beyond);
	mem_free(gone);
}

static void expect_not_told(const char *path)
{
	struct jw_error err = {0};

	assert_int_equal(in_place_enter(&err, &place, path), -1);
	assert_int_equal(err.code, JW_ERR_IO);
}

/* A link to itself stands for each file that cannot be looked at. */
TEST_WITH(what_cannot_be_looked_at_was_perhaps_baked, begin, end)
{
	char *own, *other = os_join(NULL, journals, "other.journal"),
			   *moved = os_join(NULL, folder, "moved.so");
	enum jw_baked_state baked;

	assert_int_equal(in_place_put(NULL, &place, &copy, &from), 0);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	own = mem_string(NULL, place.journal->file);
	assert_int_equal(os_rename(NULL, library, moved), 0);
	assert_int_equal(symlink(library, library), 0);
	assert_int_equal(journal_state(NULL, place.journal, false, &baked), -1);
	/* Moved: gone from its place, and not baked where it is */
	assert_int_equal(os_remove(NULL, library), 0);
	assert_int_equal(symlink(moved, library), 0);
	assert_int_equal(journal_state(NULL, place.journal, true, &baked), 0);
	assert_int_equal(baked, JW_BAKED_GONE);
	assert_int_equal(os_rename(NULL, moved, library), 0);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	assert_int_equal(in_place_undo(NULL, &place), 0);
	/* Its own */
	assert_int_equal(symlink(own, own), 0);
	expect_not_told(library);
	assert_int_equal(os_remove(NULL, own), 0);
	/* Of another library: a damaged one */
	assert_int_equal(os_write_atomic(NULL, other, "x", 1), 0);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	assert_null(place.journal);
	assert_int_equal(os_remove(NULL, other), 0);
	mem_free(own);
	mem_free(other);
	mem_free(moved);
}

RUN_TESTS(make_folder, remove_folder)
