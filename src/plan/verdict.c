#include "plan/verdict.h"

#include <string.h>

#include "gpu/release.h"
#include "gpu/rules.h"

static const char *const verdict_names[VERDICT_COUNT] = {"native", "compatible", "link",
														 "jit",    "cannot",     "nothing"};
static const char *const reason_names[REASON_COUNT] = {"", "exclusive", "too_new", "zstd",
													   "damaged"};

const char *plan_verdict_name(enum plan_verdict verdict)
{
	return verdict_names[verdict];
}

const char *plan_reason_name(enum plan_reason reason)
{
	return reason_names[reason];
}

static bool is_ptx(const struct devcode_entry *entry)
{
	return entry->kind == DEVCODE_KIND_PTX || entry->kind == DEVCODE_KIND_RELOCATABLE_PTX;
}

bool plan_entry_relocatable(const struct devcode_container *container,
							const struct devcode_entry *entry)
{
	static const char option[] = "--compile-only";
	const size_t length = sizeof option - 1;
	const uint8_t *options = container->bytes + entry->options_offset;

	if (entry->kind == DEVCODE_KIND_RELOCATABLE_PTX)
		return true;
	for (size_t i = 0; i + length <= entry->options_length; i++)
		if (!memcmp(options + i, option, length))
			return true;
	return false;
}

/* Why the driver does not compile this PTX for this device; REASON_NONE where it does. */
static enum plan_reason objection(const struct devcode_entry *entry, struct jw_target device,
								  const struct jw_driver *driver)
{
	struct gpu_isa isa = {entry->isa_major, entry->isa_minor};

	if (!gpu_ptx_fits(entry->target, device))
		return REASON_EXCLUSIVE;
	if (entry->damaged)
		return REASON_DAMAGED;
	if (gpu_isa_compare(isa, gpu_driver_isa(driver)) > 0)
		return REASON_TOO_NEW;
	if (entry->compression == DEVCODE_ZSTD && !gpu_driver_reads_zstd(driver))
		return REASON_ZSTD;
	return REASON_NONE;
}

static enum gpu_fit best_cubin(const struct devcode_container *container, struct jw_target device)
{
	enum gpu_fit best = GPU_FIT_NONE;

	for (size_t i = 0; i < container->entry_count; i++) {
		enum gpu_fit fit;

		if (container->entries[i].kind != DEVCODE_KIND_CUBIN)
			continue;
		fit = gpu_sass_fit(container->entries[i].target, device);
		if (fit > best)
			best = fit;
	}
	return best;
}

static void judge_ptx(struct plan_judgement *judgement, const struct devcode_container *container,
					  struct jw_target device, const struct jw_driver *driver)
{
	uint16_t newest_usable = 0, newest_unusable = 0;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		enum plan_reason reason;

		if (!is_ptx(entry) || !gpu_not_newer(entry->target, device))
			continue;
		reason = objection(entry, device, driver);
		if (reason == REASON_NONE && entry->target.sm >= newest_usable) {
			newest_usable = entry->target.sm;
			judgement->entry = i;
		} else if (reason != REASON_NONE && entry->target.sm >= newest_unusable) {
			newest_unusable = entry->target.sm;
			judgement->reason = reason;
		}
	}
}

struct plan_judgement plan_judge(const struct devcode_container *container, bool relocatable,
								 struct jw_target device, const struct jw_driver *driver)
{
	struct plan_judgement judgement = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};

	switch (best_cubin(container, device)) {
	case GPU_FIT_EXACT: judgement.verdict = VERDICT_NATIVE; return judgement;
	case GPU_FIT_COMPATIBLE: judgement.verdict = VERDICT_COMPATIBLE; return judgement;
	case GPU_FIT_NONE: break;
	}
	judge_ptx(&judgement, container, device, driver);
	if (judgement.entry != SIZE_MAX) {
		const struct devcode_entry *entry = &container->entries[judgement.entry];

		judgement.reason = REASON_NONE;
		judgement.verdict =
			relocatable || plan_entry_relocatable(container, entry) ? VERDICT_LINK : VERDICT_JIT;
	} else if (judgement.reason != REASON_NONE) {
		judgement.verdict = VERDICT_CANNOT;
	}
	return judgement;
}
