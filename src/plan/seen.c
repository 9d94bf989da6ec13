/* Keeps the facts about an image's containers until it is complete. */
#include <string.h>

#include "base/mem.h"
#include "devcode/cubin.h"
#include "devcode/ptx.h"
#include "devcode/ptx_text.h"
#include "plan/analysing.h"

int seen_init(struct jw_error *err, struct seen *seen, const struct analyse_question *question,
			  const struct analyse_sink *sink)
{
	struct seen made = {
		.question = question, .sink = sink, .scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD)};

	if (picks_init(err, &made.picks, question->targets, question->target_count, question->profile))
		return -1;
	if (question->releases)
		made.release_count = gpu_releases(made.releases);
	made.judged =
		mem_array((1 + made.release_count) * (question->target_count + 1), sizeof *made.judged);
	*seen = made;
	return 0;
}

void seen_clear(struct seen *seen)
{
	seen->count = 0;
	seen->judgement_count = 0;
	seen->entry_count = 0;
	picks_clear(&seen->picks);
}

void seen_free(struct seen *seen)
{
	seen_clear(seen);
	mem_free(seen->containers);
	mem_free(seen->judgements);
	mem_free(seen->judged);
	mem_free(seen->entries);
	mem_free(seen->corrected);
	mem_free(seen->texts);
	buf_free(&seen->scratch);
	picks_free(&seen->picks);
	*seen = (struct seen){0};
}

/* The driver chooses by the entry's header, but compiles the text. -1: out of memory. */
static int read_ptx_texts(struct seen *seen, const struct devcode_container *container)
{
	for (size_t i = 0; i < container->entry_count; i++)
		plan_read_text(container, &seen->corrected[i], &seen->texts[i]);
	return 0;
}

/* The target of an entry: its text decides, if that was read. */
static struct jw_target target_of(const struct seen *seen, size_t index)
{
	return seen->texts[index].sm ? seen->texts[index] : seen->corrected[index].target;
}

/* Since 9.0 a text can name a narrower target than its entry's header. */
enum { FIRST_SUFFIX_SM = 90 };

static bool is_doubtful(const struct devcode_entry *entry)
{
	return devcode_kind_is_ptx(entry->kind) && entry->target.sm >= FIRST_SUFFIX_SM &&
		   !entry->target.suffix;
}

static void room_for_entries(struct seen *seen, size_t count)
{
	struct devcode_entry *entries;
	struct jw_target *texts;

	if (count <= seen->corrected_capacity)
		return;
	entries = mem_resize(seen->corrected, count * sizeof *entries);
	seen->corrected = entries;
	texts = mem_resize(seen->texts, count * sizeof *texts);
	seen->texts = texts;
	seen->corrected_capacity = count;
}

/* A copy of the container whose entries may be corrected. */
static int copy_container(struct seen *seen, const struct devcode_container *container,
						  struct devcode_container *ret_copy)
{
	const size_t count = container->entry_count;

	room_for_entries(seen, count);
	if (count) {
		memcpy(seen->corrected, container->entries, count * sizeof *seen->corrected);
		memset(seen->texts, 0, count * sizeof *seen->texts);
	}
	*ret_copy = *container;
	ret_copy->entries = seen->corrected;
	for (size_t i = 0; i < count; i++)
		if (is_doubtful(&seen->corrected[i]) &&
			plan_read_text(ret_copy, &seen->corrected[i], &seen->texts[i]))
			return -1;
	return 0;
}

static int note_entries(struct jw_error *err, struct seen *seen,
						const struct devcode_container *container, struct seen_container *note)
{
	note->special = true;
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];

		if (VEC_ROOM(err, seen->entries, seen->entry_capacity, seen->entry_count,
					 SEEN_MOST_ENTRIES))
			return -1;
		note->code = note->code || entry->kind != DEVCODE_KIND_LTOIR;
		note->special = note->special && target_of(seen, i).suffix;
		if (entry->kind == DEVCODE_KIND_CUBIN && !entry->baked) {
			const uint32_t cuda = devcode_cubin_cuda(container, entry);

			note->cuda = cuda > note->cuda ? cuda : note->cuda;
		}
		seen->entries[seen->entry_count++] =
			(struct seen_entry){entry->kind, target_of(seen, i), entry->size_bytes};
	}
	return 0;
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

static bool is_text(const struct devcode_container *container)
{
	return container->entry_count == 1 && container->entries[0].kind == DEVCODE_KIND_PTX &&
		   !container->entries[0].payload_offset;
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
	enum { MOST_PTX = 1024, MOST_CUBIN = 4096 };
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
			entry->size_bytes > (ptx ? MOST_PTX : MOST_CUBIN) ||
			devcode_payload(NULL, container, entry, &seen->scratch, &view) ||
			!(ptx ? is_empty_ptx(view) : is_empty_cubin(view)))
			return false;
	}
	return true;
}

/* Whether a program misses nothing where nothing is in the container: code for other GPUs, or PTX
 * of a newer ISA or for a family of other GPUs. Damaged code and machine code of a newer CUDA make
 * it fail all the same. */
static bool is_no_loss(const struct plan_judgement *judged)
{
	return judged->reason == REASON_TOO_NEW || judged->reason == REASON_EXCLUSIVE ||
		   judged->verdict == VERDICT_NOTHING;
}

/* A row of judgements with one driver, by the headers first. If no cubin runs, reads the texts: the
 * driver may take one. */
static int judge_with(struct seen *seen, const struct devcode_container *container,
					  const struct jw_driver *driver, bool *texts_read, struct plan_judgement *row)
{
	const struct analyse_question *question = seen->question;

	for (size_t t = 0; t < question->target_count; t++) {
		row[t] = plan_judge(container, seen->texts, false, question->targets[t], driver);
		if (*texts_read || row[t].verdict < VERDICT_LINK || row[t].verdict == VERDICT_NOTHING)
			continue;
		if (read_ptx_texts(seen, container))
			return -1;
		*texts_read = true;
		row[t] = plan_judge(container, seen->texts, false, question->targets[t], driver);
	}
	return 0;
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
static int judge_container_seen(struct jw_error *err, struct seen *seen,
								const struct devcode_container *container,
								struct seen_container *note)
{
	const size_t targets = seen->question->target_count;
	bool texts_read = false, empty = false;
	size_t rows = 0, count;

	for (size_t d = 0; d <= seen->release_count; d++) {
		struct plan_judgement *row = seen->judged + rows * targets;
		size_t same = 0;

		if (judge_with(seen, container, d ? &seen->releases[d - 1] : &seen->question->driver,
					   &texts_read, row))
			return -1;
		empty = d ? empty : is_empty(seen, container);
		for (size_t t = 0; t < targets; t++)
			if (empty && is_no_loss(&row[t]))
				row[t] = (struct plan_judgement){.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
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
					 (size_t)SEEN_MOST_CONTAINERS * ANALYSE_MOST_TARGETS))
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
	return seen->question->verdicts_only
			   ? 0
			   : pick_ptx_entries(err, seen, container, seen->judgements + note->first_judgement,
								  count);
}

/* Whether the container can be taken now: judgements and containers are looked up by its index. */
static int check_next(struct jw_error *err, struct seen *seen, size_t index)
{
	if (cancel_asked(&seen->sink->cancel)) {
		seen->stopped = true;
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted while files were read");
	}
	/* An image that turned out to be unreadable was never completed. */
	if (!index)
		seen_clear(seen);
	return index == seen->count ? 0 : error_set(err, JW_ERR_FORMAT, "containers out of order");
}

int seen_add(struct jw_error *err, struct seen *seen, const struct devcode_container *container)
{
	struct seen_container note = {.entry_count = (uint32_t)container->entry_count};
	struct devcode_container copy;

	if (check_next(err, seen, container->index))
		return -1;
	note.first_entry = (uint32_t)seen->entry_count;
	if (VEC_ROOM(err, seen->containers, seen->capacity, seen->count, SEEN_MOST_CONTAINERS) ||
		copy_container(seen, container, &copy) || note_entries(err, seen, &copy, &note) ||
		judge_container_seen(err, seen, &copy, &note))
		return -1;
	if (is_text(container))
		note.kernels = ptx_text_kernels(container->bytes, (size_t)container->size_bytes);
	seen->containers[seen->count++] = note;
	return 0;
}
