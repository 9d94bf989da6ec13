/* bench_verdicts FILE...
 *
 * How fast files are judged, page cache warm, one core: reading their content with verdicts for
 * sm_120, and with every module that sm_120 would compile decompressed, counted and compared.
 * Beside each, one memmem pass over the same bytes in the same run. Least of five rounds, in
 * processor time, so that other programs disturb it less. `peak` is the peak resident memory before
 * memmem, mapped pages included. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jitwarm/scan.h>

#include "os/file.h"
#include "os/platform.h"

enum { ROUNDS = 5 };

struct counts {
	size_t images, containers, modules;
	uint64_t module_bytes;
};

static int see_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct counts *counts = context;

	(void)err;
	counts->images++;
	counts->containers += image->containers;
	if (image->verdict_count) {
		counts->modules += image->verdicts[0].work.modules;
		counts->module_bytes += image->verdicts[0].work.ptx_bytes;
	}
	return 0;
}

static double seconds_since(clock_t start)
{
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static int time_scan(struct jw_error *err, const char *const *files, size_t count, int step,
					 struct counts *counts, double *ret_seconds)
{
	const struct jw_target target = {.sm = 120};
	const struct jw_scan_options options = {
		.paths = files,
		.path_count = count,
		.targets = &target,
		.target_count = step > 0 ? 1 : 0,
		.verdicts_only = step == 1,
		.context = counts,
		.image = see_image,
	};
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		const clock_t start = clock();

		*counts = (struct counts){0};
		if (jw_scan(err, &options, NULL))
			return -1;
		if (seconds_since(start) < least)
			least = seconds_since(start);
	}
	*ret_seconds = least;
	return 0;
}

static int time_memmem(struct jw_error *err, const char *const *files, size_t count,
					   double *ret_seconds, double *ret_bytes)
{
	static const char needle[] = "\x50\xed\x55\xba\x07\x07\x10\x07";
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		const clock_t start = clock();

		*ret_bytes = 0;
		for (size_t i = 0; i < count; i++) {
			struct os_map map;

			if (os_map_open(err, files[i], &map))
				return -1;
			if (memmem(map.data, map.size, needle, sizeof needle - 1))
				printf("(memmem found its needle)\n");
			*ret_bytes += (double)map.size;
			os_map_close(&map);
		}
		if (seconds_since(start) < least)
			least = seconds_since(start);
	}
	*ret_seconds = least;
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"what is in them", "verdicts, sm_120", "modules, sm_120"};
	const char *const *files = (const char *const *)argv + 1;
	const size_t count = argc > 1 ? (size_t)argc - 1 : 0;
	double seconds[3], memmem_seconds, bytes;
	struct counts counts[3];
	struct jw_error err = {0};
	uint64_t peak;

	for (int i = 0; i < 3; i++)
		if (time_scan(&err, files, count, i, &counts[i], &seconds[i]))
			goto fail;
	peak = os_peak_resident_bytes();
	if (time_memmem(&err, files, count, &memmem_seconds, &bytes))
		goto fail;
	printf("%zu files, %.1f MB, memmem %.2f GB/s, peak %.1f MB\n", count, bytes / 1e6,
		   bytes / memmem_seconds / 1e9, (double)peak / 1e6);
	for (size_t i = 0; i < 3; i++)
		printf("%-17s %6.2f GB/s, ratio to memmem %5.2f; %zu containers, %zu modules of %.1f MB\n",
			   names[i], bytes / seconds[i] / 1e9, memmem_seconds / seconds[i],
			   counts[i].containers, counts[i].modules, (double)counts[i].module_bytes / 1e6);
	return 0;
fail:
	printf("%s\n", err.message);
	return 1;
}
