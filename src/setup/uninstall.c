/* jw_uninstall: does what “startup disable” and “tune --undo” do, and removes two folders. */
#include <jitwarm/accounts.h>
#include <jitwarm/uninstall.h>

#include <jitwarm/startup.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "driver/compiler_fetch.h"
#include "driver/run_folder.h"
#include "os/folders.h"

struct uninstall {
	const struct jw_uninstall_options *options;
	size_t failed;
};

/* Reports a step; a failure does not end the other steps. */
static void report_step(struct uninstall *job, struct jw_uninstall_step step)
{
	job->failed += step.failed.code != JW_OK;
	if (job->options->step)
		job->options->step(job->options->context, &step);
}

/* Disables a service; with `shared`, a service that is disabled later has the same template. */
static void disable(struct uninstall *job, const char *service, bool everyone, bool shared)
{
	const bool dry_run = job->options->dry_run;
	const struct jw_startup_options options = {
		.service = service, .everyone = everyone, .dry_run = dry_run};
	struct jw_error failed = {0};
	struct jw_startup *startup;

	if (jw_startup_disable(&failed, &options, &startup)) {
		report_step(job, (struct jw_uninstall_step){.failed = failed});
		return;
	}
	for (size_t i = dry_run && shared ? 1 : 0; i < startup->count; i++)
		if (dry_run ? startup->items[i].ours : startup->items[i].removed)
			report_step(job, (struct jw_uninstall_step){.where = startup->items[i].where,
														.what = "removed"});
	if (startup->failed)
		report_step(job, (struct jw_uninstall_step){.said = startup->failed});
	jw_result_free(startup);
}

/* Refuses while a run is active, whose work is in the state directory. */
static int check_idle(struct jw_error *err, const struct jw_uninstall_options *options)
{
	char *state = NULL;
	int pid = 0;

	if (!options->dry_run && !os_state_dir(NULL, &state))
		pid = run_folder_living(state);
	mem_free(state);
	return pid ? error_set(err, JW_ERR_BUSY,
						   "jitwarm is still running as process %d: wait until it has ended, or "
						   "end it, and uninstall again",
						   pid)
			   : 0;
}

size_t jw_uninstall(const struct jw_uninstall_options *options)
{
	struct uninstall job = {.options = options};
	struct jw_state_removal state = {.with_keys = options->with_keys, .dry_run = options->dry_run};
	struct jw_error failed = {0};
	struct jw_tune_result *undone;
	char **services = NULL, *compilers = NULL;
	size_t count = 0;

	if (check_idle(&failed, options)) {
		report_step(&job, (struct jw_uninstall_step){.failed = failed});
		return job.failed;
	}
	disable(&job, NULL, false, false);
	if (jw_is_administrator())
		disable(&job, NULL, true, false);
	if (jw_startup_services(&failed, &services, &count))
		report_step(&job, (struct jw_uninstall_step){.failed = failed});
	for (size_t i = 0; i < count; i++)
		disable(&job, services[i], false, i + 1 < count);
	jw_result_free(services);

	if (options->dry_run ? jw_tune_undo_find(&failed, &undone)
						 : jw_tune_undo(&failed, NULL, &undone)) {
		report_step(&job, (struct jw_uninstall_step){.failed = failed});
	} else {
		for (size_t i = 0; i < undone->count; i++)
			report_step(&job, (struct jw_uninstall_step){.where = undone->changes[i].where,
														 .what = undone->changes[i].what});
		jw_result_free(undone);
	}

	if (compiler_fetch_remove(&failed, options->dry_run, &compilers))
		report_step(&job, (struct jw_uninstall_step){.failed = failed});
	else if (compilers)
		report_step(&job, (struct jw_uninstall_step){.where = compilers, .what = "removed"});
	mem_free(compilers);

	/* The state directory stays, so that the next call finds what could not be reverted. */
	if (job.failed)
		return job.failed;
	if (jw_state_remove(&failed, &state))
		report_step(&job, (struct jw_uninstall_step){.failed = failed});
	else if (state.path)
		report_step(
			&job, (struct jw_uninstall_step){.where = state.path,
											 .what = "removed",
											 .keys_stay = state.keys_stay,
											 .others_stay = !state.keys_stay && state.others_stay});
	mem_free(state.path);
	return job.failed;
}
