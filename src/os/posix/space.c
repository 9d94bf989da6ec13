#include "os/file.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "os/posix/posix.h"

static bool is_one_of(unsigned long type, const unsigned long *types, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (type == types[i])
			return true;
	return false;
}

/* The numbers of statfs(2). */
#define IS_ONE_OF(info, types)                                                                     \
	is_one_of((unsigned long)(info).f_type, (types), sizeof(types) / sizeof *(types))

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

bool os_is_volatile(const char *path)
{
	static const unsigned long in_memory[] = {0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */};
	struct statfs info;

	/* systemd-tmpfiles, or the next start, empties this folder. */
	return text_starts(path, "/tmp/") || (!statfs(path, &info) && IS_ONE_OF(info, in_memory));
}

bool os_is_roaming(const char *path)
{
	(void)path;
	return false;
}
