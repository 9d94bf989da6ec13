#include "cli/parts/carry_over.h"

#include "base/text.h"
#include "cli/parts/documents.h"
#include "cli/parts/store_steps.h"
#include "cli/progress.h"

struct carrying {
	struct cli *cli;
	struct progress progress;
	bool bar;
};

int carry_over_check(struct jw_error *err, const struct options *options)
{
	if (options_given(options, "carry-over") && options_given(options, "recompile-carried"))
		return error_set(err, JW_ERR_USAGE,
						 "--carry-over takes what older drivers have compiled, and "
						 "--recompile-carried replaces it: one at a time");
	return 0;
}

static void on_progress(void *context, size_t done, size_t total)
{
	struct carrying *carrying = context;

	if (!carrying->bar)
		progress_start(&carrying->progress, &carrying->cli->out, total, 0, "carrying over");
	carrying->bar = true;
	progress_update(&carrying->progress, done, 0, 0);
}

static void print_groups(const struct output *out, const struct jw_carry_result *result,
						 bool dry_run)
{
	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_carry_group *group = &result->groups[i];
		const char *modules = TEXT_COUNT(group->modules, "module", "modules");

		if (group->refused)
			output_line(out, STYLE_PLAIN,
						"%s for %s that driver %s has compiled cannot be carried over: "
						"%s.",
						modules, group->target, group->driver, group->why);
		else
			output_line(out, STYLE_GOOD, "%s for %s %s carried over from driver %s%s%s.", modules,
						group->target,
						dry_run               ? "would be"
						: group->modules == 1 ? "was"
											  : "were",
						group->driver, group->in_store ? ", out of the store" : "",
						group->older ? "" : ", whose compiler is this driver's");
	}
}

static void print_result(const struct output *out, const struct jw_carry_result *result,
						 bool dry_run)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	print_groups(out, result, dry_run);
	if (result->carried && !dry_run)
		output_line(out, STYLE_PLAIN, "That took %s; the cache grew by %s.",
					text_duration(time, result->seconds), text_bytes(bytes, result->bytes));
	if (result->evicted)
		output_warning(out, "%zu of the oldest entries had to make room for them", result->evicted);
	if (*result->note)
		output_warning(out, "%s", result->note);
}

void carry_over_run(struct cli *cli, const struct jw_system *system,
					const struct jw_prime_missing *missing, struct jw_carry_result **ret_result)
{
	struct carrying carrying = {.cli = cli};
	const bool dry_run = options_given(&cli->options, "dry-run");
	const struct jw_carry_options options = {
		.system = system,
		.keys = missing->keys,
		.key_bytes = missing->key_bytes,
		.count = missing->count,
		.kept = missing->warm,
		.kept_count = missing->warm_count,
		.carry_over = options_given(&cli->options, "carry-over"),
		.store = store_step_is_used(cli, system),
		.dry_run = dry_run,
		.most_bytes = options_number(&cli->options, "budget-size", 0),
		.context = &carrying,
		.progress = on_progress,
		.cancel = cli_cancel,
	};
	struct jw_carry_result *result = NULL;
	struct jw_error err = {0};
	int failed = jw_carry(&err, &options, &result);

	if (carrying.bar)
		progress_finish(&carrying.progress);
	if (failed) {
		output_warning(&cli->out, "nothing is carried over: %s", err.message);
		return;
	}
	print_result(&cli->out, result, dry_run);
	*ret_result = result;
}

static bool add_group(cJSON *array, const struct jw_carry_group *group)
{
	cJSON *object = cJSON_CreateObject();

	return cJSON_AddItemToArray(array, object) &&
		   cJSON_AddStringToObject(object, "driver", group->driver) &&
		   cJSON_AddStringToObject(object, "target", group->target) &&
		   cJSON_AddBoolToObject(object, "refused", group->refused) &&
		   cJSON_AddBoolToObject(object, "older", group->older) &&
		   cJSON_AddStringToObject(object, "from", group->in_store ? "store" : "cache") &&
		   cJSON_AddNumberToObject(object, "modules", (double)group->modules) &&
		   (!*group->why || document_add_text(object, "why", group->why));
}

void carry_over_document(cJSON *document, const struct jw_carry_result *result)
{
	cJSON *object, *groups;

	if (!result || !result->group_count)
		return;
	object = cJSON_AddObjectToObject(document, "carried_over");
	document_add_count(object, "modules", result->carried);
	document_add_count(object, "older", result->older);
	document_add_count(object, "refused", result->refused);
	document_add_count(object, "added_bytes", result->bytes);
	document_add_count(object, "evicted", result->evicted);
	(void)cJSON_AddNumberToObject(object, "seconds", result->seconds);
	groups = cJSON_AddArrayToObject(object, "groups");
	for (size_t i = 0; groups && i < result->group_count; i++)
		if (!add_group(groups, &result->groups[i]))
			return;
}
