/* The patience with an index that sends nothing. The clock is this program's own, and
 * runs 300 times as fast. */
#include "folder.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "find/pip.h"
#include "os/env.h"

/* libuv reads the clock through this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	static time_t begun_s;
	const int failed = (int)syscall(SYS_clock_gettime, clock, time);

	if (clock != CLOCK_MONOTONIC)
		return failed;
	if (!begun_s)
		begun_s = time->tv_sec;
	time->tv_sec += 299 * (time->tv_sec - begun_s);
	return failed;
}

TEST(an_index_that_sends_nothing_ends_pip)
{
	static const char sleeps[] = "#!/bin/sh\nexec sleep 100\n", version[] = "version = 3.11\n";
	const struct jw_compiler_fetch_options fetch = {.progress = NULL};
	char *python = keep(os_join(folder, "bin/python3")), *inside = keep(os_join(folder, "pip"));
	char *sites = keep(os_join(folder, "lib/python3.11/site-packages"));
	char *environment = keep(os_join(folder, "pyvenv.cfg")),
		 *programs = keep(os_join(folder, "bin")), *path;
	const struct pip_options options = {
		.folder = inside, .by_hand = "fetch it by hand", .fetch = &fetch};
	struct pip *pip;

	OK(os_make_dirs(why, inside, 0700) || os_make_dirs(why, sites, 0700) ||
	   os_make_dirs(why, programs, 0700));
	OK(os_write_mode(why, python, sleeps, strlen(sleeps), 0755));
	OK(os_write_mode(why, environment, version, strlen(version), 0644));
	OK(os_env_set(why, "PATH", "/usr/bin:/bin") || os_env_set(why, "VIRTUAL_ENV", folder));
	OK(pip_open(why, &options, &pip));
	GIVES(JW_ERR_LIMIT, pip_get_one(why, pip, "", "torch", &path));
	assert_non_null(strstr(why->message, "pip: the connection carried less than 64 KiB a second"));
	pip_close(pip);
}

RUN_TESTS(make_folder, remove_folder)
