/* Which drivers of the table are in use, former ones or newer ones, computed a second time as
 * plainly as possible, without code of src, for each pair of an installed and a running driver. */
#include "check.h"

#include <stdio.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "cache/former.h"
#include "environments.h"

/* Returns one number that grows with the release. */
static uint64_t age(const uint32_t release[3])
{
	return (uint64_t)release[0] * 1000000000 + (uint64_t)release[1] * 100000 + release[2];
}

CASE(a_driver_is_in_use_or_former_or_newer)
{
	const struct cache_known_driver *installed, *running, *one;
	char text[200];

	set("JITWARM_SYSTEM_ROOT", "system");
	for (size_t i = 0; (installed = cache_known_driver_at(i)); i++)
		for (size_t k = 0; (running = cache_known_driver_at(k)); k++) {
			const uint64_t here = age(installed->release), now = age(running->release),
						   newest = here > now ? here : now;
			struct former_drivers drivers;

			(void)snprintf(text, sizeof text, "NVRM version: NVIDIA UNIX x86_64 %u.%02u.%02u\n",
						   running->release[0], running->release[1], running->release[2]);
			put("system/proc/driver/nvidia/version", text);
			OK(former_read(why, NULL, installed->stamp, installed->release, &drivers));
			assert_int_equal(age(drivers.newest), newest);
			assert_int_equal(age(drivers.running), here == now ? 0 : now);
			for (size_t m = 0; (one = cache_known_driver_at(m)); m++) {
				const uint64_t age_of_one = age(one->release);
				const enum former_verdict wanted = age_of_one == here || age_of_one == now
													   ? FORMER_LIVING
												   : age_of_one > newest ? FORMER_NEWER
																		 : FORMER_FORMER;

				(void)snprintf(text, sizeof text, "%u.%02u.%02u", one->release[0], one->release[1],
							   one->release[2]);
				assert_int_equal(former_of(&drivers, one->stamp), wanted);
				assert_int_equal(former_of(&drivers, text), wanted);
			}
			former_free(&drivers);
		}
}

RUN_TESTS(NULL, NULL)
