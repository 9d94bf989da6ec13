#include <jitwarm/check.h>
#include <jitwarm/version.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/outlook.h"
#include "code/release.h"
#include "code/rules.h"
#include "driver/driver_probe.h"
#include "driver/speed_model.h"
#include "driver/targets.h"
#include "find/found.h"
#include "find/named_paths.h"
#include "pack/ledger.h"
#include "plan/forecast.h"
#include "plan/plan.h"
#include "prime/explain.h"
#include "prime/recorded_plan.h"
#include "prime/reuse.h"
#include "prime/start_verdict.h"
#include "prime/toolchains.h"

/* ---- packages */

/* Returns the place of a file's package; package_count if it is not listed. The files of a package
 * mostly follow one another. */
static size_t package_place(const struct jw_check_result *result, const struct jw_found_file *file)
{
	for (size_t i = result->package_count; i-- > 0;)
		if (text_same(result->packages[i].name, file->package))
			return i;
	return result->package_count;
}

static void list_package(const struct jw_found_file *file, struct jw_check_result *result)
{
	struct jw_check_package *package;

	if (package_place(result, file) < result->package_count)
		return;
	package = &result->packages[result->package_count++];
	package->name = arena_string(result, file->package);
	package->version = arena_string(result, file->version);
	package->gpus = arena_array(result, result->gpu_count, sizeof *package->gpus);
	package->gpu_count = result->gpu_count;
	for (size_t t = 0; t < result->gpu_count; t++)
		package->gpus[t].target = result->gpus[t].target;
}

/* Adds a failing file to the counts of its package and GPU. */
static void count_failing(const struct plan *plan, const struct jw_found *found,
						  const struct file_fate *fate, const struct jw_check_result *result)
{
	size_t file = 0;

	while (file < found->file_count &&
		   (!plan->has_code[file] || strcmp(found->files[file].path, fate->path) != 0))
		file++;
	if (file < found->file_count) {
		struct jw_check_package_gpu *of =
			&result->packages[package_place(result, &found->files[file])].gpus[fate->target];

		of->failing++;
		of->refused += fate->result != 0;
	}
}

static double package_seconds(const struct jw_check_package *package)
{
	double sum = 0;

	for (size_t t = 0; t < package->gpu_count; t++)
		sum += package->gpus[t].forecast.start.likely;
	return sum;
}

static int by_package_seconds(const void *a, const void *b)
{
	const struct jw_check_package *one = a, *two = b;
	const double left = package_seconds(one), right = package_seconds(two);

	if (left < right || left > right)
		return left < right ? 1 : -1;
	return strcmp(one->name ? one->name : "", two->name ? two->name : "");
}

/* Fills in `packages` of a result that has its GPUs and failing files; `found` is the search that
 * the plan was made of. */
static void check_packages(const struct plan *plan, const struct jw_found *found,
						   struct jw_check_result *result)
{
	result->packages = arena_array(result, found->file_count, sizeof *result->packages);
	for (size_t i = 0; i < found->file_count; i++)
		if (plan->has_code[i])
			list_package(&found->files[i], result);
	for (size_t i = 0; i < found->file_count; i++)
		for (size_t t = 0; plan->unsure[i] >> t && t < result->gpu_count; t++)
			if (plan->unsure[i] >> t & 1)
				result->packages[package_place(result, &found->files[i])].gpus[t].unsure = true;
	/* A file with modules has code, so its package is listed. Texts in a recording belong to no
	 * package. */
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		const uint32_t file = plan->files[module->file].found;
		struct jw_check_package_gpu *gpu;

		if (file >= found->file_count)
			continue;
		gpu = &result->packages[package_place(result, &found->files[file])].gpus[module->target];
		gpu->warm += module->state == PLAN_WARM;
		if (module->state == PLAN_COLD || module->state == PLAN_RESTORED) {
			gpu->cold++;
			forecast_add(&gpu->forecast, plan, module);
		}
	}
	for (size_t i = 0; i < plan->fates.count; i++)
		count_failing(plan, found, &plan->fates.items[i], result);
	for (size_t i = 0; i < result->package_count; i++)
		for (size_t t = 0; t < result->gpu_count; t++) {
			struct jw_check_package_gpu *gpu = &result->packages[i].gpus[t];

			forecast_share(&gpu->forecast, forecast_workers(gpu->cold));
		}
	if (result->package_count)
		qsort(result->packages, result->package_count, sizeof *result->packages,
			  by_package_seconds);
}

/* ---- the result */

static void count_module(struct jw_check_gpu *gpu, struct jw_check_file *file,
						 const struct plan *plan, const struct plan_module *module)
{
	switch (module->state) {
	case PLAN_LEFT_OUT: gpu->left_out++; return;
	case PLAN_REFUSED: return;
	case PLAN_WARM:
		gpu->modules++;
		gpu->used += module->used;
		gpu->warm++;
		file->warm++;
		return;
	case PLAN_COLD:
	case PLAN_RESTORED:
	case PLAN_OVER_BUDGET: break;
	}
	gpu->modules++;
	gpu->used += module->used;
	gpu->used_cold += module->used;
	gpu->cold++;
	gpu->restored += module->state == PLAN_RESTORED;
	gpu->damaged += module->damage != CACHE_SOUND && module->damage != CACHE_DAMAGE_READ &&
					module->damage != CACHE_DAMAGE_OTHER;
	gpu->taken += module->damage == CACHE_DAMAGE_OTHER;
	gpu->unread += module->damage == CACHE_DAMAGE_READ;
	gpu->link += module->form == CACHE_KEY_LINK;
	gpu->cold_bytes += module->payload_bytes;
	forecast_add(&gpu->forecast, plan, module);
	file->cold++;
	file->seconds += module->cost_ms / 1000;
}

/* Adds how the files run on another GPU: the worst of both, and the first lines. */
static void fate_add(struct jw_fate *sum, const struct jw_fate *fate, bool first)
{
	if (first || fate->verdict < sum->verdict)
		sum->verdict = fate->verdict;
	if (!sum->reason[0])
		TEXT_COPY(sum->reason, fate->reason);
	if (!sum->part[0])
		TEXT_COPY(sum->part, fate->part);
	sum->failing += fate->failing;
	sum->refused += fate->refused;
	sum->lacking += fate->lacking;
	sum->needs = gpu_newer_driver(sum->needs, fate->needs);
}

static struct jw_check_gpu sum_of(const struct jw_check_result *result, bool machines)
{
	struct jw_check_gpu sum = {0};

	for (size_t i = 0; i < result->gpu_count; i++) {
		const struct jw_check_gpu *gpu = &result->gpus[i];

		sum.modules += gpu->modules;
		sum.warm += gpu->warm;
		sum.cold += gpu->cold;
		sum.restored += gpu->restored;
		sum.damaged += gpu->damaged;
		sum.unread += gpu->unread;
		sum.taken += gpu->taken;
		unplanned_add(&sum.unplanned, &gpu->unplanned);
		fate_add(&sum.fate, &gpu->fate, !i);
		sum.link += gpu->link;
		sum.left_out += gpu->left_out;
		sum.used += gpu->used;
		sum.used_cold += gpu->used_cold;
		sum.cold_bytes += gpu->cold_bytes;
		forecast_join(&sum.forecast, &gpu->forecast);
	}
	forecast_share(&sum.forecast, forecast_workers(sum.cold - sum.restored));
	for (size_t i = 0; machines && i < result->gpu_count; i++)
		forecast_part(&sum.forecast, &result->gpus[i].forecast, !i);
	return sum;
}

static int by_seconds(const void *a, const void *b)
{
	const struct jw_check_file *left = a, *right = b;

	if (left->seconds < right->seconds || left->seconds > right->seconds)
		return left->seconds < right->seconds ? 1 : -1;
	return strcmp(left->path, right->path);
}

/* Names the packages of failing files as pip does; NULL for conda's, which pip's indexes do not
 * know, and for those of which the driver has refused code, which no other release cures. */
static void name_packages(const struct jw_found *found, struct jw_check_result *result)
{
	char name[PACKAGE_MAX_NAME];

	for (size_t i = 0; i < result->failing_count; i++) {
		struct jw_check_failing *failing = &result->failing[i];
		const bool named = failing->package && !failing->refused &&
						   found_is_pips(found, failing->package) &&
						   package_normalise(failing->package, strlen(failing->package), name);

		failing->package = arena_string(result, named ? name : NULL);
	}
}

/* Fills in the result: GPUs, failing files, packages, compilers, files. */
static void summarise(const struct plan *plan, const struct jw_check_options *options,
					  struct jw_check_result *result)
{
	char text[FATE_TEXT];
	size_t kept = 0;

	result->gpus = arena_array(result, plan->target_count, sizeof *result->gpus);
	result->gpu_count = plan->target_count;
	for (size_t t = 0; t < plan->target_count; t++)
		result->gpus[t] = (struct jw_check_gpu){.target = plan->targets[t].device,
												.unplanned = plan->targets[t].unplanned};
	result->files = arena_array(result, plan->file_count, sizeof *result->files);
	for (size_t i = 0; i < plan->module_count; i++)
		count_module(&result->gpus[plan->modules[i].target], &result->files[plan->modules[i].file],
					 plan, &plan->modules[i]);
	for (uint32_t t = 0; t < plan->target_count; t++)
		plan_fate(plan, t, result->gpus[t].modules, &result->gpus[t].fate);
	result->failing = arena_array(result, plan->fates.count, sizeof *result->failing);
	for (size_t i = 0; i < plan->fates.count; i++) {
		const struct file_fate *fate = &plan->fates.items[i];
		const struct jw_target device = plan->targets[fate->target].device;

		result->failing[result->failing_count++] =
			(struct jw_check_failing){arena_string(result, fate->file),
									  device,
									  arena_string(result, fate_text(text, fate, device)),
									  arena_string(result, fate_error(text, fate)),
									  arena_string(result, fate_cause(text, fate, device)),
									  .refused = fate->result != 0,
									  .required = fate->is.reason == REASON_REQUIRES,
									  .needs = fate->is.needs,
									  .package = arena_string(result, fate->package)};
	}
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_add_link(&result->gpus[t].forecast, plan, t);
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_share(&result->gpus[t].forecast,
					   forecast_workers(result->gpus[t].cold - result->gpus[t].restored));
	result->all = sum_of(result, options->target_count && !result->here);
	if (options->found) {
		check_packages(plan, options->found, result);
		toolchains_check(options->found, plan, result->here, &options->cancel, result);
	}
	for (size_t i = 0; i < plan->file_count; i++) {
		struct jw_check_file file = result->files[i];

		if (!file.cold && !file.warm)
			continue;
		file.path = arena_string(result, plan->files[i].path);
		file.member = arena_string(result, plan->files[i].member);
		result->files[kept++] = file;
	}
	result->file_count = kept;
	if (kept)
		qsort(result->files, kept, sizeof *result->files, by_seconds);
	for (size_t i = 0; i < plan->note_count; i++)
		arena_add_string(result, &result->notes, &result->note_count, plan->note_count,
						 plan->notes[i]);
	result->assumptions = plan->assumptions;
	result->troubles = plan->troubles;
	result->images = plan->images;
}

/* Returns whether the question is about this machine, even if its GPUs are named. */
static bool is_here(const struct jw_check_options *options)
{
	const struct jw_system *system = options->system;
	size_t own = 0;

	for (size_t i = 0; i < options->target_count; i++)
		for (size_t k = 0; k < system->gpu_count; k++)
			if (jw_target_equal(options->targets[i], system->gpus[k].target)) {
				own++;
				break;
			}
	return !options->driver && own == options->target_count;
}

int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result)
{
	struct jw_target targets[PLAN_MAX_TARGETS];
	struct cache_profile profile = profile_of_system(options->system);
	struct plan_request request = {
		.targets = targets,
		.target_count = targets_wanted(options->system, options->targets, options->target_count,
									   targets, PLAN_MAX_TARGETS),
		.profile = &profile,
		.cache_dir = options->system->cache.path,
		.state_dir = options->system->state_dir,
		.everything = options->everything,
		.named = options->found ? options->named : options->paths,
		.named_count = options->found ? options->named_count : options->path_count,
		.cancel = options->cancel,
	};
	const struct jw_cache_info *settings = &options->system->cache;
	struct recorded_account account = {0};
	struct recorded_keys keys = {0};
	struct jw_check_result *checked = NULL;
	struct jw_found *found = NULL;
	char **wheels = NULL;
	size_t wheel_count = 0;
	struct ledger ledger = {0};
	struct plan *plan = NULL;
	char why[EXPLAIN_TEXT];
	int result = -1;

	if (!request.target_count)
		return error_set(err, JW_ERR_NOT_FOUND, "%s", options->system->why_none);
	if (options->driver && cache_profile_for_release(err, options->driver, &profile))
		return -1;
	for (size_t i = 0; i < options->target_count; i++)
		if (jw_driver_supports(err, &profile.driver, options->targets[i]))
			return -1;
	if (!options->found &&
		named_paths_find(err, options->paths, options->path_count, false, options->cancel, &found))
		return -1;
	request.found = options->found ? options->found : found;

	checked = arena_open(sizeof *checked);
	checked->driver = profile.driver;
	checked->here = is_here(options);
	checked->names_known = profile.stamp[0] != 0;
	if (!checked->names_known) {
		const struct cache_known_driver *named = cache_known_driver_like(&profile.driver);

		checked->named = named ? named->name : NULL;
	}
	checked->limit_bytes = options->driver && !settings->limit_set
							   ? gpu_branch_of(&profile.driver)->default_limit_bytes
							   : settings->limit_bytes;
	cache_outlook(request.cache_dir, settings->limit_bytes, false, &checked->cache);

	/* Other GPUs are in another machine, whose processor is unknown. */
	if (checked->here || !options->target_count)
		request.speed = speed_recall(options->system->state_dir, &profile.driver);
	if (options->recording)
		recorded_request(options->recording, &keys, &request);
	if (plan_build(err, &request, &plan))
		goto done;
	for (size_t i = 0; request.found && i < request.found->file_count; i++)
		if (plan->has_code[i] && text_ends(request.found->files[i].path, ".whl"))
			arena_add_string(checked, &wheels, &wheel_count, SIZE_MAX,
							 request.found->files[i].path);
	if (plan_judge_required(err, options->required, wheels, wheel_count, jw_platform(), plan))
		goto done;
	if (options->recording && recorded_narrow(err, options->recording, &request, plan, &account))
		goto done;
	ledger_open(&ledger, request.state_dir, request.cache_dir);
	ledger_begin(&ledger, plan);
	(void)ledger_find_used(&ledger, plan);
	for (size_t i = 0; i < plan->module_count; i++)
		plan_refuse(plan, &plan->modules[i],
					ledger_refused(&ledger, ledger_module(&plan->modules[i])));
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_WARM || plan->modules[i].state == PLAN_COLD)
			checked->needed_bytes += plan->modules[i].entry_bytes;
	if (options->explain && *explain_most(why, plan))
		checked->why = arena_string(checked, why);

	checked->verdict = verdict_of(plan, request.found, settings, !options->driver, &checked->cache);
	if (options->recording)
		checked->verdict = recorded_verdict(plan, &account, checked->verdict);
	if (options->store && checked->here)
		reuse_would_restore(options->system, plan, &options->cancel);
	summarise(plan, options, checked);
	name_packages(request.found, checked);
	/* Each of the machines has one of the GPUs. */
	for (size_t i = 0;
		 options->driver && checked->verdict == JW_VERDICT_COLD && i < checked->gpu_count; i++)
		if (checked->gpus[i].forecast.cache_bytes > checked->limit_bytes)
			checked->verdict = JW_VERDICT_NO_ROOM;
	*ret_result = checked;
	checked = NULL;
	result = 0;
done:
	jw_result_free(checked);
	ledger_close(&ledger);
	plan_free(plan);
	jw_result_free(found);
	recorded_keys_free(&keys);
	return result;
}
