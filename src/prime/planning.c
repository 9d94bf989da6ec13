#include "prime/planning.h"

#include <string.h>

#include <jitwarm/estimate.h>

#include "base/arena.h"
#include "base/text.h"
#include "driver/driver_probe.h"
#include "driver/speed_model.h"
#include "find/named_paths.h"
#include "os/file.h"
#include "os/platform.h"
#include "plan/estimate.h"
#include "plan/forecast.h"
#include "plan/plan.h"
#include "prime/budget.h"
#include "prime/explain.h"
#include "prime/recorded_plan.h"
#include "work/memory_budget.h"
#include "work/run.h"

/* ---- CUDA C sources among the paths of a run, which are compiled to PTX files, then treated like
 * others */

static bool is_source(const struct jw_found_file *file)
{
	return text_ends(file->path, ".cu");
}

/* Reports a source. -1 if the run cannot continue after it. */
static int report_source(struct jw_error *err, const struct jw_prime_options *options,
						 const struct jw_prime_source *source, struct jw_prime_result *outcome)
{
	const struct jw_error *failed = &source->failed;

	if (failed->code == JW_ERR_INTERRUPTED)
		return error_copy(err, failed);
	outcome->plan.sources_failed += failed->code != JW_OK;
	if (options->source)
		options->source(options->context, source);
	else if (failed->code)
		run_add_note(outcome, "%s", failed->message);
	return 0;
}

/* Compiles each source for each GPU of `planning`. A failure is reported and counted in *outcome,
 * and the others are compiled nevertheless; -1 if interrupted. */
static int source_paths_compile(struct jw_error *err, const struct jw_system *system,
								const struct jw_prime_options *options,
								const struct jw_found *found, size_t target_count,
								struct planning *planning, struct jw_prime_result *outcome)
{
	const struct jw_prime_plan_options *plan = &options->plan;
	struct jw_nvrtc_options how = plan->nvrtc ? *plan->nvrtc : (struct jw_nvrtc_options){0};
	struct source_paths *sources = &planning->sources;
	struct jw_prime_source none = {0};
	size_t asked = 0;
	int result = 0;

	for (size_t i = 0; i < found->file_count; i++)
		asked += is_source(&found->files[i]);
	sources->ptx = arena_array(planning->memory, asked * target_count, sizeof *sources->ptx);
	if (!asked)
		return 0;
	how.driver = system->driver.version;
	how.state_dir = system->state_dir;
	how.worker = system->worker;
	how.cancel = options->cancel;
	if (jw_nvrtc_open(&none.failed, &how, &sources->nvrtc))
		return report_source(err, options, &none, outcome);
	for (size_t i = 0; i < found->file_count; i++)
		for (size_t k = 0; !result && is_source(&found->files[i]) && k < target_count; k++) {
			const char *path = found->files[i].path;
			struct jw_nvrtc_result made;
			struct jw_prime_source source = {.path = path, .nvrtc = sources->nvrtc, .made = &made};

			if (!jw_nvrtc_compile(&source.failed, sources->nvrtc, path, planning->targets[k],
								  &made))
				source.failed.code = JW_OK;
			result = report_source(err, options, &source, outcome);
			if (made.ptx)
				sources->ptx[sources->ptx_count++] = arena_keep(planning->memory, made.ptx);
			made.ptx = NULL;
			jw_nvrtc_result_free(&made);
		}
	return result;
}

/* Makes planning->found: the files of the options, with what their sources are compiled to in place
 * of the sources. */
static int planning_find(struct jw_error *err, const struct jw_system *system,
						 const struct jw_prime_options *options, size_t target_count,
						 struct planning *planning, struct jw_prime_result *outcome)
{
	const struct jw_prime_plan_options *wanted = &options->plan;
	struct source_paths *sources = &planning->sources;
	struct jw_found *found = &planning->found;
	const struct jw_found *given;

	if (!wanted->found && named_paths_find(err, wanted->paths, wanted->path_count, true,
										   options->cancel, &planning->searched))
		return -1;
	given = wanted->found ? wanted->found : planning->searched;
	if (source_paths_compile(err, system, options, given, target_count, planning, outcome) ||
		named_paths_find(err, (const char *const *)sources->ptx, sources->ptx_count, false,
						 options->cancel, &planning->made))
		return -1;
	/* The caller has the notes of its own search. */
	if (!wanted->found)
		*found = *given;
	found->whole = given->whole;
	found->files = arena_array(planning->memory, given->file_count + planning->made->file_count,
							   sizeof *found->files);
	found->file_count = 0;
	for (size_t i = 0; i < given->file_count; i++)
		if (!is_source(&given->files[i]))
			found->files[found->file_count++] = given->files[i];
	for (size_t i = 0; i < planning->made->file_count; i++)
		found->files[found->file_count++] = planning->made->files[i];
	return 0;
}

/* ---- the plan */

struct jw_driver planning_compiler(const struct jw_system *system,
								   const struct jw_prime_options *options)
{
	if (!options->compile.ptxas)
		return system->driver.version;
	return (struct jw_driver){.cuda = system->driver.version.cuda};
}

static void note_fates(const struct plan *plan, size_t from, struct jw_prime_result *outcome)
{
	char text[FATE_TEXT];

	for (size_t i = from; i < plan->fates.count; i++) {
		const struct file_fate *fate = &plan->fates.items[i];
		const struct jw_target device = plan->targets[fate->target].device;

		run_add_note(outcome,
					 fate->result ? "%s: %s; “jitwarm prime FILE” tries it again" : "%s: %s",
					 fate->file, fate_text(text, fate, device));
	}
}

int planning_make(struct jw_error *err, const struct jw_system *system,
				  const struct jw_prime_options *options, struct jw_prime_result *outcome,
				  struct planning *planning)
{
	const struct jw_prime_plan_options *wanted = &options->plan;
	const struct jw_driver compiler = planning_compiler(system, options);
	const struct plan *plan;
	size_t count;

	planning->profile = profile_of_system(system);
	planning->memory = arena_open(1);
	planning->targets = arena_array(planning->memory, system->gpu_count, sizeof *planning->targets);
	count = jw_system_targets(system, planning->targets, system->gpu_count);
	if (planning_find(err, system, options, count, planning, outcome))
		return -1;
	planning->request = (struct plan_request){
		.found = &planning->found,
		.targets = planning->targets,
		.target_count = count,
		.profile = &planning->profile,
		.cache_dir = system->cache.path,
		.state_dir = system->state_dir,
		.everything = wanted->everything,
		.named = wanted->retried,
		.named_count = wanted->retried_count,
		/* ptxas runs on this machine, whatever machine it compiles for. */
		.speed =
			options->compile.ptxas ? speed_recall(system->state_dir, &compiler) : system->speed,
		.cancel = options->cancel,
	};
	if (wanted->recording)
		recorded_request(wanted->recording, &planning->keys, &planning->request);
	if (planning->request.of_stamp && !options->dry_run) {
		if (run_folder_make(err, system->state_dir, &planning->folder))
			return -1;
		planning->containers =
			arena_keep(planning->memory, os_join(planning->folder.path, "cached.fatbin"));
		planning->request.containers = planning->containers;
	}
	if (plan_build(err, &planning->request, &planning->plan) ||
		(wanted->recording && recorded_narrow(err, wanted->recording, &planning->request,
											  planning->plan, &planning->recorded)))
		return -1;
	plan = planning->plan;
	for (size_t i = 0; i < plan->note_count - plan->assumptions; i++)
		run_add_note(outcome, "%s", plan->notes[i]);
	note_fates(plan, 0, outcome);
	outcome->troubles = plan->troubles;
	outcome->plan.images = plan->images;
	outcome->plan.recorded = planning->recorded.wanted;
	outcome->plan.recorded_missing = planning->recorded.missing;
	outcome->plan.recorded_texts = planning->recorded.texts;
	outcome->plan.recorded_unfiled = planning->recorded.unfiled;
	return 0;
}

void planning_note_refused(struct plan *plan, const struct ledger *ledger,
						   const struct jw_prime_options *options, struct jw_prime_result *outcome)
{
	const size_t before = plan->fates.count;

	/* The content of a recording has the recording's name. */
	for (size_t i = 0; i < plan->module_count; i++)
		if (!plan_is_named(options->plan.retried, options->plan.retried_count,
						   plan->files[plan->modules[i].file].path) &&
			!(options->plan.recording && plan->modules[i].keyed))
			plan_refuse(plan, &plan->modules[i],
						ledger_refused(ledger, ledger_module(&plan->modules[i])));
	note_fates(plan, before, outcome);
}

void planning_note_assumptions(const struct plan *plan, struct jw_prime_result *outcome)
{
	const size_t before = outcome->note_count;

	for (size_t i = plan->note_count - plan->assumptions; i < plan->note_count; i++)
		run_add_note(outcome, "%s", plan->notes[i]);
	outcome->assumptions = outcome->note_count - before;
}

void planning_free(struct planning *planning)
{
	plan_free(planning->plan);
	jw_result_free(planning->searched);
	jw_result_free(planning->made);
	run_folder_remove(&planning->folder);
	recorded_keys_free(&planning->keys);
	jw_nvrtc_close(planning->sources.nvrtc);
	jw_result_free(planning->memory);
	*planning = (struct planning){0};
}

void planning_explain(const struct jw_system *system, const struct plan *plan,
					  struct jw_prime_plan *sum)
{
	/* A cache for this run only was never primed, whatever the account's cache has. */
	if (!sum->cold || system->scratch)
		return;
	explain_line(sum->why, plan);
	/* The memory is released while the compilers run, which can use it. */
	os_release_memory();
}

/* Returns as many workers as requested that have memory for medium modules; later each is admitted
 * by its own need. */
static unsigned worker_count(const struct plan *plan, const struct jw_prime_options *options,
							 size_t cold)
{
	const unsigned most = options->compile.jobs ? options->compile.jobs : os_cores();
	uint64_t total, available = 0, budget = options->compile.max_memory_bytes, sum = 0, count = 0;
	uint64_t wanted = most < cold ? most : cold;

	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD) {
			sum += plan->modules[i].memory_bytes;
			count++;
		}
	if (budget || os_memory(&total, &available)) {
		budget = budget ? budget : available / 4 * 3;
		budget /= MEMORY_WORKER_BYTES + (count ? sum / count : 0);
		wanted = budget < wanted ? budget : wanted;
	}
	return cold && wanted < 1 ? 1 : (unsigned)wanted;
}

void planning_sum_up(const struct plan *plan, const struct jw_prime_options *options,
					 struct jw_prime_plan *ret_sum)
{
	struct jw_prime_plan sum = *ret_sum;
	size_t missing = 0;

	sum.restored = sum.refused = sum.left_out = sum.warm = sum.cold = sum.damaged = sum.link =
		sum.hopeless = 0;
	sum.used = 0;
	sum.unplanned = (struct jw_unplanned){0};
	sum.cold_bytes = 0;
	sum.forecast = (struct jw_forecast){0};
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		sum.left_out += module->state == PLAN_LEFT_OUT;
		sum.refused += module->state == PLAN_REFUSED;
		sum.warm += module->state == PLAN_WARM;
		sum.restored += module->restored;
		missing += module->state == PLAN_RESTORED;
		if (module->state == PLAN_RESTORED)
			forecast_add(&sum.forecast, plan, module);
		if (module->state != PLAN_COLD)
			continue;
		sum.cold++;
		sum.used += module->used;
		sum.damaged += module->damage != CACHE_SOUND && module->damage != CACHE_DAMAGE_OTHER;
		sum.link += module->form == CACHE_KEY_LINK;
		sum.cold_bytes += module->payload_bytes;
		forecast_add(&sum.forecast, plan, module);
	}
	for (size_t i = 0; i < plan->target_count; i++) {
		forecast_add_link(&sum.forecast, plan, i);
		unplanned_add(&sum.unplanned, &plan->targets[i].unplanned);
		for (size_t k = 0; k < plan->fates.count; k++)
			if (plan->fates.items[k].target == i) {
				sum.hopeless++;
				break;
			}
	}
	sum.modules = sum.cold + sum.warm + sum.over_budget + sum.unused + missing;
	forecast_share(&sum.forecast, worker_count(plan, options, sum.cold));
	*ret_sum = sum;
}

void planning_choose(struct plan *plan, const struct jw_system *system,
					 const struct jw_prime_options *options, struct jw_prime_result *outcome)
{
	struct jw_prime_plan *sum = &outcome->plan;
	const uint64_t budget_ms = options->plan.budget_ms;
	const struct budget_request request = {
		.limit_bytes = system->cache.limit_bytes,
		.budget_bytes = options->plan.budget_bytes,
		/* The workers' start is not part of the budget. */
		.budget_ms =
			budget_ms > 2 * PLAN_START_MS ? budget_ms - PLAN_START_MS : (budget_ms + 1) / 2,
		.capacity = jw_workers_capacity(sum->forecast.workers),
	};

	for (size_t i = 0; options->plan.used_only && i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD && !plan->modules[i].used) {
			plan->modules[i].state = PLAN_OVER_BUDGET;
			sum->unused++;
		}
	budget_choose(plan, &request, sum);
	sum->used_bytes = sum->cache.bytes;
	/* Includes the modules that `run` has noted as used, which are known here. */
	if (sum->over_budget || sum->cold)
		planning_sum_up(plan, options, sum);
	sum->too_much =
		budget_is_too_much(sum, &system->cache, system->elsewhere, &outcome->compile.stopped);
	/* The chosen modules by GPU architecture: */
	sum->gpus = arena_array(outcome, plan->target_count, sizeof *sum->gpus);
	sum->gpu_count = plan->target_count;
	for (size_t t = 0; t < plan->target_count; t++) {
		sum->gpus[t].target = plan->targets[t].device;
		forecast_add_link(&sum->gpus[t].forecast, plan, t);
	}
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		struct jw_prime_gpu *gpu = &sum->gpus[module->target];

		gpu->restored += module->restored;
		gpu->cold += module->restored || module->state == PLAN_COLD;
		if (module->state == PLAN_COLD || module->state == PLAN_RESTORED)
			forecast_add(&gpu->forecast, plan, module);
	}
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_share(&sum->gpus[t].forecast,
					   worker_count(plan, options, sum->gpus[t].cold - sum->gpus[t].restored));
	for (size_t t = 0; system->elsewhere && t < plan->target_count; t++)
		forecast_part(&sum->forecast, &sum->gpus[t].forecast, !t);
}
