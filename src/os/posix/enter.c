#include "os/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/posix/posix.h"
#include "os/posix/proc.h"
#include "os/processes.h"

#if defined __x86_64__
#define OWN_MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OWN_MACHINE AUDIT_ARCH_AARCH64
#endif

/* What is known of the process before its files are entered. */
struct entrance {
	int mounts, root; /* open files */
	uint32_t owner;
	unsigned group;
	unsigned long long rights; /* its effective capabilities, in its user namespace */
	bool of_here;              /* which is ours */
};

/* ---- nothing that lies there is executed */

#ifdef OWN_MACHINE

#define CALL_IS(number, next) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), (next), 0)
#define REFUSAL               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* No program is started, and no memory becomes code: neither a library's nor other bytes. Refused
 * are execve, execveat, mmap and mprotect with PROT_EXEC, shmat, and personality, which makes what
 * can be read executable. */
static int execute_nothing(struct jw_error *err)
{
	static const struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_MACHINE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		/* x86's calls with addresses of 32 bits */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 10, 0),
		CALL_IS(SYS_execve, 9),
		CALL_IS(SYS_execveat, 8),
		CALL_IS(SYS_shmat, 7),
		CALL_IS(SYS_personality, 6),
		CALL_IS(SYS_mmap, 3),
		CALL_IS(SYS_mprotect, 2),
		CALL_IS(SYS_pkey_mprotect, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		/* The low half: both machines are little-endian. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		REFUSAL,
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof program / sizeof *program,
									  (struct sock_filter *)(uintptr_t)program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return posix_error(err, "entering another process's files (seccomp)");
	return 0;
}

#else

static int execute_nothing(struct jw_error *err)
{
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "entering another process's files is not supported on this machine");
}

#endif

/* ---- the process */

/* Its account may have become another one since (a program with the rights of its file): then there
 * is no such process any more. */
static int read_group_and_rights(struct jw_error *err, int pid, struct entrance *entrance)
{
	struct buf text = BUF_MAX(1 << 20);
	const char *owner, *group, *rights;
	unsigned still;
	int result = posix_read_of_process(err, pid, "status", &text);

	owner = result ? NULL : strstr(buf_text(&text), "\nUid:");
	group = owner ? strstr(owner, "\nGid:") : NULL;
	rights = group ? strstr(group, "\nCapEff:") : NULL;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
	if (!rights || sscanf(owner, "\nUid: %u", &still) != 1 || still != entrance->owner ||
		/* NOLINTNEXTLINE(cert-err34-c) */
		sscanf(group, "\nGid: %u", &entrance->group) != 1 ||
		/* NOLINTNEXTLINE(cert-err34-c) */
		sscanf(rights, "\nCapEff: %llx", &entrance->rights) != 1)
		result = result ? -1 : error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	buf_free(&text);
	return result;
}

static int open_of_process(struct jw_error *err, int pid, const char *name, int flags, int *ret_fd)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	*ret_fd = open(path, flags | O_CLOEXEC);
	return *ret_fd < 0 ? posix_error(err, path) : 0;
}

static bool is_of_our_namespace(int pid)
{
	struct stat its, own;
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
	return !stat(path, &its) && !stat("/proc/self/ns/user", &own) && its.st_dev == own.st_dev &&
		   its.st_ino == own.st_ino;
}

/* All of it is of one process, whichever ends and gives its number to another meanwhile. That one
 * can be seen later, too (os_mapped_code, os_process_used). */
static int learn_all(struct jw_error *err, int pid,
					 int (*take)(struct jw_error *err, void *context, const char *name,
								 const char *value),
					 void *context, struct entrance *entrance)
{
	struct os_process_use first, last;

	if (posix_hold_process(err, pid) || os_process_used(err, pid, &first) ||
		open_of_process(err, pid, "ns/mnt", O_RDONLY, &entrance->mounts) ||
		open_of_process(err, pid, "root", O_PATH | O_DIRECTORY, &entrance->root) ||
		posix_process_owner(err, pid, &entrance->owner) ||
		read_group_and_rights(err, pid, entrance) ||
		os_process_variables(err, pid, take, context) || os_process_used(err, pid, &last))
		return -1;
	entrance->of_here = is_of_our_namespace(pid);
	if (first.born != last.born)
		return error_set(err, JW_ERR_NOT_FOUND, "there is no process %d any more", pid);
	return 0;
}

/* ---- its place and its account */

/* Its root folder and what is mounted below it once more, for us alone and without devices: a
 * container's root may make any, and only its control group, which is not ours, keeps it from
 * opening them. Opening alone can restart the machine (a watchdog). Before Linux 5.12 there are
 * only the mounts as they are: -1, and errno ENOSYS. The numbers are those of every machine. */
static int copy_mounts(int root)
{
	enum {
		CALL_OPEN_TREE = 428,
		CALL_MOUNT_SETATTR = 442,
		TREE_CLONE = 1,
		ALL_OF_IT = 0x9000, /* AT_EMPTY_PATH | AT_RECURSIVE */
		NO_SUID_DEVICES_PROGRAMS = 2 | 4 | 8
	};
	const uint64_t how[4] = {NO_SUID_DEVICES_PROGRAMS};
	const int tree = (int)syscall(CALL_OPEN_TREE, root, "", TREE_CLONE | ALL_OF_IT | O_CLOEXEC);
	int why;

	if (tree < 0 || !syscall(CALL_MOUNT_SETATTR, tree, "", ALL_OF_IT, how, sizeof how))
		return tree;
	why = errno;
	(void)close(tree);
	errno = why;
	return -1;
}

/* The process's own root folder may lie below that of its mounts. */
static int enter_files(struct jw_error *err, const struct entrance *entrance)
{
	int tree = -1;
	bool entered = !setns(entrance->mounts, CLONE_NEWNS);

	if (entered)
		tree = copy_mounts(entrance->root);
	entered = entered && (tree >= 0 || errno == ENOSYS) &&
			  !fchdir(tree >= 0 ? tree : entrance->root) && !chroot(".") && !chdir("/");
	if (!entered)
		posix_error(err, "entering another process's files");
	if (tree >= 0)
		(void)close(tree);
	return entered ? 0 : -1;
}

/* Root of a container is root here, too: of its rights, those to open files stay. Those of another
 * user namespace hold for that alone. Nobody else keeps any (securebits could). The processes of
 * that account cannot trace this one, whose terminal and variables are root's. */
static int keep_rights(struct jw_error *err, const struct entrance *entrance)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	const unsigned long long kept =
		entrance->owner || !entrance->of_here ? 0 : entrance->rights & (1ULL << CAP_DAC_OVERRIDE);

	data[0].effective = data[0].permitted = (uint32_t)kept;
	if (syscall(SYS_capset, &head, data) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return posix_error(err, "giving up root's rights");
	return 0;
}

static int become_its_account(struct jw_error *err, const struct entrance *entrance)
{
	static const char *const of_root[] = {
		"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
		"JITWARM_STATE",  "SUDO_USER",      "USER",          "LOGNAME"};

	if (setgroups(0, NULL) || setgid(entrance->group) || setuid(entrance->owner))
		return posix_error(err, "becoming another process's account");
	for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
		(void)unsetenv(of_root[i]);
	return keep_rights(err, entrance);
}

int os_enter_process(struct jw_error *err, int pid,
					 int (*take)(struct jw_error *err, void *context, const char *name,
								 const char *value),
					 void *context)
{
	struct entrance entrance = {.mounts = -1, .root = -1};
	int result;

	if (geteuid())
		return error_set(err, JW_ERR_IO,
						 "process %d has other files (a container, or its own mounts): only root "
						 "may look at them: sudo jitwarm …",
						 pid);
	result = learn_all(err, pid, take, context, &entrance);
	if (!result)
		result = enter_files(err, &entrance);
	if (entrance.mounts >= 0)
		(void)close(entrance.mounts);
	if (entrance.root >= 0)
		(void)close(entrance.root);
	if (result || become_its_account(err, &entrance) || execute_nothing(err))
		return -1;
	posix_names_become_hostile();
	/* A file system of its own may let a read wait for ever, and a handler with it. */
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	return 0;
}
