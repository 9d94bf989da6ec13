#include "plan/analyse.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/set.h"
#include "plan/analysing.h"

struct text_copies {
	uint32_t best[ANALYSE_MOST_TARGETS];
};

/* Counts of one image while it is being judged. */
struct image_account {
	const struct seen *seen;
	const struct devcode_image *image;
	size_t driver;    /* as in seen_container.rows */
	uint32_t runtime; /* the oldest CUDA version that a driver must have for the CUDA runtime */
	struct analyse_target targets[ANALYSE_MOST_TARGETS];
	bool unlinked[ANALYSE_MOST_TARGETS];  /* a linked container has no cubin that runs there */
	size_t to_link[ANALYSE_MOST_TARGETS]; /* containers of relocatable sections that need a link */
	/* Of the containers with code that the runtime registers: those that the driver refuses; and
	 * linked ones that have to be linked again */
	size_t refused[ANALYSE_MOST_TARGETS], relinked[ANALYSE_MOST_TARGETS];
	/* Relocatable containers with code, the inputs of such a link: those without code for the GPU,
	 * and those that the driver refuses */
	size_t inputs[ANALYSE_MOST_TARGETS], inputs_lacking[ANALYSE_MOST_TARGETS];
	size_t inputs_refused[ANALYSE_MOST_TARGETS];
	size_t prelinked[ANALYSE_MOST_TARGETS]; /* linked containers with a cubin that runs */
	bool lto;   /* there are inputs that only the linker of the build compiles */
	bool plain; /* some of the code is for more GPUs than those of a family */
	struct analyse_module *modules;
	size_t module_count, module_capacity;
	struct set known[ANALYSE_MOST_TARGETS]; /* modules by key or identity, per target */
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

/* The module that the account already has for this target, or NULL. A loose one found again in a
 * registered section counts as registered. */
static struct analyse_module *accounted_module(struct image_account *account,
											   const struct analyse_module *module)
{
	const uint64_t name = module->key ? module->key : module->identity;
	size_t cursor = 0, index;

	while ((index = set_find(&account->known[module->target], name, &cursor)) != SET_NONE) {
		struct analyse_module *known = &account->modules[index];

		if (known->payload_bytes == module->payload_bytes && known->form == module->form)
			return known;
	}
	return NULL;
}

static void count_compile(struct analyse_target *target, const struct analyse_module *module)
{
	if (module->superseded)
		return;
	if (module->form == CACHE_KEY_LINK) {
		target->link_modules++;
		target->link_bytes += module->payload_bytes;
		return;
	}
	target->jit_modules++;
	target->jit_bytes += module->payload_bytes;
	if (module->role == DEVCODE_LOOSE)
		target->loose_bytes += module->payload_bytes;
}

static int account_module(struct jw_error *err, struct image_account *account,
						  struct analyse_module *module)
{
	struct analyse_target *target = &account->targets[module->target];
	struct analyse_module *known = accounted_module(account, module);

	if (known && known->role == DEVCODE_LOOSE && module->role != DEVCODE_LOOSE) {
		target->loose_bytes -= module->form == CACHE_KEY_LINK ? 0 : known->payload_bytes;
		*known = *module;
	}
	if (known)
		return 0;
	if (VEC_ROOM(err, account->modules, account->module_capacity, account->module_count,
				 (size_t)PICKS_MOST * ANALYSE_MOST_TARGETS))
		return -1;
	set_add(&account->known[module->target], module->key ? module->key : module->identity,
			account->module_count);
	count_compile(target, module);
	account->modules[account->module_count++] = *module;
	return 0;
}

static int take_pick(struct jw_error *err, struct image_account *account, uint32_t target,
					 enum plan_verdict verdict, enum devcode_role role, uint32_t index,
					 bool superseded)
{
	const struct picks *picks = &account->seen->picks;
	const struct pick *pick = &picks->items[index];
	const struct pick_keys keys = picks->keys[index * picks->target_count + target];
	const bool link = verdict == VERDICT_LINK;
	struct analyse_module module = {
		.target = target,
		.superseded = superseded,
		.role = role,
		.form = link         ? CACHE_KEY_LINK
				: pick->text ? CACHE_KEY_TEXT
							 : CACHE_KEY_LOAD,
		.container_offset = pick->container_offset,
		.container_bytes = pick->container_bytes,
		.entry_offset = pick->entry_offset,
		.payload_bytes = pick->payload_bytes,
		.key = link ? keys.link : keys.load,
		.identity = pick->identity,
		.features = pick->features,
	};

	if (!pick->readable) {
		account->targets[target].unreadable++;
		return 0;
	}
	if (picks->keyed)
		module.key_bytes = picks->targets[target].start_bytes + pick->body_bytes +
						   (link ? pick->link_tail_bytes : pick->load_tail_bytes);
	return account_module(err, account, &module);
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

static int rank_text(struct jw_error *err, struct image_account *account,
					 const struct seen_container *seen)
{
	size_t cursor = 0, at;

	if (!seen->kernels || is_loose_file(account->image))
		return 0;
	at = set_find(&account->copies_by_kernels, seen->kernels, &cursor);
	if (at == SET_NONE) {
		at = account->copy_count;
		if (VEC_ROOM(err, account->copies, account->copy_capacity, at, SEEN_MOST_CONTAINERS))
			return -1;
		set_add(&account->copies_by_kernels, seen->kernels, at);
		account->copies[account->copy_count++] = (struct text_copies){0};
	}
	for (size_t t = 0; account->copies && t < account->seen->question->target_count; t++) {
		uint32_t *best = &account->copies[at].best[t], rank = rank_of(account, seen, t);

		*best = rank > *best ? rank : *best;
	}
	return 0;
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

/* Counts only what the runtime registers: a library chooses from the rest itself. */
static void count_registered(struct image_account *account, const struct seen_container *container,
							 size_t t, const struct seen_judgement *judged,
							 enum plan_verdict verdict, bool linked)
{
	struct analyse_target *target = &account->targets[t];
	const bool refused = verdict == VERDICT_CANNOT && seen_is_fatal(judged->reason),
			   lacking = verdict == VERDICT_NOTHING || (verdict == VERDICT_CANNOT && !refused);

	target->pieces++;
	target->lacking += lacking && !linked;
	target->tile += judged->tile;
	account->relinked[t] += lacking && linked;
	account->refused[t] += refused;
	account->plain = account->plain || !container->special;
	target->unknown += verdict == VERDICT_UNKNOWN;
	if (verdict == VERDICT_UNKNOWN || judged->reason == REASON_KIND)
		target->kind = judged->kind;
}

static void count_input(struct image_account *account, size_t t,
						const struct seen_judgement *judged)
{
	const bool refused = judged->verdict == VERDICT_CANNOT && seen_is_fatal(judged->reason);

	account->inputs[t]++;
	account->inputs_refused[t] += refused;
	account->inputs_lacking[t] +=
		judged->verdict == VERDICT_NOTHING || (judged->verdict == VERDICT_CANNOT && !refused);
}

/* The CUDA runtime refuses a driver of an older CUDA version, whatever the code is for (35; that of
 * 13.0 under 550 and 555). From CUDA 11 on the major version counts. */
static bool is_too_old(const struct seen *seen, size_t driver, uint32_t runtime)
{
	const uint32_t cuda = driver ? seen->releases[driver - 1].cuda : seen->question->driver.cuda;

	return cuda && cuda < runtime;
}

/* Judges one container, whose section is known by now. */
static int judge_container(struct jw_error *err, struct image_account *account, size_t index,
						   enum devcode_role role, bool linked)
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
		target->needs = gpu_newer_driver(target->needs, judged.needs);
		if (registered || role == DEVCODE_RELOCATABLE) {
			target->fatal_needs = gpu_newer_driver(target->fatal_needs, judged.needs);
			target->fatal_reasons |= (uint32_t)(verdict == VERDICT_CANNOT) << judged.reason;
		}
		if (registered && judged.code)
			count_registered(account, container, t, &judged, verdict, linked);
		else if (role == DEVCODE_RELOCATABLE && judged.code)
			count_input(account, t, &judged);
		if (linked && verdict != VERDICT_NATIVE && verdict != VERDICT_COMPATIBLE)
			account->unlinked[t] = true;
		else if (linked)
			account->prelinked[t]++;
		if (verdict == VERDICT_LINK && role == DEVCODE_RELOCATABLE)
			account->to_link[t]++;
		if (judged.pick != SEEN_NO_PICK &&
			take_pick(err, account, t, verdict, role, judged.pick, superseded))
			return -1;
	}
	return 0;
}

static int go_through(struct jw_error *err, struct image_account *account)
{
	const struct devcode_image *image = account->image;

	for (size_t i = 0; i < image->container_count; i++) {
		if (rank_text(err, account, &account->seen->containers[image->containers[i].index]))
			return -1;
	}
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		const enum devcode_role role = container->section < image->section_count
										   ? image->sections[container->section].role
										   : DEVCODE_LOOSE;
		const struct seen_container *seen;

		seen = &account->seen->containers[container->index];
		for (uint32_t k = 0; k < seen->entry_count; k++) {
			const struct seen_entry *entry = &account->seen->entries[seen->first_entry + k];

			if (count_entry(err, account, entry))
				return -1;
			account->lto =
				account->lto || (role == DEVCODE_RELOCATABLE && entry->kind == DEVCODE_KIND_LTOIR);
		}
		if (judge_container(err, account, container->index, role, container->linked))
			return -1;
	}
	return 0;
}

/* The runtime links what has no machine code for the GPU: each of the objects has to have some, or
 * PTX. */
static enum analyse_fate fate_of(const struct image_account *account, size_t t)
{
	const struct analyse_target *target = &account->targets[t];

	if (account->refused[t] || (account->unlinked[t] && account->inputs_refused[t]))
		return ANALYSE_REFUSED;
	if (account->unlinked[t] && account->inputs_lacking[t])
		return ANALYSE_NO_IMAGE;
	if (target->pieces > target->lacking + (account->inputs[t] ? 0 : account->relinked[t]))
		return ANALYSE_RUNS;
	if (target->pieces)
		return ANALYSE_NO_IMAGE;
	/* The library itself chooses among loose code, except code that can never be used. */
	for (size_t i = 0; i < VERDICT_CANNOT; i++)
		if (target->verdicts[i])
			return ANALYSE_NO_CODE;
	return target->verdicts[VERDICT_CANNOT] ? ANALYSE_REFUSED : ANALYSE_NO_CODE;
}

/* The linker of a build only warns of an object without code for its GPU, and leaves it out: what
 * it links has none of that object's kernels, or none at all. */
static void count_left_out(struct image_account *account, size_t t)
{
	struct analyse_target *target = &account->targets[t];
	const size_t left_out = account->inputs_lacking[t];

	if (account->unlinked[t] || !account->prelinked[t] || account->lto)
		return;
	target->pieces += left_out;
	target->lacking += left_out;
	if (left_out && left_out == account->inputs[t])
		target->lacking += account->prelinked[t];
}

/* Run-time linking is needed if and only if a linked container has no cubin that runs. */
static void finish_account(struct image_account *account)
{
	for (size_t t = 0; t < account->seen->question->target_count; t++) {
		struct analyse_target *target = &account->targets[t];

		count_left_out(account, t);
		target->fate = fate_of(account, t);
		if (!target->pieces) {
			target->fatal_needs = target->needs;
			for (size_t i = 0; i < REASON_COUNT; i++)
				target->fatal_reasons |= (uint32_t)(target->reasons[i] != 0) << i;
		}
		if (target->fate == ANALYSE_NO_IMAGE)
			target->lacking += account->relinked[t];
		target->special = !account->plain;
		if (account->unlinked[t])
			target->link_needed = NEED_YES;
		else if (account->to_link[t] && !account->image->wrappers_known)
			target->link_needed = NEED_UNKNOWN;
	}
	if (account->count_count)
		qsort(account->counts, account->count_count, sizeof *account->counts,
			  analyse_count_compare);
}

static void image_account_free(struct image_account *account)
{
	for (size_t t = 0; t < ANALYSE_MOST_TARGETS; t++)
		set_free(&account->known[t]);
	set_free(&account->copies_by_kernels);
	mem_free(account->copies);
	mem_free(account->modules);
	mem_free(account->counts);
}

/* With one driver, which stands for those of gpu_releases whose bits are set. */
static int account_with(struct jw_error *err, struct seen *seen, const struct devcode_image *image,
						uint32_t runtime, size_t driver, uint32_t releases)
{
	struct image_account account = {
		.seen = seen, .image = image, .driver = driver, .runtime = runtime};
	int result = -1;

	if (!go_through(err, &account)) {
		struct analyse_image told = {
			.image = image,
			.asked = !driver,
			.releases = releases,
			.targets = account.targets,
			.ptx_bytes = account.ptx_bytes,
		};

		finish_account(&account);
		told.counts = account.counts;
		told.count_count = account.count_count;
		told.modules = account.modules;
		told.module_count = account.module_count;
		result = seen->sink->image(err, seen->sink->context, &told);
		seen->stopped = result != 0;
	}
	image_account_free(&account);
	return result;
}

/* Once with the question's driver and all releases that judge each container alike, then with the
 * other releases, likewise. */
static int account_image(struct jw_error *err, struct seen *seen, const struct devcode_image *image)
{
	const size_t last = seen->release_count;
	uint64_t alike[1 + GPU_MOST_RELEASES];
	uint32_t told = 0, runtime = image->runtime_cuda;
	int result = picks_flush(err, &seen->picks);

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
		/* The runtime that registers code is the compiler's. */
		if (container->section < image->section_count &&
			image->sections[container->section].role == DEVCODE_REGISTERED &&
			note->cuda / 1000 * 1000 > runtime)
			runtime = note->cuda / 1000 * 1000;
	}
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

static void name_trouble(struct seen *seen, const char *path, const char *member,
						 const struct jw_error *why)
{
	struct jw_error named = *why;

	/* The system's message already names the file. */
	if (member)
		error_prefix(&named, "%s: %s", path, member);
	else if (!strstr(why->message, path))
		error_prefix(&named, "%s", path);
	if (seen->sink->trouble)
		seen->sink->trouble(seen->sink->context, path, member, &named);
}

int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink)
{
	struct seen seen;
	struct code_reader *reader = NULL;
	struct code_found found;
	struct jw_error why = {0};
	int result;

	if (seen_init(err, &seen, question, sink))
		return -1;
	result = code_open(&why, path, &sink->cancel, &reader);
	while (!result) {
		const int step = code_next(&why, reader, &found);

		if (step == CODE_END)
			break;
		if (step == CODE_TROUBLE)
			name_trouble(&seen, path, found.member, &found.why);
		else if (step == CODE_CONTAINER)
			result = seen_add(&why, &seen, found.container);
		else if (step == CODE_IMAGE)
			result = account_image(&why, &seen, found.image);
		else
			result = -1;
	}
	code_close(reader);
	if (result && !seen.stopped && why.code != JW_ERR_INTERRUPTED) {
		name_trouble(&seen, path, NULL, &why);
		result = 0;
	}
	if (result)
		error_copy(err, &why);
	seen_free(&seen);
	return result;
}
