/* Targets are read, and each kind of code runs on exactly the GPUs that CUDA's documents say. */
#include "check.h"

#include <string.h>

#include "code/rules.h"
#include "code/target_names.h"
#include <jitwarm/target.h>

TEST(targets_are_read)
{
	static const struct {
		const char *text;
		uint16_t sm;
		char suffix;
	} cases[] = {
		{"sm_86", 86, 0},      {"compute_90a", 90, 'a'}, {"86", 86, 0},     {"8.6", 86, 0},
		{"12.0", 120, 0},      {"sm_120f", 120, 'f'},    {"9.0a", 90, 'a'}, {"120", 120, 0},
		{"compute_75", 75, 0}, {"10.3f", 103, 'f'},
	};
	struct jw_target target;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(jw_target_parse(cases[i].text, &target));
		assert_int_equal(target.sm, cases[i].sm);
		assert_int_equal(target.suffix, cases[i].suffix);
	}
}

TEST(an_invalid_target_is_refused)
{
	static const char *const cases[] = {
		"",   "sm_",  "sm_8",    "8",   "sm_86b", "8.6.1", "86 ", " 86",   "sm86", "SM_86", "8.",
		".6", "1200", "sm_1200", "086", "sm_8.6", "86af",  "-86", "120.0", "8.66", "lto_86"};
	struct jw_target target = {7, 'x'};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_false(jw_target_parse(cases[i], &target));
	assert_int_equal(target.sm, 7);
	assert_int_equal(target.suffix, 'x');
}

static struct jw_target target_of(const char *text)
{
	struct jw_target target;

	assert_true(jw_target_parse(text, &target));
	return target;
}

TEST(architectures_are_numbers_that_drivers_accept)
{
	static const uint16_t known[] = {10, 35, 50, 62, 69, 75, 88, 90, 100, 101, 199};
	static const uint16_t unknown[] = {0, 9, 54, 81, 84, 89 + 2, 99, 200, 201, 999};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_true(gpu_is_architecture(known[i]));
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		assert_false(gpu_is_architecture(unknown[i]));
	assert_true(gpu_is_tegra(53) && gpu_is_tegra(87) && gpu_is_tegra(110));
	assert_false(gpu_is_tegra(0) || gpu_is_tegra(86) || gpu_is_tegra(120));
}

TEST(machine_code_runs_within_a_major_version)
{
	static const struct {
		const char *code, *device;
		enum gpu_fit fit;
	} cases[] = {
		{"86", "86", GPU_FIT_EXACT},
		{"80", "86", GPU_FIT_COMPATIBLE},
		{"80", "89", GPU_FIT_COMPATIBLE},
		{"86", "80", GPU_FIT_NONE},
		{"80", "90", GPU_FIT_NONE},
		{"70", "75", GPU_FIT_COMPATIBLE},
		{"60", "61", GPU_FIT_COMPATIBLE},
		{"35", "37", GPU_FIT_COMPATIBLE},
		{"100", "103", GPU_FIT_COMPATIBLE},
		{"120", "121", GPU_FIT_COMPATIBLE},
		{"100", "120", GPU_FIT_NONE},
		/* Tegra, in both directions */
		{"80", "87", GPU_FIT_NONE},
		{"87", "89", GPU_FIT_NONE},
		{"87", "87", GPU_FIT_EXACT},
		{"50", "53", GPU_FIT_NONE},
		{"61", "62", GPU_FIT_NONE},
		{"70", "72", GPU_FIT_NONE},
		{"72", "75", GPU_FIT_NONE},
		{"100", "101", GPU_FIT_NONE},
		{"101", "110", GPU_FIT_EXACT},
		{"110", "101", GPU_FIT_EXACT},
		{"101", "103", GPU_FIT_NONE},
		/* no GPU's */
		{"81", "86", GPU_FIT_NONE},
		{"84", "86", GPU_FIT_NONE},
		{"88", "89", GPU_FIT_COMPATIBLE},
		/* one capability alone */
		{"90a", "90", GPU_FIT_EXACT},
		{"100a", "103", GPU_FIT_NONE},
		{"120a", "121", GPU_FIT_NONE},
		{"101a", "110", GPU_FIT_EXACT},
		/* a family */
		{"100f", "100", GPU_FIT_EXACT},
		{"100f", "103", GPU_FIT_COMPATIBLE},
		{"100f", "107", GPU_FIT_COMPATIBLE},
		{"103f", "100", GPU_FIT_NONE},
		{"103f", "107", GPU_FIT_COMPATIBLE},
		{"120f", "121", GPU_FIT_COMPATIBLE},
		{"121f", "120", GPU_FIT_NONE},
		{"100f", "110", GPU_FIT_NONE},
		{"110f", "101", GPU_FIT_EXACT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (gpu_sass_fit(target_of(cases[i].code), target_of(cases[i].device)) != cases[i].fit)
			fail_msg("%s on %s", cases[i].code, cases[i].device);
}

TEST(ptx_runs_forward)
{
	static const struct {
		const char *code, *device;
		bool fits;
	} cases[] = {
		{"70", "70", true},     {"70", "120", true},    {"35", "90", true},
		{"75", "70", false},    {"80", "87", true},     {"53", "86", true},
		{"90a", "90", true},    {"90a", "100", false},  {"90a", "120", false},
		{"90a", "89", false},   {"100f", "100", true},  {"100f", "103", true},
		{"100f", "107", true},  {"100f", "110", false}, {"100f", "120", false},
		{"103f", "100", false}, {"103f", "103", true},  {"103f", "107", true},
		{"107f", "107", true},  {"120f", "121", true},  {"121f", "121", true},
		{"121f", "120", false}, {"101", "110", true},   {"110", "101", true},
		{"101a", "110", true},  {"110f", "110", true},  {"110f", "120", false},
		{"103", "110", true},   {"54", "86", false},    {"69", "86", true},
		{"81", "86", false},    {"130", "130", true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (gpu_ptx_fits(target_of(cases[i].code), target_of(cases[i].device)) != cases[i].fits)
			fail_msg("%s on %s", cases[i].code, cases[i].device);
}

TEST(capabilities_have_names)
{
	assert_non_null(strstr(jw_target_products((struct jw_target){86, 0}), "RTX 30"));
	assert_non_null(strstr(jw_target_products((struct jw_target){90, 0}), "H100"));
	assert_string_equal(jw_target_products((struct jw_target){68, 0}), "");
	assert_true(jw_target_plausible((struct jw_target){121, 0}));
	assert_true(jw_target_plausible((struct jw_target){130, 0}));
	assert_false(jw_target_plausible((struct jw_target){68, 0}));
}

RUN_TESTS(NULL, NULL)
