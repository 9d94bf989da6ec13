#include "plan/judging.h"

#include <string.h>

#include "base/mem.h"
#include "code/release.h"
#include "code/rules.h"

enum {
	LINKS_LATER = 11080, /* a runtime from then on starts although it cannot link */
	FEW = 10,            /* less than this part of the containers does not speak for a library */
};

/* The outcomes of a container on the GPU, the best first. */
enum outcome { RUNS, COMPILES, NEWER, LACKS, OUTCOMES };

struct piece {
	const struct jw_piece *from;
	struct plan_judgement judged;
	enum outcome outcome;
	bool input;              /* only a link reads it, of the CUDA runtime or of nvJitLink */
	struct gpu_isa link_isa; /* of the PTX that nvJitLink reads of it */
	bool family;             /* it is for the GPUs of a family alone */
	bool several;            /* it is for several architectures */
};

static struct devcode_entry entry_of(const struct jw_piece_entry *fact)
{
	return (struct devcode_entry){
		.kind = fact->kind,
		.target = fact->target,
		.isa_major = fact->isa_major,
		.isa_minor = fact->isa_minor,
		.compression = fact->zstd ? DEVCODE_ZSTD : DEVCODE_RAW,
		.payload_offset = DEVCODE_NOT_HELD,
		.first_cuda = fact->cuda,
		.damaged = fact->damaged,
	};
}

static struct jw_target target_of(const struct jw_piece_entry *entry)
{
	return entry->text.sm ? entry->text : entry->target;
}

static enum outcome outcome_of(const struct plan_judgement *judged)
{
	switch (judged->verdict) {
	case VERDICT_NATIVE:
	case VERDICT_COMPATIBLE:
	case VERDICT_UNKNOWN: return RUNS;
	case VERDICT_LINK:
	case VERDICT_JIT:
	case VERDICT_TILE: return COMPILES;
	case VERDICT_CANNOT: return judged->needs.cuda ? NEWER : LACKS;
	case VERDICT_NOTHING:
	case VERDICT_COUNT: break;
	}
	return LACKS;
}

static struct piece judge_piece(const struct judge_facts *facts, const struct jw_piece *from,
								struct jw_target device, const struct jw_driver *driver)
{
	struct devcode_entry *entries = mem_array(from->entry_count, sizeof *entries);
	struct jw_target *texts = mem_array(from->entry_count, sizeof *texts);
	const struct devcode_container container = {
		.bytes = (const uint8_t *)"", .entries = entries, .entry_count = from->entry_count};
	struct piece piece = {
		.from = from, .input = from->role == DEVCODE_RELOCATABLE && !from->linked, .family = true};
	bool relocatable = from->role == DEVCODE_RELOCATABLE, lto = from->entry_count != 0;

	for (size_t i = 0; i < from->entry_count; i++) {
		entries[i] = entry_of(&from->entries[i]);
		texts[i] = from->entries[i].text;
		relocatable = relocatable || from->entries[i].relocatable;
		lto = lto && entries[i].kind == DEVCODE_KIND_LTOIR;
		piece.family = piece.family && target_of(&from->entries[i]).suffix;
		piece.several = piece.several || from->entries[i].target.sm != from->entries[0].target.sm;
	}
	piece.judged = plan_judge(&container, texts, relocatable, device, driver);
	if (from->empty && judge_asks_nothing(facts->library, (enum devcode_role)from->role))
		piece.judged = (struct plan_judgement){.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
	if (from->edited && piece.judged.verdict == VERDICT_JIT)
		piece.judged = (struct plan_judgement){
			.verdict = VERDICT_UNKNOWN, .kind = DEVCODE_KIND_PTX, .entry = SIZE_MAX};
	/* A program links a relocatable file by nvJitLink, whose version decides. */
	if (relocatable && !facts->library && !from->linked) {
		const struct jw_driver any = {.cuda = 0};
		const struct plan_judgement link = plan_judge(&container, texts, true, device, &any);

		piece.input = true;
		if (link.verdict == VERDICT_LINK)
			piece.link_isa =
				(struct gpu_isa){entries[link.entry].isa_major, entries[link.entry].isa_minor};
	}
	piece.input = piece.input || lto;
	piece.outcome = outcome_of(&piece.judged);
	mem_free(entries);
	mem_free(texts);
	return piece;
}

static void add_work(struct judge_work *sum, const struct jw_piece_entry *entry)
{
	sum->modules += entry->modules;
	sum->ptx_bytes += entry->ptx_bytes;
	sum->cost_ms += entry->cost_ms;
	if (entry->longest_ms > sum->longest_ms)
		sum->longest_ms = entry->longest_ms;
}

static void join_work(struct judge_work *sum, const struct judge_work *more)
{
	sum->modules += more->modules;
	sum->ptx_bytes += more->ptx_bytes;
	sum->cost_ms += more->cost_ms;
	if (more->longest_ms > sum->longest_ms)
		sum->longest_ms = more->longest_ms;
}

/* Returns whether the build has linked for the GPU, so that nothing reads the inputs of the link.
 */
static bool is_linked(const struct piece *pieces, size_t count)
{
	bool linked = false;

	for (size_t i = 0; i < count; i++) {
		if (pieces[i].from->linked && pieces[i].outcome != RUNS)
			return false;
		linked = linked || pieces[i].from->linked;
	}
	return linked;
}

/* Counts the containers by verdict and reason, and finds the targets of the code. */
static void count_verdicts(struct judged *is, const struct piece *pieces, size_t count,
						   struct jw_target device)
{
	const bool linked = is_linked(pieces, count);
	bool plain = false;

	for (size_t i = 0; i < count; i++) {
		const struct jw_piece *from = pieces[i].from;
		const struct plan_judgement nothing = {.verdict = VERDICT_NOTHING},
									*judged =
										linked && pieces[i].input ? &nothing : &pieces[i].judged;

		if (!from->empty || judged->verdict < VERDICT_CANNOT)
			is->verdicts[judged->verdict] += from->containers;
		for (size_t k = 0; k < from->entry_count; k++) {
			const struct jw_piece_entry *entry = &from->entries[k];
			const struct jw_target target = target_of(entry);
			const bool ptx = devcode_kind_is_ptx(entry->kind);

			if (!ptx && entry->kind != DEVCODE_KIND_CUBIN)
				continue;
			plain = plain || (ptx && !target.suffix);
			if (target.sm > is->newest.sm)
				is->newest = target;
			if (!is->oldest.sm || target.sm < is->oldest.sm)
				is->oldest = target;
			if (ptx && target.suffix && target.sm <= device.sm && target.sm > is->exclusive.sm)
				is->exclusive = target;
		}
		if (from->empty)
			continue;
		if (judged->verdict == VERDICT_CANNOT) {
			is->reasons[judged->reason] += from->containers;
			is->reason_needs[judged->reason] =
				gpu_newer_driver(is->reason_needs[judged->reason], judged->needs);
			if (judged->early.sm > is->early.sm)
				is->early = judged->early;
		}
		is->tile += judged->tile && !pieces[i].input ? from->containers : 0;
		if (judged->verdict == VERDICT_UNKNOWN || judged->reason == REASON_KIND)
			is->kind = judged->kind;
	}
	if (plain)
		is->exclusive = (struct jw_target){0};
}

/* Gives linked containers without code the outcome of their inputs. Returns whether one of them
 * ends the start, because the file no longer has the inputs. */
static bool judge_links(struct judged *is, struct piece *pieces, size_t count, uint32_t runtime)
{
	struct plan_judgement best = {.verdict = VERDICT_NOTHING};
	enum outcome outcome = LACKS;
	size_t inputs = 0;
	bool stripped = false;

	for (size_t i = 0; i < count; i++) {
		if (pieces[i].from->role != DEVCODE_RELOCATABLE || pieces[i].from->linked)
			continue;
		inputs++;
		if (pieces[i].outcome < outcome || inputs == 1) {
			best = pieces[i].judged;
			outcome = pieces[i].outcome;
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct piece *piece = &pieces[i];

		if (!piece->from->linked || piece->outcome == RUNS)
			continue;
		is->links = is->links || piece->outcome == COMPILES ||
					(piece->outcome == LACKS && outcome <= COMPILES);
		if (piece->outcome != LACKS)
			continue;
		stripped = stripped || (!inputs && !piece->from->empty && runtime < LINKS_LATER);
		if (inputs) {
			piece->judged.reason = best.reason;
			piece->judged.needs = best.needs;
			piece->judged.error = best.error;
			piece->judged.early = best.early;
			piece->outcome = outcome == RUNS ? COMPILES : outcome;
		}
	}
	return stripped;
}

/* Returns the driver's error for the most frequent reason. */
static void find_reason(struct judged *is, const struct piece *pieces, size_t count)
{
	size_t numbers[REASON_COUNT] = {0}, most = 0;

	for (size_t i = 0; i < count; i++)
		if (!pieces[i].from->empty && !pieces[i].input && pieces[i].outcome >= NEWER)
			numbers[pieces[i].judged.reason] += pieces[i].from->containers;
	for (enum plan_reason reason = 0; reason < REASON_COUNT; reason++)
		if (numbers[reason] > most) {
			most = numbers[reason];
			is->reason = reason;
		}
	is->error = PLAN_ERROR_NO_BINARY;
	for (size_t i = 0; i < count; i++)
		if (pieces[i].outcome >= NEWER && pieces[i].judged.reason == is->reason &&
			pieces[i].judged.error)
			is->error = pieces[i].judged.error;
}

static bool decides(const struct piece *piece)
{
	return !piece->from->empty && !piece->input;
}

/* Returns whether containers for one architecture each are a set for several GPUs, of which some
 * run: programs choose them by the GPU, so that those for other GPUs do not count. */
static bool has_set(const struct piece *pieces, size_t count)
{
	uint16_t sm = 0;
	bool several = false, some = false;

	for (size_t i = 0; i < count; i++) {
		const struct jw_piece *from = pieces[i].from;

		if (!decides(&pieces[i]) || pieces[i].several || !from->entry_count)
			continue;
		several = several || (sm && sm != from->entries[0].target.sm);
		sm = from->entries[0].target.sm;
		some = some || pieces[i].outcome < LACKS;
	}
	return several && some;
}

/* Counts the containers that decide. Those for one architecture or one family alone do not, unless
 * the others are few: programs choose such code by the GPU. Clears all of *is except the numbers of
 * all containers (all_…). */
static void count_deciding(struct judged *is, const struct piece *pieces, size_t count)
{
	const bool set = has_set(pieces, count);

	for (unsigned strict = 3; strict-- > 0;) {
		*is = (struct judged){.all_pieces = is->all_pieces,
							  .all_too_new = is->all_too_new,
							  .all_lacking = is->all_lacking};
		for (size_t i = 0; i < count; i++) {
			const struct piece *piece = &pieces[i];
			const size_t containers = piece->from->containers;

			if (!decides(piece) || (strict && piece->family) || (strict > 1 && !piece->several) ||
				(set && !piece->several && piece->outcome == LACKS))
				continue;
			is->pieces += containers;
			is->native += piece->outcome == RUNS ? containers : 0;
			is->compiled += piece->outcome == COMPILES ? containers : 0;
			is->too_new += piece->outcome == NEWER ? containers : 0;
			is->lacking += piece->outcome == LACKS ? containers : 0;
			if (piece->outcome == NEWER)
				is->needs = gpu_newer_driver(is->needs, piece->judged.needs);
		}
		if (is->pieces && is->pieces * FEW >= is->all_pieces)
			return;
	}
}

static void judge_pieces(const struct judge_facts *facts, struct piece *pieces, size_t count,
						 struct jw_target device, const struct jw_driver *driver, struct judged *is)
{
	const uint32_t needed = gpu_runtime_cuda(facts->runtime_cuda);
	struct judge_work link = {0}, loose = {0};
	struct judged links = {0};
	const bool stripped = judge_links(&links, pieces, count, facts->runtime_cuda);
	bool family = count != 0, native = false;

	for (size_t i = 0; i < count; i++) {
		const struct piece *piece = &pieces[i];

		if (!decides(piece))
			continue;
		is->all_pieces += piece->from->containers;
		is->all_too_new += piece->outcome == NEWER ? piece->from->containers : 0;
		is->all_lacking += piece->outcome == LACKS ? piece->from->containers : 0;
		family = family && piece->family;
		native = native || piece->outcome == RUNS;
	}
	count_deciding(is, pieces, count);
	is->family = family && is->all_pieces;
	is->links = links.links;
	is->host = !is->all_pieces && facts->runtime_cuda;
	count_verdicts(is, pieces, count, device);
	find_reason(is, pieces, count);
	for (size_t i = 0; i < count; i++) {
		const struct piece *piece = &pieces[i];
		const enum plan_verdict verdict = piece->judged.verdict;

		if (gpu_isa_compare(piece->link_isa, is->link_isa) > 0)
			is->link_isa = piece->link_isa;
		if (verdict == VERDICT_JIT || verdict == VERDICT_LINK)
			add_work(verdict == VERDICT_LINK                                ? &link
					 : facts->library && piece->from->role == DEVCODE_LOOSE ? &loose
																			: &is->work,
					 &piece->from->entries[piece->judged.entry]);
	}
	if (is->links || !facts->library)
		join_work(&is->work, &link);
	if (loose.ptx_bytes <= JUDGE_LOOSE_LIMIT_BYTES)
		join_work(&is->work, &loose);
	/* A newer driver does not help code that is for other GPUs. */
	if (facts->library && driver->cuda && driver->cuda < needed &&
		(facts->nvidia || is->lacking * 2 <= is->pieces)) {
		is->fate = JUDGE_REFUSED;
		is->start = true;
		is->reason = REASON_RUNTIME;
		is->error = PLAN_ERROR_OLD_DRIVER;
		is->needs = gpu_newer_driver(gpu_cuda_driver(needed), is->needs);
	} else if (!is->pieces) {
		is->fate = JUDGE_NOTHING;
	} else if (stripped) {
		is->fate = JUDGE_REFUSED;
		is->start = true;
		is->reason = REASON_UNLINKED;
		is->error = PLAN_ERROR_IMAGE;
		is->needs = (struct jw_driver){0};
	} else if (facts->nvidia && facts->library) {
		/* A single container, as cuFile's, is no choice of kernels for each GPU. */
		const bool compiles = is->all_pieces == 1 && !is->all_lacking && !is->all_too_new;

		is->fate = native || compiles ? JUDGE_RUNS : is->all_too_new ? JUDGE_REFUSED : JUDGE_LACKS;
	} else if ((is->lacking + is->too_new) * 2 <= is->pieces) {
		is->fate = JUDGE_RUNS;
	} else {
		/* A newer driver helps, unless most of it has no code for the GPU even then. */
		is->fate = is->too_new && is->lacking * 2 <= is->pieces ? JUDGE_REFUSED : JUDGE_LACKS;
	}
	if (is->fate == JUDGE_LACKS)
		is->needs = (struct jw_driver){0};
}

void judge_library(const struct judge_facts *facts, struct jw_target device,
				   const struct jw_driver *driver, struct judged *ret_judged)
{
	struct piece *pieces = mem_array(facts->piece_count, sizeof *pieces);

	*ret_judged = (struct judged){.fate = JUDGE_NOTHING};
	for (size_t i = 0; i < facts->piece_count; i++)
		pieces[i] = judge_piece(facts, &facts->pieces[i], device, driver);
	judge_pieces(facts, pieces, facts->piece_count, device, driver, ret_judged);
	mem_free(pieces);
}

/* ---- packages */

/* The members with one number. */
struct together {
	const struct judge_member *best; /* of variants: the one that counts */
	struct judge_member *main;       /* of a package */
	size_t coded, failing;           /* libraries of one of NVIDIA's packages */
	bool code, fails;
};

static bool fails(const struct judge_member *member)
{
	return member->is.fate == JUDGE_LACKS || member->is.fate == JUDGE_REFUSED;
}

/* Returns whether `a` counts for its variants rather than `b`: the one for the CUDA of the
 * framework beside it, by which programs choose; else one that runs, else one that needs a newer
 * driver; of these machine code for this GPU, and the one with the most code. */
static bool is_better(const struct judge_member *a, const struct judge_member *b, uint32_t cuda)
{
	if (cuda && (a->cuda == cuda) != (b->cuda == cuda))
		return a->cuda == cuda;
	if (fails(a) != fails(b))
		return fails(b);
	if (fails(a) && !a->is.needs.cuda != !b->is.needs.cuda)
		return a->is.needs.cuda;
	if (!a->library && !a->is.verdicts[VERDICT_NATIVE] != !b->is.verdicts[VERDICT_NATIVE])
		return a->is.verdicts[VERDICT_NATIVE];
	return a->is.pieces >= b->is.pieces;
}

/* Returns how far a library is from what a package is for: 0 for its own code. */
static unsigned distance(const struct judge_member *member)
{
	return member->is.family ? 2 : member->side ? 1 : 0;
}

static bool is_larger(const struct judge_member *a, const struct judge_member *b)
{
	if (distance(a) != distance(b))
		return distance(a) < distance(b);
	return a->is.pieces > b->is.pieces || (a->is.pieces == b->is.pieces && !fails(a) && fails(b));
}

/* Returns whether a member counts for its variants and its package. */
static bool counts(const struct judge_member *member)
{
	return member->chosen && !member->aside;
}

/* `other` is set if a variant counts because of its CUDA, which is another one. */
static enum judge_part part_of(const struct judge_member *member, const struct together *package,
							   bool other)
{
	if (!member->chosen)
		return other || (!member->library && !fails(member) && !member->is.native &&
						 member->is.compiled)
				   ? JUDGE_SPARE
				   : JUDGE_GOOD;
	if (member->aside || (member->is.fate == JUDGE_NOTHING && !member->is.host))
		return JUDGE_GOOD;
	if (package->fails)
		return fails(member) && (member->nvidia || distance(member) <= distance(package->main))
				   ? JUDGE_FAILS
				   : JUDGE_GOOD;
	if (member->is.host || member->nvidia)
		return JUDGE_GOOD;
	if (member->is.needs.cuda)
		return JUDGE_NEWER;
	return fails(member) && !distance(member) ? JUDGE_WITHOUT : JUDGE_GOOD;
}

void judge_packages(struct judge_member *members, size_t count, size_t numbers)
{
	struct together *variants = mem_array(numbers, sizeof *variants),
					*packages = mem_array(numbers, sizeof *packages);

	const struct judge_member *base = NULL;

	for (size_t i = 0; i < count; i++)
		if (members[i].base && members[i].cuda && (!base || is_larger(&members[i], base)))
			base = &members[i];
	for (size_t i = 0; i < count; i++) {
		struct together *like = &variants[members[i].variants];

		if (!like->best || is_better(&members[i], like->best, base ? base->cuda : 0))
			like->best = &members[i];
	}
	for (size_t i = 0; i < count; i++) {
		struct judge_member *member = &members[i];
		struct together *package = &packages[member->package];

		member->chosen = variants[member->variants].best == member;
		if (!counts(member) || member->is.host || member->is.fate == JUDGE_NOTHING)
			continue;
		package->code = true;
		package->coded += member->nvidia;
		package->failing += member->nvidia && fails(member);
		if (!package->main || is_larger(member, package->main))
			package->main = member;
	}
	for (size_t i = 0; i < count; i++) {
		struct judge_member *member = &members[i];

		if (member->lacks && !member->nvidia && !fails(member) &&
			packages[member->package].main == member) {
			member->is.fate = JUDGE_LACKS;
			member->is.reason = REASON_NEEDS;
			member->is.lacks = member->lacks;
			member->is.error = PLAN_ERROR_NO_BINARY;
			member->is.needs = (struct jw_driver){0};
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct judge_member *member = &members[i];
		struct together *package = &packages[member->package];

		if (!counts(member) || !fails(member))
			continue;
		if (member->is.host) {
			/* Without code in the package, its CUDA runtime decides. */
			package->main = package->main ? package->main : member;
			package->fails = package->fails || !package->code;
		} else if (member->nvidia) {
			package->fails = package->failing * 2 > package->coded;
		} else if (member == package->main ||
				   (member->is.start && distance(member) == distance(package->main))) {
			package->fails = true;
		}
	}
	for (size_t i = 0; i < count; i++) {
		members[i].main = packages[members[i].package].main == &members[i];
		members[i].part = part_of(&members[i], &packages[members[i].package],
								  base && variants[members[i].variants].best->cuda == base->cuda &&
									  members[i].cuda != base->cuda);
	}
	mem_free(variants);
	mem_free(packages);
}
