#include "plan/verdict.h"

#include <string.h>

#include "gpu/release.h"
#include "gpu/rules.h"

/* Whether an entry has to be linked before it can be loaded: its kind says so, or its option string
 * does. (Entries in `__nv_relfatbin` are relocatable without either; the section decides.) */
static bool plan_entry_relocatable(const struct devcode_container *container,
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

/* A driver that does not know kind 0x40 refuses to load it (209), and compiles none in a link. */
static bool is_readable_by(const struct devcode_entry *entry, const struct jw_driver *driver)
{
	return entry->kind != DEVCODE_KIND_RELOCATABLE_PTX ||
		   gpu_branch_of(driver)->relocatable == GPU_RELOCATABLE_KNOWN;
}

/* If machine code of that target would run, such a driver takes the entry for machine code, before
 * any PTX: the container fails, or even the process that loads it (gpu/release.h). */
static bool is_spoiled(const struct devcode_container *container, struct jw_target device,
					   const struct jw_driver *driver)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (!is_readable_by(&container->entries[i], driver) &&
			gpu_sass_fit(container->entries[i].target, device) != GPU_FIT_NONE)
			return true;
	return false;
}

/* Whether an entry's architecture is 0 or too large. The driver then refuses the container,
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

/* Why the driver does not compile the PTX that it chooses; REASON_NONE if it does. */
static enum plan_reason objection(const struct devcode_entry *entry, struct jw_target text,
								  struct jw_target device, const struct jw_driver *driver)
{
	struct gpu_isa isa = {entry->isa_major, entry->isa_minor};

	if (text.sm && !gpu_ptx_fits(text, device))
		return REASON_EXCLUSIVE;
	if (gpu_isa_compare(isa, gpu_driver_isa(driver)) > 0)
		return REASON_TOO_NEW;
	if (entry->compression == DEVCODE_ZSTD && !gpu_branch_of(driver)->zstd)
		return REASON_ZSTD;
	if (entry->damaged)
		return REASON_DAMAGED;
	return REASON_NONE;
}

/* Why the driver does not load the cubin that it chooses. It returns 200, or the process ends
 * (550); it tries no other cubin and no PTX (measured on 470, 535, 550 and 555). */
static enum plan_reason cubin_objection(const struct devcode_container *container,
										const struct devcode_entry *entry,
										const struct jw_driver *driver)
{
	if (entry->compression == DEVCODE_ZSTD && !gpu_branch_of(driver)->zstd)
		return REASON_ZSTD;
	if (entry->damaged)
		return REASON_DAMAGED;
	return driver->cuda && devcode_cubin_cuda(container, entry) > driver->cuda ? REASON_NEWER_CODE
																			   : REASON_NONE;
}

static bool fits(const struct devcode_entry *entry, struct jw_target device)
{
	return entry->kind == DEVCODE_KIND_CUBIN ? gpu_sass_fit(entry->target, device) != GPU_FIT_NONE
											 : gpu_ptx_fits(entry->target, device);
}

/* The driver chooses the newest target that runs. Of several for one target it chooses the first,
 * or the last if that is the GPU's own target (for cubins only up to CUDA 12). Nothing else
 * matters, and there is no second choice: measured on 535, 550 and 555 (tests/conformance,
 * "choice/"). */
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

/* Kind 0x40 counts only if no other PTX is usable, in loads and links alike (measured on 555). Then
 * the driver compiles all usable ones; this returns the newest. */
static size_t choose_ptx(const struct devcode_container *container, struct jw_target device,
						 const struct jw_driver *driver)
{
	size_t taken = choose_of_kind(container, DEVCODE_KIND_PTX, device, driver);

	if (taken == SIZE_MAX && gpu_branch_of(driver)->relocatable == GPU_RELOCATABLE_KNOWN)
		taken = choose_of_kind(container, DEVCODE_KIND_RELOCATABLE_PTX, device, driver);
	return taken;
}

/* If no entry is usable: finds code for an architecture that no GPU has, else PTX that is old
 * enough and that only its kind or its suffix excludes. */
static enum plan_reason why_none_taken(const struct devcode_container *container,
									   struct jw_target device, const struct jw_driver *driver)
{
	enum plan_reason reason = REASON_NONE;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];

		if ((devcode_kind_is_ptx(entry->kind) || entry->kind == DEVCODE_KIND_CUBIN) &&
			!gpu_is_architecture(entry->target.sm))
			return REASON_DAMAGED;
		if (!devcode_kind_is_ptx(entry->kind) || !gpu_not_newer(entry->target, device))
			continue;
		if (!is_readable_by(entry, driver))
			return REASON_TOO_NEW;
		reason = REASON_EXCLUSIVE;
	}
	return reason;
}

struct plan_judgement plan_judge(const struct devcode_container *container,
								 const struct jw_target *texts, bool relocatable,
								 struct jw_target device, const struct jw_driver *driver)
{
	struct plan_judgement judgement = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};
	const struct devcode_entry *entry;
	size_t taken = choose_of_kind(container, DEVCODE_KIND_CUBIN, device, driver);

	if (is_lost(container, driver)) {
		judgement.verdict = VERDICT_CANNOT;
		judgement.reason = REASON_DAMAGED;
		return judgement;
	}
	if (taken != SIZE_MAX) {
		entry = &container->entries[taken];
		judgement.reason = cubin_objection(container, entry, driver);
		judgement.verdict = judgement.reason != REASON_NONE ? VERDICT_CANNOT
							: gpu_sass_fit(entry->target, device) == GPU_FIT_EXACT
								? VERDICT_NATIVE
								: VERDICT_COMPATIBLE;
		return judgement;
	}
	if (is_spoiled(container, device, driver)) {
		judgement.verdict = VERDICT_CANNOT;
		judgement.reason = REASON_TOO_NEW;
		return judgement;
	}
	taken = choose_ptx(container, device, driver);
	if (taken == SIZE_MAX) {
		judgement.reason = why_none_taken(container, device, driver);
		if (judgement.reason != REASON_NONE)
			judgement.verdict = VERDICT_CANNOT;
		return judgement;
	}
	entry = &container->entries[taken];
	judgement.reason = objection(entry, texts ? texts[taken] : entry->target, device, driver);
	if (judgement.reason != REASON_NONE) {
		judgement.verdict = VERDICT_CANNOT;
		if (judgement.reason == REASON_TOO_NEW)
			judgement.isa = (struct gpu_isa){entry->isa_major, entry->isa_minor};
		return judgement;
	}
	judgement.entry = taken;
	judgement.verdict =
		relocatable || plan_entry_relocatable(container, entry) ? VERDICT_LINK : VERDICT_JIT;
	return judgement;
}

int plan_read_text(struct jw_error *err, const struct devcode_container *container,
				   struct devcode_entry *entry, struct jw_target *text)
{
	struct devcode_ptx_header header;
	struct jw_error why = {0};

	if (!devcode_kind_is_ptx(entry->kind) || entry->damaged ||
		entry->compression == DEVCODE_FOREIGN || text->sm)
		return 0;
	if (devcode_ptx_header(&why, container, entry, &header)) {
		entry->damaged = true;
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	}
	*text = header.target;
	entry->isa_major = header.isa_major;
	entry->isa_minor = header.isa_minor;
	return 0;
}
