/* Root's cache is not filled from a store that another account may change, even if memory runs out
 * during the check. */
#include "folder.h"

#include <unistd.h>

#include <jitwarm/store.h>

#include "cache/entry.h"
#include "entries.h"
#include "packs.h"

enum { NOBODY = 65534 };

static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};

static bool refills(const struct jw_system *system, uint64_t key)
{
	const struct jw_store_refill_options options = {.system = system, .keys = &key, .count = 1};
	struct jw_store_refilled refilled = {0};

	(void)jw_store_refill(NULL, &options, &refilled);
	return cache_presence(system->cache.path, key, 0, NULL) != CACHE_ABSENT;
}

TEST(it_fills_no_cache_of_roots)
{
	char *cache = os_join(folder, "cache"), *store = os_join(folder, "store");
	struct jw_system system = {
		.gpus = &gpu, .gpu_count = 1, .state_dir = folder, .cache.path = cache};
	struct entries_entry entry;

	if (geteuid() != 0) {
		mem_free(cache);
		mem_free(store);
		skip();
	}
	system.cache.limit_bytes = UINT64_C(1) << 30;
	(void)snprintf(system.driver.stamp, sizeof system.driver.stamp, "Jun 25 202401:14:48");
	system.driver.version = (struct jw_driver){12040, {550, 100, 0}};
	system.driver.trust = JW_TRUST_CONFIRMED;
	entries_make(&entry, 1, 1);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	packs_keep(&system, 1);
	OK(os_remove_tree(why, cache));
	assert_int_equal(chown(store, NOBODY, NOBODY), 0);
	assert_false(refills(&system, entry.key));
	assert_int_equal(chown(store, 0, 0), 0);
	assert_true(refills(&system, entry.key));
	mem_free(cache);
	mem_free(store);
}

RUN_TESTS(make_folder, remove_folder)
