/* bench_scan FILE...
 *
 * How fast files are read and judged, page cache warm, one core: their content, verdicts for
 * sm_120, and each module that sm_120 would compile decompressed, counted and compared. Beside
 * each, one memmem pass over the same bytes in the same run. Least of five rounds, in processor
 * time, so that other programs disturb it less. `peak` is the peak resident memory before memmem,
 * mapped pages included. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jitwarm/scan.h>

#include "os/file.h"
#include "os/platform.h"

enum { ROUNDS = 5 };

struct files {
	const char *const *paths;
	size_t count;
};

struct counts {
	size_t containers, modules;
	uint64_t bytes; /* of the modules; of the files for memmem */
};

static int see_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct counts *counts = context;

	(void)err;
	counts->containers += image->containers;
	if (image->verdict_count) {
		counts->modules += image->verdicts[0].work.modules;
		counts->bytes += image->verdicts[0].work.ptx_bytes;
	}
	return 0;
}

static int judge(struct jw_error *err, const struct files *files, bool verdicts, bool modules,
				 struct counts *counts)
{
	const struct jw_target target = {.sm = 120};
	const struct jw_scan_options options = {
		.paths = files->paths,
		.path_count = files->count,
		.targets = &target,
		.target_count = verdicts,
		.verdicts_only = !modules,
		.context = counts,
		.image = see_image,
	};

	return jw_scan(err, &options, NULL);
}

static int content(struct jw_error *err, const struct files *files, struct counts *counts)
{
	return judge(err, files, false, true, counts);
}

static int verdicts(struct jw_error *err, const struct files *files, struct counts *counts)
{
	return judge(err, files, true, false, counts);
}

static int modules(struct jw_error *err, const struct files *files, struct counts *counts)
{
	return judge(err, files, true, true, counts);
}

static int find_bytes(struct jw_error *err, const struct files *files, struct counts *counts)
{
	static const char needle[] = "\x50\xed\x55\xba\x07\x07\x10\x07";

	for (size_t i = 0; i < files->count; i++) {
		struct os_map map;

		if (os_map_open(err, files->paths[i], &map))
			return -1;
		counts->containers += memmem(map.data, map.size, needle, sizeof needle - 1) != NULL;
		counts->bytes += map.size;
		os_map_close(&map);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct jw_error *err, const struct files *files, struct counts *counts);
	} steps[] = {{"what is in them", content},
				 {"verdicts, sm_120", verdicts},
				 {"modules, sm_120", modules},
				 {"memmem", find_bytes}};
	enum { STEPS = sizeof steps / sizeof *steps };
	const struct files files = {(const char *const *)argv + 1, argc > 1 ? (size_t)argc - 1 : 0};
	struct counts counts[STEPS];
	double least[STEPS];
	struct jw_error err = {0};
	uint64_t peak = 0;

	for (size_t i = 0; i < STEPS; i++) {
		if (i == STEPS - 1)
			peak = os_peak_resident_bytes();
		least[i] = 1e9;
		for (int round = 0; round < ROUNDS; round++) {
			const clock_t start = clock();
			double took;

			counts[i] = (struct counts){0};
			if (steps[i].run(&err, &files, &counts[i])) {
				printf("%s\n", err.message);
				return 1;
			}
			took = (double)(clock() - start) / CLOCKS_PER_SEC;
			least[i] = took < least[i] ? took : least[i];
		}
	}
	for (size_t i = 0; i < STEPS; i++)
		printf("%-17s %6.2f GB/s, %5.2f times memmem; %zu containers, %zu modules of %.1f MB\n",
			   steps[i].name, (double)counts[STEPS - 1].bytes / least[i] / 1e9,
			   least[STEPS - 1] / least[i], counts[i].containers, counts[i].modules,
			   (double)counts[i].bytes / 1e6);
	printf("peak %.1f MB\n", (double)peak / 1e6);
	return 0;
}
