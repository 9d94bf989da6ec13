/* Writes settings and reverts them: where, and in which order. */
#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "tune/tune_job.h"

static int apply_scope(struct jw_error *err, struct tune_job *job)
{
	const struct jw_tune_request *request = job->request;
	struct setting_places places;
	int result = 0;

	if (request->path && !os_is_absolute(request->path))
		return error_set(err, JW_ERR_USAGE, "%s: a path for every program has to be absolute",
						 request->path);
	if (places_of(err, request, &places))
		return -1;
	for (size_t i = 0; !result && i < places.count; i++)
		result = tune_job_apply_file(err, job, &places.items[i]);
	places_free(&places);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_USER)
		result = tune_job_apply_variables(err, job, OS_VARIABLES_USER);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_SYSTEM)
		result = tune_job_apply_variables(err, job, OS_VARIABLES_MACHINE);
	return result;
}

static int undo_scope(struct jw_error *err, struct tune_job *job)
{
	enum jw_scope scope = job->request->scope;
	struct setting_places places;
	int result = 0;

	if (places_of(err, job->request, &places))
		return -1;
	/* In reverse: the file for which a folder was made is undone after the files that were added to
	 * it. */
	for (size_t i = places.count; !result && i > 0; i--)
		result = tune_job_undo_file(err, job, &places.items[i - 1]);
	places_free(&places);
	if (!result && os_variables_kept())
		result =
			tune_job_undo_variables(err, job, scope == JW_SCOPE_USER, scope == JW_SCOPE_SYSTEM);
	return result;
}

/* A change that cannot be undone stays on record, and the others are undone. */
static int undo_record(struct jw_error *err, struct tune_job *job)
{
	int result = 0;

	for (size_t i = job->record.file_count; i > 0; i--) {
		struct setting_place place = {.path = mem_string(err, job->record.files[i - 1])};

		if (!place.path)
			return -1;
		if (place_form_of(place.path, &place.form) &&
			(tune_job_check_recorded(err, job, place.path) || tune_job_undo_file(err, job, &place)))
			result = -1;
		mem_free(place.path);
	}
	/* All accounts may read the machine's record; an administrator may undo it. */
	return tune_job_undo_variables(err, job, true, jw_is_administrator()) || result ? -1 : 0;
}

int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result)
{
	struct tune_job job;
	int result = tune_job_open(err, request, &job);

	return tune_job_finish(err, &job, result ? result : apply_scope(err, &job), ret_result);
}

int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result)
{
	struct tune_job job;
	int result = tune_job_open(err, request, &job);

	if (!result)
		result = request ? undo_scope(err, &job) : undo_record(err, &job);
	return tune_job_finish(err, &job, result, ret_result);
}
