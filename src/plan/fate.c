#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST = 1 << 24 };

/* "libx.so", "libx.so.1.2", "x.pyd", "x.dll" */
static bool is_library(const char *path)
{
	static const char *const endings[] = {".so", ".pyd", ".dll"};

	for (const char *at = os_base_name(path); (at = strchr(at, '.')); at++)
		for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
			if (text_starts_fold(at, endings[i]) && strchr(".", at[strlen(endings[i])]))
				return true;
	return false;
}

uint64_t fate_folder(const char *path, const char *member)
{
	const char *inner = member ? member : path;
	const size_t length =
		member || is_library(path) ? (size_t)(os_base_name(inner) - inner) : strlen(inner);
	const uint64_t start = member ? fnv_update(FNV_START, path, strlen(path) + 1) : FNV_START;

	return fnv_update(start, inner, length);
}

static int find_folder(struct jw_error *err, struct fates *fates, uint64_t name, size_t *ret_folder)
{
	size_t cursor = 0, at = set_find(&fates->names, name, &cursor);

	if (at == SET_NONE) {
		if (VEC_ROOM(err, fates->folders, fates->folder_capacity, fates->folder_count, MOST) ||
			set_add(err, &fates->names, name, fates->folder_count))
			return -1;
		at = fates->folder_count++;
		fates->folders[at] = 0;
	}
	*ret_folder = at;
	return 0;
}

static enum plan_reason failure_reason_of(const struct analyse_target *target)
{
	enum plan_reason most = REASON_NONE;

	if (target->fate == ANALYSE_NO_IMAGE)
		return REASON_NONE;
	for (size_t i = 1; i < REASON_COUNT; i++)
		if (target->reasons[i] && target->reasons[i] >= target->reasons[most])
			most = (enum plan_reason)i;
	return target->reasons[REASON_NEWER_CODE] ? REASON_NEWER_CODE
		   : target->reasons[REASON_DAMAGED]  ? REASON_DAMAGED
											  : most;
}

int fates_add(struct jw_error *err, struct fates *fates, const char *path, const char *member,
			  const struct analyse_target *targets, size_t target_count)
{
	size_t folder;

	if (find_folder(err, fates, fate_folder(path, member), &folder))
		return -1;
	for (uint32_t t = 0; t < target_count; t++) {
		struct file_fate fate = {.target = t, .folder = folder};

		if (targets[t].fate == ANALYSE_RUNS)
			fates->folders[folder] |= UINT32_C(1) << t;
		if (targets[t].fate == ANALYSE_RUNS || targets[t].fate == ANALYSE_NO_CODE)
			continue;
		fate.reason = failure_reason_of(&targets[t]);
		if (VEC_ROOM(err, fates->items, fates->capacity, fates->count, MOST))
			return -1;
		fate.file = mem_printf(err, member ? "%s: %s" : "%s", path, member);
		if (!fate.file)
			return -1;
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

int fates_add_refused(struct jw_error *err, struct fates *fates, const char *path,
					  const char *member, uint32_t planned, uint32_t target, unsigned result)
{
	struct file_fate fate = {.target = target, .planned = planned, .refused = 1, .result = result};

	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate *known = &fates->items[i];

		if (known->result && known->planned == planned && known->target == target) {
			known->refused++;
			return 0;
		}
	}
	if (VEC_ROOM(err, fates->items, fates->capacity, fates->count, MOST))
		return -1;
	fate.file = mem_printf(err, member ? "%s: %s" : "%s", path, member);
	if (!fate.file)
		return -1;
	fates->items[fates->count++] = fate;
	return 0;
}

void fates_settle(struct fates *fates)
{
	size_t kept = 0;

	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate fate = fates->items[i];

		/* Damage concerns only the file itself. */
		if (fate.reason != REASON_DAMAGED && fates->folders[fate.folder] >> fate.target & 1)
			mem_free(fate.file);
		else
			fates->items[kept++] = fate;
	}
	fates->count = kept;
}

void fates_free(struct fates *fates)
{
	for (size_t i = 0; i < fates->count; i++)
		mem_free(fates->items[i].file);
	mem_free(fates->items);
	mem_free(fates->folders);
	set_free(&fates->names);
	*fates = (struct fates){0};
}

const char *fate_text(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	static const char *const reasons[REASON_COUNT] = {
		[REASON_NONE] = "no kernel image",
		[REASON_EXCLUSIVE] = "no kernel image",
		[REASON_TOO_NEW] = "PTX newer than the driver reads",
		[REASON_ZSTD] = "code packed with zstd, which needs a driver from 550.54.14 on",
		[REASON_DAMAGED] = "damaged code",
		[REASON_NEWER_CODE] = "machine code that needs the driver of a newer CUDA",
	};
	char sm[JW_TARGET_TEXT];

	if (fate->result)
		(void)text_format(text, FATE_TEXT, "the driver refuses %s: %s",
						  TEXT_COUNT(fate->refused, "module", "modules"),
						  refusal_name(fate->result));
	else
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s", reasons[fate->reason],
						  jw_target_sm(sm, device));
	return text;
}
