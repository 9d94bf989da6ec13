/* The limit of the driver's cache that the results of files need. */
#include <jitwarm/check.h>
#include <jitwarm/tune.h>

#include "base/error.h"

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
