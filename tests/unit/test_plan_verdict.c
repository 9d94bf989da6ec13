/* A container gets the first verdict that applies, and the entry is the one that the driver
 * chooses. */
#include "check.h"

#include <string.h>

#include "plan/verdict.h"

enum { MAX_ENTRIES = 6 };

/* One entry in short: 'c' cubin, 'p' PTX, 'r' PTX of kind 0x40, 'o' PTX with --compile-only, 'z'
 * PTX in zstd, 'Z' a cubin in zstd, 'n' a cubin of ABI 8, 'N' one in zstd, 'd' damaged PTX, 'D' a
 * damaged cubin, 'l' LTO-IR, 'x' Tile IR, 'y' a kind that is not ours. */
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
		entry.first_cuda = brief->target.sm < 100 ? 13000 : 12080;
		break;
	case 'N':
		entry.kind = DEVCODE_KIND_CUBIN;
		entry.first_cuda = 13000;
		entry.compression = DEVCODE_ZSTD;
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
	case 'x': entry.kind = DEVCODE_KIND_TILE; break;
	case 'y': entry.kind = 0x20; break;
	default: break;
	}
	return entry;
}

#define ENTRY(kind, sm, ...)                                                                       \
	{                                                                                              \
		kind, {sm, 0},                                                                             \
		{                                                                                          \
			__VA_ARGS__                                                                            \
		}                                                                                          \
	}
#define CODE(kind, sm)                        ENTRY(kind, sm, 0, 0)
#define ANSWER(verdict, reason, entry, needs) VERDICT_##verdict, REASON_##reason, entry, needs
#define NATIVE                                ANSWER(NATIVE, NONE, SIZE_MAX, 0)
#define COMPATIBLE                            ANSWER(COMPATIBLE, NONE, SIZE_MAX, 0)
#define TILED                                 ANSWER(TILE, NONE, SIZE_MAX, 0)
#define UNKNOWN                               ANSWER(UNKNOWN, NONE, SIZE_MAX, 0)
#define NOTHING                               ANSWER(NOTHING, NONE, SIZE_MAX, 0)
#define CANNOT(reason)                        ANSWER(CANNOT, reason, SIZE_MAX, 0)
#define NEEDS(cuda, reason)                   ANSWER(CANNOT, reason, SIZE_MAX, cuda)
#define JIT(entry)                            ANSWER(JIT, NONE, entry, 0)
#define LINK(entry)                           ANSWER(LINK, NONE, entry, 0)
/* without and with a section of relocatable code */
#define CASE(name, device, cuda, answer, ...)                                                      \
	{                                                                                              \
		name, {__VA_ARGS__}, device, cuda, false, answer                                           \
	}
#define IN_SECTION(name, device, cuda, answer, ...)                                                \
	{                                                                                              \
		name, {__VA_ARGS__}, device, cuda, true, answer                                            \
	}

static const struct {
	const char *name;
	struct brief entries[MAX_ENTRIES];
	uint16_t device;
	uint32_t cuda; /* the driver's CUDA version; 0: unknown */
	bool relocatable;
	enum plan_verdict verdict;
	enum plan_reason reason;
	size_t entry;
	uint32_t needs; /* the CUDA version of the first driver that is new enough */
} cases[] = {
	IN_SECTION("a compatible cubin is linked as it is", 86, 12040, COMPATIBLE, ENTRY('p', 75, 6, 4),
			   CODE('c', 80)),
	CASE("an exact cubin beats all", 86, 0, NATIVE, ENTRY('p', 75, 6, 4), CODE('c', 80),
		 CODE('c', 86)),
	CASE("a driver before CUDA 12.5 does not know kind 0x40", 86, 12040, NEEDS(12050, KIND),
		 ENTRY('r', 75, 8, 0)),
	CASE("and passes over it for other PTX", 86, 12040, JIT(0), ENTRY('p', 70, 8, 0),
		 ENTRY('r', 75, 8, 0)),
	CASE("but is lost where it were a cubin that runs", 86, 12040, NEEDS(12050, KIND),
		 ENTRY('p', 70, 8, 0), ENTRY('r', 80, 8, 0)),
	CASE("unless a cubin runs", 86, 11040, COMPATIBLE, ENTRY('r', 86, 8, 0), CODE('c', 80)),
	CASE("Tegra's code and newer code do no harm", 86, 12020, JIT(2), ENTRY('r', 87, 8, 0),
		 ENTRY('r', 89, 8, 0), ENTRY('p', 70, 6, 0)),
	CASE("where it is known, other PTX goes before it", 86, 12050, JIT(1), ENTRY('r', 86, 8, 0),
		 ENTRY('p', 52, 8, 0), ENTRY('r', 86, 8, 0)),
	CASE("but none that is for newer GPUs", 86, 12050, LINK(2), ENTRY('p', 90, 8, 0),
		 ENTRY('r', 70, 8, 0), ENTRY('r', 80, 8, 0)),
	CASE("a newer one links it", 86, 12050, LINK(0), ENTRY('r', 75, 8, 0)),
	CASE("a cubin that runs beats PTX", 86, 0, COMPATIBLE, CODE('c', 80), ENTRY('p', 86, 7, 1)),
	CASE("machine code of CUDA 13 goes before PTX, and is refused", 86, 12050,
		 NEEDS(13000, NEWER_CODE), CODE('n', 80), ENTRY('p', 86, 7, 1)),
	CASE("before older machine code, too", 86, 12090, NEEDS(13000, NEWER_CODE), CODE('c', 80),
		 CODE('n', 86)),
	CASE("unless other code fits better", 86, 12040, NATIVE, CODE('n', 80), CODE('c', 86)),
	CASE("or it is for other GPUs", 86, 12040, JIT(1), CODE('n', 75), ENTRY('p', 80, 7, 1)),
	CASE("of cubins for this very GPU the last, up to CUDA 12", 86, 12040, NATIVE, CODE('n', 86),
		 CODE('c', 86)),
	CASE("and the first of those for an older one", 86, 12040, NEEDS(13000, NEWER_CODE),
		 CODE('n', 80), CODE('c', 80)),
	CASE("CUDA 13 loads its own", 86, 13000, NATIVE, CODE('n', 86)),
	CASE("and for sm_100 and newer 12.8 does", 120, 12080, NATIVE, CODE('n', 120)),
	CASE("a driver that is not known loads everything", 86, 0, NATIVE, CODE('n', 86)),
	CASE("machine code in zstd and an old driver, PTX or not", 86, 12020, NEEDS(12040, ZSTD),
		 CODE('Z', 86), ENTRY('p', 80, 7, 1)),
	CASE("the newest PTX", 86, 0, JIT(2), ENTRY('p', 90, 8, 0), ENTRY('p', 35, 6, 0),
		 ENTRY('p', 70, 6, 0), ENTRY('p', 50, 6, 0)),
	CASE("among equals the first", 86, 0, JIT(1), ENTRY('p', 60, 6, 0), ENTRY('p', 70, 6, 0),
		 ENTRY('p', 70, 7, 0)),
	CASE("among equals for this very GPU the last", 86, 0, JIT(1), ENTRY('p', 86, 7, 1),
		 ENTRY('p', 86, 7, 1), ENTRY('p', 80, 7, 0)),
	CASE("no second try where the newest is too new for the driver", 86, 12020,
		 NEEDS(12040, TOO_NEW), ENTRY('p', 70, 6, 0), ENTRY('p', 80, 8, 4)),
	CASE("no second try where the newest is in zstd", 86, 12020, NEEDS(12040, ZSTD),
		 ENTRY('z', 80, 7, 8), ENTRY('p', 70, 6, 0)),
	CASE("past one for another capability alone", 120, 0, JIT(0), ENTRY('p', 80, 7, 0),
		 {'p', {90, 'a'}, {8, 3}}),
	IN_SECTION("relocatable by its section", 86, 0, LINK(0), ENTRY('p', 70, 6, 0)),
	CASE("relocatable by its kind", 86, 0, LINK(0), ENTRY('r', 70, 6, 0)),
	CASE("relocatable by its options", 86, 0, LINK(0), ENTRY('o', 70, 6, 0)),
	IN_SECTION("relocatable, but with machine code", 86, 0, NATIVE, ENTRY('r', 70, 6, 0),
			   CODE('c', 86)),
	CASE("for one capability alone", 120, 0, CANNOT(EXCLUSIVE), {'p', {90, 'a'}, {8, 3}}),
	CASE("for one capability alone, and this is it", 90, 0, JIT(0), {'p', {90, 'a'}, {8, 3}}),
	CASE("for a family", 121, 0, JIT(0), {'p', {120, 'f'}, {8, 8}}),
	CASE("newer than the driver", 86, 12020, NEEDS(12040, TOO_NEW), ENTRY('p', 80, 8, 4)),
	CASE("as new as the driver", 86, 12040, JIT(0), ENTRY('p', 80, 8, 4)),
	CASE("zstd and an old driver", 86, 12020, NEEDS(12040, ZSTD), ENTRY('z', 80, 7, 8)),
	CASE("zstd and an old driver, and what is in it is newer still", 86, 12020, NEEDS(13000, ZSTD),
		 CODE('N', 86)),
	CASE("zstd and PTX that is too new for it", 86, 11040, NEEDS(12040, TOO_NEW),
		 ENTRY('z', 80, 8, 0)),
	CASE("zstd and a new driver", 86, 12040, JIT(0), ENTRY('z', 80, 7, 8)),
	CASE("damaged", 86, 0, CANNOT(DAMAGED), ENTRY('d', 80, 7, 8)),
	CASE("PTX for a number that no GPU has", 86, 0, CANNOT(DAMAGED), ENTRY('p', 54, 6, 0)),
	CASE("which is passed over for other PTX", 86, 0, JIT(0), ENTRY('p', 52, 6, 0),
		 ENTRY('p', 81, 6, 0)),
	CASE("as machine code for such a number is", 86, 0, JIT(1), CODE('c', 84),
		 ENTRY('p', 52, 6, 0)),
	CASE("a number that is too large loses all", 86, 0, CANNOT(DAMAGED), CODE('c', 86),
		 ENTRY('p', 8244, 6, 0)),
	CASE("and so does none", 86, 0, CANNOT(DAMAGED), CODE('c', 86), ENTRY('p', 0, 6, 0)),
	CASE("from 256 on before 525", 86, 11040, CANNOT(DAMAGED), CODE('c', 86), CODE('x', 256)),
	CASE("from 1000 on since", 86, 12020, NATIVE, CODE('c', 86), CODE('x', 999)),
	CASE("of a kind that is not ours, too", 86, 12040, CANNOT(DAMAGED), CODE('c', 86),
		 CODE('x', 1000)),
	CASE("but not since 12.5", 86, 12050, NATIVE, CODE('c', 86), CODE('x', 1000)),
	CASE("but of machine code it is", 86, 12050, CANNOT(DAMAGED), CODE('c', 86), CODE('c', 1000)),
	CASE("and of what is linked", 86, 12050, CANNOT(DAMAGED), CODE('c', 86), CODE('l', 1000)),
	CASE("and of PTX", 86, 12050, CANNOT(DAMAGED), CODE('c', 86), ENTRY('p', 1000, 6, 0)),
	CASE("machine code alone, for a number that no GPU has", 86, 0, CANNOT(DAMAGED), CODE('c', 54)),
	CASE("which says nothing of Tile IR", 86, 0, NOTHING, CODE('x', 54)),
	CASE("of equal machine code the last, before CUDA 13", 86, 12090, NATIVE, CODE('D', 86),
		 CODE('c', 86)),
	CASE("the first since", 86, 13000, CANNOT(DAMAGED), CODE('D', 86), CODE('c', 86)),
	CASE("and where the driver is not known", 86, 0, CANNOT(DAMAGED), CODE('D', 86), CODE('c', 86)),
	CASE("newer code only", 86, 0, NOTHING, ENTRY('p', 90, 7, 8), CODE('c', 90)),
	CASE("newer code for a newer driver is no failure", 86, 12020, NOTHING,
		 {'p', {90, 'a'}, {8, 8}}),
	CASE("other cubins only", 86, 0, NOTHING, CODE('c', 75)),
	CASE("what is linked by the library itself", 86, 0, NOTHING, CODE('l', 86)),
	CASE("Tile IR", 90, 13000, TILED, CODE('x', 90)),
	CASE("of an older GPU", 120, 0, TILED, CODE('x', 90)),
	CASE("of a newer one", 86, 13000, NOTHING, CODE('x', 90)),
	CASE("a driver that does not know it", 90, 12050, NEEDS(13000, TILE), CODE('x', 90)),
	CASE("passes over it for PTX", 90, 12050, JIT(1), CODE('x', 90), ENTRY('p', 80, 7, 0)),
	CASE("and so does one before CUDA 12.5", 90, 12040, JIT(1), CODE('x', 75),
		 ENTRY('p', 80, 7, 0)),
	CASE("but not where it were a cubin that runs", 90, 12040, NEEDS(13000, TILE),
		 ENTRY('p', 80, 7, 0), CODE('x', 90)),
	CASE("which a cubin goes before", 90, 12040, NATIVE, CODE('x', 90), CODE('c', 90)),
	CASE("a kind that is not ours", 86, 0, UNKNOWN, CODE('y', 86)),
	CASE("which no driver knows that was tried", 86, 12050, CANNOT(KIND), CODE('y', 86)),
	CASE("and before CUDA 12.5 it spoils PTX", 86, 12020, CANNOT(KIND), ENTRY('p', 80, 7, 0),
		 CODE('y', 86)),
	CASE("not if it is for another GPU", 86, 12020, JIT(0), ENTRY('p', 80, 7, 0), CODE('y', 75)),
	CASE("Tile IR goes before it", 90, 0, TILED, CODE('y', 90), CODE('x', 90)),
	CASE("empty", 86, 0, NOTHING, {0}),
};

TEST(the_first_that_holds)
{
	static const uint8_t bytes[] = "-v --compile-only ";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct devcode_entry entries[MAX_ENTRIES];
		struct devcode_container container = {.bytes = bytes, .entries = entries};
		struct jw_target device = {cases[i].device, 0};
		const struct jw_driver driver = {cases[i].cuda, {0}};
		struct plan_judgement got;

		while (container.entry_count < MAX_ENTRIES &&
			   cases[i].entries[container.entry_count].kind) {
			entries[container.entry_count] = entry_of(&cases[i].entries[container.entry_count]);
			container.entry_count++;
		}
		got = plan_judge(&container, NULL, cases[i].relocatable, device, &driver);
		if (got.verdict != cases[i].verdict || got.reason != cases[i].reason ||
			got.entry != cases[i].entry)
			fail_msg("%s: %d %d %zu", cases[i].name, (int)got.verdict, (int)got.reason, got.entry);
		if (got.tile != (got.verdict == VERDICT_TILE))
			fail_msg("%s: Tile IR", cases[i].name);
		if (got.needs.cuda != cases[i].needs)
			fail_msg("%s: needs %u", cases[i].name, (unsigned)got.needs.cuda);
	}
}

/* Nobody has observed which of them a driver takes. */
TEST(tile_ir_beside_ptx_is_told)
{
	const struct devcode_entry entries[] = {
		{.kind = DEVCODE_KIND_PTX, .target = {80, 0}, .isa_major = 8},
		{.kind = DEVCODE_KIND_TILE, .target = {90, 0}},
	};
	const struct devcode_container container = {.entries = entries, .entry_count = 2};
	const struct plan_judgement got = plan_judge(&container, NULL, false, (struct jw_target){90, 0},
												 &(struct jw_driver){13000, {580, 0, 0}});

	assert_int_equal(got.verdict, VERDICT_JIT);
	assert_true(got.tile);
}

/* The header says 9.0, so the driver chooses it; the text says 9.0a, so other GPUs cannot compile
 * it, even beside a usable older entry. */
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

/* An image without a readable text, or one that was read before, stays unchanged. */
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
		plan_read_text(&container, &entry, &text);
		assert_int_equal(entry.damaged, reads[i].damaged);
		assert_int_equal(text.sm, reads[i].known);
		assert_int_equal(entry.isa_major, reads[i].entry.isa_major);
	}
}

RUN_TESTS(NULL, NULL)
