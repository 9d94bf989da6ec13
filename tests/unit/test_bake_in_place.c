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

enum { LIBRARY_BYTES = 5000, AT = 100 };

static struct in_place place;
static struct baked_copy copy;
static struct os_map from;
static char *library, *next;

/* What gets another name, in order, and whether the journal's first name was there then. */
static char renamed[256];
static bool next_was_there, watched;

int renameat(int from_fd, const char *old, int to_fd, const char *name)
{
	if (watched) {
		const char *base = os_base_name(name);
		const size_t length = strlen(renamed);

		(void)snprintf(renamed + length, sizeof renamed - length, "%s ",
					   strstr(base, ".journal") ? "journal" : base);
		if (!strcmp(base, "lib.so"))
			next_was_there = !access(next, F_OK);
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
	place.kept = "";
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	next = mem_printf(NULL, "%s.next", place.journal_file);
	assert_int_equal(os_map_open(NULL, library, &from), 0);
	assert_int_equal(in_place_begin(NULL, &place, library, &from, library, &copy), 0);
	assert_int_equal(baked_copy_write(NULL, &copy, AT, "baked", 5), 0);
	assert_int_equal(baked_copy_complete(NULL, &copy), 0);
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
	(void)os_remove(NULL, place.journal_file);
	in_place_close(&place);
	mem_free(library);
	mem_free(next);
	return 0;
}

static void expect_library(const char *text, size_t at)
{
	struct buf bytes;

	assert_int_equal(os_read_file(NULL, library, 2 * LIBRARY_BYTES, &bytes), 0);
	assert_true(bytes.size >= at + strlen(text));
	assert_memory_equal(bytes.data + at, text, strlen(text));
	buf_free(&bytes);
}

static void what_was_changed_meanwhile_stays(void **state)
{
	struct os_names names;
	struct jw_error why = {0};

	(void)state;
	assert_int_equal(os_write_atomic(NULL, library, "other", 5), 0);
	assert_int_equal(in_place_put(&why, &place, &copy, &from), -1);
	assert_non_null(strstr(why.message, "was changed while it was baked"));
	expect_library("other", 0);
	assert_false(os_exists(place.journal_file));
	assert_false(os_exists(next));
	/* Nor is an unfinished copy left beside it. */
	assert_int_equal(os_list(NULL, folder, &names), 0);
	assert_int_equal(names.count, 2);
	os_names_free(&names);
}

static void what_is_not_on_disk_takes_no_place(void **state)
{
	struct jw_error why = {0};

	(void)state;
	sync_fails = true;
	assert_int_equal(in_place_put(&why, &place, &copy, &from), -1);
	sync_fails = false;
	assert_int_equal(why.code, JW_ERR_IO);
	expect_library("aaaaa", AT);
	assert_false(os_exists(place.journal_file));
	assert_false(os_exists(next));
}

static void the_way_back_comes_first(void **state)
{
	(void)state;
	watched = true;
	assert_int_equal(in_place_put(NULL, &place, &copy, &from), 0);
	assert_string_equal(renamed, "lib.so journal ");
	assert_true(next_was_there);
	expect_library("baked", AT);
	/* As a run that was killed between the two finds it. */
	assert_int_equal(os_rename(NULL, place.journal_file, next), 0);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	assert_int_equal(place.state, JW_BAKED_SOUND);
	assert_int_equal(in_place_undo(NULL, &place), 0);
	expect_library("aaaaa", AT);
}

/* A library that is gone has a journal; one whose folder cannot be looked at is not gone. */
static void a_folder_that_cannot_be_looked_at_is_not_gone(void **state)
{
	char *loop = os_join(NULL, folder, "loop"), *beyond = os_join(NULL, loop, "lib.so"),
		 *gone = os_join(NULL, folder, "gone/lib.so");
	struct jw_error err = {0};

	(void)state;
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
static void what_cannot_be_looked_at_was_perhaps_baked(void **state)
{
	char *own = mem_string(NULL, place.journal_file), *journals = os_dir_name(NULL, own),
		 *other = os_join(NULL, journals, "other.journal"),
		 *moved = os_join(NULL, folder, "moved.so");
	enum jw_baked_state baked;
	struct journal journal;

	(void)state;
	assert_int_equal(in_place_put(NULL, &place, &copy, &from), 0);
	/* The journal of what the library was before it was moved */
	assert_int_equal(os_rename(NULL, library, moved), 0);
	assert_int_equal(symlink(library, library), 0);
	expect_not_told(moved);
	assert_int_equal(journal_read(NULL, own, &journal), 0);
	assert_int_equal(in_place_state(NULL, &journal, false, &baked), -1);
	journal_free(&journal);
	assert_int_equal(os_remove(NULL, library), 0);
	assert_int_equal(in_place_enter(NULL, &place, moved), 0);
	assert_int_equal(place.state, JW_BAKED_SOUND);
	assert_int_equal(in_place_undo(NULL, &place), 0);
	assert_int_equal(os_rename(NULL, moved, library), 0);
	/* Its own */
	assert_int_equal(symlink(own, own), 0);
	expect_not_told(library);
	assert_int_equal(os_remove(NULL, own), 0);
	/* One that may be its own, under another name */
	assert_int_equal(symlink(other, other), 0);
	expect_not_told(library);
	assert_int_equal(os_remove(NULL, other), 0);
	/* A damaged one is none. */
	assert_int_equal(os_write_atomic(NULL, other, "x", 1), 0);
	assert_int_equal(in_place_enter(NULL, &place, library), 0);
	assert_null(place.journal.path);
	assert_int_equal(os_remove(NULL, other), 0);
	mem_free(own);
	mem_free(journals);
	mem_free(other);
	mem_free(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_changed_meanwhile_stays, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_on_disk_takes_no_place, begin, end),
		cmocka_unit_test_setup_teardown(the_way_back_comes_first, begin, end),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_looked_at_is_not_gone, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_looked_at_was_perhaps_baked, begin, end),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
