#include "plan/build.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/file.h"

int build_begin(struct jw_error *err, struct build *build, const struct plan_request *request)
{
	const size_t found = request->found ? request->found->file_count : 0;
	struct plan *plan;

	if (request->target_count > PLAN_MAX_TARGETS)
		return error_set(err, JW_ERR_USAGE, "more than %d GPU architectures at once",
						 PLAN_MAX_TARGETS);
	plan = arena_open(sizeof *plan);
	*build = (struct build){.request = request, .plan = plan, .driver = request->profile->driver};
	plan->profile = *request->profile;
	plan->speed = request->speed;
	plan->targets = arena_array(plan, request->target_count, sizeof *plan->targets);
	plan->has_code = arena_array(plan, found, sizeof *plan->has_code);
	plan->unsure = arena_array(plan, found, sizeof *plan->unsure);
	plan->target_count = request->target_count;
	for (size_t t = 0; t < plan->target_count; t++)
		plan->targets[t].device = request->targets[t];
	plan->cache_dir = arena_string(plan, request->cache_dir);
	return 0;
}

void build_end(struct build *build)
{
	for (size_t t = 0; t < PLAN_MAX_TARGETS; t++)
		set_free(&build->known[t]);
	mem_free(build->later);
}

void build_estimate(struct plan *plan)
{
	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		struct plan_estimate estimate;

		plan_estimate(&estimate, &module->features, module->payload_bytes, &plan->speed);
		module->cost_ms = estimate.cost_ms;
		module->entry_bytes =
			module->key_bytes ? module->key_bytes + estimate.cubin_bytes : estimate.entry_bytes;
		module->memory_bytes = estimate.memory_bytes;
	}
}

int build_hold(struct jw_error *err, struct build *build, const char *path, const char *member,
			   uint64_t bytes)
{
	build->held_bytes += bytes;
	if (build->held_bytes <= BUILD_MAX_HELD)
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "%s%s%s: with this file, the device code needs more than %d GiB of memory; "
					 "name fewer files or fewer GPUs",
					 path, member ? ": " : "", member ? member : "", (int)(BUILD_MAX_HELD >> 30));
}

static uint32_t add_file(struct build *build, const struct analyse_image *image)
{
	struct plan *plan = build->plan;

	(void)ARENA_ROOM(NULL, plan, plan->files, build->file_capacity, plan->file_count, SIZE_MAX);
	plan->files[plan->file_count] = (struct plan_file){
		.path = arena_string(plan, image->scan.path),
		.member = arena_string(plan, image->scan.member),
		.found = build->found,
		.package = build_package(build),
		.containers = image->keyed ? build->request->containers : NULL,
	};
	return (uint32_t)plan->file_count++;
}

enum {
	MODULE_NAME_BYTES = 48, /* about what a set needs for one key */
	IMAGE_BYTES = 1 << 9,   /* about what a report has of an image, for each GPU */
};

/* Adds a module of an image, or adds the image's facts to the module that the plan already has. */
static int add_module(struct jw_error *err, struct build *build, const struct plan_module *module)
{
	struct plan *plan = build->plan;
	struct set *names = &build->known[module->target];
	struct plan_module *known = module_find(plan->modules, names, module);

	if (!known) {
		const struct plan_file *file = &plan->files[module->file];

		if (build_hold(err, build, file->path, file->member, sizeof *module + MODULE_NAME_BYTES))
			return -1;
		(void)ARENA_ROOM(NULL, plan, plan->modules, build->module_capacity, plan->module_count,
						 SIZE_MAX);
		set_add(names, module_name(module), plan->module_count);
		plan->modules[plan->module_count++] = *module;
		return 0;
	}
	known->on_demand = known->on_demand && module->on_demand;
	known->keyed = known->keyed || module->keyed;
	/* The module is included here, although it was left out elsewhere. */
	if (known->state == PLAN_LEFT_OUT && module->state != PLAN_LEFT_OUT)
		*known = *module;
	return 0;
}

/* Returns whether a start may not need a module. A loose file of an installed package may be one
 * that only its tests read. */
static bool is_on_demand(const struct build *build, const struct analyse_image *image, bool loose,
						 enum loading loading)
{
	const struct jw_found *found = build->request->found;

	if (!image->scan.library)
		return found && build->found < found->file_count && found->files[build->found].package;
	return loose || loading == LOADING_LAZY;
}

bool plan_is_named(const char *const *names, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		const char *named = names[i], *at = path;

		/* The search writes its paths with the system's separator. */
		while (*at && (*named == *at || (os_is_separator(*named) && os_is_separator(*at))))
			named++, at++;
		if (!*named && !*at)
			return true;
	}
	return false;
}

bool build_is_of_tests(const struct plan_request *request, const struct analyse_image *image)
{
	/* site-packages, or Debian's dist-packages */
	static const char installed[] = "-packages", tests[] = "tests";
	const char *inside = image->scan.member;

	if (image->scan.library || request->everything ||
		(!inside && plan_is_named(request->named, request->named_count, image->scan.path)))
		return false;
	/* The place of the environment itself does not matter. */
	for (const char *at = image->scan.path; !image->scan.member && (at = strstr(at, installed));)
		inside = at += sizeof installed - 1;
	for (const char *at = inside; at && (at = strstr(at, tests)); at++)
		if ((at == image->scan.member || os_is_separator(at[-1])) &&
			os_is_separator(at[sizeof tests - 1]))
			return true;
	return false;
}

/* Writes the name of an image: "path" or "path: member". */
static const char *image_name(char *text, size_t size, const struct analyse_image *image)
{
	(void)snprintf(text, size, image->scan.member ? "%s: %s" : "%s", image->scan.path,
				   image->scan.member);
	return text;
}

/* Records facts about an image that the plan lacks: modules that may be compiled, or in the cache,
 * without jitwarm's knowledge. */
static void note_image(struct build *build, const struct analyse_image *image,
					   const struct judged *judged)
{
	char unknown[JW_SCAN_UNKNOWN_TEXT], name[1024], sm[JW_TARGET_TEXT];
	bool link_unknown = false;

	(void)image_name(name, sizeof name, image);
	for (size_t t = 0; t < build->request->target_count; t++) {
		const struct judged *is = &judged[t];
		const size_t unknowns = is->verdicts[VERDICT_UNKNOWN];

		(void)jw_target_sm(sm, build->request->targets[t]);
		if (is->tile)
			plan_note(build->plan, false,
					  "%s: %s of Tile IR for %s, compiled by the driver at first load; jitwarm "
					  "cannot tell if it is in the cache",
					  name, TEXT_COUNT(is->tile, "piece", "pieces"), sm);
		if (unknowns && is->kind == DEVCODE_KIND_PTX)
			plan_note(build->plan, false,
					  "%s: %s; jitwarm cannot prepare such code, but “jitwarm run --record FILE -- "
					  "PROGRAM” records what a program does",
					  name, jw_scan_unknown_text(unknown, unknowns, is->kind));
		else if (unknowns)
			plan_note(build->plan, false,
					  "%s: %s of kind 0x%x for %s, which jitwarm does not know: it cannot tell "
					  "what the driver does with it",
					  name, TEXT_COUNT(unknowns, "piece", "pieces"), is->kind, sm);
		link_unknown = link_unknown || build_link_needed(image, is) == JW_SCAN_NEED_UNKNOWN;
	}
	if (image->unreadable)
		plan_note(build->plan, true, "%s: %s cannot be decompressed", name,
				  TEXT_COUNT(image->unreadable, "module", "modules"));
	if (link_unknown)
		plan_note(build->plan, true,
				  "%s: jitwarm cannot tell whether a start links the relocatable code of this "
				  "file; the answer leaves the code out",
				  name);
}

/* Mentions the modules of a library for the GPU with the most, if there are several. */
static void mention(struct build_mention *all, const struct analyse_image *image, size_t modules,
					uint64_t bytes)
{
	if (!modules)
		return;
	if (!all->images++)
		(void)image_name(all->first, sizeof all->first, image);
	all->modules += modules;
	all->bytes += bytes;
}

enum { MENTIONED = 1024 + TEXT_SHORT + 64 };
/* Writes "libcufft.so.12 and 2 other libraries". */
static const char *mentioned(char text[MENTIONED], const struct build_mention *all)
{
	if (all->images == 1)
		return all->first;
	(void)text_format(text, MENTIONED, "%s and %s", all->first,
					  TEXT_COUNT(all->images - 1, "other library", "other libraries"));
	return text;
}

/* Notes the files that need a newer driver, and those without which a package runs; several in one
 * line. */
void build_note_parts(struct build *build)
{
	const struct fates *fates = &build->plan->fates;

	for (uint32_t t = 0; t < build->plan->target_count; t++)
		for (enum judge_part part = JUDGE_NEWER; part <= JUDGE_WITHOUT; part++) {
			const struct file_fate *first = NULL;
			size_t files = 0;
			char text[FATE_TEXT];

			for (size_t i = 0; i < fates->part_count; i++)
				if (fates->parts[i].target == t && fates->parts[i].part == part) {
					first = first ? first : &fates->parts[i];
					files++;
				}
			if (!files)
				continue;
			(void)fate_text(text, first, build->plan->targets[t].device);
			if (files == 1)
				plan_note(build->plan, false, "%s: %s", first->file, text);
			else
				plan_note(build->plan, false, "%s: %s; so does %s (“jitwarm scan” lists them)",
						  first->file, text, TEXT_COUNT(files - 1, "other file", "other files"));
		}
}

void build_note_assumptions(struct build *build)
{
	const struct build_mention *left_out = &build->left_out, *texts = &build->texts;
	char names[MENTIONED], bytes[TEXT_SHORT], copies[TEXT_SHORT + 64] = "";
	struct plan *plan = build->plan;
	const size_t before = plan->note_count;

	if (build->request->link_inputs)
		return;
	if (left_out->images)
		plan_note(build->plan, false,
				  "%s: %s (%s of PTX) that the libraries load when they need it: left out; --all "
				  "includes it",
				  mentioned(names, left_out), TEXT_COUNT(left_out->modules, "module", "modules"),
				  text_bytes(bytes, left_out->bytes));
	if (build->superseded)
		(void)text_format(copies, sizeof copies, " (%s for older GPUs left out)",
						  TEXT_COUNT(build->superseded, "copy", "copies"));
	if (texts->images)
		plan_note(build->plan, false,
				  "%s: the answer assumes that programs load %s without options%s; “jitwarm run "
				  "--record FILE -- PROGRAM” records what a program does",
				  mentioned(names, texts),
				  TEXT_COUNT(texts->modules, "PTX source in the data", "PTX sources in the data"),
				  copies);
	if (build->tests)
		plan_note(build->plan, false, "%s in test folders left out; --all includes such files",
				  TEXT_COUNT(build->tests, "loose file", "loose files"));
	if (build->loose_texts)
		plan_note(build->plan, false,
				  "the answer assumes that programs load %s without options and without linking; "
				  "a program that sets MAX_REGISTERS or OPTIMIZATION_LEVEL needs other entries: "
				  "record it with “jitwarm run --record FILE -- PROGRAM”",
				  TEXT_COUNT(build->loose_texts, "loose PTX file", "loose PTX files"));
	if (build->loose_inputs)
		plan_note(
			build->plan, false,
			"the answer assumes that programs link %s; a program that loads such a file as a "
			"module needs other entries: record it with “jitwarm run --record FILE -- PROGRAM”",
			TEXT_COUNT(build->loose_inputs, "loose relocatable file", "loose relocatable files"));
	plan->assumptions = plan->note_count - before;
}

int build_settle(struct jw_error *err, struct build *build)
{
	const struct plan *plan = build->plan;
	uint32_t last = UINT32_MAX;

	fates_settle(&build->plan->fates);
	build->settled = true;
	for (size_t i = 0; i < build->later_count; i++) {
		const bool loose = build->later[i].loose;
		const struct plan_module *module = &build->later[i].module;
		const struct plan_file *file = &plan->files[module->file];

		if (!build->request->everything &&
			fates_spare(&plan->fates, file->path, file->member, module->target))
			continue;
		if (add_module(err, build, module))
			return -1;
		if (loose && module->file != last && module->state != PLAN_LEFT_OUT) {
			build->loose_texts += module->form == CACHE_KEY_TEXT;
			build->loose_inputs += module->form == CACHE_KEY_LINK;
		}
		last = module->file;
	}
	return 0;
}

struct judge_facts build_facts(const struct build *build, const struct analyse_image *image)
{
	const struct jw_scan_image *scan = &image->scan;
	const char *name = scan->member ? scan->member : scan->path;

	return (struct judge_facts){.pieces = scan->pieces,
								.piece_count = scan->piece_count,
								.library = scan->library,
								.windows = scan->format == DEVCODE_PE,
								.nvidia =
									fate_is_nvidia(scan->path, scan->member, build_package(build)),
								.path = name,
								.runtime_cuda = scan->runtime_cuda};
}

enum jw_scan_need build_link_needed(const struct analyse_image *image, const struct judged *is)
{
	if (is->links)
		return JW_SCAN_NEED_YES;
	return is->verdicts[VERDICT_LINK] && image->scan.library && !image->scan.wrappers_known
			   ? JW_SCAN_NEED_UNKNOWN
			   : JW_SCAN_NEED_NO;
}

/* Returns the bytes of PTX that a library loads itself for a GPU. */
static uint64_t loose_bytes(const struct build *build, const struct analyse_image *image,
							uint32_t target)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < image->module_count; i++) {
		const struct plan_module *module = &image->modules[i];

		if (module->target == target && module->drivers >> build->driver_bit & 1 &&
			module->role == DEVCODE_LOOSE && module->form != CACHE_KEY_LINK && !module->superseded)
			bytes += module->payload_bytes;
	}
	return bytes;
}

int build_add_image(struct jw_error *err, struct build *build, const struct analyse_image *image)
{
	struct plan *plan = build->plan;
	struct {
		size_t left_out, texts, superseded; /* numbers of modules */
	} counts[PLAN_MAX_TARGETS] = {0};
	uint64_t loose_of[PLAN_MAX_TARGETS] = {0};
	struct judged judged[PLAN_MAX_TARGETS] = {0};
	const struct judge_facts facts = build_facts(build, image);
	const enum loading loading = analyse_loading(&image->scan, &build->driver, build->setting);
	size_t most_left = 0, most_texts = 0;
	uint32_t file = UINT32_MAX;
	/* The framework beside variants may load another one. */
	const bool may_be_spare = !image->scan.library || fate_has_mark(facts.path);
	const bool test = build_is_of_tests(build->request, image);

	if (build_hold(err, build, image->scan.path, image->scan.member,
				   (uint64_t)IMAGE_BYTES * (plan->target_count + 1)))
		return -1;
	for (uint32_t t = 0; t < plan->target_count; t++) {
		judge_library(&facts, build->request->targets[t], &build->driver, &judged[t]);
		loose_of[t] = loose_bytes(build, image, t);
		if (!test &&
			fates_add(err, &plan->fates,
					  &(struct fate_file){
						  .path = image->scan.path,
						  .member = image->scan.member,
						  .library = image->scan.library,
						  .package = build_package(build),
						  .version = build->from ? build->from->version : NULL,
						  .needs = image->scan.needs,
						  .toolkit = image->scan.containers ? image->scan.runtime_cuda : 0},
					  t, build->request->targets[t], &judged[t]))
			return -1;
	}
	plan->images++;
	build->tests += test && image->module_count;
	for (size_t t = 0; !test && t < plan->target_count; t++) {
		const size_t tile = judged[t].tile, unknown = judged[t].verdicts[VERDICT_UNKNOWN];

		unplanned_add(&plan->targets[t].unplanned,
					  &(struct jw_unplanned){
						  .cannot = judged[t].verdicts[VERDICT_CANNOT],
						  .lacking = judged[t].fate == JUDGE_RUNS ? judged[t].all_lacking : 0,
						  .tile = tile,
						  .unknown = unknown});
		if (build->request->found && (tile || unknown))
			plan->unsure[build->found] |= UINT32_C(1) << t;
		plan->targets[t].link_containers += judged[t].verdicts[VERDICT_LINK];
		if (gpu_isa_compare(judged[t].link_isa, plan->targets[t].link_isa) > 0) {
			char name[1024];

			plan->targets[t].linked = arena_string(plan, image_name(name, sizeof name, image));
			plan->targets[t].link_isa = judged[t].link_isa;
		}
	}
	for (size_t i = 0; i < image->module_count; i++) {
		struct plan_module module = image->modules[i];
		const struct judged *is = &judged[module.target];
		const bool text = module.form == CACHE_KEY_TEXT && image->scan.library;
		const bool loose = module.form != CACHE_KEY_LINK && module.role == DEVCODE_LOOSE;
		const bool leave = loose && !build->request->everything && image->scan.library &&
						   loose_of[module.target] > JUDGE_LOOSE_LIMIT_BYTES;
		const bool skipped = (module.superseded && !build->request->everything) || test;
		const bool linked =
			module.form == CACHE_KEY_LINK && module.role == DEVCODE_RELOCATABLE && is->links;

		/* Nothing registers code if the CUDA runtime refuses the driver. */
		if (!(module.drivers >> build->driver_bit & 1) ||
			(is->reason == REASON_RUNTIME && module.role != DEVCODE_LOOSE))
			continue;
		/* The CUDA runtime links all of these, even if other files contain them, too. */
		if (linked) {
			struct plan_estimate estimate;

			plan_estimate(&estimate, &module.features, module.payload_bytes, NULL);
			plan->targets[module.target].link_bytes += estimate.cubin_bytes;
		}
		/* Inputs of a link are compiled only if the CUDA runtime links, and only those that it
		 * passes to the linker; a loose file exists to be linked. cuSPARSE links its own inputs
		 * through nvJitLink, which has its own cache. */
		if (module.form == CACHE_KEY_LINK && !build->request->link_inputs && image->scan.library &&
			!linked)
			continue;
		if (file == UINT32_MAX)
			file = add_file(build, image);
		module.file = file;
		module.state = leave || skipped ? PLAN_LEFT_OUT : PLAN_COLD;
		module.on_demand = !module.features.managed && is_on_demand(build, image, loose, loading);
		module.keyed = image->keyed;
		if (build->settled || !may_be_spare) {
			if (add_module(err, build, &module))
				return -1;
		} else {
			if (build_hold(err, build, image->scan.path, image->scan.member, sizeof module))
				return -1;
			VEC_GROW(build->later, build->later_capacity, build->later_count);
			build->later[build->later_count++] =
				(struct build_later){.module = module, .loose = !image->scan.library};
		}
		counts[module.target].left_out += leave && !skipped;
		counts[module.target].texts += text && !leave && !skipped;
		counts[module.target].superseded += skipped;
	}
	for (size_t t = 1; t < plan->target_count; t++) {
		most_left = counts[t].left_out > counts[most_left].left_out ? t : most_left;
		most_texts = counts[t].texts > counts[most_texts].texts ? t : most_texts;
	}
	mention(&build->left_out, image, counts[most_left].left_out, loose_of[most_left]);
	mention(&build->texts, image, counts[most_texts].texts, 0);
	build->superseded += counts[most_texts].texts ? counts[most_texts].superseded : 0;
	if (!test)
		note_image(build, image, judged);
	return 0;
}
