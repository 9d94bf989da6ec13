#include "cli/pack_report.h"

#include <jitwarm/key.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/next_step.h"
#include "os/file.h"

#define EXPORT(member, ...) JSON(struct export_document, result.member, __VA_ARGS__)

static const struct json_field export_fields[] = {
	JSON(struct export_document, file, "the path of the pack"),
	EXPORT(targets, "the GPUs of its entries: `sm_70 sm_86`"),
	EXPORT(drivers, "the drivers of its entries: `550.163.01`"),
	EXPORT(blake2b_512, "the BLAKE2b-512 checksum of the file, as `b2sum` prints it"),
	EXPORT(signed_by, "the id of the key that has signed the pack; absent without a signature",
		   .presence = JSON_IF_SET),
	EXPORT(public_key, "the argument of `key trust` on receiving machines",
		   JSON_IF(struct export_document, result.signed_by)),
	EXPORT(entries, "entries in the pack"),
	EXPORT(modules, "the distinct PTX modules that they were compiled from"),
	EXPORT(cubins, "the distinct cubins"),
	EXPORT(entry_bytes, "the size of the entries' files in the cache"),
	EXPORT(content_bytes, "the size of the distinct modules and cubins, unpacked"),
	EXPORT(pack_bytes, "the size of the pack's file"),
	EXPORT(other_drivers, "entries that were left out because they belong to other drivers"),
	EXPORT(other_targets, "entries that were left out because `--arch` does not name their GPU"),
	EXPORT(not_cuda, "entries that were left out because they are OpenCL's or of an unknown form"),
	EXPORT(unsuited, "entries that were left out because a pack cannot hold their kind"),
	EXPORT(damaged, "entries that were left out because they are damaged"),
	EXPORT(unreadable, "entries that were left out because their files cannot be read"),
	EXPORT(seconds, "the wall time of the command"),
	{0},
};
const struct json_table document_export_members = {.fields = export_fields};
const struct json_table document_export = {.schema = "jitwarm.export/1", .fields = export_fields};

#define IMPORT(member, ...) JSON(struct jw_import_result, member, __VA_ARGS__)

static const char *const verdict_values[] = {
	[JW_IMPORT_NEW] = "accepted",
	[JW_IMPORT_THERE] = "there",
	[JW_IMPORT_REFUSED] = "refused",
	[JW_IMPORT_REFUSED + 1] = NULL,
};

static const struct json_field group_fields[] = {
	JSON(struct jw_import_group, verdict,
		 "the outcome for the group's entries: `accepted`, `there` (already in the cache) or "
		 "`refused`",
		 .names = verdict_values),
	JSON(struct jw_import_group, target, "the GPU architecture: `sm_86`"),
	JSON(struct jw_import_group, driver,
		 "the driver that compiled the entries: `550.163.01 (CUDA 12.4)`"),
	JSON(struct jw_import_group, carried,
		 "entries that another driver of the same CUDA version has made; they were added for this "
		 "driver"),
	JSON(struct jw_import_group, entries, "the number of entries in the group"),
	JSON(struct jw_import_group, why, "for refused entries: each field that does not fit",
		 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field import_fields[] = {
	IMPORT(path, "the cache directory"),
	IMPORT(signed_by,
		   "the name of the trusted key that has signed the pack; absent without a signature",
		   .presence = JSON_IF_SET),
	IMPORT(dry_run, "nothing was written"),
	IMPORT(entries, "entries in the pack: `accepted` + `there` + `refused`"),
	IMPORT(accepted, "entries that the cache did not have before"),
	IMPORT(there, "entries that the cache had already"),
	IMPORT(refused, "entries that were refused because they are not for this machine"),
	IMPORT(added, "new entries that were written"),
	IMPORT(replaced, "entries that replaced others of the same name"),
	IMPORT(
		evicted,
		"with `dry_run`: old entries that would have to be evicted, so that nothing is imported"),
	IMPORT(evicted_bytes, "the size of the entries that are evicted"),
	IMPORT(added_bytes, "by how many bytes the cache grew"),
	IMPORT(content_bytes, "the size of the modules and cubins, unpacked"),
	IMPORT(pack_bytes, "the size of the pack's file"),
	IMPORT(seconds, "the wall time of the command"),
	JSON_LIST_OF("groups", struct jw_import_result, groups, group_count,
				 JSON_TABLE(struct jw_import_group, group_fields),
				 "entries by verdict, GPU, driver and reason",
				 JSON_EACH_IF(struct jw_import_group, entries)),
	{0},
};
const struct json_table document_import = {.schema = "jitwarm.import/1", .fields = import_fields};

int pack_report_key(struct jw_error *err, const struct cli *cli, struct jw_export_options *options)
{
	const struct options *given = &cli->options;

	options->state_dir = cli->system->state_dir;
	if (!options_given(given, "sign"))
		return options_has(given, "key") && options_typed(given, "key")
				   ? error_set(err, JW_ERR_USAGE, "--key needs --sign, too")
				   : 0;
	options->sign_key = options_value(given, "key");
	if (!options->sign_key)
		options->sign_key = PACKING_DEFAULT_KEY;
	if (!jw_key_check(err, options->state_dir, options->sign_key))
		return 0;
	if (err->code == JW_ERR_NOT_FOUND)
		err->code = JW_ERR_USAGE;
	return -1;
}

static void print_left_out(const struct output *out, const struct jw_export_result *result)
{
	const struct {
		size_t count;
		const char *what;
	} lines[] = {
		{result->other_drivers,
		 "of drivers other than this machine's driver (--all includes these entries)"},
		{result->other_targets, "for other GPUs"},
		{result->not_cuda, "of OpenCL or of an unknown form"},
		{result->unsuited, "whose machine code or options another machine could not check"},
		{result->damaged, "damaged (“jitwarm cache verify” lists these entries)"},
		{result->unreadable,
		 "that this account cannot read (“jitwarm cache verify” lists these entries)"},
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].count)
			output_line(out, STYLE_FAINT, "  left out: %s %s",
						TEXT_COUNT(lines[i].count, "entry", "entries"), lines[i].what);
}

/* Prints who signed a new pack, and the command with which receivers accept it. */
static void print_signature(const struct output *out, const char *signed_by, const char *public_key)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "jitwarm key trust");
	shell_add_word(&line, public_key);
	output_line(out, STYLE_PLAIN, "  signed with the key %s; each receiver runs once:", signed_by);
	next_step(out, STYLE_PLAIN, "  ", &line);
}

void pack_report_print(const struct output *out, const char *file,
					   const struct jw_export_result *result)
{
	char pack[TEXT_SHORT], all[TEXT_SHORT], time[TEXT_SHORT];
	char *beside = mem_printf("%s.minisig", file);
	struct buf import = BUF_MAX(NEXT_STEP_MAX);
	bool is_signed;

	output_line(out, STYLE_GOOD, "%s: %s (%s) in %s, %.1f times smaller, %s", file,
				TEXT_COUNT(result->entries, "entry", "entries"),
				text_bytes(all, result->entry_bytes), text_bytes(pack, result->pack_bytes),
				(double)result->entry_bytes / (double)result->pack_bytes,
				text_duration(time, result->seconds));
	output_line(out, STYLE_PLAIN, "  for %s, by driver %s",
				*result->targets ? result->targets : "any GPU", result->drivers);
	if (*result->signed_by)
		print_signature(out, result->signed_by, result->public_key);
	/* The signature of the same bytes stays. */
	is_signed = *result->signed_by || os_exists(beside);
	if (*result->signed_by)
		output_line(out, STYLE_PLAIN, "  copy both files: %s and %s", file, beside);
	else if (!is_signed)
		output_line(out, STYLE_PLAIN,
					"  not signed: receivers need --allow-unsigned; --sign signs");
	print_left_out(out, result);
	buf_add(&import, "jitwarm import%s%s", is_signed ? "" : " --allow-unsigned",
			file[0] == '-' ? " --" : "");
	shell_add_word(&import, file);
	next_step(out, STYLE_PLAIN, "Next, on the other machine: ", &import);
	mem_free(beside);
}

static const char *const verdict_names[] = {"accepted", "already there", "refused"};

static void print_pack_groups(const struct output *out, const struct jw_import_result *result)
{
	static const enum style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_WARN};

	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_import_group *group = &result->groups[i];

		if (!group->entries)
			continue;
		output_line(out, styles[group->verdict], "  %-13s  %s for %s by driver %s%s%s%s",
					verdict_names[group->verdict], TEXT_COUNT(group->entries, "entry", "entries"),
					*group->target ? group->target : "other GPUs",
					*group->driver ? group->driver : "of several versions",
					group->carried ? ", carried over to this machine's driver" : "",
					*group->why ? ": " : "", group->why);
	}
}

void pack_report_import(const struct output *out, const struct jw_import_result *result)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s", result->path);
	if (*result->signed_by)
		output_line(out, STYLE_PLAIN, "  signed by “%s”", result->signed_by);
	print_pack_groups(out, result);
	if (result->dry_run && result->accepted)
		output_line(out, STYLE_GOOD, "%s would be added (--dry-run: nothing was written)",
					TEXT_COUNT(result->accepted, "entry", "entries"));
	else if (result->dry_run)
		output_line(out, STYLE_PLAIN, "Nothing would be added (--dry-run)");
	else if (result->accepted)
		output_line(out, STYLE_GOOD, "%s added, %s, in %s",
					TEXT_COUNT(result->added, "entry", "entries"),
					text_bytes(bytes, result->added_bytes), text_duration(time, result->seconds));
	output_count(out, STYLE_PLAIN, "", result->replaced, "entry with other bytes replaced",
				 "entries with other bytes replaced");
	if (result->dry_run && result->evicted)
		output_line(out, STYLE_WARN,
					"%s of other programs, %s, would be evicted: nothing was imported: first set a "
					"larger CUDA_CACHE_MAXSIZE",
					TEXT_COUNT(result->evicted, "old entry", "old entries"),
					text_bytes(bytes, result->evicted_bytes));
}
