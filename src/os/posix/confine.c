#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined __has_include
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#endif

#include "os/process.h"

#if defined LANDLOCK_ACCESS_FS_REFER && defined SYS_landlock_create_ruleset

/* Version 2 of Landlock (Linux 5.19) is the first that allows renames between folders. */
enum { LEAST_VERSION = 2 };
/* LANDLOCK_ACCESS_FS_TRUNCATE, which the headers of Linux 6.1 lack. */
static const uint64_t SHORTEN = UINT64_C(1) << 14;

static const uint64_t change_file = LANDLOCK_ACCESS_FS_WRITE_FILE,
					  change_folder = LANDLOCK_ACCESS_FS_WRITE_FILE |
									  LANDLOCK_ACCESS_FS_REMOVE_DIR |
									  LANDLOCK_ACCESS_FS_REMOVE_FILE |
									  LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
									  LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
									  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
									  LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

static bool allow(int rules, const char *path, uint64_t truncate)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat stat;

	if (rule.parent_fd < 0)
		return false;
	if (!fstat(rule.parent_fd, &stat)) {
		rule.allowed_access = truncate | (S_ISDIR(stat.st_mode) ? change_folder : change_file);
		(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	}
	(void)close(rule.parent_fd);
	return true;
}

static void allow_matching(int rules, const char *pattern, uint64_t truncate)
{
	glob_t found;

	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)allow(rules, found.gl_pathv[i], truncate);
	globfree(&found);
}

void os_change_only(const char *const *paths, size_t count)
{
	const long version =
		syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
	/* Version 3 of Landlock is the first that knows the right to shorten a file. */
	const uint64_t truncate = version < 3 ? 0 : SHORTEN;
	const struct landlock_ruleset_attr handled = {.handled_access_fs = change_folder | truncate};
	int rules;

	if (version < LEAST_VERSION)
		return;
	rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0U);
	if (rules < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (!allow(rules, paths[i], truncate))
			allow_matching(rules, paths[i], truncate);
	/* Without the right to do more (CAP_SYS_ADMIN), the kernel asks for this. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)syscall(SYS_landlock_restrict_self, rules, 0U);
	(void)close(rules);
}

#else

void os_change_only(const char *const *paths, size_t count)
{
	(void)paths;
	(void)count;
}

#endif
