#include "os/file.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/posix/posix.h"

enum { MAX_MOUNTS = 4 << 20 };

static bool is_listed_type(unsigned long type, const unsigned long *types, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (type == types[i])
			return true;
	return false;
}

/* The numbers of statfs(2). */
#define IS_ONE_OF(info, types)                                                                     \
	is_listed_type((unsigned long)(info).f_type, (types), sizeof(types) / sizeof *(types))

bool os_is_made_up(const char *path)
{
	static const unsigned long made_up[] = {
		0x9fa0 /* proc */,         0x62656572 /* sysfs */,   0x64626720 /* debugfs */,
		0x74726163 /* tracefs */,  0x0027e0eb /* cgroup */,  0x63677270 /* cgroup2 */,
		0x73636673 /* security */, 0xf97cff8c /* SELinux */, 0xcafe4a11 /* BPF */,
		0x62656570 /* configfs */, 0xde5e81e4 /* EFI */,     0x6165676c /* pstore */,
		0x42494e4d /* binfmt */,   0x1cd1 /* devpts */,      0x65735543 /* FUSE's control */,
	};
	struct statfs native;

	return !statfs(path, &native) && IS_ONE_OF(native, made_up);
}

int os_space(struct jw_error *err, const char *path, struct os_space *ret_space)
{
	/* File systems whose locks and mappings go over a network. */
	static const unsigned long network[] = {
		0x6969 /* NFS */,      0xff534d42 /* CIFS */,   0xfe534d42 /* SMB2 */,
		0x517b /* SMB */,      0x5346414f /* AFS */,    0x0bd00bd0 /* Lustre */,
		0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */, 0x00c36400 /* Ceph */,
	};
	struct os_space space = {.free_files = UINT64_MAX};
	struct statfs info;

	if (statfs(path, &info))
		return posix_error(err, path);
	space.free_bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
	/* File systems that make inodes on demand report 0. */
	if (info.f_files)
		space.free_files = (uint64_t)info.f_ffree;
	space.network = IS_ONE_OF(info, network);
	*ret_space = space;
	return 0;
}

/* Returns whether the mount that a path is on comes from a folder of this name. Each line has the
 * mount's number, its parent's, the device, the folder in the file system, and the mount point
 * (proc_pid_mountinfo(5)). */
static bool is_mounted_from(const char *path, const char *name)
{
	struct buf text = {0};
	size_t longest = 0;
	bool is = false;

	if (os_read_file(NULL, "/proc/self/mountinfo", MAX_MOUNTS, &text))
		return false;
	for (char *line = (char *)text.data, *end; line && *line; line = end) {
		char *words[5], *rest = line;
		size_t count = 0, length;

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = 0;
		for (; count < 5 && rest; count++) {
			words[count] = rest;
			rest = strchr(rest, ' ');
			if (rest)
				*rest++ = 0;
		}
		length = count == 5 ? strlen(words[4]) : 0;
		if (length < longest || !length || !text_starts(path, words[4]) ||
			(length > 1 && path[length] && path[length] != '/'))
			continue;
		longest = length;
		is = strstr(words[3], name) != NULL;
	}
	buf_free(&text);
	return is;
}

/* Returns whether the path is below the folder that a variable of the environment names. */
static bool is_below_variable(const char *path, const char *name)
{
	char *folder = os_env(name);
	const size_t length = folder ? strlen(folder) : 0;
	const bool is = length > 1 && os_is_absolute(folder) && text_starts(path, folder) &&
					(!path[length] || path[length] == '/' || folder[length - 1] == '/');

	mem_free(folder);
	return is;
}

static bool is_variable_set(const char *name)
{
	char *value = os_env(name);
	const bool is = value && *value;

	mem_free(value);
	return is;
}

/* Folders of Slurm, HTCondor and GitHub's runners, and TMPDIR in a job of a batch system. */
static bool is_of_job(const char *path)
{
	static const char *const folders[] = {"SLURM_TMPDIR", "_CONDOR_SCRATCH_DIR", "RUNNER_TEMP"},
							 *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (is_below_variable(path, folders[i]))
			return true;
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
		if (is_variable_set(jobs[i]) && is_below_variable(path, "TMPDIR"))
			return true;
	return false;
}

bool os_is_read_only(const char *path)
{
	struct statvfs info;

	return !statvfs(path, &info) && info.f_flag & ST_RDONLY;
}

enum os_loss os_loss(const char *path)
{
	static const unsigned long in_memory[] = {0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */},
							   overlay[] = {0x794c7630};
	struct statfs info;
	const bool known = !statfs(path, &info);

	if (is_of_job(path))
		return OS_LOST_WITH_JOB;
	/* systemd-tmpfiles, or the next start, empties this folder. */
	if (text_starts(path, "/tmp/") || (known && IS_ONE_OF(info, in_memory)))
		return OS_LOST_AT_RESTART;
	/* The root of a container, unless its engine keeps layers otherwise (btrfs, zfs, vfs): a mark
	 * such as /.dockerenv is also in virtual machines that were made from an image. */
	if (known && IS_ONE_OF(info, overlay))
		return OS_LOST_WITH_CONTAINER;
	return is_mounted_from(path, "/kubernetes.io~empty-dir/") ? OS_LOST_WITH_POD : OS_STAYS;
}

bool os_is_roaming(const char *path)
{
	(void)path;
	return false;
}
