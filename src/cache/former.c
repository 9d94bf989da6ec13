#include "cache/former.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/stamp.h"
#include "gpu/release.h"
#include "os/file.h"
#include "os/platform.h"

enum { MOST_DRIVERS = 4096 };

/* The first statement about a stamp wins: living drivers are added first. */
static int add_former(struct jw_error *err, struct former_drivers *drivers, const char *stamp,
					  const uint32_t release[3], enum former_verdict verdict)
{
	struct former_driver *one;

	if (!stamp_is(stamp) || former_of(drivers, stamp) != FORMER_UNKNOWN)
		return 0;
	if (VEC_ROOM(err, drivers->items, drivers->capacity, drivers->count, MOST_DRIVERS))
		return -1;
	one = &drivers->items[drivers->count++];
	*one = (struct former_driver){.verdict = verdict};
	TEXT_COPY(one->stamp, stamp);
	memcpy(one->release, release, sizeof one->release);
	return 0;
}

static bool is_living(const struct former_drivers *drivers, const struct cache_profile *profile)
{
	struct os_stat stat;

	if (drivers->running[0] && !gpu_release_compare(profile->driver.release, drivers->running))
		return true;
	return *profile->library && !os_stat(NULL, profile->library, &stat) &&
		   stat.size_bytes == profile->library_size && stat.mtime_ns == profile->library_mtime_ns;
}

/* In two passes: living ones, then others. Skips unreadable profiles. */
static int add_profiles(struct jw_error *err, const char *state_dir, bool living,
						struct former_drivers *drivers)
{
	char *folder = os_join(err, state_dir, "drivers");
	struct os_names names;
	int result = 0;

	if (!folder)
		return -1;
	if (os_list(NULL, folder, &names)) {
		mem_free(folder);
		return 0;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path =
			text_ends(names.items[i], ".json") ? os_join(NULL, folder, names.items[i]) : NULL;
		struct cache_profile profile;

		if (path && !cache_profile_read(NULL, path, &profile) &&
			is_living(drivers, &profile) == living)
			result = add_former(err, drivers, profile.stamp, profile.driver.release,
								living ? FORMER_LIVING : FORMER_FORMER);
		mem_free(path);
	}
	os_names_free(&names);
	mem_free(folder);
	return result;
}

static int add_known(struct jw_error *err, struct former_drivers *drivers)
{
	const struct cache_known_driver *known;

	for (size_t i = 0; (known = cache_known_driver_at(i)); i++)
		if ((!drivers->newest[0] || gpu_release_compare(known->release, drivers->newest) < 0) &&
			add_former(err, drivers, known->stamp, known->release, FORMER_FORMER))
			return -1;
	return 0;
}

static int find_running(struct jw_error *err, struct former_drivers *drivers,
						const uint32_t installed[3])
{
	struct jw_driver running;
	char text[32];

	memcpy(drivers->newest, installed, sizeof drivers->newest);
	if (os_running_driver(err, text))
		return -1;
	if (!*text || jw_driver_parse(NULL, text, &running) || !running.release[0] ||
		(installed[0] && !gpu_release_compare(running.release, installed)))
		return 0;
	memcpy(drivers->running, running.release, sizeof drivers->running);
	if (gpu_release_compare(running.release, installed) > 0)
		memcpy(drivers->newest, running.release, sizeof drivers->newest);
	return 0;
}

static bool has_living(const struct former_drivers *drivers, const uint32_t release[3])
{
	for (size_t i = 0; i < drivers->count; i++)
		if (drivers->items[i].verdict == FORMER_LIVING &&
			!gpu_release_compare(drivers->items[i].release, release))
			return true;
	return false;
}

int former_read(struct jw_error *err, const char *state_dir, const char *stamp,
				const uint32_t release[3], struct former_drivers *ret_drivers)
{
	struct former_drivers drivers = {0};
	const struct cache_known_driver *known = cache_known_driver(release), *running;

	if (find_running(err, &drivers, release))
		return -1;
	running = cache_known_driver(drivers.running);
	/* If the stamp was read wrongly, the table still knows the installed release. */
	if (add_former(err, &drivers, stamp, release, FORMER_LIVING) ||
		(known && add_former(err, &drivers, known->stamp, release, FORMER_LIVING)) ||
		(running && add_former(err, &drivers, running->stamp, running->release, FORMER_LIVING)) ||
		(state_dir && (add_profiles(err, state_dir, true, &drivers) ||
					   add_profiles(err, state_dir, false, &drivers))) ||
		add_known(err, &drivers)) {
		former_free(&drivers);
		return -1;
	}
	drivers.nameless = drivers.running[0] && !has_living(&drivers, drivers.running);
	*ret_drivers = drivers;
	return 0;
}

int former_add(struct jw_error *err, struct former_drivers *drivers, const char *stamp)
{
	static const uint32_t unknown[3];

	return drivers->nameless ? 0 : add_former(err, drivers, stamp, unknown, FORMER_FORMER);
}

int former_spare(struct jw_error *err, struct former_drivers *drivers, const char *stamp)
{
	static const uint32_t unknown[3];

	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->items[i].stamp, stamp))
			drivers->items[i].verdict = FORMER_LIVING;
	return add_former(err, drivers, stamp, unknown, FORMER_LIVING);
}

void former_free(struct former_drivers *drivers)
{
	mem_free(drivers->items);
	*drivers = (struct former_drivers){0};
}

/* A release that no installed driver has is a former driver's. Unknown if the release of an
 * installed driver is unknown. */
static enum former_verdict of_release(const struct former_drivers *drivers,
									  const uint32_t release[3])
{
	enum former_verdict verdict = drivers->count ? FORMER_FORMER : FORMER_UNKNOWN;

	if (drivers->running[0] && !gpu_release_compare(drivers->running, release))
		return FORMER_LIVING;
	for (size_t i = 0; i < drivers->count; i++) {
		const struct former_driver *one = &drivers->items[i];

		if (one->verdict != FORMER_LIVING)
			continue;
		if (one->release[0] && !gpu_release_compare(one->release, release))
			return FORMER_LIVING;
		if (!one->release[0])
			verdict = FORMER_UNKNOWN;
	}
	return verdict;
}

enum former_verdict former_of(const struct former_drivers *drivers, const char *driver)
{
	struct jw_driver version;

	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->items[i].stamp, driver))
			return drivers->items[i].verdict;
	if (*driver && !stamp_is(driver) && !jw_driver_parse(NULL, driver, &version) &&
		version.release[0])
		return of_release(drivers, version.release);
	return FORMER_UNKNOWN;
}
