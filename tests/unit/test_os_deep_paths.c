/* Root's look at the way to an account's file: its work grows with the number of folders, and each
 * next file in a folder costs the same at any depth. Counted, not timed. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "folder.h"
#include "os/identity.h"

enum { ACCOUNT = 12345 };

static size_t opened; /* calls */
static size_t looked; /* the parts of the paths in all calls, each of which the kernel looks up */

static void count(const char *path)
{
	for (looked++; (path = strchr(path, '/')); path++)
		looked++;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int openat(int dir, const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	opened++;
	count(path);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int lstat(const char *path, struct stat *ret_stat)
{
	count(path);
	return fstatat(AT_FDCWD, path, ret_stat, AT_SYMLINK_NOFOLLOW);
}

static void name_file(size_t number, char name[32])
{
	(void)snprintf(name, 32, "file%zu", number);
}

static void put(const char *name, uid_t owner, mode_t mode, const char *text)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchown(fd, owner, owner) || fchmod(fd, mode) || close(fd), 0);
}

/* Makes folders of the account, each one in the one before, and files in the last one. Returns the
 * path of the last one. */
static char *make_deep(const char *name, size_t depth, size_t files)
{
	char *path = os_join(folder, name);

	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < depth; i++) {
		const char *next = i ? "d" : name;

		assert_int_equal(mkdir(next, 0700) || chown(next, ACCOUNT, ACCOUNT) || chdir(next), 0);
		if (i) {
			char *deeper = os_join(path, next);

			mem_free(path);
			path = deeper;
		}
	}
	for (size_t i = 0; i < files; i++) {
		char file[32];

		name_file(i, file);
		put(file, ACCOUNT, 0600, "x");
	}
	assert_int_equal(chdir("/"), 0);
	return path;
}

static void remove_deep(char *path, const char *name, size_t depth, size_t files)
{
	assert_int_equal(chdir(path), 0);
	for (size_t i = 0; i < files; i++) {
		char file[32];

		name_file(i, file);
		assert_int_equal(unlink(file), 0);
	}
	for (size_t i = 1; i < depth; i++)
		assert_int_equal(chdir("..") || rmdir("d"), 0);
	assert_int_equal(chdir("..") || rmdir(name) || chdir("/"), 0);
	mem_free(path);
}

/* Returns whether this is root, and the account can enter the folder. */
static bool can_try(void)
{
	return geteuid() == 0 && !chmod(folder, 0755) && os_may_enter(ACCOUNT, folder);
}

static void read_files(const char *path, size_t from, size_t end)
{
	opened = looked = 0;
	for (; from < end; from++) {
		struct buf text = {0};
		char *file, name[32];

		name_file(from, name);
		file = os_join(path, name);
		OK(os_read_file(why, file, 10, &text));
		buf_free(&text);
		mem_free(file);
	}
}

TEST(the_work_grows_with_the_depth_not_with_its_square)
{
	enum { SMALL = 100, LARGE = 400, FILES = 21 };
	char *small, *large;
	size_t few;

	if (!can_try())
		skip();
	small = make_deep("small", SMALL, FILES);
	large = make_deep("large", LARGE, FILES);
	read_files(small, 0, 1);
	few = looked;
	read_files(large, 0, 1);
	if (looked > few * (LARGE / SMALL) * 3 / 2)
		fail_msg("%zu folders: %zu looks; %zu folders: %zu", (size_t)SMALL, few, (size_t)LARGE,
				 looked);
	/* The folder is known now. */
	read_files(small, 0, 1);
	read_files(large, 0, 1);
	few = opened;
	read_files(large, 1, FILES);
	if (opened > (FILES - 1) * (size_t)LARGE / 8)
		fail_msg("%d files of a known folder: %zu folders opened (for the first file: %zu)",
				 FILES - 1, opened, few);
	remove_deep(small, "small", SMALL, FILES);
	remove_deep(large, "large", LARGE, FILES);
}

TEST(a_folder_in_a_known_one_takes_no_walk_from_the_start)
{
	enum { DEPTH = 400 };
	size_t most = 0;
	char *path;

	if (!can_try())
		skip();
	path = make_deep("chain", DEPTH, 0);
	opened = 0;
	for (size_t end = strlen(folder) + strlen("/chain"); most < DEPTH; most++) {
		char *part = mem_string_n(path, end + most * strlen("/d"));
		struct os_names names;

		if (strlen(part) > strlen(path))
			fail_msg("%s is no part", part);
		OK(os_list(why, part, &names));
		os_names_free(&names);
		mem_free(part);
	}
	if (opened > DEPTH * DEPTH / 4)
		fail_msg("%d folders listed: %zu opened", DEPTH, opened);
	remove_deep(path, "chain", DEPTH, 0);
}

/* Root's knowledge of its folder in an account's folder counts for what is found there, where it
 * was, with its permissions of now. */
TEST(what_is_known_of_a_folder_is_not_believed_of_another)
{
	static const char *const cases[] = {"moved", "closed", "linked"};
	char *closed = os_join(folder, "roots");

	if (!can_try())
		skip();
	OK(os_make_dirs(why, closed, 0700));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *theirs = os_join(folder, cases[i]), *place = os_join(theirs, "place"),
			 *first = os_join(place, "first"), *second = os_join(place, "second"),
			 *to = os_join(closed, cases[i]);
		struct buf text = {0};

		assert_int_equal(mkdir(theirs, 0755) || mkdir(place, 0755), 0);
		assert_int_equal(chown(theirs, ACCOUNT, ACCOUNT), 0);
		put(first, 0, 0644, "first");
		put(second, 0, 0644, "second");
		OK(os_read_file(why, first, 10, &text));
		switch (i) {
		case 0: /* into a closed folder, to which the account leads root */
			assert_int_equal(rename(place, to) || symlink(to, place), 0);
			break;
		case 1: assert_int_equal(chmod(place, 0700), 0); break;
		default: /* to a file that only root's way leads to */
			assert_int_equal(rename(second, to) || symlink(to, second), 0);
		}
		buf_clear(&text);
		GIVES(JW_ERR_IO, os_read_file(why, second, 10, &text));
		assert_non_null(strstr(why->message, "another account may"));
		buf_free(&text);
		mem_free(theirs);
		mem_free(place);
		mem_free(first);
		mem_free(second);
		mem_free(to);
	}
	mem_free(closed);
}

/* A path of two folders: root reads the file if only one account can have put it there, and that
 * account may read it. The way is walked from the start, or from the first folder. */
TEST(several_accounts_in_a_path_could_each_have_put_the_file_there)
{
	enum { SECOND = 23456 };
	static const struct {
		uid_t outer_owner;
		mode_t outer_mode;
		uid_t inner_owner;
		mode_t inner_mode;
		uid_t owner;
		mode_t mode;
		bool reads;
	} cases[] = {
		{ACCOUNT, 0700, ACCOUNT, 0700, ACCOUNT, 0600, true},
		{ACCOUNT, 0755, SECOND, 0755, ACCOUNT, 0600, false},
		{ACCOUNT, 0755, SECOND, 0755, SECOND, 0600, false},
		{ACCOUNT, 0755, SECOND, 0755, ACCOUNT, 0644, true},
		{ACCOUNT, 0777, ACCOUNT, 0755, ACCOUNT, 0600, false},
		{ACCOUNT, 0755, ACCOUNT, 0777, ACCOUNT, 0600, false},
		{ACCOUNT, 0755, 0, 0777, ACCOUNT, 0600, false},
		{ACCOUNT, 0755, 0, 0755, ACCOUNT, 0600, true},
		{ACCOUNT, 0755, 0, 0755, 0, 0600, false},
		{ACCOUNT, 0700, ACCOUNT, 0700, 0, 0644, true},
		{ACCOUNT, 0700, 0, 0755, 0, 0644, true},
		{ACCOUNT, 0755, 0, 0700, 0, 0644, false},
		{0, 0700, ACCOUNT, 0755, 0, 0644, false},
		{0, 0700, ACCOUNT, 0755, ACCOUNT, 0600, false},
		{0, 0755, 0, 0700, 0, 0600, true},
	};

	if (!can_try())
		skip();
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const size_t n = i / 2;
		char *outer = mem_printf("%s/outer%zu", folder, i), *inner = os_join(outer, "inner"),
			 *beside = os_join(outer, "file"), *file = os_join(inner, "file");
		struct buf text = {0};

		assert_int_equal(mkdir(outer, 0700) || mkdir(inner, 0700), 0);
		put(beside, cases[n].outer_owner, 0600, "beside");
		put(file, cases[n].owner, cases[n].mode, "x");
		assert_int_equal(chmod(inner, cases[n].inner_mode) ||
							 chown(inner, cases[n].inner_owner, cases[n].inner_owner) ||
							 chmod(outer, cases[n].outer_mode) ||
							 chown(outer, cases[n].outer_owner, cases[n].outer_owner),
						 0);
		if (i % 2) {
			(void)os_read_file(NULL, beside, 10, &text);
			buf_clear(&text);
		}
		if (!os_read_file(NULL, file, 10, &text) != cases[n].reads)
			fail_msg("case %zu%s: %s", n, i % 2 ? " after its folder" : "",
					 cases[n].reads ? "refused" : "read");
		buf_free(&text);
		mem_free(outer);
		mem_free(inner);
		mem_free(beside);
		mem_free(file);
	}
}

RUN_TESTS(make_folder, remove_folder)
