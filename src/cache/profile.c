#include "cache/profile.h"

#include <stddef.h>
#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/system.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/index.h"
#include "code/release.h"
#include "os/file.h"
#include "os/library.h"

enum {
	MAX_TRIED = 4096, /* entries that are searched for a stamp */
};

/* The bytes before "HOST64" in every key, and the number of an entry's bytes that are read to see
 * them. */
enum { STAMP_END = CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE };

static bool entry_has_stamp(const char *dir, uint64_t key, const char *stamp)
{
	uint8_t head[STAMP_END];
	struct os_file *file = NULL;
	struct cache_probed probed;
	char *path;
	size_t got = 0;
	bool has;

	/* The probe opens only regular files. */
	if (cache_presence(dir, key, NULL, &probed) != CACHE_PRESENT)
		return false;
	path = cache_entry_path(dir, key);
	has = !os_file_open(NULL, path, OS_OPEN_READ, &file) &&
		  !os_file_read(NULL, file, 0, head, sizeof head, &got) && got == sizeof head &&
		  !memcmp(head + CACHE_ENTRY_HEADER, stamp, CACHE_STAMP_SIZE);
	os_file_close(file);
	mem_free(path);
	return has;
}

/* Searches the cache for an entry with the profile's stamp, newest rows first, and confirms the
 * stamp if it finds one. */
static void cache_profile_confirm(struct cache_profile *profile, const char *cache_dir)
{
	struct cache_index index;
	size_t tried = 0;

	if (!profile->stamp[0] || profile->trust == JW_TRUST_CONFIRMED ||
		profile->trust == JW_TRUST_OPAQUE)
		return;
	if (cache_index_load(NULL, cache_dir, &index))
		return;
	for (size_t i = index.count; i-- > 0 && tried < MAX_TRIED; tried++) {
		if (!entry_has_stamp(cache_dir, index.rows[i].key, profile->stamp))
			continue;
		profile->trust = JW_TRUST_CONFIRMED;
		break;
	}
	cache_index_free(&index);
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
		return; /* a build that the table lacks: the file's facts count */
	memcpy(profile->stamp, known->stamp, sizeof profile->stamp);
	/* A row read from a library is no better than the facts just read from this one. */
	if (known->seen || profile->trust == JW_TRUST_NONE)
		profile->trust = JW_TRUST_TABLE;
}

int cache_profile_find(struct jw_error *err, const char *state_dir, const char *library,
					   const char *cache_dir, struct cache_profile *ret_profile)
{
	const char *from_so = strstr(os_base_name(library), ".so.");
	struct cache_profile profile = {0};
	char release[32];
	struct os_map map;

	if (!state_dir || cache_profile_of_library(NULL, state_dir, library, &profile)) {
		profile = (struct cache_profile){0};
		if (os_map_open(err, library, &map))
			return -1;
		if (strlen(library) >= sizeof profile.library) {
			os_map_close(&map);
			return error_set(err, JW_ERR_LIMIT, "%.60s...: the path is too long", library);
		}
		TEXT_COPY(profile.library, library);
		profile.library_size = map.stat.size_bytes;
		profile.library_mtime_ns = map.stat.mtime_ns;
		(void)stamp_build_id(map.data, map.size, profile.build_id);
		if (!stamp_find(NULL, &map, profile.stamp))
			profile.trust = JW_TRUST_READ;
		os_map_close(&map);
		/* The name "libcuda.so.550.163.01" has its release. The name of a loader (WSL's
		 * libcuda.so.1, nvcuda.dll) does not, but Windows' loaders have it in a resource. */
		if (from_so && strchr(from_so + 4, '.'))
			(void)jw_driver_parse(NULL, from_so + 4, &profile.driver);
		if (!profile.driver.release[0] && !os_file_release(NULL, library, release))
			(void)jw_driver_parse(NULL, release, &profile.driver);
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

const char *cache_user_stamp(const struct jw_system *system)
{
	return system->elsewhere ? NULL : system->driver.stamp;
}

/* Profiles in the state directory: one JSON file for each library, named by the hash of its path.
 * For a driver that another one has replaced in the same file, the hash of its stamp follows.
 *
 *     {"schema":"jitwarm.driver/1","library":…,"size_bytes":…,"mtime_ns":"16 hex digits",
 *      "build_id":…,"stamp":…,"trust":"confirmed","cuda":12040,"release":[550,163,1]} */

enum { MAX_FILE = 64 << 10 };

static char *profile_file_of(const char *state_dir, const char *library)
{
	return mem_printf("%s/drivers/%016llx.json", state_dir,
					  (unsigned long long)fnv_update(FNV_START, library, strlen(library)));
}

static const char *const trusts[] = {
	[JW_TRUST_NONE] = "unknown",  [JW_TRUST_READ] = "read",   [JW_TRUST_CONFIRMED] = "confirmed",
	[JW_TRUST_OPAQUE] = "opaque", [JW_TRUST_TABLE] = "table", [JW_TRUST_TABLE + 1] = NULL,
};

static const struct json_field profile_fields[] = {
	JSON(struct cache_profile, library, NULL),
	JSON_AS("size_bytes", struct cache_profile, library_size, NULL),
	JSON_OF(JSON_HEX, "mtime_ns", struct cache_profile, library_mtime_ns, .text = NULL),
	JSON(struct cache_profile, build_id, NULL),
	JSON(struct cache_profile, stamp, NULL),
	JSON(struct cache_profile, trust, NULL, .names = trusts),
	JSON(struct cache_profile, driver.cuda, NULL),
	{0},
};
static const struct json_table profile_table = {.schema = "jitwarm.driver/1",
												.fields = profile_fields};

int cache_profile_parse(struct jw_error *err, const char *text, size_t size,
						struct cache_profile *ret_profile)
{
	struct cache_profile profile = {0};
	cJSON *document = json_parse(err, text, size);
	const cJSON *release;
	bool sound;

	if (!document)
		return -1;
	release = cJSON_GetObjectItemCaseSensitive(document, "release");
	sound =
		!json_take(NULL, NULL, document, &profile_table, &profile) &&
		profile.driver.cuda < 1000000 && cJSON_GetArraySize(release) == 3 &&
		(jw_stamp_is(profile.stamp) || (!profile.stamp[0] && profile.trust != JW_TRUST_CONFIRMED));
	for (int i = 0; sound && i < 3; i++) {
		const cJSON *number = cJSON_GetArrayItem(release, i);

		sound = cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 1e6;
		if (sound)
			profile.driver.release[i] = (uint32_t)number->valuedouble;
	}
	cJSON_Delete(document);
	if (!sound)
		return error_set(err, JW_ERR_FORMAT, "not a profile of a driver");
	*ret_profile = profile;
	return 0;
}

int cache_profile_read(struct jw_error *err, const char *path, struct cache_profile *ret_profile)
{
	struct buf text = {0};
	int result = os_read_file(err, path, MAX_FILE, &text);

	if (!result && cache_profile_parse(err, buf_text(&text), text.size, ret_profile))
		result = error_prefix(err, "%s", path);
	buf_free(&text);
	return result;
}

int cache_profile_of_library(struct jw_error *err, const char *state_dir, const char *library,
							 struct cache_profile *ret_profile)
{
	struct cache_profile profile;
	struct os_stat stat;
	char *path = profile_file_of(state_dir, library);
	int result = -1;

	if (os_stat(err, library, &stat) || cache_profile_read(err, path, &profile))
		goto done;
	if (strcmp(profile.library, library) != 0 || profile.library_size != stat.size_bytes ||
		profile.library_mtime_ns != stat.mtime_ns) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: belongs to another file", path);
		goto done;
	}
	*ret_profile = profile;
	result = 0;
done:
	mem_free(path);
	return result;
}

int cache_profile_write(struct jw_error *err, const char *path, const struct cache_profile *profile)
{
	cJSON *document = json_object(&profile_table, profile);
	cJSON *release = cJSON_AddArrayToObject(document, "release");
	char *line;
	int result;

	for (int i = 0; i < 3; i++)
		(void)cJSON_AddItemToArray(release, cJSON_CreateNumber(profile->driver.release[i]));
	line = json_line(document);
	result = os_write_atomic(err, path, line, strlen(line));
	cJSON_free(line);
	cJSON_Delete(document);
	return result;
}

int cache_profile_of_stamp(struct jw_error *err, const char *state_dir, const char *stamp,
						   struct cache_profile *ret_profile)
{
	char *folder = os_join(state_dir, "drivers");
	struct os_names names;
	bool found = false;

	if (os_list(err, folder, &names)) {
		mem_free(folder);
		return -1;
	}
	for (size_t i = 0; !found && i < names.count; i++) {
		char *path = os_join(folder, names.items[i]);
		struct cache_profile profile;

		found = text_ends(path, ".json") && !cache_profile_read(NULL, path, &profile) &&
				!strcmp(profile.stamp, stamp);
		if (found)
			*ret_profile = profile;
		mem_free(path);
	}
	os_names_free(&names);
	mem_free(folder);
	return found ? 0 : error_set(err, JW_ERR_NOT_FOUND, "jitwarm knows no driver with that stamp");
}

/* Keeps the profile of a driver that was replaced in its own file: its stamp must still be
 * recognised (pack/judge.h). */
static void keep_former(const char *path, const struct cache_profile *fresh)
{
	struct cache_profile former;
	char *beside;

	if (cache_profile_read(NULL, path, &former) || !former.stamp[0] ||
		!strcmp(former.stamp, fresh->stamp))
		return;
	beside = mem_printf("%.*s-%016llx.json", (int)(strlen(path) - strlen(".json")), path,
						(unsigned long long)fnv_update(FNV_START, former.stamp, CACHE_STAMP_SIZE));
	(void)cache_profile_write(NULL, beside, &former);
	mem_free(beside);
}

int cache_profile_save(struct jw_error *err, const char *state_dir,
					   const struct cache_profile *profile)
{
	char *path = profile_file_of(state_dir, profile->library);
	int result = -1;

	if (!os_make_parent(err, path, 0700)) {
		keep_former(path, profile);
		result = cache_profile_write(err, path, profile);
	}
	mem_free(path);
	return result;
}

/* Drivers whose stamp is known. The rows are made by CMake from data/driver-stamps.csv. */

static const struct cache_known_driver known[] = {
#include "known_drivers.inc"
};

const struct cache_known_driver *cache_known_driver_at(size_t index)
{
	return index < sizeof known / sizeof *known ? &known[index] : NULL;
}

const char *jw_driver_example(const struct jw_target *targets, size_t count)
{
	static const uint32_t branches[] = {550, 580, 470};

	for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
		const struct cache_known_driver *driver =
			cache_known_driver_like(&(struct jw_driver){.release = {branches[i]}});
		size_t runs = 0;

		while (driver && runs < count &&
			   !jw_driver_supports(NULL, &(struct jw_driver){.cuda = driver->cuda}, targets[runs]))
			runs++;
		if (driver && runs == count)
			return driver->name;
	}
	return "550.163.01";
}

const char *jw_driver_names(char text[JW_DRIVER_NAMES], const struct jw_driver *driver)
{
	enum { NEAREST = 3 };
	const size_t all = sizeof known / sizeof *known;
	size_t first = 0, end = all;

	if (driver) {
		while (first < all && (!driver->release[0] ||
							   gpu_release_compare(known[first].release, driver->release) < 0))
			first++;
		first = first ? first - 1 : 0;
		first = first < all - NEAREST ? first : all - NEAREST;
		end = first + NEAREST;
	}
	*text = '\0';
	for (size_t i = first; i < end; i++)
		text_append(text, JW_DRIVER_NAMES, "%s%s", i > first ? ", " : "", known[i].name);
	return text;
}

const struct cache_known_driver *cache_known_driver(const uint32_t release[3])
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!gpu_release_compare(known[i].release, release))
			return &known[i];
	return NULL;
}

const struct cache_known_driver *cache_known_driver_like(const struct jw_driver *driver)
{
	const struct cache_known_driver *newest = NULL;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if ((driver->release[0] ? known[i].release[0] == driver->release[0]
								: known[i].cuda == driver->cuda) &&
			(!newest || gpu_release_compare(known[i].release, newest->release) > 0))
			newest = &known[i];
	return newest;
}

const char *jw_cache_driver_of_stamp(const char *stamp)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].stamp, stamp))
			return known[i].name;
	return NULL;
}
