/* The verdict on a container, and the entry that the driver takes. */
#include "check.h"

#include <string.h>

#include "plan/verdict.h"

enum { MOST_ENTRIES = 6 };

/* One entry in short: 'c' cubin, 'p' PTX, 'r' PTX of kind 0x40, 'o' PTX with --compile-only, 'z'
 * PTX in zstd, 'Z' a cubin in zstd, 'n' a cubin of ABI 8, 'd' damaged PTX, 'D' a damaged cubin, 'l'
 * LTO-IR, 'x' a kind that is not ours. */
struct brief {
	char kind;
	struct jw_target target;
	uint16_t isa[2];
};

static struct devcode_entry entry_of(const struct brief *brief)
{
	struct devcode_entry entry = {.kind = DEVCODE_KIND_PTX,
								  .target = brief->target,
								  .isa_major = brief->isa[0],
								  .isa_minor = brief->isa[1]};

	switch (brief->kind) {
	case 'c': entry.kind = DEVCODE_KIND_CUBIN; break;
	case 'n':
		entry.kind = DEVCODE_KIND_CUBIN;
		entry.isa_minor = 8;
		break;
	case 'Z':
		entry.kind = DEVCODE_KIND_CUBIN;
		entry.compression = DEVCODE_ZSTD;
		break;
	case 'r': entry.kind = DEVCODE_KIND_RELOCATABLE_PTX; break;
	case 'o': entry.options_length = 17; break;
	case 'z': entry.compression = DEVCODE_ZSTD; break;
	case 'd': entry.damaged = true; break;
	case 'D':
		entry.kind = DEVCODE_KIND_CUBIN;
		entry.damaged = true;
		break;
	case 'l': entry.kind = DEVCODE_KIND_LTOIR; break;
	case 'x': entry.kind = 0x80; break;
	default: break;
	}
	return entry;
}

static const struct {
	const char *name;
	struct brief entries[MOST_ENTRIES];
	uint16_t device;
	struct jw_driver driver;
	bool relocatable;
	enum plan_verdict verdict;
	enum plan_reason reason;
	size_t entry; /* of VERDICT_JIT and VERDICT_LINK; others name none */
} cases[] = {
	{.name = "a compatible cubin is linked as it is",
	 .entries = {{.kind = 'p', .target = {75}, .isa = {6, 4}}, {.kind = 'c', .target = {80}}},
	 .device = 86,
	 .driver = {12040, {0}},
	 .relocatable = true,
	 .verdict = VERDICT_COMPATIBLE},
	{.name = "an exact cubin beats all",
	 .entries = {{.kind = 'p', .target = {75}, .isa = {6, 4}},
				 {.kind = 'c', .target = {80}},
				 {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .verdict = VERDICT_NATIVE},
	{.name = "a driver before CUDA 12.5 does not know kind 0x40",
	 .entries = {{.kind = 'r', .target = {75}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_TOO_NEW},
	{.name = "and passes over it for other PTX",
	 .entries = {{.kind = 'p', .target = {70}, .isa = {8, 0}},
				 {.kind = 'r', .target = {75}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "but is lost where it were a cubin that runs",
	 .entries = {{.kind = 'p', .target = {70}, .isa = {8, 0}},
				 {.kind = 'r', .target = {80}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_TOO_NEW},
	{.name = "unless a cubin runs",
	 .entries = {{.kind = 'r', .target = {86}, .isa = {8, 0}}, {.kind = 'c', .target = {80}}},
	 .device = 86,
	 .driver = {11040},
	 .verdict = VERDICT_COMPATIBLE},
	{.name = "Tegra's code and newer code do no harm",
	 .entries = {{.kind = 'r', .target = {87}, .isa = {8, 0}},
				 {.kind = 'r', .target = {89}, .isa = {8, 0}},
				 {.kind = 'p', .target = {70}, .isa = {6, 0}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_JIT,
	 .entry = 2},
	{.name = "where it is known, other PTX goes before it",
	 .entries = {{.kind = 'r', .target = {86}, .isa = {8, 0}},
				 {.kind = 'p', .target = {52}, .isa = {8, 0}},
				 {.kind = 'r', .target = {86}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_JIT,
	 .entry = 1},
	{.name = "but none that is for newer GPUs",
	 .entries = {{.kind = 'p', .target = {90}, .isa = {8, 0}},
				 {.kind = 'r', .target = {70}, .isa = {8, 0}},
				 {.kind = 'r', .target = {80}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_LINK,
	 .entry = 2},
	{.name = "a newer one links it",
	 .entries = {{.kind = 'r', .target = {75}, .isa = {8, 0}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_LINK,
	 .entry = 0},
	{.name = "a cubin that runs beats PTX",
	 .entries = {{.kind = 'c', .target = {80}}, {.kind = 'p', .target = {86}, .isa = {7, 1}}},
	 .device = 86,
	 .verdict = VERDICT_COMPATIBLE},
	{.name = "machine code of CUDA 13 goes before PTX, and is refused",
	 .entries = {{.kind = 'n', .target = {80}}, {.kind = 'p', .target = {86}, .isa = {7, 1}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_NEWER_CODE},
	{.name = "before older machine code, too",
	 .entries = {{.kind = 'c', .target = {80}}, {.kind = 'n', .target = {86}}},
	 .device = 86,
	 .driver = {12090},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_NEWER_CODE},
	{.name = "unless other code fits better",
	 .entries = {{.kind = 'n', .target = {80}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_NATIVE},
	{.name = "or it is for other GPUs",
	 .entries = {{.kind = 'n', .target = {75}}, {.kind = 'p', .target = {80}, .isa = {7, 1}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_JIT,
	 .entry = 1},
	{.name = "of cubins for this very GPU the last, up to CUDA 12",
	 .entries = {{.kind = 'n', .target = {86}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_NATIVE},
	{.name = "and the first of those for an older one",
	 .entries = {{.kind = 'n', .target = {80}}, {.kind = 'c', .target = {80}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_NEWER_CODE},
	{.name = "CUDA 13 loads its own",
	 .entries = {{.kind = 'n', .target = {86}}},
	 .device = 86,
	 .driver = {13000},
	 .verdict = VERDICT_NATIVE},
	{.name = "and for sm_100 and newer 12.8 does",
	 .entries = {{.kind = 'n', .target = {120}}},
	 .device = 120,
	 .driver = {12080},
	 .verdict = VERDICT_NATIVE},
	{.name = "a driver that is not known loads everything",
	 .entries = {{.kind = 'n', .target = {86}}},
	 .device = 86,
	 .verdict = VERDICT_NATIVE},
	{.name = "machine code in zstd and an old driver, PTX or not",
	 .entries = {{.kind = 'Z', .target = {86}}, {.kind = 'p', .target = {80}, .isa = {7, 1}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_ZSTD},
	{.name = "the newest PTX",
	 .entries = {{.kind = 'p', .target = {90}, .isa = {8, 0}},
				 {.kind = 'p', .target = {35}, .isa = {6, 0}},
				 {.kind = 'p', .target = {70}, .isa = {6, 0}},
				 {.kind = 'p', .target = {50}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_JIT,
	 .entry = 2},
	{.name = "among equals the first",
	 .entries = {{.kind = 'p', .target = {60}, .isa = {6, 0}},
				 {.kind = 'p', .target = {70}, .isa = {6, 0}},
				 {.kind = 'p', .target = {70}, .isa = {7, 0}}},
	 .device = 86,
	 .verdict = VERDICT_JIT,
	 .entry = 1},
	{.name = "among equals for this very GPU the last",
	 .entries = {{.kind = 'p', .target = {86}, .isa = {7, 1}},
				 {.kind = 'p', .target = {86}, .isa = {7, 1}},
				 {.kind = 'p', .target = {80}, .isa = {7, 0}}},
	 .device = 86,
	 .verdict = VERDICT_JIT,
	 .entry = 1},
	{.name = "no second try where the newest is too new for the driver",
	 .entries = {{.kind = 'p', .target = {70}, .isa = {6, 0}},
				 {.kind = 'p', .target = {80}, .isa = {8, 4}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_TOO_NEW},
	{.name = "no second try where the newest is in zstd",
	 .entries = {{.kind = 'z', .target = {80}, .isa = {7, 8}},
				 {.kind = 'p', .target = {70}, .isa = {6, 0}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_ZSTD},
	{.name = "past one for another capability alone",
	 .entries = {{.kind = 'p', .target = {80}, .isa = {7, 0}},
				 {.kind = 'p', .target = {90, 'a'}, .isa = {8, 3}}},
	 .device = 120,
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "relocatable by its section",
	 .entries = {{.kind = 'p', .target = {70}, .isa = {6, 0}}},
	 .device = 86,
	 .relocatable = true,
	 .verdict = VERDICT_LINK,
	 .entry = 0},
	{.name = "relocatable by its kind",
	 .entries = {{.kind = 'r', .target = {70}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_LINK,
	 .entry = 0},
	{.name = "relocatable by its options",
	 .entries = {{.kind = 'o', .target = {70}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_LINK,
	 .entry = 0},
	{.name = "relocatable, but with machine code",
	 .entries = {{.kind = 'r', .target = {70}, .isa = {6, 0}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .relocatable = true,
	 .verdict = VERDICT_NATIVE},
	{.name = "for one capability alone",
	 .entries = {{.kind = 'p', .target = {90, 'a'}, .isa = {8, 3}}},
	 .device = 120,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_EXCLUSIVE},
	{.name = "for one capability alone, and this is it",
	 .entries = {{.kind = 'p', .target = {90, 'a'}, .isa = {8, 3}}},
	 .device = 90,
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "for a family",
	 .entries = {{.kind = 'p', .target = {120, 'f'}, .isa = {8, 8}}},
	 .device = 121,
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "newer than the driver",
	 .entries = {{.kind = 'p', .target = {80}, .isa = {8, 4}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_TOO_NEW},
	{.name = "as new as the driver",
	 .entries = {{.kind = 'p', .target = {80}, .isa = {8, 4}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "zstd and an old driver",
	 .entries = {{.kind = 'z', .target = {80}, .isa = {7, 8}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_ZSTD},
	{.name = "zstd and a new driver",
	 .entries = {{.kind = 'z', .target = {80}, .isa = {7, 8}}},
	 .device = 86,
	 .driver = {12040, {550, 54, 14}},
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "damaged",
	 .entries = {{.kind = 'd', .target = {80}, .isa = {7, 8}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "PTX for a number that no GPU has",
	 .entries = {{.kind = 'p', .target = {54}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "which is passed over for other PTX",
	 .entries = {{.kind = 'p', .target = {52}, .isa = {6, 0}},
				 {.kind = 'p', .target = {81}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_JIT,
	 .entry = 0},
	{.name = "as machine code for such a number is",
	 .entries = {{.kind = 'c', .target = {84}}, {.kind = 'p', .target = {52}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_JIT,
	 .entry = 1},
	{.name = "a number that is too large loses all",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'p', .target = {8244}, .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "and so does none",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'p', .isa = {6, 0}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "from 256 on before 525",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'x', .target = {256}}},
	 .device = 86,
	 .driver = {11040},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "from 1000 on since",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'x', .target = {999}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_NATIVE},
	{.name = "of a kind that is not ours, too",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'x', .target = {1000}}},
	 .device = 86,
	 .driver = {12040},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "but not since 12.5",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'x', .target = {1000}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_NATIVE},
	{.name = "but of machine code it is",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'c', .target = {1000}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "and of what is linked",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'l', .target = {1000}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "and of PTX",
	 .entries = {{.kind = 'c', .target = {86}}, {.kind = 'p', .target = {1000}, .isa = {6, 0}}},
	 .device = 86,
	 .driver = {12050},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "machine code alone, for a number that no GPU has",
	 .entries = {{.kind = 'c', .target = {54}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "which says nothing of a kind that is not ours",
	 .entries = {{.kind = 'x', .target = {54}}},
	 .device = 86,
	 .verdict = VERDICT_NOTHING},
	{.name = "of equal machine code the last, before CUDA 13",
	 .entries = {{.kind = 'D', .target = {86}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .driver = {12090},
	 .verdict = VERDICT_NATIVE},
	{.name = "the first since",
	 .entries = {{.kind = 'D', .target = {86}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .driver = {13000},
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "and where the driver is not known",
	 .entries = {{.kind = 'D', .target = {86}}, {.kind = 'c', .target = {86}}},
	 .device = 86,
	 .verdict = VERDICT_CANNOT,
	 .reason = REASON_DAMAGED},
	{.name = "newer code only",
	 .entries = {{.kind = 'p', .target = {90}, .isa = {7, 8}}, {.kind = 'c', .target = {90}}},
	 .device = 86,
	 .verdict = VERDICT_NOTHING},
	{.name = "newer code for a newer driver is no failure",
	 .entries = {{.kind = 'p', .target = {90, 'a'}, .isa = {8, 8}}},
	 .device = 86,
	 .driver = {12020},
	 .verdict = VERDICT_NOTHING},
	{.name = "other cubins only",
	 .entries = {{.kind = 'c', .target = {75}}},
	 .device = 86,
	 .verdict = VERDICT_NOTHING},
	{.name = "kinds that are not ours",
	 .entries = {{.kind = 'x', .target = {86}}},
	 .device = 86,
	 .verdict = VERDICT_NOTHING},
	{.name = "empty", .device = 86, .verdict = VERDICT_NOTHING},
};

TEST(the_first_that_holds)
{
	static const uint8_t bytes[] = "-v --compile-only ";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct devcode_entry entries[MOST_ENTRIES];
		struct devcode_container container = {.bytes = bytes, .entries = entries};
		struct jw_target device = {cases[i].device, 0};
		const bool takes = cases[i].verdict == VERDICT_JIT || cases[i].verdict == VERDICT_LINK;
		struct plan_judgement got;

		while (container.entry_count < MOST_ENTRIES &&
			   cases[i].entries[container.entry_count].kind) {
			entries[container.entry_count] = entry_of(&cases[i].entries[container.entry_count]);
			container.entry_count++;
		}
		got = plan_judge(&container, NULL, cases[i].relocatable, device, &cases[i].driver);
		if (got.verdict != cases[i].verdict || got.reason != cases[i].reason ||
			got.entry != (takes ? cases[i].entry : SIZE_MAX))
			fail_msg("%s: %d %d %zu", cases[i].name, (int)got.verdict, (int)got.reason, got.entry);
		/* The ISA that is too new, and no other */
		if (got.isa.major && (got.reason != REASON_TOO_NEW ||
							  gpu_isa_compare(got.isa, gpu_driver_isa(&cases[i].driver)) <= 0))
			fail_msg("%s: ISA %u", cases[i].name, (unsigned)got.isa.major);
		if (!got.isa.major && got.reason == REASON_TOO_NEW && cases[i].entries[0].kind == 'p' &&
			container.entry_count == 1)
			fail_msg("%s: no ISA", cases[i].name);
	}
}

/* The header says 9.0, and so the driver chooses it; the text says 9.0a, and so other GPUs cannot
 * compile it, even beside a usable older one. */
TEST(the_header_chooses_and_the_text_is_compiled)
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

/* What has no text that could be read, or was read before, stays as it is. */
TEST(only_ptx_is_read_and_once)
{
	static const uint8_t bytes[64] = "no PTX";
	static const struct {
		struct devcode_entry entry;
		uint16_t known;
		bool damaged;
	} reads[] = {
		{{.kind = DEVCODE_KIND_CUBIN}, 0, false},
		{{.kind = DEVCODE_KIND_CUBIN, .damaged = true}, 0, true},
		{{.kind = DEVCODE_KIND_PTX, .compression = DEVCODE_FOREIGN}, 0, false},
		{{.kind = DEVCODE_KIND_PTX, .isa_major = 7}, 90, false},
		{{.kind = DEVCODE_KIND_PTX, .isa_major = 7}, 0, true},
		{{.kind = DEVCODE_KIND_RELOCATABLE_PTX}, 0, true},
	};

	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
		const struct devcode_container container = {.bytes = bytes, .size_bytes = sizeof bytes};
		struct devcode_entry entry = reads[i].entry;
		struct jw_target text = {reads[i].known, 0};

		entry.stored_bytes = entry.size_bytes = 16;
		assert_int_equal(plan_read_text(NULL, &container, &entry, &text), 0);
		assert_int_equal(entry.damaged, reads[i].damaged);
		assert_int_equal(text.sm, reads[i].known);
		assert_int_equal(entry.isa_major, reads[i].entry.isa_major);
	}
}

RUN_TESTS(NULL, NULL)
