/* What the settings of the driver's cache should be, and the limit that files need. */
#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/tune.h>

#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "cache/settings.h"

enum { MOST_WARNINGS = 10000 };

int jw_tune_predict(struct jw_error *err, const struct jw_system *system, const char *const *paths,
					size_t count, uint64_t *ret_bytes)
{
	const struct jw_check_options options = {
		.size = sizeof options, .paths = paths, .path_count = count, .system = system};
	struct jw_check_result *result;
	uint64_t bytes = 0;

	if (count && system->gpu_count) {
		if (jw_check(err, &options, &result))
			return -1;
		for (size_t i = 0; i < result->gpu_count; i++)
			bytes += result->gpus[i].forecast.cache_bytes;
		jw_check_result_free(result);
	}
	*ret_bytes = bytes;
	return 0;
}

int jw_tune_for_files(struct jw_error *err, struct jw_system *system, const char *const *paths,
					  size_t count, struct jw_tune_result **ret_result)
{
	struct jw_tune_request request = {
		.size = sizeof request,
		.scope = JW_SCOPE_USER,
		/* A directory named for this run does not apply to every program. */
		.path = system->cache.named ? NULL : system->cache.path,
	};
	uint64_t predicted_bytes;

	if (jw_tune_predict(err, system, paths, count, &predicted_bytes))
		return -1;
	request.limit_bytes = jw_tune_limit(system->cache.outlook.bytes, predicted_bytes);
	if (system->cache.limit_bytes >= request.limit_bytes) {
		*ret_result = NULL;
		return 0;
	}
	if (jw_tune_apply(err, &request, ret_result))
		return -1;
	system->cache.limit_bytes = request.limit_bytes;
	return 0;
}

static int predict(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, uint64_t *ret_bytes)
{
	const struct jw_find_options find = {.size = sizeof find,
										 .names = question->names,
										 .name_count = question->name_count,
										 .cancel = question->cancel};
	struct jw_error why = {0};
	struct jw_found *found;
	const char **paths;
	int result = -1;

	/* Without names or an environment, there is no prediction. */
	if (jw_find(&why, &find, &found))
		return question->name_count ? error_copy(err, &why) : 0;
	paths = mem_array(err, found->file_count, sizeof *paths);
	if (paths) {
		for (size_t i = 0; i < found->file_count; i++)
			paths[i] = found->files[i].path;
		result = jw_tune_predict(err, system, paths, found->file_count, ret_bytes);
	}
	mem_free(paths);
	jw_found_free(found);
	return result;
}

static bool is_said(const struct jw_tune_advice *advice, const char *line)
{
	for (size_t i = 0; i < advice->warning_count; i++)
		if (!strcmp(advice->warnings[i], line))
			return true;
	return false;
}

static int add_warnings(struct jw_error *err, struct jw_tune_advice *advice, char *const *lines,
						size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_said(advice, lines[i]) &&
			mem_add_string(err, &advice->warnings, &advice->warning_count, MOST_WARNINGS, lines[i]))
			return -1;
	return 0;
}

/* Whether the driver can use the directory, and what is to be said against it. */
static int look_at_path(struct jw_error *err, const struct jw_cache_info *cache,
						const struct jw_tune_question *question, struct jw_tune_advice *advice)
{
	struct cache_settings settings = {.usable = cache->usable};
	const char *path = question->path ? question->path : cache->path;
	char **lines = NULL;
	size_t count = 0;
	int result = -1;

	advice->path_named = question->path != NULL;
	if (!path)
		return 0;
	if (!(advice->path = mem_string(err, path)) ||
		(question->path && cache_settings_read(err, path, NULL, &settings)))
		return -1;
	advice->path_usable = settings.usable;
	advice->path_in_force =
		!question->path || (cache->path && settings.path && !strcmp(settings.path, cache->path));
	if (!settings.usable || !jw_tune_look_at_path(err, path, advice->limit_bytes, &lines, &count))
		result = add_warnings(err, advice, settings.warnings, settings.warning_count) ||
						 add_warnings(err, advice, lines, count)
					 ? -1
					 : 0;
	jw_lines_free(lines, count);
	cache_settings_free(&settings);
	return result;
}

static int advise(struct jw_error *err, const struct jw_system *system,
				  const struct jw_tune_question *question, struct jw_tune_advice *advice)
{
	const struct jw_cache_info *cache = &system->cache;

	if (jw_settings_read(err, &advice->settings) ||
		predict(err, system, question, &advice->predicted_bytes))
		return -1;
	advice->limit_bytes = jw_tune_limit(cache->outlook.bytes, advice->predicted_bytes);
	if (question->limit_bytes || cache->limit_bytes > advice->limit_bytes)
		advice->limit_bytes = question->limit_bytes ? question->limit_bytes : cache->limit_bytes;
	return add_warnings(err, advice, cache->warnings, cache->warning_count) ||
				   add_warnings(err, advice, advice->settings->warnings,
								advice->settings->warning_count) ||
				   look_at_path(err, cache, question, advice)
			   ? -1
			   : 0;
}

int jw_tune_advise(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, struct jw_tune_advice **ret_advice)
{
	question = SIZED(err, question, struct jw_tune_question);
	if (!question)
		return -1;
	struct jw_tune_advice *advice = mem_alloc(err, sizeof *advice);

	if (!advice || advise(err, system, question, advice)) {
		jw_tune_advice_free(advice);
		return -1;
	}
	*ret_advice = advice;
	return 0;
}

void jw_tune_advice_free(struct jw_tune_advice *advice)
{
	if (!advice)
		return;
	jw_settings_free(advice->settings);
	jw_lines_free(advice->warnings, advice->warning_count);
	mem_free(advice->path);
	mem_free(advice);
}

const char *jw_tune_path(const struct jw_tune_advice *advice, enum jw_scope scope)
{
	const bool shared = scope == JW_SCOPE_SYSTEM || scope == JW_SCOPE_UNIT;

	return shared && !advice->path_named ? NULL : advice->path;
}
