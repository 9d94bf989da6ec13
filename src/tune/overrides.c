/* Users' own lines that win over what is written. */
#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "cache/settings.h"
#include "tune/setting_places.h"

/* Whether a place that --apply writes to has the setting above our block. */
static bool is_above_ours(const struct jw_settings *settings, const struct jw_setting *setting,
						  const struct setting_places *places)
{
	bool above = false;

	for (size_t i = 0; i < places->count; i++)
		above = above || !strcmp(places->items[i].path, setting->where);
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].ours && !strcmp(settings->items[i].where, setting->where) &&
			settings->items[i].line < setting->line)
			above = false;
	return above;
}

static bool is_switch(const char *name)
{
	static const char *const names[] = {"CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
										"CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT",
										"CUDA_DISABLE_JIT"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A shell's own variable may be anything. */
static bool may_be_on(const char *value)
{
	return cache_switch_is_on(value) || strpbrk(value, "$`");
}

static bool wins(const struct jw_settings *settings, const struct jw_setting *setting,
				 const struct jw_tune_request *request, const struct setting_places *places)
{
	uint64_t number;

	if (setting->ours)
		return false;
	if (is_switch(setting->name))
		return !setting->unset && may_be_on(setting->value);
	/* /etc/profile is read before the account's; an environment or a service is read after all. */
	if (strcmp(setting->source, "shell profile") != 0 || request->scope == JW_SCOPE_CONDA ||
		request->scope == JW_SCOPE_UNIT || text_ends(setting->where, "/etc/profile") ||
		is_above_ours(settings, setting, places))
		return false;
	if (!strcmp(setting->name, "CUDA_CACHE_MAXSIZE"))
		return request->limit_bytes &&
			   (setting->unset || !text_number(setting->value, UINT64_MAX, &number) ||
				number < request->limit_bytes);
	return !strcmp(setting->name, "CUDA_CACHE_PATH") && request->path &&
		   (setting->unset || strcmp(setting->value, request->path) != 0);
}

int jw_tune_overrides(struct jw_error *err, const struct jw_settings *settings,
					  const struct jw_tune_request *request, bool *ret_wins)
{
	struct jw_tune_request known;
	struct setting_places places = {0};
	struct jw_error why = {0};

	if (!sized_take(err, request, &known, sizeof known))
		return -1;
	/* A scope that this system does not have, or no home: nothing is written there. */
	if (places_of(&why, &known, &places) && error_if_memory(err, &why))
		return -1;
	if (why.code)
		places = (struct setting_places){0};
	for (size_t i = 0; i < settings->count; i++)
		ret_wins[i] = wins(settings, &settings->items[i], &known, &places);
	places_free(&places);
	return 0;
}
