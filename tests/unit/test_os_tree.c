/* Folders that are entered from the one above: what is seen there, and whose rights that takes. */
#include "folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open_files.h"
#include "os/tree.h"

enum { OTHER = 12345, LEVELS = 50 };

static bool is_any(const char *name, enum os_kind kind)
{
	(void)kind;
	return name[0] != '-';
}

static char *made(const char *below)
{
	char *path = os_join(NULL, folder, below);

	assert_int_equal(os_make_dirs(NULL, path, 0755), 0);
	return path;
}

static void written(const char *directory, const char *name)
{
	char *path = os_join(NULL, directory, name);

	assert_int_equal(os_write_atomic(NULL, path, "text", 4), 0);
	mem_free(path);
}

static bool same(const struct os_stat *a, const struct os_stat *b)
{
	return a->kind == b->kind && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
		   a->changed_ns == b->changed_ns && a->device == b->device && a->inode == b->inode &&
		   a->mode == b->mode && a->owner == b->owner && a->group == b->group;
}

/* Enters it and reads its names, with the rights that hold there. */
static void enter_and_list(struct os_tree *tree, const char *path)
{
	struct os_stat stat;
	struct os_names names;
	bool made_up;

	assert_int_equal(os_tree_enter(NULL, tree, path, &stat, &made_up), 0);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), 0);
	os_names_free(&names);
}

/* Enters it and all below it; returns how many names there are. */
static size_t compare_below(struct os_tree *tree, const char *path, size_t depth)
{
	struct os_stat stat, wanted;
	struct os_names names, all;
	bool made_up = true;
	size_t sum;

	assert_int_equal(os_stat(NULL, path, &wanted), 0);
	assert_int_equal(os_list(NULL, path, &all), 0);
	assert_int_equal(os_tree_enter(NULL, tree, path, &stat, &made_up), 0);
	assert_false(made_up);
	assert_true(same(&stat, &wanted));
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), 0);
	assert_int_equal(names.count, all.count);
	sum = names.count;
	for (size_t i = 0; i < names.count; i++) {
		char *name = os_join(NULL, path, names.items[i]);
		const bool there = !os_stat(NULL, name, &wanted);

		assert_string_equal(names.items[i], all.items[i]);
		assert_int_equal(names.kinds[i], all.kinds[i]);
		assert_int_equal(os_tree_stat(NULL, tree, name, &stat), there ? 0 : -1);
		assert_true(!there || same(&stat, &wanted));
		mem_free(name);
	}
	for (size_t i = 0; i < names.count && depth; i++)
		if (names.kinds[i] == OS_DIRECTORY) {
			char *name = os_join(NULL, path, names.items[i]);

			sum += compare_below(tree, name, depth - 1);
			mem_free(name);
		}
	os_names_free(&names);
	os_names_free(&all);
	return sum;
}

TEST(a_tree_is_as_its_paths_are)
{
	char deep[LEVELS * 2 + 1], *path = made("tree/a/b"), *link;
	const size_t before = open_files();
	struct os_tree *tree = NULL;

	written(path, "file");
	link = os_join(NULL, path, "to file");
	assert_int_equal(symlink("file", link), 0);
	mem_free(link);
	link = os_join(NULL, path, "to folder");
	assert_int_equal(symlink("../../c", link), 0);
	mem_free(link);
	link = os_join(NULL, path, "to nothing");
	assert_int_equal(symlink("nothing", link), 0);
	mem_free(link);
	mem_free(path);
	path = made("tree/c");
	written(path, "another");
	mem_free(path);
	/* Deeper than folders stay open */
	for (size_t i = 0; i < LEVELS; i++)
		memcpy(deep + 2 * i, "/d", 2);
	deep[sizeof deep - 1] = '\0';
	link = mem_printf(NULL, "tree%s", deep);
	path = made(link);
	written(path, "file");
	mem_free(path);
	mem_free(link);
	path = os_join(NULL, folder, "tree");
	written(path, "last");
	assert_int_equal(os_tree_open(NULL, &tree), 0);
	assert_int_equal(compare_below(tree, path, SIZE_MAX), 4 + 1 + 4 + 1 + 1 + LEVELS);
	/* As a shell completes it, and twice */
	for (size_t i = 0; i < 2; i++) {
		link = mem_printf(NULL, "%s/", path);
		mem_free(path);
		path = link;
		assert_int_equal(compare_below(tree, path, SIZE_MAX), 4 + 1 + 4 + 1 + 1 + LEVELS);
	}
	os_tree_close(tree);
	mem_free(path);
	assert_int_equal(open_files(), before);
}

TEST(the_root_is_a_folder_too)
{
	struct os_tree *tree = NULL;
	struct os_stat stat, wanted;
	bool made_up;

	assert_int_equal(os_tree_open(NULL, &tree), 0);
	assert_int_equal(os_tree_enter(NULL, tree, "/", &stat, &made_up), 0);
	assert_int_equal(os_tree_stat(NULL, tree, "/usr", &stat), 0);
	assert_int_equal(os_stat(NULL, "/usr", &wanted), 0);
	assert_true(same(&stat, &wanted));
	assert_int_equal(os_tree_enter(NULL, tree, "/usr", &stat, &made_up), 0);
	assert_true(same(&stat, &wanted) && !made_up);
	/* Another file system is mounted there. */
	assert_int_equal(os_tree_enter(NULL, tree, "/proc", &stat, &made_up), 0);
	assert_true(made_up);
	os_tree_close(tree);
}

TEST(names_that_are_not_wanted_are_left_out)
{
	char *path = made("wanted"), *missing = os_join(NULL, folder, "missing");
	struct os_tree *tree = NULL;
	struct os_names names;
	struct os_stat stat;
	bool made_up;

	written(path, "-not");
	written(path, "so");
	assert_int_equal(os_tree_open(NULL, &tree), 0);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), -1);
	assert_int_equal(os_tree_enter(NULL, tree, path, &stat, &made_up), 0);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), 0);
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "so");
	os_names_free(&names);
	/* After a folder that is not there, the calls are not about the one before. */
	assert_int_equal(os_tree_enter(NULL, tree, missing, &stat, &made_up), -1);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), -1);
	assert_int_equal(os_tree_stat(NULL, tree, missing, &stat), -1);
	assert_int_equal(os_tree_enter(NULL, tree, "/proc", &stat, &made_up), 0);
	assert_true(made_up);
	os_tree_close(tree);
	mem_free(missing);
	mem_free(path);
}

static bool may_read(const char *path)
{
	const int fd = open(path, O_RDONLY);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* From one of these calls to os_tree_rest, and no longer. */
TEST(a_folder_is_used_with_its_owners_rights)
{
	char *above = made("owned"), *theirs = made("owned/theirs"), *deep = made("owned/theirs/deep"),
		 *secret = os_join(NULL, folder, "secret"), *in = os_join(NULL, deep, "file");
	struct os_tree *tree = NULL;
	struct os_names names;
	struct os_stat stat;
	bool made_up;

	if (geteuid() != 0)
		skip();
	written(folder, "secret");
	written(deep, "file");
	assert_int_equal(chmod(folder, 0755) || chmod(secret, 0600), 0);
	assert_int_equal(chown(theirs, OTHER, OTHER) || chown(deep, OTHER, OTHER + 1), 0);
	assert_int_equal(os_tree_open(NULL, &tree), 0);
	enter_and_list(tree, above);
	assert_true(may_read(secret));
	for (int deeper = 0; deeper < 2; deeper++) {
		enter_and_list(tree, deeper ? deep : theirs);
		assert_false(may_read(secret));
	}
	os_tree_rest(tree);
	assert_true(may_read(secret));
	assert_int_equal(os_tree_stat(NULL, tree, in, &stat), 0);
	assert_false(may_read(secret));
	/* A failure ends them: why it failed is looked into with root's own. */
	mem_free(in);
	in = os_join(NULL, deep, "missing");
	assert_int_equal(os_tree_stat(NULL, tree, in, &stat), -1);
	assert_true(may_read(secret));
	assert_int_equal(os_tree_enter(NULL, tree, deep, &stat, &made_up), 0);
	mem_fail_after(1);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), -1);
	mem_fail_after(0);
	assert_true(may_read(secret));
	mem_free(in);
	in = os_join(NULL, deep, "file");
	/* A third account's, and root's, is its owner's. */
	assert_int_equal(chown(deep, OTHER + 2, OTHER + 2) || chmod(deep, 0700), 0);
	assert_int_equal(os_tree_enter(NULL, tree, theirs, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, deep, &stat, &made_up), 0);
	assert_int_equal(os_tree_stat(NULL, tree, in, &stat), 0);
	assert_false(may_read(secret));
	os_tree_rest(tree);
	assert_int_equal(chown(deep, 0, 0), 0);
	assert_int_equal(os_tree_enter(NULL, tree, theirs, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, deep, &stat, &made_up), 0);
	assert_int_equal(os_tree_stat(NULL, tree, in, &stat), 0);
	assert_true(may_read(secret));
	enter_and_list(tree, theirs);
	assert_false(may_read(secret));
	os_tree_close(tree);
	assert_true(may_read(secret));
	assert_int_equal(chown(theirs, 0, 0), 0);
	mem_free(above);
	mem_free(theirs);
	mem_free(deep);
	mem_free(secret);
	mem_free(in);
}

/* What an account may not do in its folders, root does not do there; but it comes to where that
 * account cannot. */
TEST(its_rights_are_neither_more_nor_less)
{
	char *above = made("rights"), *theirs = made("rights/theirs"),
		 *deep = made("rights/theirs/deep"), *locked = made("rights/theirs/locked"),
		 *link = os_join(NULL, theirs, "link"), *groups = os_join(NULL, folder, "group's");
	struct os_tree *tree = NULL;
	struct os_stat stat;
	bool made_up;

	if (geteuid() != 0)
		skip();
	written(theirs, "file");
	written(folder, "group's");
	assert_int_equal(symlink("file", link) || lchown(link, OTHER, OTHER), 0);
	assert_int_equal(chown(groups, 0, OTHER + 1) || chmod(groups, 0640), 0);
	assert_int_equal(chown(theirs, OTHER, OTHER) || chown(deep, OTHER, OTHER + 1) ||
						 chown(locked, OTHER, OTHER) || chmod(locked, 0) || chmod(above, 0700),
					 0);
	assert_int_equal(os_tree_open(NULL, &tree), 0);
	enter_and_list(tree, theirs);
	assert_false(may_read(groups));
	assert_int_equal(os_tree_stat(NULL, tree, link, &stat), 0);
	assert_int_equal(stat.kind, OS_REGULAR);
	assert_int_equal(os_tree_enter(NULL, tree, locked, &stat, &made_up), -1);
	assert_int_equal(os_tree_enter(NULL, tree, theirs, &stat, &made_up), 0);
	enter_and_list(tree, deep);
	assert_true(may_read(groups));
	os_tree_close(tree);
	assert_int_equal(chown(theirs, 0, 0), 0);
	mem_free(above);
	mem_free(theirs);
	mem_free(deep);
	mem_free(locked);
	mem_free(link);
	mem_free(groups);
}

/* Whoever makes a link sees behind it what he may see himself, and so does root, who follows it. */
TEST(anothers_link_leads_nowhere_he_may_not_go)
{
	char *theirs = made("linked/theirs"), *open_folder = made("linked/open"),
		 *closed = made("linked/open/closed"), *link = os_join(NULL, theirs, "link"),
		 *behind = os_join(NULL, link, "closed"), *direct = os_join(NULL, theirs, "direct"),
		 *shared = made("linked/shared"), *in_shared = os_join(NULL, shared, "link");
	struct os_tree *tree = NULL;
	struct os_names names;
	struct os_stat stat;
	bool made_up;

	if (geteuid() != 0)
		skip();
	written(closed, "file");
	assert_int_equal(chmod(folder, 0755) || chmod(closed, 0700), 0);
	assert_int_equal(symlink("../open", link) || symlink("../open/closed", direct), 0);
	assert_int_equal(chown(theirs, OTHER, OTHER) || lchown(link, OTHER, OTHER) ||
						 lchown(direct, OTHER, OTHER),
					 0);
	assert_int_equal(symlink("../open/closed", in_shared) || lchown(in_shared, OTHER, OTHER) ||
						 chmod(shared, 01777),
					 0);
	assert_int_equal(os_tree_open(NULL, &tree), 0);
	assert_int_equal(os_tree_enter(NULL, tree, shared, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, in_shared, &stat, &made_up), -1);
	assert_int_equal(unlink(in_shared) || symlink("../open/closed/file", in_shared) ||
						 lchown(in_shared, OTHER, OTHER),
					 0);
	assert_int_equal(os_tree_enter(NULL, tree, shared, &stat, &made_up), 0);
	assert_int_equal(os_tree_stat(NULL, tree, in_shared, &stat), -1);
	assert_int_equal(os_tree_enter(NULL, tree, theirs, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, direct, &stat, &made_up), -1);
	assert_int_equal(os_tree_enter(NULL, tree, link, &stat, &made_up), 0);
	assert_int_equal(os_tree_list(NULL, tree, is_any, &names), 0);
	assert_int_equal(names.count, 1);
	os_names_free(&names);
	assert_int_equal(os_tree_enter(NULL, tree, behind, &stat, &made_up), -1);
	os_tree_rest(tree);
	assert_int_equal(chmod(closed, 0755), 0);
	assert_int_equal(os_tree_enter(NULL, tree, link, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, behind, &stat, &made_up), 0);
	os_tree_rest(tree);
	/* Without a link it is root's own. */
	assert_int_equal(chmod(closed, 0700), 0);
	assert_int_equal(os_tree_enter(NULL, tree, open_folder, &stat, &made_up), 0);
	assert_int_equal(os_tree_enter(NULL, tree, closed, &stat, &made_up), 0);
	os_tree_close(tree);
	assert_int_equal(chown(theirs, 0, 0), 0);
	mem_free(theirs);
	mem_free(open_folder);
	mem_free(closed);
	mem_free(link);
	mem_free(behind);
	mem_free(direct);
	mem_free(shared);
	mem_free(in_shared);
}

RUN_TESTS(make_folder, remove_folder)
