/* The verdict on a container, computed a second time as docs/internals/compat.md and the
 * conformance tests put it, without code of src, for small containers, GPUs and drivers: each pair
 * of entries, and triples by a seed. */
#include "check.h"

#include "plan/verdict.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum kind {
	CUBIN,
	CUBIN_ZSTD,
	CUBIN_OF_13,
	CUBIN_DAMAGED,
	PTX,
	PTX_ZSTD,
	PTX_DAMAGED,
	PTX_40,
	LTO,
	TILE,
	OTHER,
	KINDS
};
static const unsigned isas[] = {70, 84, 90};

/* An entry and its facts in plain numbers. */
struct piece {
	enum kind kind;
	unsigned sm, isa, text; /* `text`: 0, or the target in the PTX, with text_suffix */
	char suffix, text_suffix;
};
/* `cuda` 0: the driver is unknown */
static const struct {
	struct jw_driver version;
	unsigned isa;       /* the newest ISA that it compiles, times ten */
	bool zstd, knows;   /* reads zstd; knows PTX of kind 0x40 */
	unsigned too_large; /* the first architecture that makes the container invalid */
	bool of_all;        /* in an entry of any kind */
} drivers[] = {
	{{11020, {460, 106, 0}}, 72, false, false, 256, true},
	{{11040, {0}}, 74, false, false, 256, true},
	{{12000, {525, 60, 13}}, 80, false, false, 1000, true},
	{{12020, {535, 309, 1}}, 82, false, false, 1000, true},
	{{12040, {550, 40, 7}}, 84, false, false, 1000, true},
	{{12040, {550, 54, 14}}, 84, true, false, 1000, true},
	{{12050, {555, 42, 2}}, 85, true, true, 1000, false},
	{{12060, {0}}, 85, true, true, 1000, false},
	{{13000, {580, 159, 4}}, 90, true, true, 1000, false},
	{{0, {0}}, 999, true, true, 1000, false},
};
static const struct {
	unsigned sm;
	bool tegra;
} gpus[] = {{61, false}, {75, false},  {86, false}, {87, true},
			{90, false}, {103, false}, {121, false}};

static bool is_ptx(enum kind kind)
{
	return kind == PTX || kind == PTX_ZSTD || kind == PTX_DAMAGED || kind == PTX_40;
}

static bool is_cubin(enum kind kind)
{
	return kind == CUBIN || kind == CUBIN_ZSTD || kind == CUBIN_OF_13 || kind == CUBIN_DAMAGED;
}

static bool exists(unsigned sm)
{
	static const unsigned known[] = {52, 75, 80, 86, 87, 90};

	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i] == sm)
			return true;
	return sm >= 100 && sm < 200;
}

/* data center Blackwell, and the desktop's */
static bool in_family(unsigned code, unsigned gpu)
{
	return code == gpu || (code == 100 && gpu == 103) || (code == 120 && gpu == 121);
}

static bool cubin_runs(unsigned sm, char suffix, size_t gpu)
{
	const unsigned device = gpus[gpu].sm;

	if (sm == device)
		return true;
	if (suffix)
		return suffix == 'f' && in_family(sm, device);
	return !gpus[gpu].tegra && sm != 87 && sm / 10 == device / 10 && sm < device && exists(sm);
}

static bool ptx_runs(unsigned sm, char suffix, unsigned device)
{
	return exists(sm) && (suffix == 'a'   ? sm == device
						  : suffix == 'f' ? in_family(sm, device)
										  : sm <= device);
}

/* Says whether the driver is known to know the kind. */
static bool knows(enum kind kind, size_t driver)
{
	const uint32_t cuda = drivers[driver].version.cuda;

	return kind == PTX_40  ? drivers[driver].knows
		   : kind == TILE  ? !cuda || cuda >= 13000
		   : kind == OTHER ? !cuda || cuda >= 12060
						   : true;
}

/* Returns the newest entry; of several with that number the first, or the last if it is the GPU's
 * own. */
static int newest(const struct piece *pieces, int count, bool (*is)(enum kind), enum kind but,
				  size_t gpu, size_t driver)
{
	int best = -1;

	for (int i = 0; i < count; i++) {
		const struct piece *piece = &pieces[i];
		const bool runs = is_cubin(piece->kind) ? cubin_runs(piece->sm, piece->suffix, gpu)
												: ptx_runs(piece->sm, piece->suffix, gpus[gpu].sm);
		const uint32_t cuda = drivers[driver].version.cuda;
		const bool last =
			piece->sm == gpus[gpu].sm && (!is_cubin(piece->kind) || (cuda && cuda < 13000));

		if (is(piece->kind) && piece->kind != but && runs &&
			(best < 0 || piece->sm > pieces[best].sm || last))
			best = i;
	}
	return best;
}

static bool is_40(enum kind kind)
{
	return kind == PTX_40;
}

static struct plan_judgement refused(enum kind kind)
{
	return (struct plan_judgement){.verdict = VERDICT_CANNOT,
								   .reason = kind == TILE ? REASON_TILE : REASON_KIND,
								   .needs.cuda = kind == TILE     ? 13000
												 : kind == PTX_40 ? 12050
																  : 0};
}

static struct plan_judgement cannot(enum plan_reason reason, unsigned cuda)
{
	return (struct plan_judgement){.verdict = VERDICT_CANNOT, .reason = reason, .needs.cuda = cuda};
}

/* The first PTX ISA, times ten, that knows a target. */
static unsigned first_isa(unsigned sm, char suffix)
{
	return sm == 75    ? 63
		   : sm == 86  ? 71
		   : sm == 87  ? 74
		   : sm == 90  ? (suffix == 'a' ? 80 : 78)
		   : sm == 100 ? 88
		   : sm == 120 ? 87
					   : 70;
}

static struct plan_judgement plain_judge(const struct piece *pieces, int count, bool section,
										 size_t gpu, size_t driver)
{
	const unsigned device = gpus[gpu].sm;
	int chosen = newest(pieces, count, is_cubin, KINDS, gpu, driver), unreadable = -1;
	bool exclusive = false, other = false, tile = false;

	for (int i = 0; i < count; i++) {
		const bool counts = drivers[driver].of_all || is_cubin(pieces[i].kind) ||
							pieces[i].kind == LTO ||
							(is_ptx(pieces[i].kind) && pieces[i].kind != PTX_40);

		if (counts && pieces[i].sm >= drivers[driver].too_large)
			return cannot(REASON_DAMAGED, 0);
		tile = tile || (pieces[i].kind == TILE && knows(TILE, driver) &&
						ptx_runs(pieces[i].sm, pieces[i].suffix, device));
	}
	if (chosen >= 0) {
		const struct piece *piece = &pieces[chosen];
		const unsigned own = piece->kind == CUBIN_OF_13 ? 13000 : 0;

		if (piece->kind == CUBIN_ZSTD && !drivers[driver].zstd)
			return cannot(REASON_ZSTD, 12040);
		if (piece->kind == CUBIN_DAMAGED)
			return cannot(REASON_DAMAGED, 0);
		if (own && drivers[driver].version.cuda && own > drivers[driver].version.cuda)
			return cannot(REASON_NEWER_CODE, own);
		return (struct plan_judgement){.verdict = piece->sm == device ? VERDICT_NATIVE
																	  : VERDICT_COMPATIBLE};
	}
	/* Drivers before 12.5 take an unknown kind for machine code. */
	for (int i = 0; !drivers[driver].knows && i < count; i++)
		if (!knows(pieces[i].kind, driver) && cubin_runs(pieces[i].sm, pieces[i].suffix, gpu))
			return refused(pieces[i].kind);
	chosen = newest(pieces, count, is_ptx, PTX_40, gpu, driver);
	if (chosen < 0 && drivers[driver].knows)
		chosen = newest(pieces, count, is_40, KINDS, gpu, driver);
	if (chosen >= 0) {
		const struct piece *piece = &pieces[chosen];
		const bool packed = piece->kind == PTX_ZSTD;
		const unsigned first = piece->isa == 70 ? 11000 : piece->isa == 84 ? 12040 : 13000;

		if (piece->text && !ptx_runs(piece->text, piece->text_suffix, device))
			return cannot(REASON_EXCLUSIVE, 0);
		if (piece->isa > drivers[driver].isa)
			return cannot(REASON_TOO_NEW, packed && first < 12040 ? 12040 : first);
		if (packed && !drivers[driver].zstd)
			return cannot(REASON_ZSTD, 12040);
		if (piece->kind == PTX_DAMAGED)
			return cannot(REASON_DAMAGED, 0);
		if (piece->isa < (piece->text ? first_isa(piece->text, piece->text_suffix)
									  : first_isa(piece->sm, piece->suffix)))
			return cannot(REASON_EARLY, 0);
		return (struct plan_judgement){.verdict = section || piece->kind == PTX_40 ? VERDICT_LINK
																				   : VERDICT_JIT,
									   .tile = tile,
									   .entry = (size_t)chosen};
	}
	for (int i = 0; i < count; i++) {
		if ((is_ptx(pieces[i].kind) || is_cubin(pieces[i].kind)) && !exists(pieces[i].sm))
			return cannot(REASON_DAMAGED, 0);
		if (pieces[i].sm > device)
			continue;
		if (!knows(pieces[i].kind, driver))
			unreadable = i;
		exclusive = exclusive || is_ptx(pieces[i].kind);
		other = other || pieces[i].kind == OTHER;
	}
	if (unreadable >= 0) {
		struct plan_judgement judgement = refused(pieces[unreadable].kind);

		judgement.tile = tile;
		return judgement;
	}
	return (struct plan_judgement){.verdict = tile        ? VERDICT_TILE
											  : other     ? VERDICT_UNKNOWN
											  : exclusive ? VERDICT_CANNOT
														  : VERDICT_NOTHING,
								   .reason = !tile && !other && exclusive ? REASON_EXCLUSIVE
																		  : REASON_NONE,
								   .tile = tile};
}

static struct devcode_entry entry_of(const struct piece *piece)
{
	static const uint32_t numbers[KINDS] = {2, 2, 2, 2, 1, 1, 1, 0x40, 8, 0x80, 0x20};

	return (struct devcode_entry){
		.kind = numbers[piece->kind],
		.target = {(uint16_t)piece->sm, piece->suffix},
		.isa_major = (uint16_t)(piece->isa / 10),
		.isa_minor = (uint16_t)(piece->isa % 10),
		.compression =
			piece->kind == CUBIN_ZSTD || piece->kind == PTX_ZSTD ? DEVCODE_ZSTD : DEVCODE_RAW,
		.first_cuda = piece->kind == CUBIN_OF_13 ? 13000 : 0,
		.damaged = piece->kind == PTX_DAMAGED || piece->kind == CUBIN_DAMAGED};
}

static void compare(const struct piece *pieces, int count)
{
	static const uint8_t bytes[1];
	struct devcode_entry entries[3];
	struct jw_target texts[3] = {{0}};
	const struct devcode_container container = {
		.bytes = bytes, .entries = entries, .entry_count = (size_t)count};

	for (int i = 0; i < count; i++) {
		entries[i] = entry_of(&pieces[i]);
		texts[i] = (struct jw_target){(uint16_t)pieces[i].text, pieces[i].text_suffix};
	}
	for (size_t driver = 0; driver < COUNT(drivers); driver++)
		for (size_t gpu = 0; gpu < COUNT(gpus); gpu++)
			for (int section = 0; section < 2; section++) {
				const struct jw_target device = {(uint16_t)gpus[gpu].sm, 0};
				const struct plan_judgement got = plan_judge(&container, texts, section, device,
															 &drivers[driver].version),
											wanted =
												plain_judge(pieces, count, section, gpu, driver);

				if (got.verdict == wanted.verdict && got.reason == wanted.reason &&
					got.tile == wanted.tile && got.needs.cuda == wanted.needs.cuda &&
					(got.entry == wanted.entry ||
					 (wanted.verdict != VERDICT_JIT && wanted.verdict != VERDICT_LINK)))
					continue;
				for (int i = 0; i < count; i++)
					check_wrong(
						"piece %d: kind %d, sm_%u%c, ISA %u, text %u%c", i, (int)pieces[i].kind,
						pieces[i].sm, pieces[i].suffix ? pieces[i].suffix : ' ', pieces[i].isa,
						pieces[i].text, pieces[i].text_suffix ? pieces[i].text_suffix : ' ');
				fail_msg("on sm_%u with driver %u of CUDA %u: verdict %d, reason %d, tile %d, "
						 "needs %u, entry %d; plainly "
						 "%d, %d, %d, %u, %d",
						 gpus[gpu].sm, drivers[driver].version.release[0],
						 drivers[driver].version.cuda, (int)got.verdict, (int)got.reason, got.tile,
						 got.needs.cuda, (int)got.entry, (int)wanted.verdict, (int)wanted.reason,
						 wanted.tile, wanted.needs.cuda, (int)wanted.entry);
			}
}

static const struct {
	unsigned sm;
	char suffix;
} targets[] = {{52, 0}, {75, 0},   {80, 0},    {81, 0},  {86, 0}, {87, 0},
			   {90, 0}, {90, 'a'}, {100, 'f'}, {120, 0}, {300, 0}};

static struct piece piece_of(size_t number)
{
	struct piece piece = {.kind = (enum kind)(number % KINDS),
						  .isa = isas[number / KINDS % COUNT(isas)]};
	const size_t target = number / KINDS / COUNT(isas) % COUNT(targets);

	piece.sm = targets[target].sm;
	piece.suffix = targets[target].suffix;
	return piece;
}

enum { PIECES = KINDS * COUNT(isas) * COUNT(targets) };

TEST(each_pair_of_entries_is_judged_as_plainly)
{
	for (size_t i = 0; i < PIECES; i++) {
		const struct piece one = piece_of(i);

		compare(&one, 1);
		/* Tries a part of the pieces, in another order each time. */
		for (size_t k = i % 7; k < PIECES; k += 7) {
			const struct piece two[] = {one, piece_of(k)};

			compare(two, 2);
		}
	}
}

TEST(triples_are_judged_as_plainly)
{
	unsigned seed = 1;

	for (unsigned round = 0; round < 10000; round++) {
		struct piece three[3];

		for (size_t i = 0; i < 3; i++) {
			seed = seed * 1103515245u + 12345u;
			three[i] = piece_of(seed / 65536);
			seed = seed * 1103515245u + 12345u;
			/* The text of PTX for sm_90 may be for sm_90a alone. */
			if (is_ptx(three[i].kind) && three[i].kind != PTX_DAMAGED && seed / 65536 % 2) {
				three[i].text = three[i].sm;
				three[i].text_suffix =
					three[i].sm == 90 && seed / 131072 % 2 ? 'a' : three[i].suffix;
			}
		}
		compare(three, 3);
	}
}

RUN_TESTS(NULL, NULL)
