#include "os/platform.h"

/* Memory: the machine's, our control group's, a process'. Sources: proc(5), the kernel's
 * admin-guide/cgroup-v2, cgroup-v1/memory and accounting/psi. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/mem.h"
#include "os/file.h"
#include "os/posix/posix.h"

enum { MAX_STATUS = 65536, MAX_GROUP_PATH = 1024 };

static uint64_t meminfo_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* The two versions of control groups: how a line of /proc/self/cgroup begins for our group, and the
 * names of their files. */
static const struct group_version {
	const char *line, *root, *limit, *used;
} versions[] = {
	{"0::", "/sys/fs/cgroup", "memory.max", "memory.current"},
	{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

/* A number in a file of the control group; UINT64_MAX if there is none ("max", no such group). */
static uint64_t group_bytes(const char *folder, const char *name)
{
	struct buf text = {0};
	uint64_t value = UINT64_MAX;

	if (posix_kernel_text(&text, "%s/%s", folder, name) && buf_text(&text)[0] >= '0' &&
		buf_text(&text)[0] <= '9')
		value = strtoull(buf_text(&text), NULL, 10);
	buf_free(&text);
	return value;
}

/* Returns the bytes of cached files, which the kernel can drop. */
static uint64_t group_file_bytes(const char *folder)
{
	static const char *const names[] = {"\nactive_file ", "\ninactive_file "};
	struct buf text = {0};
	uint64_t sum = 0;

	(void)posix_kernel_text(&text, "%s/memory.stat", folder);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *at = strstr(buf_text(&text), names[i]);

		sum += at ? strtoull(at + strlen(names[i]), NULL, 10) : 0;
	}
	buf_free(&text);
	return sum;
}

/* Applies this group's limit to the available memory. */
static void limit_by_group(const struct group_version *version, const char *folder,
						   uint64_t *total_bytes, uint64_t *available_bytes)
{
	uint64_t limit = group_bytes(folder, version->limit), used, files, left;

	if (limit == UINT64_MAX || (used = group_bytes(folder, version->used)) == UINT64_MAX)
		return;
	files = group_file_bytes(folder);
	used -= files < used ? files : used;
	left = limit - (used < limit ? used : limit);
	if (limit < *total_bytes)
		*total_bytes = limit;
	if (left < *available_bytes)
		*available_bytes = left;
}

/* Finds our own group below its root: "/user.slice/…", or "" for the root (a container sees its own
 * group as root). */
static void own_group(const struct group_version *version, char path[MAX_GROUP_PATH])
{
	struct buf text = {0};
	const char *at = NULL;

	path[0] = 0;
	if (posix_kernel_text(&text, "/proc/self/cgroup"))
		at = strstr(buf_text(&text), version->line);
	if (at) {
		at += strlen(version->line);
		(void)snprintf(path, MAX_GROUP_PATH, "%.*s", (int)strcspn(at, "\n"), at);
	}
	if (!strcmp(path, "/") || strstr(path, ".."))
		path[0] = 0;
	buf_free(&text);
}

/* Each level above our own group may limit it. */
static void limit_memory(const struct group_version *version, uint64_t *total_bytes,
						 uint64_t *available_bytes)
{
	char path[MAX_GROUP_PATH];
	char *slash;

	own_group(version, path);
	do {
		char *folder = mem_printf("%s%s", version->root, path);

		limit_by_group(version, folder, total_bytes, available_bytes);
		mem_free(folder);
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
	} while (slash);
}

bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes)
{
	struct buf text = {0};

	if (!posix_kernel_text(&text, "/proc/meminfo"))
		return false;
	*ret_total_bytes = meminfo_field(buf_text(&text), "MemTotal:");
	*ret_available_bytes = meminfo_field(buf_text(&text), "MemAvailable:");
	buf_free(&text);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		limit_memory(&versions[i], ret_total_bytes, ret_available_bytes);
	return *ret_total_bytes != 0;
}

/* Reads "some avg10=1.53 avg60=0.40 …"; the kernel writes a decimal point in every locale. */
static double some_avg10(const char *folder, const char *name)
{
	static const char start[] = "some avg10=";
	struct buf text = {0};
	double percent = 0;

	if (posix_kernel_text(&text, "%s/%s", folder, name) &&
		!strncmp(buf_text(&text), start, sizeof start - 1)) {
		char *end;
		unsigned long whole = strtoul(buf_text(&text) + sizeof start - 1, &end, 10);

		percent = (double)whole + (*end == '.' ? (double)strtoul(end + 1, NULL, 10) / 100 : 0);
	}
	buf_free(&text);
	return percent;
}

double os_memory_pressure(void)
{
	char group[MAX_GROUP_PATH], *folder;
	double machine = some_avg10("/proc/pressure", "memory"), own = 0;

	own_group(&versions[0], group);
	folder = mem_printf("%s%s", versions[0].root, group);
	own = some_avg10(folder, "memory.pressure");
	mem_free(folder);
	return own > machine ? own : machine;
}

uint64_t os_process_resident(int pid)
{
	char path[64];
	struct buf text = {0};
	unsigned long long all = 0, resident = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/statm", pid);
	if (os_read_file(NULL, path, 256, &text) ||
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		sscanf(buf_text(&text), "%llu %llu", &all, &resident) != 2)
		resident = 0;
	buf_free(&text);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_peak_resident_bytes(void)
{
	struct buf text = {0};
	uint64_t value = 0;

	if (!os_read_file(NULL, "/proc/self/status", MAX_STATUS, &text))
		value = meminfo_field(buf_text(&text), "VmHWM:");
	buf_free(&text);
	return value;
}

void os_keep_memory(uint64_t most_bytes)
{
#ifdef __GLIBC__
	/* the largest value that glibc accepts; larger blocks are mapped and unmapped each time */
	const int in_heap = 32 << 20;

	(void)mallopt(M_TRIM_THRESHOLD, most_bytes < INT_MAX ? (int)most_bytes : INT_MAX);
	(void)mallopt(M_MMAP_THRESHOLD, in_heap);
#else
	(void)most_bytes;
#endif
}

void os_prefer_for_oom_kill(void)
{
	struct os_file *file = NULL;

	if (!os_file_open(NULL, "/proc/self/oom_score_adj", OS_OPEN_UPDATE, &file))
		(void)os_file_write(NULL, file, 0, "1000", 4);
	os_file_close(file);
}

void os_release_memory(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}
