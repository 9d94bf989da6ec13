#include "driver/driver_probe.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/write.h"
#include "driver/collect.h"
#include "driver/driver_session.h"
#include "driver/run_folder.h"
#include "os/file.h"
#include "probe_ptx.h"

enum { LIMIT_S = 120, MAX_ENTRY = 1 << 20 };

struct cache_profile profile_of_system(const struct jw_system *system)
{
	struct cache_profile profile = {.trust = system->driver.trust,
									.driver = system->driver.version};

	if (profile_is_known(system))
		memcpy(profile.stamp, system->driver.stamp, sizeof profile.stamp);
	memcpy(profile.library, system->driver.library, sizeof profile.library);
	return profile;
}

bool profile_is_known(const struct jw_system *system)
{
	return system->driver.stamp[0] && system->driver.trust != JW_TRUST_OPAQUE;
}

/* The module as stored: raw, and padded to eight bytes with NULs. The driver's key contains all of
 * these and no further NUL (measured on 535 and 550), so the last of them counts as the first byte
 * of the key's tail. */
struct payload {
	char text[(sizeof probe_ptx + 7) / 8 * 8]; /* ends in at least one NUL */
};

static struct payload probe_payload(void)
{
	struct payload payload = {0};

	memcpy(payload.text, probe_ptx, sizeof probe_ptx);
	*strchr(payload.text, '@') = '.'; /* see cmake/EmbedText.cmake */
	return payload;
}

int driver_probe_write(struct jw_error *err, const char *path)
{
	const struct payload payload = probe_payload();
	struct buf bytes = BUF_MAX(64 << 10);
	struct write_ptx ptx = {
		.payload = payload.text,
		.payload_size = sizeof payload,
		.isa_major = 6,
		.target = {.sm = 52},
		.compression = DEVCODE_RAW,
	};
	int result = write_container(err, &ptx, &bytes);

	if (!result)
		result = os_write_atomic(err, path, bytes.data, bytes.size);
	buf_free(&bytes);
	return result;
}

uint64_t driver_probe_key(const struct cache_profile *profile, uint16_t sm)
{
	const struct payload payload = probe_payload();

	return cache_key_hash(profile->stamp,
						  &(struct cache_key_input){.sm = sm,
													.form = CACHE_KEY_LOAD,
													.payload = payload.text,
													.payload_size = sizeof payload - 1},
						  NULL);
}

bool driver_probe_is(const uint8_t *payload, size_t size)
{
	const struct payload probe = probe_payload();
	const size_t length = strlen(probe.text);

	return size >= length && size <= sizeof probe && !memcmp(payload, probe.text, length);
}

/* The smallest entry below a cache directory. */
struct found_entry {
	char *path; /* NULL if there is no entry */
	uint64_t bytes;
};

static int find_probe_entry(struct jw_error *err, const char *dir, int level,
							struct found_entry *found)
{
	struct jw_error why = {0};
	struct os_names names;
	struct os_stat stat;
	int result = 0;

	if (os_list(&why, dir, &names))
		return error_unless_missing(err, &why);
	for (size_t i = 0; !result && i < names.count; i++) {
		char *below = os_join(dir, names.items[i]);

		if (os_stat(&why, below, &stat))
			result = error_unless_missing(err, &why);
		else if (stat.kind == OS_DIRECTORY && level < 4)
			result = find_probe_entry(err, below, level + 1, found);
		else if (stat.kind == OS_REGULAR && strcmp(names.items[i], "index") != 0 &&
				 (!found->path || stat.size_bytes < found->bytes)) {
			mem_free(found->path);
			*found = (struct found_entry){below, stat.size_bytes};
			below = NULL;
		}
		mem_free(below);
	}
	os_names_free(&names);
	return result;
}

/* Reads the entry of the probe into the profile, if it is the one that this module produces with
 * the stamp in it. Fails if there is no entry, so the form of entries stays unknown. */
static int read_probe_entry(struct jw_error *err, const char *cache_dir,
							const struct protocol_device *device, struct cache_profile *profile)
{
	struct found_entry smallest = {0};
	struct cache_key_parts parts;
	struct cache_entry entry;
	struct buf bytes = {0};
	struct cache_profile found = *profile;
	char name[CACHE_NAME_SIZE], *path;
	uint64_t key;
	int result = find_probe_entry(err, cache_dir, 0, &smallest);

	path = smallest.path;
	if (result || collect_disk_is_full(err, cache_dir, 0)) {
		mem_free(path);
		return -1;
	}
	if (!path)
		return error_set(err, JW_ERR_DRIVER,
						 "%s: the driver stored nothing in it: find out whether files can be "
						 "locked on this file system, or name another folder (JITWARM_STATE=DIR)",
						 cache_dir);
	found.trust = JW_TRUST_OPAQUE;
	if (os_read_file(err, path, MAX_ENTRY, &bytes)) {
		mem_free(path);
		return -1;
	}
	if (cache_entry_parse(bytes.data, bytes.size, &entry) == CACHE_SOUND &&
		cache_key_split(entry.key, (size_t)entry.key_bytes, &parts)) {
		memcpy(found.stamp, parts.stamp, sizeof found.stamp);
		key = driver_probe_key(&found, device->target.sm);
		cache_entry_name(name, key);
		if (text_ends(path, name + 4) &&
			cache_entry_verify(bytes.data, bytes.size, key, &entry) == CACHE_SOUND)
			found.trust = JW_TRUST_CONFIRMED;
	}
	buf_free(&bytes);
	mem_free(path);
	*profile = found;
	return 0;
}

int driver_probe(struct jw_error *err, const char *const *worker, const char *folder,
				 const struct protocol_device *device, struct cache_profile *profile)
{
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct protocol_job job = {0};
	char *container = os_join(folder, "probe.fatbin"), *cache_dir = os_join(folder, "probe-cache");
	struct driver_query ask = {
		.worker = worker, .cache_dir = cache_dir, .job = &job, .limit_s = LIMIT_S};
	struct os_stat stat;
	int result = -1;

	if (strlen(container) >= sizeof job.path) {
		error_set(err, JW_ERR_USAGE, "%s: the path is too long", container);
		goto done;
	}
	if (os_make_dirs(err, cache_dir, 0700) || driver_probe_write(err, container) ||
		os_stat(err, container, &stat))
		goto done;
	job = (struct protocol_job){
		.device = device->ordinal, .form = CACHE_KEY_LOAD, .size_bytes = stat.size_bytes};
	memcpy(job.path, container, strlen(container) + 1);
	if (driver_query(err, &ask, &hello, &answer))
		goto done;
	if (!hello.result && answer.no_context) {
		const int mode =
			job.device < (int)hello.device_count ? hello.devices[job.device].compute_mode : 0;

		error_set(err, JW_ERR_DRIVER, "GPU %d cannot be used: %s%s", job.device, answer.error,
				  device_pool_mode_text(mode));
		goto done;
	}
	if (hello.result || answer.result) {
		error_set(err, JW_ERR_DRIVER, "the driver does not compile a tiny module: %s",
				  hello.result ? hello.error : answer.error);
		goto done;
	}
	result = read_probe_entry(err, cache_dir, device, profile);
done:
	mem_free(container);
	mem_free(cache_dir);
	return result;
}

int driver_probe_confirm(struct jw_error *err, const struct jw_system *system,
						 struct cache_profile *profile)
{
	struct run_folder folder = {0};
	int result = -1;

	if (run_folder_make(err, system->state_dir, &folder))
		return -1;
	/* Another process may be using the first GPU. */
	for (size_t i = 0; result && i < system->gpu_count; i++) {
		const struct protocol_device device = {.ordinal = system->gpus[i].ordinal,
											   .target = system->gpus[i].target};

		result = driver_probe(err, system->worker, folder.path, &device, profile);
	}
	if (!result && system->state_dir)
		(void)cache_profile_save(NULL, system->state_dir, profile);
	run_folder_remove(&folder);
	return result;
}
