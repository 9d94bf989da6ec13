#include <jitwarm/find.h>
#include <jitwarm/scan.h>

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/set.h"
#include "base/text.h"
#include "code/release.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "find/named_paths.h"
#include "os/clock.h"
#include "plan/analyse.h"
#include "plan/build.h"
#include "plan/estimate.h"
#include "plan/forecast.h"
#include "plan/inventory.h"
#include "plan/plan.h"

/* The result for a GPU with one driver, only in sizes, which memcmp compares up to `needed`.
 * too_old counts files that fail because the driver is too old, even if no known driver is new
 * enough. */
struct scan_outcome {
	size_t modules, left_out, failing, too_old, verdicts[VERDICT_COUNT];
	size_t needed; /* those modules that a start compiles in any case */
};

struct scan {
	const struct jw_scan_options *options;
	struct jw_scan_result *result; /* NULL: none is wanted */
	struct jw_found *found;        /* the files of `paths`; empty with jw_scan_options.found */
	struct analyse_question question;
	struct build build; /* over all images, for modules that they share */
	/* The facts of all images, to judge them with other drivers once all are read. */
	struct analyse_image *images;
	void *memory; /* owns what these point to */
	const struct jw_found_file **from;
	size_t image_count, image_capacity, from_capacity;
	struct set compiled;        /* libraries that compile modules, by their variants, and GPUs */
	char **wheels;              /* those whose requirements are judged */
	size_t wheel_count, judged; /* `judged` of them have been judged */
	struct failing_wheel {
		const char *wheel;
		uint32_t target;
		struct jw_required *required;
	} * failing_wheels;
	size_t failing_count, failing_capacity;
	bool needs_runtime;                      /* some file needs a CUDA runtime in another file */
	uint32_t native, compiles, alternatives; /* a bit for each GPU: some library is native,
												compiles, or has alternatives */
};

/* The caller's view of one image. */
struct scanned {
	struct jw_scan_image image;
	struct jw_scan_verdicts verdicts[PLAN_MAX_TARGETS];
};

const char *jw_scan_count_name(char name[JW_TARGET_TEXT], const struct jw_scan_count *count)
{
	if (count->kind == DEVCODE_KIND_CUBIN)
		return jw_target_sm(name, count->target);
	if (count->kind == DEVCODE_KIND_PTX)
		return jw_target_compute(name, count->target);
	if (count->kind == DEVCODE_KIND_LTOIR)
		(void)snprintf(name, JW_TARGET_TEXT, "lto-ir");
	else
		(void)text_format(name, JW_TARGET_TEXT, "kind 0x%x", count->kind);
	return name;
}

void jw_scan_add_work(struct jw_scan_work *sum, const struct jw_scan_work *work)
{
	sum->modules += work->modules;
	sum->ptx_bytes += work->ptx_bytes;
	sum->loading |= work->loading;
	sum->start.low += work->start.low;
	sum->start.likely += work->start.likely;
	sum->start.high += work->start.high;
	sum->cache_bytes += work->cache_bytes;
	if (work->longest_seconds > sum->longest_seconds)
		sum->longest_seconds = work->longest_seconds;
}

static void fill_verdicts(struct jw_scan_verdicts *verdicts, struct jw_target target,
						  const struct judged *is, enum jw_scan_need link)
{
	const size_t *reasons = is->reasons;
	const struct jw_driver *needs = is->reason_needs;
	const bool runtime = is->reason == REASON_RUNTIME;

	*verdicts = (struct jw_scan_verdicts){
		.target = target,
		.native = is->verdicts[VERDICT_NATIVE],
		.compatible = is->verdicts[VERDICT_COMPATIBLE],
		.link = is->verdicts[VERDICT_LINK],
		.jit = is->verdicts[VERDICT_JIT],
		.tile = is->tile,
		.unknown = is->verdicts[VERDICT_UNKNOWN],
		.unknown_kind = is->kind,
		.cannot = is->verdicts[VERDICT_CANNOT],
		.cannot_exclusive = reasons[REASON_EXCLUSIVE],
		.cannot_too_new = reasons[REASON_TOO_NEW] + reasons[REASON_NEWER_CODE] +
						  reasons[REASON_KIND] + reasons[REASON_TILE],
		.cannot_kind = reasons[REASON_KIND] + reasons[REASON_TILE],
		.needs =
			runtime ? is->needs : gpu_newer_driver(needs[REASON_TOO_NEW], needs[REASON_NEWER_CODE]),
		.kind_needs = gpu_newer_driver(needs[REASON_KIND], needs[REASON_TILE]),
		.zstd_needs = needs[REASON_ZSTD],
		.cannot_zstd = reasons[REASON_ZSTD],
		.cannot_early = reasons[REASON_EARLY],
		.cannot_damaged = reasons[REASON_DAMAGED],
		.nothing = is->verdicts[VERDICT_NOTHING],
		.pieces = is->all_pieces,
		.lacking = is->all_lacking,
		.too_new = is->all_too_new,
		.runs = is->fate == JUDGE_RUNS,
		.fails = is->fate == JUDGE_LACKS || is->fate == JUDGE_REFUSED,
		.runtime = runtime,
		.link_needed = link,
	};
}

static void add_work(struct jw_scan_work *work, const struct plan_module *module,
					 const struct jw_speed *speed, bool lazy)
{
	struct plan_estimate estimate;
	struct jw_seconds range;
	double seconds;

	plan_estimate(&estimate, &module->features, module->payload_bytes, speed);
	seconds = estimate.cost_ms / 1000;
	work->modules++;
	work->ptx_bytes += module->payload_bytes;
	work->loading |= lazy ? JW_LOADING_LAZY : JW_LOADING_EAGER;
	range = plan_seconds(seconds, lazy);
	work->start.low += range.low;
	work->start.likely += range.likely;
	work->start.high += range.high;
	work->longest_seconds = seconds > work->longest_seconds ? seconds : work->longest_seconds;
	work->cache_bytes += estimate.entry_bytes;
}

/* Returns whether the driver in question compiles a module. */
static bool is_compiled(const struct plan_module *module, const struct jw_scan_verdicts *verdicts)
{
	return module->drivers & 1 && !module->superseded &&
		   (!verdicts->runtime || module->role == DEVCODE_LOOSE);
}

static void fill_work(struct scanned *scanned, const struct analyse_image *from, bool test,
					  bool lazy, const struct jw_speed *speed)
{
	const bool library = from->scan.library;

	for (size_t i = 0; i < from->module_count; i++) {
		const struct plan_module *module = &from->modules[i];
		struct jw_scan_verdicts *verdicts = &scanned->verdicts[module->target];

		if (!is_compiled(module, verdicts))
			continue;
		if (module->form == CACHE_KEY_LINK) {
			if (module->role == DEVCODE_RELOCATABLE)
				add_work(&verdicts->link_work, module, speed, lazy);
			continue;
		}
		add_work(&verdicts->work, module, speed, false);
		if (test || (module->role == DEVCODE_LOOSE && library))
			add_work(&verdicts->loose_work, module, speed, false);
	}
	for (size_t t = 0; t < scanned->image.verdict_count; t++)
		scanned->verdicts[t].left_out =
			(test && scanned->verdicts[t].loose_work.modules) ||
			scanned->verdicts[t].loose_work.ptx_bytes > JUDGE_LOOSE_LIMIT_BYTES;
	for (size_t i = 0; i < from->module_count; i++) {
		const struct plan_module *module = &from->modules[i];
		struct jw_scan_verdicts *verdicts = &scanned->verdicts[module->target];

		if (is_compiled(module, verdicts) && module->form != CACHE_KEY_LINK && !test &&
			!(verdicts->left_out && module->role == DEVCODE_LOOSE)) {
			/* A library loads loose code itself, when it needs it. */
			add_work(&verdicts->start_work, module, speed,
					 library && (lazy || module->role == DEVCODE_LOOSE));
		}
	}
	for (size_t t = 0; t < scanned->image.verdict_count; t++) {
		struct jw_scan_verdicts *verdicts = &scanned->verdicts[t];

		verdicts->first_start = verdicts->start_work;
		if (verdicts->link_needed == JW_SCAN_NEED_YES)
			jw_scan_add_work(&verdicts->first_start, &verdicts->link_work);
	}
}

/* Notes for each GPU whether a file has code that runs as it is, compiles modules, or is a variant
 * of a library that compiles some (jw_scan_total.at_most). */
static void note_starts(struct scan *scan, const struct scanned *scanned)
{
	const uint64_t name = fate_variants(scanned->image.path, scanned->image.member);

	for (size_t t = 0; t < scanned->image.verdict_count; t++) {
		const struct jw_scan_verdicts *verdicts = &scanned->verdicts[t];
		const uint32_t gpu = UINT32_C(1) << t;
		const uint64_t key = fnv_update(name, &t, sizeof t);

		if (!verdicts->first_start.modules) {
			scan->native |= verdicts->native || verdicts->compatible ? gpu : 0;
			continue;
		}
		scan->compiles |= gpu;
		/* Loose texts with numbers in their names are rarely the same text again. */
		scan->alternatives |= scanned->image.library && set_has(&scan->compiled, key) ? gpu : 0;
		set_put(&scan->compiled, key, t);
	}
}

/* Keeps the facts of an image until all of them are read, since totals and variants depend on the
 * others. */
static int keep_image(struct jw_error *err, struct scan *scan, const struct analyse_image *from)
{
	const struct jw_scan_image *scanned = &from->scan;
	struct analyse_image *image;
	struct plan_module *modules;
	struct jw_piece *pieces;
	struct jw_piece_entry *entries;
	size_t count = 0;

	for (size_t i = 0; i < scanned->piece_count; i++)
		count += scanned->pieces[i].entry_count;
	if (build_hold(err, &scan->build, scanned->path, scanned->member,
				   sizeof *image + from->module_count * sizeof *modules +
					   scanned->piece_count * sizeof *pieces + count * sizeof *entries))
		return -1;
	VEC_GROW(scan->images, scan->image_capacity, scan->image_count);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	VEC_GROW(scan->from, scan->from_capacity, scan->image_count);
	image = &scan->images[scan->image_count];
	scan->from[scan->image_count++] = scan->build.from;
	*image = *from;
	image->scan.path = arena_string(scan->memory, scanned->path);
	image->scan.member = arena_string(scan->memory, scanned->member);
	image->scan.cubins = image->scan.ptx = image->scan.other = NULL;
	image->scan.cubin_count = image->scan.ptx_count = image->scan.other_count = 0;
	image->modules = modules = arena_array(scan->memory, from->module_count, sizeof *modules);
	if (from->module_count)
		memcpy(modules, from->modules, from->module_count * sizeof *modules);
	image->scan.pieces = pieces = arena_array(scan->memory, scanned->piece_count, sizeof *pieces);
	entries = arena_array(scan->memory, count, sizeof *entries);
	for (size_t i = 0; i < scanned->piece_count; i++) {
		pieces[i] = scanned->pieces[i];
		pieces[i].kernels = "";
		pieces[i].entries = entries;
		if (pieces[i].entry_count)
			memcpy(entries, scanned->pieces[i].entries, pieces[i].entry_count * sizeof *entries);
		entries += pieces[i].entry_count;
	}
	return 0;
}

static int report_image(struct jw_error *err, void *context, const struct analyse_image *from)
{
	struct scan *scan = context;
	struct scanned scanned = {.image = from->scan};
	const struct judge_facts facts = build_facts(&scan->build, from);
	int result = -1;

	if (scan->options->except &&
		scan->options->except(scan->options->context, from->scan.path, from->scan.member))
		return 0;
	scan->needs_runtime = scan->needs_runtime || from->scan.runtime_shared;
	if (from->scan.member && scan->result &&
		(!scan->wheel_count || strcmp(scan->wheels[scan->wheel_count - 1], from->scan.path) != 0))
		arena_add_string(scan->memory, &scan->wheels, &scan->wheel_count, SIZE_MAX,
						 from->scan.path);
	if (scan->question.releases && keep_image(err, scan, from))
		return -1;
	scanned.image.verdicts = scanned.verdicts;
	scanned.image.verdict_count = scan->question.target_count;
	for (size_t t = 0; t < scan->question.target_count; t++) {
		struct judged is;

		judge_library(&facts, scan->question.targets[t], &scan->question.driver, &is);
		fill_verdicts(&scanned.verdicts[t], scan->question.targets[t], &is,
					  build_link_needed(from, &is));
	}
	fill_work(&scanned, from, build_is_of_tests(scan->build.request, from),
			  analyse_loading(&from->scan, &scan->question.driver, LOADING_DEFAULT) == LOADING_LAZY,
			  &scan->build.request->speed);
	note_starts(scan, &scanned);
	if (!build_add_image(err, &scan->build, from))
		result = scan->options->image(err, scan->options->context, &scanned.image);
	return result;
}

static void report_trouble(void *context, const char *path, const char *member,
						   const struct jw_error *why)
{
	const struct scan *scan = context;

	(void)member;
	if (scan->options->trouble)
		scan->options->trouble(scan->options->context, path, why);
}

/* Adds the verdicts on an image with which the code differs between drivers. */
static void count_release_verdicts(struct scan_outcome *outcomes, const struct build *build,
								   const struct analyse_image *image)
{
	const struct judge_facts facts = build_facts(build, image);
	const struct plan *plan = build->plan;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		struct judged is;

		judge_library(&facts, plan->targets[t].device, &build->driver, &is);
		for (size_t v = 0; v < VERDICT_COUNT; v++)
			if (v != VERDICT_JIT && v != VERDICT_LINK && v != VERDICT_NOTHING &&
				!fates_spare(&plan->fates, image->scan.path, image->scan.member, t))
				outcomes[t].verdicts[v] += is.verdicts[v];
	}
}

/* Judges all images with one driver, on each GPU. */
static int judge_with_driver(struct jw_error *err, const struct scan *scan,
							 const struct jw_driver *driver, unsigned bit,
							 struct scan_outcome *outcomes)
{
	struct build build = {.request = NULL};
	int result = build_begin(err, &build, scan->build.request);

	build.driver = *driver;
	build.driver_bit = bit;
	for (size_t i = 0; !result && i < scan->image_count; i++) {
		build.from = scan->from[i];
		result = build_add_image(err, &build, &scan->images[i]);
	}
	if (!result)
		result = build_settle(err, &build);
	for (size_t i = 0; !result && i < scan->image_count; i++) {
		build.from = scan->from[i];
		count_release_verdicts(outcomes, &build, &scan->images[i]);
	}
	build_end(&build);
	for (size_t i = 0; !result && i < build.plan->module_count; i++) {
		const struct plan_module *module = &build.plan->modules[i];
		struct scan_outcome *outcome = &outcomes[module->target];

		outcome->left_out += module->state == PLAN_LEFT_OUT;
		outcome->modules += module->state != PLAN_LEFT_OUT;
		outcome->needed += !module->on_demand && module->state != PLAN_LEFT_OUT;
	}
	for (size_t i = 0; !result && i < build.plan->fates.count; i++) {
		const struct file_fate *fate = &build.plan->fates.items[i];

		outcomes[fate->target].failing++;
		outcomes[fate->target].too_old += fate->is.needs.cuda ||
										  fate->is.reason == REASON_TOO_NEW ||
										  fate->is.reason == REASON_KIND;
	}
	plan_free(build.plan);
	return result;
}

/* Fills in outcomes[d * targets + t] for the driver in question (0), and for those of gpu_releases.
 */
static int judge_with_all_drivers(struct jw_error *err, const struct scan *scan,
								  const struct jw_driver *drivers, size_t releases,
								  struct scan_outcome *outcomes)
{
	const size_t targets = scan->question.target_count;
	int result = 0;

	for (size_t d = 0; !result && d <= releases; d++)
		result = judge_with_driver(err, scan, d ? &drivers[d - 1] : &scan->question.driver,
								   (unsigned)d, outcomes + d * targets);
	return result;
}

static bool same_outcome(const struct scan_outcome *a, const struct scan_outcome *b)
{
	return !memcmp(a, b, offsetof(struct scan_outcome, needed));
}

/* Returns whether the driver loads none of the code and compiles none of it. */
static bool loads_nothing(const struct scan_outcome *outcome)
{
	const size_t *verdicts = outcome->verdicts;

	return !outcome->modules && !outcome->left_out && !verdicts[VERDICT_NATIVE] &&
		   !verdicts[VERDICT_COMPATIBLE] && !verdicts[VERDICT_TILE] && !verdicts[VERDICT_UNKNOWN];
}

/* Returns whether everything fails, and a driver's age is not the reason. */
static bool runs_with_none(const struct scan_outcome *outcome)
{
	return outcome->failing && !outcome->too_old && loads_nothing(outcome);
}

/* Fills in what other drivers that run the GPU change, once the fate is known; `of` has the
 * outcomes with the driver in question and those with gpu_releases, `stride` apart. A CUDA runtime
 * needs a driver even if this loads no code. */
static void fill_releases(struct jw_scan_total *total, const struct jw_driver *asked,
						  const struct scan_outcome *of, size_t stride, bool needs_runtime)
{
	struct jw_driver drivers[GPU_MAX_RELEASES];
	const size_t count = gpu_releases(drivers);
	const struct scan_outcome *before = of;
	const uint32_t first = gpu_first_cuda(total->target), last = gpu_last_cuda(total->target);
	size_t own = count;
	bool same = true;

	while (own && asked->cuda && drivers[own - 1].cuda > asked->cuda)
		own--;
	for (size_t row = own; row < count; row++) {
		const struct scan_outcome *outcome = &of[(1 + row) * stride];

		if (drivers[row].cuda < first || (last && drivers[row].cuda > last) ||
			same_outcome(outcome, before))
			continue;
		if (!total->newer_count && row)
			total->driver_to = drivers[row - 1].release[0];
		total->newer[total->newer_count++] = (struct jw_scan_change){
			.driver = drivers[row].release[0],
			.modules = outcome->modules,
			.failing = outcome->failing,
			.may_need_none = !outcome->needed,
			.unsure = outcome->verdicts[VERDICT_TILE] || outcome->verdicts[VERDICT_UNKNOWN],
		};
		before = outcome;
	}
	if (!total->newer_count && last)
		total->driver_to = gpu_branch_number(last);
	/* If this driver is too old, newer ones are as well up to one that is not. */
	for (size_t row = own; of->too_old && row < count && of[(1 + row) * stride].too_old; row++) {
		total->fails_from = total->fails_from ? total->fails_from : drivers[row].release[0];
		total->fails_to = drivers[row].release[0];
	}
	while (own-- && drivers[own].cuda >= first) {
		const struct scan_outcome *outcome = &of[(1 + own) * stride];

		same = same && same_outcome(outcome, of);
		if (outcome->too_old) {
			total->fails_from = drivers[own].release[0];
			if (!total->fails_to)
				total->fails_to = drivers[own].release[0];
		} else if (total->fails_to) {
			break;
		} else if (same) {
			total->driver_from = drivers[own].release[0];
		} else {
			total->older_differ = true;
		}
	}
	if (runs_with_none(of) && !total->newer_count)
		total->fails_from = total->fails_to = 0;
	if (runs_with_none(of) || (loads_nothing(of) && same && !total->newer_count && !needs_runtime))
		total->driver_from = 0;
}

static int report_totals(struct jw_error *err, const struct scan *scan)
{
	const struct plan *plan = scan->build.plan;
	struct jw_driver drivers[GPU_MAX_RELEASES];
	const size_t releases = gpu_releases(drivers);
	struct jw_scan_result *result = scan->result;
	struct scan_outcome *outcomes;

	if (!scan->question.releases)
		return 0;
	result->totals = arena_array(result, plan->target_count, sizeof *result->totals);
	outcomes = mem_array((1 + releases) * plan->target_count, sizeof *outcomes);
	if (judge_with_all_drivers(err, scan, drivers, releases, outcomes)) {
		mem_free(outcomes);
		return -1;
	}
	for (size_t t = 0; t < plan->target_count; t++) {
		struct jw_scan_total *total = &result->totals[result->total_count++];

		total->target = plan->targets[t].device;
		total->tile = plan->targets[t].unplanned.tile;
		total->unknown = plan->targets[t].unplanned.unknown;
		for (size_t i = 0; i < plan->module_count; i++) {
			const struct plan_module *module = &plan->modules[i];

			if (module->target != t)
				continue;
			total->left_out += module->state == PLAN_LEFT_OUT;
			if (module->state == PLAN_LEFT_OUT)
				continue;
			total->modules++;
			total->ptx_bytes += module->payload_bytes;
			forecast_add(&total->forecast, plan, module);
		}
		forecast_add_link(&total->forecast, plan, t);
		forecast_share(&total->forecast, forecast_workers(total->modules));
		total->at_most =
			total->modules && (scan->compiles & (scan->native | scan->alternatives)) >> t & 1;
		if (total->at_most)
			total->forecast.start.low = 0;
		plan_fate(plan, (uint32_t)t, total->modules, &total->fate);
		fill_releases(total, &scan->options->driver, outcomes + t, plan->target_count,
					  scan->needs_runtime);
		if (total->fate.verdict == JW_RUNS_ON_CPU)
			total->driver_from = 0;
	}
	mem_free(outcomes);
	return 0;
}

/* Returns whether the file would run if its compiler had also made machine code for the GPU.
 * Machine code, unlike PTX, also runs under older drivers of the compiler's major CUDA version. */
static bool would_run_with_code(const struct file_fate *fate, uint32_t driver_cuda)
{
	const enum plan_reason reason = fate->is.reason;

	return fate->result || reason == REASON_NONE || reason == REASON_EXCLUSIVE ||
		   reason == REASON_UNLINKED ||
		   (reason == REASON_TOO_NEW && fate->is.needs.cuda / 1000 == driver_cuda / 1000);
}

static void report_fates(const struct scan *scan)
{
	const struct fates *fates = &scan->build.plan->fates;
	struct jw_scan_result *result = scan->result;
	char text[FATE_TEXT];

	result->fates = arena_array(result, fates->count + fates->part_count, sizeof *result->fates);
	for (size_t i = 0; i < fates->count + fates->part_count; i++) {
		const bool fails = i < fates->count;
		const struct file_fate *fate = fails ? &fates->items[i] : &fates->parts[i - fates->count];
		const struct jw_target device = scan->question.targets[fate->target];
		struct jw_scan_fate *row = &result->fates[result->fate_count++];

		*row = (struct jw_scan_fate){
			.part = fails                       ? JW_SCAN_FAILS
					: fate->part == JUDGE_NEWER ? JW_SCAN_NEWER
												: JW_SCAN_WITHOUT,
			.file = arena_string(result, fate->file),
			.path = arena_string(result, fate->path),
			.member = arena_string(result, fate->member),
			.target = device,
			.why = arena_string(result, fate_text(text, fate, device)),
		};
		if (!fails)
			continue;
		row->cause = arena_string(result, fate_cause(text, fate, device));
		row->exclusive = fate->is.exclusive;
		row->driver_alone =
			fate->is.needs.cuda && !fate->result &&
			(fate->is.start || fate->is.lacking + fate->is.too_new == fate->is.pieces);
		row->lacks_code = would_run_with_code(fate, scan->options->driver.cuda);
	}
}

/* Judges what the wheels require that were read since the last call. */
static int judge_wheels(struct jw_error *err, struct scan *scan)
{
	const struct jw_scan_options *options = scan->options;
	const struct plan *plan = scan->build.plan;

	for (; options->required && scan->judged < scan->wheel_count; scan->judged++)
		for (uint32_t t = 0; t < plan->target_count; t++) {
			const char *wheel = scan->wheels[scan->judged];
			struct jw_required *required = NULL;

			if (options->required(err, wheel, options->platform, plan->targets[t].device,
								  &plan->profile.driver, &required))
				return -1;
			if (!required)
				continue;
			VEC_GROW(scan->failing_wheels, scan->failing_capacity, scan->failing_count);
			scan->failing_wheels[scan->failing_count++] =
				(struct failing_wheel){wheel, t, required};
		}
	return 0;
}

static int scan_files(struct jw_error *err, struct scan *scan)
{
	const struct jw_scan_options *options = scan->options;
	const struct analyse_sink sink = {.context = scan,
									  .image = report_image,
									  .trouble = report_trouble,
									  .cancel = options->cancel};
	struct inventory *inventory = NULL;
	const struct jw_found *found;
	struct found_list list;
	const char *path;
	int result = 0;

	found_open(&list);
	list.cancel = options->cancel;
	for (size_t i = 0; !result && i < options->path_count; i++) {
		size_t scanned = list.found->note_count;

		result = named_path_find(err, &list, options->paths[i]);
		/* Troubles name the path that the user gave. */
		for (; !result && scanned < list.found->note_count; scanned++) {
			const struct jw_found_note *note = &list.found->notes[scanned];
			struct jw_error why;

			error_set(&why, note->code, "%s", note->text);
			if (note->is_trouble)
				report_trouble(scan, options->paths[i], NULL, &why);
		}
	}
	if (options->state_dir)
		inventory = inventory_open(options->state_dir);
	found = options->found ? options->found : list.found;
	for (size_t i = 0; !result && i < found->file_count; i++) {
		scan->build.from = &found->files[i];
		result = inventory_analyse(err, inventory, &found->files[i], &scan->question, &sink);
	}
	scan->build.from = NULL;
	if (inventory)
		(void)inventory_save(NULL, inventory);
	inventory_close(inventory);
	scan->found = list.found;
	found_close(&list);
	/* The next wheel replaces the last one, whose requirements are read before. */
	while (!result && options->more && !(result = judge_wheels(err, scan)) &&
		   !(result = options->more(err, options->context, &path)) && path)
		result = analyse_path(err, path, &scan->question, &sink);
	return result ? result : judge_wheels(err, scan);
}

int jw_scan(struct jw_error *err, const struct jw_scan_options *options,
			struct jw_scan_result **ret_result)
{
	const struct cache_profile profile = {.driver = options->driver};
	const struct plan_request request = {
		.named = options->named,
		.named_count = options->named_count,
		.targets = options->targets,
		.target_count = options->target_count,
		.profile = &profile,
		.speed = options->speed,
	};
	struct scan scan = {
		.options = options,
		.question = {.targets = options->targets,
					 .target_count = options->target_count,
					 .driver = options->driver,
					 .verdicts_only = options->verdicts_only,
					 .kernels = options->kernels,
					 .platform = options->platform,
					 .releases = ret_result && options->target_count},
	};
	int result;

	for (size_t i = 0; i < options->target_count; i++)
		if (jw_driver_supports(err, &options->driver, options->targets[i]))
			return -1;
	scan.memory = arena_open(1);
	if (ret_result)
		scan.result = arena_open(sizeof *scan.result);
	result = build_begin(err, &scan.build, &request);
	if (!result)
		result = scan_files(err, &scan);
	if (!result)
		result = build_settle(err, &scan.build);
	for (size_t i = 0; i < scan.failing_count; i++) {
		const struct failing_wheel *failing = &scan.failing_wheels[i];

		if (!result)
			plan_add_required(scan.build.plan, failing->wheel, failing->target, failing->required);
		jw_result_free(failing->required);
	}
	mem_free(scan.failing_wheels);
	build_end(&scan.build);
	if (!result) {
		build_estimate(scan.build.plan);
		result = report_totals(err, &scan);
	}
	if (!result && ret_result) {
		report_fates(&scan);
		*ret_result = scan.result;
		scan.result = NULL;
	}
	jw_result_free(scan.result);
	plan_free(scan.build.plan);
	set_free(&scan.compiled);
	jw_result_free(scan.memory);
	mem_free(scan.images);
	mem_free(scan.from);
	jw_result_free(scan.found);
	return result;
}

/* ---- which packages have code, within a time */

struct code_search {
	const struct jw_found *found;
	struct jw_code_packages *packages;
	struct jw_cancel cancel;
	uint64_t end_ns;
};

static bool is_over(void *context)
{
	struct code_search *search = context;

	search->packages->cut = search->packages->cut || os_monotonic_ns() >= search->end_ns;
	return search->packages->cut || cancel_asked(&search->cancel);
}

static int note_package(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct code_search *search = context;
	struct jw_code_packages *packages = search->packages;
	const char *name = NULL;

	(void)err;
	packages->any = true;
	for (size_t i = 0; i < search->found->file_count && !name; i++)
		if (!strcmp(search->found->files[i].path, image->path))
			name = search->found->files[i].package;
	for (size_t i = 0; i < packages->count && name; i++)
		if (!strcmp(packages->names[i], name))
			name = NULL;
	if (name && packages->count < JW_CODE_PACKAGES)
		packages->names[packages->count++] = name;
	return 0;
}

void jw_code_packages(const struct jw_found *found, unsigned most_ms, struct jw_cancel cancel,
					  struct jw_code_packages *ret_packages)
{
	struct code_search search = {found, ret_packages, cancel,
								 os_monotonic_ns() + most_ms * UINT64_C(1000000)};
	const char **paths = mem_array(found->file_count + 1, sizeof *paths);

	*ret_packages = (struct jw_code_packages){.count = 0};
	for (size_t i = 0; i < found->file_count; i++)
		paths[i] = found->files[i].path;
	(void)jw_scan(NULL,
				  &(struct jw_scan_options){.paths = paths,
											.path_count = found->file_count,
											.image = note_package,
											.context = &search,
											.cancel = {&search, is_over}},
				  NULL);
	mem_free(paths);
}
