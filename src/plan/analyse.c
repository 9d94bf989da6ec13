#include "plan/analyse.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/set.h"
#include "code/cubin.h"
#include "code/ptx.h"
#include "code/ptx_text.h"
#include "code/rules.h"
#include "os/platform.h"
#include "os/uv.h"
#include "plan/picks.h"

/* The pass over a file, from analyse_path at the end of this one:
 *
 *     seen_add        for each container: judges it for all targets and drivers by its entries
 *                     (plan_judge), and hands the PTX that a driver would compile to the picks
 *     account_image   for each image, once it is complete: counts its containers by their sections,
 *                     makes modules of the picks, and hands the sums to the sink
 *
 * ---- Containers are judged as they are read, and what is known of them is kept until their image
 * is complete: only then is each one's section known, and whether it is a container at all. */

enum { SEEN_MAX_CONTAINERS = 1 << 22, SEEN_MAX_ENTRIES = 1 << 25 };

#define SEEN_NO_PICK UINT32_MAX

/* The verdict on one container for one target, without regard to its section. */
struct seen_judgement {
	uint8_t verdict, reason;
	bool tile;
	uint32_t kind;
	struct jw_driver needs; /* these as in plan_judgement */
	uint32_t pick;          /* SEEN_NO_PICK if there is nothing to compile */
	bool code;              /* there is something that a program could miss */
};

struct seen_entry {
	uint32_t kind;
	struct jw_target target;
	uint64_t size_bytes, offset;
};

struct seen_container {
	uint32_t first_entry, entry_count;
	bool code;        /* contains something that a driver may load */
	bool special;     /* and that is for GPUs of a family alone ('a', 'f') */
	bool empty;       /* is_empty, or is_optix */
	uint32_t form;    /* index in seen.forms, if the question asks for pieces */
	bool several;     /* for several architectures */
	uint16_t sm;      /* the first of them; 0: none */
	bool lto;         /* contains LTO-IR */
	uint64_t kernels; /* of a text: ptx_text_kernels; else 0 */
	uint32_t
		compiler; /* the newest CUDA version that wrote some of it, except bake's; 0: unknown */
	/* Its judgements, a row of all targets for each different outcome, and which row holds with the
	 * question's driver (0), and with those of gpu_releases */
	size_t first_judgement;
	uint8_t rows[1 + GPU_MAX_RELEASES];
};

struct form {
	struct jw_piece_entry *entries;
	size_t entry_count;
	bool empty;
};

struct seen {
	const struct analyse_question *question;
	struct jw_driver releases[GPU_MAX_RELEASES];
	size_t release_count;          /* 0: not asked for */
	struct plan_judgement *judged; /* of the current container, as many rows as there may be */
	const struct analyse_sink *sink;
	bool stopped; /* by the sink */
	struct seen_container *containers;
	size_t count, capacity;
	struct seen_judgement *judgements;
	size_t judgement_count, judgement_capacity;
	struct seen_entry *entries;
	size_t entry_count, entry_capacity;
	/* For the current container: its entries, corrected by their texts, and the targets that these
	 * name, if they were read (else sm is 0). */
	struct devcode_entry *corrected;
	struct jw_target *texts;
	size_t corrected_capacity;
	/* What verdicts depend on, once for all containers that have it (analyse_image.pieces) */
	struct form *forms;
	size_t form_count, form_capacity, form_entries;
	struct set by_form; /* form_hash → index */
	struct picks picks;
	struct buf scratch;
	uint32_t runtime; /* as analyse_image.runtime_cuda, of the image that is complete */
};

/* For the next image. */
static int seen_begin(struct jw_error *err, struct seen *seen,
					  const struct analyse_question *question, const struct analyse_sink *sink)
{
	*seen =
		(struct seen){.question = question, .sink = sink, .scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD)};
	if (picks_init(err, &seen->picks, question->targets, question->target_count, question->profile))
		return -1;
	if (question->releases)
		seen->release_count = gpu_releases(seen->releases);
	seen->judged =
		mem_array((1 + seen->release_count) * (question->target_count + 1), sizeof *seen->judged);
	return 0;
}

static void forms_clear(struct seen *seen)
{
	for (size_t i = 0; i < seen->form_count; i++)
		mem_free(seen->forms[i].entries);
	seen->form_count = seen->form_entries = 0;
	set_free(&seen->by_form);
	seen->by_form = (struct set){0};
}

static void seen_free(struct seen *seen)
{
	mem_free(seen->containers);
	mem_free(seen->judgements);
	mem_free(seen->judged);
	mem_free(seen->entries);
	mem_free(seen->corrected);
	mem_free(seen->texts);
	buf_free(&seen->scratch);
	picks_free(&seen->picks);
	forms_clear(seen);
	mem_free(seen->forms);
	*seen = (struct seen){0};
}

static void seen_clear(struct seen *seen)
{
	seen->count = 0;
	seen->judgement_count = 0;
	seen->entry_count = 0;
	forms_clear(seen);
	picks_clear(&seen->picks);
}

/* Picks the same entry once for all targets and drivers that need it. */
static int pick_ptx_entries(struct jw_error *err, struct seen *seen,
							const struct devcode_container *container, struct seen_judgement *kept,
							size_t count)
{
	const struct plan_judgement *judged = seen->judged;

	for (size_t i = 0; i < count; i++) {
		uint32_t targets = 0;
		size_t pick;

		if (judged[i].entry == SIZE_MAX || kept[i].pick != SEEN_NO_PICK)
			continue;
		for (size_t k = i; k < count; k++)
			targets |= (uint32_t)(judged[k].entry == judged[i].entry)
					   << k % seen->question->target_count;
		if (picks_add(err, &seen->picks, container, &container->entries[judged[i].entry], targets,
					  &pick))
			return -1;
		for (size_t k = i; k < count; k++)
			if (judged[k].entry == judged[i].entry)
				kept[k].pick = (uint32_t)pick;
	}
	return 0;
}

static bool is_empty_ptx(struct devcode_view ptx)
{
	struct ptx_features features;

	ptx_count(ptx.data, ptx.size, &features);
	return !features.code && !features.statements;
}

static bool is_empty_cubin(struct devcode_view cubin)
{
	struct cubin_symbols symbols;
	bool empty;

	if (cubin_symbols_read(NULL, cubin, &symbols))
		return false;
	empty = !symbols.any;
	cubin_symbols_free(&symbols);
	return empty;
}

/* Whether no PTX in it declares anything, or no cubin where it has none: no program can use it, for
 * whatever GPU it is. nvcc makes such containers for files without kernels (libcufftw.so). */
static bool is_empty(struct seen *seen, const struct devcode_container *container)
{
	enum { MAX_PTX = 1024, MAX_CUBIN = 4096 };
	bool ptx = false;

	for (size_t i = 0; i < container->entry_count; i++) {
		if (container->entries[i].kind == DEVCODE_KIND_TILE ||
			!devcode_kind_is_known(container->entries[i].kind))
			return false;
		ptx = ptx || devcode_kind_is_ptx(container->entries[i].kind);
	}
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		struct devcode_view view;

		if (ptx && !devcode_kind_is_ptx(entry->kind))
			continue;
		if ((!ptx && entry->kind != DEVCODE_KIND_CUBIN) || entry->damaged ||
			entry->size_bytes > (ptx ? MAX_PTX : MAX_CUBIN) ||
			devcode_payload(NULL, container, entry, &seen->scratch, &view) ||
			!(ptx ? is_empty_ptx(view) : is_empty_cubin(view)))
			return false;
	}
	return true;
}

/* Whether it is a PTX text of OptiX programs, which reach the driver's compiler through OptiX
 * alone. Such texts are files, or in a program's data, and never compressed. */
static bool is_optix(struct seen *seen, const struct devcode_container *container)
{
	const struct devcode_entry *entry = container->entries;
	struct ptx_features features;
	struct devcode_view view;

	if (container->entry_count != 1 || !devcode_kind_is_ptx(entry->kind) || entry->damaged ||
		entry->compression != DEVCODE_RAW ||
		devcode_payload(NULL, container, entry, &seen->scratch, &view))
		return false;
	ptx_count(view.data, view.size, &features);
	return features.optix;
}

/* A row of judgements with one driver, by the headers first. If no cubin runs, reads the texts: the
 * driver chooses by the entry's header, but compiles the text. */
static void judge_with(struct seen *seen, const struct devcode_container *container,
					   const struct jw_driver *driver, bool *texts_read, struct plan_judgement *row)
{
	const struct analyse_question *question = seen->question;

	for (size_t t = 0; t < question->target_count; t++) {
		row[t] = plan_judge(container, seen->texts, false, question->targets[t], driver);
		if (*texts_read || row[t].verdict < VERDICT_LINK || row[t].verdict == VERDICT_NOTHING)
			continue;
		for (size_t i = 0; i < container->entry_count; i++)
			plan_read_text(container, &seen->corrected[i], &seen->texts[i]);
		*texts_read = true;
		row[t] = plan_judge(container, seen->texts, false, question->targets[t], driver);
	}
}

static bool same_judgements(const struct plan_judgement *a, const struct plan_judgement *b,
							size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].verdict != b[i].verdict || a[i].reason != b[i].reason ||
			a[i].entry != b[i].entry || a[i].tile != b[i].tile || a[i].kind != b[i].kind ||
			a[i].needs.cuda != b[i].needs.cuda)
			return false;
	return true;
}

/* With the question's driver, and with all releases if it asks for them. */
static int note_judgements(struct jw_error *err, struct seen *seen,
						   const struct devcode_container *container, struct seen_container *note)
{
	const struct analyse_question *question = seen->question;
	const size_t targets = question->target_count;
	const bool optix = is_optix(seen, container);
	bool texts_read = false, empty = optix;
	size_t rows = 0, count;

	for (size_t d = 0; d <= seen->release_count; d++) {
		struct plan_judgement *row = seen->judged + rows * targets;
		size_t same = 0;

		judge_with(seen, container, d ? &seen->releases[d - 1] : &question->driver, &texts_read,
				   row);
		if (!d && !optix)
			empty = is_empty(seen, container);
		/* A program misses nothing where nothing is in the container: code for other GPUs, or PTX
		 * of a newer ISA or for a family of other GPUs. Damaged code and machine code of a newer
		 * CUDA make it fail all the same. */
		for (size_t t = 0; empty && t < targets; t++)
			if (optix || row[t].reason == REASON_TOO_NEW || row[t].reason == REASON_EXCLUSIVE ||
				row[t].verdict == VERDICT_NOTHING)
				row[t] = (struct plan_judgement){.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
		note->empty = empty;
		while (same < rows && !same_judgements(seen->judged + same * targets, row, targets))
			same++;
		note->rows[d] = (uint8_t)same;
		rows += same == rows;
	}
	count = rows * targets;
	note->first_judgement = seen->judgement_count;
	for (size_t i = 0; i < count; i++) {
		const struct plan_judgement *judged = &seen->judged[i];

		if (VEC_ROOM(err, seen->judgements, seen->judgement_capacity, seen->judgement_count,
					 (size_t)SEEN_MAX_CONTAINERS * ANALYSE_MAX_TARGETS))
			return -1;
		seen->judgements[seen->judgement_count++] = (struct seen_judgement){
			(uint8_t)judged->verdict,
			(uint8_t)judged->reason,
			judged->tile,
			judged->kind,
			judged->needs,
			.pick = SEEN_NO_PICK,
			.code = note->code && !(empty && judged->verdict == VERDICT_NOTHING),
		};
	}
	return question->verdicts_only
			   ? 0
			   : pick_ptx_entries(err, seen, container, seen->judgements + note->first_judgement,
								  count);
}

/* ---- Forms: what verdicts depend on. Few containers of a library differ in it. */

enum { MAX_FORM_ENTRIES = 1 << 20 };
#define NO_FORM UINT32_MAX

static struct jw_piece_entry entry_facts(const struct devcode_container *container,
										 const struct devcode_entry *entry, struct jw_target text)
{
	return (struct jw_piece_entry){
		.kind = entry->kind,
		.target = entry->target,
		.text = text,
		.isa_major = entry->isa_major,
		.isa_minor = entry->isa_minor,
		.cuda = entry->first_cuda,
		.toolkit = entry->compiler_cuda,
		.zstd = entry->compression == DEVCODE_ZSTD,
		.relocatable = plan_entry_relocatable(container, entry),
		.damaged = entry->damaged,
	};
}

static bool same_facts(const struct jw_piece_entry *a, const struct jw_piece_entry *b)
{
	return a->kind == b->kind && jw_target_equal(a->target, b->target) &&
		   jw_target_equal(a->text, b->text) && a->isa_major == b->isa_major &&
		   a->isa_minor == b->isa_minor && a->cuda == b->cuda && a->toolkit == b->toolkit &&
		   a->zstd == b->zstd && a->relocatable == b->relocatable && a->damaged == b->damaged;
}

static bool same_form(const struct form *a, const struct form *b)
{
	bool same = a->empty == b->empty && a->entry_count == b->entry_count;

	for (size_t i = 0; same && i < a->entry_count; i++)
		same = same_facts(&a->entries[i], &b->entries[i]);
	return same;
}

static uint64_t form_hash(const struct form *form)
{
	uint64_t hash = fnv_update(FNV_START, &form->empty, sizeof form->empty);

	for (size_t i = 0; i < form->entry_count; i++) {
		const struct jw_piece_entry *entry = &form->entries[i];
		const uint32_t facts[] = {entry->kind,      entry->target.sm, entry->text.sm,
								  entry->isa_major, entry->isa_minor, entry->toolkit};

		hash = fnv_update(hash, facts, sizeof facts);
	}
	return hash;
}

/* NO_FORM: only hostile files have so many forms. */
static uint32_t form_of(struct seen *seen, const struct devcode_container *container, bool empty)
{
	struct form form = {mem_array(container->entry_count, sizeof *form.entries),
						container->entry_count, empty};
	size_t cursor = 0, at;
	uint64_t hash;

	for (size_t i = 0; i < container->entry_count; i++)
		form.entries[i] = entry_facts(container, &container->entries[i], seen->texts[i]);
	hash = form_hash(&form);
	while ((at = set_find(&seen->by_form, hash, &cursor)) != SET_NONE &&
		   !same_form(&seen->forms[at], &form))
		;
	if (at == SET_NONE && seen->form_entries + form.entry_count <= MAX_FORM_ENTRIES) {
		VEC_GROW(seen->forms, seen->form_capacity, seen->form_count);
		at = seen->form_count++;
		seen->forms[at] = form;
		seen->form_entries += form.entry_count;
		set_add(&seen->by_form, hash, at);
	} else {
		mem_free(form.entries);
	}
	return at == SET_NONE ? NO_FORM : (uint32_t)at;
}

/* Records one container. */
static int seen_add(struct jw_error *err, struct seen *seen,
					const struct devcode_container *container)
{
	const size_t count = container->entry_count;
	struct seen_container note = {.entry_count = (uint32_t)count, .special = true};
	struct devcode_container copy = *container;

	if (cancel_asked(&seen->sink->cancel)) {
		seen->stopped = true;
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted while files were read");
	}
	/* An image that turned out to be unreadable was never completed. */
	if (!container->index)
		seen_clear(seen);
	/* Judgements and containers are looked up by its index. */
	if (container->index != seen->count)
		return error_set(err, JW_ERR_FORMAT, "containers out of order");
	note.first_entry = (uint32_t)seen->entry_count;
	if (VEC_ROOM(err, seen->containers, seen->capacity, seen->count, SEEN_MAX_CONTAINERS))
		return -1;
	/* Its entries are copied: their texts may correct them. */
	if (count > seen->corrected_capacity) {
		seen->corrected = mem_resize(seen->corrected, count * sizeof *seen->corrected);
		seen->texts = mem_resize(seen->texts, count * sizeof *seen->texts);
		seen->corrected_capacity = count;
	}
	if (count) {
		memcpy(seen->corrected, container->entries, count * sizeof *seen->corrected);
		memset(seen->texts, 0, count * sizeof *seen->texts);
	}
	copy.entries = seen->corrected;
	for (size_t i = 0; i < count; i++) {
		struct devcode_entry *entry = &seen->corrected[i];
		struct jw_target target;

		/* Since 9.0 a text can name a narrower target than its entry's header. */
		if (devcode_kind_is_ptx(entry->kind) && entry->target.sm >= 90 && !entry->target.suffix)
			plan_read_text(&copy, entry, &seen->texts[i]);
		target = seen->texts[i].sm ? seen->texts[i] : entry->target;
		if (VEC_ROOM(err, seen->entries, seen->entry_capacity, seen->entry_count, SEEN_MAX_ENTRIES))
			return -1;
		note.code = note.code || entry->kind != DEVCODE_KIND_LTOIR;
		note.special = note.special && target.suffix;
		note.sm = container->entries[0].target.sm;
		note.several = note.several || entry->target.sm != container->entries[0].target.sm;
		note.lto = note.lto || entry->kind == DEVCODE_KIND_LTOIR;
		if (!entry->baked) {
			const uint32_t cuda = devcode_compiler(entry);

			note.compiler = cuda > note.compiler ? cuda : note.compiler;
		}
		seen->entries[seen->entry_count++] =
			(struct seen_entry){entry->kind, target, entry->size_bytes, entry->offset};
	}
	if (note_judgements(err, seen, &copy, &note))
		return -1;
	if (seen->question->pieces)
		note.form = form_of(seen, &copy, note.empty);
	if (count == 1 && container->entries[0].kind == DEVCODE_KIND_PTX &&
		!container->entries[0].payload_offset)
		note.kernels = ptx_text_kernels(container->bytes, (size_t)container->size_bytes);
	seen->containers[seen->count++] = note;
	return 0;
}

struct jw_driver analyse_needs(const struct analyse_target *target)
{
	struct jw_driver needs = {0};

	for (size_t i = 0; i < REASON_COUNT; i++)
		needs = gpu_newer_driver(needs, target->needs[i]);
	return needs;
}

/* ---- An image is complete: its containers are counted, by their sections. */

struct plan_module *module_find(struct plan_module *modules, const struct set *known,
								const struct plan_module *like)
{
	size_t cursor = 0, index;

	while ((index = set_find(known, module_name(like), &cursor)) != SET_NONE)
		if (modules[index].payload_bytes == like->payload_bytes &&
			modules[index].form == like->form)
			return &modules[index];
	return NULL;
}

struct text_copies {
	uint32_t best[ANALYSE_MAX_TARGETS];
};

/* Counts of one image while it is being judged. */
struct image_account {
	const struct seen *seen;
	const struct devcode_image *image;
	size_t driver;    /* as in seen_container.rows */
	uint32_t runtime; /* the oldest CUDA version that a driver must have for the CUDA runtime */
	struct analyse_target targets[ANALYSE_MAX_TARGETS];
	struct decide_counts counts_of[ANALYSE_MAX_TARGETS];
	size_t to_link[ANALYSE_MAX_TARGETS]; /* containers of relocatable sections that need a link */
	struct plan_module *modules;
	size_t module_count, module_capacity;
	struct set known[ANALYSE_MAX_TARGETS]; /* modules by key or identity, per target */
	struct analyse_count *counts;
	size_t count_count, count_capacity;
	uint64_t ptx_bytes;
	/* Texts with the same kernels, of which a program loads one: by ptx_text_kernels, the rank of
	 * the best one for each target. */
	struct set copies_by_kernels;
	struct text_copies *copies;
	size_t copy_count, copy_capacity;
};

/* Orders names such as "sm_86" by kind, then capability, then suffix. */
static int analyse_count_compare(const void *a, const void *b)
{
	const struct analyse_count *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->target.sm != right->target.sm)
		return left->target.sm < right->target.sm ? -1 : 1;
	return left->target.suffix - right->target.suffix;
}

static int count_entry(struct jw_error *err, struct image_account *account,
					   const struct seen_entry *entry)
{
	struct analyse_count *count;

	if (devcode_kind_is_ptx(entry->kind))
		account->ptx_bytes += entry->size_bytes;
	for (size_t i = 0; i < account->count_count; i++) {
		count = &account->counts[i];
		if (count->kind == entry->kind && jw_target_equal(count->target, entry->target)) {
			count->entries++;
			return 0;
		}
	}
	/* Headers of hostile files can name any number of kinds and targets. */
	if (VEC_ROOM(err, account->counts, account->count_capacity, account->count_count, 4096))
		return -1;
	account->counts[account->count_count++] = (struct analyse_count){entry->kind, entry->target, 1};
	return 0;
}

/* Makes a module of a pick, each once in the image. */
static void take_pick(struct image_account *account, uint32_t t, enum plan_verdict verdict,
					  enum devcode_role role, uint32_t index, bool superseded)
{
	const struct picks *picks = &account->seen->picks;
	const struct pick *pick = &picks->items[index];
	const struct pick_keys keys = picks->keys[index * picks->target_count + t];
	const bool link = verdict == VERDICT_LINK;
	struct analyse_target *target = &account->targets[t];
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
	if (picks->keyed)
		module.key_bytes = picks->targets[t].start_bytes + pick->body_bytes +
						   (link ? pick->link_tail_bytes : pick->load_tail_bytes);
	known = module_find(account->modules, &account->known[t], &module);
	/* A loose one found again in a registered section counts as registered. */
	if (known && known->role == DEVCODE_LOOSE && role != DEVCODE_LOOSE) {
		if (!link)
			target->loose_bytes -= known->payload_bytes;
		*known = module;
	}
	if (known)
		return;
	VEC_GROW(account->modules, account->module_capacity, account->module_count);
	set_add(&account->known[t], module_name(&module), account->module_count);
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

/* The newest usable target ranks best, with a suffix before without; 0: unusable. */
static uint32_t rank_of(const struct image_account *account, const struct seen_container *seen,
						size_t target)
{
	const struct jw_target text = account->seen->entries[seen->first_entry].target;

	if (!gpu_ptx_fits(text, account->seen->question->targets[target]))
		return 0;
	return text.sm * 4U + (text.suffix == 'a' ? 3 : text.suffix ? 2 : 1);
}

static bool is_superseded(const struct image_account *account, size_t index, size_t target)
{
	const struct seen_container *seen = &account->seen->containers[index];
	size_t cursor = 0, at;

	if (!seen->kernels || !account->copies || is_loose_file(account->image))
		return false;
	at = set_find(&account->copies_by_kernels, seen->kernels, &cursor);
	return at != SET_NONE && rank_of(account, seen, target) < account->copies[at].best[target];
}

static bool is_too_old(const struct seen *seen, size_t driver, uint32_t runtime)
{
	const uint32_t cuda = driver ? seen->releases[driver - 1].cuda : seen->question->driver.cuda;

	return cuda && cuda < runtime;
}

/* Judges one container, whose section is known by now. */
static void judge_container(struct image_account *account, size_t index, enum devcode_role role,
							bool linked)
{
	const struct seen_container *container = &account->seen->containers[index];
	const bool registered = role == DEVCODE_REGISTERED || is_loose_file(account->image);
	const size_t targets = account->seen->question->target_count;
	const struct seen_judgement *judgements = account->seen->judgements +
											  container->first_judgement +
											  container->rows[account->driver] * targets;

	for (uint32_t t = 0; t < targets; t++) {
		const bool superseded = is_superseded(account, index, t);
		const struct seen_judgement judged =
			role == DEVCODE_REGISTERED && judgements[t].verdict < VERDICT_CANNOT &&
					is_too_old(account->seen, account->driver, account->runtime)
				? (struct seen_judgement){VERDICT_CANNOT, REASON_RUNTIME,
										  .needs = {account->runtime,
													{gpu_branch_number(account->runtime), 0, 0}},
										  .pick = SEEN_NO_PICK, .code = judgements[t].code}
				: judgements[t];
		enum plan_verdict verdict = superseded ? VERDICT_NOTHING : judged.verdict;
		struct analyse_target *target = &account->targets[t];

		if (verdict == VERDICT_JIT && role == DEVCODE_RELOCATABLE)
			verdict = VERDICT_LINK;
		/* An empty one has no code for other GPUs either. */
		target->verdicts[verdict] += verdict != VERDICT_NOTHING || judged.code;
		if (verdict == VERDICT_CANNOT)
			target->reasons[judged.reason]++;
		target->needs[judged.reason] = gpu_newer_driver(target->needs[judged.reason], judged.needs);
		decide_count(&account->counts_of[t],
					 &(struct decide_piece){.verdict = verdict,
											.reason = judged.reason,
											.needs = judged.needs,
											.role = role,
											.in_file = is_loose_file(account->image),
											.linked = linked,
											.code = judged.code && !superseded,
											.lto = container->lto,
											.special = container->special,
											.several = container->several,
											.sm = container->sm},
					 1);
		if (registered && judged.code) {
			target->tile += judged.tile;
			target->unknown += verdict == VERDICT_UNKNOWN;
			if (verdict == VERDICT_UNKNOWN || judged.reason == REASON_KIND)
				target->kind = judged.kind;
		}
		if (verdict == VERDICT_LINK && role == DEVCODE_RELOCATABLE)
			account->to_link[t]++;
		if (judged.pick != SEEN_NO_PICK)
			take_pick(account, t, verdict, role, judged.pick, superseded);
	}
}

/* Of the texts with the same kernels the best one for each target. */
static void rank_texts(struct image_account *account)
{
	const struct devcode_image *image = account->image;

	for (size_t i = 0; i < image->container_count && !is_loose_file(image); i++) {
		const struct seen_container *seen = &account->seen->containers[image->containers[i].index];
		size_t cursor = 0, at;

		if (!seen->kernels)
			continue;
		at = set_find(&account->copies_by_kernels, seen->kernels, &cursor);
		if (at == SET_NONE) {
			at = account->copy_count;
			VEC_GROW(account->copies, account->copy_capacity, at);
			set_add(&account->copies_by_kernels, seen->kernels, at);
			account->copies[account->copy_count++] = (struct text_copies){0};
		}
		for (size_t t = 0; t < account->seen->question->target_count; t++) {
			uint32_t *best = &account->copies[at].best[t], rank = rank_of(account, seen, t);

			*best = rank > *best ? rank : *best;
		}
	}
}

static enum devcode_role role_in(const struct devcode_image *image,
								 const struct devcode_container *container)
{
	return container->section < image->section_count ? image->sections[container->section].role
													 : DEVCODE_LOOSE;
}

/* Counts each container's entries, and judges it. */
static int go_through(struct jw_error *err, struct image_account *account)
{
	const struct devcode_image *image = account->image;

	rank_texts(account);
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const enum devcode_role role = role_in(image, container);
		const struct seen_container *seen = &account->seen->containers[container->index];

		for (uint32_t k = 0; k < seen->entry_count; k++) {
			const struct seen_entry *entry = &account->seen->entries[seen->first_entry + k];

			if (count_entry(err, account, entry))
				return -1;
		}
		judge_container(account, container->index, role, container->linked);
	}
	return 0;
}

static void finish_account(struct image_account *account)
{
	for (size_t t = 0; t < account->seen->question->target_count; t++) {
		struct analyse_target *target = &account->targets[t];

		account->counts_of[t].at_use = account->runtime >= DECIDE_AT_USE;
		target->is = decide_counted(&account->counts_of[t]);
		if (decide_links(&account->counts_of[t]))
			target->link_needed = NEED_YES;
		else if (account->to_link[t] && !account->image->wrappers_known)
			target->link_needed = NEED_UNKNOWN;
	}
	if (account->count_count)
		qsort(account->counts, account->count_count, sizeof *account->counts,
			  analyse_count_compare);
}

/* ---- Pieces: the image's containers by their forms and sections. */

struct pieces {
	struct jw_piece *items;
	struct piece_entries {
		struct jw_piece_entry *items;
	} * entries; /* of each, to add costs to */
	size_t count, capacity, entries_capacity;
	uint32_t *of_container; /* by the container's place in the image */
};

/* The piece of that form, role and link, which is added if it is new. */
static uint32_t piece_of(struct pieces *pieces, struct set *known, const struct seen *seen,
						 uint32_t form, enum devcode_role role, bool linked)
{
	const struct form *from = &seen->forms[form];
	const uint64_t name = (uint64_t)form << 8 | (unsigned)role << 1 | linked;
	struct jw_piece_entry *entries;
	size_t cursor = 0, at = set_find(known, name, &cursor);

	if (at != SET_NONE)
		return (uint32_t)at;
	VEC_GROW(pieces->items, pieces->capacity, pieces->count);
	VEC_GROW(pieces->entries, pieces->entries_capacity, pieces->count);
	entries = mem_array(from->entry_count, sizeof *entries);
	if (from->entry_count)
		memcpy(entries, from->entries, from->entry_count * sizeof *entries);
	set_add(known, name, pieces->count);
	pieces->entries[pieces->count].items = entries;
	pieces->items[pieces->count] = (struct jw_piece){.role = role,
													 .linked = linked,
													 .empty = from->empty,
													 .entries = entries,
													 .entry_count = from->entry_count};
	return (uint32_t)pieces->count++;
}

/* The container at that offset; they are in the order of their offsets. */
static size_t container_at(const struct devcode_image *image, uint64_t offset)
{
	size_t low = 0, high = image->container_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->containers[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds each distinct module of the image to the entry that it is of. */
static void add_costs(struct pieces *pieces, const struct image_account *account)
{
	struct set known = {0};

	for (size_t m = 0; m < account->module_count; m++) {
		const struct plan_module *module = &account->modules[m];
		const size_t at = container_at(account->image, module->container_offset);
		const struct seen_container *container =
			&account->seen->containers[account->image->containers[at].index];
		struct plan_estimate estimate;

		if (module->superseded || set_has(&known, module->entry_offset))
			continue;
		set_add(&known, module->entry_offset, m);
		plan_estimate(&estimate, &module->features, module->payload_bytes, NULL);
		for (uint32_t k = 0; k < container->entry_count; k++) {
			struct jw_piece_entry *entry = &pieces->entries[pieces->of_container[at]].items[k];

			if (account->seen->entries[container->first_entry + k].offset != module->entry_offset)
				continue;
			entry->modules++;
			entry->ptx_bytes += module->payload_bytes;
			entry->cache_bytes += estimate.entry_bytes;
			entry->cost_ms += estimate.cost_ms;
			if (estimate.cost_ms > entry->longest_ms)
				entry->longest_ms = estimate.cost_ms;
		}
	}
	set_free(&known);
}

/* false: not all containers have a form. */
static bool pieces_make(struct pieces *pieces, const struct image_account *account)
{
	const struct devcode_image *image = account->image;
	struct set known = {0};
	bool all = true;

	pieces->of_container = mem_array(image->container_count, sizeof *pieces->of_container);
	for (size_t i = 0; all && i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const uint32_t form = account->seen->containers[container->index].form;

		all = form != NO_FORM;
		if (!all)
			break;
		pieces->of_container[i] = piece_of(pieces, &known, account->seen, form,
										   role_in(image, container), container->linked);
		pieces->items[pieces->of_container[i]].containers++;
	}
	if (all)
		add_costs(pieces, account);
	set_free(&known);
	return all;
}

static void pieces_free(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		mem_free(pieces->entries[i].items);
	mem_free(pieces->entries);
	mem_free(pieces->items);
	mem_free(pieces->of_container);
}

/* With one driver, which stands for those of gpu_releases whose bits are set. */
static int account_with(struct jw_error *err, struct seen *seen, const struct devcode_image *image,
						uint32_t runtime, size_t driver, uint32_t releases)
{
	struct image_account account = {
		.seen = seen, .image = image, .driver = driver, .runtime = runtime};
	struct pieces pieces = {0};
	int result = -1;

	if (!go_through(err, &account)) {
		struct analyse_image told = {
			.path = image->path,
			.member = image->member,
			.library = !is_loose_file(image),
			.image = image,
			.asked = !driver,
			.releases = releases,
			.targets = account.targets,
			.ptx_bytes = account.ptx_bytes,
			.runtime_cuda = seen->runtime,
		};

		finish_account(&account);
		told.counts = account.counts;
		told.count_count = account.count_count;
		told.modules = account.modules;
		told.module_count = account.module_count;
		if (seen->question->pieces && told.asked && pieces_make(&pieces, &account)) {
			told.pieces = pieces.items;
			told.piece_count = pieces.count;
		}
		result = seen->sink->image(err, seen->sink->context, &told);
		seen->stopped = result != 0;
	}
	for (size_t t = 0; t < ANALYSE_MAX_TARGETS; t++)
		set_free(&account.known[t]);
	set_free(&account.copies_by_kernels);
	mem_free(account.copies);
	mem_free(account.modules);
	mem_free(account.counts);
	pieces_free(&pieces);
	return result;
}

/* Once with the question's driver and all releases that judge each container alike, then with the
 * other releases, likewise. */
static int account_image(struct jw_error *err, struct seen *seen, const struct devcode_image *image)
{
	const size_t last = seen->release_count;
	uint64_t alike[1 + GPU_MAX_RELEASES];
	uint32_t told = 0, compiler = 0, runtime;
	int result = 0;

	picks_flush(&seen->picks);
	for (size_t d = 0; d <= last; d++)
		alike[d] = FNV_START;
	for (size_t i = 0; !result && i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const struct seen_container *note;

		if (container->index >= seen->count) {
			result = error_set(err, JW_ERR_FORMAT, "a container that was not read");
			break;
		}
		note = &seen->containers[container->index];
		for (size_t d = 0; d <= last; d++)
			alike[d] = fnv_update(alike[d], &note->rows[d], 1);
		if (container->section < image->section_count &&
			image->sections[container->section].role == DEVCODE_REGISTERED &&
			note->compiler > compiler)
			compiler = note->compiler;
	}
	/* A runtime inside the library is that of the compiler, as is the minor version of a shared
	 * one, whose name has not got it. */
	seen->runtime = !image->runtime_cuda || image->runtime_cuda / 1000 == compiler / 1000
						? compiler
						: image->runtime_cuda;
	if (seen->runtime < image->runtime_cuda)
		seen->runtime = image->runtime_cuda;
	runtime = gpu_runtime_cuda(seen->runtime);
	for (size_t d = 0; d <= last; d++) {
		const bool too_old = is_too_old(seen, d, runtime);

		alike[d] = fnv_update(alike[d], &too_old, sizeof too_old);
	}
	for (size_t d = 0; !result && d <= last; d++) {
		uint32_t releases = 0;

		for (size_t k = 1; k <= last; k++)
			releases |= (uint32_t)(alike[k] == alike[d]) << (k - 1);
		if (!d || (releases & ~told))
			result = account_with(err, seen, image, runtime, d, releases);
		told |= releases;
	}
	seen_clear(seen);
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

/* ---- The parts of the file (code_parts), each read until there is something to tell of it: its
 * first image, a trouble, or its end. Of a wheel with several large libraries another thread reads
 * the next ones so far, and so does this one instead of waiting. */

enum { MAX_AHEAD = 8, MAX_HELD = 1 << 18 };

struct part {
	enum { PART_LEFT, PART_TAKEN, PART_READ } state;
	struct seen seen;
	struct code_reader *reader;
	struct code_found found;
	int step; /* of enum code_step, the last one */
	struct jw_error why;
};

struct parts {
	const struct analyse_question *question;
	const struct analyse_sink *sink;
	struct code_reader *whole;
	struct part *items;
	size_t count;
	uv_mutex_t mutex; /* of the states, and of these: */
	uv_cond_t changed;
	size_t ahead; /* read before their turn, or being read */
	size_t held;  /* notes of these: hostile libraries have millions */
	bool stop;
};

static size_t seen_notes(const struct seen *seen)
{
	return seen->entry_count + seen->judgement_count;
}

static void part_go_on(struct part *part)
{
	do
		part->step = code_next(&part->why, part->reader, &part->found);
	while (part->step == CODE_CONTAINER &&
		   !seen_add(&part->why, &part->seen, part->found.container));
}

static void part_read(struct parts *parts, struct part *part)
{
	const size_t index = (size_t)(part - parts->items);

	part->reader = parts->count == 1 ? parts->whole : code_part(parts->whole, index);
	part->step = CODE_FAILED;
	part->seen.stopped = seen_begin(&part->why, &part->seen, parts->question, parts->sink) != 0;
	if (!part->seen.stopped)
		part_go_on(part);
}

/* The next large library that is left, if one may be read ahead. The mutex is held, except
 * meanwhile. */
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
	parts->held += seen_notes(&parts->items[at].seen);
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
	parts->held -= seen_notes(&part->seen);
	uv_cond_broadcast(&parts->changed);
	uv_mutex_unlock(&parts->mutex);
}

/* -1: the rest of the file cannot be told either. */
static int part_tell(struct part *part, const char *path)
{
	for (; part->step != CODE_END; part_go_on(part))
		if (part->step == CODE_TROUBLE)
			name_trouble(part->seen.sink, path, part->found.member, &part->found.why);
		else if (part->step != CODE_IMAGE ||
				 account_image(&part->why, &part->seen, part->found.image))
			return -1;
	return 0;
}

static void part_free(struct parts *parts, struct part *part)
{
	if (part->reader != parts->whole)
		code_close(part->reader);
	part->reader = NULL;
	seen_free(&part->seen);
}

int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink)
{
	struct parts parts = {.question = question, .sink = sink};
	struct jw_error why = {0};
	uv_thread_t thread;
	bool helped = false, stopped = false;
	int result;

	if (uv_mutex_init(&parts.mutex) || uv_cond_init(&parts.changed))
		mem_ended(0);
	result = code_open(&why, path, &sink->cancel, &parts.whole);
	if (!result) {
		parts.count = code_parts(parts.whole);
		parts.items = mem_array(parts.count, sizeof *parts.items);
		/* One large library alone is read with the rest. */
		helped =
			parts.count > 3 && os_cores() > 1 && !os_thread_start(&thread, part_thread, &parts);
		if (!helped)
			parts.count = 1;
	}
	for (size_t i = 0; !result && i < parts.count; i++) {
		struct part *part = &parts.items[i];

		part_take(&parts, part);
		result = part_tell(part, path);
		if (result) {
			why = part->why;
			stopped = part->seen.stopped;
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
	for (size_t i = 0; i < parts.count; i++)
		part_free(&parts, &parts.items[i]);
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
