#include "cache/former.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "os/file.h"
#include "os/platform.h"

enum { MAX_DRIVERS = 4096 };

/* Adds a driver; the first statement about a stamp counts, and installed drivers are added
 * first. */
static int add_former(struct jw_error *err, struct former_drivers *drivers, const char *stamp,
					  const uint32_t release[3], enum former_verdict verdict)
{
	struct former_driver *one;

	if (!jw_stamp_is(stamp) || former_of(drivers, stamp) != FORMER_UNKNOWN)
		return 0;
	if (VEC_ROOM(err, drivers->items, drivers->capacity, drivers->count, MAX_DRIVERS))
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

/* Adds the profiles of installed drivers, or those of former ones. Skips unreadable profiles. */
static int add_profiles(struct jw_error *err, const char *state_dir, enum former_verdict verdict,
						struct former_drivers *drivers)
{
	char *folder = os_join(state_dir, "drivers");
	struct os_names names;
	int result = 0;

	if (os_list(NULL, folder, &names)) {
		mem_free(folder);
		return 0;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path = os_join(folder, names.items[i]);
		struct cache_profile profile;

		if (text_ends(path, ".json") && !cache_profile_read(NULL, path, &profile) &&
			is_living(drivers, &profile) == (verdict == FORMER_LIVING))
			result = add_former(err, drivers, profile.stamp, profile.driver.release, verdict);
		mem_free(path);
	}
	os_names_free(&names);
	mem_free(folder);
	return result;
}

static bool has_living(const struct former_drivers *drivers, const uint32_t release[3])
{
	for (size_t i = 0; i < drivers->count; i++)
		if (drivers->items[i].verdict == FORMER_LIVING &&
			!gpu_release_compare(drivers->items[i].release, release))
			return true;
	return false;
}

static bool is_newer(const struct former_drivers *drivers, const uint32_t release[3])
{
	return drivers->newest[0] && gpu_release_compare(release, drivers->newest) > 0;
}

/* Finds the driver that is running, if its release differs from the installed one's. */
static void find_running(struct former_drivers *drivers, const uint32_t installed[3])
{
	struct jw_driver running;
	char text[32];

	memcpy(drivers->newest, installed, sizeof drivers->newest);
	os_running_driver(text);
	if (!*text || jw_driver_parse(NULL, text, &running) || !running.release[0] ||
		(installed[0] && !gpu_release_compare(running.release, installed)))
		return;
	memcpy(drivers->running, running.release, sizeof drivers->running);
	if (gpu_release_compare(running.release, installed) > 0)
		memcpy(drivers->newest, running.release, sizeof drivers->newest);
}

int former_read(struct jw_error *err, const char *state_dir, const char *stamp,
				const uint32_t release[3], struct former_drivers *ret_drivers)
{
	struct former_drivers drivers = {0};
	const struct cache_known_driver *known = cache_known_driver(release), *running;
	int result;

	find_running(&drivers, release);
	running = cache_known_driver(drivers.running);
	/* If the stamp was read wrongly, the table still knows the installed release. */
	result = add_former(err, &drivers, stamp, release, FORMER_LIVING) ||
					 (known && add_former(err, &drivers, known->stamp, release, FORMER_LIVING)) ||
					 (running &&
					  add_former(err, &drivers, running->stamp, running->release, FORMER_LIVING)) ||
					 (state_dir && (add_profiles(err, state_dir, FORMER_LIVING, &drivers) ||
									add_profiles(err, state_dir, FORMER_FORMER, &drivers)))
				 ? -1
				 : 0;
	for (size_t i = 0; !result && (known = cache_known_driver_at(i)); i++)
		if (!has_living(&drivers, known->release))
			result = add_former(err, &drivers, known->stamp, known->release,
								is_newer(&drivers, known->release) ? FORMER_NEWER : FORMER_FORMER);
	if (result) {
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

	for (size_t i = 0; i < drivers->count; i++)
		if (drivers->items[i].verdict == FORMER_NEWER && !strcmp(drivers->items[i].stamp, stamp))
			drivers->items[i].verdict = FORMER_FORMER;
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

/* Judges a release: as its stamp is judged, if that is known. Otherwise a release that no installed
 * driver has belongs to a former driver, unless it is newer; the answer is unknown if the release
 * of an installed driver is unknown. */
static enum former_verdict of_release(const struct former_drivers *drivers,
									  const uint32_t release[3])
{
	enum former_verdict verdict = !drivers->count              ? FORMER_UNKNOWN
								  : is_newer(drivers, release) ? FORMER_NEWER
															   : FORMER_FORMER;

	if ((drivers->running[0] && !gpu_release_compare(drivers->running, release)) ||
		has_living(drivers, release))
		return FORMER_LIVING;
	for (size_t i = 0; i < drivers->count; i++) {
		const struct former_driver *one = &drivers->items[i];

		if (one->release[0] && !gpu_release_compare(one->release, release))
			return one->verdict;
		if (one->verdict == FORMER_LIVING && !one->release[0])
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
	if (*driver && !jw_stamp_is(driver) && !jw_driver_parse(NULL, driver, &version) &&
		version.release[0])
		return of_release(drivers, version.release);
	return FORMER_UNKNOWN;
}
