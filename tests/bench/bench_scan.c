/* bench_scan [--rounds N] [--headers] [--payloads] FILE...
 *
 * How fast files are searched for device code, page cache warm, one core. Beside it, one memmem
 * pass over the same bytes in the same run: ratios vary less between machines than times. Least of
 * five rounds; each round maps the file again. `peak` is the process's peak resident memory so far,
 * mapped pages included, before memmem touches all of the file.
 *
 *   --headers    reads .version and .target of every PTX entry as well
 *   --payloads   decompresses every PTX entry and counts its statements as well */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "code/devcode.h"
#include "code/ptx.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/platform.h"

enum { ROUNDS = 5, MAX_ROUNDS = 1000 };

struct work {
	bool headers, payloads;
	uint64_t rounds;
	struct buf scratch;
	size_t containers, entries, ptx, unread;
	uint64_t ptx_bytes, statements;
};

static void see_entry(struct work *work, const struct devcode_container *container,
					  const struct devcode_entry *entry)
{
	struct devcode_ptx_header header;
	struct ptx_features features;
	struct devcode_view view;

	if (entry->kind != DEVCODE_KIND_PTX && entry->kind != DEVCODE_KIND_RELOCATABLE_PTX)
		return;
	work->ptx++;
	if (work->headers && devcode_ptx_header(NULL, container, entry, &header))
		work->unread++;
	if (!work->payloads)
		return;
	if (devcode_payload(NULL, container, entry, &work->scratch, &view)) {
		work->unread++;
		return;
	}
	ptx_count(view.data, view.size, &features);
	work->ptx_bytes += view.size;
	work->statements += features.statements;
}

static void see_container(struct work *work, const struct devcode_container *container)
{
	work->containers++;
	work->entries += container->entry_count;
	for (size_t i = 0; i < container->entry_count; i++)
		see_entry(work, container, &container->entries[i]);
}

static double seconds_since(uint64_t start)
{
	return (double)(os_monotonic_ns() - start) / 1e9;
}

/* Times one pass of memmem for bytes that do not occur. */
static double time_memmem(const char *path)
{
	static const char needle[] = "\x50\xed\x55\xba\x07\x07\x10\x07";
	uint64_t start = os_monotonic_ns();
	struct os_map map;
	const uint8_t *at;

	if (os_map_open(NULL, path, &map))
		return 0;
	at = memmem(map.data, map.size, needle, sizeof needle - 1);
	if (at)
		printf("(memmem found its needle at %zu)\n", (size_t)(at - map.data));
	os_map_close(&map);
	return seconds_since(start);
}

/* `a` is 0 if there is no time yet. */
static double least(double a, double b)
{
	return a > 0 && a < b ? a : b;
}

struct sum {
	double bytes, scan_s, memmem_s;
};

static int time_scan(struct work *work, const char *path, double *ret_seconds)
{
	struct code_reader *reader;
	struct code_found found;
	struct jw_error err = {0};
	int step;

	for (size_t i = 0; i < work->rounds; i++) {
		uint64_t start = os_monotonic_ns();

		work->containers = work->entries = work->ptx = work->unread = 0;
		work->ptx_bytes = work->statements = 0;
		step = code_open(&err, path, NULL, &reader);
		if (!step) {
			while ((step = code_next(&err, reader, &found)) > CODE_END) {
				if (step == CODE_CONTAINER)
					see_container(work, found.container);
				if (step == CODE_TROUBLE)
					printf("%s%s%s: %s\n", path, found.member ? ": " : "",
						   found.member ? found.member : "", found.why.message);
			}
			code_close(reader);
		}
		if (step) {
			printf("%s\n", err.message);
			return -1;
		}
		*ret_seconds = least(*ret_seconds, seconds_since(start));
	}
	return 0;
}

static int bench(struct work *work, const char *path, struct sum *sum)
{
	double scan = 0, mem = 0, gigabytes;
	struct os_stat stat;
	uint64_t peak;

	if (os_stat(NULL, path, &stat) || time_scan(work, path, &scan))
		return -1;
	peak = os_peak_resident_bytes();
	for (size_t i = 0; i < work->rounds; i++)
		mem = least(mem, time_memmem(path));
	gigabytes = (double)stat.size_bytes / 1e9;
	printf("%-42s %7.1f MB  scan %8.2f ms %6.2f GB/s  memmem %5.2f GB/s  ratio %6.2f  "
		   "containers %zu entries %zu ptx %zu",
		   os_base_name(path), gigabytes * 1e3, scan * 1e3, gigabytes / scan, gigabytes / mem,
		   mem / scan, work->containers, work->entries, work->ptx);
	if (work->payloads)
		printf(" (%.1f MB, %.2f GB/s, %llu statements)", (double)work->ptx_bytes / 1e6,
			   (double)work->ptx_bytes / 1e9 / scan, (unsigned long long)work->statements);
	printf(" unread %zu  peak %.1f MB\n", work->unread, (double)peak / 1e6);
	sum->bytes += gigabytes;
	sum->scan_s += scan;
	sum->memmem_s += mem;
	return 0;
}

int main(int argc, char **argv)
{
	struct work work = {.scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD), .rounds = ROUNDS};
	struct sum sum = {0};
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--headers"))
			work.headers = true;
		else if (!strcmp(argv[i], "--payloads"))
			work.payloads = true;
		else if (!strcmp(argv[i], "--rounds") && i + 1 < argc &&
				 text_number(argv[i + 1], MAX_ROUNDS, &work.rounds) && work.rounds)
			i++;
		else if (bench(&work, argv[i], &sum))
			failed = 1;
	}
	if (sum.scan_s > 0)
		printf("all: %.3f GB, scan %.2f GB/s, memmem %.2f GB/s, ratio %.2f\n", sum.bytes,
			   sum.bytes / sum.scan_s, sum.bytes / sum.memmem_s, sum.memmem_s / sum.scan_s);
	buf_free(&work.scratch);
	return failed;
}
