/* jitwarm knows whether an entry's driver is installed, a former one, a newer one, or unknown. */
#include "folder.h"

#include <stdio.h>
#include <string.h>

#include "cache/former.h"
#include "code/release.h"
#include "os/env.h"

/* Returns the newest driver of the table, or the oldest. */
static const struct cache_known_driver *known_driver_at_end(bool newest)
{
	const struct cache_known_driver *end = cache_known_driver_at(0), *at;

	for (size_t i = 0; (at = cache_known_driver_at(i)); i++) {
		const int order = gpu_release_compare(at->release, end->release);

		if (newest ? order > 0 : order < 0)
			end = at;
	}
	return end;
}

/* Stamps and releases are distinguished however many drivers are known, even if the list has no
 * space for another. */
TEST(stamps_and_releases_are_told_apart)
{
	static const char living[] = "Aug 20 202514:13:09";
	static const uint32_t release[3] = {550, 163, 1}, unknown[3];
	struct former_drivers drivers = {0};
	size_t first;

	assert_int_equal(former_of(&drivers, "550.163.01"), FORMER_UNKNOWN);
	OK(former_read(why, NULL, living, release, &drivers));
	OK(former_add(why, &drivers, "no stamp"));
	first = drivers.count;
	for (unsigned day = 1; day <= 28; day++) {
		char stamp[CACHE_STAMP_SIZE + 1];

		(void)snprintf(stamp, sizeof stamp, "Feb %2u 202301:02:03", day);
		assert_int_equal(former_of(&drivers, stamp), FORMER_UNKNOWN);
		OK(former_add(why, &drivers, stamp));
		OK(former_add(why, &drivers, stamp));
		assert_int_equal(drivers.count, first + day);
		assert_int_equal(former_of(&drivers, stamp), FORMER_FORMER);
		assert_int_equal(former_of(&drivers, living), FORMER_LIVING);
		assert_int_equal(former_of(&drivers, "550.163.01"), FORMER_LIVING);
		assert_int_equal(former_of(&drivers, "418.39"), FORMER_FORMER);
		assert_int_equal(former_of(&drivers, ""), FORMER_UNKNOWN);
		assert_int_equal(former_of(&drivers, "x"), FORMER_UNKNOWN);
	}
	former_free(&drivers);
	/* An installed driver whose release is unknown may be this release. */
	OK(former_read(why, NULL, "Feb  3 202301:02:03", unknown, &drivers));
	assert_int_equal(former_of(&drivers, "418.40"), FORMER_UNKNOWN);
	former_free(&drivers);
}

/* Each driver of the table is the installed one in turn. */
TEST(a_stamp_and_its_release_are_one_driver)
{
	const struct cache_known_driver *own, *at;

	for (size_t i = 0; (own = cache_known_driver_at(i)); i++) {
		struct former_drivers drivers = {0};

		OK(former_read(why, NULL, own->stamp, own->release, &drivers));
		for (size_t k = 0; (at = cache_known_driver_at(k)); k++) {
			const enum former_verdict verdict = former_of(&drivers, at->stamp);
			const int order = gpu_release_compare(at->release, own->release);

			assert_int_equal(verdict, order > 0   ? FORMER_NEWER
									  : order < 0 ? FORMER_FORMER
												  : FORMER_LIVING);
			assert_int_equal(former_of(&drivers, at->name), verdict);
			/* The driver was seen here, or is in use elsewhere. */
			OK(former_add(why, &drivers, at->stamp));
			assert_int_equal(former_of(&drivers, at->name), former_of(&drivers, at->stamp));
			assert_int_not_equal(former_of(&drivers, at->name), FORMER_NEWER);
			OK(former_spare(why, &drivers, at->stamp));
			assert_int_equal(former_of(&drivers, at->name), FORMER_LIVING);
		}
		former_free(&drivers);
	}
}

#ifndef _WIN32
static void write_version(const char *text)
{
	char *dir = keep(os_join(folder, "proc/driver/nvidia")), *file = keep(os_join(dir, "version"));

	OK(os_make_dirs(why, dir, 0700));
	OK(os_write_atomic(why, file, text, strlen(text)));
	OK(os_env_set(why, "JITWARM_SYSTEM_ROOT", folder));
}

/* Asserts the verdict for the table's drivers between its oldest and its newest. */
static void assert_verdict_between(const struct former_drivers *drivers,
								   enum former_verdict verdict)
{
	const struct cache_known_driver *at;

	for (size_t i = 0; (at = cache_known_driver_at(i)); i++)
		if (at != known_driver_at_end(false) && at != known_driver_at_end(true))
			assert_int_equal(former_of(drivers, at->stamp), verdict);
}

/* Between an update and the next boot, the running driver is not the one whose library is
 * installed. */
TEST(the_running_driver_is_no_former_one)
{
	const struct cache_known_driver *const oldest = known_driver_at_end(false),
										   *const newest = known_driver_at_end(true);
	const struct cache_profile profile = {.stamp = "Feb  4 202301:02:03",
										  .trust = JW_TRUST_CONFIRMED,
										  .driver = {.release = {600, 12, 3}},
										  .library = "/gone/libcuda.so.1"};
	struct former_drivers drivers = {0};
	char text[200];

	OK(former_read(why, NULL, newest->stamp, newest->release, &drivers));
	assert_int_equal(former_of(&drivers, oldest->stamp), FORMER_FORMER);
	assert_int_equal(former_of(&drivers, newest->stamp), FORMER_LIVING);
	former_free(&drivers);
	(void)snprintf(text, sizeof text,
				   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %u.%u.%02u  Release "
				   "Build  (root@host)\nGCC version:  gcc version 12.2.0\n",
				   oldest->release[0], oldest->release[1], oldest->release[2]);
	write_version(text);
	OK(former_read(why, NULL, newest->stamp, newest->release, &drivers));
	assert_int_equal(former_of(&drivers, oldest->stamp), FORMER_LIVING);
	assert_int_equal(former_of(&drivers, newest->stamp), FORMER_LIVING);
	assert_verdict_between(&drivers, FORMER_FORMER);
	OK(former_add(why, &drivers, "Feb  3 202301:02:03"));
	assert_int_equal(former_of(&drivers, "Feb  3 202301:02:03"), FORMER_FORMER);
	former_free(&drivers);
	/* Its stamp is unknown: it may be any stamp that is not another driver's. */
	write_version(
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  600.12.03  Tue Apr  8 12:10:18 2025\n");
	OK(former_read(why, NULL, newest->stamp, newest->release, &drivers));
	OK(former_add(why, &drivers, "Feb  3 202301:02:03"));
	assert_int_equal(former_of(&drivers, "Feb  3 202301:02:03"), FORMER_UNKNOWN);
	assert_int_equal(former_of(&drivers, oldest->stamp), FORMER_FORMER);
	assert_int_equal(former_of(&drivers, "600.12.03"), FORMER_LIVING);
	former_free(&drivers);
	/* A profile has the stamp, though the library is gone. */
	OK(cache_profile_save(why, folder, &profile));
	OK(former_read(why, folder, newest->stamp, newest->release, &drivers));
	assert_int_equal(former_of(&drivers, profile.stamp), FORMER_LIVING);
	former_free(&drivers);
	OK(os_env_set(why, "JITWARM_SYSTEM_ROOT", NULL));
}

#endif

/* The entries were made ahead, for an update or another machine. */
TEST(a_newer_driver_is_no_former_one)
{
	const struct cache_known_driver *const oldest = known_driver_at_end(false), *at;
	struct former_drivers drivers = {0};

	OK(former_read(why, NULL, oldest->stamp, oldest->release, &drivers));
	for (size_t i = 0; (at = cache_known_driver_at(i)); i++)
		if (gpu_release_compare(at->release, oldest->release) > 0)
			assert_int_equal(former_of(&drivers, at->stamp), FORMER_NEWER);
	assert_int_equal(former_of(&drivers, "999.01"), FORMER_NEWER);
	former_free(&drivers);
}

RUN_TESTS(make_folder, remove_folder)
