/* Steps before and after writing settings. */
#include "tune/tune_job.h"

#include <uv.h>

#include "base/mem.h"
#include "base/sized.h"
#include "os/folders.h"
#include "state/run_folder.h"
#include "tune/settings_record.h"

enum { LOCK_WAIT_MS = 10000, LOCK_STEP_MS = 20, MOST_CHANGES = 1024 };

int tune_job_note(struct jw_error *err, struct tune_job *job, const char *where, const char *what)
{
	struct jw_tune_result *result = job->result;
	char *copy = mem_string(err, where);

	if (!copy || VEC_ROOM(err, result->changes, result->capacity, result->count, MOST_CHANGES)) {
		mem_free(copy);
		return -1;
	}
	result->changes[result->count++] = (struct jw_tune_change){copy, what};
	return 0;
}

void jw_tune_result_free(struct jw_tune_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++)
		mem_free(result->changes[i].where);
	mem_free(result->changes);
	mem_free(result);
}

int tune_job_check_recorded(struct jw_error *err, const struct tune_job *job, const char *path)
{
	return job->state_dir && state_check_kept_for(err, job->state_dir, path)
			   ? error_prefix(err, "settings of %s are not recorded there", path)
			   : 0;
}

static int lock_state(struct jw_error *err, struct tune_job *job)
{
	char *path = os_join(err, job->state_dir, "tune.lock");
	bool held = false;
	int result = -1;

	if (!path || os_make_dirs(err, job->state_dir, 0700) ||
		os_file_open(err, path, OS_OPEN_CREATE, &job->lock))
		goto done;
	for (unsigned waited_ms = 0; !held; waited_ms += LOCK_STEP_MS) {
		if (os_file_lock(err, job->lock, true, &held))
			goto done;
		if (!held && waited_ms >= LOCK_WAIT_MS) {
			error_set(err, JW_ERR_BUSY, "another “jitwarm tune” is at work (it holds %s)", path);
			goto done;
		}
		if (!held)
			uv_sleep(LOCK_STEP_MS);
	}
	result = 0;
done:
	mem_free(path);
	return result;
}

static int read_tune_record(struct jw_error *err, struct tune_job *job)
{
	char *aside;
	int result = settings_record_read(err, job->state_dir, &job->record, &aside);

	if (!result)
		result = machine_record_read(err, &job->record);
	if (!result && aside)
		result = tune_job_note(err, job, aside, "damaged, kept as");
	mem_free(aside);
	return result;
}

int tune_job_open(struct jw_error *err, const struct jw_tune_request *request, struct tune_job *job)
{
	struct jw_error why = {0};

	*job = (struct tune_job){.request = request ? &job->known : NULL};
	if (request && !sized_take(err, request, &job->known, sizeof job->known))
		return -1;
	job->result = mem_alloc(err, sizeof *job->result);
	if (!job->result)
		return -1;
	/* Without a home there is no record; blocks in files need none. */
	if (os_state_dir(&why, &job->state_dir))
		return error_unless_missing(err, &why);
	if (lock_state(err, job) || read_tune_record(err, job))
		return -1;
	job->recorded = true;
	return 0;
}

int tune_job_keep(struct jw_error *err, const struct tune_job *job)
{
	int result = machine_record_write(err, &job->record);

	return settings_record_write(result ? NULL : err, job->state_dir, &job->record) ? -1 : result;
}

int tune_job_finish(struct jw_error *err, struct tune_job *job, int result,
					struct jw_tune_result **ret_result)
{
	/* Also after a failure: changes that were made stay on record. */
	if (job->recorded && tune_job_keep(result ? NULL : err, job))
		result = -1;
	if (job->announce)
		os_variables_announce();
	if (result)
		jw_tune_result_free(job->result);
	else
		*ret_result = job->result;
	if (job->lock) {
		(void)os_file_unlock(NULL, job->lock);
		os_file_close(job->lock);
	}
	settings_record_free(&job->record);
	mem_free(job->state_dir);
	return result ? -1 : 0;
}
