/* A file of another account that the superuser replaces stays that account's. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <uv.h>

#include "folder.h"
#include "os/env.h"
#include "os/identity.h"
#include "os/posix/at.h"
#include "os/posix/rights.h"

TEST(a_rewritten_file_keeps_its_owner)
{
	enum { OTHER = 12345 };
	char *path = os_join(folder, "file");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_write_atomic(NULL, path, "one", 3), 0);
	assert_int_equal(chown(path, OTHER, OTHER + 1), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(os_rewrite(NULL, path, "two", 3), 0);
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, OTHER + 1);
	assert_int_equal(stat.mode, 0640);
	/* One that is written anew is this account's. */
	assert_int_equal(os_write_atomic(NULL, path, "new", 3), 0);
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(stat.owner, 0);
	mem_free(path);
}

/* Its group is another than its owner's number. Also where its parents were walked just before. */
TEST(a_directory_is_entered_with_its_owners_rights)
{
	enum { OTHER = 12345, GROUP = 23456 };
	char *path = os_join(folder, "theirs"), *below = os_join(path, "below");
	char *made = os_join(below, "made");
	struct os_stat stat;
	struct at at;
	bool acts;
	int dir;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, below, 0700), 0);
	assert_int_equal(os_stat(NULL, below, &stat), 0);
	assert_int_equal(os_may_write(NULL, path), 0);
	assert_int_equal(os_may_write(NULL, below), 0);
	assert_int_equal(at_enter(NULL, below, AT_LAST_KEPT, &at), 0);
	assert_int_equal(fchownat(at.dir, at.name, OTHER, GROUP, AT_SYMLINK_NOFOLLOW), 0);
	at_leave(&at);
	at_forget();
	assert_int_equal(os_stat(NULL, below, &stat), 0);
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, GROUP);
	/* What is made there is its owner's, by the path and by the open directory. */
	assert_int_equal(os_write_atomic(NULL, made, "x", 1), 0);
	assert_int_equal(os_stat(NULL, made, &stat), 0);
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, GROUP);
	assert_int_equal(os_remove(NULL, made), 0);
	/* Another group of the same owner's */
	assert_int_equal(chown(below, OTHER, GROUP + 1), 0);
	dir = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(at_act_in(NULL, below, dir, &acts), 0);
	assert_true(acts);
	assert_int_equal(mkdirat(dir, "made", 0700), 0);
	rights_return();
	(void)close(dir);
	assert_int_equal(os_stat(NULL, made, &stat), 0);
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, GROUP + 1);
	assert_int_equal(os_remove_tree(NULL, made), 0);
	assert_int_equal(chmod(below, 0500), 0);
	assert_int_equal(os_stat(NULL, below, &stat), 0);
	assert_int_equal(os_may_write(NULL, below), -1);
	mem_free(made);
	mem_free(below);
	mem_free(path);
}

static bool is_file(const char *name, enum os_kind kind)
{
	(void)name;
	return kind == OS_REGULAR;
}

/* A folder of theirs holds what they may see, and behind their link is what they may see there */
TEST(a_folder_is_listed_with_its_owners_rights)
{
	enum { OTHER = 12345 };
	char *theirs = os_join(folder, "listed"), *closed = os_join(folder, "closed"),
		 *file = os_join(theirs, "file"), *link = os_join(theirs, "link");
	struct os_names names;
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, closed, 0700) || os_make_dirs(NULL, theirs, 0755), 0);
	assert_int_equal(os_write_atomic(NULL, file, "text", 4), 0);
	assert_int_equal(symlink("../closed", link) || lchown(link, OTHER, OTHER) ||
						 chown(theirs, OTHER, OTHER) || chmod(folder, 0755),
					 0);
	assert_int_equal(os_list_wanted(NULL, theirs, is_file, &stat, &names), 0);
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "file");
	assert_true(stat.kind == OS_DIRECTORY && stat.owner == OTHER);
	os_names_free(&names);
	assert_int_equal(os_list_wanted(NULL, closed, is_file, &stat, &names), 0);
	os_names_free(&names);
	assert_int_equal(os_list_wanted(NULL, link, is_file, &stat, &names), -1);
	assert_int_equal(chmod(closed, 0755), 0);
	assert_int_equal(os_list_wanted(NULL, link, is_file, &stat, &names), 0);
	os_names_free(&names);
	assert_int_equal(chown(theirs, 0, 0), 0);
	mem_free(theirs);
	mem_free(closed);
	mem_free(file);
	mem_free(link);
}

/* Owner and group apart; and a group alone, which the owner's number does not show. */
TEST(rights_are_copied_whole)
{
	static const struct {
		uid_t owner;
		gid_t group;
	} cases[] = {{12345, 23456}, {0, 23456}, {12345, 0}};
	char *from = os_join(folder, "from"), *to = os_join(folder, "to");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(os_write_atomic(NULL, from, "x", 1), 0);
		assert_int_equal(os_write_atomic(NULL, to, "y", 1), 0);
		assert_int_equal(chown(from, cases[i].owner, cases[i].group), 0);
		assert_int_equal(os_copy_rights(NULL, from, to), 0);
		assert_int_equal(os_stat(NULL, to, &stat), 0);
		assert_int_equal(stat.owner, cases[i].owner);
		assert_int_equal(stat.group, cases[i].group);
		assert_int_equal(os_remove(NULL, from), 0);
		assert_int_equal(os_remove(NULL, to), 0);
	}
	mem_free(from);
	mem_free(to);
}

/* An access list that lets account 12345 write */
static const unsigned char list[] = {2,   0,   0,   0,   1,   0,    7,    0,   255, 255, 255,
									 255, 2,   0,   7,   0,   0x39, 0x30, 0,   0,   4,   0,
									 5,   0,   255, 255, 255, 255,  16,   0,   7,   0,   255,
									 255, 255, 255, 32,  0,   5,    0,    255, 255, 255, 255};

/* In such a directory a file with a second name may be somebody else's. */
TEST(an_access_list_makes_a_directory_shared)
{
	char *path = os_join(folder, "listed"), *file = os_join(path, "file");
	char *second = os_join(path, "second");
	struct os_file *open = NULL;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, path, 0755), 0);
	assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
	assert_int_equal(link(file, second), 0);
	assert_int_equal(os_file_open(NULL, file, OS_OPEN_UPDATE, &open), 0);
	os_file_close(open);
	if (!setxattr(path, "system.posix_acl_access", list, sizeof list, 0)) {
		/* What was known of the directory is forgotten soon. */
		uv_sleep(150);
		assert_int_equal(os_file_open(NULL, file, OS_OPEN_UPDATE, &open), -1);
	}
	mem_free(path);
	mem_free(file);
	mem_free(second);
}

static const struct {
	int error;
	bool shared;
} looked_for[] = {{EIO, true},      {EACCES, true},   {EPERM, true},
				  {ENODATA, false}, {ENOTSUP, false}, {0, false}},
  *looking;

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	if (!looking)
		return syscall(SYS_getxattr, path, name, value, size);
	errno = looking->error ? looking->error : EIO;
	return looking->error ? -1 : 0;
}

/* On the way to what root writes, and of what it believes or starts */
TEST(an_access_list_that_cannot_be_looked_for_is_one)
{
	char *path = os_join(folder, "asked"), *file = os_join(path, "file");
	char *second = os_join(path, "second");

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, path, 0755), 0);
	assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
	assert_int_equal(link(file, second), 0);
	assert_int_equal(chmod(path, 0775), 0);
	for (size_t i = 0; i < sizeof looked_for / sizeof *looked_for; i++) {
		const int wanted = looked_for[i].shared ? -1 : 0;
		struct os_file *open = NULL;

		looking = &looked_for[i];
		at_forget();
		assert_int_equal(os_check_private(NULL, path, 0, false), wanted);
		assert_int_equal(os_file_open(NULL, file, OS_OPEN_UPDATE, &open), wanted);
		os_file_close(open);
	}
	looking = NULL;
	mem_free(path);
	mem_free(file);
	mem_free(second);
}

/* What another account plants between walk and call, in a directory that all may write to */
TEST(a_link_planted_after_the_walk_is_not_followed)
{
	enum { OTHER = 12345, GROUP = 23456 };
	char *shared = os_join(folder, "shared"), *path = os_join(shared, "planted");
	char *victim = os_join(folder, "victim");
	struct os_stat stat;
	struct stat native;
	struct at at;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, shared, 0700), 0);
	assert_int_equal(chmod(shared, 01777), 0);
	assert_int_equal(os_write_atomic(NULL, victim, "x", 1), 0);
	assert_int_equal(chmod(victim, 0640), 0);
	/* Also where the directory was walked to just before */
	for (int again = 0; again < 2; again++) {
		if (again)
			at_leave(&at);
		assert_int_equal(at_enter(NULL, path, AT_LAST_FOLLOWED, &at), 0);
		assert_true(at.guarded);
	}
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(at_stat(&at, &native), 0);
	assert_true(S_ISLNK(native.st_mode));
	assert_int_equal(at_open(&at, O_WRONLY | O_CREAT, 0600), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(at_open(&at, O_RDONLY, 0), -1);
	assert_int_equal(at_set_mode(&at, 0666), -1);
	/* A second name in place of the link. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(victim, path), 0);
	assert_int_equal(at_open(&at, O_WRONLY, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(at_set_mode(&at, 0666), -1);
	at_leave(&at);
	assert_int_equal(os_stat(NULL, victim, &stat), 0);
	assert_int_equal(stat.owner, 0);
	assert_int_equal(stat.mode, 0640);
	mem_free(shared);
	mem_free(path);
	mem_free(victim);
}

/* For accounts without rights, too */
TEST(below_some_folders_no_link_is_looked_through)
{
	char *file = os_join(folder, "behind"), *link = os_join(folder, "before");
	const uid_t own = geteuid();
	struct os_stat stat = {0};
	int result;

	assert_int_equal(os_write_atomic(NULL, file, "x", 1) || symlink(file, link), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	os_follow_none_below(folder);
	assert_int_equal(own ? 0 : seteuid(65534), 0);
	result = os_stat(NULL, link, &stat);
	assert_int_equal(seteuid(own), 0);
	os_follow_none_below("/none");
	assert_int_equal(result, 0);
	assert_int_equal(stat.kind, OS_OTHER);
	mem_free(file);
	mem_free(link);
}

/* Of its own attributes a file has the original's, and no others: not those that its folder gives,
 * nor what the system keeps of the content. */
TEST(attributes_are_copied_as_far_as_they_are_the_files)
{
	static const char *const names[] = {"user.kept", "system.posix_acl_access", "security.other"};
	char *from = os_join(folder, "one"), *to = os_join(folder, "two"), value[64];
	bool possible[3];

	for (int lists = 0; lists < 2; lists++) {
		assert_int_equal(os_write_atomic(NULL, from, "x", 1), 0);
		assert_int_equal(os_write_atomic(NULL, to, "y", 1), 0);
		for (size_t i = 0; i < 3; i++) {
			const bool acl = i == 1;

			possible[i] = !setxattr(acl && !lists ? to : from, names[i],
									acl ? (const void *)list : "it", acl ? sizeof list : 2, 0);
		}
		for (int rewritten = 0; rewritten < 2; rewritten++) {
			assert_int_equal(
				rewritten ? os_rewrite(NULL, to, "z", 1) : os_copy_rights(NULL, from, to), 0);
			for (size_t i = 0; i < 3; i++)
				if (possible[i])
					assert_int_equal(lgetxattr(to, names[i], value, sizeof value) >= 0,
									 i == 1 ? lists : !i);
		}
		assert_int_equal(os_remove(NULL, from) || os_remove(NULL, to), 0);
	}
	mem_free(from);
	mem_free(to);
}

/* Nobody else may have made it, or put it there; and what cannot be looked at may be anything. */
TEST(a_place_is_private_if_nobody_else_can_change_it)
{
	char *shared = os_join(folder, "for all"), *below = os_join(shared, "ours");
	char *loop = os_join(folder, "loop"), *none = os_join(folder, "none"), *base;
	bool doubtful;

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, below, 0755) || symlink("loop", loop), 0);
	for (int sticky = 0; sticky < 2; sticky++) {
		assert_int_equal(chmod(shared, sticky ? 01777 : 0777), 0);
		at_forget();
		assert_int_equal(os_is_private(below), sticky);
		assert_int_equal(os_env_set(NULL, "TMPDIR", below), 0);
		base = os_temp_dir(NULL);
		assert_string_equal(base, sticky ? below : "/tmp");
		mem_free(base);
	}
	assert_int_equal(os_env_set(NULL, "TMPDIR", NULL), 0);
	assert_true(os_identity(none) == 0 && os_identity(loop) == OS_UNIDENTIFIED);
	assert_int_equal(chmod(folder, 0755) || seteuid(65534), 0);
	doubtful = os_identity(loop) == OS_UNIDENTIFIED;
	assert_int_equal(seteuid(0), 0);
	assert_true(doubtful);
	mem_free(none);
	mem_free(loop);
	mem_free(below);
	mem_free(shared);
}

/* All that a path passes decides who can change what it leads to: links, and what is behind them */
TEST(a_program_is_private_if_all_of_its_way_is)
{
	enum { OTHER = 12345 };
	static const struct {
		const char *path;
		bool lasting, to_owner, to_all; /* whether it is: for root, for OTHER too */
	} cases[] = {
		{"ours/program", false, true, true},
		{"theirs/program", false, true, false},
		{"to ours", false, true, true},
		{"to theirs", false, true, false},
		{"ours/far", false, true, false},
		{"ours/near", false, true, true},
		{"folder/../ours/program", false, true, true},
		{"through/program", false, true, false},
		{"through/../ours/program", false, true, false},
		{"loop", false, false, false},
		{"none", false, false, false},
		{"all/program", false, true, true},
		{"all/program", true, false, false},
		{"open/program", false, false, false},
		{"to open", false, false, false},
	};
	char *target;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < 4; i++) {
		static const char *const folders[] = {"ours", "theirs", "all", "open"};
		static const mode_t modes[] = {0755, 0755, 01777, 0777};
		char *place = os_join(folder, folders[i]), *program = os_join(place, "program");

		assert_int_equal(os_make_dirs(NULL, place, 0755), 0);
		assert_int_equal(os_write_atomic(NULL, program, "x", 1) || chmod(place, modes[i]), 0);
		if (i == 1)
			assert_int_equal(chown(place, OTHER, OTHER), 0);
		mem_free(program);
		mem_free(place);
	}
	assert_int_equal(chmod(folder, 0755) || chdir(folder), 0);
	target = os_join(folder, "theirs/program");
	assert_int_equal(symlink("ours/program", "to ours") || symlink(target, "to theirs") ||
						 symlink("../theirs/program", "ours/far") ||
						 symlink("program", "ours/near") || symlink("ours", "folder") ||
						 symlink("theirs", "through") || symlink("open/program", "to open"),
					 0);
	mem_free(target);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *whole = os_join(folder, cases[i].path);

		for (int absolute = 0; absolute < 2; absolute++) {
			const char *path = absolute ? whole : cases[i].path;
			const bool private = !os_check_private(NULL, path, 0, cases[i].lasting);

			assert_int_equal(private, cases[i].to_all);
			assert_int_equal(!os_check_private(NULL, path, OTHER, cases[i].lasting),
							 cases[i].to_owner);
		}
		mem_free(whole);
	}
	assert_int_equal(chdir("/"), 0);
}

TEST(what_cannot_be_replaced_is_said)
{
	char *dir = os_join(folder, "directory"), *to = os_join(folder, "linked");
	char *from = os_join(folder, "link"), *nowhere = os_join(folder, "none/file");
	struct jw_error err = {0};

	assert_int_equal(os_make_dirs(NULL, dir, 0700), 0);
	assert_int_equal(os_write_atomic(&err, dir, "x", 1), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
	assert_int_equal(os_write_atomic(&err, nowhere, "x", 1), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
	assert_int_equal(symlink(to, from), 0);
	assert_int_equal(os_write_atomic(&err, from, "x", 1), -1);
	assert_non_null(strstr(err.message, "links to a file that is not there"));
	assert_int_equal(os_write_atomic(NULL, to, "old", 3), 0);
	mem_free(dir);
	mem_free(to);
	mem_free(from);
	mem_free(nowhere);
}

/* What was walked just before saves steps, and changes no answer. */
TEST(a_path_through_its_parent_is_resolved)
{
	static const char *const ways[] = {"sub/../", "sub/./../", "sub//../", "sub/../sub/.././"};
	char *sub = os_join(folder, "sub"), *deep = os_join(folder, "deep");
	char *wanted = NULL, *file_in_deep;
	struct os_stat stat;

	assert_int_equal(os_make_dirs(NULL, sub, 0700), 0);
	assert_int_equal(os_make_dirs(NULL, deep, 0700), 0);
	assert_int_equal(os_real_path(NULL, deep, &wanted), 0);
	file_in_deep = os_join(deep, "file");
	assert_int_equal(os_write_atomic(NULL, file_in_deep, "x", 1), 0);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char *near = mem_printf("%s/%sdeep", folder, ways[i]);
		char *file = mem_printf("%s/file", near), *real = NULL, *expected = NULL;

		/* Of the way to `deep` a walk knows now, of `deep` itself nothing. */
		assert_int_equal(os_stat(NULL, near, &stat), 0);
		assert_int_equal(os_real_path(NULL, file, &real), 0);
		expected = os_join(wanted, "file");
		assert_string_equal(real, expected);
		mem_free(near);
		mem_free(file);
		mem_free(real);
		mem_free(expected);
	}
	mem_free(file_in_deep);
	mem_free(wanted);
	mem_free(sub);
	mem_free(deep);
}

RUN_TESTS(make_folder, remove_folder)
