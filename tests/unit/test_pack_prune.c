/* Which entries are pruned, by driver and age; no others are removed. */
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

static char *cache;
static struct jw_system machine;
static const char *former_release;

/* Two entries are this driver's, for two GPUs; two a former driver's, one of them old; one old
 * entry is an unknown driver's; one has a damaged header; one is old and this driver's. */
static const struct {
	const char *stamp;
	uint16_t sm;
	int old;
} all[] = {
	{OURS, 86, 0},    {OURS, 75, 0}, {FORMER, 86, 0}, {FORMER, 86, 1},
	{UNKNOWN, 86, 1}, {OURS, 86, 1}, {OURS, 86, 1},
};
enum { ALL = sizeof all / sizeof *all, DAMAGED = 5 };

static uint64_t keys[ALL], sizes[ALL], total;

static uint64_t put(unsigned n, const char *stamp, uint16_t sm, uint64_t *ret_size)
{
	uint8_t bytes[512], *value;
	char key[128];
	int length = snprintf(key, sizeof key, "%sHOST64sm_%u// %05u%c ", stamp, sm, n, 0);
	uint64_t name = fnv_update(FNV_START, key, (size_t)length);

	value = bytes + CACHE_ENTRY_HEADER + length;
	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(value, sm, false);
	cache_entry_header(bytes, (uint64_t)length, ENTRIES_CUBIN,
					   fnv_update(FNV_START, value, ENTRIES_CUBIN));
	bytes[0] ^= n == DAMAGED;
	*ret_size = CACHE_ENTRY_HEADER + (uint64_t)length + ENTRIES_CUBIN;
	packs_put(cache, name, bytes, (size_t)*ret_size);
	return name;
}

/* Takes ownership of `path`. */
static void age(char *path, int days)
{
	check_set_mtime(path, (os_now_s() - days * DAY_S) * INT64_C(1000000000));
	mem_free(path);
}

static void put_all(void)
{
	if (os_exists(cache))
		OK(os_remove_tree(why, cache));
	total = 0;
	for (unsigned i = 0; i < ALL; i++) {
		keys[i] = put(i, all[i].stamp, all[i].sm, &sizes[i]);
		total += sizes[i];
		if (all[i].old)
			age(cache_entry_path(cache, keys[i]), 10);
	}
	machine = packs_machine(folder);
	TEXT_COPY(machine.driver.stamp, OURS);
	machine.driver.version = (struct jw_driver){12040, {550, 163, 1}};
}

static struct jw_prune_result *prune(struct jw_prune_options options)
{
	struct jw_prune_result *result = NULL;

	options.cache_dir = cache;
	options.system = &machine;
	OK(jw_prune(why, &options, &result));
	assert_string_equal(os_base_name(result->path), "cache");
	return result;
}

static void fails(struct jw_prune_options options, enum jw_code code, const char *says)
{
	struct jw_prune_result *result = NULL;

	options.cache_dir = cache;
	options.system = &machine;
	GIVES(code, jw_prune(why, &options, &result));
	assert_non_null(strstr(why->message, says));
	assert_null(result);
}

static bool has(uint64_t key)
{
	bool there = os_exists(keep(cache_entry_path(cache, key)));

	return there;
}

/* Asserts that the entries of these numbers are gone. */
static void assert_gone(unsigned gone)
{
	for (unsigned i = 0; i < ALL; i++)
		assert_int_equal(has(keys[i]), !(gone & 1u << i));
}

static const char *former_stamp[] = {"x", FORMER}, *unknown_stamp[] = {UNKNOWN}, *nothing[] = {""},
				  *ours[] = {OURS}, *releases[1];

#define DRIVERS(list) .drivers = (list), .driver_count = sizeof(list) / sizeof *(list)

TEST(choices)
{
	const struct {
		struct jw_prune_options options;
		unsigned gone;
	} cases[] = {
		{{.former_drivers = true}, 1u << 2 | 1u << 3},
		{{.former_drivers = true, .older_s = DAY_S}, 1u << 3},
		{{.former_drivers = true, .older_s = 11 * DAY_S}, 0},
		{{.former_drivers = true, DRIVERS(unknown_stamp)}, 1u << 2 | 1u << 3 | 1u << 4},
		{{.older_s = DAY_S}, 1u << 3 | 1u << 6},
		{{.older_s = DAY_S, DRIVERS(former_stamp)}, 1u << 3},
		{{.older_s = DAY_S, DRIVERS(unknown_stamp)}, 1u << 4},
		{{DRIVERS(former_stamp)}, 1u << 2 | 1u << 3},
		{{DRIVERS(unknown_stamp)}, 1u << 4},
		{{DRIVERS(releases)}, 1u << 2 | 1u << 3},
		{{DRIVERS(ours)}, 1u << 0 | 1u << 1 | 1u << 6},
		{{DRIVERS(nothing)}, 0},
	};

	for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		struct jw_prune_options options = cases[i / 2].options;
		const unsigned gone = cases[i / 2].gone;
		struct jw_prune_result *result;
		size_t count = 0;
		uint64_t bytes = 0;

		put_all();
		for (unsigned n = 0; n < ALL; n++) {
			count += gone >> n & 1;
			bytes += gone >> n & 1 ? sizes[n] : 0;
		}
		options.apply = i % 2;
		result = prune(options);
		assert_int_equal(result->entries, ALL);
		assert_int_equal(result->bytes, total);
		assert_int_equal(result->chosen_entries, count);
		assert_int_equal(result->chosen_bytes, bytes);
		assert_int_equal(result->removed, options.apply ? count : 0);
		assert_int_equal(result->removed_bytes, options.apply ? bytes : 0);
		assert_int_equal(result->changed, 0);
		assert_int_equal(result->not_judged, 1);
		assert_int_equal(result->staying_count, !(gone >> 4 & 1));
		assert_gone(options.apply ? gone : 0);
		jw_result_free(result);
	}
}

/* Writes OpenCL's own entries, which name the release, and those of its PTX, which have the
 * stamp. */
static void put_opencl_and_cuda(const char *release, const char *stamp)
{
	static const char ptx[] = "\n.version 8.0\n";
	uint8_t bytes[256];
	char key[64];
	const int length = snprintf(key, sizeof key, "x -cl-nv-arch sm_86%c%s%c", 0, release, 0);
	uint64_t size;

	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	memcpy(bytes + CACHE_ENTRY_HEADER + length, ptx, sizeof ptx);
	cache_entry_header(bytes, (uint64_t)length, sizeof ptx, fnv_update(FNV_START, ptx, sizeof ptx));
	packs_put(cache, fnv_update(FNV_START, key, (size_t)length), bytes,
			  CACHE_ENTRY_HEADER + (size_t)length + sizeof ptx);
	(void)put(99, stamp, 86, &size);
}

TEST(a_driver_is_judged_alike_by_stamp_and_release)
{
	static const struct {
		const char *release, *stamp;
		size_t chosen, staying;
	} samples[] = {
		{"580.126.09", "Jan  7 202622:51:46", 0, 2}, /* newer than this driver */
		{"535.309.01", FORMER, 2, 0},
		{"550.163.01", OURS, 0, 0},
	};

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		struct jw_prune_result *result;

		put_all();
		OK(os_remove_tree(why, cache));
		put_opencl_and_cuda(samples[i].release, samples[i].stamp);
		result = prune((struct jw_prune_options){.former_drivers = true});
		assert_int_equal(result->chosen_entries, samples[i].chosen);
		assert_int_equal(result->staying_count, samples[i].staying);
		for (size_t k = 0; k < result->staying_count; k++)
			assert_true(result->staying[k].newer);
		jw_result_free(result);
		/* Each entry is a known driver's, so its age alone is enough. */
		result = prune((struct jw_prune_options){.older_s = 0, DRIVERS(nothing)});
		assert_int_equal(result->staying_count, 0);
		jw_result_free(result);
		releases[0] = samples[i].release;
		result = prune((struct jw_prune_options){DRIVERS(releases)});
		assert_int_equal(result->chosen_entries, 2);
		jw_result_free(result);
	}
	releases[0] = former_release;
}

TEST(choices_that_cannot_be_made)
{
	const struct jw_prune_options former = {.former_drivers = true, .apply = true};
	struct jw_prune_result *result;

	put_all();
	machine.driver.trust = JW_TRUST_OPAQUE;
	fails(former, JW_ERR_UNSUPPORTED, "does not know this machine's driver");
	machine.driver.trust = JW_TRUST_CONFIRMED;
	machine.driver.stamp[0] = '\0';
	fails(former, JW_ERR_UNSUPPORTED, "does not know this machine's driver");
	result = prune((struct jw_prune_options){DRIVERS(former_stamp)});
	assert_int_equal(result->chosen_entries, 2);
	jw_result_free(result);
	assert_gone(0);
}

/* ---- many */

static bool is_cancelled(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

static bool count_asks(void *context)
{
	++*(size_t *)context;
	return false;
}

static size_t count_left(void)
{
	struct jw_prune_result *result = prune((struct jw_prune_options){DRIVERS(ours)});
	size_t entries = result->entries;

	jw_result_free(result);
	return entries;
}

TEST(many_go_until_it_is_cancelled)
{
	enum { AT_A_TIME = 256 };
	size_t left = 1, asks = 0;
	struct jw_prune_options options = {
		.apply = true, DRIVERS(ours), .cancel = {&left, is_cancelled}};
	struct jw_prune_result *result;
	uint64_t size;

	put_all();
	for (unsigned n = 0; n < MANY; n++)
		(void)put(1000 + n, OURS, 86, &size);
	fails(options, JW_ERR_INTERRUPTED, "");
	assert_int_equal(count_left(), ALL + MANY);
	/* after the first of two parts */
	options.apply = false;
	options.cancel = (struct jw_cancel){&asks, count_asks};
	jw_result_free(prune(options));
	left = asks + 2;
	options.apply = true;
	options.cancel = (struct jw_cancel){&left, is_cancelled};
	fails(options, JW_ERR_INTERRUPTED, "");
	assert_int_equal(count_left(), ALL + MANY - AT_A_TIME);
	options.cancel = (struct jw_cancel){0};
	result = prune(options);
	assert_int_equal(result->removed, MANY + 3 - AT_A_TIME);
	jw_result_free(result);
	assert_int_equal(count_left(), ALL - 3);
}

/* The entries have different sizes, and lie in several parts. */
TEST(what_goes_is_counted)
{
	struct jw_prune_result *result;
	uint64_t size;

	for (unsigned n = 0; n < 2 * MANY; n++)
		(void)put(1000 + n, OURS, n % 2 ? 86 : 120, &size);
	result = prune((struct jw_prune_options){.apply = true, DRIVERS(ours)});
	assert_int_equal(result->removed, 2 * MANY);
	assert_int_equal(result->removed_bytes, result->chosen_bytes);
	jw_result_free(result);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = keep(os_join(folder, "cache"));
	former_release = jw_cache_driver_of_stamp(FORMER);
	releases[0] = former_release;
	put_all();
	return former_release && !jw_cache_driver_of_stamp(UNKNOWN) ? 0 : -1;
}

RUN_TESTS(set_up, remove_folder)
