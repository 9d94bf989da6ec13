/* jw_uninstall: removes everything except the live cache. */
#include <jitwarm/uninstall.h>

#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/startup.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "base/sized.h"
#include "compile/compiler_fetch.h"
#include "os/accounts.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"

enum { MOST_CACHES = ACCOUNTS_MOST + 4096 };

/* A driver's cache that jitwarm may have written to by default. */
struct driver_cache {
	char *path;
	const struct jw_account *account; /* the account whose rights reach it; NULL: ours */
};

struct uninstall {
	const struct jw_uninstall_options *options;
	struct driver_cache *caches;
	size_t cache_count, cache_capacity;
	struct jw_accounts accounts;
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
				report_removed(job, before->items[i].where);
		if (after->failed)
			report_step(job, &(struct jw_uninstall_step){.said = after->failed});
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
	for (size_t i = 0; i < result->count; i++)
		report_step(job, &(struct jw_uninstall_step){.where = result->changes[i].where,
													 .what = result->changes[i].what});
	jw_tune_result_free(result);
}

/* ---- the driver's caches */

/* Each once. Takes `path` over. */
static int add_cache(struct uninstall *job, char *path, const struct jw_account *account)
{
	for (size_t i = 0; path && i < job->cache_count; i++)
		if (!strcmp(job->caches[i].path, path)) {
			mem_free(path);
			return 0;
		}
	if (!path ||
		VEC_ROOM(&job->err, job->caches, job->cache_capacity, job->cache_count, MOST_CACHES)) {
		mem_free(path);
		return -1;
	}
	job->caches[job->cache_count++] = (struct driver_cache){path, account};
	return 0;
}

static int add_named_caches(struct uninstall *job)
{
	struct jw_settings *settings;
	int result = 0;

	if (jw_settings_read(&job->err, &settings))
		return -1;
	for (size_t i = 0; !result && i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];

		if (!setting->unset && !strcmp(setting->name, "CUDA_CACHE_PATH") &&
			os_is_absolute(setting->value))
			result = add_cache(job, mem_string(&job->err, setting->value), NULL);
	}
	jw_settings_free(settings);
	return result;
}

static int add_accounts(struct uninstall *job)
{
	if (jw_accounts_people(&job->err, &job->accounts))
		return -1;
	for (size_t i = 0; i < job->accounts.count; i++) {
		struct jw_error why = {0};
		char *path = NULL;

		if (os_account_cache_dir(&why, &job->accounts.items[i], &path) &&
			why.code != JW_ERR_UNSUPPORTED)
			return error_copy(&job->err, &why);
		if (path && add_cache(job, path, &job->accounts.items[i]))
			return -1;
	}
	return 0;
}

static void list_caches(struct uninstall *job)
{
	struct jw_error why = {0};
	char *path;

	/* An account without a home has no cache. */
	if ((os_driver_cache_dir(&why, NULL, &path) ? error_unless_missing(&job->err, &why)
												: add_cache(job, path, NULL)) ||
		add_named_caches(job) || (jw_is_administrator() && add_accounts(job)))
		uninstall_step_failed(job);
}

/* Removes our empty folder, with the rights of the cache's owner. */
static void leave_cache(struct uninstall *job, const struct driver_cache *cache)
{
	char *path = NULL;
	int failure;

	/* If the account cannot be used, its empty folder stays. */
	if (cache->account && os_act_as_account(&job->err, cache->account))
		return;
	failure = jw_cache_forget(&job->err, cache->path, &path);
	if (cache->account)
		os_act_as_self();
	if (failure && !cache->account)
		uninstall_step_failed(job);
	if (path)
		report_removed(job, path);
	jw_text_free(path);
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

int jw_uninstall(struct jw_error *err, const struct jw_uninstall_options *options,
				 size_t *ret_failed)
{
	options = SIZED(err, options, struct jw_uninstall_options);
	if (!options)
		return -1;
	struct uninstall job = {.options = options};

	/* Runs before untune removes the settings that name the caches. */
	list_caches(&job);
	disable_all(&job);
	untune(&job);
	for (size_t i = 0; i < job.cache_count; i++) {
		leave_cache(&job, &job.caches[i]);
		mem_free(job.caches[i].path);
	}
	mem_free(job.caches);
	leave_compilers(&job);
	jw_accounts_free(&job.accounts);
	/* The state directory stays while it records settings that could not be removed. */
	if (!job.failed)
		forget_state(&job);
	*ret_failed = job.failed;
	return 0;
}
