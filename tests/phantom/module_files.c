/* The files in /proc and /sys that show a process that NVIDIA's kernel module is loaded. */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "phantom.h"

#define LIBCUDA     "/libcuda.so."
#define VERSION_MAX 64

/* Reads the version from the name of the file that libcuda.so.1 links to. */
static int version_of(struct dl_phdr_info *info, size_t size, void *ret_version)
{
	char path[PATH_MAX];
	const char *base = strrchr(info->dlpi_name, '/');
	(void)size;
	if (!base || strncmp(base, LIBCUDA, strlen(LIBCUDA)) != 0 || !realpath(info->dlpi_name, path))
		return 0;
	base = strrchr(path, '/');
	if (!base || strncmp(base, LIBCUDA, strlen(LIBCUDA)) != 0)
		return 0;
	const char *version = base + strlen(LIBCUDA);
	if (!strchr(version, '.'))
		return 0;
	snprintf(ret_version, VERSION_MAX, "%s", version);
	return 1;
}

/* PHANTOM_DRIVER_VERSION serves processes that load no libcuda, or a copy with a bare name. */
const char *driver_version(void)
{
	static char version[VERSION_MAX];
	if (*version || dl_iterate_phdr(version_of, version))
		return version;
	const char *named = getenv("PHANTOM_DRIVER_VERSION");
	return named && *named ? named : "unknown";
}

/* PHANTOM_MODULE_VERSION makes the kernel module another driver's, as after an upgrade. */
const char *module_version(void)
{
	const char *named = getenv("PHANTOM_MODULE_VERSION");
	return named && *named ? named : driver_version();
}

static const char *version_text(void)
{
	static char text[VERSION_MAX + 100];
	snprintf(text, sizeof text,
			 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Mon Jan  1 00:00:00 UTC 2024\n",
			 module_version());
	return text;
}

const char *module_text(const char *path)
{
	/* With ModifyDeviceFiles at 0, libcuda does not call nvidia-modprobe to make device files. */
	static const struct {
		const char *path, *text;
	} files[] = {
		{"/sys/module/nvidia/initstate", "live\n"},
		{"/proc/driver/nvidia/params",
		 "ModifyDeviceFiles: 0\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\n"
		 "InitializeSystemMemoryAllocations: 1\nUsePageAttributeTable: 4294967295\n"},
		{"/proc/devices",
		 "Character devices:\n195 nvidia-frontend\n195 nvidia\n195 nvidiactl\n507 nvidia-uvm\n"
		 "508 nvidia-caps\n\nBlock devices:\n"},
	};
	if (!path || (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0))
		return NULL;
	if (strcmp(path, "/proc/driver/nvidia/version") == 0)
		return version_text();
	for (size_t i = 0; i < COUNT(files); i++)
		if (strcmp(path, files[i].path) == 0)
			return files[i].text;
	return NULL;
}

int module_text_open(const char *text)
{
	int fd = memfd_create("phantom", MFD_CLOEXEC);
	size_t length = strlen(text);
	if (fd < 0)
		return -1;
	if (write(fd, text, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	errno = EIO;
	return -1;
}
