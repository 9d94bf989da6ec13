#include "os/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
	unsigned long long rights; /* its effective capabilities */
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

static int read_group_and_rights(struct jw_error *err, int pid, struct entrance *entrance)
{
	struct buf text = BUF_MAX(1 << 20);
	const char *group, *rights;
	char path[64];
	int result;

	(void)snprintf(path, sizeof path, "/proc/%d/status", pid);
	result = posix_read_proc(err, path, &text);
	group = result ? NULL : strstr(buf_text(&text), "\nGid:");
	rights = group ? strstr(group, "\nCapEff:") : NULL;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
	if (!rights || sscanf(group, "\nGid: %u", &entrance->group) != 1 ||
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

/* All of it is of one process, whichever ends and gives its number to another meanwhile. */
static int learn_all(struct jw_error *err, int pid,
					 int (*take)(struct jw_error *err, void *context, const char *name,
								 const char *value),
					 void *context, struct entrance *entrance)
{
	struct os_process_use first, last;

	if (os_process_used(err, pid, &first) ||
		open_of_process(err, pid, "ns/mnt", O_RDONLY, &entrance->mounts) ||
		open_of_process(err, pid, "root", O_PATH | O_DIRECTORY, &entrance->root) ||
		posix_process_owner(err, pid, &entrance->owner) ||
		read_group_and_rights(err, pid, entrance) ||
		os_process_variables(err, pid, take, context) || os_process_used(err, pid, &last))
		return -1;
	if (first.born != last.born)
		return error_set(err, JW_ERR_NOT_FOUND, "there is no process %d any more", pid);
	return 0;
}

/* ---- its place and its account */

/* The process's own root folder may lie below that of its mounts. */
static int enter_files(struct jw_error *err, const struct entrance *entrance)
{
	if (setns(entrance->mounts, CLONE_NEWNS) || fchdir(entrance->root) || chroot(".") || chdir("/"))
		return posix_error(err, "entering another process's files");
	return 0;
}

/* Root of a container is root here, too: of its rights, those to open files stay. */
static int keep_rights(struct jw_error *err, unsigned long long rights)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	const unsigned long long kept = rights & (1ULL << CAP_DAC_OVERRIDE);

	data[0].effective = data[0].permitted = (uint32_t)kept;
	if (syscall(SYS_capset, &head, data))
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
	return entrance->owner ? 0 : keep_rights(err, entrance->rights);
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
						 "process %d has other files (a container, or mounts of its own): only "
						 "root may look at them: sudo jitwarm doctor …",
						 pid);
	result = learn_all(err, pid, take, context, &entrance);
	if (!result)
		result = enter_files(err, &entrance);
	if (entrance.mounts >= 0)
		(void)close(entrance.mounts);
	if (entrance.root >= 0)
		(void)close(entrance.root);
	return result || become_its_account(err, &entrance) || execute_nothing(err) ? -1 : 0;
}
