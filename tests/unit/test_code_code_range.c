/* The range of drivers that load machine code is the measured one, and ranges are combined
 * correctly. */
#include "check.h"

#include "code/rules.h"

TEST(rows_are_as_measured)
{
	static const struct {
		uint32_t cuda;
		uint16_t sm;
		uint32_t from[3], to;
	} cases[] = {
		{0, 86, {460, 0, 0}, 555},     {0, 89, {520, 0, 0}, 555},    {12000, 86, {525, 0, 0}, 555},
		{12000, 75, {525, 0, 0}, 555}, {12080, 100, {570, 0, 0}, 0}, {12080, 121, {575, 0, 0}, 0},
		{13000, 90, {580, 0, 0}, 580}, {13000, 120, {580, 0, 0}, 0}, {13000, 107, {615, 0, 0}, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct gpu_code_range range =
			gpu_code_range(cases[i].cuda, (struct jw_target){.sm = cases[i].sm});

		assert_memory_equal(range.from.release, cases[i].from, sizeof cases[i].from);
		assert_int_equal(range.to.release[0], cases[i].to);
	}
}

TEST(only_what_is_known_is_compared)
{
	const struct jw_driver from = {12040, {550, 54, 14}}, cuda = {12040, {0}}, none = {0};

	assert_true(gpu_code_is_newer(&from, &(struct jw_driver){12040, {550, 40, 7}}));
	assert_true(gpu_code_is_newer(&from, &(struct jw_driver){0, {535, 309, 1}}));
	assert_false(gpu_code_is_newer(&from, &(struct jw_driver){12040, {550, 54, 14}}));
	assert_false(gpu_code_is_newer(&from, &(struct jw_driver){0, {555, 0, 0}}));
	assert_false(gpu_code_is_newer(&from, &cuda));
	assert_true(gpu_code_is_newer(&from, &(struct jw_driver){12020, {0}}));
	assert_false(gpu_code_is_newer(&from, &none));
	assert_false(gpu_code_is_newer(&none, &from));
}

RUN_TESTS(NULL, NULL)
