#include "cache/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/presence.h"
#include "cache/stamp.h"
#include "os/file.h"
#include "os/library.h"

enum {
	MOST_TRIED = 4096, /* entries that are searched for a stamp */
};

/* The bytes before "HOST64" in every key, and the bytes that are read of an entry to see them. */
enum { STAMP_END = CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE };

static bool entry_has_stamp(const char *dir, uint64_t key, const char *stamp)
{
	uint8_t head[STAMP_END];
	struct os_file *file = NULL;
	struct cache_probed probed;
	char *path;
	size_t got = 0;
	bool has;

	/* The probe opens regular files only. */
	if (cache_presence(dir, key, 0, &probed) != CACHE_PRESENT)
		return false;
	path = cache_entry_path(NULL, dir, key);
	has = path && !os_file_open(NULL, path, OS_OPEN_READ, &file) &&
		  !os_file_read(NULL, file, 0, head, sizeof head, &got) && got == sizeof head &&
		  !memcmp(head + CACHE_ENTRY_HEADER, stamp, CACHE_STAMP_SIZE);
	os_file_close(file);
	mem_free(path);
	return has;
}

/* Searches the cache for an entry with the profile's stamp, newest rows first, and confirms the
 * stamp if there is one. */
static void cache_profile_confirm(struct cache_profile *profile, const char *cache_dir)
{
	struct cache_index index;
	size_t tried = 0;

	if (!profile->stamp[0] || profile->trust >= CACHE_STAMP_CONFIRMED)
		return;
	if (cache_index_load(NULL, cache_dir, &index))
		return;
	for (size_t i = index.count; i-- > 0 && tried < MOST_TRIED; tried++) {
		if (!entry_has_stamp(cache_dir, index.rows[i].key, profile->stamp))
			continue;
		profile->trust = CACHE_STAMP_CONFIRMED;
		break;
	}
	cache_index_free(&index);
}

/* "libcuda.so.550.163.01" contains its release; a loader (WSL's libcuda.so.1, nvcuda.dll) does not.
 */
static void release_by_name(const char *library, struct jw_driver *driver)
{
	const char *name = os_base_name(library), *at = strstr(name, ".so.");

	if (at && strchr(at + 4, '.'))
		(void)jw_driver_parse(NULL, at + 4, driver);
}

/* On Windows the last five digits of the file's version are the release: 31.0.15.3623 is 536.23.
 * Source: NVIDIA's release notes name both. */
static void release_by_resource(const char *library, struct jw_driver *driver)
{
	struct jw_driver known;
	char text[TEXT_SHORT];
	uint16_t numbers[4];
	uint32_t digits;

	if (driver->release[0] || os_file_version(NULL, library, numbers) || numbers[3] > 9999)
		return;
	digits = numbers[2] % 10u * 10000u + numbers[3];
	driver->release[0] = digits / 100;
	driver->release[1] = digits % 100;
	(void)snprintf(text, sizeof text, "%u.%02u", digits / 100, digits % 100);
	if (!jw_driver_parse(NULL, text, &known))
		driver->cuda = known.cuda;
}

/* The table adds facts that are not in the file, and confirms the others. */
static void consult_table(struct cache_profile *profile)
{
	const struct cache_known_driver *known = NULL;

	if (profile->driver.release[0])
		known = cache_known_driver(profile->driver.release);
	if (!known)
		return;
	if (profile->stamp[0] && strcmp(profile->stamp, known->stamp) != 0)
		return; /* its own build: the file's facts count */
	memcpy(profile->stamp, known->stamp, sizeof profile->stamp);
	/* A row read from a library is no better than the facts just read from this one. */
	if (known->seen || profile->trust == CACHE_STAMP_UNKNOWN)
		profile->trust = CACHE_STAMP_TABLE;
}

static int set_identity(struct jw_error *err, const char *library, const struct os_stat *stat,
						struct cache_profile *profile)
{
	if (strlen(library) >= sizeof profile->library)
		return error_set(err, JW_ERR_LIMIT, "%.60s...: the path is too long", library);
	memcpy(profile->library, library, strlen(library) + 1);
	profile->library_size = stat->size_bytes;
	profile->library_mtime_ns = stat->mtime_ns;
	return 0;
}

int cache_profile_find(struct jw_error *err, const char *state_dir, const char *library,
					   const char *cache_dir, struct cache_profile *ret_profile)
{
	struct cache_profile profile = {0};
	struct os_map map;

	if (!state_dir || cache_profile_load(NULL, state_dir, library, &profile)) {
		profile = (struct cache_profile){0};
		if (os_map_open(err, library, &map))
			return -1;
		if (set_identity(err, library, &map.stat, &profile)) {
			os_map_close(&map);
			return -1;
		}
		(void)stamp_build_id(map.data, map.size, profile.build_id);
		if (!stamp_find_mapped(NULL, &map, profile.stamp))
			profile.trust = CACHE_STAMP_READ;
		os_map_close(&map);
		release_by_name(library, &profile.driver);
		release_by_resource(library, &profile.driver);
		consult_table(&profile);
	}
	if (cache_dir)
		cache_profile_confirm(&profile, cache_dir);
	*ret_profile = profile;
	return 0;
}

int cache_profile_for_release(struct jw_error *err, const char *driver,
							  struct cache_profile *ret_profile)
{
	struct cache_profile profile = {0};

	if (jw_driver_parse(err, driver, &profile.driver))
		return -1;
	consult_table(&profile);
	*ret_profile = profile;
	return 0;
}
