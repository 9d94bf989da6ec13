/* The driver reads CUDA_CACHE_MAXSIZE and evicts in the order that jitwarm predicts. */
#include "suite.h"

#include <string.h>
#include <sys/stat.h>

/* Starts a client of the suite's cache with this limit; "CUDA_CACHE_MAXSIZE" alone means no limit.
 * */
static struct client *limited(const char *limit)
{
	char cache[320];
	const char *settings[] = {cache, limit, NULL};

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	return client_start(settings);
}

static uint64_t item_size(void)
{
	struct entry entry;
	uint64_t size = 0;

	if (load(module(1)).result == 0 && only_entry(&entry)) {
		size = entry.key_size + entry.value_size;
		entry_free(&entry);
	}
	return size;
}

/* Stores modules 1 to `count` under a limit of `room` items and `spare` bytes; all have one size.
 * */
static enum outcome fill(unsigned count, uint64_t room, long spare, struct index *ret_index)
{
	uint64_t size = item_size();
	char limit[64];
	struct client *client;
	int bad = 0;

	CHECK(size > 0);
	cache_clear();
	snprintf(limit, sizeof limit, "CUDA_CACHE_MAXSIZE=%lld", (long long)(size * room) + spare);
	client = limited(limit);
	for (unsigned i = 1; i <= count; i++) {
		bad |= client_load(client, "dataex", module(i), NULL).result;
		/* Hits on the first module do not protect it. */
		bad |= client_load(client, "dataex", module(1), NULL).result && i < 3;
	}
	client_stop(client);
	CHECK_IS(bad, 0);
	CHECK(index_read(ret_index));
	return PASSED;
}

/* The limit fits exactly three. */
static enum outcome limit_is_inclusive(void)
{
	struct index index;
	enum outcome outcome = fill(3, 3, 0, &index);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(index.count, 3);
	return PASSED;
}

static enum outcome one_byte_less_evicts(void)
{
	struct index index;
	enum outcome outcome = fill(2, 2, -1, &index);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(index.count, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

static enum outcome first_in_first_out(void)
{
	struct index index;
	struct client *client;
	uint64_t size = item_size(), second;
	char limit[64];

	cache_clear();
	snprintf(limit, sizeof limit, "CUDA_CACHE_MAXSIZE=%llu", (unsigned long long)(3 * size));
	client = limited(limit);
	for (unsigned i = 1; i <= 3; i++)
		client_load(client, "dataex", module(i), NULL);
	client_load(client, "dataex", module(1), NULL);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 3);
	second = index.rows[1].hash;
	client_load(client, "dataex", module(4), NULL);
	client_stop(client);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 3);
	CHECK(index.rows[0].hash == second);
	CHECK_IS(index.total, 3 * size);
	CHECK_IS(entries_count(suite.cache), 3);
	CHECK_IS(load(module(1)).compiled, 1);
	return PASSED;
}

/* Eviction keeps the folders and the index file. A wipe replaces both. */
static enum outcome eviction_leaves_folders(void)
{
	struct stat before, after;
	struct entry entry;
	struct client *client;
	char limit[64];

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	CHECK_IS(stat(cache_file("index"), &before), 0);
	snprintf(limit, sizeof limit, "CUDA_CACHE_MAXSIZE=%llu",
			 (unsigned long long)(entry.key_size + entry.value_size));
	client = limited(limit);
	CHECK_IS(client_load(client, "dataex", module(2), NULL).compiled, 1);
	client_stop(client);
	CHECK(!exists(entry.path));
	*strrchr(entry.path, '/') = '\0';
	CHECK(exists(entry.path));
	CHECK_IS(stat(cache_file("index"), &after), 0);
	CHECK(before.st_ino == after.st_ino);
	return PASSED;
}

/* A larger entry evicts as many as it needs. */
static enum outcome evicts_as_many_as_needed(void)
{
	struct index index;
	const struct part large = {.nuls = 1, .statements = 20};
	uint64_t size = item_size(), large_size;
	struct client *client;
	struct entry entry;
	char limit[64];

	cache_clear();
	CHECK_IS(load(container(&large, 1)).compiled, 1);
	CHECK(only_entry(&entry));
	large_size = entry.key_size + entry.value_size;
	entry_free(&entry);
	CHECK(large_size > size && large_size < 3 * size);
	cache_clear();
	snprintf(limit, sizeof limit, "CUDA_CACHE_MAXSIZE=%llu", (unsigned long long)(4 * size));
	client = limited(limit);
	for (unsigned i = 1; i <= 4; i++)
		client_load(client, "dataex", module(i), NULL);
	client_load(client, "dataex", container(&large, 1), NULL);
	client_stop(client);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 1 + (4 * size - large_size) / size);
	CHECK_IS(index.rows[index.count - 1].size, large_size);
	return PASSED;
}

static enum outcome larger_than_the_limit(void)
{
	uint64_t size = item_size();
	struct client *client;
	struct index before, after;
	char limit[64];
	struct answer answer;

	CHECK(index_read(&before));
	snprintf(limit, sizeof limit, "CUDA_CACHE_MAXSIZE=%llu", (unsigned long long)size - 1);
	client = limited(limit);
	answer = client_load(client, "dataex", module(2), NULL);
	client_stop(client);
	CHECK_IS(answer.result, 0);
	CHECK(index_read(&after));
	CHECK_IS(after.count, 1);
	CHECK(after.rows[0].hash == before.rows[0].hash);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

/* Nothing is stored, and hits still work. */
static enum outcome stores_nothing(const char *limit)
{
	struct client *client = limited(limit);
	struct answer cold = client_load(client, "dataex", module(2), NULL), warm;

	CHECK_IS(cold.result, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	CHECK_IS(load(module(1)).compiled, 1);
	warm = client_load(client, "dataex", module(1), NULL);
	client_stop(client);
	CHECK_IS(warm.result, 0);
	CHECK_IS(warm.compiled, 0);
	return PASSED;
}

static enum outcome limit_with_a_unit(void)
{
	return stores_nothing("CUDA_CACHE_MAXSIZE=1G");
}

static enum outcome limit_that_is_not_a_number(void)
{
	return stores_nothing("CUDA_CACHE_MAXSIZE=abc");
}

static enum outcome empty_limit(void)
{
	return stores_nothing("CUDA_CACHE_MAXSIZE=");
}

/* An index of rows without files fills the cache up to `bytes` less `spare`; returns how many of
 * its 8 rows an insert leaves. */
static enum outcome rows_left(const char *limit, uint64_t bytes, uint64_t spare, uint32_t *ret_left)
{
	struct index index = {.version = 0x41, .count = 8};
	struct client *client = limited(limit);
	int result;

	for (uint32_t i = 0; i < 8; i++) {
		index.rows[i] = (struct row){UINT64_C(0x0101010101010101) * (i + 1), bytes / 8 - spare / 8};
		index.total += index.rows[i].size;
	}
	index_write(&index);
	result = client_load(client, "dataex", module(1), NULL).result;
	client_stop(client);
	CHECK_IS(result, 0);
	CHECK(index_read(&index));
	CHECK(index.count > 0);
	*ret_left = index.count - 1;
	return PASSED;
}

static enum outcome limit_is(const char *setting, uint64_t bytes)
{
	uint32_t left;
	enum outcome outcome = rows_left(setting, bytes, 80000, &left);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(left, 8);
	cache_clear();
	outcome = rows_left(setting, bytes, 0, &left);
	if (outcome != PASSED)
		return outcome;
	CHECK_IS(left, 7);
	return PASSED;
}

/* 470 and older drivers keep a quarter of it. The release between 470 and 525 that raised it is
 * unknown. */
static enum outcome default_limit(void)
{
	if (suite.cuda < 11050)
		return limit_is("CUDA_CACHE_MAXSIZE", UINT64_C(1) << 28);
	return limit_is("CUDA_CACHE_MAXSIZE", UINT64_C(1) << 30);
}

static enum outcome four_gib(void)
{
	return limit_is("CUDA_CACHE_MAXSIZE=4294967296", UINT64_C(4) << 30);
}

static enum outcome beyond_four_gib(void)
{
	return limit_is("CUDA_CACHE_MAXSIZE=8589934592", UINT64_C(4) << 30);
}

static enum outcome negative_limit(void)
{
	return limit_is("CUDA_CACHE_MAXSIZE=-1", UINT64_C(4) << 30);
}

static enum outcome two_gib(void)
{
	return limit_is("CUDA_CACHE_MAXSIZE=2147483648", UINT64_C(2) << 30);
}

/* The driver trusts the header's total: a too large total evicts everything, and never leaves space
 * for a new entry. */
static enum outcome total_too_large(void)
{
	struct index index;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(index_read(&index));
	index.total += UINT64_C(5) << 30;
	index_write(&index);
	for (unsigned i = 2; i <= 3; i++) {
		struct answer answer = load(module(i));

		CHECK_IS(answer.result, 0);
		CHECK_IS(answer.compiled, 1);
		CHECK(index_read(&index));
		CHECK_IS(index.count, 0);
		CHECK(index.total == UINT64_C(5) << 30);
		CHECK_IS(entries_count(suite.cache), 0);
	}
	return PASSED;
}

/* A too small total stays wrong, so the cache exceeds the limit. */
static enum outcome total_too_small(void)
{
	struct index index;
	uint64_t size;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK(index_read(&index));
	size = index.total / 2;
	index.total = 0;
	index_write(&index);
	CHECK_IS(load(module(3)).compiled, 1);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 3);
	CHECK_IS(index.total, size);
	return PASSED;
}

const struct test_case limit_cases[] = {
	{"limit/an entry that fits exactly is stored", limit_is_inclusive},
	{"limit/one byte less than needed evicts an entry", one_byte_less_evicts},
	{"limit/the oldest entry is evicted first, even if it was loaded recently", first_in_first_out},
	{"limit/eviction leaves folders and the index", eviction_leaves_folders},
	{"limit/the driver evicts as many entries as the new one needs", evicts_as_many_as_needed},
	{"limit/an entry larger than the limit is not stored", larger_than_the_limit},
	{"limit/the driver ignores a unit", limit_with_a_unit},
	{"limit/a value that is no number", limit_that_is_not_a_number},
	{"limit/an empty value", empty_limit},
	{"limit/without a value: 1 GiB (up to driver 470: 256 MiB)", default_limit},
	{"limit/a limit of 2 GiB", two_gib},
	{"limit/a limit of 4 GiB", four_gib},
	{"limit/a value of more than 4 GiB", beyond_four_gib},
	{"limit/a negative value means 4 GiB", negative_limit},
	{"limit/if the index's total is too large, the driver never stores an entry again",
	 total_too_large},
	{"limit/the driver believes a total that is too small", total_too_small},
	{NULL, NULL},
};
