#include "cli/parts/documents.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/parts/reproduce.h"
#include "cli/terminal.h"
#include "os/memory.h"
#include "os/platform.h"

enum { MOST_TEXT = 1 << 20 };

/* Names of files and what they hold may be any bytes; JSON is UTF-8. NULL when memory is short. */
static cJSON *text_of(const char *text)
{
	struct buf clean = BUF_MAX(MOST_TEXT);
	cJSON *made =
		terminal_append_utf8(NULL, &clean, text) ? NULL : cJSON_CreateString(buf_text(&clean));

	buf_free(&clean);
	return made;
}

bool document_add_text(cJSON *object, const char *name, const char *text)
{
	cJSON *made;

	if (!text)
		return true;
	made = text_of(text);
	if (made && cJSON_AddItemToObject(object, name, made))
		return true;
	cJSON_Delete(made);
	return false;
}

bool document_append_text(cJSON *array, const char *text)
{
	cJSON *made = text_of(text);

	if (made && cJSON_AddItemToArray(array, made))
		return true;
	cJSON_Delete(made);
	return false;
}

static void add_text(cJSON *object, const char *name, const char *text)
{
	(void)document_add_text(object, name, text);
}

void document_add_count(cJSON *object, const char *name, uint64_t value)
{
	(void)cJSON_AddNumberToObject(object, name, (double)value);
}

/* ---- prime */

static cJSON *failures_of(const struct jw_prime_result *result, const struct options *options)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < result->failure_count; i++) {
		const struct jw_prime_failure *failure = &result->failures[i];
		cJSON *object = cJSON_CreateObject();
		char *command = reproduce_command(NULL, options, failure);
		char target[JW_TARGET_TEXT];

		add_text(object, "path", failure->path);
		add_text(object, "member", failure->member);
		document_add_count(object, "offset", failure->offset);
		add_text(object, "target", jw_target_sm(target, failure->target));
		add_text(object, "reason", failure->reason);
		add_text(object, "log", failure->log);
		add_text(object, "command", command);
		mem_free(command);
		(void)cJSON_AddItemToArray(array, object);
	}
	return array;
}

cJSON *document_prime(const struct jw_prime_result *result, const struct options *options)
{
	cJSON *document = output_document("prime"), *notes;

	document_add_count(document, "modules", result->plan.modules);
	document_add_count(document, "warm", result->plan.warm);
	document_add_count(document, "cold", result->plan.cold + result->plan.over_budget);
	document_add_count(document, "carried", result->plan.carried);
	document_add_count(document, "anew", result->plan.anew);
	document_add_count(document, "cannot", result->plan.cannot);
	document_add_count(document, "link", result->plan.link);
	document_add_count(document, "left_out", result->plan.left_out);
	if (result->plan.why[0])
		add_text(document, "why", result->plan.why);
	if (result->plan.recorded) {
		document_add_count(document, "recorded", result->plan.recorded);
		document_add_count(document, "recorded_missing", result->plan.recorded_missing);
	}
	document_add_count(document, "workers", result->plan.workers);
	document_add_count(document, "cold_bytes", result->plan.cold_bytes);
	document_add_count(document, "predicted_cache_bytes", result->plan.cache_bytes);
	(void)cJSON_AddNumberToObject(document, "predicted_cpu_seconds", result->plan.cpu_seconds);
	(void)cJSON_AddNumberToObject(document, "predicted_seconds", result->plan.wall_seconds);
	document_add_count(document, "limit_bytes", result->plan.limit_bytes);
	document_add_count(document, "used_bytes", result->plan.used_bytes);
	document_add_count(document, "over_budget", result->plan.over_budget);
	if (result->plan.over_budget) {
		document_add_count(document, "over_budget_cache_bytes", result->plan.over_budget_bytes);
		(void)cJSON_AddNumberToObject(document, "over_budget_cpu_seconds",
									  result->plan.over_budget_seconds);
	}
	document_add_count(document, "compiled", result->compiled);
	document_add_count(document, "split", result->split);
	document_add_count(document, "misjudged", result->misjudged);
	document_add_count(document, "unchanged", result->unchanged);
	document_add_count(document, "failed", result->failed);
	document_add_count(document, "met", result->met);
	document_add_count(document, "lost", result->lost);
	document_add_count(document, "undone", result->undone);
	document_add_count(document, "added_bytes", result->added_bytes);
	document_add_count(document, "evicted", result->evicted);
	(void)cJSON_AddNumberToObject(document, "seconds", result->seconds);
	(void)cJSON_AddNumberToObject(document, "compile_seconds", result->compile_seconds);
	(void)cJSON_AddNumberToObject(document, "longest_seconds", result->longest_seconds);
	(void)cJSON_AddNumberToObject(document, "compile_cpu_seconds", result->compile_cpu_seconds);
	document_add_count(document, "peak_worker_bytes", result->peak_worker_bytes);
	document_add_count(document, "peak_supervisor_bytes", os_peak_resident_bytes());
	(void)cJSON_AddBoolToObject(document, "interrupted", result->interrupted);
	(void)cJSON_AddBoolToObject(document, "out_of_time", result->out_of_time);
	(void)cJSON_AddBoolToObject(document, "opaque", result->opaque);
	if (result->stopped.code)
		add_text(document, "stopped", result->stopped.message);
	(void)cJSON_AddItemToObject(document, "failures", failures_of(result, options));
	notes = cJSON_AddArrayToObject(document, "notes");
	for (size_t i = 0; i < result->note_count; i++)
		(void)document_append_text(notes, result->notes[i]);
	return document;
}

/* ---- status */

static const char *trust_name(enum jw_trust trust)
{
	switch (trust) {
	case JW_TRUST_READ: return "read";
	case JW_TRUST_CONFIRMED: return "confirmed";
	case JW_TRUST_OPAQUE: return "opaque";
	case JW_TRUST_NONE: break;
	}
	return "unknown";
}

cJSON *document_gpus(const struct jw_system *system)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < system->gpu_count; i++) {
		const struct jw_gpu *gpu = &system->gpus[i];
		cJSON *object = cJSON_CreateObject();
		char target[JW_TARGET_TEXT];

		add_text(object, "name", gpu->name);
		add_text(object, "target", jw_target_sm(target, gpu->target));
		add_text(object, "bus", gpu->bus);
		add_text(object, "uuid", gpu->uuid);
		document_add_count(object, "memory_bytes", gpu->memory_bytes);
		(void)cJSON_AddItemToArray(array, object);
	}
	return array;
}

static cJSON *driver_of(const struct jw_driver_info *driver)
{
	cJSON *object = cJSON_CreateObject();
	char text[48];

	if (driver->version.release[0]) {
		/* As NVIDIA writes it: the third number has two digits, and is missing from some. */
		(void)snprintf(text, sizeof text, driver->version.release[2] ? "%u.%u.%02u" : "%u.%02u",
					   driver->version.release[0], driver->version.release[1],
					   driver->version.release[2]);
		add_text(object, "version", text);
	}
	if (driver->version.cuda) {
		(void)snprintf(text, sizeof text, "%u.%u", driver->version.cuda / 1000,
					   driver->version.cuda % 1000 / 10);
		add_text(object, "cuda", text);
	}
	add_text(object, "library", driver->library);
	add_text(object, "stamp", driver->stamp);
	add_text(object, "stamp_trust", trust_name(driver->trust));
	return object;
}

static cJSON *cache_of(const struct jw_cache_info *cache, size_t carried)
{
	cJSON *object = cJSON_CreateObject(), *warnings;

	add_text(object, "path", cache->path);
	(void)cJSON_AddBoolToObject(object, "exists", cache->exists);
	document_add_count(object, "entries", cache->entries);
	document_add_count(object, "size_bytes", cache->size_bytes);
	document_add_count(object, "carried", carried);
	document_add_count(object, "limit_bytes", cache->limit_bytes);
	(void)cJSON_AddBoolToObject(object, "limit_set", cache->limit_set);
	(void)cJSON_AddBoolToObject(object, "disabled", cache->disabled);
	(void)cJSON_AddBoolToObject(object, "force_ptx_jit", cache->force_ptx_jit);
	warnings = cJSON_AddArrayToObject(object, "warnings");
	for (size_t i = 0; i < cache->warning_count; i++)
		(void)cJSON_AddItemToArray(warnings, cJSON_CreateString(cache->warnings[i]));
	return object;
}

static cJSON *others_of(const struct jw_other_cache *caches, size_t count)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < count; i++) {
		cJSON *object = cJSON_CreateObject();

		add_text(object, "account", caches[i].account);
		add_text(object, "path", caches[i].path);
		document_add_count(object, "entries", caches[i].entries);
		document_add_count(object, "size_bytes", caches[i].size_bytes);
		(void)cJSON_AddItemToArray(array, object);
	}
	return array;
}

cJSON *document_status(const struct jw_system *system, size_t carried,
					   const struct jw_other_cache *others, size_t other_count)
{
	cJSON *document = output_document("status");

	(void)cJSON_AddItemToObject(document, "gpus", document_gpus(system));
	if (system->why_none[0])
		add_text(document, "why_no_gpu", system->why_none);
	(void)cJSON_AddBoolToObject(document, "remembered", system->remembered);
	(void)cJSON_AddItemToObject(document, "driver", driver_of(&system->driver));
	(void)cJSON_AddItemToObject(document, "cache", cache_of(&system->cache, carried));
	(void)cJSON_AddItemToObject(document, "others", others_of(others, other_count));
	(void)cJSON_AddBoolToObject(document, "wsl", os_is_wsl());
	add_text(document, "state", system->state_dir);
	return document;
}

/* ---- names */

void found_print_notes(const struct output *output, const struct jw_found *found)
{
	for (size_t i = 0; i < found->note_count; i++) {
		if (found->notes[i].is_trouble)
			output_warning(output, "%s", found->notes[i].text);
		else
			output_note(output, "%s", found->notes[i].text);
	}
}
