/* jitwarm cache prune: removes entries that programs no longer look for. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/prune.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/cache_commands.h"
#include "cli/parts/gpu_targets.h"
#include "os/interrupt.h"

enum { MOST_DRIVERS = 64, MOST_SHOWN = 20, GROUP_TEXT = 96 };

static const char *const reasons[] = {"damaged", "by --driver", "by --arch", "by --older-than",
									  "by --to"};

static void add_up(struct cache_prune_document *document)
{
	for (size_t i = 0; i < JW_PRUNE_REASONS; i++) {
		document->chosen_entries += document->result.chosen[i];
		document->chosen_bytes += document->result.chosen_bytes[i];
	}
}

/* "sm_86, driver 535.309.01" */
static const char *group_text(char text[GROUP_TEXT], const struct jw_prune_group *group)
{
	char arch[JW_TARGET_TEXT] = "unknown GPU", driver[CACHE_DRIVER_TEXT];

	if (group->target.sm)
		(void)jw_target_sm(arch, group->target);
	(void)snprintf(text, GROUP_TEXT, "%s, driver %s", arch,
				   cache_command_driver_text(driver, group->driver));
	return text;
}

static void print_pruned_groups(const struct output *out, const struct jw_prune_result *result)
{
	char size[TEXT_SHORT], what[GROUP_TEXT];
	size_t shown = result->group_count < MOST_SHOWN ? result->group_count : MOST_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		const struct jw_prune_group *group = &result->groups[i];
		bool damaged = group->reason == JW_PRUNE_DAMAGED;

		output_line(out, STYLE_PLAIN, "  %6zu  %8s  %s%s%s", group->entries,
					text_bytes(size, group->bytes), reasons[group->reason], damaged ? "" : ": ",
					damaged ? "" : group_text(what, group));
	}
	if (shown < result->group_count)
		output_line(out, STYLE_PLAIN, "  and %zu more kinds (--json lists them)",
					result->group_count - shown);
}

static void print_unknown(const struct output *out, const struct jw_prune_result *result)
{
	char what[GROUP_TEXT];

	for (size_t i = 0; i < result->unknown_count && i < MOST_SHOWN; i++)
		output_line(
			out, STYLE_FAINT,
			"  %s of an unknown driver stay, since a compiler library may still use them: %s",
			TEXT_COUNT(result->unknown[i].entries, "entry", "entries"),
			group_text(what, &result->unknown[i]));
}

static void print_prune_result(const struct output *out,
							   const struct cache_prune_document *document,
							   const struct jw_prune_options *options)
{
	const struct jw_prune_result *result = &document->result;
	const uint64_t left_bytes = result->bytes - document->chosen_bytes;
	char size[TEXT_SHORT], all[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s: %s, %s", result->path,
				TEXT_COUNT(result->entries, "entry", "entries"), text_bytes(all, result->bytes));
	print_pruned_groups(out, result);
	if (!document->chosen_entries)
		output_line(out, STYLE_GOOD, "  nothing to prune");
	else if (options->apply)
		output_line(out, STYLE_GOOD, "  %s removed, %s%s%s",
					TEXT_COUNT(result->removed, "entry", "entries"),
					text_bytes(size, result->removed_bytes), result->kept ? "; kept in " : "",
					result->kept ? options->keep : "");
	else
		output_line(out, STYLE_PLAIN,
					"  %s would be removed, %s. Nothing was removed: add --apply.",
					TEXT_COUNT(document->chosen_entries, "entry", "entries"),
					text_bytes(size, document->chosen_bytes));
	if (result->not_kept)
		output_line(out, STYLE_WARN, "  %s not removed: a pack cannot hold such entries",
					TEXT_COUNT(result->not_kept, "entry", "entries"));
	if (result->changed)
		output_line(out, STYLE_WARN, "  %s not removed: rewritten meanwhile",
					TEXT_COUNT(result->changed, "entry", "entries"));
	if (result->not_judged)
		output_line(out, STYLE_WARN,
					"  %s not removed: unreadable, or of a version that is not known",
					TEXT_COUNT(result->not_judged, "damaged entry", "damaged entries"));
	print_unknown(out, result);
	if (options->to_size_given && left_bytes > options->to_size_bytes)
		output_line(out, STYLE_WARN,
					"  %s left, more than --to: the drivers of these entries are unknown",
					text_bytes(size, left_bytes));
}

static int read_given_drivers(struct jw_error *err, const struct options *given,
							  const char *drivers[MOST_DRIVERS], struct jw_prune_options *options)
{
	for (size_t i = 0; i < options_count(given, "driver"); i++) {
		const char *text = options_item(given, "driver", i);

		if (!strcmp(text, "former"))
			options->former_drivers = true;
		else if (options->driver_count == MOST_DRIVERS)
			return error_set(err, JW_ERR_USAGE, "--driver: at most %d", MOST_DRIVERS);
		else
			drivers[options->driver_count++] = text;
	}
	return 0;
}

/* “30” would mean half a minute and is refused. */
static int read_age(struct jw_error *err, const struct options *given, uint64_t *ret_s)
{
	const char *text = options_value(given, "older-than");

	*ret_s = options_number(given, "older-than", 0) / 1000;
	if (text && text[strspn(text, "0123456789")] == '\0')
		return error_set(err, JW_ERR_USAGE,
						 "--older-than %.20s: the unit is missing; for days say %.20sd", text,
						 text);
	return 0;
}

static int read_prune_options(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus,
							  const char *drivers[MOST_DRIVERS], struct jw_prune_options *options)
{
	const struct options *given = &cli->options;

	if (gpu_targets_arch(err, cli, gpus, &options->other_targets) ||
		read_given_drivers(err, given, drivers, options) || read_age(err, given, &options->older_s))
		return -1;
	options->target_count = gpus->count;
	options->damaged = options_given(given, "damaged");
	options->to_size_given = options_given(given, "to");
	options->to_size_bytes = options_number(given, "to", 0);
	if (!options->damaged && !options->to_size_given && !options->older_s &&
		!options_given(given, "arch") && !options_given(given, "driver"))
		return error_set(err, JW_ERR_USAGE,
						 "nothing to select entries by: give --driver former, --arch other, "
						 "--damaged, --older-than or --to");
	return 0;
}

static int prune_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	struct jw_system_options how = {.size = sizeof how, .cache_dir = options_value(given, "cache")};
	struct gpu_targets gpus = {0};
	const char *drivers[MOST_DRIVERS];
	struct jw_prune_options options = {
		.size = sizeof options,
		.cache_dir = how.cache_dir,
		.targets = gpus.targets,
		.drivers = drivers,
		.keep = options_value(given, "keep"),
		.apply = options_given(given, "apply"),
		.cancel = cli_cancel,
	};
	struct cache_prune_document document = {.applied = options.apply};
	struct jw_prune_result *result;
	int failed;

	os_catch_interrupts();
	if (read_prune_options(err, cli, &gpus, drivers, &options) || cli_worker(err, cli, &how.worker))
		return -1;
	/* Only the driver knows the GPUs of this machine. */
	how.asleep = !options.other_targets;
	if (jw_system_open(err, &how, &cli->system))
		return -1;
	options.system = cli->system;
	if (jw_prune(err, &options, &result))
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	document.result = *result;
	add_up(&document);
	print_prune_result(&cli->out, &document, &options);
	if (result->not_kept || result->changed || result->not_judged ||
		(document.chosen_entries && !options.apply))
		cli->status = EXIT_COLD;
	failed = document_print(err, &cli->out, &document_cache_prune, &document);
	jw_prune_result_free(result);
	return failed;
}

static const struct cli_option prune_options[] = {
	CLI_LIST("driver", "former|VERSION|STAMP",
			 "Entries of former drivers (former), of this version (535.309.01), or with this stamp "
			 "(“Mar 25 202615:25:13”); may be repeated"),
	CLI_LIST(
		"arch", "other|GPU",
		"Entries for GPUs that are not here (other), or for this one (sm_70); may be repeated"),
	CLI_FLAG("damaged", "Damaged entries, which drivers refuse"),
	CLI_DURATION("older-than", "AGE",
				 "Entries written longer ago (30d); with the options above, only of those"),
	CLI_SIZE("to", "SIZE",
			 "Then the oldest entries, in the driver's order of eviction, down to this size"),
	CLI_VALUE(
		"keep", "FILE",
		"With --apply: write them into this new pack first; entries that no pack can hold stay",
		.names = NAMES_OUTPUT),
	CLI_FLAG("apply", "Remove them; without it they are only listed"),
	CLI_CACHE,
	{0}};

const struct cli_command command_cache_prune = {
	.name = "cache prune",
	.summary = "Remove entries that programs no longer use",
	.usage = "OPTION… [--keep FILE] [--apply]",
	.description =
		"Reports, and with --apply removes, useless entries of the driver's JIT cache: of former "
		"drivers, for other GPUs, damaged or old ones. It works beside running programs, under the "
		"driver's own lock.\n\nFormer drivers are those that jitwarm knows or has seen here and "
		"whose library is gone; not one that only “prime --target” has worked for in this cache. "
		"An entry with an unknown stamp may belong to a compiler library in use (nvJitLink): it is "
		"removed only where --driver names its stamp. Entries of no known "
		"form and foreign files are left alone.\n\nExit status: 0 where nothing is left to prune, "
		"1 where --apply would remove something or could not, 2 where this machine's driver or "
		"GPUs are unknown, 3 on failure.",
	.options = prune_options,
	.no_operands = "a directory is named with --cache DIR",
	.run = prune_run,
};
