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
#include "plan/picks.h"
#include "plan/pieces.h"

/* From a file to its modules in five steps:
 *
 *     1. read a container         read_until_image   code_next gives one after the other
 *     2. note it                  note_entries       the facts that verdicts depend on
 *     3. pick the modules         pick_modules       the PTX that drivers would compile
 *     4. compute its key          picks.c            many at a time, all before the image is added
 *     5. pass it on               add_image          groups the image's containers by their
 *                                                    sections, makes each module once, and passes
 *                                                    all to the sink: plan_build.c's adds it to the
 * plan
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
	struct set *modules;  /* of the file's images so far (pieces_make) */
	struct noted noted;
	struct picks picks;
	/* For the current container: the verdicts of a row; its entries, corrected by their texts; and
	 * the targets that the texts name, if they were read (else sm is 0). */
	struct plan_judgement *row;
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
	reading->row = mem_array(question->target_count, sizeof *reading->row);
	return 0;
}

static void reading_free(struct reading *reading)
{
	pieces_forms_clear(&reading->noted);
	mem_free(reading->noted.forms);
	mem_free(reading->noted.containers);
	mem_free(reading->noted.choices);
	mem_free(reading->noted.entries);
	picks_free(&reading->picks);
	mem_free(reading->row);
	mem_free(reading->corrected);
	mem_free(reading->texts);
	buf_free(&reading->scratch);
	*reading = (struct reading){0};
}

/* Clears the state for the next image. */
static void reading_clear(struct reading *reading)
{
	reading->noted.count = 0;
	reading->noted.choice_count = 0;
	reading->noted.entry_count = 0;
	pieces_forms_clear(&reading->noted);
	picks_clear(&reading->picks);
}

/* ---- 2. Note a container, and find the PTX that drivers would compile for each GPU. */

/* The most bytes of PTX and machine code that is read because it may declare nothing. */
enum { MAX_PTX = 1024, MAX_CUBIN = 4096 };

/* Returns whether the container is a PTX text: a file, or in a program's data; never compressed. */
static bool is_text(const struct devcode_container *container)
{
	return container->entry_count == 1 && container->entries[0].kind == DEVCODE_KIND_PTX &&
		   !container->entries[0].payload_offset;
}

/* Returns whether PTX or machine code declares neither kernels nor variables. */
static bool declares_nothing(struct reading *reading, const struct devcode_container *container,
							 const struct devcode_entry *entry)
{
	const bool ptx = devcode_kind_is_ptx(entry->kind);
	struct devcode_ptx_header header;
	struct ptx_features features;
	struct cubin_symbols symbols;
	struct devcode_view view;
	bool nothing;

	if (entry->damaged || entry->payload_offset == DEVCODE_NOT_HELD ||
		entry->size_bytes > (ptx ? MAX_PTX : MAX_CUBIN) ||
		devcode_payload(NULL, container, entry, &reading->scratch, &view))
		return false;
	if (ptx) {
		if (ptx_header_read(NULL, view.data, view.size, &header))
			return false;
		ptx_count(view.data, view.size, &features);
		return !features.statements && !features.entries;
	}
	if (cubin_symbols_read(NULL, view, &symbols))
		return false;
	nothing = !symbols.any && !symbols.count;
	cubin_symbols_free(&symbols);
	return nothing;
}

/* Returns whether a container is empty: none of its PTX and machine code declares anything, so no
 * program can use it on any GPU. nvcc makes such containers for files without kernels
 * (libcufftw.so). */
static bool is_container_empty(struct reading *reading, const struct devcode_container *container)
{
	bool code = false;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];

		if (entry->kind == DEVCODE_KIND_LTOIR)
			continue;
		if (entry->kind == DEVCODE_KIND_TILE || !devcode_kind_is_known(entry->kind) ||
			!declares_nothing(reading, container, entry))
			return false;
		code = true;
	}
	return code || !container->entry_count;
}

/* Finds out whether the container is a PTX text without kernels for the driver, or one that a
 * program edits before the driver compiles it. One without kernels is of OptiX programs, which
 * reach the driver's compiler only through OptiX, or has functions alone, which programs link to
 * other code (Cycles' kernel_optix_osl_services.ptx). */
static void examine_text(struct reading *reading, const struct devcode_container *container,
						 struct noted_container *of)
{
	const struct devcode_entry *entry = container->entries;
	struct ptx_features features;
	struct devcode_view view;

	if (!is_text(container) || entry->damaged ||
		devcode_payload(NULL, container, entry, &reading->scratch, &view))
		return;
	ptx_count(view.data, view.size, &features);
	of->empty = of->empty || !features.code;
	of->edited = features.edited;
	of->kernels = ptx_text_kernels(container->bytes, (size_t)container->size_bytes);
}

/* Copies the container's entries, since their texts may correct them, and keeps their facts. */
static void note_entries(struct reading *reading, const struct devcode_container *container,
						 struct noted_container *of)
{
	const size_t count = container->entry_count;
	struct devcode_container copy = *container;
	struct noted *noted = &reading->noted;

	of->first_entry = (uint32_t)noted->entry_count;
	of->entry_count = (uint32_t)count;
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
	of->empty = is_container_empty(reading, &copy);
	for (size_t i = 0; i < count; i++) {
		struct devcode_entry *entry = &reading->corrected[i];
		uint32_t cuda;

		/* From compute capability 9.0 on, a PTX text can name a narrower target than its entry's
		 * header. */
		if (devcode_kind_is_ptx(entry->kind) && entry->target.sm >= 90 && !entry->target.suffix)
			plan_read_text(&copy, entry, &reading->texts[i]);
		VEC_GROW(noted->entries, noted->entry_capacity, noted->entry_count);
		cuda = devcode_compiler(entry);
		of->compiler = cuda > of->compiler ? cuda : of->compiler;
		noted->entries[noted->entry_count++] = (struct noted_entry){
			entry->kind, reading->texts[i].sm ? reading->texts[i] : entry->target,
			entry->size_bytes, entry->offset, entry->stored_bytes};
	}
}

/* Fills in a row of verdicts with one driver, by the headers first. If no cubin runs, reads the
 * texts, because the driver chooses by the entry's header, but compiles the text. */
static void judge_with(struct reading *reading, const struct devcode_container *container,
					   const struct jw_driver *driver, bool *texts_read)
{
	const struct analyse_question *question = reading->question;
	struct plan_judgement *row = reading->row;

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

/* ---- 3. Pick the PTX entries that the driver would compile: each once for all GPUs and drivers
 * that need it. Step 4, their keys, is picks.c's. */

/* Finds the entry that each driver compiles for each GPU, and adds it to the picks. */
static int pick_modules(struct jw_error *err, struct reading *reading,
						const struct devcode_container *container, struct noted_container *of)
{
	const struct analyse_question *question = reading->question;
	const size_t targets = question->target_count, drivers = 1 + reading->release_count;
	struct noted *noted = &reading->noted;
	size_t *entries = mem_array(drivers * (targets + 1), sizeof *entries), rows = 0;
	bool *link = mem_array(drivers * (targets + 1), sizeof *link), texts_read = false;
	uint32_t *picks = mem_array(container->entry_count, sizeof *picks);
	int result = 0;

	of->first_choice = noted->choice_count;
	for (size_t d = 0; d < drivers; d++) {
		size_t same = 0;

		judge_with(reading, container, d ? &reading->releases[d - 1] : &question->driver,
				   &texts_read);
		for (size_t t = 0; t < targets; t++) {
			const struct plan_judgement *judged = &reading->row[t];

			entries[rows * targets + t] =
				of->edited || (of->empty && is_text(container)) ? SIZE_MAX : judged->entry;
			link[rows * targets + t] = judged->verdict == VERDICT_LINK;
		}
		while (same < rows && (memcmp(entries + same * targets, entries + rows * targets,
									  targets * sizeof *entries) != 0 ||
							   memcmp(link + same * targets, link + rows * targets, targets) != 0))
			same++;
		of->rows[d] = (uint8_t)same;
		rows += same == rows;
	}
	for (size_t i = 0; i < container->entry_count; i++)
		picks[i] = NOTED_NO_PICK;
	for (size_t i = 0; !result && i < rows * targets && !question->verdicts_only; i++) {
		const size_t entry = entries[i];
		uint32_t wanted = 0;
		size_t pick;

		if (entry == SIZE_MAX || picks[entry] != NOTED_NO_PICK)
			continue;
		for (size_t k = i; k < rows * targets; k++)
			wanted |= (uint32_t)(entries[k] == entry) << k % targets;
		result =
			picks_add(err, &reading->picks, container, &container->entries[entry], wanted, &pick);
		if (!result)
			picks[entry] = (uint32_t)pick;
	}
	for (size_t i = 0; i < rows * targets; i++) {
		VEC_GROW(noted->choices, noted->choice_capacity, noted->choice_count);
		noted->choices[noted->choice_count++] = (struct noted_choice){
			entries[i] == SIZE_MAX ? NOTED_NO_PICK : picks[entries[i]], link[i]};
	}
	mem_free(entries);
	mem_free(link);
	mem_free(picks);
	return result;
}

/* Names kernels of the first containers of each form. */
static void name_kernels(struct reading *reading, const struct devcode_container *container,
						 const struct noted_container *of)
{
	enum { MAX_NAMED = 3 };
	struct noted_form *form = &reading->noted.forms[of->form];

	if (!reading->question->kernels || of->empty || form->named == MAX_NAMED ||
		kernels_full(form->kernels))
		return;
	form->named++;
	kernels_add(form->kernels, container, &reading->scratch);
}

/* Returns about how much memory an image needs until the sink has it: with notes, and with a module
 * of each pick for each GPU. */
static uint64_t reading_bytes(const struct reading *reading)
{
	const struct noted *noted = &reading->noted;
	const uint64_t module = sizeof(struct pick_keys) + sizeof(struct plan_module);

	return (uint64_t)noted->count * sizeof *noted->containers +
		   (uint64_t)noted->choice_count * sizeof *noted->choices +
		   (uint64_t)noted->entry_count * sizeof *noted->entries +
		   reading->picks.count *
			   (sizeof *reading->picks.items + reading->question->target_count * module);
}

/* Does steps 2 to 4 for a container that was read. */
static int add_container(struct jw_error *err, struct reading *reading,
						 const struct devcode_container *container)
{
	struct devcode_container corrected = *container;
	struct noted *noted = &reading->noted;
	struct noted_container of = {.form = 0};

	if (cancel_check_reading(err, &reading->sink->cancel)) {
		reading->stopped = true;
		return -1;
	}
	/* The image before it turned out to be unreadable and was never completed. */
	if (!container->index)
		reading_clear(reading);
	/* Containers are found by their index. */
	if (container->index != noted->count)
		return error_set(err, JW_ERR_FORMAT, "containers out of order");
	if (reading_bytes(reading) > MAX_READING_BYTES)
		return error_set(err, JW_ERR_LIMIT,
						 "its device code needs more than %d GiB of memory; name fewer GPUs",
						 (int)(MAX_READING_BYTES >> 30));
	VEC_GROW(noted->containers, noted->capacity, noted->count);
	note_entries(reading, container, &of);
	corrected.entries = reading->corrected;
	examine_text(reading, &corrected, &of);
	if (pick_modules(err, reading, &corrected, &of) ||
		pieces_form_of(err, noted, &corrected, reading->texts, &of))
		return -1;
	name_kernels(reading, &corrected, &of);
	noted->containers[noted->count++] = of;
	return 0;
}

/* ---- 5. An image is complete: its containers are grouped by their sections, and its modules are
 * made. */

/* The rank of the best text with the same kernels, for each target. */
struct text_copies {
	uint32_t best[PLAN_MAX_TARGETS];
};

/* The account of one image. */
struct account {
	const struct reading *reading;
	const struct devcode_image *image;
	struct set known[PLAN_MAX_TARGETS]; /* modules by identity */
	struct plan_module *modules;
	size_t module_count, module_capacity, unreadable;
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
					   const struct noted_entry *entry)
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

/* Makes a module from a choice, once for each image. `drivers` are those that choose it. */
static void make_module(struct account *account, uint32_t t, struct noted_choice choice,
						enum devcode_role role, bool superseded, uint64_t drivers)
{
	const struct picks *picks = &account->reading->picks;
	const struct pick *pick = &picks->items[choice.pick];
	const struct pick_keys keys = picks->keys[choice.pick * picks->target_count + t];
	const bool link = choice.link || role == DEVCODE_RELOCATABLE;
	struct plan_module module = pick->module, *known;

	module.target = t;
	module.drivers = drivers;
	module.superseded = superseded;
	module.role = role;
	module.form = link ? CACHE_KEY_LINK : pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD;
	module.key = link ? keys.link : keys.load;
	module.identity = link ? pick->link : pick->load;
	if (picks->keyed)
		module.key_bytes = picks->targets[t].start_bytes + pick->body_bytes +
						   (link ? pick->link_tail_bytes : pick->load_tail_bytes);
	known = module_find(account->modules, &account->known[t], &module);
	if (known) {
		module.drivers |= known->drivers;
		/* A loose module that is found again in a registered section counts as registered. */
		if (known->role == DEVCODE_LOOSE && role != DEVCODE_LOOSE)
			*known = module;
		known->drivers = module.drivers;
		return;
	}
	VEC_GROW(account->modules, account->module_capacity, account->module_count);
	set_add(&account->known[t], module_name(&module), account->module_count);
	account->modules[account->module_count++] = module;
}

static bool is_loose_file(const struct devcode_image *image)
{
	return image->format != DEVCODE_ELF && image->format != DEVCODE_PE;
}

/* Returns the rank of a text: the newest usable target ranks best, with a suffix before without; 0
 * if unusable. */
static uint32_t rank_of(const struct account *account, const struct noted_container *container,
						size_t target)
{
	const struct jw_target text = account->reading->noted.entries[container->first_entry].target;

	if (!gpu_ptx_fits(text, account->reading->question->targets[target]))
		return 0;
	return text.sm * 4U + (text.suffix == 'a' ? 3 : text.suffix ? 2 : 1);
}

static bool is_text_superseded(const struct account *account, size_t index, size_t target)
{
	const struct noted_container *container = &account->reading->noted.containers[index];
	size_t cursor = 0, at;

	if (!container->kernels || !account->copies || is_loose_file(account->image))
		return false;
	at = set_find(&account->copies_by_kernels, container->kernels, &cursor);
	return at != SET_NONE && rank_of(account, container, target) < account->copies[at].best[target];
}

enum loading analyse_loading(const struct jw_scan_image *image, const struct jw_driver *driver,
							 enum loading_setting setting)
{
	return loading_of(&(struct loading_facts){.runtime_cuda = image->runtime_cuda,
											  .driver_cuda = driver->cuda,
											  .windows = image->format == DEVCODE_PE,
											  .setting = setting,
											  .path = image->path,
											  .member = image->member});
}

/* Makes the modules of one container, whose section is now known. */
static void make_modules(struct account *account, size_t index, enum devcode_role role)
{
	const struct noted *noted = &account->reading->noted;
	const struct noted_container *of = &noted->containers[index];
	const size_t targets = account->reading->question->target_count,
				 drivers = 1 + account->reading->release_count;
	uint64_t done = 0;

	/* Nothing has an empty container in the data loaded. A registered one is compiled by each start
	 * that loads all code, which CUDA_MODULE_LOADING=EAGER can make any start do. */
	if (of->empty && judge_asks_nothing(!is_loose_file(account->image), role))
		return;
	for (size_t d = 0; d < drivers; d++) {
		uint64_t alike = 0;

		if (done >> d & 1)
			continue;
		for (size_t k = d; k < drivers; k++)
			alike |= (uint64_t)(of->rows[k] == of->rows[d]) << k;
		done |= alike;
		for (uint32_t t = 0; t < targets; t++) {
			const struct noted_choice choice =
				noted->choices[of->first_choice + of->rows[d] * targets + t];

			if (choice.pick == NOTED_NO_PICK)
				continue;
			if (account->reading->picks.items[choice.pick].readable)
				make_module(account, t, choice, role, is_text_superseded(account, index, t), alike);
			else
				account->unreadable += (alike & 1) && !t;
		}
	}
}

/* Chooses the best one of the texts with the same kernels, for each target. */
static void rank_texts(struct account *account)
{
	const struct devcode_image *image = account->image;

	for (size_t i = 0; i < image->container_count && !is_loose_file(image); i++) {
		const struct noted_container *container =
			&account->reading->noted.containers[image->containers[i].index];
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

			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the set has places in copies */
			*best = rank > *best ? rank : *best;
		}
	}
}

/* Returns the CUDA version of an image's CUDA runtime. One inside the library has the compiler's
 * version, and a shared one has the compiler's minor version, which its name lacks. */
static uint32_t runtime_version(const struct reading *reading, const struct devcode_image *image)
{
	uint32_t compiler = 0;

	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const struct noted_container *of = &reading->noted.containers[container->index];

		if (devcode_role_of(image, container) == DEVCODE_REGISTERED && of->compiler > compiler)
			compiler = of->compiler;
	}
	return (!image->runtime_cuda || image->runtime_cuda / 1000 == compiler / 1000) &&
				   compiler > image->runtime_cuda
			   ? compiler
			   : image->runtime_cuda;
}

/* Counts the code of an image, and passes both to the sink. */
static int add_image(struct jw_error *err, struct reading *reading,
					 const struct devcode_image *image)
{
	struct account account = {.reading = reading, .image = image};
	struct analyse_image analysed = {
		.scan = {.path = image->path,
				 .member = image->member,
				 .size_bytes = image->size_bytes,
				 .format = image->format,
				 .library = !is_loose_file(image),
				 .containers = image->container_count,
				 .damaged = image->damaged,
				 .runtime_shared = image->runtime_cuda != 0,
				 .needs = image->needs,
				 .wrappers_known = image->wrappers_known},
	};
	struct pieces pieces = {0};
	int result = 0;

	picks_flush(&reading->picks);
	for (size_t i = 0; !result && i < image->container_count; i++)
		if (image->containers[i].index >= reading->noted.count)
			result = error_set(err, JW_ERR_FORMAT, "a container that was not read");
	if (!result) {
		analysed.scan.runtime_cuda = runtime_version(reading, image);
		rank_texts(&account);
	}
	for (size_t i = 0; !result && i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const struct noted_container *of = &reading->noted.containers[container->index];
		const enum devcode_role role = devcode_role_of(image, container);

		for (uint32_t k = 0; !result && k < of->entry_count; k++)
			result = count_entry(err, &account, &reading->noted.entries[of->first_entry + k]);
		if (!result)
			make_modules(&account, container->index, role);
		analysed.scan.inputs += role == DEVCODE_RELOCATABLE;
		analysed.scan.empty += of->empty;
	}
	if (account.count_count)
		qsort(account.counts, account.count_count, sizeof *account.counts, order_counts);
	if (!result) {
		pieces_make(&pieces, &reading->noted, image, account.modules, account.module_count,
					reading->modules);
		analysed.scan.pieces = pieces.items;
		analysed.scan.piece_count = pieces.count;
		analysed.scan.ptx_bytes = account.ptx_bytes;
		analyse_divide_counts(&analysed.scan, account.counts, account.count_count);
		analysed.modules = account.modules;
		analysed.module_count = account.module_count;
		analysed.unreadable = account.unreadable;
		result = reading->sink->image(err, reading->sink->context, &analysed);
		reading->stopped = result != 0;
	}
	for (size_t t = 0; t < PLAN_MAX_TARGETS; t++)
		set_free(&account.known[t]);
	set_free(&account.copies_by_kernels);
	mem_free(account.copies);
	mem_free(account.modules);
	mem_free(account.counts);
	pieces_free(&pieces);
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
	struct set modules; /* used by the thread that calls the sink */
	uv_mutex_t mutex;   /* protects the parts' states, `ahead`, `held` and `stop` */
	uv_cond_t changed;
	size_t ahead; /* the number of parts read before their turn, or being read */
	size_t held;  /* the number of notes of the parts read ahead; hostile libraries have millions */
	bool stop;
};

static size_t notes_of(const struct reading *reading)
{
	return reading->noted.entry_count + reading->noted.choice_count;
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
	part->reading.modules = &parts->modules;
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
	set_free(&parts.modules);
	code_close(parts.whole);
	uv_cond_destroy(&parts.changed);
	uv_mutex_destroy(&parts.mutex);
	if (result && !stopped && why.code != JW_ERR_INTERRUPTED) {
		name_trouble(sink, path, NULL, &why);
		return 0;
	}
	return result ? error_copy(err, &why) : 0;
}
