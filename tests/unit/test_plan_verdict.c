/* The verdict on a container, and the entry that the driver takes. */
#include "check.h"

#include <string.h>

#include "plan/verdict.h"

enum { MOST_ENTRIES = 6 };

/* One entry in short: 'c' cubin, 'p' PTX, 'r' PTX of kind 0x40, 'o' PTX with --compile-only, 'z'
 * PTX in zstd, 'd' damaged PTX, 'x' a kind that is not ours. */
struct brief {
	char kind;
	struct jw_target target;
	uint16_t isa_major, isa_minor;
};

static struct devcode_entry entry_of(const struct brief *brief)
{
	struct devcode_entry entry = {.kind = DEVCODE_KIND_PTX,
								  .target = brief->target,
								  .isa_major = brief->isa_major,
								  .isa_minor = brief->isa_minor};

	switch (brief->kind) {
	case 'c': entry.kind = DEVCODE_KIND_CUBIN; break;
	case 'r': entry.kind = DEVCODE_KIND_RELOCATABLE_PTX; break;
	case 'o': entry.options_length = 17; break;
	case 'z': entry.compression = DEVCODE_ZSTD; break;
	case 'd': entry.damaged = true; break;
	case 'x': entry.kind = 0x80; break;
	default: break;
	}
	return entry;
}

#define CUDA(version)                                                                              \
	{                                                                                              \
		(version),                                                                                 \
		{                                                                                          \
			0, 0, 0                                                                                \
		}                                                                                          \
	}

static const struct {
	const char *name;
	struct brief entries[MOST_ENTRIES];
	uint16_t device;
	struct jw_driver driver;
	bool relocatable;
	enum plan_verdict verdict;
	enum plan_reason reason;
	size_t entry;
} cases[] = {
	{"an exact cubin beats all",
	 {{'p', {75, 0}, 6, 4}, {'c', {80, 0}, 0, 0}, {'c', {86, 0}, 0, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_NATIVE,
	 REASON_NONE,
	 SIZE_MAX},
	{"a driver before CUDA 12.5 does not know kind 0x40",
	 {{'r', {75, 0}, 8, 0}},
	 86,
	 CUDA(12040),
	 false,
	 VERDICT_CANNOT,
	 REASON_TOO_NEW,
	 SIZE_MAX},
	{"and passes over it for other PTX",
	 {{'p', {70, 0}, 8, 0}, {'r', {75, 0}, 8, 0}},
	 86,
	 CUDA(12040),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 0},
	{"but is lost where it were a cubin that runs",
	 {{'p', {70, 0}, 8, 0}, {'r', {80, 0}, 8, 0}},
	 86,
	 CUDA(12040),
	 false,
	 VERDICT_CANNOT,
	 REASON_TOO_NEW,
	 SIZE_MAX},
	{"unless a cubin runs",
	 {{'r', {86, 0}, 8, 0}, {'c', {80, 0}, 0, 0}},
	 86,
	 CUDA(11040),
	 false,
	 VERDICT_COMPATIBLE,
	 REASON_NONE,
	 SIZE_MAX},
	{"Tegra's code and newer code do no harm",
	 {{'r', {87, 0}, 8, 0}, {'r', {89, 0}, 8, 0}, {'p', {70, 0}, 6, 0}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 2},
	{"where it is known, other PTX goes before it",
	 {{'r', {86, 0}, 8, 0}, {'p', {52, 0}, 8, 0}, {'r', {86, 0}, 8, 0}},
	 86,
	 CUDA(12050),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 1},
	{"but none that is for newer GPUs",
	 {{'p', {90, 0}, 8, 0}, {'r', {70, 0}, 8, 0}, {'r', {80, 0}, 8, 0}},
	 86,
	 CUDA(12050),
	 false,
	 VERDICT_LINK,
	 REASON_NONE,
	 2},
	{"a newer one links it",
	 {{'r', {75, 0}, 8, 0}},
	 86,
	 CUDA(12050),
	 false,
	 VERDICT_LINK,
	 REASON_NONE,
	 0},
	{"a cubin that runs beats PTX",
	 {{'c', {80, 0}, 0, 0}, {'p', {86, 0}, 7, 1}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_COMPATIBLE,
	 REASON_NONE,
	 SIZE_MAX},
	{"the newest PTX",
	 {{'p', {90, 0}, 8, 0}, {'p', {35, 0}, 6, 0}, {'p', {70, 0}, 6, 0}, {'p', {50, 0}, 6, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 2},
	{"among equals the first",
	 {{'p', {60, 0}, 6, 0}, {'p', {70, 0}, 6, 0}, {'p', {70, 0}, 7, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 1},
	{"among equals for this very GPU the last",
	 {{'p', {86, 0}, 7, 1}, {'p', {86, 0}, 7, 1}, {'p', {80, 0}, 7, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 1},
	{"no second try where the newest is too new for the driver",
	 {{'p', {70, 0}, 6, 0}, {'p', {80, 0}, 8, 4}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_CANNOT,
	 REASON_TOO_NEW,
	 SIZE_MAX},
	{"no second try where the newest is in zstd",
	 {{'z', {80, 0}, 7, 8}, {'p', {70, 0}, 6, 0}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_CANNOT,
	 REASON_ZSTD,
	 SIZE_MAX},
	{"past one for another capability alone",
	 {{'p', {80, 0}, 7, 0}, {'p', {90, 'a'}, 8, 3}},
	 120,
	 CUDA(0),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 0},
	{"relocatable by its section",
	 {{'p', {70, 0}, 6, 0}},
	 86,
	 CUDA(0),
	 true,
	 VERDICT_LINK,
	 REASON_NONE,
	 0},
	{"relocatable by its kind",
	 {{'r', {70, 0}, 6, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_LINK,
	 REASON_NONE,
	 0},
	{"relocatable by its options",
	 {{'o', {70, 0}, 6, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_LINK,
	 REASON_NONE,
	 0},
	{"relocatable, but with machine code",
	 {{'r', {70, 0}, 6, 0}, {'c', {86, 0}, 0, 0}},
	 86,
	 CUDA(0),
	 true,
	 VERDICT_NATIVE,
	 REASON_NONE,
	 SIZE_MAX},
	{"for one capability alone",
	 {{'p', {90, 'a'}, 8, 3}},
	 120,
	 CUDA(0),
	 false,
	 VERDICT_CANNOT,
	 REASON_EXCLUSIVE,
	 SIZE_MAX},
	{"for one capability alone, and this is it",
	 {{'p', {90, 'a'}, 8, 3}},
	 90,
	 CUDA(0),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 0},
	{"for a family", {{'p', {120, 'f'}, 8, 8}}, 121, CUDA(0), false, VERDICT_JIT, REASON_NONE, 0},
	{"newer than the driver",
	 {{'p', {80, 0}, 8, 4}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_CANNOT,
	 REASON_TOO_NEW,
	 SIZE_MAX},
	{"as new as the driver",
	 {{'p', {80, 0}, 8, 4}},
	 86,
	 CUDA(12040),
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 0},
	{"zstd and an old driver",
	 {{'z', {80, 0}, 7, 8}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_CANNOT,
	 REASON_ZSTD,
	 SIZE_MAX},
	{"zstd and a new driver",
	 {{'z', {80, 0}, 7, 8}},
	 86,
	 {12040, {550, 54, 14}},
	 false,
	 VERDICT_JIT,
	 REASON_NONE,
	 0},
	{"damaged",
	 {{'d', {80, 0}, 7, 8}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_CANNOT,
	 REASON_DAMAGED,
	 SIZE_MAX},
	{"newer code only",
	 {{'p', {90, 0}, 7, 8}, {'c', {90, 0}, 0, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_NOTHING,
	 REASON_NONE,
	 SIZE_MAX},
	{"newer code for a newer driver is no failure",
	 {{'p', {90, 'a'}, 8, 8}},
	 86,
	 CUDA(12020),
	 false,
	 VERDICT_NOTHING,
	 REASON_NONE,
	 SIZE_MAX},
	{"other cubins only",
	 {{'c', {75, 0}, 0, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_NOTHING,
	 REASON_NONE,
	 SIZE_MAX},
	{"kinds that are not ours",
	 {{'x', {86, 0}, 0, 0}},
	 86,
	 CUDA(0),
	 false,
	 VERDICT_NOTHING,
	 REASON_NONE,
	 SIZE_MAX},
	{"empty", {{0, {0, 0}, 0, 0}}, 86, CUDA(0), false, VERDICT_NOTHING, REASON_NONE, SIZE_MAX},
};

static void the_first_that_holds(void **state)
{
	static const uint8_t bytes[] = "-v --compile-only ";

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct devcode_entry entries[MOST_ENTRIES];
		struct devcode_container container = {.bytes = bytes, .entries = entries};
		struct jw_target device = {cases[i].device, 0};
		struct plan_judgement got;

		while (container.entry_count < MOST_ENTRIES &&
			   cases[i].entries[container.entry_count].kind) {
			entries[container.entry_count] = entry_of(&cases[i].entries[container.entry_count]);
			container.entry_count++;
		}
		got = plan_judge(&container, NULL, cases[i].relocatable, device, &cases[i].driver);
		if (got.verdict != cases[i].verdict || got.reason != cases[i].reason ||
			got.entry != cases[i].entry)
			fail_msg("%s: %s %s %zu", cases[i].name, plan_verdict_name(got.verdict),
					 plan_reason_name(got.reason), got.entry);
	}
}

/* The header says 9.0, and so the driver takes it; the text says 9.0a, and so no other GPU can
 * compile it, however usable the older one beside it is. */
static void the_header_chooses_and_the_text_is_compiled(void **state)
{
	const struct devcode_entry entries[] = {
		{.kind = DEVCODE_KIND_PTX, .target = {80, 0}, .isa_major = 8},
		{.kind = DEVCODE_KIND_PTX, .target = {90, 0}, .isa_major = 8},
	};
	const struct devcode_container container = {.entries = entries, .entry_count = 2};
	const struct jw_target texts[] = {{80, 0}, {90, 'a'}}, unread[] = {{0, 0}, {0, 0}};
	const struct jw_driver driver = {0};
	struct plan_judgement got =
		plan_judge(&container, texts, false, (struct jw_target){120, 0}, &driver);

	(void)state;
	assert_int_equal(got.verdict, VERDICT_CANNOT);
	assert_int_equal(got.reason, REASON_EXCLUSIVE);
	got = plan_judge(&container, texts, false, (struct jw_target){90, 0}, &driver);
	assert_int_equal(got.verdict, VERDICT_JIT);
	assert_int_equal(got.entry, 1);
	got = plan_judge(&container, texts, false, (struct jw_target){89, 0}, &driver);
	assert_int_equal(got.verdict, VERDICT_JIT);
	assert_int_equal(got.entry, 0);
	got = plan_judge(&container, unread, false, (struct jw_target){120, 0}, &driver);
	assert_int_equal(got.verdict, VERDICT_JIT);
	assert_int_equal(got.entry, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_chooses_and_the_text_is_compiled),
		cmocka_unit_test(the_first_that_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
