/* Groups explanations for a report. */
#include "prime/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { MOST_CAUSES = 1 << 20 };

/* Modules of one cause; the first of them represents all. */
struct group {
	size_t first, modules;
	uint32_t file, target;
};

struct groups {
	struct group *items;
	size_t count, capacity;
	struct set by_hash;
};

static uint64_t hash_of_planned(const struct plan_module *module,
								const struct explanation *explanation)
{
	uint64_t state = fnv_update(FNV_START, &module->file, sizeof module->file);

	state = fnv_update(state, &module->target, sizeof module->target);
	state = fnv_update(state, &explanation->reason, sizeof explanation->reason);
	state = fnv_update(state, explanation->stamp, strlen(explanation->stamp) + 1);
	return fnv_update(state, explanation->options, strlen(explanation->options) + 1);
}

static int add_cold_module(struct jw_error *err, const struct explain_request *request,
						   const struct explanation *explanations, size_t at, struct groups *groups)
{
	const struct plan_module *module = &request->plan->modules[at];
	const uint64_t hash = hash_of_planned(module, &explanations[at]);
	size_t cursor = 0, found;

	while (groups->items && (found = set_find(&groups->by_hash, hash, &cursor)) != SET_NONE) {
		struct group *group = &groups->items[found];

		if (group->file == module->file && group->target == module->target &&
			explain_same(&explanations[group->first], &explanations[at])) {
			group->modules++;
			return 0;
		}
	}
	if (VEC_ROOM(err, groups->items, groups->capacity, groups->count, MOST_CAUSES) ||
		set_add(err, &groups->by_hash, hash, groups->count))
		return -1;
	groups->items[groups->count++] = (struct group){at, 1, module->file, module->target};
	return 0;
}

static int by_file(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	return (left->first > right->first) - (left->first < right->first);
}

static int fill_cause(struct jw_error *err, const struct explain_request *request,
					  const struct explanation *explanations, const struct group *group,
					  struct jw_check_cause *cause)
{
	const struct plan_file *file = &request->plan->files[group->file];
	char text[EXPLAIN_TEXT];

	cause->target = request->plan->targets[group->target].device;
	cause->reason = explanations[group->first].reason;
	cause->modules = group->modules;
	cause->path = mem_string(err, file->path);
	cause->member = file->member ? mem_string(err, file->member) : NULL;
	cause->text = mem_string(err, explain_text(text, request, &explanations[group->first]));
	return cause->path && cause->text && (!file->member || cause->member) ? 0 : -1;
}

void explain_causes_free(struct jw_check_cause *causes, size_t count)
{
	for (size_t i = 0; causes && i < count; i++) {
		mem_free(causes[i].path);
		mem_free(causes[i].member);
		mem_free(causes[i].text);
	}
	mem_free(causes);
}

int explain_causes(struct jw_error *err, const struct explain_request *request,
				   const struct explanation *explanations, struct jw_check_cause **ret_causes,
				   size_t *ret_count)
{
	struct groups groups = {0};
	struct jw_check_cause *causes = NULL;
	int result = -1;

	for (size_t i = 0; i < request->plan->module_count; i++)
		if (explanations[i].reason != JW_COLD_NOT &&
			add_cold_module(err, request, explanations, i, &groups))
			goto done;
	causes = mem_array(err, groups.count, sizeof *causes);
	if (!causes)
		goto done;
	if (groups.count)
		qsort(groups.items, groups.count, sizeof *groups.items, by_file);
	for (size_t i = 0; i < groups.count; i++)
		if (fill_cause(err, request, explanations, &groups.items[i], &causes[i]))
			goto done;
	*ret_causes = causes;
	*ret_count = groups.count;
	causes = NULL;
	result = 0;
done:
	explain_causes_free(causes, groups.count);
	mem_free(groups.items);
	set_free(&groups.by_hash);
	return result;
}
