/* A file that is rewritten keeps its owner, its rights and its attributes. */
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "folder.h"

TEST(a_rewritten_file_keeps_its_owner)
{
	enum { OTHER = 12345 };
	char *path = keep(os_join(folder, "file"));
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, path, "one", 3));
	assert_int_equal(chown(path, OTHER, OTHER + 1), 0);
	assert_int_equal(chmod(path, 0640), 0);
	OK(os_rewrite(why, path, "two", 3));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, OTHER + 1);
	assert_int_equal(stat.mode, 0640);
	/* A file that is written anew belongs to this account. */
	OK(os_write_atomic(why, path, "new", 3));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.owner, 0);
}

/* Owner and group differ; or only the group does, which the owner's number does not show. */
TEST(rights_are_kept_whole)
{
	static const struct {
		uid_t owner;
		gid_t group;
	} cases[] = {{12345, 23456}, {0, 23456}, {12345, 0}};
	char *path = keep(os_join(folder, "from"));
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(os_write_atomic(why, path, "x", 1));
		assert_int_equal(chown(path, cases[i].owner, cases[i].group), 0);
		OK(os_rewrite(why, path, "y", 1));
		OK(os_stat(why, path, &stat));
		assert_int_equal(stat.owner, cases[i].owner);
		assert_int_equal(stat.group, cases[i].group);
		OK(os_remove(why, path));
	}
}

/* This access list lets account 12345 write. */
static const unsigned char list[] = {2,   0,   0,   0,   1,   0,    7,    0,   255, 255, 255,
									 255, 2,   0,   7,   0,   0x39, 0x30, 0,   0,   4,   0,
									 5,   0,   255, 255, 255, 255,  16,   0,   7,   0,   255,
									 255, 255, 255, 32,  0,   5,    0,    255, 255, 255, 255};

/* A rewritten file keeps its attributes and gets no others: neither those that its folder gives to
 * new files, nor those that the system keeps about the content. */
TEST(attributes_are_kept_as_far_as_they_are_the_files)
{
	static const char *const names[] = {"user.kept", "system.posix_acl_access", "security.other"};
	char *place = keep(os_join(folder, "listed")), *path = keep(os_join(place, "one")), value[64];
	bool possible[3];

	for (int lists = 0; lists < 2; lists++) {
		OK(os_make_dirs(why, place, 0700) || os_write_atomic(NULL, path, "x", 1));
		for (size_t i = 0; i < 3; i++) {
			const bool acl = i == 1;

			possible[i] = !setxattr(acl && !lists ? place : path,
									acl && !lists ? "system.posix_acl_default" : names[i],
									acl ? (const void *)list : "it", acl ? sizeof list : 2, 0);
		}
		OK(os_rewrite(why, path, "z", 1));
		for (size_t i = 0; i < 3; i++)
			if (possible[i])
				assert_int_equal(lgetxattr(path, names[i], value, sizeof value) >= 0,
								 i == 1 ? lists : !i);
		OK(os_remove_tree(why, place));
	}
}

RUN_TESTS(make_folder, remove_folder)
