/* Which entries are pruned, for which reason; and that only what was chosen goes, into a pack if
 * one is wanted. */
#include "folder.h"

#include <jitwarm/cache.h>
#include <jitwarm/prune.h>

#include "base/text.h"
#include "os/clock.h"
#include "packs.h"

#define OURS    "Apr  8 202512:10:18"
#define FORMER  "Mar 25 202615:25:13"
#define UNKNOWN "Jan  1 201901:02:03"

enum { DAY_S = 24 * 60 * 60, MANY = 257 };

static char *cache, *keep;
static struct jw_gpu gpu = {.target = {.sm = 86}};
static struct jw_system machine;
static const char *former_release;

/* Two of ours, for two GPUs; two of a former driver, one of them old; an old one of an unknown
 * driver; one that is damaged; an old one of ours; and one that no pack can hold: its options are
 * no text. */
static const struct {
	const char *stamp;
	uint16_t sm;
	int old;
} all[] = {
	{OURS, 86, 0},    {OURS, 75, 0}, {FORMER, 86, 0}, {FORMER, 86, 1},
	{UNKNOWN, 86, 1}, {OURS, 86, 0}, {OURS, 86, 1},   {OURS, 80, 0},
};
enum { ALL = sizeof all / sizeof *all, DAMAGED = 5, UNSUITED = 7 };

static uint64_t keys[ALL], sizes[ALL], total;

static uint64_t put(unsigned n, const char *stamp, uint16_t sm, uint64_t *ret_size)
{
	uint8_t bytes[512], *value;
	char key[128];
	int length = snprintf(key, sizeof key, "%sHOST64sm_%u// %05u%c %s", stamp, sm, n, 0,
						  n == UNSUITED ? "\xff" : "");
	uint64_t name = fnv_update(FNV_START, key, (size_t)length);

	value = bytes + CACHE_ENTRY_HEADER + length;
	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(value, sm, false);
	cache_entry_header(bytes, (uint64_t)length, ENTRIES_CUBIN,
					   fnv_update(FNV_START, value, ENTRIES_CUBIN));
	value[ENTRIES_CUBIN - 1] ^= n == DAMAGED;
	*ret_size = CACHE_ENTRY_HEADER + (uint64_t)length + ENTRIES_CUBIN;
	packs_put(cache, name, bytes, (size_t)*ret_size);
	return name;
}

static void age(uint64_t key)
{
	char *path = cache_entry_path(NULL, cache, key);
	struct os_file *file;

	assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &file), 0);
	assert_int_equal(os_file_set_mtime(NULL, file, (os_now_s() - 10 * DAY_S) * INT64_C(1000000000)),
					 0);
	os_file_close(file);
	mem_free(path);
}

static void put_all(void)
{
	if (os_exists(cache))
		assert_int_equal(os_remove_tree(NULL, cache), 0);
	if (os_exists(keep))
		assert_int_equal(os_remove(NULL, keep), 0);
	total = 0;
	for (unsigned i = 0; i < ALL; i++) {
		keys[i] = put(i, all[i].stamp, all[i].sm, &sizes[i]);
		total += sizes[i];
		if (all[i].old)
			age(keys[i]);
	}
	machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = folder};
	machine.cache.limit_bytes = 1 << 30;
	TEXT_COPY(machine.driver.stamp, OURS);
	machine.driver.version = (struct jw_driver){12040, {550, 163, 1}};
	machine.driver.trust = JW_TRUST_CONFIRMED;
}

static struct jw_prune_result *prune(struct jw_prune_options options)
{
	struct jw_prune_result *result = NULL;
	struct jw_error err = {0};

	options.size = sizeof options;
	options.cache_dir = cache;
	options.system = &machine;
	if (jw_prune(&err, &options, &result))
		fail_msg("%s", err.message);
	assert_string_equal(os_base_name(result->path), "cache");
	return result;
}

static void fails(struct jw_prune_options options, enum jw_code code, const char *says)
{
	struct jw_prune_result *result = NULL;
	struct jw_error err = {0};

	options.size = sizeof options;
	options.cache_dir = cache;
	options.system = &machine;
	assert_int_equal(jw_prune(&err, &options, &result), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, says));
	assert_null(result);
}

static bool has(uint64_t key)
{
	char *path = cache_entry_path(NULL, cache, key);
	bool there = os_exists(path);

	mem_free(path);
	return there;
}

/* Those of these numbers are gone. */
static void assert_gone(unsigned gone)
{
	for (unsigned i = 0; i < ALL; i++)
		assert_int_equal(has(keys[i]), !(gone & 1u << i));
}

static const struct jw_target sm_75[] = {{.sm = 75}}, sm_86[] = {{.sm = 86}},
							  two[] = {{.sm = 70}, {.sm = 75}}, odd[] = {{.sm = 75}, {.sm = 80}};
static const char *former_stamp[] = {"x", FORMER}, *unknown_stamp[] = {UNKNOWN}, *nothing[] = {""},
				  *releases[1];

#define DRIVERS(list) .drivers = (list), .driver_count = sizeof(list) / sizeof *(list)
#define TARGETS(list) .targets = (list), .target_count = sizeof(list) / sizeof *(list)

static void reasons(void **state)
{
	const struct {
		struct jw_prune_options options;
		size_t chosen[JW_PRUNE_REASONS];
	} cases[] = {
		{{.former_drivers = true}, {[JW_PRUNE_DRIVER] = 2}},
		{{.former_drivers = true, .older_s = DAY_S}, {[JW_PRUNE_DRIVER] = 1}},
		{{.former_drivers = true, .older_s = 11 * DAY_S}, {0}},
		{{.older_s = DAY_S}, {[JW_PRUNE_AGE] = 2}},
		{{.older_s = DAY_S, .damaged = true}, {0}},
		{{.older_s = DAY_S, TARGETS(sm_75)}, {0}},
		{{.older_s = DAY_S, TARGETS(sm_86)}, {[JW_PRUNE_TARGET] = 2}},
		{{.older_s = DAY_S, .other_targets = true}, {0}},
		{{.older_s = DAY_S, DRIVERS(former_stamp)}, {[JW_PRUNE_DRIVER] = 1}},
		{{DRIVERS(former_stamp)}, {[JW_PRUNE_DRIVER] = 2}},
		{{DRIVERS(unknown_stamp)}, {[JW_PRUNE_DRIVER] = 1}},
		{{DRIVERS(releases)}, {[JW_PRUNE_DRIVER] = 2}},
		{{DRIVERS(nothing)}, {0}},
		{{TARGETS(sm_75)}, {[JW_PRUNE_TARGET] = 1}},
		{{TARGETS(two)}, {[JW_PRUNE_TARGET] = 1}},
		{{TARGETS(sm_86)}, {[JW_PRUNE_TARGET] = 5}},
		{{.other_targets = true}, {[JW_PRUNE_TARGET] = 2}},
		{{.damaged = true}, {[JW_PRUNE_DAMAGED] = 1}},
		{{.damaged = true, .former_drivers = true, TARGETS(sm_75)},
		 {[JW_PRUNE_DAMAGED] = 1, [JW_PRUNE_DRIVER] = 2, [JW_PRUNE_TARGET] = 1}},
		{{DRIVERS(former_stamp), TARGETS(sm_86)}, {[JW_PRUNE_DRIVER] = 2, [JW_PRUNE_TARGET] = 3}},
		{{.to_size_given = true}, {[JW_PRUNE_SIZE] = 7}},
		{{.to_size_given = true, .damaged = true}, {[JW_PRUNE_DAMAGED] = 1, [JW_PRUNE_SIZE] = 6}},
		{{.to_size_given = true, .to_size_bytes = total}, {0}},
		{{.to_size_given = true, .to_size_bytes = total - 1}, {[JW_PRUNE_SIZE] = 1}},
		{{.to_size_given = true,
		  .to_size_bytes = total - sizes[2] - sizes[3],
		  .former_drivers = true},
		 {[JW_PRUNE_DRIVER] = 2}},
		{{.to_size_given = true,
		  .to_size_bytes = total - sizes[2] - sizes[3] - 1,
		  .former_drivers = true},
		 {[JW_PRUNE_DRIVER] = 2, [JW_PRUNE_SIZE] = 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_prune_result *result = prune(cases[i].options);

		assert_int_equal(result->entries, ALL);
		assert_int_equal(result->bytes, total);
		for (size_t k = 0; k < JW_PRUNE_REASONS; k++)
			if (result->chosen[k] != cases[i].chosen[k])
				fail_msg("case %zu, reason %zu: %zu", i, k, result->chosen[k]);
		assert_int_equal(result->removed + result->kept + result->changed + result->not_judged, 0);
		assert_int_equal(result->unknown_count, cases[i].options.drivers == unknown_stamp ? 0 : 1);
		jw_prune_result_free(result);
	}
	assert_gone(0);
}

static void groups(void **state)
{
	struct jw_prune_result *result;

	(void)state;
	result = prune((struct jw_prune_options){.former_drivers = true, TARGETS(odd)});
	assert_int_equal(result->group_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct jw_prune_group *group = &result->groups[i];
		const bool former = group->reason == JW_PRUNE_DRIVER;

		assert_int_equal(group->entries, former ? 2 : 1);
		assert_string_equal(group->driver, former ? FORMER : OURS);
		assert_int_equal(group->bytes, former                   ? sizes[2] + sizes[3]
									   : group->target.sm == 75 ? sizes[1]
																: sizes[UNSUITED]);
		assert_true(former ? group->target.sm == 86 : group->target.sm != 86);
	}
	assert_int_equal(result->chosen_bytes[JW_PRUNE_DRIVER], sizes[2] + sizes[3]);
	assert_int_equal(result->chosen_bytes[JW_PRUNE_TARGET], sizes[1] + sizes[UNSUITED]);
	assert_int_equal(result->unknown->entries, 1);
	assert_string_equal(result->unknown->driver, UNKNOWN);
	jw_prune_result_free(result);
}

static void choices_that_cannot_be_made(void **state)
{
	const struct jw_prune_options former = {.former_drivers = true},
								  other = {.other_targets = true};
	struct jw_prune_result *result;

	(void)state;
	machine.driver.trust = JW_TRUST_OPAQUE;
	fails(former, JW_ERR_UNSUPPORTED, "former drivers are unknown");
	machine.driver.trust = JW_TRUST_CONFIRMED;
	machine.driver.stamp[0] = '\0';
	fails(former, JW_ERR_UNSUPPORTED, "former drivers are unknown");
	result = prune((struct jw_prune_options){TARGETS(sm_75)});
	assert_int_equal(result->chosen[JW_PRUNE_TARGET], 1);
	jw_prune_result_free(result);
	TEXT_COPY(machine.driver.stamp, OURS);
	machine.pci_count = 1;
	jw_prune_result_free(prune(other));
	machine.pci_count = 2;
	fails(other, JW_ERR_UNSUPPORTED, "1 of 2 GPUs are of this machine hidden");
	jw_prune_result_free(prune(former));
	machine.gpu_count = machine.pci_count = 0;
	fails(other, JW_ERR_UNSUPPORTED, "this machine's GPUs are unknown");
	jw_prune_result_free(prune(former));
	assert_gone(0);
}

/* ---- what goes */

static void assert_pruned(struct jw_prune_options options, size_t kept, size_t not_kept,
						  unsigned gone)
{
	struct jw_prune_result *result;
	size_t count = 0;
	uint64_t bytes = 0;

	put_all();
	for (unsigned i = 0; i < ALL; i++) {
		count += gone >> i & 1;
		bytes += gone >> i & 1 ? sizes[i] : 0;
	}
	options.apply = true;
	result = prune(options);
	assert_int_equal(result->removed, count);
	assert_int_equal(result->removed_bytes, bytes);
	assert_int_equal(result->kept, kept);
	assert_int_equal(result->not_kept, not_kept);
	assert_int_equal(result->changed, 0);
	assert_int_equal(os_exists(keep), kept > 0);
	assert_gone(gone);
	jw_prune_result_free(result);
}

static void only_what_was_chosen_goes(void **state)
{
	(void)state;
	assert_pruned((struct jw_prune_options){TARGETS(sm_75)}, 0, 0, 1u << 1);
	assert_pruned((struct jw_prune_options){.damaged = true}, 0, 0, 1u << DAMAGED);
	assert_pruned((struct jw_prune_options){DRIVERS(nothing)}, 0, 0, 0);
	assert_pruned((struct jw_prune_options){.former_drivers = true, .damaged = true}, 0, 0,
				  1u << 2 | 1u << 3 | 1u << DAMAGED);
	assert_pruned((struct jw_prune_options){.older_s = DAY_S}, 0, 0, 1u << 3 | 1u << 6);
}

static void what_goes_is_kept_in_a_pack(void **state)
{
	(void)state;
	assert_pruned((struct jw_prune_options){.keep = keep, .former_drivers = true}, 2, 0,
				  1u << 2 | 1u << 3);
	assert_pruned((struct jw_prune_options){.keep = keep, .former_drivers = true, .damaged = true},
				  2, 0, 1u << 2 | 1u << 3 | 1u << DAMAGED);
	/* Damaged ones go without a pack, and what no pack can hold stays */
	assert_pruned((struct jw_prune_options){.keep = keep, .damaged = true}, 0, 0, 1u << DAMAGED);
	assert_pruned((struct jw_prune_options){.keep = keep, TARGETS(odd)}, 1, 1, 1u << 1);
	assert_pruned((struct jw_prune_options){.keep = keep, .targets = odd + 1, .target_count = 1}, 0,
				  1, 0);
	assert_pruned((struct jw_prune_options){.keep = keep, DRIVERS(nothing)}, 0, 0, 0);
}

static void nothing_goes_without_its_pack(void **state)
{
	char *nowhere = os_join(NULL, folder, "nowhere/kept.jwpack");
	struct jw_prune_options options = {.keep = nowhere, .apply = true, .former_drivers = true};

	(void)state;
	put_all();
	fails(options, JW_ERR_NOT_FOUND, "nowhere");
	options = (struct jw_prune_options){.keep = nowhere, .apply = true, TARGETS(odd)};
	fails(options, JW_ERR_NOT_FOUND, "nowhere");
	options.targets++;
	options.target_count--;
	fails(options, JW_ERR_NOT_FOUND, "");
	assert_gone(0);
	mem_free(nowhere);
}

/* ---- many */

static bool is_cancelled(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

static size_t count_left(void)
{
	struct jw_prune_result *result = prune((struct jw_prune_options){TARGETS(sm_86)});
	size_t entries = result->entries;

	jw_prune_result_free(result);
	return entries;
}

static void many_go_until_it_is_cancelled(void **state)
{
	size_t left = 1;
	struct jw_prune_options options = {
		.apply = true, TARGETS(sm_86), .cancel = {&left, is_cancelled}};
	struct jw_prune_result *result;
	uint64_t size;

	(void)state;
	put_all();
	for (unsigned n = 0; n < MANY; n++)
		(void)put(1000 + n, OURS, 86, &size);
	fails(options, JW_ERR_INTERRUPTED, "");
	assert_int_equal(count_left(), ALL + MANY);
	options.cancel = (struct jw_cancel){0};
	result = prune(options);
	assert_int_equal(result->removed, MANY + 5);
	jw_prune_result_free(result);
	assert_int_equal(count_left(), ALL - 5);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = os_join(NULL, folder, "cache");
	keep = os_join(NULL, folder, "kept.jwpack");
	former_release = jw_cache_driver_of_stamp(FORMER);
	releases[0] = former_release;
	put_all();
	return former_release && !jw_cache_driver_of_stamp(UNKNOWN) ? 0 : -1;
}

static int tear_down(void **state)
{
	mem_free(cache);
	mem_free(keep);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(groups),
		cmocka_unit_test(choices_that_cannot_be_made),
		cmocka_unit_test(only_what_was_chosen_goes),
		cmocka_unit_test(what_goes_is_kept_in_a_pack),
		cmocka_unit_test(nothing_goes_without_its_pack),
		cmocka_unit_test(many_go_until_it_is_cancelled),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
