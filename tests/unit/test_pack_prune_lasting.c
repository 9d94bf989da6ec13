/* A pack of pruned entries is on the disk before they leave the cache: behind a power loss one of
 * the two has them. */
#include "folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jitwarm/prune.h>

#include "base/text.h"
#include "packs.h"

#define OURS "Apr  8 202512:10:18"

static char *cache, *keep, *entry_path;
static size_t synced;
static bool there_then;

/* Which file it is, and whether the entry is there still. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	char link[64], path[4096];
	ssize_t length;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	if (keep && !strcmp(os_base_name(path), os_base_name(keep))) {
		synced++;
		there_then = os_exists(entry_path);
	}
	return 0;
}

static void put(void)
{
	uint8_t bytes[512], *value;
	char key[128];
	const int length = snprintf(key, sizeof key, "%sHOST64sm_86// 0%c ", OURS, 0);
	const uint64_t name = fnv_update(FNV_START, key, (size_t)length);

	value = bytes + CACHE_ENTRY_HEADER + length;
	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(value, 86, false);
	cache_entry_header(bytes, (uint64_t)length, ENTRIES_CUBIN,
					   fnv_update(FNV_START, value, ENTRIES_CUBIN));
	packs_put(cache, name, bytes, CACHE_ENTRY_HEADER + (size_t)length + ENTRIES_CUBIN);
	entry_path = cache_entry_path(NULL, cache, name);
}

static void a_pack_is_synced_before_entries_go(void **state)
{
	static const struct jw_target targets[] = {{.sm = 86}};
	struct jw_gpu gpu = {.target = {.sm = 86}};
	struct jw_system machine = {.gpus = &gpu, .gpu_count = 1, .state_dir = folder};
	const struct jw_prune_options options = {.size = sizeof options,
											 .cache_dir = cache,
											 .system = &machine,
											 .targets = targets,
											 .target_count = 1,
											 .keep = keep,
											 .apply = true};
	struct jw_prune_result *result = NULL;

	(void)state;
	put();
	machine.cache.limit_bytes = 1 << 30;
	TEXT_COPY(machine.driver.stamp, OURS);
	machine.driver.version = (struct jw_driver){12040, {550, 163, 1}};
	machine.driver.trust = JW_TRUST_CONFIRMED;
	assert_int_equal(jw_prune(NULL, &options, &result), 0);
	assert_int_equal(result->removed, 1);
	assert_false(os_exists(entry_path));
	assert_int_equal(synced, 1);
	assert_true(there_then);
	jw_prune_result_free(result);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = os_join(NULL, folder, "cache");
	keep = os_join(NULL, folder, "kept.jwpack");
	return cache && keep ? 0 : -1;
}

static int tear_down(void **state)
{
	mem_free(cache);
	mem_free(keep);
	mem_free(entry_path);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pack_is_synced_before_entries_go),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
