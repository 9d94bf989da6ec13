/* Little space and few files are reported exactly from their bounds on. The test supplies the
 * kernel's answers. */
#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <jitwarm/tune.h>

#include "os/file.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static struct {
	uint64_t free_bytes, files, free_files;
	uid_t account;
	unsigned type;
} kernel;

uid_t geteuid(void)
{
	return kernel.account;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int statfs(const char *path, struct statfs *info)
{
	(void)path;
	*info = (struct statfs){.f_type = kernel.type,
							.f_bsize = 4096,
							.f_bavail = kernel.free_bytes / 4096,
							.f_files = kernel.files,
							.f_ffree = kernel.free_files};
	return 0;
}

/* Returns the lines about "/" for a limit of 1 GiB, one after the other. */
static char *lines_on_root(void)
{
	static char all[4096];
	char **lines;
	size_t count;

	all[0] = '\0';
	OK(jw_tune_check_path(why, "/", GIB, &lines, &count));
	for (size_t i = 0, at = 0; i < count && at < sizeof all; i++)
		at += (size_t)snprintf(all + at, sizeof all - at, "%s\n", lines[i]);
	jw_lines_free(lines, count);
	return all;
}

static int plenty(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof kernel);
	kernel.account = 20001;
	kernel.free_bytes = 100 * GIB;
	return 0;
}

/* There is just enough space; a path below somebody else's folder does not exist yet. */
TEST_WITH(each_objection_has_its_bound, plenty, NULL)
{
	static const struct {
		const char *path, *said;
		bool wanted;
	} paths[] = {
		{"/", "copied to other machines", false},
		{"/absent/OneDrive/x", "copied to other machines", true},
		{"/absent/Dropbox", "/absent/Dropbox is in a folder that is copied to other machines",
		 true},
		{"/absent/iCloudDrive", "copied to other machines", true},
		{"/absent", "belongs to another account", false},
	};
	struct os_stat stat;

	kernel.free_bytes = GIB;
	assert_null(strstr(lines_on_root(), "free"));
	kernel.free_bytes = GIB - 4096;
	assert_non_null(strstr(lines_on_root(), "free"));
	OK(os_stat(why, "/", &stat));
	kernel.account = stat.owner;
	assert_null(strstr(lines_on_root(), "belongs to another account"));
	kernel.account = stat.owner + 1;
	assert_non_null(strstr(lines_on_root(), "belongs to another account"));
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		char **lines;
		size_t count, found = 0;

		OK(jw_tune_check_path(why, paths[i].path, GIB, &lines, &count));
		for (size_t k = 0; k < count; k++)
			found += strstr(lines[k], paths[i].said) != NULL;
		if (found != paths[i].wanted)
			fail_msg("%s: %s", paths[i].path, paths[i].said);
		jw_lines_free(lines, count);
	}
}

RUN_TESTS(NULL, NULL)
