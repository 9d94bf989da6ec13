#include "plan/decide.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "code/rules.h"
#include "os/file.h"

bool decide_is_fatal(enum plan_reason reason)
{
	return reason != REASON_NONE && reason != REASON_EXCLUSIVE;
}

/* Returns whether a start fails because the driver refuses registered code for that reason;
 * otherwise only its users fail. */
static bool fails_start(enum plan_reason reason, enum loading loading)
{
	return reason == REASON_RUNTIME || loading == LOADING_ALL ||
		   (loading == LOADING_LENIENT && reason != REASON_TOO_NEW);
}

static bool is_native(const struct decide_piece *piece)
{
	return piece->verdict == VERDICT_NATIVE || piece->verdict == VERDICT_COMPATIBLE;
}

bool decide_takes_cubin(enum plan_verdict verdict, enum plan_reason reason, uint16_t error)
{
	return verdict == VERDICT_NATIVE || verdict == VERDICT_COMPATIBLE ||
		   (verdict == VERDICT_CANNOT && error == PLAN_ERROR_IMAGE &&
			(reason == REASON_NEWER_CODE || reason == REASON_ZSTD || reason == REASON_DAMAGED));
}

bool decide_asks_nothing(const struct decide_piece *empty, enum loading loading)
{
	const bool too_new = empty->verdict == VERDICT_CANNOT && empty->reason == REASON_TOO_NEW,
			   text = empty->verdict == VERDICT_JIT || empty->verdict == VERDICT_LINK;

	if (empty->verdict == VERDICT_NOTHING ||
		(empty->verdict == VERDICT_CANNOT && empty->reason == REASON_EXCLUSIVE))
		return true;
	if (empty->in_file)
		return too_new;
	if (decide_is_of_link(empty->role, empty->linked) && !empty->link_empty)
		return false;
	if (is_native(empty))
		return true;
	if (empty->role == DEVCODE_LOOSE)
		return too_new || text;
	return loading == LOADING_LAZY || (too_new && loading != LOADING_ALL);
}

/* Counts a registered container for one architecture: together with containers for two other ones
 * it is a set, of which a program uses those for its GPU. */
static void count_of_set(struct decide_counts *counts, const struct decide_piece *piece,
						 bool lacking, size_t count)
{
	counts->set_sms |= piece->sms;
	counts->set_lacking += lacking ? count : 0;
	counts->set_native += is_native(piece) ? count : 0;
}

/* Returns the architectures of the GPUs with these major versions. */
static uint64_t sms_of(unsigned first_major, unsigned last_major)
{
	static const uint16_t sms[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80,  86,
								   87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121};
	uint64_t found = 0;

	for (size_t i = 0; i < sizeof sms / sizeof *sms; i++)
		if (sms[i] / 10 >= first_major && sms[i] / 10 <= last_major)
			found |= decide_sm_bit(sms[i]);
	return found;
}

/* Returns the last major version before the GPU's generation. NVIDIA's libraries have the same
 * kernels for Maxwell and Pascal. */
static unsigned before_generation(unsigned major)
{
	return major == 6 ? 4 : major - 1;
}

/* Counts a registered container that is for Maxwell and Pascal alone, or for later GPUs alone. */
static void count_of_generation(struct decide_counts *counts, const struct decide_piece *piece,
								bool lacking, size_t count)
{
	const uint64_t maxwell_pascal = sms_of(5, 6);

	if (lacking && decide_is_several(piece->sms) && !(piece->sms & ~maxwell_pascal))
		counts->former_lacking += count;
	else if (is_native(piece) && !(piece->sms & maxwell_pascal))
		counts->later_native += count;
}

/* Returns whether the library's name begins with one of the words: libcublas.so.12,
 * cublas64_12.dll. */
static bool is_called(const char *path, const char *const *words, size_t count)
{
	const char *base = path ? os_base_name(path) : "";

	if (text_starts(base, "lib"))
		base += strlen("lib");
	else if (!text_ends(base, ".dll"))
		return false;
	for (size_t i = 0; i < count; i++)
		if (text_starts(base, words[i]))
			return true;
	return false;
}

struct decide_counts decide_begin(const char *path, struct jw_target device, enum loading loading)
{
	static const char *const former[] = {"cudnn.so.7", "cudnn64_7.", "optix_prime."},
							 *const later[] = {"cublas",   "cudnn_", "cusolver", "cusparse",
											   "cutensor", "nccl",   "nvinfer"};

	return (struct decide_counts){
		.loading = loading,
		.generations = is_called(path, former, sizeof former / sizeof *former),
		.by_gpu = is_called(path, later, sizeof later / sizeof *later),
		.major = device.sm / 10U,
	};
}

static unsigned count_sms(uint64_t sms)
{
	unsigned count = 0;

	for (; sms; sms &= sms - 1)
		count++;
	return count;
}

/* Counts a registered container of a library that has kernels for each generation. */
static void count_of_list(struct decide_counts *counts, const struct decide_piece *piece,
						  bool lacking, size_t count)
{
	size_t at = 0;

	if (piece->verdict < VERDICT_CANNOT &&
		(!counts->narrowest || count_sms(piece->sms) < count_sms(counts->narrowest)))
		counts->narrowest = piece->sms;
	while (lacking && at < counts->lists && counts->lacking_sms[at].sms != piece->sms)
		at++;
	if (!lacking || at == DECIDE_LISTS)
		return;
	counts->lacking_sms[at].sms = piece->sms;
	counts->lacking_sms[at].count += count;
	counts->lists += at == counts->lists;
}

/* Returns how many containers without code for the GPU are for GPUs of other generations. Those for
 * one architecture each may be a set already. */
static size_t count_generations(const struct decide_counts *counts)
{
	size_t sum = 0;

	for (size_t i = 0; counts->narrowest && i < counts->lists; i++)
		if (!(counts->lacking_sms[i].sms & counts->narrowest) &&
			(decide_is_several(counts->lacking_sms[i].sms) || !decide_has_set(counts)))
			sum += counts->lacking_sms[i].count;
	return sum;
}

/* Counts a container in the data, as one of those among which the library chooses. */
static void count_of_data(struct decide_counts *counts, const struct decide_piece *piece,
						  bool lacking, size_t count)
{
	counts->data_differ =
		counts->data_differ || (counts->data_sms && counts->data_sms != piece->sms);
	counts->data_sms = piece->sms;
	counts->data_native += is_native(piece) ? count : 0;
	if (!lacking || !decide_is_several(piece->sms))
		return;
	counts->data_lacking += count;
	counts->data_special_lacking += piece->special ? count : 0;
}

void decide_count(struct decide_counts *counts, const struct decide_piece *piece, size_t count)
{
	const bool cannot = piece->verdict == VERDICT_CANNOT,
			   refused = cannot && decide_is_fatal(piece->reason),
			   lacking = piece->verdict == VERDICT_NOTHING || (cannot && !refused),
			   registered = piece->in_file || piece->role == DEVCODE_REGISTERED,
			   input = !registered && piece->role == DEVCODE_RELOCATABLE, cubin = is_native(piece),
			   several = decide_is_several(piece->sms);
	const uint32_t reason = (uint32_t)cannot << piece->reason;

	counts->hollow = counts->hollow || (piece->linked && piece->hollow);
	counts->prelinked += piece->linked && piece->native ? count : 0;
	counts->unlinked += piece->linked && !piece->native ? count : 0;
	counts->usable += piece->verdict < VERDICT_CANNOT ? count : 0;
	counts->unusable += refused ? count : 0;
	counts->other_reasons |= reason;
	counts->other_needs = gpu_newer_driver(counts->other_needs, piece->needs);
	if (input) {
		counts->input_reasons |= reason;
		counts->input_needs = gpu_newer_driver(counts->input_needs, piece->needs);
	} else if (registered && fails_start(piece->reason, counts->loading)) {
		counts->reasons |= reason;
		counts->needs = gpu_newer_driver(counts->needs, piece->needs);
	}
	counts->lto = counts->lto || (input && piece->lto);
	counts->own += piece->in_file && piece->verdict == VERDICT_NATIVE ? count : 0;
	counts->texts += piece->in_file && (piece->verdict == VERDICT_JIT ||
										(refused && piece->reason == REASON_TOO_NEW))
						 ? count
						 : 0;
	if (!piece->code)
		return;
	if (!input && cubin) {
		counts->native += count;
		counts->dedicated += piece->sms & sms_of(0, before_generation(counts->major)) ? 0 : count;
	}
	if (!input && !registered)
		count_of_data(counts, piece, lacking, count);
	if (input) {
		counts->inputs += count;
		counts->inputs_machine += piece->machine ? count : 0;
		counts->inputs_lacking += lacking ? count : 0;
		counts->inputs_refused += refused ? count : 0;
	} else if (registered || several) {
		counts->pieces += count;
		counts->special += piece->special ? count : 0;
		counts->for_family += piece->family ? count : 0;
		counts->relinked += lacking && piece->linked ? count : 0;
		counts->lacking += lacking && !piece->linked ? count : 0;
		counts->special_lacking += lacking && !piece->linked && piece->special ? count : 0;
		if (registered && !several && !piece->special && !piece->linked)
			count_of_set(counts, piece, lacking, count);
		if (registered && !piece->linked && !piece->special && counts->generations)
			count_of_list(counts, piece, lacking, count);
		else if (registered && !piece->linked && !piece->special)
			count_of_generation(counts, piece, lacking, count);
		if (registered && fails_start(piece->reason, counts->loading)) {
			counts->refused += refused ? count : 0;
		} else if (refused) {
			counts->late_refused += count;
			counts->late_reasons |= reason;
			counts->late_needs = gpu_newer_driver(counts->late_needs, piece->needs);
		}
	} else {
		counts->alone_sms |= piece->sms;
		counts->alone_running += piece->verdict < VERDICT_CANNOT ? count : 0;
		counts->alone_lacking += lacking ? count : 0;
		if (cannot && piece->reason == REASON_TOO_NEW) {
			counts->alone_too_new += count;
			counts->alone_needs = gpu_newer_driver(counts->alone_needs, piece->needs);
		}
	}
}

/* Returns the first reason. Code that the driver refuses comes before code that is only missing for
 * the GPU. */
static enum plan_reason first_reason(uint32_t reasons)
{
	static const enum plan_reason order[] = {REASON_NEWER_CODE, REASON_RUNTIME, REASON_DAMAGED,
											 REASON_TOO_NEW,    REASON_ZSTD,    REASON_TILE,
											 REASON_KIND};

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (reasons >> order[i] & 1)
			return order[i];
	return REASON_UNLINKED;
}

static void refuse(struct decided *decided, uint32_t reasons, struct jw_driver needs)
{
	decided->fate = DECIDE_REFUSED;
	decided->reason = first_reason(reasons);
	decided->tile_too = decided->reason != REASON_TILE && reasons >> REASON_TILE & 1;
	if (decided->reason != REASON_DAMAGED && decided->reason != REASON_UNLINKED)
		decided->needs = needs;
}

bool decide_links(const struct decide_counts *counts)
{
	return counts->unlinked && counts->inputs_lacking < counts->inputs;
}

bool decide_is_linked(const struct decide_counts *counts)
{
	return counts->prelinked && !counts->unlinked;
}

bool decide_has_set(const struct decide_counts *counts)
{
	const unsigned architectures = count_sms(counts->set_sms);

	return (architectures >= DECIDE_SET ||
			(architectures > 1 && counts->set_native >= DECIDE_SET)) &&
		   counts->pieces > counts->lacking;
}

static struct decided decide_all(const struct decide_counts *counts)
{
	struct decided decided = {.pieces = counts->pieces,
							  .lacking = counts->lacking,
							  .too_new = counts->refused + counts->late_refused,
							  .special = counts->special == counts->pieces,
							  .for_family = counts->for_family != 0,
							  .own = counts->own != 0,
							  .text = counts->texts &&
									  counts->texts == counts->usable + counts->unusable};
	/* The CUDA runtime links on a GPU for which a linked container has no cubin. */
	const bool links = counts->unlinked != 0,
			   linkable = counts->inputs && !counts->inputs_lacking && !counts->inputs_refused,
			   skipped = counts->inputs && counts->inputs_lacking == counts->inputs;
	/* Beside other code, a set without code is never more than a part that fails; and no part at
	 * all if its containers are for several architectures and other code runs: the library chooses
	 * by the GPU, and does without the set on others (FlashAttention 3 in torch 2.15, for sm_90 and
	 * sm_100). */
	/* Containers in the data with different lists of architectures, of which several have machine
	 * code for this GPU: the others are for other GPUs (cuSPARSELt). */
	const bool chooses = counts->data_differ && counts->data_native >= DECIDE_SET;
	const size_t alone =
		chooses || counts->alone_running ||
				(decide_is_several(counts->alone_sms) && counts->pieces > counts->lacking)
			? 0
			: counts->alone_lacking;
	/* Containers of a registered set for other GPUs, if other code of the library runs. */
	const size_t others = (decide_has_set(counts) ? counts->set_lacking : 0) +
						  (chooses ? counts->data_lacking : 0) + count_generations(counts);
	const size_t special_lacking =
		counts->special_lacking - (chooses ? counts->data_special_lacking : 0);
	/* PTX in the data for one architecture, of which the driver reads none. A library chooses by
	 * the GPU, but not by the driver: it loads this PTX all the same (candle's kernels). */
	const bool most_refused = counts->late_refused * 2 > counts->pieces;
	const size_t late_alone = counts->pieces && !most_refused && !chooses && !counts->alone_running
								  ? counts->alone_too_new
								  : 0;
	/* Linked containers without code whose inputs only a newer driver takes. */
	const size_t late_linked =
		counts->inputs_refused && !counts->inputs_lacking && counts->input_needs.cuda
			? counts->relinked
			: 0;
	const size_t late_refused = counts->late_refused + late_alone + late_linked;
	const uint32_t late_reasons = counts->late_reasons |
								  (uint32_t)(late_alone != 0) << REASON_TOO_NEW |
								  (late_linked ? counts->input_reasons : 0);
	struct jw_driver late_needs = counts->late_needs;
	size_t share, failing;
	bool most_fail, newer_helps;

	if (late_alone)
		late_needs = gpu_newer_driver(late_needs, counts->alone_needs);
	if (late_linked || (links && counts->inputs_refused))
		late_needs = gpu_newer_driver(late_needs, counts->input_needs);

	decided.unneeded = chooses || counts->alone_running ? counts->alone_too_new : 0;
	decided.pieces += late_alone - others;
	decided.lacking -= others;
	decided.too_new += late_alone + late_linked;
	/* The linker of a build only warns about an object without code for its GPU, and leaves it out:
	 * its result has none of that object's kernels, or none at all. It links machine code, so
	 * inputs without any lost theirs after the link (TensorFlow, from 2.12 to 2.20). */
	if (!links && counts->prelinked && !counts->lto && (counts->inputs_machine || counts->hollow)) {
		decided.pieces += counts->inputs_lacking;
		decided.lacking += counts->inputs_lacking + (skipped ? counts->prelinked : 0);
	}
	decided.lacking += linkable || late_linked ? 0 : counts->relinked;
	share = decided.pieces - (counts->special - (counts->special_lacking - special_lacking));
	failing = decided.lacking - special_lacking + late_refused;
	/* Most pieces fail. If the library loads as many others itself, and they run, it does without
	 * those (candle's kernels beside FlashAttention). One or two are PTX of a profiler (torch). */
	if (counts->alone_running >= DECIDE_SET && failing * 2 > share &&
		failing * 2 <= share + counts->alone_running) {
		decided.pieces += counts->alone_running;
		share += counts->alone_running;
	}
	most_fail = decided.pieces &&
				(share ? failing * 2 > share : decided.lacking + late_refused == decided.pieces);
	/* A newer driver helps, unless even then most pieces have no code for the GPU. */
	newer_helps = late_refused > decided.lacking ||
				  (late_refused && share && (failing - late_refused) * 2 <= share);
	if (counts->refused || (links && counts->inputs_refused && counts->loading == LOADING_ALL)) {
		/* Only a link reads the inputs. */
		struct jw_driver needs =
			links ? gpu_newer_driver(counts->needs, counts->input_needs) : counts->needs;

		/* A driver that is new enough for the start alone runs too little of the library. */
		if (most_fail && newer_helps)
			needs = gpu_newer_driver(needs, late_needs);
		refuse(&decided, counts->reasons | (links ? counts->input_reasons : 0), needs);
	} else if (counts->loading == LOADING_ALL && links && counts->inputs_lacking && !skipped) {
		decided.fate = DECIDE_REFUSED;
	} else if (counts->loading == LOADING_ALL && counts->relinked && !counts->inputs) {
		refuse(&decided, 0, (struct jw_driver){0});
	} else if (most_fail) {
		decided.by_share = true;
		if (newer_helps)
			refuse(&decided, late_reasons, late_needs);
		else
			decided.fate = DECIDE_LACKS;
	} else if (decided.pieces) {
		decided.fate = DECIDE_RUNS;
		decided.reason = late_refused ? first_reason(late_reasons) : REASON_NONE;
		decided.needs = late_needs;
	} else if (counts->unusable && !counts->usable) {
		/* The library itself chooses among such code, except code that can never be used. The CUDA
		 * runtime refuses a library without kernels of its own, too. */
		refuse(&decided, counts->other_reasons, counts->other_needs);
		/* Only registered containers have this reason, and none of them is a piece. */
		decided.host = counts->other_reasons == UINT32_C(1) << REASON_RUNTIME;
	} else if (alone && !counts->usable) {
		decided.fate = DECIDE_LACKS;
		decided.by_share = true;
		decided.chosen = true;
	} else {
		decided.fate = alone ? DECIDE_RUNS : DECIDE_NO_CODE;
	}
	/* The library has kernels of its own for later GPUs, this one included: those for Maxwell and
	 * Pascal are for these GPUs (cuBLAS). Such kernels of a build that lacks this GPU would be more
	 * than those that NVIDIA's libraries in it have for the GPU. */
	if (decided.fate == DECIDE_RUNS && counts->later_native >= DECIDE_SET &&
		counts->former_lacking <= counts->later_native) {
		decided.pieces -= counts->former_lacking;
		decided.lacking -= counts->former_lacking;
	}
	decided.family_lacking = special_lacking <= decided.lacking ? special_lacking : 0;
	decided.pieces += alone;
	decided.lacking += alone;
	decided.special = decided.special && !alone && !late_alone;
	return decided;
}

struct decided decide_counted(const struct decide_counts *counts)
{
	const struct decided decided = decide_all(counts);
	struct decide_counts used = *counts;

	if (!counts->by_gpu || !counts->native ||
		!(decided.fate == DECIDE_RUNS || counts->dedicated >= DECIDE_SET))
		return decided;
	used.pieces -= used.lacking;
	used.special -= used.special_lacking;
	used.lacking = used.special_lacking = used.set_lacking = used.former_lacking = 0;
	used.data_lacking = used.data_special_lacking = used.alone_lacking = 0;
	return decide_all(&used);
}

static bool is_too_old(const struct jw_driver *driver, uint32_t needed)
{
	return driver->cuda && driver->cuda < needed;
}

struct decided decide_host(uint32_t runtime_cuda, const struct jw_driver *driver)
{
	const uint32_t needed = gpu_runtime_cuda(runtime_cuda);
	struct decided decided = {.host = runtime_cuda != 0};

	if (is_too_old(driver, needed))
		refuse(&decided, UINT32_C(1) << REASON_RUNTIME, gpu_cuda_driver(needed));
	return decided;
}

/* Makes an entry with the members that plan_judge reads. */
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
		.hollow = fact->hollow,
	};
}

void decide_add_work(struct decide_work *sum, const struct decide_work *more)
{
	sum->modules += more->modules;
	sum->ptx_bytes += more->ptx_bytes;
	sum->cost_ms += more->cost_ms;
	sum->longest_ms = more->longest_ms > sum->longest_ms ? more->longest_ms : sum->longest_ms;
}

/* Returns whether neither a linked container nor an input of a link declares anything. */
static bool is_link_empty(const struct decide_facts *facts)
{
	for (size_t i = 0; i < facts->piece_count; i++) {
		const struct jw_piece *piece = &facts->pieces[i];

		if (decide_is_of_link((enum devcode_role)piece->role, piece->linked) && !piece->empty)
			return false;
	}
	return true;
}

enum loading decide_loading(const struct decide_facts *facts, const struct jw_driver *driver)
{
	return loading_of(&(struct loading_facts){.runtime_cuda = facts->runtime_cuda,
											  .driver_cuda = driver->cuda,
											  .windows = facts->windows,
											  .path = facts->path});
}

void decide_library(const struct decide_facts *facts, struct jw_target device,
					const struct jw_driver *driver, struct decided *ret_decided,
					struct decide_work *ret_work, struct decide_work *ret_loose)
{
	const uint32_t needed = gpu_runtime_cuda(facts->runtime_cuda);
	struct decide_counts counts = decide_begin(facts->path, device, decide_loading(facts, driver));
	struct decide_work start = {0}, link = {0}, loose = {0};
	const bool link_empty = is_link_empty(facts);

	for (size_t i = 0; i < facts->piece_count; i++) {
		const struct jw_piece *piece = &facts->pieces[i];
		struct devcode_entry *entries = mem_array(piece->entry_count, sizeof *entries);
		struct jw_target *texts = mem_array(piece->entry_count, sizeof *texts);
		const struct devcode_container container = {
			.bytes = (const uint8_t *)"", .entries = entries, .entry_count = piece->entry_count};
		struct decide_piece counted = {.role = (enum devcode_role)piece->role,
									   .in_file = !facts->library,
									   .linked = piece->linked,
									   .link_empty = link_empty,
									   .special = true};
		bool relocatable = piece->role == DEVCODE_RELOCATABLE, cubins = piece->entry_count != 0;
		struct plan_judgement judged;

		for (size_t k = 0; k < piece->entry_count; k++) {
			const struct jw_piece_entry *fact = &piece->entries[k];

			entries[k] = entry_of(fact);
			texts[k] = fact->text;
			relocatable = relocatable || fact->relocatable;
			counted.lto = counted.lto || fact->kind == DEVCODE_KIND_LTOIR;
			counted.code = counted.code || fact->kind != DEVCODE_KIND_LTOIR;
			counted.machine = counted.machine || fact->kind == DEVCODE_KIND_CUBIN;
			cubins = cubins && fact->kind == DEVCODE_KIND_CUBIN;
			counted.special =
				counted.special &&
				(fact->hollow || (fact->text.sm ? fact->text.suffix : fact->target.suffix));
			counted.sms |= fact->hollow ? 0 : decide_sm_bit(fact->target.sm);
		}
		judged = plan_judge(&container, texts, relocatable, device, driver);
		counted.hollow = piece->hollow || (piece->empty && cubins);
		counted.verdict = judged.verdict;
		counted.reason = judged.reason;
		counted.native = decide_takes_cubin(judged.verdict, judged.reason, judged.error);
		if (piece->empty && decide_asks_nothing(&counted, counts.loading)) {
			judged = (struct plan_judgement){.verdict = VERDICT_NOTHING};
			counted.code = false;
		}
		if (decide_lacks_kernels(judged.hollow, counted.role, piece->linked))
			judged = (struct plan_judgement){.verdict = VERDICT_NOTHING};
		if (piece->role == DEVCODE_REGISTERED &&
			(judged.verdict < VERDICT_CANNOT || judged.reason == REASON_NEWER_CODE ||
			 (piece->empty && !counted.code)) &&
			is_too_old(driver, needed))
			judged = (struct plan_judgement){
				.verdict = VERDICT_CANNOT,
				.reason = REASON_RUNTIME,
				.needs = gpu_newer_driver(gpu_cuda_driver(needed), judged.needs)};
		counted.verdict = judged.verdict;
		counted.family = judged.family;
		counted.reason = judged.reason;
		counted.needs = judged.needs;
		decide_count(&counts, &counted, piece->containers);
		if (judged.verdict == VERDICT_JIT || judged.verdict == VERDICT_LINK) {
			const struct jw_piece_entry *taken = &piece->entries[judged.entry];

			decide_add_work(judged.verdict == VERDICT_LINK                   ? &link
							: facts->library && piece->role == DEVCODE_LOOSE ? &loose
																			 : &start,
							&(struct decide_work){taken->modules, taken->ptx_bytes, taken->cost_ms,
												  taken->longest_ms});
		}
		mem_free(entries);
		mem_free(texts);
	}
	*ret_decided =
		facts->piece_count ? decide_counted(&counts) : decide_host(facts->runtime_cuda, driver);
	if (decide_links(&counts))
		decide_add_work(&start, &link);
	if (ret_work)
		*ret_work = start;
	if (ret_loose)
		*ret_loose = loose;
}

/* ---- packages */

/* The members with one number in decide_member: of its variants, folder or package. */
struct together {
	bool runs;
	bool attention;  /* a library of FlashAttention 2 runs */
	bool for_family; /* a library that runs has machine code for the GPU's family alone */
	bool own;        /* a file, not a library, is machine code for exactly the GPU */
	size_t counting; /* of files: 1 + the index of the one that counts if none runs */
	size_t most;     /* the number of pieces in the largest library; variants count as one */
	bool most_fails;
	size_t needy; /* libraries that have code or need a CUDA runtime that refuses the driver */
};

static bool fails(const struct decided *decided)
{
	return decided->fate == DECIDE_LACKS || decided->fate == DECIDE_REFUSED;
}

/* Adds a file to its variants, of which that counts which only needs a newer driver. */
static void add_file(struct together *variants, const struct decide_member *members, size_t index)
{
	const struct decided *decided = &members[index].decided;

	variants->own = variants->own || decided->own;
	if (fails(decided) &&
		(!variants->counting ||
		 (decided->needs.cuda && !members[variants->counting - 1].decided.needs.cuda)))
		variants->counting = index + 1;
}

/* Returns whether another library is loaded instead of this one, which fails. */
static bool is_replaced(const struct decide_member *member, const struct together *variants,
						const struct together *package)
{
	return variants->runs || (member->attention == ATTENTION_3 && package->attention &&
							  member->decided.fate == DECIDE_LACKS);
}

/* Decides about a library without code of its own. */
static enum decide_part host_part(const struct decide_member *member,
								  const struct together *variants, const struct together *group)
{
	if (!fails(&member->decided) || member->bundled)
		return DECIDE_GOOD;
	if (variants[member->variants].runs)
		return DECIDE_VARIANT;
	return group->runs || group->needy * 2 < member->siblings ? DECIDE_PART : DECIDE_FAILS;
}

void decide_packages(struct decide_member *members, size_t count, size_t numbers)
{
	struct together *variants = mem_array(numbers, sizeof *variants),
					*folders = mem_array(numbers, sizeof *folders),
					*packages = mem_array(numbers, sizeof *packages),
					*groups = mem_array(numbers, sizeof *groups);

	for (size_t i = 0; i < count; i++) {
		const bool runs = members[i].decided.fate == DECIDE_RUNS;

		variants[members[i].variants].runs |=
			runs || (members[i].decided.host && !fails(&members[i].decided));
		groups[members[i].group].runs |= runs && !members[i].bundled;
		groups[members[i].group].needy +=
			members[i].own && (!members[i].decided.host || fails(&members[i].decided));
		folders[members[i].folder].runs |= runs;
		packages[members[i].package].runs |= runs;
		packages[members[i].package].attention |= runs && members[i].attention == ATTENTION_2;
		packages[members[i].package].for_family |=
			runs && !members[i].bundled && members[i].decided.for_family;
		if (!members[i].library)
			add_file(&variants[members[i].variants], members, i);
	}
	for (size_t i = 0; i < count; i++) {
		const struct decided *decided = &members[i].decided;
		struct together *package = &packages[members[i].package];
		const bool failing = fails(decided),
				   variant =
					   failing && is_replaced(&members[i], &variants[members[i].variants], package),
				   fatal = failing && !variant;
		/* The variant that runs counts, not one that fails. */
		const size_t pieces = members[i].bundled || members[i].aside || members[i].dispensable ||
									  variant || (fatal && (decided->special || decided->chosen))
								  ? 0
								  : decided->pieces;

		if (decided->host)
			continue;
		if (pieces > package->most || (pieces == package->most && !fatal)) {
			package->most = pieces;
			package->most_fails = fatal;
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct decide_member *member = &members[i];
		const struct decided *decided = &member->decided;
		const struct together *package = &packages[member->package];
		/* The library's own runtime registers its code, or the library loads it; other starts
		 * continue. */
		const bool optional = member->bundled || decided->by_share;
		const struct together *like = &variants[member->variants];

		member->part = DECIDE_GOOD;
		if (decided->host)
			member->part = host_part(member, variants, &groups[member->group]);
		else if (!member->library && like->own && decided->text)
			member->part = DECIDE_SPARE;
		else if (fails(decided))
			member->part = is_replaced(member, like, package)                     ? DECIDE_VARIANT
						   : !member->library && like->counting != i + 1          ? DECIDE_LIKE
						   : member->dispensable                                  ? DECIDE_PART
						   : decided->fate == DECIDE_REFUSED && !optional         ? DECIDE_FAILS
						   : package->runs && !package->most_fails                ? DECIDE_PART
						   : decided->fate == DECIDE_LACKS && package->for_family ? DECIDE_PART
						   : decided->special && folders[member->folder].runs     ? DECIDE_PART
																				  : DECIDE_FAILS;
		else if (decided->fate == DECIDE_RUNS && (decided->lacking || decided->too_new))
			member->part = DECIDE_PART;
	}
	mem_free(variants);
	mem_free(groups);
	mem_free(folders);
	mem_free(packages);
}
