/* Which of two versions is older, and how names are written, computed a second time as plainly as
 * possible, without code of src, for every value of small sets. */
#include "check.h"

#include <stdio.h>

#include <jitwarm/scan.h>

#include "base/mem.h"
#include "cache/entry.h"
#include "code/release.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "find/pip.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct jw_driver drivers[] = {
	{0, {0}},
	{11020, {460, 0, 0}},
	{11020, {460, 106, 0}},
	{12040, {0}},
	{12040, {550, 0, 0}},
	{12040, {550, 54, 14}},
	{12040, {550, 54, 15}},
	{12040, {550, 163, 1}},
	{12040, {551, 23, 0}},
	{12050, {555, 42, 2}},
	{12080, {0}},
	{12080, {570, 0, 0}},
	{13000, {580, 9, 0}},
	{13000, {580, 10, 0}},
};

/* Returns one number that grows with the release. */
static uint64_t age(const struct jw_driver *driver)
{
	return (uint64_t)driver->release[0] * 1000000000 + (uint64_t)driver->release[1] * 100000 +
		   driver->release[2];
}

TEST(of_two_drivers_one_is_older)
{
	for (size_t i = 0; i < COUNT(drivers); i++)
		for (size_t k = 0; k < COUNT(drivers); k++) {
			const struct jw_driver *a = &drivers[i], *b = &drivers[k];
			const bool newer = b->cuda > a->cuda || (b->cuda == a->cuda && age(b) > age(a));
			const struct jw_driver got = gpu_newer_driver(*a, *b);
			const int order = gpu_release_compare(a->release, b->release);

			assert_memory_equal(&got, newer ? b : a, sizeof got);
			assert_int_equal((order > 0) - (order < 0), (age(a) > age(b)) - (age(a) < age(b)));
			/* The releases decide if both are known, else CUDA's versions if they are. */
			assert_int_equal(gpu_code_is_newer(a, b), a->release[0] && b->release[0]
														  ? age(a) > age(b)
													  : b->cuda ? a->cuda > b->cuda
																: false);
		}
}

TEST(of_two_isas_one_is_older)
{
	for (uint16_t a = 0; a < 100; a++)
		for (uint16_t b = 0; b < 100; b++) {
			const struct gpu_isa x = {a / 10, a % 10}, y = {b / 10, b % 10};
			const int order = gpu_isa_compare(x, y);

			assert_int_equal((order > 0) - (order < 0), (a > b) - (a < b));
		}
}

/* As in NVIDIA's release notes: the first and the last CUDA version that makes code for a GPU (0:
 * no end), and the first driver's. Only a driver had version 12.7. */
TEST(compilers_and_drivers_know_gpus_from_one_version_on)
{
	static const uint32_t cudas[] = {8000,  9000,  9010,  10000, 11000, 11010, 11040, 11070,
									 11080, 12000, 12010, 12020, 12040, 12050, 12060, 12070,
									 12080, 12090, 13000, 13010, 13040, 13050};
	static const struct {
		struct jw_target target;
		uint32_t driver, compiler, last;
	} gpus[] = {
		{{61, 0}, 0, 0, 12090},      {{70, 0}, 9000, 9000, 12090},  {{75, 0}, 10000, 10000, 0},
		{{80, 0}, 11000, 11000, 0},  {{86, 0}, 11010, 11010, 0},    {{87, 0}, 11040, 11040, 0},
		{{89, 0}, 11080, 11080, 0},  {{90, 0}, 11080, 11080, 0},    {{90, 'a'}, 12000, 12000, 0},
		{{100, 0}, 12070, 12080, 0}, {{100, 'a'}, 12070, 12080, 0}, {{101, 0}, 12070, 12080, 12090},
		{{103, 0}, 12090, 12090, 0}, {{110, 0}, 13000, 13000, 0},   {{120, 0}, 12080, 12080, 0},
		{{121, 0}, 12090, 12090, 0}, {{35, 0}, 0, 0, 11080},
	};

	for (size_t i = 0; i < COUNT(gpus); i++) {
		assert_int_equal(gpu_first_cuda(gpus[i].target), gpus[i].driver);
		for (size_t k = 0; k < COUNT(cudas); k++) {
			const bool early = cudas[k] < gpus[i].compiler,
					   late = gpus[i].last && cudas[k] > gpus[i].last;

			assert_int_equal(gpu_compiler_fits(cudas[k], gpus[i].target), early  ? -1
																		  : late ? 1
																				 : 0);
		}
	}
}

/* Sixteen digits are split into one, one, and fourteen. */
TEST(files_of_entries_have_their_keys_digits)
{
	uint64_t key = 1;

	for (unsigned round = 0; round < 10000; round++) {
		char name[CACHE_NAME_SIZE], wanted[32];
		uint64_t got = 0;

		key = key * UINT64_C(6364136223846793005) + 1442695040888963407;
		(void)snprintf(wanted, sizeof wanted, "%016llx",
					   (unsigned long long)(round % 3 ? key : key >> 30));
		memmove(wanted + 4, wanted + 2, 15);
		wanted[3] = '/';
		wanted[2] = wanted[1];
		wanted[1] = '/';
		assert_string_equal(cache_entry_name(name, round % 3 ? key : key >> 30), wanted);
		wanted[1] = wanted[3] = '\0';
		assert_true(cache_entry_key(wanted, wanted + 2, wanted + 4, &got));
		assert_int_equal(got, round % 3 ? key : key >> 30);
	}
}

/* The name is the last part of an address, with each “+” as it is or as %2B or %2b. */
TEST(addresses_name_wheels)
{
	static const char *const pluses[] = {"+", "%2B", "%2b"};
	static const char parts[][8] = {"torch", "_", "2.4", "-cp311", ".x", "é"};

	for (unsigned round = 0; round < 3 * 3 * 3 * 36; round++) {
		const char *first = pluses[round % 3], *second = pluses[round / 3 % 3];
		const char *one = parts[round / 27 % 6], *two = parts[round / 162 % 6];
		char *report = keep(mem_printf("{\"install\": [{\"metadata\": {\"name\": \"torch\", "
									   "\"version\": \"2.4\"}, \"download_info\": "
									   "{\"url\": \"https://a/b/w-%s%s%s%su1-none.whl\"}}]}",
									   one, first, two, second));
		char *wanted = keep(mem_printf("w-%s+%s+u1-none.whl", one, two));
		struct jw_package_list list = {.count = 0};

		OK(pip_report_read(why, report, strlen(report), &list));
		assert_int_equal(list.count, 1);
		assert_string_equal(list.items[0].file, strstr(wanted, "é") ? "" : wanted);
		jw_package_list_free(&list);
	}
}

RUN_TESTS(NULL, NULL)
