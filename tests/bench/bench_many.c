/* bench_many [ENTRIES...]
 *
 * How time grows with the number of entries: caches of 10,000 and 100,000 (or the given numbers), 4
 * KiB each, in the page cache. Each step is timed once, beside a rival in the same run: find for
 * the list, cat of the same files for verifying, cp -r of the whole for repairs, cp -r of as many
 * files for inserts. They take 1 GB of $TMPDIR. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jitwarm/cache.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "index_bytes.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/folders.h"

enum { ENTRY_BYTES = 4096, KEY_BYTES = 2048, BATCH = 64, INSERTS = 5000 };
#define ROW_BYTES (ENTRY_BYTES - CACHE_ENTRY_HEADER)

extern char **environ;

struct bench {
	char *folder, *cache;
	uint64_t *keys;
	size_t count;
};

static double ms_since(uint64_t start_ns)
{
	return (double)(os_monotonic_ns() - start_ns) / 1e6;
}

/* Runs a shell command in the bench's folder, and returns its time. */
static double time_command(const struct bench *bench, const char *command)
{
	static char shell[] = "sh", with[] = "-c";
	char *line = mem_printf("cd '%s' && %s", bench->folder, command);
	char *const arguments[] = {shell, with, line, NULL};
	const uint64_t start_ns = os_monotonic_ns();
	int status = -1;
	pid_t pid;

	if (posix_spawnp(&pid, shell, NULL, NULL, arguments, environ) ||
		waitpid(pid, &status, 0) != pid || status)
		printf("failed: %s\n", command);
	mem_free(line);
	return ms_since(start_ns);
}

/* Keys begin like a driver's, and contain a number. Their stamp is no driver's, so that values are
 * not judged. */
static uint64_t make_bytes(uint8_t bytes[ENTRY_BYTES], size_t number)
{
	uint8_t *key = bytes + CACHE_ENTRY_HEADER;
	const size_t value_bytes = ROW_BYTES - KEY_BYTES;

	for (size_t i = 0; i < ENTRY_BYTES; i++)
		bytes[i] = (uint8_t)(i * 31 + number);
	(void)snprintf((char *)key, 64, "Jan  1 200000:00:00HOST64sm_86// %zu", number);
	cache_entry_header(bytes, KEY_BYTES, value_bytes,
					   fnv_update(FNV_START, key + KEY_BYTES, value_bytes));
	return fnv_update(FNV_START, key, KEY_BYTES);
}

static int write_file(struct jw_error *err, const char *path, const void *data, size_t size)
{
	struct os_file *file = NULL;
	int result =
		os_file_open(err, path, OS_OPEN_CREATE, &file) || os_file_write(err, file, 0, data, size)
			? -1
			: 0;

	os_file_close(file);
	return result;
}

static int write_index(struct jw_error *err, const struct bench *bench)
{
	struct cache_index index = {.count = bench->count};
	struct buf bytes = {0};
	char *path = os_join(bench->cache, "index");
	int result;

	index.rows = mem_array(bench->count, sizeof *index.rows);
	for (size_t i = 0; i < bench->count; i++)
		index.rows[i] = (struct cache_row){bench->keys[i], ROW_BYTES};
	bytes = index_bytes(&index);
	result = write_file(err, path, bytes.data, bytes.size);
	cache_index_free(&index);
	buf_free(&bytes);
	mem_free(path);
	return result;
}

static int make_cache(struct jw_error *err, struct bench *bench)
{
	uint8_t bytes[ENTRY_BYTES];
	int result = 0;

	for (unsigned folder = 0; !result && folder < 256; folder++) {
		char *path = mem_printf("%s/%x/%x", bench->cache, folder >> 4, folder & 15);

		result = os_make_dirs(err, path, 0700);
		mem_free(path);
	}
	for (size_t i = 0; !result && i < bench->count; i++) {
		char *path;

		bench->keys[i] = make_bytes(bytes, i);
		path = cache_entry_path(bench->cache, bench->keys[i]);
		result = write_file(err, path, bytes, sizeof bytes);
		mem_free(path);
	}
	return result ? -1 : write_index(err, bench);
}

static void print_step(const char *what, double ms, double files, const char *rival,
					   double rival_ms)
{
	printf("  %10.1f ms  %-34s %9.0f files/s, %6.2f times %s (%.1f ms)\n", ms, what,
		   files / ms * 1e3, ms / rival_ms, rival, rival_ms);
}

static int look(struct jw_error *err, const struct bench *bench)
{
	const struct jw_cache_options options = {.path = bench->cache,
											 .limit_bytes = UINT64_C(4) << 30};
	const double found = time_command(bench, "find cache -type f -printf '%s %T@ %p\\n' >found"),
				 read = time_command(bench, "find cache -type f -print0 | xargs -0 cat >/dev/null");
	struct jw_cache_listing *list;
	struct jw_cache_report *report;
	uint64_t start_ns = os_monotonic_ns();

	if (jw_cache_list(err, &options, &list))
		return -1;
	print_step("listed", ms_since(start_ns), (double)list->count, "find", found);
	jw_result_free(list);
	start_ns = os_monotonic_ns();
	if (jw_cache_verify(err, &options, &report))
		return -1;
	print_step("verified", ms_since(start_ns), (double)report->entries, "cat", read);
	if (report->sound != bench->count)
		printf("  only %zu of %zu are sound\n", report->sound, bench->count);
	jw_result_free(report);
	return 0;
}

static int repair(struct jw_error *err, const struct bench *bench, const char *what,
				  const char *damage, double copied)
{
	const struct jw_cache_options options = {.path = bench->cache,
											 .limit_bytes = UINT64_C(4) << 30};
	struct jw_cache_repaired repaired;
	char text[96];
	uint64_t start_ns;

	(void)time_command(bench, "rm -rf cache && cp -r kept cache");
	(void)time_command(bench, damage);
	start_ns = os_monotonic_ns();
	if (jw_cache_repair(err, &options, &repaired))
		return -1;
	(void)snprintf(text, sizeof text, "repaired: %s", what);
	print_step(text, ms_since(start_ns), (double)bench->count, "cp -r", copied);
	printf(
		"                 %zu removed, %zu counted, %zu dropped; lock held for %.1f ms at most\n",
		repaired.removed, repaired.counted, repaired.dropped,
		(double)repaired.longest_hold_ns / 1e6);
	return 0;
}

static int repair_all(struct jw_error *err, const struct bench *bench)
{
	double copied;

	(void)time_command(bench, "rm -rf kept");
	copied = time_command(bench, "cp -r cache kept");
	return repair(err, bench, "nothing damaged", "true", copied) ||
				   repair(err, bench, "no index", "rm cache/index", copied) ||
				   repair(err, bench, "a tenth gone, a tenth cut",
						  "find cache -path '*/?/0?*' -delete && "
						  "find cache -path '*/?/1?*' -exec truncate -s 100 {} +",
						  copied) ||
				   repair(err, bench, "all cut",
						  "find cache -path '*/?/?/*' -exec truncate -s 100 {} +", copied) ||
				   repair(err, bench, "all gone", "find cache -path '*/?/?/*' -delete", copied)
			   ? -1
			   : 0;
}

/* Inserts new entries, `together` at a time. */
static int insert(struct jw_error *err, const struct bench *bench, size_t first, size_t together,
				  uint64_t limit_bytes, const char *what, double copied)
{
	const struct cache_live_options how = {.limit_bytes = limit_bytes,
										   .when_full = CACHE_FULL_EVICT};
	uint8_t(*bytes)[ENTRY_BYTES] = mem_array(together, sizeof *bytes);
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	uint64_t start_ns;
	int result = -1;

	if (cache_live_open(err, bench->cache, &how, &live))
		goto done;
	/* The first insert compares all files with the index. */
	for (size_t at = 0; at <= INSERTS; at += at ? together : 1) {
		struct cache_addition additions[BATCH] = {0};
		size_t count = at ? together : 1;

		for (size_t i = 0; i < count; i++)
			additions[i] = (struct cache_addition){.bytes = bytes[i],
												   .size_bytes = ENTRY_BYTES,
												   .key = make_bytes(bytes[i], first + at + i),
												   .verified = true};
		if (cache_insert(err, live, additions, count))
			goto done;
		if (!at)
			start_ns = os_monotonic_ns();
	}
	print_step(what, ms_since(start_ns), INSERTS, "cp -r", copied);
	cache_live_counts(live, &counts);
	printf("                 %zu holds, %.1f ms at most; %zu evicted\n", (size_t)counts.holds,
		   (double)counts.longest_hold_ns / 1e6, counts.evicted);
	result = 0;
done:
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	mem_free(bytes);
	return result;
}

static int insert_all(struct jw_error *err, const struct bench *bench)
{
	const uint64_t limit_bytes = (bench->count + 3 * INSERTS) * ROW_BYTES;
	double copied;
	char *command =
		mem_printf("rm -rf few cache && mkdir few && find kept -path '*/?/?/*' | head -%d | "
				   "xargs cp -t few && cp -r kept cache",
				   INSERTS);

	(void)time_command(bench, command);
	mem_free(command);
	copied = time_command(bench, "cp -r few copied && rm -r few copied");
	return insert(err, bench, bench->count, 1, limit_bytes, "inserted, one by one", copied) ||
				   insert(err, bench, bench->count + 2 * INSERTS, BATCH, limit_bytes,
						  "inserted, 64 at a time", copied) ||
				   insert(err, bench, bench->count + 4 * INSERTS, 1, limit_bytes,
						  "inserted, evicting one each", copied)
			   ? -1
			   : 0;
}

static int measure(struct jw_error *err, size_t count)
{
	struct bench bench = {.count = count};
	int result = -1;

	bench.keys = mem_array(count, sizeof *bench.keys);
	if (os_make_temp_dir(err, "jitwarm-bench", &bench.folder))
		goto done;
	bench.cache = os_join(bench.folder, "cache");
	if (make_cache(err, &bench))
		goto done;
	printf("%zu entries, %.0f MB\n", count, (double)count * ENTRY_BYTES / 1e6);
	result = look(err, &bench) || repair_all(err, &bench) || insert_all(err, &bench) ? -1 : 0;
done:
	if (bench.folder)
		(void)os_remove_tree(NULL, bench.folder);
	mem_free(bench.keys);
	mem_free(bench.cache);
	mem_free(bench.folder);
	return result;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {10000, 100000};
	const size_t count = argc > 1 ? (size_t)argc - 1 : 2;
	struct jw_error err = {0};

	for (size_t i = 0; i < count; i++)
		if (measure(&err, argc > 1 ? strtoul(argv[i + 1], NULL, 10) : sizes[i])) {
			printf("%s\n", err.message);
			return 1;
		}
	return 0;
}
