#include <jitwarm/check.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "cache/index.h"
#include "find/named_paths.h"
#include "machine/known_gpus.h"
#include "plan/analyse.h"
#include "plan/plan.h"
#include "prime/explain.h"
#include "prime/planning.h"
#include "prime/start_verdict.h"
#include "state/speed_model.h"
#include "worker/environment.h"

/* ---- packages */

static void check_packages_free(struct jw_check_result *result)
{
	for (size_t i = 0; i < result->package_count; i++) {
		mem_free(result->packages[i].name);
		mem_free(result->packages[i].version);
		mem_free(result->packages[i].gpus);
	}
	mem_free(result->packages);
	result->packages = NULL;
	result->package_count = 0;
}

/* The place of a file's package; package_count if it is not listed. The files of a package mostly
 * follow one another. */
static size_t package_place(const struct jw_check_result *result, const struct jw_found_file *file)
{
	for (size_t i = result->package_count; i-- > 0;)
		if (text_same(result->packages[i].name, file->package))
			return i;
	return result->package_count;
}

static int list_package(struct jw_error *err, const struct jw_found_file *file,
						struct jw_check_result *result)
{
	struct jw_check_package *package;

	if (package_place(result, file) < result->package_count)
		return 0;
	package = &result->packages[result->package_count++];
	package->name = file->package ? mem_string(err, file->package) : NULL;
	package->version = file->version ? mem_string(err, file->version) : NULL;
	package->gpus = mem_array(err, result->gpu_count, sizeof *package->gpus);
	if (!package->gpus || (file->package && !package->name) || (file->version && !package->version))
		return -1;
	package->gpu_count = result->gpu_count;
	for (size_t t = 0; t < result->gpu_count; t++)
		package->gpus[t].target = result->gpus[t].target;
	return 0;
}

static void count_packaged(const struct plan *plan, const struct plan_module *module,
						   struct jw_check_package_gpu *gpu)
{
	if (module->state == PLAN_WARM)
		gpu->warm++;
	if (module->state != PLAN_COLD && module->state != PLAN_RESTORED)
		return;
	gpu->cold++;
	forecast_add(&gpu->forecast, plan, module);
}

/* Whether a failing file ("path" or "path: member") is this one or in it. */
static bool is_of_file(const char *failing, const char *path)
{
	const size_t length = strlen(path);

	return !strncmp(failing, path, length) &&
		   (!failing[length] || text_starts(failing + length, ": "));
}

static void count_failing(const struct plan *plan, const struct jw_found *found,
						  const struct jw_check_failing *failing,
						  const struct jw_check_result *result)
{
	size_t file = 0, gpu = 0;

	/* A file without code may be called as the beginning of another one's name. */
	while (file < found->file_count &&
		   (!plan->has_code[file] || !is_of_file(failing->file, found->files[file].path)))
		file++;
	while (gpu < result->gpu_count && !jw_target_equal(result->gpus[gpu].target, failing->target))
		gpu++;
	if (file < found->file_count && gpu < result->gpu_count) {
		struct jw_check_package_gpu *of =
			&result->packages[package_place(result, &found->files[file])].gpus[gpu];

		of->failing++;
		of->refused += failing->refused;
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
 * the plan was made of. -1: out of memory; the caller frees the result in any case. */
static int check_packages(struct jw_error *err, const struct plan *plan,
						  const struct jw_found *found, struct jw_check_result *result)
{
	result->packages = mem_array(err, found->file_count, sizeof *result->packages);
	if (!result->packages)
		return -1;
	for (size_t i = 0; i < found->file_count; i++)
		if (plan->has_code[i] && list_package(err, &found->files[i], result))
			return -1;
	/* A file with modules has code, and so its package is listed. */
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		const struct jw_found_file *file = &found->files[plan->files[module->file].found];

		count_packaged(plan, module,
					   &result->packages[package_place(result, file)].gpus[module->target]);
	}
	for (size_t i = 0; i < result->failing_count; i++)
		count_failing(plan, found, &result->failing[i], result);
	for (size_t i = 0; i < result->package_count; i++)
		for (size_t t = 0; t < result->gpu_count; t++) {
			struct jw_check_package_gpu *gpu = &result->packages[i].gpus[t];

			forecast_share(&gpu->forecast, forecast_workers(gpu->cold));
		}
	if (result->package_count)
		qsort(result->packages, result->package_count, sizeof *result->packages,
			  by_package_seconds);
	return 0;
}

/* ---- all of it */

void jw_check_result_free(struct jw_check_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; result->files && i < result->file_count; i++) {
		mem_free(result->files[i].path);
		mem_free(result->files[i].member);
	}
	for (size_t i = 0; i < result->failing_count; i++) {
		mem_free(result->failing[i].file);
		mem_free(result->failing[i].why);
	}
	check_packages_free(result);
	jw_lines_free(result->notes, result->note_count);
	explain_causes_free(result->causes, result->cause_count);
	mem_free(result->failing);
	mem_free(result->files);
	mem_free(result->gpus);
	mem_free(result);
}

static void count_module(struct jw_check_gpu *gpu, struct jw_check_file *file,
						 const struct plan *plan, const struct plan_module *module)
{
	switch (module->state) {
	case PLAN_LEFT_OUT: gpu->left_out++; return;
	case PLAN_REFUSED: return;
	case PLAN_WARM:
		gpu->modules++;
		gpu->warm++;
		gpu->carried += module->carried;
		file->warm++;
		return;
	case PLAN_COLD:
	case PLAN_RESTORED:
	case PLAN_OVER_BUDGET: break;
	}
	gpu->modules++;
	gpu->cold++;
	gpu->restored += module->state == PLAN_RESTORED;
	gpu->damaged += module->damage != CACHE_SOUND && module->damage != CACHE_DAMAGE_READ;
	gpu->unread += module->damage == CACHE_DAMAGE_READ;
	gpu->link += module->form == CACHE_KEY_LINK;
	gpu->cold_bytes += module->payload_bytes;
	forecast_add(&gpu->forecast, plan, module);
	file->cold++;
	file->seconds += module->cost_ms / 1000;
}

static struct jw_check_gpu sum_of(const struct jw_check_result *result)
{
	struct jw_check_gpu sum = {0};

	for (size_t i = 0; i < result->gpu_count; i++) {
		const struct jw_check_gpu *gpu = &result->gpus[i];

		sum.modules += gpu->modules;
		sum.warm += gpu->warm;
		sum.carried += gpu->carried;
		sum.cold += gpu->cold;
		sum.restored += gpu->restored;
		sum.damaged += gpu->damaged;
		sum.unread += gpu->unread;
		sum.cannot += gpu->cannot;
		sum.link += gpu->link;
		sum.left_out += gpu->left_out;
		sum.cold_bytes += gpu->cold_bytes;
		forecast_join(&sum.forecast, &gpu->forecast);
	}
	forecast_share(&sum.forecast, forecast_workers(sum.cold - sum.restored));
	return sum;
}

static int by_seconds(const void *a, const void *b)
{
	const struct jw_check_file *left = a, *right = b;

	if (left->seconds < right->seconds || left->seconds > right->seconds)
		return left->seconds < right->seconds ? 1 : -1;
	return strcmp(left->path, right->path);
}

static int tell_failing_checked(struct jw_error *err, struct plan *plan,
								struct jw_check_result *result)
{
	char text[FATE_TEXT];

	result->failing = mem_array(err, plan->fates.count, sizeof *result->failing);
	if (!result->failing)
		return -1;
	for (size_t i = 0; i < plan->fates.count; i++) {
		struct file_fate *fate = &plan->fates.items[i];
		const struct jw_target device = plan->targets[fate->target].device;
		char *why = mem_string(err, fate_text(text, fate, device));

		if (!why)
			return -1;
		result->failing[i] = (struct jw_check_failing){
			fate->file, device, why, .refused = fate->result != 0, .needs = fate->needs};
		fate->file = NULL;
		result->failing_count++;
	}
	return 0;
}

/* Moves names and notes out of the plan. */
static struct jw_check_result *summarise(struct jw_error *err, struct plan *plan,
										 const struct jw_found *search)
{
	struct jw_check_result *result = mem_alloc(err, sizeof *result);
	size_t kept = 0;

	if (!result)
		return NULL;
	result->gpus = mem_array(err, plan->target_count, sizeof *result->gpus);
	result->files = mem_array(err, plan->file_count, sizeof *result->files);
	if (!result->gpus || !result->files || tell_failing_checked(err, plan, result)) {
		jw_check_result_free(result);
		return NULL;
	}
	result->gpu_count = plan->target_count;
	for (size_t t = 0; t < plan->target_count; t++)
		result->gpus[t] = (struct jw_check_gpu){.target = plan->targets[t].device,
												.cannot = plan->targets[t].cannot,
												.needs = plan->targets[t].needs};
	for (size_t i = 0; i < plan->module_count; i++)
		count_module(&result->gpus[plan->modules[i].target], &result->files[plan->modules[i].file],
					 plan, &plan->modules[i]);
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_add_link(&result->gpus[t].forecast, plan, t);
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_share(&result->gpus[t].forecast,
					   forecast_workers(result->gpus[t].cold - result->gpus[t].restored));
	result->all = sum_of(result);
	if (search && check_packages(err, plan, search, result)) {
		jw_check_result_free(result);
		return NULL;
	}
	for (size_t i = 0; i < plan->file_count; i++) {
		struct jw_check_file file = result->files[i];

		result->files[i] = (struct jw_check_file){0};
		if (!file.cold && !file.warm)
			continue;
		file.path = plan->files[i].path;
		file.member = plan->files[i].member;
		plan->files[i] = (struct plan_file){0};
		result->files[kept++] = file;
	}
	result->file_count = kept;
	if (kept)
		qsort(result->files, kept, sizeof *result->files, by_seconds);
	result->notes = plan->notes;
	result->note_count = plan->note_count;
	result->assumptions = plan->assumptions;
	result->troubles = plan->troubles;
	result->images = plan->images;
	plan->notes = NULL;
	plan->note_count = 0;
	return result;
}

/* Lists cold modules and their causes before the plan's names are moved. Warm ones are remembered
 * for the next time. */
static int explain_cold(struct jw_error *err, const struct jw_check_options *options,
						const struct plan_request *request, struct plan *plan,
						struct jw_check_cause **ret_causes, size_t *ret_count)
{
	struct ledger ledger;
	struct explain_request why = {
		.plan = plan, .ledger = &ledger, .limit_bytes = options->system->cache.limit_bytes};
	struct explanation *explanations = NULL;
	int result;

	ledger_open(&ledger, request->state_dir, request->cache_dir);
	planning_note_carried(plan, &ledger, false);
	result = ledger_begin(err, &ledger, plan);
	for (size_t i = 0; !result && i < plan->module_count; i++)
		result = plan_refuse(err, plan, &plan->modules[i],
							 ledger_refused(&ledger, plan->modules[i].key));
	if (!result && options->explain) {
		result = explain_plan(err, &why, &explanations);
		if (!result)
			result = explain_causes(err, &why, explanations, ret_causes, ret_count);
		mem_free(explanations);
	}
	if (!result && !options->driver && !options->system->elsewhere)
		ledger_note(&ledger, request->state_dir, false);
	ledger_close(&ledger);
	return result;
}

/* Whether the question is about this machine, whose GPUs may be named, too. */
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

/* What `prime` would take from there. */
static int look_into_store(struct jw_error *err, const struct jw_check_options *options,
						   struct plan *plan)
{
	const struct jw_prime_options how = {.dry_run = true, .cancel = options->cancel};
	struct jw_prime_reuse reuse = {0};

	return planning_reuse_store(err, options->system, &how, plan, &reuse);
}

static const char *known_driver_name(const struct jw_driver *driver)
{
	const struct cache_known_driver *named = cache_known_driver_like(driver);

	return named ? named->name : NULL;
}

int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result)
{
	options = SIZED(err, options, struct jw_check_options);
	if (!options)
		return -1;
	struct jw_target targets[ANALYSE_MOST_TARGETS];
	struct cache_profile profile = profile_of_system(options->system);
	struct plan_request request = {
		.targets = targets,
		.target_count = wanted_targets(options->system, options->targets, options->target_count,
									   targets, ANALYSE_MOST_TARGETS),
		.profile = &profile,
		.cache_dir = options->system->cache.path,
		.state_dir = options->system->state_dir,
		.everything = options->everything,
		.cancel = options->cancel,
	};
	struct jw_check_cause *causes = NULL;
	struct jw_check_result *result = NULL;
	struct jw_cache_outlook cache = {0};
	enum jw_verdict verdict = JW_VERDICT_NOTHING;
	struct jw_found *found = NULL;
	size_t cause_count = 0;
	struct plan *plan = NULL;

	if (!request.target_count)
		return error_set(err, JW_ERR_NOT_FOUND, "%s", options->system->why_none);
	if (options->driver && cache_profile_for_release(err, options->driver, &profile))
		return -1;
	for (size_t i = 0; i < options->target_count; i++)
		if (jw_driver_supports(err, &profile.driver, options->targets[i]))
			return -1;
	if (!options->found && named_paths_find(err, options->paths, options->path_count, &found))
		return -1;
	request.found = options->found ? options->found : found;
	/* Other GPUs are another machine's, of whose processor nothing is known. */
	if (is_here(options) || !options->target_count)
		request.speed = speed_recall(options->system->state_dir, &profile.driver);
	cache_outlook(request.cache_dir, options->system->cache.limit_bytes, false, &cache);
	if (!plan_build(err, &request, &plan) &&
		!explain_cold(err, options, &request, plan, &causes, &cause_count)) {
		verdict = verdict_of(plan, request.found->file_count, &options->system->cache,
							 !options->driver, &cache);
		if (!options->store || !is_here(options) || !look_into_store(err, options, plan))
			result = summarise(err, plan, options->found);
	}
	plan_free(plan);
	jw_found_free(found);
	if (!result) {
		explain_causes_free(causes, cause_count);
		return -1;
	}
	result->causes = causes;
	result->cause_count = cause_count;
	result->driver = profile.driver;
	result->cache = cache;
	result->verdict = verdict;
	result->here = is_here(options);
	result->names_known = profile.stamp[0] != 0;
	if (!result->names_known)
		result->named = known_driver_name(&profile.driver);
	*ret_result = result;
	return 0;
}
