/* jw_uninstall: removes everything except the live cache. */
#include <jitwarm/uninstall.h>

#include <string.h>

#include <jitwarm/startup.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "compile/compiler_fetch.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"

struct uninstall {
	const struct jw_uninstall_options *options;
	struct jw_error err; /* of the last failure */
	size_t failed;
};

static void report_step(const struct uninstall *job, const struct jw_uninstall_step *step)
{
	if (job->options->step)
		job->options->step(job->options->context, step);
}

/* Records a failure; the remaining steps still run. */
static void uninstall_step_failed(struct uninstall *job)
{
	job->failed++;
	report_step(job, &(struct jw_uninstall_step){.failed = job->err});
}

static void report_removed(const struct uninstall *job, const char *where)
{
	report_step(job, &(struct jw_uninstall_step){.where = where, .what = "removed"});
}

/* ---- task and units */

static void disable(struct uninstall *job, const char *service, bool everyone)
{
	const struct jw_startup_options options = {.service = service, .everyone = everyone};
	struct jw_startup *startup;

	if (jw_startup_disable(&job->err, &options, &startup)) {
		uninstall_step_failed(job);
		return;
	}
	for (size_t i = 0; i < startup->count; i++)
		if (startup->items[i].removed)
			report_removed(job, startup->items[i].where);
	if (startup->failed)
		report_step(job, &(struct jw_uninstall_step){.said = startup->failed});
	jw_startup_free(startup);
}

static void disable_all(struct uninstall *job)
{
	char **names;
	size_t count;

	disable(job, NULL, false);
	if (jw_is_administrator())
		disable(job, NULL, true);
	if (jw_startup_services(&job->err, &names, &count)) {
		uninstall_step_failed(job);
		return;
	}
	for (size_t i = 0; i < count; i++)
		disable(job, names[i], false);
	jw_lines_free(names, count);
}

static void untune(struct uninstall *job)
{
	struct jw_tune_result *result;

	if (jw_tune_undo(&job->err, NULL, &result)) {
		uninstall_step_failed(job);
		return;
	}
	for (size_t i = 0; i < result->count; i++)
		report_step(job, &(struct jw_uninstall_step){.where = result->changes[i].where,
													 .what = result->changes[i].what});
	jw_tune_result_free(result);
}

static void leave_compilers(struct uninstall *job)
{
	char *path = NULL;

	if (compiler_fetch_remove(&job->err, &path))
		uninstall_step_failed(job);
	else if (path)
		report_removed(job, path);
	mem_free(path);
}

static void forget_state(struct uninstall *job)
{
	struct jw_uninstall_step step = {.what = "removed"};
	char *path = NULL;

	if (jw_state_remove(&job->err, job->options->with_keys, &path, &step.keys_stay))
		uninstall_step_failed(job);
	step.where = path;
	step.others_stay = path && !step.keys_stay && os_exists(path);
	if (path)
		report_step(job, &step);
	jw_text_free(path);
}

size_t jw_uninstall(const struct jw_uninstall_options *options)
{
	struct uninstall job = {.options = options};

	disable_all(&job);
	untune(&job);
	leave_compilers(&job);
	/* The state directory stays for the next try. */
	if (!job.failed)
		forget_state(&job);
	return job.failed;
}
