#include "os/file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "os/path_calls.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

static int find_info(struct jw_error *err, const char *path, struct statfs *ret_info)
{
	struct at at;
	int fd, result;

	if (at_enter(err, path, AT_LAST_ENTERED, &at))
		return -1;
	fd = at_open(&at, O_PATH, 0);
	result = fd < 0 || fstatfs(fd, ret_info) ? posix_error(err, path) : 0;
	if (fd >= 0)
		(void)close(fd);
	at_leave(&at);
	return result;
}

/* statfs(2) magic numbers of file systems that do locks and mappings over a network. */
static bool is_network_type(unsigned long type)
{
	static const unsigned long network[] = {
		0x6969 /* NFS */,      0xff534d42 /* CIFS */,   0xfe534d42 /* SMB2 */,
		0x517b /* SMB */,      0x5346414f /* AFS */,    0x0bd00bd0 /* Lustre */,
		0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */, 0x00c36400 /* Ceph */,
	};

	for (size_t i = 0; i < sizeof network / sizeof *network; i++)
		if (type == network[i])
			return true;
	return false;
}

static bool is_made_up_type(const struct statfs *info)
{
	static const unsigned long made_up[] = {
		0x9fa0 /* proc */,         0x62656572 /* sysfs */,   0x64626720 /* debugfs */,
		0x74726163 /* tracefs */,  0x0027e0eb /* cgroup */,  0x63677270 /* cgroup2 */,
		0x73636673 /* security */, 0xf97cff8c /* SELinux */, 0xcafe4a11 /* BPF */,
		0x62656570 /* configfs */, 0xde5e81e4 /* EFI */,     0x6165676c /* pstore */,
		0x42494e4d /* binfmt */,   0x1cd1 /* devpts */,      0x65735543 /* FUSE's control */,
	};

	for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++)
		if ((unsigned long)info->f_type == made_up[i])
			return true;
	return false;
}

bool os_is_made_up(const char *path)
{
	struct statfs native = {0};

	return !find_info(NULL, path, &native) && is_made_up_type(&native);
}

bool posix_is_made_up(int fd)
{
	struct statfs native = {0};

	return !fstatfs(fd, &native) && is_made_up_type(&native);
}

/* Reads the file system's quota of a user or group. Kernels before 5.14 need the device's name.
 * Source: quotactl(2). */
static bool read_books(int fd, int type, uint32_t id, struct dqblk *ret_books)
{
	/* QCMD shifts into the sign. */
	const unsigned command = (unsigned)Q_GETQUOTA << SUBCMDSHIFT | ((unsigned)type & SUBCMDMASK);
	char link[64], target[256], device[300];
	struct stat stat;
	ssize_t length;

#ifdef SYS_quotactl_fd
	if (!syscall(SYS_quotactl_fd, fd, command, id, ret_books))
		return true;
#endif
	if (fstat(fd, &stat))
		return false;
	(void)snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(stat.st_dev),
				   minor(stat.st_dev));
	length = readlink(link, target, sizeof target - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	(void)snprintf(device, sizeof device, "/dev/%s", os_base_name(target));
	return !quotactl((int)command, device, (int)id, (char *)ret_books);
}

/* A soft limit applies after its grace time, or if it is the only one. 0: no limit. */
static uint64_t binding(uint64_t hard, uint64_t soft, uint64_t grace_s)
{
	bool over = soft && grace_s && (int64_t)grace_s < (int64_t)time(NULL);

	return over || !hard ? soft : hard;
}

static void apply_limit(uint64_t limit, uint64_t used, uint64_t *left, bool *is_quota)
{
	uint64_t rest = limit > used ? limit - used : 0;

	if (limit && rest < *left) {
		*left = rest;
		*is_quota = true;
	}
}

static void apply_books(const struct dqblk *books, struct os_space *space)
{
	enum { BLOCK = 1024 };

	/* Older kernels may fill in only one half: fields that are not marked as valid are unknown. */
	if (books->dqb_valid & QIF_BLIMITS && books->dqb_valid & QIF_SPACE)
		apply_limit(binding(books->dqb_bhardlimit, books->dqb_bsoftlimit,
							books->dqb_valid & QIF_BTIME ? books->dqb_btime : 0) *
						BLOCK,
					books->dqb_curspace, &space->free_bytes, &space->quota);
	if (books->dqb_valid & QIF_ILIMITS && books->dqb_valid & QIF_INODES)
		apply_limit(binding(books->dqb_ihardlimit, books->dqb_isoftlimit,
							books->dqb_valid & QIF_ITIME ? books->dqb_itime : 0),
					books->dqb_curinodes, &space->free_files, &space->file_quota);
}

/* Quotas do not apply to the superuser. */
static void apply_quotas(const char *path, struct os_space *space)
{
	int fd = geteuid() ? path_open(NULL, path, O_RDONLY | O_NONBLOCK) : -1;
	struct dqblk books = {0};

	if (fd < 0)
		return;
	if (read_books(fd, USRQUOTA, geteuid(), &books))
		apply_books(&books, space);
	books = (struct dqblk){0};
	if (read_books(fd, GRPQUOTA, getegid(), &books))
		apply_books(&books, space);
	(void)close(fd);
}

int os_space(struct jw_error *err, const char *path, struct os_space *ret_space)
{
	struct os_space space = {.free_files = UINT64_MAX};
	struct statfs info = {0};

	if (find_info(err, path, &info))
		return -1;
	space.free_bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
	/* File systems that make inodes on demand report 0. */
	if (info.f_files)
		space.free_files = (uint64_t)info.f_ffree;
	space.network = is_network_type((unsigned long)info.f_type);
	apply_quotas(path, &space);
	*ret_space = space;
	return 0;
}

bool os_is_volatile(const char *path)
{
	static const unsigned long in_memory[] = {0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */};
	struct statfs info = {0};

	if (text_starts(path, "/tmp/"))
		return true; /* emptied by systemd-tmpfiles or at the next start */
	if (find_info(NULL, path, &info))
		return false;
	for (size_t i = 0; i < sizeof in_memory / sizeof *in_memory; i++)
		if ((unsigned long)info.f_type == in_memory[i])
			return true;
	return false;
}

bool os_is_roaming(const char *path)
{
	(void)path;
	return false;
}
