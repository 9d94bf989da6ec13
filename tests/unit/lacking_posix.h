/* A cache, a key, and functions that work while each allocation fails
 * once (lacking.h). */
#ifndef JW_TESTS_LACKING_POSIX_H
#define JW_TESTS_LACKING_POSIX_H

#include "check.h"

#include <sched.h>

#include <jitwarm/key.h>
#include <jitwarm/pack.h>

#include <sodium.h>

#include "lacking.h"
/* Behind those that have parameters of its names */
#include "make_archive.h"

#include "base/text.h"
#include "folder.h"
#include "packs.h"

enum { ENTRIES = 3, MOST_TRIALS = 20000 };

/* Thousands of them take a minute on a busy disk. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

static char *cache, *target, *pack, *other_pack, *state_dir, *merged;
static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};
static struct jw_system machine;

/* ---- what is there */

static void put_entries(const char *dir, unsigned first, unsigned last)
{
	for (unsigned n = first; n < last; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, n);
		packs_put(dir, entry.key, entry.bytes, entry.size);
	}
}

static inline void without_target(void)
{
	if (os_exists(target))
		assert_int_equal(os_remove_tree(NULL, target), 0);
}

static inline void with_a_tree(void)
{
	without_target();
	files_put_text(target, "a/first", "some bytes");
	files_put_text(target, "a/second", "some bytes");
	files_put_text(target, "empty", "");
}

static inline void without_keys(void)
{
	if (os_exists(state_dir))
		assert_int_equal(os_remove_tree(NULL, state_dir), 0);
}

static inline void with_a_key(void)
{
	struct jw_key key;

	without_keys();
	assert_int_equal(jw_key_generate(NULL, state_dir, "ours", NULL, &key), 0);
}

/* ---- what is done */

static inline int export_with(struct jw_error *err, struct jw_export_options options, size_t wanted)
{
	struct jw_export_result result = {.size = sizeof result};

	options.size = sizeof options;
	options.cache_dir = options.cache_dir ? options.cache_dir : cache;
	options.output = options.output ? options.output : pack;
	options.state_dir = state_dir;
	if (jw_export(err, &options, &result))
		return -1;
	assert_int_equal(result.damaged, 0);
	assert_int_equal(result.entries + result.unreadable, wanted);
	return 0;
}

static inline int exports(struct jw_error *err)
{
	return export_with(err, (struct jw_export_options){.all_drivers = true}, ENTRIES);
}

static inline int exports_a_tree(struct jw_error *err)
{
	const struct jw_export_options options = {
		.cache_dir = target, .system = &machine, .opaque = true};

	return export_with(err, options, 3);
}

/* ---- */

/* One in three allocations, $STRUCK_EVERY=1 all: tests/starve tries them in whole commands, too. */
static inline void each_lacks(const char *name, void (*prepare)(void),
							  int (*does)(struct jw_error *err))
{
	const char *given = getenv("STRUCK_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : 3;
	size_t left = 0;

	for (size_t n = 1; !left; n += every) {
		struct jw_error err = {0};
		int result;

		prepare();
		mem_fail_after(n);
		result = does(&err);
		left = mem_fail_after(0);
		if (result < 0 ? left || err.code != JW_ERR_MEMORY || !*err.message : err.code)
			fail_msg("%s, allocation %zu: %d, %d: %s", name, n, result, (int)err.code, err.message);
		assert_true(n < MOST_TRIALS);
	}
}

/* With one thread all allocations are this one's. */
static inline int set_up(void **unused)
{
	cpu_set_t one;

	if (sodium_init() < 0 || make_folder(unused))
		return -1;
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	cache = os_join(NULL, folder, "cache");
	target = os_join(NULL, folder, "target");
	pack = os_join(NULL, folder, "a.jwpack");
	other_pack = os_join(NULL, folder, "b.jwpack");
	merged = os_join(NULL, folder, "c.jwpack");
	state_dir = os_join(NULL, folder, "state");
	machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = state_dir};
	machine.cache.limit_bytes = 1 << 30;
	TEXT_COPY(machine.driver.stamp, "Jun 25 202401:14:48");
	TEXT_COPY(machine.driver.library, "/lib/libcuda.so.1");
	machine.driver.version = (struct jw_driver){12040, {550, 100, 0}};
	machine.driver.trust = JW_TRUST_CONFIRMED;
	cJSON_InitHooks(&(cJSON_Hooks){starve_json_memory, mem_free});
	put_entries(cache, 0, ENTRIES);
	return 0;
}

static inline int tear_down(void **unused)
{
	char **const all[] = {&cache, &target, &pack, &other_pack, &merged, &state_dir};

	cJSON_InitHooks(NULL);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mem_free(*all[i]);
	return remove_folder(unused);
}

#endif
