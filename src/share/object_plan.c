#include "share/object_plan.h"

#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/entry.h"
#include "os/file.h"
#include "pack/import.h"
#include "share/plan_tag.h"

enum { MOST_NAMES = 16 << 20, FOLDER_MODE = 0700 };

struct object_plan {
	uv_mutex_t mutex; /* of what follows */
	bool looked, taken;
	bool refused;        /* there is one that is not to be taken */
	uint64_t most_bytes; /* of the pack */
	uint64_t bytes;      /* that came, and no answer has said yet */
	struct set names;
	char *name, *signature_name; /* in the place */
	char *pack, *signature;      /* here */
	char *folder;                /* a cache of what was in it */
};

/* ---- the plan */

static int take_plan_names(struct jw_error *err, struct object_plan *plan, uint64_t *names,
						   size_t count, const char *folder)
{
	char tag[JW_PLAN_TAG];

	if (share_plan_tag(err, names, &count, tag))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (set_add(err, &plan->names, names[i], i))
			return -1;
	plan->name = mem_printf(err, "v1/plan/%s.jwpack", tag);
	plan->signature_name = mem_printf(err, "v1/plan/%s.jwpack.minisig", tag);
	plan->pack = mem_printf(err, "%s/%s.jwpack", folder, tag);
	plan->signature = mem_printf(err, "%s/%s.jwpack.minisig", folder, tag);
	plan->folder = mem_printf(err, "%s/%s", folder, tag);
	return plan->name && plan->signature_name && plan->pack && plan->signature && plan->folder ? 0
																							   : -1;
}

static void plan_free(struct object_plan *plan)
{
	if (!plan)
		return;
	set_free(&plan->names);
	mem_free(plan->name);
	mem_free(plan->signature_name);
	mem_free(plan->pack);
	mem_free(plan->signature);
	mem_free(plan->folder);
	mem_free(plan);
}

int object_plan_open(struct jw_error *err, const struct object_setup *setup,
					 struct object_plan **ret_plan)
{
	struct object_plan *plan = mem_alloc(err, sizeof *plan);
	char *path = os_join(err, setup->folder, OBJECT_PLAN_NAMES);
	struct buf text = {0};
	uint64_t *names = NULL;
	size_t count;
	int result = -1;

	if (!plan || !path || os_read_file(err, path, MOST_NAMES, &text))
		goto done;
	plan->most_bytes = setup->plan_bytes;
	count = text.size / sizeof *names;
	names = mem_array(err, count, sizeof *names);
	if (!names)
		goto done;
	memcpy(names, text.data, count * sizeof *names);
	result = take_plan_names(err, plan, names, count, setup->folder);
	if (!result && uv_mutex_init(&plan->mutex))
		result = error_set(err, JW_ERR_IO, "no lock can be made");
	if (!result)
		*ret_plan = plan;
done:
	if (result)
		plan_free(plan);
	mem_free(path);
	mem_free(names);
	buf_free(&text);
	return result;
}

static bool is_planned(void *context, uint64_t key)
{
	return set_has(&((const struct object_plan *)context)->names, key);
}

/* ---- taking */

/* Checked as any import. */
static int unpack_plan(struct jw_error *err, struct object_plan *plan,
					   const struct object_setup *setup, uint16_t sm)
{
	struct jw_gpu gpu = {.target.sm = sm};
	struct jw_system system = *setup->system;
	const struct jw_import_options how = {.size = sizeof how,
										  .path = plan->pack,
										  .cache_dir = plan->folder,
										  .system = &system,
										  .limit_bytes = UINT64_MAX,
										  .state_dir = setup->options->state_dir,
										  .allow_unsigned = setup->options->allow_unsigned,
										  .context = plan,
										  .wanted = is_planned};
	struct jw_import_result *result = NULL;
	int failed = -1;

	system.gpus = &gpu;
	system.gpu_count = 1;
	if (!import_one(err, &how, system.cache.path, &result)) {
		failed = result->accepted && !result->opaque ? 0 : -1;
		jw_import_result_free(result);
	}
	return failed;
}

/* What is wrong with it, or with the place, is said of the entries that are asked for next. */
static void look_for_plan(struct object_plan *plan, const struct object_thread *thread, uint16_t sm)
{
	const struct object_setup *setup = thread->context->setup;
	struct jw_error why = {0};
	struct os_stat stat;
	int failed = object_place_get(&why, thread->place, plan->name, plan->most_bytes, plan->pack);

	plan->looked = true;
	if (failed) {
		plan->refused = why.code == JW_ERR_FORMAT || why.code == JW_ERR_LIMIT;
		return;
	}
	if (!setup->options->allow_unsigned)
		(void)object_place_get(NULL, thread->place, plan->signature_name, MINISIGN_MOST_FILE,
							   plan->signature);
	if (!os_stat(NULL, plan->pack, &stat))
		plan->bytes = stat.size_bytes;
	*thread->computing = true;
	plan->taken = !unpack_plan(&why, plan, setup, sm);
	*thread->computing = false;
	plan->refused = !plan->taken;
	(void)os_remove(NULL, plan->pack);
	(void)os_remove(NULL, plan->signature);
}

/* An entry of the pack, into a cache of its own, as if it had come alone. */
static bool take_planned(struct object_plan *plan, const struct object_thread *thread,
						 const struct object_job *job, struct object_answer *answer)
{
	char *folder = object_folder(NULL, thread->context->setup->folder, job->key);
	char *from = cache_entry_path(NULL, plan->folder, job->key);
	char *to = folder ? cache_entry_path(NULL, folder, job->key) : NULL;
	const bool taken =
		from && to && !os_make_parent(NULL, to, FOLDER_MODE) && !os_rename(NULL, from, to);

	if (taken) {
		answer->said = OBJECT_HERE;
		answer->bytes = plan->bytes;
		plan->bytes = 0;
	}
	mem_free(folder);
	mem_free(from);
	mem_free(to);
	return taken;
}

/* ---- putting */

/* The signature first, as of an entry. */
static int put_plan_there(struct jw_error *err, struct object_plan *plan,
						  const struct object_thread *thread, const struct object_job *job,
						  struct object_answer *answer)
{
	const struct object_setup *setup = thread->context->setup;
	const char *key = setup->options->sign_key;
	const struct jw_target target = {.sm = job->sm};
	const struct jw_export_options how = {.size = sizeof how,
										  .cache_dir = setup->system->cache.path,
										  .system = setup->system,
										  .targets = &target,
										  .target_count = 1,
										  .output = plan->pack,
										  .state_dir = setup->options->state_dir,
										  .context = plan,
										  .wanted = is_planned};
	struct jw_export_result made = {.size = sizeof made};
	int failed;

	/* It was not there at the beginning. */
	answer->said = OBJECT_MISSING;
	if (plan->taken || (!plan->refused && object_place_has(thread->place, plan->name)))
		return 0;
	*thread->computing = true;
	failed = jw_export(err, &how, &made) ||
			 (key && object_sign(err, thread->context, plan->name, &how, &made, plan->signature));
	*thread->computing = false;
	if (failed ||
		(key && object_place_put(err, thread->place, plan->signature_name, plan->signature)) ||
		object_place_put(err, thread->place, plan->name, plan->pack))
		return -1;
	answer->said = OBJECT_PLACED;
	answer->bytes = made.pack_bytes;
	return 0;
}

bool object_plan_do(struct object_plan *plan, const struct object_thread *thread,
					const struct object_job *job, struct object_answer *ret_answer)
{
	struct object_answer answer = {.id = job->id, .what = job->what};
	struct jw_error why = {0};
	bool done = false;

	if (!plan || job->what == OBJECT_PUT)
		return false;
	uv_mutex_lock(&plan->mutex);
	if (!plan->looked && job->what != OBJECT_PLAN)
		look_for_plan(plan, thread, job->sm);
	if (job->what == OBJECT_PLAN) {
		done = true;
		if (put_plan_there(&why, plan, thread, job, &answer))
			object_say_failure(thread, &why, &answer);
		(void)os_remove(NULL, plan->pack);
		(void)os_remove(NULL, plan->signature);
	} else if (plan->taken) {
		done = take_planned(plan, thread, job, &answer);
	}
	uv_mutex_unlock(&plan->mutex);
	if (done)
		*ret_answer = answer;
	return done;
}
