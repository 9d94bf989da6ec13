/* bench_keys [FILE...]
 *
 * How fast keys are hashed. FNV-1a waits for one multiplication per byte; hashing several modules
 * side by side hides that. One core, least of five rounds. Without files: 400 modules with sizes as
 * in real libraries; with files: their PTX, hashed as in plan_build, for one GPU. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "code/devcode.h"

enum { ROUNDS = 9, MADE = 400, MOST = 1 << 20, BATCH = 32 };

struct modules {
	struct fnv_lane *lanes;
	size_t count, capacity;
	uint64_t bytes;
};

static int add_module(struct jw_error *err, struct modules *modules, const void *data, size_t size)
{
	uint8_t *copy = mem_alloc(size);

	if (VEC_ROOM(err, modules->lanes, modules->capacity, modules->count, MOST))
		return -1;
	for (size_t i = 0; i < size; i++)
		copy[i] = data ? ((const uint8_t *)data)[i] : (uint8_t)(i * 31 + modules->count);
	modules->lanes[modules->count++] = (struct fnv_lane){FNV_START, copy, size};
	modules->bytes += size;
	return 0;
}

static int see_container(struct jw_error *err, struct modules *modules,
						 const struct devcode_container *container)
{
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
		struct devcode_view view;
		int result = 0;

		if (entry->kind == DEVCODE_KIND_PTX &&
			!devcode_payload(NULL, container, entry, &scratch, &view))
			result = add_module(err, modules, view.data, view.size);
		buf_free(&scratch);
		if (result)
			return -1;
	}
	return 0;
}

static int read_file(struct jw_error *err, struct modules *modules, const char *path)
{
	struct code_reader *reader;
	struct code_found found;
	int step;

	if (code_open(err, path, NULL, &reader))
		return -1;
	while ((step = code_next(err, reader, &found)) > CODE_END)
		if (step == CODE_CONTAINER && see_container(err, modules, found.container)) {
			step = CODE_FAILED;
			break;
		}
	code_close(reader);
	return step;
}

/* The sizes range from hundreds of bytes to a megabyte; small modules are more frequent. */
static int make_modules(struct jw_error *err, struct modules *modules)
{
	for (size_t i = 0; i < MADE; i++)
		if (add_module(err, modules, NULL, (size_t)300 << (i * i / (MADE * MADE / 12))))
			return -1;
	return 0;
}

/* Other programs on the machine disturb processor time less. */
static double seconds_since(clock_t start)
{
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static double time_one(const struct modules *modules, uint64_t *ret_sum)
{
	const clock_t start = clock();
	uint64_t sum = 0;

	for (size_t i = 0; i < modules->count; i++)
		sum ^= fnv_update(FNV_START, modules->lanes[i].data, modules->lanes[i].size);
	*ret_sum = sum;
	return seconds_since(start);
}

static double time_many(const struct modules *modules, uint64_t *ret_sum)
{
	const clock_t start = clock();
	uint64_t sum = 0;
	struct fnv_lane lanes[BATCH];

	for (size_t done = 0, taken; done < modules->count; done += taken) {
		taken = modules->count - done < BATCH ? modules->count - done : BATCH;
		for (size_t i = 0; i < taken; i++) { /* the longest first, as plan_build does */
			size_t at = i;

			for (; at && lanes[at - 1].size < modules->lanes[done + i].size; at--)
				lanes[at] = lanes[at - 1];
			lanes[at] = modules->lanes[done + i];
		}
		fnv_update_many(lanes, taken);
		for (size_t i = 0; i < taken; i++)
			sum ^= lanes[i].state;
	}
	*ret_sum = sum;
	return seconds_since(start);
}

static int compare(const struct modules *modules)
{
	double one = 1e9, many = 1e9;
	uint64_t sum_one = 0, sum_many = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double took = time_one(modules, &sum_one);

		one = took < one ? took : one;
		took = time_many(modules, &sum_many);
		many = took < many ? took : many;
	}
	printf("%zu modules, %.1f MB: one at a time %.2f GB/s, side by side %.2f GB/s, ratio %.2f\n",
		   modules->count, (double)modules->bytes / 1e6, (double)modules->bytes / one / 1e9,
		   (double)modules->bytes / many / 1e9, one / many);
	return sum_one == sum_many ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct modules modules = {0};
	struct jw_error err = {0};
	int result = 0;

	if (argc < 2)
		result = make_modules(&err, &modules);
	for (int i = 1; i < argc && !result; i++)
		result = read_file(&err, &modules, argv[i]);
	if (result)
		printf("%s\n", err.message);
	else if (modules.count)
		result = compare(&modules);
	for (size_t i = 0; i < modules.count; i++)
		mem_free((void *)(uintptr_t)modules.lanes[i].data);
	mem_free(modules.lanes);
	return result ? 1 : 0;
}
