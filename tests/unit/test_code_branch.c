/* Each driver finds the row of its branch. */
#include "check.h"

#include "code/release.h"

TEST(a_driver_has_one_row)
{
	static const struct {
		struct jw_driver driver;
		unsigned limit_mib;
		enum gpu_relocatable relocatable;
		bool zstd, force_jit;
		uint16_t architectures;
	} cases[] = {
		{{11020, {460, 106, 0}}, 256, GPU_RELOCATABLE_SPOILS, false, false, 256},
		{{11040, {470, 256, 2}}, 256, GPU_RELOCATABLE_SPOILS, false, false, 256},
		{{12000, {525, 147, 5}}, 1024, GPU_RELOCATABLE_SPOILS, false, true, 1000},
		{{12000, {527, 41, 0}}, 1024, GPU_RELOCATABLE_SPOILS, false, true, 1000},
		{{12020, {535, 309, 1}}, 1024, GPU_RELOCATABLE_SPOILS, false, true, 1000},
		{{12030, {0, 0, 0}}, 1024, GPU_RELOCATABLE_SPOILS, false, true, 1000},
		{{12040, {550, 40, 7}}, 1024, GPU_RELOCATABLE_SPOILS, false, true, 1000},
		{{12040, {550, 54, 14}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
		{{12040, {550, 163, 1}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
		{{12040, {551, 61, 0}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
		{{12040, {550, 0, 0}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
		{{12040, {0, 0, 0}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
		{{12050, {555, 58, 2}}, 1024, GPU_RELOCATABLE_KNOWN, true, true, 1000},
		{{13000, {580, 65, 6}}, 1024, GPU_RELOCATABLE_KNOWN, true, true, 1000},
		{{0, {0, 0, 0}}, 1024, GPU_RELOCATABLE_KNOWN, true, true, 1000},
		{{0, {550, 163, 1}}, 1024, GPU_RELOCATABLE_KILLS, true, true, 1000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct gpu_branch *branch = gpu_branch_of(&cases[i].driver);

		assert_int_equal(branch->default_limit_bytes, (uint64_t)cases[i].limit_mib << 20);
		assert_int_equal(branch->relocatable, cases[i].relocatable);
		assert_int_equal(branch->zstd, cases[i].zstd);
		assert_int_equal(branch->architectures, cases[i].architectures);
		assert_int_equal(branch->force_jit, cases[i].force_jit);
	}
}

RUN_TESTS(NULL, NULL)
