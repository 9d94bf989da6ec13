#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST = 1 << 24 };

/* Whether a number in a folder's name is a version of CUDA or a GPU: cu12, cuda-12.8, sm_90. */
static bool is_after_mark(const char *name, const char *number)
{
	static const char *const marks[] = {"cu", "cuda", "sm"};
	const char *end = number > name && strchr("-_", number[-1]) ? number - 1 : number;

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const size_t length = strlen(marks[i]), before = (size_t)(end - name);

		if (before >= length && text_starts_fold(end - length, marks[i]) &&
			(before == length || !text_is_alnum(end[-(ptrdiff_t)length - 1])))
			return true;
	}
	return false;
}

/* Behind 118, 12.8, 90a. */
static const char *skip_number(const char *at)
{
	while (text_is_digit(*at) || (*at && strchr("._", *at) && text_is_digit(at[1])))
		at++;
	return *at && strchr("aAfF", *at) && !text_is_alnum(at[1]) ? at + 1 : at;
}

uint64_t fate_variants(const char *path, const char *member)
{
	const char *name = member ? member : path, *const base = os_base_name(name);
	uint64_t hash = member ? fnv_update(FNV_START, path, strlen(path) + 1) : FNV_START;

	for (const char *at = name; *at;) {
		const bool number = text_is_digit(*at) && (at >= base || is_after_mark(name, at));
		const char *as = at >= base && text_starts(at, "compute_") ? "sm_"
						 : at >= base && text_starts(at, ".ptx")   ? ".cubin"
																   : NULL;

		if (as) {
			hash = fnv_update(hash, as, strlen(as));
			at += *at == '.' ? strlen(".ptx") : strlen("compute_");
			continue;
		}
		hash = fnv_update(hash, number ? "0" : at, 1);
		at = number ? skip_number(at) : at + 1;
	}
	return hash;
}

/* The hash of a file's folder, or of its archive and the member's folder. What is in site-packages
 * itself is of different packages: each file has a folder of its own. */
static uint64_t folder_of(const char *path, const char *member)
{
	static const char packages[] = "-packages";
	const char *name = member ? member : path;
	const uint64_t start = fnv_update(FNV_START, path, member ? strlen(path) + 1 : 0);
	size_t length = (size_t)(os_base_name(name) - name);

	if (!member && length >= sizeof packages &&
		!memcmp(name + length - sizeof packages, packages, sizeof packages - 1))
		length = strlen(name);
	/* No name of variants ends so. */
	return fnv_update(fnv_update(start, name, length), "", 1);
}

static int find_running(struct jw_error *err, struct fates *fates, uint64_t name, size_t *ret_at)
{
	size_t cursor = 0, at = set_find(&fates->names, name, &cursor);

	if (at == SET_NONE) {
		if (VEC_ROOM(err, fates->running, fates->running_capacity, fates->running_count, MOST))
			return -1;
		set_add(&fates->names, name, fates->running_count);
		at = fates->running_count++;
		fates->running[at] = 0;
	}
	*ret_at = at;
	return 0;
}

/* Of a file that fails. What the driver refuses goes before what only lacks code for the GPU. */
static enum plan_reason failure_reason_of(const struct analyse_target *target)
{
	static const enum plan_reason order[] = {REASON_NEWER_CODE, REASON_RUNTIME, REASON_DAMAGED,
											 REASON_TOO_NEW,    REASON_ZSTD,    REASON_TILE,
											 REASON_KIND};

	for (size_t i = 0; target->fate == ANALYSE_REFUSED && i < sizeof order / sizeof *order; i++)
		if (target->fatal_reasons >> order[i] & 1)
			return order[i];
	return REASON_NONE;
}

int fates_add(struct jw_error *err, struct fates *fates, const char *path, const char *member,
			  const struct analyse_target *targets, size_t target_count)
{
	size_t variants, folder;

	if (find_running(err, fates, fate_variants(path, member), &variants) ||
		find_running(err, fates, folder_of(path, member), &folder))
		return -1;
	for (uint32_t t = 0; t < target_count; t++) {
		const struct analyse_target *target = &targets[t];
		const bool runs = target->fate == ANALYSE_RUNS;
		struct file_fate fate = {
			.target = t,
			.fails = !runs,
			.reason = failure_reason_of(target),
			.variants = variants,
			.folder = folder,
			.special = target->special,
			.kind = target->kind,
			.tile_too = target->fatal_reasons >> REASON_TILE & 1,
			.lacking = target->lacking,
			.pieces = target->pieces,
		};

		fates->running[variants] |= (uint32_t)runs << t;
		fates->running[folder] |= (uint32_t)runs << t;
		if (target->fate == ANALYSE_NO_CODE || (runs && !target->lacking))
			continue;
		if (fate.reason != REASON_NONE && fate.reason != REASON_DAMAGED)
			fate.needs = target->fatal_needs;
		if (VEC_ROOM(err, fates->items, fates->capacity, fates->count, MOST))
			return -1;
		fate.file = mem_printf(member ? "%s: %s" : "%s", path, member);
		fates->items[fates->count++] = fate;
	}
	return 0;
}

const char *refusal_name(unsigned result)
{
	static const struct {
		unsigned result;
		const char *name;
	} results[] = {
		{200, "CUDA_ERROR_INVALID_IMAGE"},  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
		{218, "CUDA_ERROR_INVALID_PTX"},    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		{300, "CUDA_ERROR_INVALID_SOURCE"},
	};

	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (results[i].result == result)
			return results[i].name;
	return NULL;
}

void fates_add_refused(struct fates *fates, const char *path, const char *member, uint32_t target,
					   unsigned result)
{
	char *file = mem_printf(member ? "%s: %s" : "%s", path, member);

	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate *known = &fates->items[i];

		if (known->target == target && !strcmp(known->file, file)) {
			known->refused += known->result != 0;
			mem_free(file);
			return;
		}
	}
	VEC_GROW(fates->items, fates->capacity, fates->count);
	fates->items[fates->count++] = (struct file_fate){
		.file = file, .target = target, .fails = true, .refused = 1, .result = result};
}

/* Whether a variant of it runs; or, where it is for the GPUs of a family alone, another file beside
 * it: then it has kernels that programs use on those GPUs. */
static bool is_spared(const struct fates *fates, const struct file_fate *fate)
{
	return fate->reason == REASON_NONE &&
		   ((fates->running[fate->variants] | (fate->special ? fates->running[fate->folder] : 0)) >>
				fate->target &
			1);
}

void fates_settle(struct fates *fates)
{
	size_t kept = 0;

	fates->lacks = mem_array(fates->count, sizeof *fates->lacks);
	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate fate = fates->items[i];

		fate.variant_runs = fates->running[fate.variants] >> fate.target & 1;
		if (fate.fails && !is_spared(fates, &fate)) {
			fates->items[kept++] = fate;
		} else if (fate.fails && fate.variant_runs) {
			mem_free(fate.file);
		} else {
			fate.fails = false;
			fates->lacks[fates->lack_count++] = fate;
		}
	}
	fates->count = kept;
}

void fates_free(struct fates *fates)
{
	for (size_t i = 0; i < fates->count; i++)
		mem_free(fates->items[i].file);
	for (size_t i = 0; i < fates->lack_count; i++)
		mem_free(fates->lacks[i].file);
	mem_free(fates->items);
	mem_free(fates->lacks);
	mem_free(fates->running);
	set_free(&fates->names);
	*fates = (struct fates){0};
}

const char *fate_text(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	static const char *const reasons[REASON_COUNT] = {
		[REASON_NONE] = "no kernel image",
		[REASON_EXCLUSIVE] = "no kernel image",
		[REASON_TOO_NEW] = "PTX newer than the driver reads",
		[REASON_TILE] = "Tile IR",
		[REASON_ZSTD] = "code packed with zstd",
		[REASON_DAMAGED] = "damaged code",
		[REASON_NEWER_CODE] = "machine code that needs the driver of a newer CUDA",
		[REASON_RUNTIME] = "a CUDA runtime that needs the driver of a newer CUDA",
	};
	char sm[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT], kind[128];
	const char *reason = reasons[fate->reason];

	if (fate->result) {
		(void)text_format(text, FATE_TEXT, "the driver refuses %s: %s",
						  TEXT_COUNT(fate->refused, "module", "modules"),
						  refusal_name(fate->result));
		return text;
	}
	(void)jw_target_sm(sm, device);
	if (fate->reason == REASON_KIND) {
		(void)text_format(kind, sizeof kind, "code of the unknown kind 0x%x", fate->kind);
		reason = kind;
	} else if (fate->tile_too && fate->reason != REASON_TILE) {
		(void)text_format(kind, sizeof kind, "%s, and Tile IR", reason);
		reason = kind;
	}
	if (!fate->fails)
		(void)text_format(text, FATE_TEXT,
						  fate->lacking == 1
							  ? "%zu of %s has no code for %s: a program that uses it fails"
							  : "%zu of %s have no code for %s: a program that uses one fails",
						  fate->lacking, TEXT_COUNT(fate->pieces, "piece", "pieces"), sm);
	else if (fate->needs.cuda && fate->variant_runs)
		(void)text_format(
			text, FATE_TEXT,
			"a program that loads this variant fails: %s for %s; it needs driver %s or "
			"newer",
			reason, sm, jw_driver_text(driver, &fate->needs));
	else if (fate->needs.cuda)
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s; it needs driver %s or newer",
						  reason, sm, jw_driver_text(driver, &fate->needs));
	else
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s", reason, sm);
	return text;
}
