/* Root's look at the way to an account's file: its work grows with the number of folders. Counted,
 * not timed. */
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
	count(path);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int lstat(const char *path, struct stat *ret_stat)
{
	count(path);
	return fstatat(AT_FDCWD, path, ret_stat, AT_SYMLINK_NOFOLLOW);
}

static void put(const char *name, uid_t owner, mode_t mode, const char *text)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchown(fd, owner, owner) || fchmod(fd, mode) || close(fd), 0);
}

/* Makes folders of the account, each one in the one before, and a file in the last one. Returns the
 * path of the last one. */
static char *make_deep(const char *name, size_t depth)
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
	put("file", ACCOUNT, 0600, "x");
	assert_int_equal(chdir("/"), 0);
	return path;
}

static void remove_deep(char *path, const char *name, size_t depth)
{
	assert_int_equal(chdir(path) || unlink("file"), 0);
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

/* Returns the looks that reading the file takes. */
static size_t looks_at(const char *path)
{
	char *file = os_join(path, "file");
	struct buf text = {0};

	looked = 0;
	OK(os_read_file(why, file, 10, &text));
	buf_free(&text);
	mem_free(file);
	return looked;
}

TEST(the_work_grows_with_the_depth_not_with_its_square)
{
	enum { SMALL = 100, LARGE = 400 };
	size_t few, many;
	char *small, *large;

	if (!can_try())
		skip();
	small = make_deep("small", SMALL);
	large = make_deep("large", LARGE);
	few = looks_at(small);
	many = looks_at(large);
	if (many > few * (LARGE / SMALL) * 3 / 2)
		fail_msg("%d folders: %zu looks; %d folders: %zu", SMALL, few, LARGE, many);
	remove_deep(small, "small", SMALL);
	remove_deep(large, "large", LARGE);
}

/* Root has read a file in its folder in an account's folder before. */
TEST(a_folder_is_judged_as_it_is_now)
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
 * account may read it. */
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
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *outer = mem_printf("%s/outer%zu", folder, i), *inner = os_join(outer, "inner"),
			 *file = os_join(inner, "file");
		struct buf text = {0};

		assert_int_equal(mkdir(outer, 0700) || mkdir(inner, 0700), 0);
		put(file, cases[i].owner, cases[i].mode, "x");
		assert_int_equal(chmod(inner, cases[i].inner_mode) ||
							 chown(inner, cases[i].inner_owner, cases[i].inner_owner) ||
							 chmod(outer, cases[i].outer_mode) ||
							 chown(outer, cases[i].outer_owner, cases[i].outer_owner),
						 0);
		if (!os_read_file(NULL, file, 10, &text) != cases[i].reads)
			fail_msg("case %zu: %s", i, cases[i].reads ? "refused" : "read");
		buf_free(&text);
		mem_free(outer);
		mem_free(inner);
		mem_free(file);
	}
}

RUN_TESTS(make_folder, remove_folder)
