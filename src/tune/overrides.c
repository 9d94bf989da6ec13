/* Users' own lines that win over what is written: finds them, and removes them on request. */
#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "cache/settings.h"
#include "tune/block.h"
#include "tune/override_lines.h"
#include "tune/tune_job.h"

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

bool jw_tune_is_removable(const struct jw_setting *setting)
{
	char *system = place_system_path(NULL, "/etc/");
	const bool own = system && !text_starts(setting->where, system);

	mem_free(system);
	return own && setting->line && !setting->ours && !strcmp(setting->source, "shell profile");
}

static int remove_line(struct jw_error *err, struct tune_job *job, const struct jw_setting *setting)
{
	struct buf before = {0}, after = {0};
	char *where = mem_printf(err, "%s:%zu", setting->where, setting->line);
	int result = -1;

	if (!where || tune_job_read_file(err, setting->where, &before) ||
		override_comment(err, buf_text(&before), before.size, setting->line, setting->name,
						 text_ends(setting->where, ".fish"), &after))
		goto done;
	if (!after.size)
		result = 0; /* the line does more than that: the user removes it */
	else if (!settings_record_add_file(err, &job->record, setting->where) &&
			 !settings_record_write(err, job->state_dir, &job->record) &&
			 !tune_job_write_file(err, job, setting->where, &after))
		result = tune_job_note(err, job, where, "commented out");
done:
	buf_free(&before);
	buf_free(&after);
	mem_free(where);
	return result;
}

int tune_job_remove_overrides(struct jw_error *err, struct tune_job *job)
{
	struct jw_settings *settings;
	bool *winning;
	int result;

	if (jw_settings_read(err, &settings))
		return -1;
	winning = mem_array(err, settings->count + 1, sizeof *winning);
	result = winning ? jw_tune_overrides(err, settings, job->request, winning) : -1;
	for (size_t i = 0; !result && i < settings->count; i++)
		if (winning[i] && jw_tune_is_removable(&settings->items[i]))
			result = remove_line(err, job, &settings->items[i]);
	mem_free(winning);
	jw_settings_free(settings);
	return result;
}

static int restore_file(struct jw_error *err, struct tune_job *job, const char *path)
{
	struct buf before = {0}, after = {0};
	struct block_found found;
	bool there = false, has_block = true;
	int result = -1;

	if (tune_job_read_file(err, path, &before) ||
		override_restore(err, buf_text(&before), before.size, &after, &there))
		goto done;
	result =
		!there ? 0
		: tune_job_write_file(err, job, path, &after) || tune_job_note(err, job, path, "restored")
			? -1
			: 0;
	if (!result && there &&
		!block_find(NULL, "# ", buf_text(&after), after.size, &has_block, &found) && !has_block)
		settings_record_drop_file(&job->record, path);
done:
	buf_free(&before);
	buf_free(&after);
	return result;
}

int tune_job_restore_overrides(struct jw_error *err, struct tune_job *job)
{
	int result = 0;

	for (size_t i = job->record.file_count; i > 0; i--) {
		char *path = mem_string(err, job->record.files[i - 1]);

		if (!path || tune_job_check_recorded(err, job, path) || restore_file(err, job, path))
			result = -1;
		mem_free(path);
	}
	return result;
}
