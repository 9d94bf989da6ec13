#include "plan/verdict.h"

#include <string.h>

#include <jitwarm/scan.h>

#include "base/text.h"
#include "code/release.h"
#include "code/rules.h"

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

enum {
	CUDA_OF_RELOCATABLE = 12050,
	CUDA_OF_TILE = 13000,    /* from NVIDIA's documents; older drivers that were tried refuse it */
	CUDA_OF_UNKNOWN = 12060, /* the first driver that was not tried with unknown kinds */
};

/* Returns the CUDA version of the first driver that may know that kind of entry. An older one
 * refuses to load it (209), and compiles none in a link. */
static uint32_t first_cuda_of(uint32_t kind)
{
	return kind == DEVCODE_KIND_RELOCATABLE_PTX ? CUDA_OF_RELOCATABLE
		   : kind == DEVCODE_KIND_TILE          ? CUDA_OF_TILE
		   : devcode_kind_is_known(kind)        ? 0
												: CUDA_OF_UNKNOWN;
}

static bool is_readable_by(const struct devcode_entry *entry, const struct jw_driver *driver)
{
	const uint32_t first = first_cuda_of(entry->kind);

	if (entry->kind == DEVCODE_KIND_RELOCATABLE_PTX)
		return gpu_branch_of(driver)->relocatable == GPU_RELOCATABLE_KNOWN;
	return !driver->cuda || driver->cuda >= first;
}

static void refuse_kind(struct plan_judgement *judgement, const struct devcode_entry *entry)
{
	judgement->verdict = VERDICT_CANNOT;
	judgement->reason = entry->kind == DEVCODE_KIND_TILE ? REASON_TILE : REASON_KIND;
	judgement->kind = entry->kind;
	judgement->error = PLAN_ERROR_NO_BINARY;
	judgement->needs = devcode_kind_is_known(entry->kind)
						   ? gpu_cuda_driver(first_cuda_of(entry->kind))
						   : (struct jw_driver){0};
}

/* Returns whether the container has Tile IR that the driver may compile. */
static bool has_tile(const struct devcode_container *container, struct jw_target device,
					 const struct jw_driver *driver)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (container->entries[i].kind == DEVCODE_KIND_TILE &&
			is_readable_by(&container->entries[i], driver) &&
			gpu_ptx_fits(container->entries[i].target, device))
			return true;
	return false;
}

/* Returns an entry that spoils the container, or NULL. If machine code of that target would run, a
 * driver before CUDA 12.5 takes an entry of a kind that it does not know for machine code, before
 * any PTX: the container fails, or even the process that loads it (code/release.h). */
static const struct devcode_entry *find_spoiler(const struct devcode_container *container,
												struct jw_target device,
												const struct jw_driver *driver)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (gpu_branch_of(driver)->relocatable != GPU_RELOCATABLE_KNOWN &&
			!is_readable_by(&container->entries[i], driver) &&
			gpu_sass_fit(container->entries[i].target, device) != GPU_FIT_NONE)
			return &container->entries[i];
	return NULL;
}

/* Returns whether an entry's architecture is 0 or too large; then the driver refuses the container,
 * whatever else is in it. */
static bool is_lost(const struct devcode_container *container, const struct jw_driver *driver)
{
	const struct gpu_branch *branch = gpu_branch_of(driver);

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		const bool is_read = branch->of_all_kinds || entry->kind == DEVCODE_KIND_PTX ||
							 entry->kind == DEVCODE_KIND_CUBIN || entry->kind == DEVCODE_KIND_LTOIR;

		if (is_read && (!entry->target.sm || entry->target.sm >= branch->architectures))
			return true;
	}
	return false;
}

/* Returns why the driver does not compile the PTX that it chooses; REASON_NONE if it does. */
static enum plan_reason objection(const struct devcode_entry *entry, struct jw_target text,
								  struct jw_target device, const struct jw_driver *driver)
{
	struct gpu_isa isa = {entry->isa_major, entry->isa_minor};

	if (!gpu_ptx_fits(text, device))
		return REASON_EXCLUSIVE;
	if (gpu_isa_compare(isa, gpu_driver_isa(driver)) > 0)
		return REASON_TOO_NEW;
	if (entry->compression == DEVCODE_ZSTD && !gpu_branch_of(driver)->zstd)
		return REASON_ZSTD;
	if (entry->damaged)
		return REASON_DAMAGED;
	if (isa.major && gpu_isa_compare(isa, gpu_target_isa(text)) < 0)
		return REASON_EARLY;
	return REASON_NONE;
}

/* Returns why the driver does not load the cubin that it chooses. The driver returns 200, or the
 * process ends (550); it tries no other cubin and no PTX (measured on 470, 535, 550 and 555). */
static enum plan_reason cubin_objection(const struct devcode_entry *entry,
										const struct jw_driver *driver)
{
	if (entry->compression == DEVCODE_ZSTD && !gpu_branch_of(driver)->zstd)
		return REASON_ZSTD;
	if (entry->damaged)
		return REASON_DAMAGED;
	return driver->cuda && entry->first_cuda > driver->cuda ? REASON_NEWER_CODE : REASON_NONE;
}

static bool fits(const struct devcode_entry *entry, struct jw_target device)
{
	return entry->kind == DEVCODE_KIND_CUBIN ? gpu_sass_fit(entry->target, device) != GPU_FIT_NONE
											 : gpu_ptx_fits(entry->target, device);
}

/* Returns the driver's choice: the newest target that runs. If several entries are for one target,
 * it chooses the first, or the last if that is the GPU's own target (for cubins only up to CUDA
 * 12). Nothing else matters, and there is no second choice: measured on 535, 550 and 555
 * (tests/conformance, "choice/"). */
static size_t choose_of_kind(const struct devcode_container *container, uint32_t kind,
							 struct jw_target device, const struct jw_driver *driver)
{
	const struct devcode_entry *entries = container->entries;
	const bool last = kind != DEVCODE_KIND_CUBIN || (driver->cuda && driver->cuda < 13000);
	size_t taken = SIZE_MAX;

	for (size_t i = 0; i < container->entry_count; i++) {
		const uint16_t sm = entries[i].target.sm;

		if (entries[i].kind != kind || !fits(&entries[i], device))
			continue;
		if (taken == SIZE_MAX || sm > entries[taken].target.sm || (last && sm == device.sm))
			taken = i;
	}
	return taken;
}

/* Judges a container without a usable cubin or PTX: finds code for an architecture that no GPU has,
 * else entries that are neither, else PTX that is old enough and that only its suffix excludes. */
static void judge_the_rest(const struct devcode_container *container, struct jw_target device,
						   const struct jw_driver *driver, struct plan_judgement *judgement)
{
	const struct devcode_entry *refused = NULL, *unknown = NULL;
	bool exclusive = false;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		const bool ptx = devcode_kind_is_ptx(entry->kind);

		if ((ptx || entry->kind == DEVCODE_KIND_CUBIN) && !gpu_is_architecture(entry->target.sm)) {
			judgement->verdict = VERDICT_CANNOT;
			judgement->reason = REASON_DAMAGED;
			judgement->error = PLAN_ERROR_NO_BINARY;
			return;
		}
		if (!gpu_not_newer(entry->target, device))
			continue;
		if (!is_readable_by(entry, driver))
			refused = entry;
		exclusive = exclusive || ptx;
		if (!devcode_kind_is_known(entry->kind))
			unknown = entry;
	}
	judgement->tile = has_tile(container, device, driver);
	if (refused) {
		refuse_kind(judgement, refused);
	} else if (judgement->tile) {
		judgement->verdict = VERDICT_TILE;
	} else if (unknown) {
		judgement->verdict = VERDICT_UNKNOWN;
		judgement->kind = unknown->kind;
	} else if (exclusive) {
		judgement->verdict = VERDICT_CANNOT;
		judgement->reason = REASON_EXCLUSIVE;
		judgement->error = PLAN_ERROR_NO_BINARY;
	}
}

struct plan_judgement plan_judge(const struct devcode_container *container,
								 const struct jw_target *texts, bool relocatable,
								 struct jw_target device, const struct jw_driver *driver)
{
	struct plan_judgement judgement = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
	const struct devcode_entry *entry, *spoiler;
	struct jw_target text;
	size_t taken = choose_of_kind(container, DEVCODE_KIND_CUBIN, device, driver);

	if (is_lost(container, driver)) {
		judgement.verdict = VERDICT_CANNOT;
		judgement.reason = REASON_DAMAGED;
		judgement.error = PLAN_ERROR_UNKNOWN;
		return judgement;
	}
	if (taken != SIZE_MAX) {
		entry = &container->entries[taken];
		judgement.reason = cubin_objection(entry, driver);
		judgement.error = judgement.reason != REASON_NONE ? PLAN_ERROR_IMAGE : 0;
		judgement.verdict = judgement.reason != REASON_NONE ? VERDICT_CANNOT
							: gpu_sass_fit(entry->target, device) == GPU_FIT_EXACT
								? VERDICT_NATIVE
								: VERDICT_COMPATIBLE;
		if (judgement.reason == REASON_ZSTD || judgement.reason == REASON_NEWER_CODE)
			judgement.needs = gpu_cuda_driver(entry->first_cuda);
		if (judgement.reason == REASON_ZSTD)
			judgement.needs = gpu_newer_driver(judgement.needs, gpu_first_zstd);
		return judgement;
	}
	spoiler = find_spoiler(container, device, driver);
	if (spoiler) {
		refuse_kind(&judgement, spoiler);
		judgement.error = PLAN_ERROR_IMAGE;
		return judgement;
	}
	/* Kind 0x40 counts only if no other PTX is usable, in loads and links alike (measured on 555).
	 * Then the driver compiles all usable ones; this code takes the newest. */
	taken = choose_of_kind(container, DEVCODE_KIND_PTX, device, driver);
	if (taken == SIZE_MAX && gpu_branch_of(driver)->relocatable == GPU_RELOCATABLE_KNOWN)
		taken = choose_of_kind(container, DEVCODE_KIND_RELOCATABLE_PTX, device, driver);
	if (taken == SIZE_MAX) {
		judge_the_rest(container, device, driver, &judgement);
		return judgement;
	}
	entry = &container->entries[taken];
	text = texts && texts[taken].sm ? texts[taken] : entry->target;
	judgement.reason = objection(entry, text, device, driver);
	if (judgement.reason != REASON_NONE) {
		judgement.verdict = VERDICT_CANNOT;
		/* A driver that cannot read zstd takes the compressed bytes for text. */
		judgement.error =
			judgement.reason == REASON_TOO_NEW ? PLAN_ERROR_PTX_VERSION : PLAN_ERROR_PTX;
		if (judgement.reason == REASON_TOO_NEW)
			judgement.needs = gpu_isa_driver((struct gpu_isa){entry->isa_major, entry->isa_minor});
		if (judgement.reason == REASON_ZSTD ||
			(judgement.needs.cuda && entry->compression == DEVCODE_ZSTD))
			judgement.needs = gpu_newer_driver(judgement.needs, gpu_first_zstd);
		if (judgement.reason == REASON_EARLY)
			judgement.early = text;
		return judgement;
	}
	judgement.tile = has_tile(container, device, driver);
	judgement.entry = taken;
	judgement.verdict =
		relocatable || plan_entry_relocatable(container, entry) ? VERDICT_LINK : VERDICT_JIT;
	return judgement;
}

const char *jw_scan_unknown_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t count, uint32_t kind)
{
	if (kind == DEVCODE_KIND_PTX)
		return text_count(text, count,
						  "PTX source that programs edit before the driver compiles it",
						  "PTX sources that programs edit before the driver compiles them");
	(void)text_format(text, JW_SCAN_UNKNOWN_TEXT, "%s of kind 0x%x, which jitwarm does not know",
					  TEXT_COUNT(count, "piece", "pieces"), kind);
	return text;
}

const char *jw_scan_lacking_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t lacking, size_t pieces,
								 struct jw_target target)
{
	char sm[JW_TARGET_TEXT];

	(void)text_format(text, JW_SCAN_UNKNOWN_TEXT,
					  lacking == 1 ? "%zu of %s has no code for %s (chosen by the GPU)"
								   : "%zu of %s have no code for %s (chosen by the GPU)",
					  lacking, TEXT_COUNT(pieces, "piece", "pieces"), jw_target_sm(sm, target));
	return text;
}

const char *jw_scan_early_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t count)
{
	return text_count(text, count, "piece has PTX that is older than its target needs",
					  "pieces have PTX that is older than its target needs");
}

void plan_read_text(const struct devcode_container *container, struct devcode_entry *entry,
					struct jw_target *text)
{
	struct devcode_ptx_header header;

	if (!devcode_kind_is_ptx(entry->kind) || entry->damaged ||
		entry->compression == DEVCODE_FOREIGN || text->sm)
		return;
	if (devcode_ptx_header(NULL, container, entry, &header)) {
		entry->damaged = true;
		return;
	}
	*text = header.target;
	entry->isa_major = header.isa_major;
	entry->isa_minor = header.isa_minor;
}
