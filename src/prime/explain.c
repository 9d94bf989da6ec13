#include "prime/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/cache.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/index.h"

static const char *const names[] = {
	[JW_COLD_NOT] = "not",         [JW_COLD_UNKNOWN] = "unknown", [JW_COLD_NEVER] = "never",
	[JW_COLD_DAMAGED] = "damaged", [JW_COLD_DRIVER] = "driver",   [JW_COLD_FILE] = "file",
	[JW_COLD_EVICTED] = "evicted", [JW_COLD_DELETED] = "deleted",
};

const char *jw_cold_reason_name(enum jw_cold_reason reason)
{
	return names[reason];
}

/* The facts about missing entries in the cache's index. */
struct index_view {
	bool small;      /* not all of these modules fit */
	bool crowded;    /* the cache stays nearly full, because a driver evicts only as much as the new
						entry needs */
	bool keeps_none; /* it counts bytes that no entry has, so each insert evicts everything */
};

static int view_index(struct jw_error *err, const struct explain_request *request,
					  struct index_view *ret_view)
{
	const struct plan *plan = request->plan;
	const uint64_t limit = request->limit_bytes;
	struct cache_index index = {0};
	uint64_t wanted = 0;

	if (plan->cache_dir && cache_index_load(err, plan->cache_dir, &index))
		return -1;
	for (size_t i = 0; i < plan->module_count; i++)
		wanted += plan->modules[i].state != PLAN_LEFT_OUT && plan->modules[i].state != PLAN_REFUSED
					  ? plan->modules[i].entry_bytes
					  : 0;
	ret_view->small = limit && wanted > limit;
	ret_view->crowded = limit && (wanted > limit || cache_index_rows_total(&index) > limit / 4 * 3);
	ret_view->keeps_none = cache_index_next(&index, limit) == CACHE_NEXT_EVICTS_ALL;
	cache_index_free(&index);
	return 0;
}

static void explain_absent(const struct explain_request *request, const struct plan_module *module,
						   const struct index_view *view, struct explanation *explanation)
{
	const struct ledger *ledger = request->ledger;
	const struct ledger_item *known = ledger_find(ledger, module);

	explanation->reason = JW_COLD_NEVER;
	explanation->crowded = !known && view->small;
	if (!known)
		return;
	if (known->value == module->key) {
		explanation->reason = JW_COLD_DELETED;
		if (view->keeps_none || view->crowded) {
			explanation->reason = JW_COLD_EVICTED;
			if (view->keeps_none)
				explanation->how = "evicted: the cache's index counts bytes that no entry has";
		}
	} else if (strcmp(ledger->stamps[known->stamp], request->plan->profile.stamp) != 0) {
		explanation->reason = JW_COLD_DRIVER;
		memcpy(explanation->stamp, ledger->stamps[known->stamp], sizeof explanation->stamp);
	} else {
		explanation->reason = JW_COLD_FILE;
	}
}

static void explain_module(const struct explain_request *request, const struct plan_module *module,
						   const struct index_view *view, struct explanation *explanation)
{
	if (module->state != PLAN_COLD)
		return;
	if (!module->key) {
		explanation->reason = JW_COLD_UNKNOWN;
	} else if (module->damage == CACHE_DAMAGE_READ) {
		explanation->reason = JW_COLD_UNKNOWN;
		explanation->how = "this account cannot read the entry";
	} else if (module->damage == CACHE_DAMAGE_OTHER) {
		explanation->reason = JW_COLD_UNKNOWN;
		explanation->how = "the cache has the entry of another module with the same name";
	} else if (module->damage) {
		explanation->reason = JW_COLD_DAMAGED;
		explanation->damage = cache_damage_text(module->damage);
	} else {
		explain_absent(request, module, view, explanation);
	}
}

int explain_plan(struct jw_error *err, const struct explain_request *request,
				 struct explanation **ret_explanations)
{
	const struct plan *plan = request->plan;
	struct explanation *explanations = mem_array(plan->module_count, sizeof *explanations);
	struct index_view view = {0};

	if (view_index(err, request, &view)) {
		mem_free(explanations);
		return -1;
	}
	for (size_t i = 0; i < plan->module_count; i++)
		explain_module(request, &plan->modules[i], &view, &explanations[i]);
	*ret_explanations = explanations;
	return 0;
}

/* Returns "535.309.01", or the build's date if the release is unknown. */
static const char *driver_name(char text[64], const char *stamp)
{
	const char *known = jw_cache_driver_of_stamp(stamp);

	(void)text_format(text, 64, known ? "%s" : "the one built on %.11s", known ? known : stamp);
	return text;
}

static const char *this_driver(char text[64], const struct plan *plan)
{
	const struct jw_driver release = {.release = {plan->profile.driver.release[0],
												  plan->profile.driver.release[1],
												  plan->profile.driver.release[2]}};
	char name[JW_DRIVER_TEXT];

	if (!release.release[0])
		return driver_name(text, plan->profile.stamp);
	(void)snprintf(text, 64, "%s", jw_driver_text(name, &release));
	return text;
}

const char *explain_text(char text[EXPLAIN_TEXT], const struct explain_request *request,
						 const struct explanation *explanation)
{
	char from[64], to[64], bytes[TEXT_SHORT];

	if (explanation->how) {
		text_copy(text, EXPLAIN_TEXT, explanation->how);
		return text;
	}
	switch (explanation->reason) {
	case JW_COLD_NOT: text[0] = '\0'; break;
	case JW_COLD_UNKNOWN:
		(void)text_format(text, EXPLAIN_TEXT, "the names of this driver's entries are not known");
		break;
	case JW_COLD_NEVER:
		(void)text_format(text, EXPLAIN_TEXT, "never primed");
		if (explanation->crowded)
			text_append(text, EXPLAIN_TEXT, ", or evicted (limit %s)",
						text_bytes(bytes, request->limit_bytes));
		break;
	case JW_COLD_DAMAGED:
		(void)text_format(text, EXPLAIN_TEXT, "damaged entry: %s", explanation->damage);
		break;
	case JW_COLD_DRIVER:
		(void)text_format(text, EXPLAIN_TEXT, "the driver has changed from %s to %s",
						  driver_name(from, explanation->stamp), this_driver(to, request->plan));
		break;
	case JW_COLD_FILE:
		(void)text_format(text, EXPLAIN_TEXT, "the file has changed since it was primed");
		break;
	case JW_COLD_EVICTED:
		(void)text_format(text, EXPLAIN_TEXT, "evicted: the cache limit is %s",
						  text_bytes(bytes, request->limit_bytes));
		break;
	case JW_COLD_DELETED:
		(void)text_format(text, EXPLAIN_TEXT, "deleted by a user, a program or another driver");
		break;
	}
	return text;
}

/* Modules that are cold for one cause; the first of them represents all. */
struct group {
	size_t first, modules;
	uint32_t file, target; /* 0 if files and targets are not distinguished */
	const struct explanation *cause;
};

static int by_cause(const void *a, const void *b)
{
	const struct group *left = a, *right = b;
	const struct explanation *l = left->cause, *r = right->cause;
	int order = left->file != right->file       ? (left->file < right->file ? -1 : 1)
				: left->target != right->target ? (left->target < right->target ? -1 : 1)
												: (int)l->reason - (int)r->reason;

	if (!order)
		order = strcmp(l->stamp, r->stamp);
	if (!order)
		order = strcmp(l->how ? l->how : "", r->how ? r->how : "");
	if (!order)
		order = strcmp(l->damage ? l->damage : "", r->damage ? r->damage : "");
	return order;
}

/* Orders by file and target, the most frequent cause first. */
static int by_modules(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	if (left->modules != right->modules)
		return left->modules > right->modules ? -1 : 1;
	return (left->first > right->first) - (left->first < right->first);
}

/* Groups the cold modules; with `each_file`, separately for each file and target. The caller frees
 * the groups. */
static void group_modules(const struct explain_request *request,
						  const struct explanation *explanations, bool each_file,
						  struct group **ret_groups, size_t *ret_count)
{
	const struct plan *plan = request->plan;
	struct group *groups = mem_array(plan->module_count, sizeof *groups);
	size_t cold = 0, count = 0;

	for (size_t i = 0; i < plan->module_count; i++)
		if (explanations[i].reason != JW_COLD_NOT)
			groups[cold++] =
				(struct group){i, 1, each_file ? plan->modules[i].file : 0,
							   each_file ? plan->modules[i].target : 0, &explanations[i]};
	if (cold)
		qsort(groups, cold, sizeof *groups, by_cause);
	for (size_t i = 0; i < cold; i++) {
		if (!count || by_cause(&groups[count - 1], &groups[i])) {
			groups[count++] = groups[i];
			continue;
		}
		groups[count - 1].modules++;
		if (groups[i].first < groups[count - 1].first)
			groups[count - 1].first = groups[i].first;
	}
	if (count)
		qsort(groups, count, sizeof *groups, by_modules);
	*ret_groups = groups;
	*ret_count = count;
}

void explain_line(char line[EXPLAIN_LINE], const struct explain_request *request,
				  const struct explanation *explanations)
{
	enum { MAX_REASONS = 6 };
	struct group *groups;
	size_t count;
	char text[EXPLAIN_TEXT];

	line[0] = '\0';
	group_modules(request, explanations, false, &groups, &count);
	for (size_t i = 0; i < count && i < MAX_REASONS; i++)
		text_append(line, EXPLAIN_LINE, "%s%s: %s", i ? "; " : "",
					TEXT_COUNT(groups[i].modules, "module", "modules"),
					explain_text(text, request, groups[i].cause));
	mem_free(groups);
}

void explain_causes(const struct explain_request *request, const struct explanation *explanations,
					struct jw_check_result *result)
{
	const struct plan *plan = request->plan;
	struct group *groups;
	char text[EXPLAIN_TEXT];

	group_modules(request, explanations, true, &groups, &result->cause_count);
	result->causes = arena_array(result, result->cause_count, sizeof *result->causes);
	for (size_t i = 0; i < result->cause_count; i++) {
		const struct plan_file *file = &plan->files[groups[i].file];

		result->causes[i] = (struct jw_check_cause){
			.target = plan->targets[groups[i].target].device,
			.reason = groups[i].cause->reason,
			.modules = groups[i].modules,
			.path = arena_string(result, file->path),
			.member = arena_string(result, file->member),
			.text = arena_string(result, explain_text(text, request, groups[i].cause)),
		};
	}
	mem_free(groups);
}
