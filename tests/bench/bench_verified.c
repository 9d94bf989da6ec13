/* bench_verified [MEGABYTES]
 *
 * What hashing entries adds to a check: that many MB (150) of entries in the page cache, judged by
 * header and size alone (what a check did before), verified for the first time, and for the second,
 * which remembers the first. Beside them, hashing the same bytes one entry after the other. Least
 * of five each. The processor time of the first verification gives its cost on a busy machine; on a
 * quiet one the threads share it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/verified.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/folders.h"

enum { ROUNDS = 5, ENTRY_BYTES = 160 << 10, KEY_BYTES = 64 << 10, WAIT_MS = 3000 };

struct bench {
	char *folder, *cache, *state;
	struct cache_candidate *candidates;
	size_t count;
};

/* Keys that begin as a driver's, with a number in them. The values are not cubins and the stamp is
 * not a driver's, so that values are not judged. */
static int make_entry(struct jw_error *err, const struct bench *bench, size_t number,
					  uint64_t *ret_key)
{
	uint8_t *bytes = mem_alloc(err, ENTRY_BYTES), *key = bytes + CACHE_ENTRY_HEADER;
	const size_t value_bytes = ENTRY_BYTES - CACHE_ENTRY_HEADER - KEY_BYTES;
	char *path, *above;
	int result;

	if (!bytes)
		return -1;
	for (size_t i = 0; i < ENTRY_BYTES; i++)
		bytes[i] = (uint8_t)(i * 31 + number);
	(void)snprintf((char *)key, 64, "Jan  1 200000:00:00HOST64sm_86// %zu", number);
	cache_entry_header(bytes, KEY_BYTES, value_bytes,
					   fnv_update(FNV_START, key + KEY_BYTES, value_bytes));
	*ret_key = fnv_update(FNV_START, key, KEY_BYTES);
	path = cache_entry_path(err, bench->cache, *ret_key);
	above = path ? os_dir_name(err, path) : NULL;
	result = above && !os_make_dirs(err, above, 0700)
				 ? os_write_atomic(err, path, bytes, ENTRY_BYTES)
				 : -1;
	mem_free(above);
	mem_free(path);
	mem_free(bytes);
	return result;
}

static double look_at_headers(const struct bench *bench)
{
	const uint64_t began_ns = os_monotonic_ns();

	for (size_t i = 0; i < bench->count; i++)
		if (cache_presence(bench->cache, bench->candidates[i].key, KEY_BYTES,
						   &bench->candidates[i].probed) != CACHE_PRESENT)
			return -1;
	return (double)(os_monotonic_ns() - began_ns) / 1e6;
}

/* `ret_busy_ms` may be NULL. */
static double judge(struct jw_error *err, const struct bench *bench, double *ret_busy_ms)
{
	const clock_t busy = clock();
	const uint64_t began_ns = os_monotonic_ns();
	const struct jw_cancel never = {0};

	if (cache_verified_judge(err, bench->state, bench->cache, (struct sound_driver){0}, &never,
							 bench->candidates, bench->count))
		return -1;
	for (size_t i = 0; i < bench->count; i++)
		if (bench->candidates[i].damage != CACHE_SOUND)
			return -1;
	if (ret_busy_ms)
		*ret_busy_ms = (double)(clock() - busy) * 1e3 / CLOCKS_PER_SEC;
	return (double)(os_monotonic_ns() - began_ns) / 1e6;
}

static double hash_one_by_one(const struct bench *bench)
{
	const uint64_t began_ns = os_monotonic_ns();
	struct cache_entry entry;

	for (size_t i = 0; i < bench->count; i++) {
		char *path = cache_entry_path(NULL, bench->cache, bench->candidates[i].key);
		struct buf file = {0};
		bool sound = path && !os_read_file(NULL, path, ENTRY_BYTES, &file) &&
					 cache_entry_verify(file.data, file.size, bench->candidates[i].key, &entry) ==
						 CACHE_SOUND;

		buf_free(&file);
		mem_free(path);
		if (!sound)
			return -1;
	}
	return (double)(os_monotonic_ns() - began_ns) / 1e6;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static int measure(struct jw_error *err, const struct bench *bench)
{
	double headers = 1e9, first = 1e9, busy = 1e9, second = 1e9, single = 1e9, one = 0;

	for (int round = 0; round < ROUNDS; round++) {
		(void)os_remove_tree(NULL, bench->state);
		headers = least(headers, look_at_headers(bench));
		first = least(first, judge(err, bench, &one));
		busy = least(busy, one);
		second = least(second, judge(err, bench, NULL));
		single = least(single, hash_one_by_one(bench));
	}
	if (headers < 0 || first < 0 || second < 0 || single < 0)
		return -1;
	printf("%zu entries, %.0f MB\n", bench->count, (double)bench->count * ENTRY_BYTES / 1e6);
	printf("  %8.2f ms  headers alone\n  %8.2f ms  first look: 1 : %.1f of hashing one by one "
		   "(%.2f ms)\n  %8.2f ms  of processor time for it\n  %8.2f ms  second look: 1 : %.0f of "
		   "the first, %.2f times the headers\n",
		   headers, first, single / first, single, busy, second, first / second, second / headers);
	return 0;
}

static int run(struct jw_error *err, struct bench *bench)
{
	bench->candidates = mem_array(err, bench->count, sizeof *bench->candidates);
	if (!bench->candidates || os_make_temp_dir(err, "jitwarm-bench", &bench->folder))
		return -1;
	bench->cache = os_join(err, bench->folder, "cache");
	bench->state = os_join(err, bench->folder, "state");
	for (size_t i = 0; i < bench->count; i++)
		if (make_entry(err, bench, i, &bench->candidates[i].key))
			return -1;
	uv_sleep(WAIT_MS); /* entries written at this moment are not remembered */
	return measure(err, bench);
}

int main(int argc, char **argv)
{
	struct bench bench = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 150) * 1000000 /
								   ENTRY_BYTES};
	struct jw_error err = {0};
	int failed = run(&err, &bench);

	if (failed)
		printf("failed %s\n", err.message);
	if (bench.folder)
		(void)os_remove_tree(NULL, bench.folder);
	mem_free(bench.candidates);
	mem_free(bench.cache);
	mem_free(bench.state);
	mem_free(bench.folder);
	return failed != 0;
}
