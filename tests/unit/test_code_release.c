/* The tables of drivers, CUDA versions and PTX ISA versions give the published answers. */
#include "check.h"

#include <jitwarm/target.h>

#include "code/release.h"
#include "code/rules.h"
#include "code/target_names.h"

/* A JIT's targets, and the first CUDA version that knows each: ptxas 11.8 refuses sm_90a. */
TEST(the_target_of_a_jit_is_known_to_its_release)
{
	static const struct {
		uint16_t sm;
		uint32_t driver;
		const char *target;
		uint32_t first;
	} cases[] = {
		{86, 12040, "sm_86", 11010},    {89, 12040, "sm_89", 11080},
		{90, 11080, "sm_90", 11080},    {90, 12000, "sm_90a", 12000},
		{90, 0, "sm_90a", 12000},       {90, 12040, "sm_90a", 12000},
		{100, 12080, "sm_100a", 12070}, {120, 13000, "sm_120a", 12080},
	};
	char text[JW_TARGET_TEXT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_target device = {.sm = cases[i].sm};
		const struct jw_target target = gpu_jit_target(device, cases[i].driver);

		assert_string_equal(jw_target_sm(text, target), cases[i].target);
		assert_int_equal(gpu_first_cuda(target), cases[i].first);
	}
}

TEST(the_oldest_driver_of_a_runtime)
{
	static const struct {
		uint32_t runtime, driver;
	} cases[] = {{8000, 8000},   {10020, 10020}, {11000, 11000},
				 {11070, 11000}, {12030, 12000}, {13050, 13000}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(gpu_runtime_cuda(cases[i].runtime), cases[i].driver);
}

/* Each ptxas from 11.7 to 13.5 reports these. */
TEST(the_compilers_that_make_code_for_a_gpu)
{
	static const struct {
		uint16_t sm;
		uint32_t before, first, last, behind; /* 0: none, or unknown */
	} cases[] = {
		{35, 0, 11070, 11080, 12000},  {50, 0, 11070, 12090, 13000},
		{61, 0, 12000, 12090, 13000},  {70, 8000, 9000, 12090, 13050},
		{75, 9020, 10000, 13050, 0},   {90, 11070, 11080, 13050, 0},
		{100, 12060, 12080, 13050, 0}, {101, 12060, 12080, 12090, 13000},
		{120, 12060, 12080, 13050, 0}, {88, 12090, 13000, 13050, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_target target = {.sm = cases[i].sm};

		if (cases[i].before)
			assert_int_equal(gpu_compiler_fits(cases[i].before, target), -1);
		assert_int_equal(gpu_compiler_fits(cases[i].first, target), 0);
		assert_int_equal(gpu_compiler_fits(cases[i].last, target), 0);
		if (cases[i].behind)
			assert_int_equal(gpu_compiler_fits(cases[i].behind, target), 1);
	}
}

/* A CUDA version, a driver, a branch: NVIDIA's own names, and what people write for them */
TEST(names_of_drivers)
{
	static const struct {
		const char *names[9];
		struct jw_driver driver;
	} cases[] = {
		{{"12.4", "cuda12.4", "cuda 12.4", "CUDA12.4", "CUDA 12.4", "Cuda-12.4", "cuda_12.4",
		  "cu124", "cuda124"},
		 {12040, {0}}},
		{{"cuda 12.4.1"}, {12040, {0}}},
		{{"12"}, {12000, {0}}},
		{{"11"}, {11000, {0}}},
		{{"12.1.105"}, {12010, {0}}},
		{{"535.183.01", "v535.183.01", "driver 535.183.01", "nvidia-driver-535.183.01",
		  "NVIDIA 535.183.01"},
		 {12020, {535, 183, 1}}},
		{{"550", "R550", "r550", "550.x", "550.xx", "550+", "R550.x"}, {12040, {550, 0, 0}}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t k = 0; k < 9 && cases[i].names[k]; k++) {
			struct jw_driver driver;

			OK(jw_driver_parse(why, cases[i].names[k], &driver));
			assert_int_equal(driver.cuda, cases[i].driver.cuda);
			assert_memory_equal(driver.release, cases[i].driver.release, sizeof driver.release);
		}
}

TEST(an_invalid_driver_is_refused)
{
	static const char *const cases[] = {"",
										"12.",
										"abc",
										"12.2x",
										"-1.0",
										"12.100",
										"550.1.2.3",
										"99999.1",
										"304.137",
										"cuda 550.10",
										"CUDA",
										"7.5",
										" 550.10",
										"550..1",
										"cuda550",
										"cu200",
										"cu99",
										"driver",
										"v",
										"driver  535",
										"nvidia-cuda-550",
										"cuda  12.4",
										"cuda12",
										"4294967296.0",
										"550x",
										"550.xxx",
										"+",
										".x",
										"r"};
	struct jw_driver driver = {.cuda = 5};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		GIVES(JW_ERR_USAGE, jw_driver_parse(why, cases[i], &driver));
	}
	assert_int_equal(driver.cuda, 5);
}

TEST(a_driver_compiles_up_to_its_isa)
{
	static const struct {
		uint32_t cuda;
		struct gpu_isa isa;
	} cases[] = {
		{12020, {8, 2}}, {12060, {8, 5}}, {12050, {8, 5}},      {12070, {8, 6}},
		{13000, {9, 0}}, {13040, {9, 4}}, {11080, {7, 8}},      {12100, {8, 8}},
		{10010, {6, 4}}, {8000, {5, 0}},  {0, {UINT16_MAX, 0}}, {14000, {UINT16_MAX, 0}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_driver driver = {.cuda = cases[i].cuda};

		assert_int_equal(gpu_isa_compare(gpu_driver_isa(&driver), cases[i].isa), 0);
	}
	assert_true(gpu_isa_compare((struct gpu_isa){8, 9}, (struct gpu_isa){9, 0}) < 0);
	assert_true(gpu_isa_compare((struct gpu_isa){8, 2}, (struct gpu_isa){8, 1}) > 0);
	assert_int_equal(gpu_isa_driver((struct gpu_isa){8, 4}).cuda, 12040);
	assert_int_equal(gpu_isa_driver((struct gpu_isa){0, 0}).cuda, 0);
	assert_int_equal(gpu_isa_driver((struct gpu_isa){99, 0}).cuda, 0);
}

RUN_TESTS(NULL, NULL)
