#include "plan/analyse.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/set.h"
#include "code/cubin.h"
#include "code/kernel_names.h"
#include "code/ptx.h"
#include "code/ptx_text.h"
#include "code/rules.h"
#include "code/walk.h"
#include "os/platform.h"
#include "os/uv.h"
#include "plan/judged.h"
#include "plan/picks.h"
#include "plan/pieces.h"

/* From a file to its modules in five steps:
 *
 *     1. read a container         read_until_image   code_next gives one after the other
 *     2. judge it for each GPU    judge_container    and for each driver, by plan_judge
 *     3. pick the module          pick_modules       the PTX that the driver would compile
 *     4. compute its key          picks.c            many at a time, all before the image is added
 *     5. add it to the plan       add_image          counts the image's containers by their
 *                                                    sections, makes each module once, and passes
 *                                                    all to the sink: plan.c's adds it to the plan
 *
 * Steps 2 to 4 happen for each container, step 5 for each complete image. analyse_path, at the end
 * of this file, repeats them for each part of the file. */

/* The most memory for the containers of one file or member. The whole command has
 * BUILD_MAX_HELD. */
#define MAX_READING_BYTES (UINT64_C(1) << 30)

/* State while the containers of one image are read. */
struct reading {
	const struct analyse_question *question;
	const struct analyse_sink *sink;
	struct jw_driver releases[GPU_MAX_RELEASES];
	size_t release_count; /* 0 if not requested */
	bool stopped;         /* the sink has stopped it */
	struct judged judged;
	struct picks picks;
	/* For the current container: verdicts, as many rows as there may be; its entries, corrected by
	 * their texts; and the targets that the texts name, if they were read (else sm is 0). */
	struct plan_judgement *rows;
	struct devcode_entry *corrected;
	struct jw_target *texts;
	size_t corrected_capacity;
	struct buf scratch;
};

static int reading_begin(struct jw_error *err, struct reading *reading,
						 const struct analyse_question *question, const struct analyse_sink *sink)
{
	*reading = (struct reading){
		.question = question, .sink = sink, .scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD)};
	if (picks_init(err, &reading->picks, question->targets, question->target_count,
				   question->profile))
		return -1;
	if (question->releases)
		reading->release_count = gpu_releases(reading->releases);
	reading->rows = mem_array((1 + reading->release_count) * (question->target_count + 1),
							  sizeof *reading->rows);
	return 0;
}

static void reading_free(struct reading *reading)
{
	pieces_forms_clear(&reading->judged);
	mem_free(reading->judged.forms);
	mem_free(reading->judged.containers);
	mem_free(reading->judged.verdicts);
	mem_free(reading->judged.entries);
	picks_free(&reading->picks);
	mem_free(reading->rows);
	mem_free(reading->corrected);
	mem_free(reading->texts);
	buf_free(&reading->scratch);
	*reading = (struct reading){0};
}

/* Clears the state for the next image. */
static void reading_clear(struct reading *reading)
{
	reading->judged.count = 0;
	reading->judged.verdict_count = 0;
	reading->judged.entry_count = 0;
	pieces_forms_clear(&reading->judged);
	picks_clear(&reading->picks);
}

/* ---- 2. Judge a container for each GPU. */

/* The most bytes of code that is read because it may declare nothing; and of code that is read
 * because it may have no kernel, while other code of its container has some. Of machine code that
 * is not in zstd, the beginning tells first (devcode_names_code). */
enum {
	MAX_PTX = 1024,
	MAX_CUBIN = 4096,
	MAX_HOLLOW = 1 << 14,
	MAX_HOLLOW_ZSTD = 1 << 11, /* compressed */
	MAX_HOLLOW_CUBIN = 1 << 20
};

/* Returns whether the container is a PTX text: a file, or in a program's data; never compressed. */
static bool is_text(const struct devcode_container *container)
{
	return container->entry_count == 1 && container->entries[0].kind == DEVCODE_KIND_PTX &&
		   !container->entries[0].payload_offset;
}

/* The most that PTX or machine code declares. */
enum declared { DECLARED_NOTHING, DECLARED_OTHERS, DECLARED_KERNELS, DECLARED_UNKNOWN };

static enum declared declared_by_ptx(struct devcode_view ptx)
{
	struct devcode_ptx_header header;
	struct ptx_features features;

	if (ptx_header_read(NULL, ptx.data, ptx.size, &header))
		return DECLARED_UNKNOWN;
	ptx_count(ptx.data, ptx.size, &features);
	return features.entries      ? DECLARED_KERNELS
		   : features.statements ? DECLARED_OTHERS
								 : DECLARED_NOTHING;
}

static enum declared declared_by_cubin(struct devcode_view cubin)
{
	struct cubin_symbols symbols;
	enum declared declared;

	if (cubin_symbols_read(NULL, cubin, &symbols))
		return DECLARED_UNKNOWN;
	declared = symbols.count ? DECLARED_KERNELS : symbols.any ? DECLARED_OTHERS : DECLARED_NOTHING;
	cubin_symbols_free(&symbols);
	return declared;
}

/* Returns whether an entry is so large that it has kernels. */
static bool is_large(const struct devcode_entry *entry, bool alone)
{
	const bool ptx = devcode_kind_is_ptx(entry->kind), zstd = entry->compression == DEVCODE_ZSTD;

	if (alone)
		return entry->size_bytes > (ptx ? MAX_PTX : MAX_CUBIN);
	if (!ptx && !zstd)
		return entry->size_bytes > MAX_HOLLOW_CUBIN;
	return entry->size_bytes > MAX_HOLLOW || (zstd && entry->stored_bytes > MAX_HOLLOW_ZSTD);
}

static enum declared declared_by(struct reading *reading, const struct devcode_container *container,
								 const struct devcode_entry *entry)
{
	const bool ptx = devcode_kind_is_ptx(entry->kind);
	struct devcode_view view;

	if (entry->damaged)
		return DECLARED_UNKNOWN;
	if (is_large(entry, container->entry_count == 1) || entry->payload_offset == DEVCODE_NOT_HELD ||
		(!ptx && devcode_names_code(container, entry)))
		return DECLARED_KERNELS;
	if (devcode_payload(NULL, container, entry, &reading->scratch, &view))
		return DECLARED_UNKNOWN;
	return ptx ? declared_by_ptx(view) : declared_by_cubin(view);
}

/* Finds out what the container declares. It is empty if none of its PTX and machine code declares
 * anything: no program can use it on any GPU. nvcc makes such containers for files without kernels
 * (libcufftw.so). If some of its code has kernels, and other code has none, the latter is hollow:
 * the driver takes it for its GPU all the same, and finds no kernel in it. Sources whose kernels
 * are for newer GPUs alone (__CUDA_ARCH__) become such code. */
static void find_declared(struct reading *reading, const struct devcode_container *container,
						  struct devcode_entry *entries, struct judged_container *noted)
{
	const size_t count = container->entry_count;
	bool ptx = false, cubins = true, nothing = true, kernels = false, unknown = false;

	for (size_t i = 0; i < count; i++) {
		const uint32_t kind = entries[i].kind;

		if (kind == DEVCODE_KIND_TILE || !devcode_kind_is_known(kind))
			return;
		ptx = ptx || devcode_kind_is_ptx(kind);
		cubins = cubins && kind == DEVCODE_KIND_CUBIN;
	}
	for (size_t i = 0; i < count; i++) {
		enum declared declared;

		if (entries[i].kind == DEVCODE_KIND_LTOIR) {
			nothing = nothing && ptx;
			unknown = unknown || !ptx;
			continue;
		}
		declared = declared_by(reading, container, &entries[i]);
		nothing = nothing && declared == DECLARED_NOTHING;
		kernels = kernels || declared == DECLARED_KERNELS;
		unknown = unknown || declared == DECLARED_UNKNOWN;
		entries[i].hollow = declared == DECLARED_NOTHING || declared == DECLARED_OTHERS;
		noted->hollow = noted->hollow || (cubins && declared == DECLARED_NOTHING);
	}
	noted->empty = nothing;
	noted->kernelless = !kernels && !unknown;
	for (size_t i = 0; i < count && !kernels; i++)
		entries[i].hollow = false;
}

/* Finds out whether the container is a PTX text without kernels for the driver, or one that a
 * program edits before the driver compiles it. One without kernels is of OptiX programs, which
 * reach the driver's compiler only through OptiX, or has functions alone, which programs link to
 * other code (Cycles' kernel_optix_osl_services.ptx). */
static void examine_text(struct reading *reading, const struct devcode_container *container,
						 bool *ret_kernelless, bool *ret_edited)
{
	const struct devcode_entry *entry = container->entries;
	struct ptx_features features;
	struct devcode_view view;

	*ret_kernelless = *ret_edited = false;
	if (!is_text(container) || entry->damaged ||
		devcode_payload(NULL, container, entry, &reading->scratch, &view))
		return;
	ptx_count(view.data, view.size, &features);
	*ret_kernelless = !features.code;
	*ret_edited = features.edited;
}

/* Fills in a row of verdicts with one driver, by the headers first. If no cubin runs, reads the
 * texts, because the driver chooses by the entry's header, but compiles the text. */
static void judge_with(struct reading *reading, const struct devcode_container *container,
					   const struct jw_driver *driver, bool *texts_read, struct plan_judgement *row)
{
	const struct analyse_question *question = reading->question;

	for (size_t t = 0; t < question->target_count; t++) {
		row[t] = plan_judge(container, reading->texts, false, question->targets[t], driver);
		if (*texts_read || row[t].verdict < VERDICT_LINK || row[t].verdict == VERDICT_NOTHING)
			continue;
		for (size_t i = 0; i < container->entry_count; i++)
			plan_read_text(container, &reading->corrected[i], &reading->texts[i]);
		*texts_read = true;
		row[t] = plan_judge(container, reading->texts, false, question->targets[t], driver);
	}
}

static bool same_judgements(const struct plan_judgement *a, const struct plan_judgement *b,
							size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].verdict != b[i].verdict || a[i].reason != b[i].reason ||
			a[i].entry != b[i].entry || a[i].family != b[i].family || a[i].tile != b[i].tile ||
			a[i].kind != b[i].kind || a[i].needs.cuda != b[i].needs.cuda ||
			a[i].error != b[i].error || a[i].hollow != b[i].hollow)
			return false;
	return true;
}

/* Copies the container's entries, since their texts may correct them, and keeps their facts. */
static void note_entries(struct reading *reading, const struct devcode_container *container,
						 struct judged_container *ret_noted)
{
	struct judged_container noted = {.first_entry = (uint32_t)reading->judged.entry_count,
									 .entry_count = (uint32_t)container->entry_count,
									 .special = true};
	const size_t count = container->entry_count;
	struct devcode_container copy = *container;
	struct judged *judged = &reading->judged;

	if (count > reading->corrected_capacity) {
		reading->corrected = mem_resize(reading->corrected, count * sizeof *reading->corrected);
		reading->texts = mem_resize(reading->texts, count * sizeof *reading->texts);
		reading->corrected_capacity = count;
	}
	if (count) {
		memcpy(reading->corrected, container->entries, count * sizeof *reading->corrected);
		memset(reading->texts, 0, count * sizeof *reading->texts);
	}
	copy.entries = reading->corrected;
	find_declared(reading, &copy, reading->corrected, &noted);
	for (size_t i = 0; i < count; i++) {
		struct devcode_entry *entry = &reading->corrected[i];
		struct jw_target target;

		/* From compute capability 9.0 on, a PTX text can name a narrower target than its entry's
		 * header. */
		if (devcode_kind_is_ptx(entry->kind) && entry->target.sm >= 90 && !entry->target.suffix)
			plan_read_text(&copy, entry, &reading->texts[i]);
		target = reading->texts[i].sm ? reading->texts[i] : entry->target;
		VEC_GROW(judged->entries, judged->entry_capacity, judged->entry_count);
		noted.code = noted.code || entry->kind != DEVCODE_KIND_LTOIR;
		noted.special = noted.special && (target.suffix || entry->hollow);
		noted.sms |= entry->hollow ? 0 : decide_sm_bit(entry->target.sm);
		noted.machine = noted.machine || entry->kind == DEVCODE_KIND_CUBIN;
		noted.lto = noted.lto || entry->kind == DEVCODE_KIND_LTOIR;
		if (!entry->baked) {
			const uint32_t cuda = devcode_compiler(entry);

			noted.compiler = cuda > noted.compiler ? cuda : noted.compiler;
		}
		judged->entries[judged->entry_count++] = (struct judged_entry){
			entry->kind, target, entry->size_bytes, entry->offset, entry->stored_bytes};
	}
	if (is_text(container))
		noted.kernels = ptx_text_kernels(container->bytes, (size_t)container->size_bytes);
	*ret_noted = noted;
}

/* Judges a container whose entries are noted, with the question's driver, and with all releases if
 * the question asks for them: reading->rows, *ret_count verdicts in all. */
static void judge_container(struct reading *reading, const struct devcode_container *container,
							struct judged_container *noted, size_t *ret_count)
{
	const struct analyse_question *question = reading->question;
	const size_t targets = question->target_count;
	struct judged *judged = &reading->judged;
	bool texts_read = false, kernelless, edited;
	size_t rows = 0;

	examine_text(reading, container, &kernelless, &edited);
	noted->empty = noted->empty || kernelless;
	noted->first_verdict = judged->verdict_count;
	for (size_t d = 0; d <= reading->release_count; d++) {
		struct plan_judgement *row = reading->rows + rows * targets;
		size_t same = 0;

		judge_with(reading, container, d ? &reading->releases[d - 1] : &question->driver,
				   &texts_read, row);
		for (size_t t = 0; kernelless && t < targets; t++)
			row[t] = (struct plan_judgement){.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
		for (size_t t = 0; edited && t < targets; t++)
			if (row[t].verdict == VERDICT_JIT)
				row[t] = (struct plan_judgement){
					.verdict = VERDICT_UNKNOWN, .kind = DEVCODE_KIND_PTX, .entry = SIZE_MAX};
		while (same < rows && !same_judgements(reading->rows + same * targets, row, targets))
			same++;
		noted->rows[d] = (uint8_t)same;
		rows += same == rows;
	}
	for (size_t i = 0; i < rows * targets; i++) {
		const struct plan_judgement *row = &reading->rows[i];

		VEC_GROW(judged->verdicts, judged->verdict_capacity, judged->verdict_count);
		judged->verdicts[judged->verdict_count++] = (struct judged_verdict){
			(uint8_t)row->verdict,
			(uint8_t)row->reason,
			row->error,
			row->tile,
			row->kind,
			row->needs,
			.pick = JUDGED_NO_PICK,
			.code = noted->code,
			.family = row->family,
			.hollow = row->hollow,
		};
	}
	*ret_count = rows * targets;
}

/* ---- 3. Pick the PTX entries that the driver would compile: each once for all GPUs and drivers
 * that need it. Step 4, their keys, is picks.c's. */

/* Adds each entry that the driver would compile to the picks, once for all GPUs that need it. */
static int pick_modules(struct jw_error *err, struct reading *reading,
						const struct devcode_container *container, size_t first, size_t count)
{
	struct judged_verdict *kept = reading->judged.verdicts + first;
	const struct plan_judgement *rows = reading->rows;

	for (size_t i = 0; i < count; i++) {
		uint32_t targets = 0;
		size_t pick;

		if (rows[i].entry == SIZE_MAX || kept[i].pick != JUDGED_NO_PICK)
			continue;
		for (size_t k = i; k < count; k++)
			targets |= (uint32_t)(rows[k].entry == rows[i].entry)
					   << k % reading->question->target_count;
		if (picks_add(err, &reading->picks, container, &container->entries[rows[i].entry], targets,
					  &pick))
			return -1;
		for (size_t k = i; k < count; k++)
			if (rows[k].entry == rows[i].entry)
				kept[k].pick = (uint32_t)pick;
	}
	return 0;
}

/* Names kernels of the first containers of each form that some target cannot use. */
static void name_kernels(struct reading *reading, const struct devcode_container *container,
						 const struct judged_container *noted)
{
	enum { MAX_NAMED = 3 };
	const struct judged_verdict *verdicts = reading->judged.verdicts + noted->first_verdict;
	bool wanted = reading->question->kernels;
	struct judged_form *form;

	if (noted->form == PIECES_NO_FORM || noted->empty)
		return;
	form = &reading->judged.forms[noted->form];
	for (size_t t = 0; !wanted && t < reading->question->target_count; t++)
		wanted = verdicts[t].verdict == VERDICT_CANNOT || verdicts[t].verdict == VERDICT_NOTHING ||
				 verdicts[t].hollow;
	if (!wanted || form->named == MAX_NAMED || kernels_full(form->kernels))
		return;
	form->named++;
	kernels_add(form->kernels, container, &reading->scratch);
}

/* Returns about how much memory an image needs until the sink has it: with notes, and with a module
 * of each pick for each GPU. */
static uint64_t reading_bytes(const struct reading *reading)
{
	const struct judged *judged = &reading->judged;
	const uint64_t module = sizeof(struct pick_keys) + sizeof(struct plan_module);

	return (uint64_t)judged->count * sizeof *judged->containers +
		   (uint64_t)judged->verdict_count * sizeof *judged->verdicts +
		   (uint64_t)judged->entry_count * sizeof *judged->entries +
		   reading->picks.count *
			   (sizeof *reading->picks.items + reading->question->target_count * module);
}

/* Does steps 2 to 4 for a container that was read. */
static int add_container(struct jw_error *err, struct reading *reading,
						 const struct devcode_container *container)
{
	struct devcode_container corrected = *container;
	struct judged *judged = &reading->judged;
	struct judged_container noted;
	size_t verdicts;

	if (walk_check(err, &reading->sink->cancel)) {
		reading->stopped = true;
		return -1;
	}
	/* The image before it turned out to be unreadable and was never completed. */
	if (!container->index)
		reading_clear(reading);
	/* Verdicts and containers are found by the container's index. */
	if (container->index != judged->count)
		return error_set(err, JW_ERR_FORMAT, "containers out of order");
	if (reading_bytes(reading) > MAX_READING_BYTES)
		return error_set(err, JW_ERR_LIMIT,
						 "its device code needs more than %d GiB of memory; name fewer GPUs",
						 (int)(MAX_READING_BYTES >> 30));
	VEC_GROW(judged->containers, judged->capacity, judged->count);
	note_entries(reading, container, &noted);
	corrected.entries = reading->corrected;
	judge_container(reading, &corrected, &noted, &verdicts);
	if (!reading->question->verdicts_only &&
		pick_modules(err, reading, &corrected, noted.first_verdict, verdicts))
		return -1;
	noted.form = pieces_form_of(judged, &corrected, reading->texts, noted.empty, noted.kernelless);
	name_kernels(reading, &corrected, &noted);
	judged->containers[judged->count++] = noted;
	return 0;
}

/* ---- 5. An image is complete: its containers are counted by their sections, and its modules are
 * passed to the sink. */

struct jw_driver analyse_needs(const struct analyse_target *target)
{
	struct jw_driver needs = {0};

	for (size_t i = 0; i < REASON_COUNT; i++)
		needs = gpu_newer_driver(needs, target->needs[i]);
	return needs;
}

struct plan_module *module_find(struct plan_module *modules, const struct set *known,
								const struct plan_module *like)
{
	size_t cursor = 0, index;

	while ((index = set_find(known, module_name(like), &cursor)) != SET_NONE)
		if (modules[index].key == like->key && modules[index].form == like->form &&
			cache_identity_equal(&modules[index].identity, &like->identity))
			return &modules[index];
	return NULL;
}

struct account_target {
	struct analyse_target sums;
	struct decide_counts counts;
	/* registered containers for one architecture each, which may be a set (decide.h) */
	char set_kernels[KERNELS_TEXT];
	/* for each reason, the driver's error for the first container */
	uint16_t errors[REASON_COUNT];
	/* inputs of a link that the driver refuses; they are not in `sums` */
	size_t input_reasons[REASON_COUNT];
	struct jw_driver input_needs[REASON_COUNT];
	size_t to_link;   /* containers of relocatable sections that need a link */
	struct set known; /* modules by identity */
};

/* The rank of the best text with the same kernels, for each target. */
struct text_copies {
	uint32_t best[ANALYSE_MAX_TARGETS];
};

/* Counts of one image with one driver. */
struct account {
	const struct reading *reading;
	const struct devcode_image *image;
	size_t driver;    /* the number of the verdicts in judged_container.rows */
	uint32_t runtime; /* the oldest CUDA version that a driver must have for the CUDA runtime */
	bool link_empty;  /* as in decide_piece */
	struct account_target targets[ANALYSE_MAX_TARGETS];
	struct plan_module *modules;
	size_t module_count, module_capacity;
	struct jw_scan_count *counts;
	size_t count_count, count_capacity;
	uint64_t ptx_bytes;
	/* Texts with the same kernels, of which a program loads one, by ptx_text_kernels. */
	struct set copies_by_kernels;
	struct text_copies *copies;
	size_t copy_count, copy_capacity;
};

/* Returns 0 for cubins, 1 for PTX, 2 for others. */
static unsigned list_of(const struct jw_scan_count *count)
{
	return count->kind == DEVCODE_KIND_CUBIN ? 0 : count->kind == DEVCODE_KIND_PTX ? 1 : 2;
}

/* Orders by list, then kind, then capability, then suffix. */
static int order_counts(const void *a, const void *b)
{
	const struct jw_scan_count *left = a, *right = b;

	if (list_of(left) != list_of(right))
		return list_of(left) < list_of(right) ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->target.sm != right->target.sm)
		return left->target.sm < right->target.sm ? -1 : 1;
	return left->target.suffix - right->target.suffix;
}

void analyse_divide_counts(struct jw_scan_image *image, const struct jw_scan_count *counts,
						   size_t count)
{
	size_t ends[3];

	for (size_t i = 0, list = 0; list < 3; ends[list++] = i)
		while (i < count && list_of(&counts[i]) <= list)
			i++;
	image->cubins = counts;
	image->cubin_count = ends[0];
	image->ptx = counts + ends[0];
	image->ptx_count = ends[1] - ends[0];
	image->other = counts + ends[1];
	image->other_count = ends[2] - ends[1];
}

/* Adds an entry to the counts of its kind and target. */
static int count_entry(struct jw_error *err, struct account *account,
					   const struct judged_entry *entry)
{
	const bool ptx = devcode_kind_is_ptx(entry->kind), cubin = entry->kind == DEVCODE_KIND_CUBIN;
	const struct jw_scan_count one = {.kind = ptx ? DEVCODE_KIND_PTX : entry->kind,
									  .target =
										  ptx || cubin ? entry->target : (struct jw_target){0},
									  .entries = 1,
									  .stored_bytes = entry->stored_bytes};

	if (ptx)
		account->ptx_bytes += entry->size_bytes;
	for (size_t i = 0; i < account->count_count; i++) {
		struct jw_scan_count *count = &account->counts[i];

		if (count->kind == one.kind && jw_target_equal(count->target, one.target)) {
			count->entries++;
			count->stored_bytes += entry->stored_bytes;
			return 0;
		}
	}
	/* Headers of hostile files can name any number of kinds and targets. */
	if (VEC_ROOM(err, account->counts, account->count_capacity, account->count_count, 4096))
		return -1;
	account->counts[account->count_count++] = one;
	return 0;
}

/* Makes a module from a pick, once for each image. */
static void add_module(struct account *account, uint32_t t, enum plan_verdict verdict,
					   enum devcode_role role, uint32_t index, bool superseded)
{
	const struct picks *picks = &account->reading->picks;
	const struct pick *pick = &picks->items[index];
	const struct pick_keys keys = picks->keys[index * picks->target_count + t];
	const bool link = verdict == VERDICT_LINK;
	struct analyse_target *target = &account->targets[t].sums;
	struct plan_module module = pick->module, *known;

	if (!pick->readable) {
		target->unreadable++;
		return;
	}
	module.target = t;
	module.superseded = superseded;
	module.role = role;
	module.form = link ? CACHE_KEY_LINK : pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD;
	module.key = link ? keys.link : keys.load;
	module.identity = link ? pick->link : pick->load;
	if (picks->keyed)
		module.key_bytes = picks->targets[t].start_bytes + pick->body_bytes +
						   (link ? pick->link_tail_bytes : pick->load_tail_bytes);
	known = module_find(account->modules, &account->targets[t].known, &module);
	/* A loose module that is found again in a registered section counts as registered. */
	if (known && known->role == DEVCODE_LOOSE && role != DEVCODE_LOOSE) {
		if (!link)
			target->loose_bytes -= known->payload_bytes;
		*known = module;
	}
	if (known)
		return;
	VEC_GROW(account->modules, account->module_capacity, account->module_count);
	set_add(&account->targets[t].known, module_name(&module), account->module_count);
	account->modules[account->module_count++] = module;
	if (superseded)
		return;
	if (link) {
		target->link_modules++;
		target->link_bytes += module.payload_bytes;
		return;
	}
	target->jit_modules++;
	target->jit_bytes += module.payload_bytes;
	if (role == DEVCODE_LOOSE)
		target->loose_bytes += module.payload_bytes;
}

static bool is_loose_file(const struct devcode_image *image)
{
	return image->format != DEVCODE_ELF && image->format != DEVCODE_PE;
}

/* Returns the rank of a text: the newest usable target ranks best, with a suffix before without; 0
 * if unusable. */
static uint32_t rank_of(const struct account *account, const struct judged_container *container,
						size_t target)
{
	const struct jw_target text = account->reading->judged.entries[container->first_entry].target;

	if (!gpu_ptx_fits(text, account->reading->question->targets[target]))
		return 0;
	return text.sm * 4U + (text.suffix == 'a' ? 3 : text.suffix ? 2 : 1);
}

static bool is_superseded(const struct account *account, size_t index, size_t target)
{
	const struct judged_container *container = &account->reading->judged.containers[index];
	size_t cursor = 0, at;

	if (!container->kernels || !account->copies || is_loose_file(account->image))
		return false;
	at = set_find(&account->copies_by_kernels, container->kernels, &cursor);
	return at != SET_NONE && rank_of(account, container, target) < account->copies[at].best[target];
}

static uint32_t cuda_of(const struct reading *reading, size_t driver)
{
	return driver ? reading->releases[driver - 1].cuda : reading->question->driver.cuda;
}

static bool is_too_old(const struct reading *reading, size_t driver, uint32_t runtime)
{
	const uint32_t cuda = cuda_of(reading, driver);

	return cuda && cuda < runtime;
}

static enum loading loading_with(const struct reading *reading, const struct devcode_image *image,
								 uint32_t runtime_cuda, size_t driver)
{
	return loading_of(&(struct loading_facts){.runtime_cuda = runtime_cuda,
											  .driver_cuda = cuda_of(reading, driver),
											  .windows = image->format == DEVCODE_PE,
											  .setting = reading->question->setting,
											  .path = image->path,
											  .member = image->member});
}

/* Returns the judgement of a container that is registered with a CUDA runtime for which the driver
 * is too old: a program sees the error of the runtime, which comes first. */
static struct judged_verdict refused_by_runtime(const struct account *account, bool empty,
												const struct judged_verdict *judged)
{
	struct judged_verdict refused = *judged;

	if (judged->verdict < VERDICT_CANNOT || judged->reason == REASON_NEWER_CODE ||
		(empty && !judged->code))
		refused = (struct judged_verdict){
			.verdict = VERDICT_CANNOT,
			.reason = REASON_RUNTIME,
			.needs = gpu_newer_driver(gpu_cuda_driver(account->runtime), judged->needs),
			.pick = JUDGED_NO_PICK,
			.code = judged->code};
	if (refused.needs.cuda)
		refused.error = PLAN_ERROR_OLD_DRIVER;
	return refused;
}

/* Returns whether neither a linked container nor an input of a link declares anything. */
static bool is_link_empty(const struct account *account)
{
	const struct devcode_image *image = account->image;

	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		if (decide_is_of_link(devcode_role_of(image, container), container->linked) &&
			!account->reading->judged.containers[container->index].empty)
			return false;
	}
	return true;
}

/* Judges one container, whose section is now known. */
static void count_container(struct account *account, size_t index, enum devcode_role role,
							bool linked)
{
	const struct judged_container *container = &account->reading->judged.containers[index];
	const bool registered = role == DEVCODE_REGISTERED || is_loose_file(account->image);
	const bool empty = judged_is_empty(container->empty, container->kernelless, role, linked);
	const size_t targets = account->reading->question->target_count;
	const struct judged_verdict *judgements = account->reading->judged.verdicts +
											  container->first_verdict +
											  container->rows[account->driver] * targets;

	for (uint32_t t = 0; t < targets; t++) {
		const bool superseded = is_superseded(account, index, t);
		struct analyse_target *target = &account->targets[t].sums;
		struct judged_verdict judged = judgements[t];
		const bool native = decide_takes_cubin((enum plan_verdict)judged.verdict,
											   (enum plan_reason)judged.reason, judged.error);
		enum plan_verdict verdict;

		if (empty &&
			decide_asks_nothing(&(struct decide_piece){.verdict = (enum plan_verdict)judged.verdict,
													   .reason = (enum plan_reason)judged.reason,
													   .role = role,
													   .in_file = is_loose_file(account->image),
													   .linked = linked,
													   .link_empty = account->link_empty},
								account->targets[t].counts.loading))
			judged = (struct judged_verdict){.verdict = VERDICT_NOTHING, .pick = JUDGED_NO_PICK};
		if (decide_lacks_kernels(judged.hollow, role, linked))
			judged = (struct judged_verdict){.verdict = VERDICT_NOTHING,
											 .error = PLAN_ERROR_NOT_FOUND,
											 .pick = JUDGED_NO_PICK,
											 .code = judged.code};
		if (role == DEVCODE_REGISTERED &&
			is_too_old(account->reading, account->driver, account->runtime))
			judged = refused_by_runtime(account, empty, &judged);
		verdict = superseded ? VERDICT_NOTHING : judged.verdict;
		if (verdict == VERDICT_JIT && role == DEVCODE_RELOCATABLE)
			verdict = VERDICT_LINK;
		/* An empty container has no code for other GPUs either, nor any that a runtime refuses. */
		const bool counts =
			judged.code || (verdict != VERDICT_NOTHING && judged.reason != REASON_RUNTIME);

		/* The container has kernels, but none in the code that the driver loads. */
		const bool lacking = verdict == VERDICT_NOTHING && judged.code && !superseded &&
							 !decide_is_of_link(role, linked);
		const bool refused_input = role == DEVCODE_RELOCATABLE && verdict == VERDICT_CANNOT &&
								   decide_is_fatal((enum plan_reason)judged.reason);
		size_t *reasons = refused_input ? account->targets[t].input_reasons : target->reasons;
		struct jw_driver *needs = refused_input ? account->targets[t].input_needs : target->needs;

		target->verdicts[verdict] += counts;
		reasons[judged.reason] += counts && verdict == VERDICT_CANNOT;
		if ((verdict == VERDICT_CANNOT || lacking) && !account->targets[t].errors[judged.reason])
			account->targets[t].errors[judged.reason] =
				judged.error ? judged.error : PLAN_ERROR_NO_BINARY;
		needs[judged.reason] = gpu_newer_driver(needs[judged.reason], judged.needs);
		decide_count(&account->targets[t].counts,
					 &(struct decide_piece){.verdict = verdict,
											.reason = judged.reason,
											.needs = judged.needs,
											.role = role,
											.in_file = is_loose_file(account->image),
											.linked = linked,
											.native = native,
											.code = judged.code && !superseded,
											.family = judged.family,
											.lto = container->lto,
											.machine = container->machine,
											.hollow = container->hollow,
											.special = container->special,
											.sms = container->sms},
					 1);
		if ((verdict == VERDICT_CANNOT || verdict == VERDICT_NOTHING) && judged.code &&
			!superseded && container->form != PIECES_NO_FORM)
			kernels_join(registered && !decide_is_several(container->sms) && !container->special &&
								 !linked
							 ? account->targets[t].set_kernels
							 : target->kernels,
						 account->reading->judged.forms[container->form].kernels);
		/* No module stands for a source that is edited, so it counts in a library's data, too. */
		if ((registered || judged.kind == DEVCODE_KIND_PTX) && judged.code) {
			target->tile += judged.tile;
			target->unknown += verdict == VERDICT_UNKNOWN;
			if (verdict == VERDICT_UNKNOWN || judged.reason == REASON_KIND)
				target->kind = judged.kind;
		}
		if (verdict == VERDICT_LINK && role == DEVCODE_RELOCATABLE)
			account->targets[t].to_link++;
		if (judged.pick != JUDGED_NO_PICK)
			add_module(account, t, verdict, role, judged.pick, superseded);
	}
}

/* Chooses the best one of the texts with the same kernels, for each target. */
static void rank_texts(struct account *account)
{
	const struct devcode_image *image = account->image;

	for (size_t i = 0; i < image->container_count && !is_loose_file(image); i++) {
		const struct judged_container *container =
			&account->reading->judged.containers[image->containers[i].index];
		size_t cursor = 0, at;

		if (!container->kernels)
			continue;
		at = set_find(&account->copies_by_kernels, container->kernels, &cursor);
		if (at == SET_NONE) {
			at = account->copy_count;
			VEC_GROW(account->copies, account->copy_capacity, at);
			set_add(&account->copies_by_kernels, container->kernels, at);
			account->copies[account->copy_count++] = (struct text_copies){0};
		}
		for (size_t t = 0; t < account->reading->question->target_count; t++) {
			uint32_t *best = &account->copies[at].best[t], rank = rank_of(account, container, t);

			*best = rank > *best ? rank : *best;
		}
	}
}

/* Leaves out the containers in the data that are too new, if the library does without them. */
static void leave_unneeded(struct analyse_target *target)
{
	target->verdicts[VERDICT_CANNOT] -= target->is.unneeded;
	target->verdicts[VERDICT_NOTHING] += target->is.unneeded;
	target->reasons[REASON_TOO_NEW] -= target->is.unneeded;
	if (!target->reasons[REASON_TOO_NEW])
		target->needs[REASON_TOO_NEW] = (struct jw_driver){0};
}

/* Adds the inputs of a link that the driver refuses, unless nothing reads them. */
static void add_inputs(struct account_target *target)
{
	struct analyse_target *sums = &target->sums;
	const bool unread = decide_is_linked(&target->counts);

	for (size_t i = 0; i < REASON_COUNT; i++) {
		const size_t count = target->input_reasons[i];

		sums->verdicts[VERDICT_CANNOT] -= unread ? count : 0;
		sums->verdicts[VERDICT_NOTHING] += unread ? count : 0;
		sums->reasons[i] += unread ? 0 : count;
		if (!unread)
			sums->needs[i] = gpu_newer_driver(sums->needs[i], target->input_needs[i]);
	}
}

static struct analyse_cause cause_of(const struct account *account, struct jw_target device,
									 uint32_t toolkit)
{
	struct analyse_cause cause = {.toolkit = toolkit};
	bool plain = false;

	for (size_t i = 0; i < account->count_count; i++) {
		const struct jw_scan_count *count = &account->counts[i];
		const bool ptx = count->kind == DEVCODE_KIND_PTX;

		if (!ptx && count->kind != DEVCODE_KIND_CUBIN)
			continue;
		plain = plain || (ptx && !count->target.suffix);
		if (count->target.sm > cause.newest.sm)
			cause.newest = count->target;
		if (!cause.oldest.sm || count->target.sm < cause.oldest.sm)
			cause.oldest = count->target;
		if (ptx && count->target.suffix && count->target.sm <= device.sm &&
			count->target.sm > cause.exclusive.sm)
			cause.exclusive = count->target;
	}
	if (plain)
		cause.exclusive = (struct jw_target){0};
	return cause;
}

/* Returns the error with which a program fails, or a kernel without code. */
static uint16_t error_of(const struct account_target *target)
{
	const struct analyse_target *sums = &target->sums;
	enum plan_reason reason = sums->is.reason;

	if (reason == REASON_UNLINKED)
		return PLAN_ERROR_IMAGE;
	if (sums->is.host)
		return PLAN_ERROR_OLD_DRIVER;
	/* Inputs of a link lack code that the others call. */
	if (reason == REASON_NONE && sums->is.fate == DECIDE_REFUSED)
		return PLAN_ERROR_SOURCE;
	if (reason == REASON_NONE && sums->reasons[REASON_EXCLUSIVE] > sums->verdicts[VERDICT_NOTHING])
		reason = REASON_EXCLUSIVE;
	return target->errors[reason] ? target->errors[reason] : PLAN_ERROR_NO_BINARY;
}

/* Adds an image with one driver, which stands for those of gpu_releases whose bits are set. */
static int add_image_with(struct jw_error *err, struct reading *reading,
						  const struct devcode_image *image, uint32_t runtime_cuda, size_t driver,
						  uint32_t releases)
{
	/* Both are too large for a stack. */
	struct account *account = mem_alloc(sizeof *account);
	struct analyse_target *sums = mem_array(ANALYSE_MAX_TARGETS, sizeof *sums);
	struct analyse_image analysed = {
		.scan = {.path = image->path,
				 .member = image->member,
				 .size_bytes = image->size_bytes,
				 .format = image->format,
				 .library = !is_loose_file(image),
				 .containers = image->container_count,
				 .damaged = image->damaged,
				 .runtime_cuda = runtime_cuda,
				 .runtime_shared = image->runtime_cuda != 0,
				 .wrappers_known = image->wrappers_known},
		.loading = loading_with(reading, image, runtime_cuda, driver),
		.asked = !driver,
		.releases = releases,
		.targets = sums,
	};
	struct pieces pieces = {0};
	int result = 0;

	account->reading = reading;
	account->image = image;
	account->driver = driver;
	account->runtime = gpu_runtime_cuda(runtime_cuda);
	for (size_t t = 0; t < reading->question->target_count; t++)
		account->targets[t].counts = decide_begin(image->member ? image->member : image->path,
												  reading->question->targets[t], analysed.loading);
	account->link_empty = is_link_empty(account);
	rank_texts(account);
	for (size_t i = 0; !result && i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const struct judged_container *noted = &reading->judged.containers[container->index];
		const enum devcode_role role = devcode_role_of(image, container);

		for (uint32_t k = 0; !result && k < noted->entry_count; k++)
			result = count_entry(err, account, &reading->judged.entries[noted->first_entry + k]);
		if (!result)
			count_container(account, container->index, role, container->linked);
		analysed.scan.inputs += role == DEVCODE_RELOCATABLE;
		analysed.scan.empty +=
			judged_is_empty(noted->empty, noted->kernelless, role, container->linked);
	}
	for (size_t t = 0; t < reading->question->target_count; t++) {
		struct account_target *target = &account->targets[t];

		target->sums.is = image->container_count
							  ? decide_counted(&target->counts)
							  : decide_host(runtime_cuda, driver ? &reading->releases[driver - 1]
																 : &reading->question->driver);
		add_inputs(target);
		leave_unneeded(&target->sums);
		if (!decide_has_set(&target->counts))
			kernels_join(target->sums.kernels, target->set_kernels);
		if (decide_links(&target->counts))
			target->sums.link_needed = NEED_YES;
		else if (target->to_link && !image->wrappers_known)
			target->sums.link_needed = NEED_UNKNOWN;
		target->sums.cause = cause_of(account, reading->question->targets[t],
									  image->container_count ? runtime_cuda : 0);
		target->sums.cause.error = error_of(target);
		sums[t] = target->sums;
	}
	if (account->count_count)
		qsort(account->counts, account->count_count, sizeof *account->counts, order_counts);
	if (!result) {
		analysed.scan.ptx_bytes = account->ptx_bytes;
		analyse_divide_counts(&analysed.scan, account->counts, account->count_count);
		analysed.modules = account->modules;
		analysed.module_count = account->module_count;
		if (reading->question->pieces && analysed.asked &&
			pieces_make(&pieces, &reading->judged, image, account->modules,
						account->module_count)) {
			analysed.scan.pieces = pieces.items;
			analysed.scan.piece_count = pieces.count;
		}
		result = reading->sink->image(err, reading->sink->context, &analysed);
		reading->stopped = result != 0;
	}
	for (size_t t = 0; t < ANALYSE_MAX_TARGETS; t++)
		set_free(&account->targets[t].known);
	set_free(&account->copies_by_kernels);
	mem_free(account->copies);
	mem_free(account->modules);
	mem_free(account->counts);
	mem_free(account);
	mem_free(sums);
	pieces_free(&pieces);
	return result;
}

/* Adds an image with the question's driver and all releases that judge each container alike, then
 * with the other releases in the same way. */
static int add_image(struct jw_error *err, struct reading *reading,
					 const struct devcode_image *image)
{
	const size_t last = reading->release_count;
	uint64_t alike[1 + GPU_MAX_RELEASES];
	uint32_t added = 0, compiler = 0, runtime;
	int result = 0;

	picks_flush(&reading->picks);
	for (size_t d = 0; d <= last; d++)
		alike[d] = FNV_START;
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const struct judged_container *noted;

		if (container->index >= reading->judged.count)
			return error_set(err, JW_ERR_FORMAT, "a container that was not read");
		noted = &reading->judged.containers[container->index];
		for (size_t d = 0; d <= last; d++)
			alike[d] = fnv_update(alike[d], &noted->rows[d], 1);
		if (devcode_role_of(image, container) == DEVCODE_REGISTERED && noted->compiler > compiler)
			compiler = noted->compiler;
	}
	/* A runtime inside the library has the compiler's version, and a shared one has the compiler's
	 * minor version, which its name lacks. */
	runtime = !image->runtime_cuda || image->runtime_cuda / 1000 == compiler / 1000
				  ? compiler
				  : image->runtime_cuda;
	if (runtime < image->runtime_cuda)
		runtime = image->runtime_cuda;
	for (size_t d = 0; d <= last; d++) {
		const bool too_old = is_too_old(reading, d, gpu_runtime_cuda(runtime));
		const enum loading loading = loading_with(reading, image, runtime, d);

		alike[d] = fnv_update(alike[d], &too_old, sizeof too_old);
		alike[d] = fnv_update(alike[d], &loading, sizeof loading);
	}
	for (size_t d = 0; !result && d <= last; d++) {
		uint32_t releases = 0;

		for (size_t k = 1; k <= last; k++)
			releases |= (uint32_t)(alike[k] == alike[d]) << (k - 1);
		if (!d || (releases & ~added))
			result = add_image_with(err, reading, image, runtime, d, releases);
		added |= releases;
	}
	reading_clear(reading);
	return result;
}

static void name_trouble(const struct analyse_sink *sink, const char *path, const char *member,
						 const struct jw_error *why)
{
	struct jw_error named = *why;

	/* The system's message already names the file. */
	if (member)
		error_prefix(&named, "%s: %s", path, member);
	else if (!strstr(why->message, path))
		error_prefix(&named, "%s", path);
	if (sink->trouble)
		sink->trouble(sink->context, path, member, &named);
}

/* ---- The parts of the file (code_parts), each read up to its first image, a trouble or its end.
 * In a wheel with several large libraries, another thread reads the next parts up to that point,
 * and this thread does, too, instead of waiting. */

enum { MAX_AHEAD = 8, MAX_HELD = 1 << 18 };

struct part {
	enum { PART_LEFT, PART_TAKEN, PART_READ } state;
	struct reading reading;
	struct code_reader *reader;
	struct code_found found;
	int step; /* the last enum code_step */
	struct jw_error why;
};

struct parts {
	const struct analyse_question *question;
	const struct analyse_sink *sink;
	struct code_reader *whole;
	struct part *items;
	size_t count;
	uv_mutex_t mutex; /* protects the parts' states, `ahead`, `held` and `stop` */
	uv_cond_t changed;
	size_t ahead; /* the number of parts read before their turn, or being read */
	size_t held;  /* the number of notes of the parts read ahead; hostile libraries have millions */
	bool stop;
};

static size_t notes_of(const struct reading *reading)
{
	return reading->judged.entry_count + reading->judged.verdict_count;
}

/* Does step 1, and steps 2 to 4 for each container. */
static void read_until_image(struct part *part)
{
	do
		part->step = code_next(&part->why, part->reader, &part->found);
	while (part->step == CODE_CONTAINER &&
		   !add_container(&part->why, &part->reading, part->found.container));
}

static void part_read(struct parts *parts, struct part *part)
{
	const size_t index = (size_t)(part - parts->items);

	part->reader = parts->count == 1 ? parts->whole : code_part(parts->whole, index);
	part->step = CODE_FAILED;
	part->reading.stopped =
		reading_begin(&part->why, &part->reading, parts->question, parts->sink) != 0;
	if (!part->reading.stopped)
		read_until_image(part);
}

/* Reads the next large library that is left, if one may be read ahead. The mutex is held, except
 * while reading. */
static bool part_read_ahead(struct parts *parts)
{
	size_t at = 1;

	while (at < parts->count && parts->items[at].state != PART_LEFT)
		at += 2;
	if (at >= parts->count || parts->ahead == MAX_AHEAD || parts->held > MAX_HELD)
		return false;
	parts->items[at].state = PART_TAKEN;
	parts->ahead++;
	uv_mutex_unlock(&parts->mutex);
	part_read(parts, &parts->items[at]);
	uv_mutex_lock(&parts->mutex);
	parts->items[at].state = PART_READ;
	parts->held += notes_of(&parts->items[at].reading);
	uv_cond_broadcast(&parts->changed);
	return true;
}

static void part_thread(void *context)
{
	struct parts *parts = context;

	uv_mutex_lock(&parts->mutex);
	while (!parts->stop)
		if (!part_read_ahead(parts))
			uv_cond_wait(&parts->changed, &parts->mutex);
	uv_mutex_unlock(&parts->mutex);
}

static void part_take(struct parts *parts, struct part *part)
{
	uv_mutex_lock(&parts->mutex);
	if (part->state == PART_LEFT) {
		part->state = PART_TAKEN;
		uv_mutex_unlock(&parts->mutex);
		part_read(parts, part);
		return;
	}
	while (part->state != PART_READ)
		if (!part_read_ahead(parts))
			uv_cond_wait(&parts->changed, &parts->mutex);
	parts->ahead--;
	parts->held -= notes_of(&part->reading);
	uv_cond_broadcast(&parts->changed);
	uv_mutex_unlock(&parts->mutex);
}

/* Does step 5 for each image of a part. -1 if the rest of the file cannot be read either. */
static int part_images(struct part *part, const char *path)
{
	for (; part->step != CODE_END; read_until_image(part))
		if (part->step == CODE_TROUBLE)
			name_trouble(part->reading.sink, path, part->found.member, &part->found.why);
		else if (part->step != CODE_IMAGE ||
				 add_image(&part->why, &part->reading, part->found.image))
			return -1;
	return 0;
}

static void part_free(struct parts *parts, struct part *part)
{
	if (part->reader != parts->whole)
		code_close(part->reader);
	part->reader = NULL;
	reading_free(&part->reading);
}

int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink)
{
	struct parts parts = {.question = question, .sink = sink};
	struct jw_error why = {0};
	uv_thread_t thread;
	bool helped = false, stopped = false;
	size_t at = 0;
	int result;

	os_mutex_make(&parts.mutex);
	os_cond_make(&parts.changed);
	result = code_open(&why, path, &sink->cancel, &parts.whole);
	if (!result) {
		parts.count = code_parts(parts.whole);
		code_take_hosts(parts.whole);
		if (question->platform)
			code_leave_foreign(parts.whole, question->platform);
		parts.items = mem_array(parts.count, sizeof *parts.items);
		/* A single large library is read with the rest. */
		helped =
			parts.count > 3 && os_cores() > 1 && !os_thread_start(&thread, part_thread, &parts);
		if (!helped)
			parts.count = 1;
	}
	for (; !result && at < parts.count; at++) {
		struct part *part = &parts.items[at];

		part_take(&parts, part);
		result = part_images(part, path);
		if (result) {
			why = part->why;
			stopped = part->reading.stopped;
			if (!stopped && part->step == CODE_CONTAINER && part->found.member)
				error_prefix(&why, "%s: %s", path, part->found.member);
		}
		part_free(&parts, part);
	}
	if (helped) {
		uv_mutex_lock(&parts.mutex);
		parts.stop = true;
		uv_cond_broadcast(&parts.changed);
		uv_mutex_unlock(&parts.mutex);
		(void)uv_thread_join(&thread);
	}
	/* Frees the parts that were read ahead if an earlier one ended the file. */
	for (; at < parts.count; at++)
		part_free(&parts, &parts.items[at]);
	mem_free(parts.items);
	code_close(parts.whole);
	uv_cond_destroy(&parts.changed);
	uv_mutex_destroy(&parts.mutex);
	if (result && !stopped && why.code != JW_ERR_INTERRUPTED) {
		name_trouble(sink, path, NULL, &why);
		return 0;
	}
	return result ? error_copy(err, &why) : 0;
}
