#include "plan/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/version.h>

#include "base/arena.h"
#include "cache/sound.h"
#include "cache/verified.h"
#include "code/walk.h"
#include "plan/build.h"
#include "plan/inventory.h"

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	fates_free(&plan->fates);
	jw_result_free(plan);
}

/* The state while the files of a plan are read. */
struct plan_reading {
	struct build build;
	struct inventory *inventory; /* NULL: no inventory is kept */
};

static int plan_image(struct jw_error *err, void *context, const struct analyse_image *image)
{
	struct plan_reading *reading = context;

	return build_add_image(err, &reading->build, image);
}

static void note_unreadable(void *context, const char *path, const char *member,
							const struct jw_error *why)
{
	struct plan_reading *reading = context;

	(void)path;
	(void)member;
	plan_note(reading->build.plan, true, "%s", error_text(why));
}

static int read_found_file(struct jw_error *err, struct plan_reading *reading,
						   const struct jw_found_file *file)
{
	const struct plan_request *request = reading->build.request;
	const struct analyse_sink sink = {.context = reading,
									  .image = plan_image,
									  .trouble = note_unreadable,
									  .cancel = request->cancel};
	const struct analyse_question question = {
		.targets = request->targets,
		.target_count = request->target_count,
		.driver = request->profile->driver,
		.profile = request->profile,
		.platform = jw_platform(),
	};

	if (cancel_check_reading(err, &request->cancel))
		return -1;
	return inventory_analyse(err, reading->inventory, file, &question, &sink);
}

/* Orders by cost, the most expensive first; then by key and place, so that two runs give the same
 * order. */
static int by_cost(const void *a, const void *b)
{
	const struct plan_module *left = a, *right = b;

	if (left->cost_ms < right->cost_ms || left->cost_ms > right->cost_ms)
		return left->cost_ms < right->cost_ms ? 1 : -1;
	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->entry_offset > right->entry_offset) - (left->entry_offset < right->entry_offset);
}

/* Looks for a module's entry: by the name alone if cache_verified_judge follows, which compares its
 * identity, too. */
static void probe_module(const struct plan *plan, struct plan_module *module, bool judged_later,
						 struct cache_probed *ret_probed)
{
	if (module->state != PLAN_COLD || !module->key || !plan->cache_dir)
		return;
	switch (cache_presence(plan->cache_dir, module->key, judged_later ? NULL : &module->identity,
						   ret_probed)) {
	case CACHE_ABSENT: return;
	case CACHE_UNUSABLE: module->damage = ret_probed->damage; return;
	case CACHE_PRESENT: break;
	}
	module->state = PLAN_WARM;
	module->damage = CACHE_SOUND;
	module->entry_bytes = ret_probed->key_bytes + ret_probed->value_bytes;
}

static struct sound_driver driver_of_plan(const struct plan *plan)
{
	return (struct sound_driver){plan->profile.stamp, plan->profile.driver.cuda};
}

/* Looks for each module's entry again: a program may have written it meanwhile. */
void plan_probe_again(struct plan *plan)
{
	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		struct cache_probed probed;

		if (!module->damage ||
			cache_sound(plan->cache_dir, driver_of_plan(plan), module->key) == CACHE_SOUND)
			probe_module(plan, module, /* judged_later= */ false, &probed);
	}
}

void plan_refuse(struct plan *plan, struct plan_module *module, unsigned result)
{
	const struct plan_file *file = &plan->files[module->file];

	if (!result || module->state != PLAN_COLD)
		return;
	module->state = PLAN_REFUSED;
	fates_add_refused(&plan->fates, file->path, file->member, module->target, result);
}

bool plan_is_compiled(const char *cache_dir, const struct plan_module *module)
{
	return module->key &&
		   cache_presence(cache_dir, module->key, &module->identity, NULL) == CACHE_PRESENT;
}

void plan_note(struct plan *plan, bool trouble, const char *format, ...)
{
	enum { MAX_NOTES = 1 << 16 };
	const size_t at = plan->note_count - plan->assumptions;
	va_list arguments;

	/* A trouble counts even if its note cannot be kept: a tree full of unreadable files must not
	 * fill the memory with notes. */
	plan->troubles += trouble;
	if (ARENA_ROOM(NULL, plan, plan->notes, plan->note_capacity, plan->note_count, MAX_NOTES))
		return;
	memmove(plan->notes + at + 1, plan->notes + at, plan->assumptions * sizeof *plan->notes);
	va_start(arguments, format);
	plan->notes[at] = arena_keep(plan, mem_vprintf(format, arguments));
	va_end(arguments);
	plan->note_count++;
}

/* Estimates the modules, and looks up each in the cache: entries with sound headers are warm if the
 * rest is sound, too. */
static int probe_modules(struct jw_error *err, struct plan *plan,
						 const struct plan_request *request)
{
	struct cache_candidate *candidates = mem_array(plan->module_count, sizeof *candidates);
	size_t count = 0;
	int result = 0;

	build_estimate(plan);
	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		struct cache_candidate candidate = {.key = module->key, .identity = &module->identity};

		probe_module(plan, module, /* judged_later= */ true, &candidate.probed);
		if (module->state == PLAN_WARM)
			candidates[count++] = candidate;
	}
	if (count)
		result = cache_verified_judge(err, request->state_dir, plan->cache_dir,
									  driver_of_plan(plan), &request->cancel, candidates, count);
	for (size_t i = plan->module_count; !result && i-- > 0;) {
		struct plan_module *module = &plan->modules[i];

		if (module->state != PLAN_WARM)
			continue;
		module->damage = candidates[--count].damage;
		if (module->damage)
			module->state = PLAN_COLD;
	}
	mem_free(candidates);
	if (plan->module_count)
		qsort(plan->modules, plan->module_count, sizeof *plan->modules, by_cost);
	return result;
}

int plan_build(struct jw_error *err, const struct plan_request *request, struct plan **ret_plan)
{
	struct plan_reading reading = {0};
	int result = build_begin(err, &reading.build, request);

	if (!result) {
		reading.build.setting = loading_setting_here();
		if (request->state_dir)
			reading.inventory = inventory_open(request->state_dir);
		for (size_t i = 0; i < request->found->note_count; i++)
			plan_note(reading.build.plan, false, "%s", request->found->notes[i].text);
		/* The number of notes is limited, that of troubles is not. */
		reading.build.plan->troubles += request->found->trouble_count;
	}
	for (size_t i = 0; !result && i < request->found->file_count; i++) {
		const size_t images = reading.build.plan->images;

		reading.build.found = (uint32_t)i;
		reading.build.from = &request->found->files[i];
		result = read_found_file(err, &reading, &request->found->files[i]);
		reading.build.plan->has_code[i] = reading.build.plan->images != images;
	}
	if (!result)
		result = build_settle(err, &reading.build);
	if (!result) {
		build_note_parts(&reading.build);
		build_note_assumptions(&reading.build);
	}
	if (!result && (request->of_stamp || request->next_key))
		result = build_add_cached(err, &reading.build);
	/* Files that were read are remembered, even if others failed. */
	if (reading.inventory)
		(void)inventory_save(NULL, reading.inventory);
	inventory_close(reading.inventory);
	build_end(&reading.build);
	if (result || probe_modules(err, reading.build.plan, request)) {
		plan_free(reading.build.plan);
		return -1;
	}
	*ret_plan = reading.build.plan;
	return 0;
}
