#include "cli/parts/scan_json.h"

#include <stdio.h>

#include "cli/parts/documents.h"

static bool add_number(cJSON *object, const char *name, double number)
{
	return cJSON_AddNumberToObject(object, name, number) != NULL;
}

static bool add_size(cJSON *object, const char *name, uint64_t size)
{
	return add_number(object, name, (double)size);
}

static bool add_counts(cJSON *object, const char *name, const struct jw_scan_count *counts,
					   size_t count)
{
	cJSON *list = cJSON_AddObjectToObject(object, name);

	if (!list)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_size(list, counts[i].name, counts[i].entries))
			return false;
	return true;
}

static bool add_need(cJSON *object, enum jw_scan_need need)
{
	switch (need) {
	case JW_SCAN_NEED_NO: return cJSON_AddFalseToObject(object, "link_needed");
	case JW_SCAN_NEED_YES: return cJSON_AddTrueToObject(object, "link_needed");
	case JW_SCAN_NEED_UNKNOWN: break;
	}
	return cJSON_AddNullToObject(object, "link_needed");
}

static bool add_reasons(cJSON *object, const struct jw_scan_verdicts *verdicts)
{
	cJSON *reasons = cJSON_AddObjectToObject(object, "cannot_reasons");

	return reasons && add_size(reasons, "exclusive", verdicts->cannot_exclusive) &&
		   add_size(reasons, "too_new", verdicts->cannot_too_new) &&
		   add_size(reasons, "zstd", verdicts->cannot_zstd) &&
		   add_size(reasons, "damaged", verdicts->cannot_damaged);
}

/* Milliseconds are as exact as an estimate can be. */
static double rounded(double seconds)
{
	return (double)(uint64_t)(seconds * 1000 + 0.5) / 1000;
}

static bool add_estimate(cJSON *object, const struct jw_scan_verdicts *verdicts)
{
	const bool link = verdicts->link_needed == JW_SCAN_NEED_YES;
	const struct jw_scan_work *work = &verdicts->work, *link_work = &verdicts->link_work;
	cJSON *estimate = cJSON_AddObjectToObject(object, "estimate");
	double longest =
		link && link_work->longest > work->longest ? link_work->longest : work->longest;

	return estimate &&
		   add_number(estimate, "cpu_seconds",
					  rounded(work->seconds + (link ? link_work->seconds : 0))) &&
		   add_number(estimate, "longest_seconds", rounded(longest)) &&
		   add_size(estimate, "cache_bytes",
					work->cache_bytes + (link ? link_work->cache_bytes : 0));
}

static bool add_verdicts(cJSON *object, const struct jw_scan_verdicts *verdicts)
{
	char name[JW_TARGET_TEXT];
	cJSON *one = cJSON_AddObjectToObject(object, jw_target_sm(name, verdicts->target));

	return one && add_size(one, "native", verdicts->native) &&
		   add_size(one, "compatible", verdicts->compatible) &&
		   add_size(one, "link", verdicts->link) && add_size(one, "jit", verdicts->jit) &&
		   add_size(one, "cannot", verdicts->cannot) &&
		   add_size(one, "nothing", verdicts->nothing) &&
		   add_size(one, "jit_modules", verdicts->work.modules) &&
		   add_size(one, "jit_bytes", verdicts->work.ptx_bytes) &&
		   add_need(one, verdicts->link_needed) &&
		   add_size(one, "link_modules", verdicts->link_work.modules) &&
		   add_size(one, "link_bytes", verdicts->link_work.ptx_bytes) &&
		   add_size(one, "loose_modules", verdicts->loose_work.modules) &&
		   add_size(one, "loose_bytes", verdicts->loose_work.ptx_bytes) &&
		   cJSON_AddBoolToObject(one, "left_out", verdicts->left_out) &&
		   add_reasons(one, verdicts) && add_estimate(one, verdicts);
}

static bool add_module(cJSON *list, const struct jw_scan_module *module)
{
	char target[JW_TARGET_TEXT], isa[16];
	cJSON *one = cJSON_CreateObject();

	if (!one || !cJSON_AddItemToArray(list, one)) {
		cJSON_Delete(one);
		return false;
	}
	(void)snprintf(isa, sizeof isa, "%u.%u", module->isa_major, module->isa_minor);
	return add_size(one, "offset", module->offset) &&
		   document_add_text(one, "section", module->section) &&
		   document_add_text(one, "kind", module->kind) &&
		   document_add_text(one, "target", jw_target_compute(target, module->target)) &&
		   document_add_text(one, "isa", isa) &&
		   document_add_text(one, "options", module->options) &&
		   document_add_text(one, "compression", module->compression) &&
		   add_size(one, "size_bytes", module->size_bytes) &&
		   (module->digest ? cJSON_AddStringToObject(one, "blake2b_256", module->digest) != NULL
						   : cJSON_AddNullToObject(one, "blake2b_256") != NULL);
}

static bool add_image(cJSON *object, const struct jw_scan_image *image)
{
	cJSON *verdicts;

	if (!document_add_text(object, "path", image->path) ||
		!document_add_text(object, "member", image->member) ||
		!add_size(object, "size_bytes", image->size_bytes) ||
		!document_add_text(object, "format", image->format) ||
		!add_size(object, "containers", image->containers) ||
		!add_counts(object, "cubins", image->cubins, image->cubin_count) ||
		!add_counts(object, "ptx", image->ptx, image->ptx_count) ||
		!add_size(object, "ptx_bytes", image->ptx_bytes) ||
		!add_counts(object, "other", image->other, image->other_count) ||
		!add_size(object, "damaged", image->damaged))
		return false;
	verdicts = cJSON_AddObjectToObject(object, "verdicts");
	for (size_t i = 0; verdicts && i < image->verdict_count; i++)
		if (!add_verdicts(verdicts, &image->verdicts[i]))
			return false;
	return verdicts != NULL;
}

cJSON *scan_json_image(const struct jw_scan_image *image, bool modules)
{
	cJSON *object = cJSON_CreateObject();
	bool made = object && add_image(object, image);

	if (made && modules) {
		cJSON *list = cJSON_AddArrayToObject(object, "modules");

		made = list != NULL;
		for (size_t i = 0; made && i < image->module_count; i++)
			made = add_module(list, &image->modules[i]);
	}
	if (made)
		return object;
	cJSON_Delete(object);
	return NULL;
}
