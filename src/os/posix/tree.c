#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"
#include "os/posix/rights.h"
#include "os/tree.h"

/* glibc has it by name since 2.30; with others, and older ones, the kernel is asked */
#ifndef __GLIBC__
#define getdents64(...) syscall(SYS_getdents64, __VA_ARGS__)
#elif !__GLIBC_PREREQ(2, 30)
#define getdents64(...) syscall(SYS_getdents64, __VA_ARGS__)
#endif

enum { MOST_OPEN = 32, LISTED_BYTES = 1 << 15 };

/* A folder on the way to the last one. */
struct level {
	int fd;
	size_t length; /* of its path, without slashes at the end: what is in it comes behind a slash */
	uid_t owner;   /* whose rights it is used with; 0: this process's own */
	gid_t group;
	bool made_up; /* its file system */
	dev_t device;
};

struct os_tree {
	struct level levels[MOST_OPEN]; /* each holds the next one */
	size_t count;
	bool entered; /* the last level is the folder */
	bool root;    /* the rights of owners count */
	bool acts;    /* this thread has the rights of `owner` */
	uid_t owner;
	gid_t group;
	char path[PATH_MAX]; /* of the last level */
	uint64_t listed[LISTED_BYTES / sizeof(uint64_t)];
};

int os_tree_open(struct jw_error *err, struct os_tree **ret_tree)
{
	struct os_tree *tree = mem_alloc(err, sizeof *tree);

	if (!tree)
		return -1;
	tree->root = rights_are_roots();
	*ret_tree = tree;
	return 0;
}

static void leave_level(struct os_tree *tree)
{
	(void)close(tree->levels[--tree->count].fd);
}

void os_tree_rest(struct os_tree *tree)
{
	if (tree->acts)
		rights_return();
	tree->acts = false;
}

void os_tree_close(struct os_tree *tree)
{
	if (!tree)
		return;
	os_tree_rest(tree);
	while (tree->count)
		leave_level(tree);
	mem_free(tree);
}

static int act_as_owner(struct jw_error *err, struct os_tree *tree, const struct level *level)
{
	if (tree->acts && tree->owner == level->owner && tree->group == level->group)
		return 0;
	os_tree_rest(tree);
	if (!level->owner)
		return 0;
	if (rights_take(err, level->owner, level->group))
		return error_prefix(err, "%s", tree->path);
	tree->acts = true;
	tree->owner = level->owner;
	tree->group = level->group;
	return 0;
}

/* Whether the path is a name in the last level, after the levels that do not hold it were left. */
static bool name_in_level(struct os_tree *tree, const char *path)
{
	for (; tree->count; leave_level(tree)) {
		const size_t length = tree->levels[tree->count - 1].length;

		if (!strncmp(path, tree->path, length) && path[length] == '/' && path[length + 1] &&
			!strchr(path + length + 1, '/'))
			return true;
	}
	return false;
}

/* The last level, and what of the path comes behind it; -1: none. */
static int last_level(const struct os_tree *tree, const char *path, const char **ret_rest)
{
	if (!tree->count) {
		errno = ENOENT;
		return -1;
	}
	for (*ret_rest = path + tree->levels[tree->count - 1].length; **ret_rest == '/'; ++*ret_rest)
		;
	return tree->levels[tree->count - 1].fd;
}

/* From the last level, with the rights that hold there. A link, another owner's folder and whatever
 * fails are left to the path: -1. */
static int enter_from_level(struct os_tree *tree, const char *path, struct stat *ret_stat,
							struct level *ret_level)
{
	struct level level = tree->levels[tree->count - 1];
	const char *rest = path;
	const int from = last_level(tree, path, &rest);
	int fd;

	if (act_as_owner(NULL, tree, &level))
		return -1;
	fd = openat(from, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, ret_stat) || (tree->root && ret_stat->st_uid != level.owner)) {
		(void)close(fd);
		return -1;
	}
	level.fd = fd;
	if (level.owner)
		level.group = ret_stat->st_gid;
	*ret_level = level;
	return 0;
}

static int enter_by_path(struct jw_error *err, struct os_tree *tree, const char *path,
						 struct stat *ret_stat, struct level *ret_level)
{
	struct at at;
	int fd;

	os_tree_rest(tree);
	if (at_enter(err, path, AT_LAST_ENTERED, &at))
		return -1;
	fd = at_open(&at, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 || fstat(fd, ret_stat)) {
		posix_error(err, path);
		if (fd >= 0)
			(void)close(fd);
		at_leave(&at);
		return -1;
	}
	*ret_level = (struct level){.fd = fd};
	/* Behind another account's link the rights of its maker, whoever owns the folder. */
	if (at.foreign) {
		ret_level->owner = at.owner;
		ret_level->group = at.walk.group;
	}
	at_leave(&at);
	return 0;
}

/* The upper ones are walked to again when they are needed: they are 32 levels away. */
static void push_level(struct os_tree *tree, const struct level *level)
{
	if (tree->count == MOST_OPEN) {
		(void)close(tree->levels[0].fd);
		memmove(tree->levels, tree->levels + 1, (MOST_OPEN - 1) * sizeof *tree->levels);
		tree->count--;
	}
	tree->levels[tree->count++] = *level;
}

int os_tree_enter(struct jw_error *err, struct os_tree *tree, const char *path,
				  struct os_stat *ret_stat, bool *ret_made_up)
{
	const size_t length = strlen(path);
	bool held;
	struct level level;
	struct stat native;

	tree->entered = false;
	if (length >= sizeof tree->path) {
		errno = ENAMETOOLONG;
		return posix_error(err, path);
	}
	held = name_in_level(tree, path);
	if (!(held && !enter_from_level(tree, path, &native, &level)) &&
		enter_by_path(err, tree, path, &native, &level))
		return -1;
	if (native.st_dev != level.device)
		level.made_up = posix_is_made_up(level.fd);
	level.device = native.st_dev;
	level.length = length;
	while (level.length && path[level.length - 1] == '/')
		level.length--;
	push_level(tree, &level);
	memcpy(tree->path, path, length + 1);
	tree->entered = true;
	posix_stat_of(&native, ret_stat);
	*ret_made_up = level.made_up;
	return 0;
}

static int take_entries(struct jw_error *err, const struct os_tree *tree, size_t size,
						bool (*wanted)(const char *name, enum os_kind kind),
						struct named_list *names)
{
	const int fd = tree->levels[tree->count - 1].fd;
	const char *const listed = (const char *)tree->listed;

	for (size_t at = 0; at < size;) {
		/* As the kernel writes it, where offsets have 64 bits */
		const struct dirent *entry = (const struct dirent *)(const void *)(listed + at);
		const char *name = entry->d_name;
		enum os_kind kind;

		at += entry->d_reclen;
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		kind = posix_entry_kind(fd, name, entry->d_type);
		if (wanted(name, kind) && names_add(err, names, mem_string(err, name), kind))
			return -1;
	}
	return 0;
}

static int no_folder(struct jw_error *err, const struct os_tree *tree)
{
	errno = ENOENT;
	return tree->entered ? 0 : posix_error(err, tree->path);
}

static int read_wanted(struct jw_error *err, struct os_tree *tree,
					   bool (*wanted)(const char *name, enum os_kind kind),
					   struct named_list *names)
{
	const int fd = tree->levels[tree->count - 1].fd;
	ssize_t size = 1;
	int result = 0;

	while (!result && size > 0) {
		size = getdents64(fd, tree->listed, sizeof tree->listed);
		result = size < 0 ? posix_error(err, tree->path)
						  : take_entries(err, tree, (size_t)size, wanted, names);
	}
	return result;
}

int os_tree_list(struct jw_error *err, struct os_tree *tree,
				 bool (*wanted)(const char *name, enum os_kind kind), struct os_names *ret_names)
{
	struct named_list names = {0};
	int result = no_folder(err, tree);

	if (!result)
		result = act_as_owner(err, tree, &tree->levels[tree->count - 1]);
	if (!result)
		result = read_wanted(err, tree, wanted, &names);
	result = names_finish(err, result, &names, ret_names);
	if (result)
		os_tree_rest(tree);
	return result;
}

int os_tree_stat(struct jw_error *err, struct os_tree *tree, const char *path,
				 struct os_stat *ret_stat)
{
	const char *rest = path;
	struct stat native;
	int from;

	if (no_folder(err, tree) || act_as_owner(err, tree, &tree->levels[tree->count - 1]))
		return -1;
	from = last_level(tree, path, &rest);
	if (from < 0 || fstatat(from, rest, &native, AT_SYMLINK_NOFOLLOW)) {
		posix_error(err, path);
		os_tree_rest(tree);
		return -1;
	}
	if (S_ISLNK(native.st_mode)) {
		os_tree_rest(tree);
		return os_stat(err, path, ret_stat);
	}
	posix_stat_of(&native, ret_stat);
	return 0;
}

struct each {
	int (*take)(struct jw_error *err, void *context, const char *name, const struct os_stat *stat);
	void *context;
};

static int take_each_entry(struct jw_error *err, void *context, int folder,
						   const struct dirent *entry)
{
	const struct each *each = context;
	struct os_stat stat = {.kind = OS_OTHER};
	struct stat native;

	/* It has gone meanwhile. */
	if (fstatat(folder, entry->d_name, &native, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISREG(native.st_mode))
		stat.kind = OS_REGULAR;
	else if (S_ISDIR(native.st_mode))
		stat.kind = OS_DIRECTORY;
	stat.device = (uint64_t)native.st_dev;
	return each->take(err, each->context, entry->d_name, &stat);
}

int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context)
{
	struct each each = {take, context};
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = posix_each_entry(
		err, path, openat(at.dir, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		take_each_entry, &each);
	at_leave(&at);
	return result;
}
