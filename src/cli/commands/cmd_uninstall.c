/* jitwarm uninstall: removes everything but the live cache. */
#include <jitwarm/accounts.h>
#include <jitwarm/cache.h>
#include <jitwarm/startup.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/driver_caches.h"
#include "cli/parts/tune_changes.h"
#include "os/identity.h"

enum { MOST_REMOVED = 10000 };

struct uninstall {
	struct cli *cli;
	struct uninstall_document gone;
	struct jw_error err; /* of the last failure */
};

/* A failure does not stop the rest. */
static void uninstall_step_failed(struct uninstall *job)
{
	output_error(&job->cli->out, "%s", job->err.message);
	cli_end_with(job->cli, EXIT_COLD);
}

static void note_removed(struct uninstall *job, const char *what)
{
	if (mem_add_string(&job->err, &job->gone.removed, &job->gone.count, MOST_REMOVED, what))
		uninstall_step_failed(job);
}

static void gone(struct uninstall *job, const char *what, const char *but)
{
	output_line(&job->cli->out, STYLE_GOOD, "removed    %s%s", what, but);
	note_removed(job, what);
}

/* ---- task and units */

static void disable(struct uninstall *job, const char *service, bool everyone)
{
	const struct jw_startup_options options = {
		.size = sizeof options, .service = service, .everyone = everyone};
	struct jw_startup *before, *after;

	if (jw_startup_look(&job->err, &options, &before)) {
		uninstall_step_failed(job);
		return;
	}
	if (jw_startup_disable(&job->err, &options, &after)) {
		uninstall_step_failed(job);
	} else {
		for (size_t i = 0; i < before->count && i < after->count; i++)
			if (before->items[i].ours && !after->items[i].there)
				gone(job, before->items[i].where, "");
		if (after->failed)
			output_note(&job->cli->out, "the system said: %s", after->failed);
		jw_startup_free(after);
	}
	jw_startup_free(before);
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
	tune_change_print_changes(&job->cli->out, result);
	for (size_t i = 0; i < result->count; i++)
		note_removed(job, result->changes[i].where);
	jw_tune_result_free(result);
}

static void forget(struct uninstall *job)
{
	char *path = NULL;
	bool kept;

	if (jw_state_remove(&job->err, options_given(&job->cli->options, "keys"), &path, &kept))
		uninstall_step_failed(job);
	else if (path)
		gone(job, path, kept ? ", but for your keys (--keys removes them too)" : "");
	jw_text_free(path);
}

/* ---- the driver's caches */

/* Removes our empty folder, with the rights of the cache's owner. */
static void leave_cache(struct uninstall *job, const struct driver_cache *cache)
{
	char *path = NULL;
	int failure;

	/* An account that cannot be entered keeps an empty folder. */
	if (cache->account && os_act_as_account(&job->err, cache->account))
		return;
	failure = jw_cache_forget(&job->err, cache->path, &path);
	if (cache->account)
		os_act_as_self();
	if (failure && !cache->account)
		uninstall_step_failed(job);
	if (path)
		gone(job, path, "");
	jw_text_free(path);
}

static int uninstall_run(struct jw_error *err, struct cli *cli)
{
	struct uninstall job = {.cli = cli};
	struct driver_caches caches = {0};
	int result;

	/* Before untune removes the settings that name them. */
	if (driver_caches_all(&job.err, &caches))
		uninstall_step_failed(&job);
	disable_all(&job);
	untune(&job);
	for (size_t i = 0; i < caches.count; i++)
		leave_cache(&job, &caches.items[i]);
	driver_caches_free(&caches);
	/* The state has the record of settings that could not be removed. */
	if (cli->status == EXIT_DONE)
		forget(&job);
	if (cli->status == EXIT_DONE)
		output_line(&cli->out, STYLE_PLAIN,
					"The entries of the driver's cache stay. The program can be deleted now.");
	result = document_print(err, &cli->out, &document_uninstall, &job.gone);
	jw_lines_free(job.gone.removed, job.gone.count);
	return result;
}

static const struct cli_option uninstall_options[] = {
	CLI_FLAG("keys", "Remove your own signing keys too"), {0}};

const struct cli_command command_uninstall = {
	.name = "uninstall",
	.summary = "Remove everything that jitwarm has set up",
	.usage = "[OPTION]…",
	.description = "Removes the task or units of “startup”, the recorded settings of “tune” (files "
				   "are restored to the byte) and jitwarm's state, with its empty folder in the "
				   "driver's cache. The entries of the cache and your signing keys stay. Ends with "
				   "1 where something could not be removed; it stays on record for the next try.",
	.options = uninstall_options,
	.no_operands = "uninstall removes all that jitwarm has set up, and nothing else",
	.run = uninstall_run,
};
