/* jitwarm prime and make: compile in advance what a first start would compile. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/key.h>
#include <jitwarm/pack.h>
#include <jitwarm/prime.h>
#include <jitwarm/startup.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "cli/pack_report.h"
#include "cli/progress.h"
#include "cli/tune_changes.h"
#include "cli/verdict_table.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/shell.h"

/* ---- the document */

/* An unattended run of `prime`: --if-changed, --environment, --json-log. */
struct unattended {
	struct jw_run_state *state; /* NULL without --if-changed */
	const char *log;            /* of --json-log; NULL: none */
	const char *changes;
	bool skip; /* nothing has changed: skip the run */
	int64_t time_s;
	uint64_t began_ns;
	double seconds; /* set when the run has ended */
	unsigned status;
	/* The run's results, for the log: */
	size_t modules;
	size_t restored;                  /* from the store, a folder or another driver's entries */
	struct jw_prime_compiled compile; /* `stopped` also says why it did not begin */
};

struct prime_document {
	struct jw_prime_result result;
	struct prime_failure {
		struct jw_prime_failure failure;
		char *command; /* the command that reproduces it */
	} * failures;
	uint64_t peak_supervisor_bytes;
	const struct jw_store_refilled *refilled;
	const struct jw_carry_result *carried;
	const struct export_document *pack;
	const struct jw_store_traffic *folder; /* set if a folder is used */
	const struct jw_store_refilled *from_folder;
};

#define ROW(member, ...)          JSON(struct prime_document, result.member, __VA_ARGS__)
#define ROW_AS(name, member, ...) JSON_AS(name, struct prime_document, result.member, __VA_ARGS__)

static const struct json_field failure_fields[] = {
	JSON(struct prime_failure, failure.path, "the path of the library"),
	DOCUMENT_MEMBER(struct prime_failure, failure.member),
	JSON(struct prime_failure, failure.offset, "the offset of the piece of code in the file"),
	DOCUMENT_TARGET(struct prime_failure, failure.target),
	JSON(struct prime_failure, failure.reason, "the reason, in one line"),
	JSON(struct prime_failure, failure.log,
		 "the log of the driver's compiler; `\"\"` if it wrote none"),
	JSON(struct prime_failure, command, "a line for a shell that shows the failure again",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field gpu_fields[] = {
	DOCUMENT_TARGET(struct jw_prime_gpu, target),
	JSON(struct jw_prime_gpu, cold, "cold modules for this architecture"),
	JSON(struct jw_prime_gpu, restored,
		 "cold modules for this architecture that the store or another driver restores at once"),
	JSON_OBJECT_OF("forecast", struct jw_prime_gpu, forecast, &document_forecast,
				   "the predicted times for this architecture alone, if it had all workers"),
	{0},
};

static const struct json_field refilled_fields[] = {
	JSON(struct jw_store_refilled, entries,
		 "restored entries; with `--dry-run`: entries that would be restored"),
	JSON(struct jw_store_refilled, bytes, "the size of the restored entries"),
	JSON_INSIDE_OF("notes", struct jw_store_refilled, notes, note_count,
				   "remarks on damaged packs and on entries that did not fit, at most eight lines"),
	{0},
};

static const struct json_field folder_fields[] = {
	JSON(struct jw_store_traffic, packs, "packs that were taken from the folder"),
	JSON(struct jw_store_traffic, refused,
		 "packs that were not taken because they are damaged or no trusted key has signed them"),
	JSON(struct jw_store_traffic, refused_why,
		 "why the first refused pack was refused, in one line", .presence = JSON_IF_SET),
	JSON(struct jw_store_traffic, placed,
		 "entries of this run in the pack that was put into the folder"),
	JSON(struct jw_store_traffic, placed_bytes, "the size of this pack"),
	JSON(struct jw_store_traffic, trouble, "why the folder was not used any longer, in one line",
		 .presence = JSON_IF_SET),
	{0},
};

static const char *format_from(char room[JSON_ROOM], const void *in_store)
{
	(void)room;
	return *(const bool *)in_store ? "store" : "cache";
}

static const struct json_field group_fields[] = {
	JSON(struct jw_carry_group, driver,
		 "the driver that compiled the entries: `535.309.01 (CUDA 12.2)`"),
	JSON(struct jw_carry_group, target, "the GPU architecture: `sm_86`"),
	JSON_FORMATTED("from", struct jw_carry_group, in_store, format_from,
				   "where the entries were found: `cache` or `store`"),
	JSON(struct jw_carry_group, modules, "the number of modules that this driver had compiled"),
	{0},
};

static const struct json_field carried_fields[] = {
	JSON_AS("modules", struct jw_carry_result, carried,
			"modules whose results were taken from another driver of the same CUDA version; with "
			"`--dry-run`: modules whose results would be taken"),
	JSON_AS("added_bytes", struct jw_carry_result, bytes,
			"by how many bytes these results made the cache grow"),
	JSON(struct jw_carry_result, evicted,
		 "old entries that were evicted to make space for the new ones"),
	JSON(struct jw_carry_result, seconds, "the wall time of taking the results"),
	JSON_LIST_OF("groups", struct jw_carry_result, groups, group_count,
				 JSON_TABLE(struct jw_carry_group, group_fields),
				 "the results by driver and origin"),
	{0},
};

static const struct json_field skipped_fields[] = {
	JSON_AS("skipped", struct unattended, skip,
			"always true: nothing had changed, so nothing was done"),
	JSON(struct unattended, compile.compiled, "always 0: nothing was compiled"),
	{0},
};
const struct json_table document_prime_skipped = {
	.schema = "jitwarm.prime/1",
	.text = "A run that `--if-changed` skips prints only this:",
	.fields = skipped_fields,
};

static const struct json_field prime_fields[] = {
	JSON_FORMATTED(
		"verdict", struct prime_document, result.verdict, document_verdict,
		"the answer of `check` before the run; with `--dry-run` it decides the exit status"),
	ROW(plan.modules, "modules that the driver would compile, counted before the run"),
	ROW(plan.warm, "the answer of `check` for this place"),
	ROW(plan.cold, "the answer of `check` for this place"),
	ROW(plan.restored,
		"cold modules that the store or another driver of the same CUDA version restores at once"),
	ROW(plan.damaged, "cold modules whose entry is damaged; `prime` replaces the entry"),
	ROW(plan.unplanned.cannot, "pieces with code that the driver cannot use"),
	ROW(plan.unplanned.lacking,
		"pieces of code that have none for a GPU, of files that do not fail"),
	ROW(plan.unplanned.tile, "pieces of Tile IR, which the driver compiles at their first load"),
	ROW(plan.unplanned.unknown,
		"pieces of a kind that jitwarm does not know, or PTX sources that programs edit"),
	ROW(plan.refused, "modules that the driver has refused before, which are not tried again"),
	ROW(plan.link, "cold modules that are inputs of a link at start"),
	ROW(plan.left_out, "modules that `--all` would include"),
	ROW(plan.why, "a line on the reasons why modules are cold, the most frequent first",
		.presence = JSON_IF_SET),
	ROW(plan.recorded, "with `--recording`: modules of the recording that come from files",
		.presence = JSON_IF_SET),
	ROW(plan.recorded_missing, "recorded modules that no file here holds",
		JSON_IF(struct prime_document, result.plan.recorded)),
	ROW(plan.recorded_texts, "with `--recording`: modules of the recording whose PTX it holds",
		.presence = JSON_IF_SET),
	ROW_AS("recorded_not_in_files", plan.recorded_unfiled,
		   "with `--recording`: modules of the recording that are in no file and whose PTX it does "
		   "not hold",
		   .presence = JSON_IF_SET),
	ROW(plan.forecast.workers, "number of processes that compile at the same time"),
	ROW(plan.cold_bytes, "the size of the PTX of the cold modules"),
	ROW_AS("predicted_cache_bytes", plan.forecast.cache_bytes,
		   "the predicted size of the cold modules' entries"),
	ROW_AS("predicted_cpu_seconds", plan.forecast.start.likely,
		   "the predicted time to compile the cold modules on one core"),
	ROW_AS("predicted_seconds", plan.forecast.prime.likely,
		   "the predicted wall time with these workers, to be compared with `seconds`"),
	JSON_OBJECT_OF("forecast", struct prime_document, result.plan.forecast, &document_forecast,
				   "the predicted cost of compiling the cold modules, as ranges"),
	JSON_LIST_OF("gpus", struct prime_document, result.plan.gpus, result.plan.gpu_count,
				 JSON_TABLE(struct jw_prime_gpu, gpu_fields),
				 "an object for each GPU architecture of the machine, or of `--target`"),
	ROW(plan.limit_bytes, "the limit of the driver's cache"),
	ROW(plan.used_bytes, "the size of the files in the cache, of all programs"),
	ROW(plan.used,
		"cold modules that commands of “jitwarm run” had compiled, on this machine or in a "
		"recording that was primed here; they come first"),
	ROW(plan.unused, "cold modules that `--used-only` leaves out; the predictions leave them out"),
	ROW(plan.over_budget, "cold modules that `--budget-time` or `--budget-size` leaves for a later "
						  "run; the predictions leave them out"),
	ROW_AS("over_budget_cache_bytes", plan.over_budget_bytes,
		   "the predicted size in the cache of the modules over the budget",
		   JSON_IF(struct prime_document, result.plan.over_budget)),
	ROW_AS("over_budget_cpu_seconds", plan.over_budget_seconds,
		   "the predicted time of the modules over the budget, on one core",
		   JSON_IF(struct prime_document, result.plan.over_budget)),
	ROW(compile.compiled, "modules compiled into the cache"),
	ROW(compile.misjudged, "compiled modules whose entries have other names than predicted"),
	ROW(compile.unchanged, "modules that the driver loaded without leaving an entry"),
	ROW(compile.failed, "modules that could not be compiled"),
	ROW(compile.met, "modules that another run compiled at the same time"),
	ROW(compile.lost, "modules whose entries are missing at the end of the run (evicted, wiped, "
					  "removed); counted as `undone` too"),
	ROW(compile.undone, "modules left by a run that was interrupted or stopped"),
	ROW(compile.added_bytes, "by how many bytes the cache grew"),
	JSON_OBJECT_OF("cache", struct prime_document, result.plan.cache, &document_outlook,
				   "what the driver would have done with the cache before this run"),
	ROW(compile.repaired, "the cache's index was not sound, and was repaired"),
	ROW(compile.evicted, "old entries that were evicted to make space for the new ones"),
	ROW_AS("cooled", evicted_in_use,
		   "evicted entries of the driver in use, whose modules are cold now (status 1)"),
	ROW(compile.seconds, "the wall time of compiling"),
	ROW(compile.compile_seconds, "the sum of the modules' times in their workers"),
	ROW(compile.longest_seconds, "the time of the longest module"),
	ROW(compile.compile_cpu_seconds,
		"the processor time of that sum, from which jitwarm learns this machine's speed; much "
		"less if other programs keep the processor busy"),
	ROW(compile.peak_worker_bytes, "peak resident memory of a worker"),
	JSON(struct prime_document, peak_supervisor_bytes, "peak resident memory of jitwarm itself"),
	ROW(compile.interrupted, "the run was ended by Ctrl-C"),
	ROW(compile.out_of_time, "`--budget-time` ended before all was compiled (`undone`)"),
	ROW(compile.opaque, "the form of the driver's entries is unknown: they were only counted"),
	ROW_AS("stopped", compile.stopped.message,
		   "a line on why the run stopped early (the cache or the disk is full, no worker stays "
		   "alive) or did not start (the results exceed the cache's limit; status 2)",
		   JSON_IF(struct prime_document, result.compile.stopped.code)),
	JSON_LIST_OF("failures", struct prime_document, failures, result.compile.failure_count,
				 JSON_TABLE(struct prime_failure, failure_fields),
				 "the modules that could not be compiled"),
	JSON_LINES_OF(
		"notes", struct prime_document, result.notes, result.note_count,
		"remarks on modules that were left out and files that could not be read, one a line"),
	JSON_POINTER_OF(
		"from_store", struct prime_document, refilled,
		JSON_TABLE(struct jw_store_refilled, refilled_fields),
		"entries that were taken from the store; absent if the store had none of the missing ones"),
	JSON_POINTER_OF("carried_over", struct prime_document, carried,
					JSON_TABLE(struct jw_carry_result, carried_fields),
					"results of other drivers of the same CUDA version; absent if there were none"),
	JSON_POINTER_OF("pack", struct prime_document, pack, &document_export_members,
					"the pack that `-o` has written; absent without one"),
	JSON_POINTER_OF("from_folder", struct prime_document, from_folder,
					JSON_TABLE(struct jw_store_refilled, refilled_fields),
					"entries that were taken from the packs in the folder of `--store`; absent if "
					"the folder had none of the missing ones"),
	JSON_POINTER_OF("folder", struct prime_document, folder,
					JSON_TABLE(struct jw_store_traffic, folder_fields),
					"the packs that the folder of `--store` gave and got; absent without a folder"),
	{0},
};
const struct json_table document_prime = {
	.schema = "jitwarm.prime/1", .fields = prime_fields, .instead = &document_prime_skipped};

static const struct json_field run_fields[] = {
	JSON(struct unattended, time_s, "the time at which the run started, in seconds since 1970"),
	JSON(struct unattended, seconds, "the wall time of the command"),
	JSON(struct unattended, status, "the exit status of the run"),
	JSON_AS("skipped", struct unattended, skip,
			"true: nothing had changed, so the run did nothing"),
	JSON_AS("changed", struct unattended, changes,
			"with `--if-changed`: `driver`, `GPUs`, `packages`, `settings`, `cache` (entries are "
			"lost or were written again, or its index is not sound), separated by commas, or "
			"`first run`",
			.presence = JSON_UNLESS_NULL),
	JSON(struct unattended, modules,
		 "modules that the driver would compile, counted before the run"),
	JSON(struct unattended, compile.compiled, "modules that the run compiled into the cache"),
	JSON(struct unattended, compile.failed, "modules that could not be compiled"),
	JSON(struct unattended, compile.undone,
		 "modules that are left because the run was interrupted or stopped"),
	JSON(struct unattended, restored,
		 "modules that were taken from the store, a folder or another driver's entries"),
	JSON_AS("saved_seconds", struct unattended, compile.compile_cpu_seconds,
			"the processor time of the compiled modules, which the first start no longer needs"),
	JSON_AS("problem", struct unattended, compile.stopped.message,
			"why the run did not start, or why it stopped; otherwise `\"\"`"),
	{0},
};
const struct json_table document_run = {
	.schema = "jitwarm.run/1",
	.text = "A line of the log that `prime --if-changed` writes in the state directory "
			"(`runs.jsonl`), and of that of `--json-log`.",
	.fields = run_fields,
};

/* ---- CUDA C sources */

struct nvrtc_options {
	struct jw_nvrtc_options how;
	char *text;         /* the options, each ending in a NUL */
	const char **words; /* pointers into the text */
	size_t capacity;
};

enum { MAX_OPTIONS = 4096, NVRTC_LOG_LINES = 60 };

/* Copies one word from *at to `to` without its quotes. False if a quote is not closed. */
static bool take_option_word(const char **at, char **to)
{
	char quote = 0;

	for (; **at && (quote || !text_is_blank(**at)); (*at)++) {
		if (quote ? **at == quote : **at == '"' || **at == '\'') {
			quote = (char)(quote ? 0 : **at);
			continue;
		}
		/* A backslash that quotes nothing is literal, as in Windows paths. */
		if (**at == '\\' && quote != '\'' && (*at)[1] && strchr("\"'\\ ", (*at)[1]))
			(*at)++;
		*(*to)++ = **at;
	}
	*(*to)++ = '\0';
	return !quote;
}

/* Splits the options as a shell does. */
static int split_options(struct jw_error *err, const char *text, struct nvrtc_options *options)
{
	char *to = options->text = mem_alloc(2 * strlen(text) + 2);

	for (;;) {
		while (text_is_blank(*text))
			text++;
		if (!*text)
			return 0;
		if (VEC_ROOM(err, options->words, options->capacity, options->how.option_count,
					 MAX_OPTIONS))
			return -1;
		options->words[options->how.option_count++] = to;
		if (!take_option_word(&text, &to))
			return error_set(err, JW_ERR_USAGE, "--nvrtc-options: a quote is not closed");
	}
}

static int nvrtc_options_read(struct jw_error *err, const struct cli *cli,
							  struct nvrtc_options *ret_options)
{
	const char *text = options_value(&cli->options, "nvrtc-options");
	bool asked = false;

	*ret_options = (struct nvrtc_options){.how = {0}};
	for (size_t i = 0; i < cli->options.operand_count; i++)
		asked = asked || text_ends(cli->options.operands[i], ".cu");
	if (!asked && (text || options_given(&cli->options, "nvrtc")))
		return error_set(err, JW_ERR_USAGE, "--nvrtc needs a CUDA C source: name a *.cu file");
	if (split_options(err, text ? text : "", ret_options))
		return -1;
	ret_options->how.where = options_value(&cli->options, "nvrtc");
	ret_options->how.name = options_has(&cli->options, "nvrtc-name")
								? options_value(&cli->options, "nvrtc-name")
								: NULL;
	ret_options->how.options = ret_options->words;
	return 0;
}

/* ---- a folder that machines share */

/* Returns whether some key is trusted, so that packs of others can be; true if that cannot be found
 * out. */
static bool trusts_a_key(const char *state_dir)
{
	struct jw_keys *keys;
	size_t trusted = 0;

	if (jw_key_list(NULL, state_dir, &keys))
		return true;
	for (size_t i = 0; i < keys->count; i++)
		trusted += keys->items[i].trusted;
	jw_result_free(keys);
	return trusted;
}

/* Finds the folder of --store, or of the setting, and the key that signs packs for it. */
static int store_folder_read(struct jw_error *err, const struct cli *cli,
							 struct jw_store_folder *folder)
{
	const char *typed = options_value(&cli->options, "store");
	const char *key = options_value(&cli->options, "key");

	*folder = (struct jw_store_folder){
		.path = typed                                      ? typed
				: options_given(&cli->options, "no-store") ? NULL
														   : cli->store_folder,
		.state_dir = cli->system->state_dir,
		.sign_key = key ? key : PACKING_DEFAULT_KEY,
		.allow_unsigned = options_given(&cli->options, "allow-unsigned"),
		.required = typed,
	};
	if (!folder->path)
		return 0;
	/* A key that the settings name must be able to sign. */
	if (jw_key_check(err, folder->state_dir, folder->sign_key)) {
		if (key)
			return -1;
		folder->sign_key = NULL;
	}
	if (!folder->sign_key && !folder->allow_unsigned && typed && !trusts_a_key(folder->state_dir))
		return error_set(
			err, JW_ERR_USAGE,
			"--store takes only packs that a trusted key has signed, and this account trusts no "
			"key: run “jitwarm key generate” once, run the “jitwarm key trust” line that it "
			"prints on each machine with another home folder, and repeat this command; or add "
			"--allow-unsigned to trust whoever can write to the folder");
	return 0;
}

static void print_folder(const struct output *out, const struct jw_store_folder *folder,
						 const struct jw_prime_result *result)
{
	const struct jw_store_traffic *traffic = &result->reuse.folder;
	char bytes[TEXT_SHORT];

	if (traffic->placed)
		output_line(out, STYLE_PLAIN, "%s put into %s (%s).",
					TEXT_COUNT(traffic->placed, "entry", "entries"), folder->path,
					text_bytes(bytes, traffic->placed_bytes));
	if (traffic->placed && !folder->sign_key && !folder->allow_unsigned)
		output_note(out, "the pack is not signed, so other machines need --allow-unsigned; after "
						 "“jitwarm key generate”, jitwarm signs new packs");
	if (traffic->refused)
		output_warning(out, "%s in the folder not used: %s",
					   TEXT_COUNT(traffic->refused, "pack", "packs"), traffic->refused_why);
	if (*traffic->trouble)
		output_warning(out, "the folder of packs is not used: %s", traffic->trouble);
}

/* ---- another machine */

struct target_machine {
	struct gpu_targets gpus;
	struct jw_export_options pack; /* a NULL `output` stands for no pack */
};

static int check_make_usage(struct jw_error *err, const struct options *options)
{
	const char *output = options_value(options, "output");

	if (!options_given(options, "target"))
		return error_set(err, JW_ERR_USAGE,
						 "name the other machine's GPU with --target: “jitwarm make --target "
						 "rtx3070 --driver 550.163.01 --fetch -o lab.jwpack torch”");
	if (!output && !options_given(options, "dry-run"))
		return error_set(
			err, JW_ERR_USAGE,
			"name the pack to write, or the folder of a cache to fill, with -o, or add -n");
	if (output && !strcmp(output, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	if (options_given(options, "sign") && (!output || options_name_folder(output)))
		return error_set(err, JW_ERR_USAGE, "--sign needs a pack: -o FILE");
	return 0;
}

static int target_machine_read(struct jw_error *err, struct cli *cli,
							   struct target_machine *ret_elsewhere, struct jw_system_options *how)
{
	const struct options *options = &cli->options;
	const char *output = options_value(options, "output");
	struct target_machine *elsewhere = ret_elsewhere;

	*elsewhere = (struct target_machine){.pack = {0}};
	if (check_make_usage(err, options) || gpu_targets_read(err, cli, &elsewhere->gpus))
		return -1;
	if (elsewhere->gpus.named.profile && options_count(options, "driver") > 1)
		return error_set(err, JW_ERR_USAGE,
						 "--driver: a profile already names the driver: leave out the version");
	if (output && options_name_folder(output))
		how->cache_dir = output;
	else
		elsewhere->pack.output = output;
	how->scratch = !how->cache_dir;
	how->nameless = options_given(options, "dry-run");
	how->probe = false;
	how->targets = elsewhere->gpus.targets;
	how->target_count = elsewhere->gpus.count;
	how->driver = elsewhere->gpus.named.version;
	how->driver_library = elsewhere->gpus.named.library;
	how->driver_profile = elsewhere->gpus.named.profile;
	return 0;
}

static int target_machine_lacks_driver(struct jw_error *err, const struct cli *cli,
									   const struct gpu_targets *gpus)
{
	const char *driver = jw_driver_example(gpus->targets, gpus->count);
	struct buf line = BUF_MAX(sizeof err->message / 2);
	const bool fetch = options_given(&cli->options, "fetch");

	buf_add(&line, "jitwarm make");
	buf_add(&line, " --driver %s%s", driver, fetch ? "" : " --fetch");
	shell_add_words(&line, (const char *const *)cli->argv, (size_t)cli->argc);
	error_set(err, JW_ERR_USAGE,
			  "name the other machine's driver with --driver; nvidia-smi on that machine shows its "
			  "version: “%s”",
			  line.overflowed ? driver : buf_text(&line));
	buf_free(&line);
	return -1;
}

static bool print_login(const struct output *output, const struct jw_cache_info *cache,
						uint64_t bytes)
{
	char limit[TEXT_SHORT];

	if (jw_cache_serves_now(cache, bytes))
		return false;
	if (!text_same(cache->path, cache->now.path))
		output_line(output, STYLE_PLAIN,
					"Log out and in again, then start your program: until then the driver uses %s.",
					cache->now.path ? cache->now.path : "no cache");
	else
		output_line(
			output, STYLE_PLAIN,
			"Log out and in again, then start your program: until then the cache limit is %s.",
			text_bytes(limit, cache->now.limit_bytes));
	return true;
}

/* ---- the store, other drivers */

/* Prints which entries the store and other drivers provide before compiling. */
static void print_reuse(const struct output *out, const struct jw_prime_result *result,
						bool dry_run)
{
	const struct jw_prime_reuse *reuse = &result->reuse;
	const struct jw_store_refilled *refilled = &reuse->refilled, *from_folder = &reuse->from_folder;
	const struct jw_carry_result *carried = reuse->carried;
	const struct jw_prime_plan *plan = &result->plan;
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	if (reuse->not_refilled.code)
		output_warning(out, "the store is not used: %s", reuse->not_refilled.message);
	for (size_t i = 0; i < refilled->note_count; i++)
		output_warning(out, "from the store: %s", refilled->notes[i]);
	if (refilled->more_notes)
		output_warning(out, "from the store: %zu more (“jitwarm store list” shows all packs)",
					   refilled->more_notes);
	for (size_t i = 0; i < from_folder->note_count; i++)
		output_warning(out, "%s", from_folder->notes[i]);
	if (from_folder->entries)
		output_line(out, STYLE_GOOD,
					dry_run ? "Would be taken from the folder of packs: %s (%s)."
							: "Taken from the folder of packs: %s (%s).",
					TEXT_COUNT(from_folder->entries, "entry", "entries"),
					text_bytes(bytes, from_folder->bytes));
	if (refilled->entries)
		output_line(out, STYLE_GOOD,
					dry_run ? "Would be restored from the store: %s (%s) that %s compiled before."
							: "Restored from the store: %s (%s) that %s compiled before.",
					TEXT_COUNT(refilled->entries, "entry", "entries"),
					text_bytes(bytes, refilled->bytes), refilled->entries == 1 ? "was" : "were");
	if (reuse->not_carried.code)
		output_warning(out, "no entry of another driver is reused: %s", reuse->not_carried.message);
	for (size_t i = 0; carried && i < carried->group_count; i++) {
		const struct jw_carry_group *group = &carried->groups[i];

		output_line(
			out, STYLE_GOOD,
			"%s for %s %s reused from driver %s%s, which has the same compiler as this driver.",
			TEXT_COUNT(group->modules, "module", "modules"), group->target,
			dry_run               ? "would be"
			: group->modules == 1 ? "was"
								  : "were",
			group->driver, group->in_store ? ", out of the store" : "");
	}
	if (carried && carried->carried && !dry_run)
		output_line(out, STYLE_PLAIN, "That took %s; the cache grew by %s.",
					text_duration(time, carried->seconds), text_bytes(bytes, carried->bytes));
	if (carried && carried->evicted)
		output_warning(
			out, "%s evicted to make space: the cache has reached its limit (CUDA_CACHE_MAXSIZE)",
			TEXT_COUNT(carried->evicted, "old entry", "old entries"));
	if (carried && *carried->note)
		output_warning(out, "%s", carried->note);
	/* Counts like “jitwarm check”. */
	if (plan->restored)
		output_line(out, STYLE_PLAIN,
					"Cold: %zu of %s; jitwarm restores %zu of them from earlier results.",
					plan->cold + plan->over_budget + plan->unused + plan->restored,
					TEXT_COUNT(plan->modules, "module", "modules"), plan->restored);
}

/* ---- the plan and the results */

/* Prints the cache limit and how much of it is used, if the results fill more than half of it. */
static void print_limit(const struct output *out, const struct jw_prime_plan *plan)
{
	char used[TEXT_SHORT], limit[TEXT_SHORT];
	const uint64_t all = plan->used_bytes + plan->forecast.cache_bytes;
	const bool evicts = !plan->too_much && all > plan->limit_bytes;

	if (all <= plan->limit_bytes / 2)
		return;
	output_line(out, STYLE_PLAIN, "The cache limit is %s, and %s of it are used%s.",
				text_bytes(limit, plan->limit_bytes), text_bytes(used, plan->used_bytes),
				evicts ? ": the oldest entries will be evicted" : "");
}

static void print_over_budget(const struct output *out, const struct jw_prime_plan *plan)
{
	char time[TEXT_SHORT], bytes[TEXT_SHORT], all_time[TEXT_SHORT], all_bytes[TEXT_SHORT];

	if (plan->unused)
		output_line(out, STYLE_PLAIN,
					"Left out: %s that no recorded run had compiled (--used-only).",
					TEXT_COUNT(plan->unused, "module", "modules"));
	if (plan->over_budget)
		output_line(out, STYLE_WARN,
					"The budget leaves %s of lower priority to the next run (%s on one core, %s of "
					"cache); without a budget: %s (%s, %s).",
					TEXT_COUNT(plan->over_budget, "module", "modules"),
					text_duration(time, plan->over_budget_seconds),
					text_bytes(bytes, plan->over_budget_bytes),
					TEXT_COUNT(plan->cold + plan->over_budget, "module", "modules"),
					text_duration(all_time, plan->over_budget_seconds +
												plan->forecast.start.likely -
												plan->forecast.restored_seconds),
					text_bytes(all_bytes, plan->over_budget_bytes + plan->forecast.cache_bytes));
}

static void print_one_forecast(const struct output *out, const char *head,
							   const struct jw_forecast *forecast, bool for_others)
{
	char text[MODULE_TEXT], start[TEXT_SHORT], make[TEXT_SHORT], cache[TEXT_SHORT];

	if (for_others)
		output_line(
			out, STYLE_PLAIN,
			"%sfirst start there %s on one core, compiling here %s with %s if nothing else runs, "
			"%s of cache.",
			head, text_span(start, forecast->start.low, forecast->start.high),
			text_span(make, forecast->prime.low, forecast->prime.high),
			TEXT_COUNT(forecast->workers, "worker", "workers"),
			text_bytes(cache, forecast->cache_bytes));
	else
		output_line(out, STYLE_PLAIN, "%s", forecast_text(text, head, forecast, "."));
}

/* Prints the forecast: with several GPUs a line for each, then their total. GPUs of several
 * machines share no first start. */
static void print_forecast(const struct output *out, const struct jw_prime_result *result,
						   bool for_others)
{
	const struct jw_forecast *all = &result->plan.forecast;
	char prime[TEXT_SHORT], cache[TEXT_SHORT];
	size_t busy = 0;

	for (size_t i = 0; i < result->plan.gpu_count; i++)
		busy += result->plan.gpus[i].cold > result->plan.gpus[i].restored;
	for (size_t i = 0; busy > 1 && i < result->plan.gpu_count; i++) {
		const struct jw_prime_gpu *gpu = &result->plan.gpus[i];
		char target[JW_TARGET_TEXT], head[JW_TARGET_TEXT + 4];

		(void)snprintf(head, sizeof head, "%s: ", jw_target_sm(target, gpu->target));
		if (gpu->cold > gpu->restored)
			print_one_forecast(out, head, &gpu->forecast, for_others);
	}
	if (busy > 1 && for_others)
		output_line(out, STYLE_PLAIN,
					"All together: compiling takes %s with %s if nothing else runs, %s of cache.",
					text_span(prime, all->prime.low, all->prime.high),
					TEXT_COUNT(all->workers, "worker", "workers"),
					text_bytes(cache, all->cache_bytes));
	else
		print_one_forecast(out, busy > 1 ? "All together: " : "Predicted: ", all, for_others);
	if (forecast_doubt(all))
		output_line(out, STYLE_PLAIN, "%s", forecast_doubt(all));
}

static void print_prime_plan(const struct output *out, const struct jw_prime_result *result,
							 bool for_others)
{
	const struct jw_prime_plan *plan = &result->plan;
	const struct verdict_row row = {.modules = plan->modules,
									.cold = plan->cold,
									.ptx_bytes = plan->cold_bytes,
									.forecast = plan->forecast};
	struct buf text = BUF_MAX(VERDICT_SENTENCE);
	char bytes[TEXT_SHORT], link[MODULE_TEXT];

	if (plan->cache.text[0])
		output_warning(out, "%s%s%s", plan->cache.text, plan->cache.evicted ? "; " : "",
					   plan->cache.evicted ? plan->cache.next_step : "");
	if (!plan->modules && (plan->recorded_missing || plan->recorded_unfiled)) {
		if (!result->troubles) /* which were already printed */
			output_line(out, STYLE_GOOD, "Warm: the cache has %s, in no file.",
						TEXT_COUNT(plan->recorded_unfiled, "recorded module", "recorded modules"));
	} else if (!plan->modules && (plan->unplanned.tile || plan->unplanned.unknown)) {
		output_line(out, STYLE_WARN,
					"Nothing to compile: these files have no code that jitwarm could compile.");
	} else if (!plan->modules && plan->hopeless) {
		output_line(out, STYLE_BAD,
					"Nothing is compiled: no code in these files can run on these GPUs.");
	} else if (!plan->modules) {
		output_line(out, STYLE_PLAIN,
					"Nothing to compile: the driver compiles none of these files for these GPUs.");
	} else if (plan->cold) {
		(void)verdict_print(&text, &row, VERDICT_OF | VERDICT_ALL);
		output_line(out, STYLE_PLAIN, "%s.", buf_text(&text));
		buf_free(&text);
		print_forecast(out, result, for_others);
		if (plan->why[0])
			output_line(out, STYLE_PLAIN, "Why: %s.", plan->why);
		if (module_text_link(link, "", plan->link, &plan->forecast, "."))
			output_line(out, STYLE_PLAIN, "%s", link);
		if (!for_others)
			print_limit(out, plan);
		print_over_budget(out, plan);
	} else if (plan->over_budget || plan->unused) {
		print_limit(out, plan);
		print_over_budget(out, plan);
	} else if (plan->warm >= plan->modules) {
		output_line(out, STYLE_GOOD, "Warm: %s that the driver would compile %s in its cache.",
					module_text_all(bytes, plan->modules), plan->modules == 1 ? "is" : "are");
		if (module_text_link(link, "", 0, &plan->forecast, "."))
			output_line(out, STYLE_PLAIN, "%s", link);
	} else {
		output_line(out, STYLE_PLAIN, "Nothing is left to compile.");
	}
}

/* ---- unattended runs */

/* With --if-changed checks whether anything has changed. */
static int unattended_begin(struct jw_error *err, const struct output *out,
							const struct jw_run_key *key, struct unattended *run)
{
	if (jw_run_compare(err, key, &run->state, &run->changes))
		return -1;
	run->skip = !*run->changes;
	output_line(out, STYLE_PLAIN,
				run->skip ? "Nothing has changed since the last run%s." : "Changed: %s.",
				run->changes);
	return 0;
}

/* Records that the run ends with cli->status, writes the logs and frees everything. */
static int unattended_end(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	int result = run->skip ? document_print(&cli->out, &document_prime_skipped, run) : 0;

	run->seconds = (double)(os_monotonic_ns() - run->began_ns) / 1e9;
	run->status = (unsigned)cli->status;
	if (!result && (run->state || run->log)) {
		char *line = json_object_line(&document_run, run), *own = NULL;

		/* An account without a home has no log. */
		if (run->state && !jw_log_path(NULL, &own))
			result = jw_log_append(err, own, line);
		if (run->log && jw_log_append(err, run->log, line))
			result = -1;
		jw_text_free(own);
		cJSON_free(line);
	}
	jw_result_free(run->state);
	return result;
}

/* ---- the outcome */

static void next_step_failure(struct buf *command, const struct options *options,
							  const struct jw_prime_failure *failure)
{
	static const char *const kept[] = {"target", "gpu", "driver", "ptxas", "cache", NULL};
	const bool make = options_has(options, "target");
	const char *output = make ? options_value(options, "output") : NULL;
	const bool recorded = options_given(options, "recording") &&
						  !strcmp(options_value(options, "recording"), failure->path);

	buf_add(command, make ? "jitwarm make" : "jitwarm prime");
	next_step_keep(command, options, kept);
	if (make && options_given(options, "fetch"))
		buf_add(command, " --fetch");
	/* A recording may include modules that are otherwise left out. */
	if (options_given(options, "all") || (options_given(options, "recording") && !recorded))
		buf_add(command, " --all");
	if (output && options_name_folder(output)) {
		buf_add(command, " -o");
		shell_add_word(command, output);
	} else if (output) {
		buf_add(command, " -o FILE.jwpack");
	}
	if (recorded)
		buf_add(command, " --recording");
	else if (failure->path[0] == '-')
		buf_add(command, " --");
	shell_add_word(command, failure->path);
}

struct prime_command {
	struct cli *cli;
	struct jw_recording *recording; /* NULL without --recording */
	struct nvrtc_options nvrtc;
	struct found_files files;
	struct target_machine elsewhere;
	struct jw_store_folder folder;
	struct unattended unattended;
	struct prime_bar bar;
	bool only_plan;
	bool used_reported;
	bool for_others; /* “jitwarm make” */
};

extern const struct cli_command command_make;

enum { LOG_LINES = 6, MAX_NAMES = 300 };

/* Returns whether programs of this account use the folder as it is. */
static bool is_own_cache(const char *path)
{
	const struct jw_system_options how = {.asleep = true};
	struct jw_system *here;
	bool own;

	if (jw_system_open(NULL, &how, &here))
		return false;
	own = here->cache.path && !strcmp(here->cache.path, path);
	jw_system_free(here);
	return own;
}

/* Prints each failed module with the driver's log and the command that reproduces the failure. */
static void print_failures(const struct prime_command *priming, const struct jw_prime_compiled *run)
{
	const struct output *out = &priming->cli->out;

	for (size_t i = 0; i < run->failure_count; i++) {
		const struct jw_prime_failure *failure = &run->failures[i];
		struct buf line = BUF_MAX(NEXT_STEP_MAX);
		char target[JW_TARGET_TEXT];

		output_warning(out, "%s%s%s at 0x%llx (%s): %s", failure->path, failure->member ? ": " : "",
					   failure->member ? failure->member : "", (unsigned long long)failure->offset,
					   jw_target_sm(target, failure->target), failure->reason);
		output_log(out, output_warning, failure->log, LOG_LINES);
		next_step_failure(&line, &priming->cli->options, failure);
		next_step_below(out, "to see it again", &line);
	}
}

static void print_compiled(const struct output *out, const struct jw_prime_result *result)
{
	const struct jw_prime_compiled *run = &result->compile;
	const struct jw_forecast *forecast = &result->plan.forecast;
	const char *modules = TEXT_COUNT(run->compiled, "module", "modules");
	char time[TEXT_SHORT], bytes[TEXT_SHORT], more_time[TEXT_SHORT], more_bytes[TEXT_SHORT],
		times[3 * TEXT_SHORT];

	text_duration(time, run->seconds);
	/* A prediction that did not hold is explained. */
	(void)text_format(times, sizeof times,
					  run->seconds > forecast->prime.high
						  ? "predicted %s if nothing else runs, took %s"
						  : "predicted %s, took %s",
					  text_duration(more_time, forecast->prime.likely), time);
	if (run->opaque)
		output_warning(out,
					   "jitwarm does not know the form of this driver's cache: the driver has "
					   "filled the cache in %s, and has added %s of unknown kinds",
					   time, TEXT_COUNT(run->compiled, "entry", "entries"));
	else if (!run->compiled && run->met && !run->undone && !run->failed)
		output_line(out, STYLE_GOOD, "Warm: the other run has compiled %s.",
					run->met == 1 ? "the one module" : "all modules");
	else if (run->compiled && result->keep.pack)
		output_line(out, STYLE_GOOD, "Compiled %s: %s; the pack holds %s.", modules, times,
					text_bytes(bytes, result->keep.pack->entry_bytes));
	else if (run->compiled && run->compiled == result->plan.cold && !run->stopped.code)
		output_line(out, STYLE_GOOD, "Compiled %s: %s; the cache grew by %s (predicted %s).",
					modules, times, text_bytes(bytes, run->added_bytes),
					text_bytes(more_bytes, forecast->cache_bytes));
	else if (run->compiled)
		output_line(out, STYLE_GOOD, "Compiled %s in %s; the cache grew by %s.", modules, time,
					text_bytes(bytes, run->added_bytes));
}

/* Prints what is left for a later run, unless that is only planned; false if nothing is. */
static bool print_left(const struct prime_command *priming, const struct jw_prime_result *result)
{
	const struct jw_prime_compiled *run = &result->compile;
	const struct cli *cli = priming->cli;
	const char *left = TEXT_COUNT(run->undone + result->plan.over_budget, "module", "modules"),
			   *next = !priming->for_others && options_given(&cli->options, "budget-size")
						   ? "the same command with a larger --budget-size compiles them"
						   : "run the command again to continue";

	if (run->interrupted)
		output_warning(&cli->out,
					   cli->system->scratch
						   ? "interrupted with %s left"
						   : "interrupted with %s left; run the command again to continue",
					   TEXT_COUNT(run->undone, "module", "modules"));
	else if (run->stopped.code || priming->only_plan ||
			 (!run->out_of_time && !result->plan.over_budget))
		return false;
	else if (run->out_of_time)
		output_line(&cli->out, STYLE_WARN, "The time is up with %s left: %s.", left, next);
	else
		output_line(&cli->out, STYLE_WARN, "%s left: %s.", left, next);
	return true;
}

/* Prints what to do after a run that has left nothing undone. */
static void print_next_start(const struct prime_command *priming,
							 const struct jw_prime_result *result)
{
	const struct output *out = &priming->cli->out;
	const struct jw_prime_compiled *run = &result->compile;
	const struct jw_prime_plan *plan = &result->plan;
	const struct jw_system *system = priming->cli->system;
	const struct jw_found *found = priming->files.found;
	/* The first one that holds. */
	const struct {
		bool when;
		const char *what;
	} next[] = {
		{priming->recording != NULL, "No recorded module is left to compile on this machine."},
		{plan->hopeless, "Start your program again: it has nothing left to compile, but fails if "
						 "it uses code that cannot run."},
		{plan->unplanned.tile || plan->unplanned.unknown,
		 "Start your program again: it has nothing left to compile, except for code that jitwarm "
		 "cannot judge."},
		{options_given(&priming->cli->options, "gpu"),
		 "Start your program again: on these GPUs it has nothing left to compile."},
		{plan->left_out || plan->unplanned.cannot,
		 "Start your program again: it compiles no more than the left-out modules of these files."},
		{found && found->environment && !found->whole,
		 "Start your program again: these packages are warm."},
		{true, "Start your program again: it has nothing left to compile."},
	};
	char driver[JW_DRIVER_TEXT];
	size_t at = 0;

	if (run->failed || run->undone || run->unchanged)
		return;
	if (!priming->for_others) {
		while (!next[at].when)
			at++;
		if ((run->compiled || result->reuse.from_folder.entries) && !run->opaque &&
			!print_login(out, &system->cache,
						 system->cache.outlook.bytes + plan->forecast.cache_bytes))
			output_line(out, STYLE_PLAIN, "%s", next[at].what);
		return;
	}
	if (!run->compiled || system->scratch)
		return;
	output_line(out, STYLE_PLAIN, "%s now has the entries that driver %s looks for.",
				system->cache.path, jw_driver_text(driver, &system->driver.version));
	if (!is_own_cache(system->cache.path))
		next_step(out, STYLE_PLAIN,
				  "Next: on the other machine, set CUDA_CACHE_PATH to this folder or a copy of it "
				  "before programs start",
				  NULL);
}

/* Explains why nothing was put into the folder, unless it comes from a setting. */
static void print_nothing_placed(const struct prime_command *priming,
								 const struct jw_prime_result *result)
{
	if (!priming->only_plan && priming->folder.required && result->plan.modules &&
		!result->compile.compiled && !result->reuse.from_folder.entries &&
		!*result->reuse.folder.trouble)
		output_line(&priming->cli->out, STYLE_PLAIN,
					"Nothing was put into the folder, because this run compiled nothing; to share "
					"warm modules, export them there: “jitwarm export -o DIR/NAME.jwpack --sign”.");
}

/* Prints what was compiled, what failed, what is left and why, and the next step. */
static void print_outcome(const struct prime_command *priming, const struct jw_prime_result *result)
{
	const struct jw_prime_compiled *run = &result->compile;
	const struct output *out = &priming->cli->out;
	char bytes[TEXT_SHORT];

	print_failures(priming, run);
	print_compiled(out, result);
	print_folder(out, &priming->folder, result);
	print_nothing_placed(priming, result);
	if (run->repaired)
		output_line(out, STYLE_GOOD, "The cache's index is repaired.");
	if (run->evicted)
		output_warning(out,
					   "%s evicted, as the driver does when it stores a module: the cache limit is "
					   "%s (CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(run->evicted, "old entry", "old entries"),
					   text_bytes(bytes, priming->cli->system->cache.limit_bytes));
	module_text_warn_evicted(out, result->evicted_in_use);
	if (run->failed)
		output_warning(out, "%s could not be compiled",
					   TEXT_COUNT(run->failed, "module", "modules"));
	if (!print_left(priming, result))
		print_next_start(priming, result);
	if (run->stopped.code && !result->plan.too_much)
		output_error(out, "stopped with %s left: %s", TEXT_COUNT(run->undone, "module", "modules"),
					 run->stopped.message);
}

static int print_outcome_document(const struct prime_command *priming,
								  const struct jw_prime_result *result)
{
	const struct jw_store_refilled *refilled = &result->reuse.refilled;
	const struct jw_store_refilled *from_folder = &result->reuse.from_folder;
	const struct jw_carry_result *carried = result->reuse.carried;
	const struct export_document pack = {
		.file = priming->elsewhere.pack.output,
		.result = result->keep.pack ? *result->keep.pack : (struct jw_export_result){0}};
	struct prime_document values = {
		.result = *result,
		.failures = mem_array(result->compile.failure_count, sizeof *values.failures),
		.peak_supervisor_bytes = os_peak_resident_bytes(),
		.refilled = refilled->entries || refilled->note_count ? refilled : NULL,
		.carried = carried && carried->group_count ? carried : NULL,
		.pack = result->keep.pack ? &pack : NULL,
		.folder = priming->folder.path ? &result->reuse.folder : NULL,
		.from_folder = from_folder->entries || from_folder->note_count ? from_folder : NULL,
	};
	int failed;

	values.result.plan.cold +=
		result->plan.over_budget + result->plan.unused + result->plan.restored;
	values.result.plan.warm -= priming->only_plan ? 0 : result->plan.restored;
	for (size_t i = 0; i < result->compile.failure_count; i++) {
		struct prime_failure *failure = &values.failures[i];
		struct buf line = BUF_MAX(NEXT_STEP_MAX);

		failure->failure = result->compile.failures[i];
		next_step_failure(&line, &priming->cli->options, &result->compile.failures[i]);
		failure->command = next_step_take(&line);
	}
	failed = document_print(&priming->cli->out, &document_prime, &values);
	for (size_t i = 0; i < result->compile.failure_count; i++)
		mem_free(values.failures[i].command);
	mem_free(values.failures);
	return failed;
}

/* Returns EXIT_CANNOT for a driver that does not cache, or a cache whose files cannot be locked; a
 * full cache is work left undone. */
static enum exit_status status_of_error(const struct jw_error *err)
{
	if (err->code == JW_ERR_UNSUPPORTED)
		return EXIT_CANNOT;
	return err->code == JW_ERR_LIMIT ? EXIT_COLD : exit_of(err->code);
}

static enum exit_status status_of_outcome(const struct prime_command *priming,
										  const struct jw_prime_result *result)
{
	const struct jw_prime_compiled *run = &result->compile;
	const struct jw_found *found = priming->files.found;
	const size_t troubles = result->troubles + (found ? found->trouble_count : 0);
	/* Recorded files that are missing here count as work left undone. */
	enum exit_status status =
		exit_of_troubles(troubles, priming->recording ? 1 : result->plan.images);

	if (priming->only_plan || result->verdict == JW_VERDICT_NOTHING)
		status = exit_combine(status, exit_of_verdict(result->verdict));
	if (priming->only_plan)
		return status;
	/* Modules that are `unchanged` or `misjudged` have no entry with the predicted name, so nothing
	 * shows that they are warm. */
	if (run->interrupted || run->undone || run->failed > run->refused || run->unchanged ||
		run->misjudged || result->plan.over_budget || result->evicted_in_use)
		status = exit_combine(status, EXIT_COLD);
	if (result->plan.hopeless || run->refused || result->plan.unplanned.tile ||
		result->plan.unplanned.unknown)
		status = exit_combine(status, EXIT_CANNOT);
	/* A run that stopped because nothing can help ends with that status alone, although the modules
	 * that it leaves undone would give EXIT_COLD. */
	if (run->stopped.code)
		status = exit_combine(run->stopped.code == JW_ERR_UNSUPPORTED ? EXIT_DONE : status,
							  status_of_error(&run->stopped));
	return status;
}

static bool on_planned(void *context, const struct jw_prime_result *result)
{
	struct prime_command *priming = context;

	prime_bar_end(&priming->bar);
	if (*result->compile.inexact)
		output_warning(&priming->cli->out, "%s", result->compile.inexact);
	print_reuse(&priming->cli->out, result, priming->only_plan);
	if (result->plan.sources_failed && !result->plan.images)
		return true;
	/* A prediction for a run that does not take place is not printed. */
	if (result->plan.too_much) {
		output_error(&priming->cli->out, "nothing was compiled: %s",
					 result->compile.stopped.message);
		return true;
	}
	if (result->plan.images || priming->recording)
		print_prime_plan(&priming->cli->out, result, priming->for_others);
	else if (!result->troubles)
		(void)found_files_none(priming->cli, priming->files.found);
	return true;
}

static void on_prime_progress(void *context, const struct jw_prime_progress *progress)
{
	struct prime_command *priming = context;
	char line[TEXT_SHORT + 256];

	prime_bar_report(&priming->bar, progress);
	if (progress->phase != JW_PRIME_COMPILING || priming->used_reported || !progress->used ||
		progress->used_done < progress->used || progress->total == progress->used)
		return;
	priming->used_reported = true;
	(void)text_format(line, sizeof line,
					  "the modules of your recorded runs are warm now (%s); the other %zu follow",
					  TEXT_COUNT(progress->used, "module", "modules"),
					  progress->total - progress->used);
	prime_bar_message(&priming->bar, line);
}

static void on_message(void *context, const char *line)
{
	struct prime_command *priming = context;

	prime_bar_message(&priming->bar, line);
}

static void on_source(void *context, const struct jw_prime_source *source)
{
	struct cli *cli = ((const struct prime_command *)context)->cli;
	const struct jw_error *failed = &source->failed;

	if (failed->code) {
		cli_end_with(cli, failed->code == JW_ERR_UNSUPPORTED ? EXIT_CANNOT : exit_of(failed->code));
		output_error(&cli->out, "%s", failed->message);
		if (source->made && source->made->log)
			output_log(&cli->out, output_error, source->made->log, NVRTC_LOG_LINES);
		return;
	}
	output_line(&cli->out, STYLE_PLAIN, "%s: compiled by NVRTC %u.%u for %s.", source->path,
				source->nvrtc->major, source->nvrtc->minor, source->made->arch);
}

/* Prints the outcome of a run. */
static int conclude(struct prime_command *priming, const struct jw_prime_result *result)
{
	const struct jw_prime_compiled *run = &result->compile;
	struct cli *cli = priming->cli;
	struct unattended *unattended = &priming->unattended;
	int failed;

	unattended->modules = result->plan.modules;
	unattended->compile = *run;
	if (!priming->only_plan)
		unattended->restored = result->reuse.refilled.entries + result->reuse.from_folder.entries +
							   (result->reuse.carried ? result->reuse.carried->carried : 0);
	plan_notes_print(&cli->out, &cli->options, result->notes, result->note_count,
					 result->assumptions);
	cli_end_with(cli, status_of_outcome(priming, result));
	print_outcome(priming, result);
	if (result->keep.pack)
		pack_report_print(&cli->out, priming->elsewhere.pack.output, result->keep.pack);
	failed = print_outcome_document(priming, result);
	if (result->keep.not_packed.code) {
		cli_hopeless(&result->keep.not_packed, cli, JW_ERR_UNSUPPORTED);
		cli_fail(cli, &result->keep.not_packed);
	}
	if (result->keep.not_remembered.code)
		output_warning(
			&cli->out,
			"jitwarm could not record this run, so the next “jitwarm prime --if-changed” "
			"examines everything again: %s",
			result->keep.not_remembered.message);
	if (result->keep.not_kept.code)
		output_warning(&cli->out, "the results were not added to the store: %s",
					   result->keep.not_kept.message);
	return failed;
}

static int work_of_prime(struct jw_error *err, struct prime_command *priming)
{
	struct cli *cli = priming->cli;
	struct jw_prime_options options = {
		.plan.found = priming->files.found,
		.plan.retried = cli->options.operands,
		.plan.retried_count = cli->options.operand_count,
		.plan.everything = options_given(&cli->options, "all"),
		.plan.used_only = options_has_given(&cli->options, "used-only"),
		.plan.recording = priming->recording,
		.compile.jobs = (unsigned)options_number(&cli->options, "jobs"),
		.compile.max_memory_bytes = options_number(&cli->options, "max-mem"),
		.dry_run = priming->only_plan,
		.compile.module_timeout_ms = options_number(&cli->options, "module-timeout"),
		.context = priming,
		.planned = on_planned,
		.progress = on_prime_progress,
		.message = on_message,
		.plan.nvrtc = &priming->nvrtc.how,
		.source = on_source,
		.keep.run = priming->unattended.state,
		.keep.pack = priming->elsewhere.pack.output ? &priming->elsewhere.pack : NULL,
		.reuse.folder = priming->folder,
		.cancel = cli_cancel,
	};
	struct fetching fetching = {.output = &cli->out, .label = "compiler"};
	const struct jw_compiler_fetch_options fetch = fetching_options(&fetching);
	struct jw_prime_result *result;
	int failed;

	if (priming->for_others) {
		options.compile.ptxas = options_value(&cli->options, "ptxas");
		options.compile.fetch = options_given(&cli->options, "fetch") ? &fetch : NULL;
	} else {
		options.plan.budget_bytes = options_number(&cli->options, "budget-size");
		options.plan.budget_ms = options_number(&cli->options, "budget-time");
		options.compile.low_priority = options_given(&cli->options, "background");
	}
	options.reuse.no_store =
		!cli->uses_store || (!priming->for_others && options_given(&cli->options, "no-store"));
	failed = jw_prime(err, cli->system, &options, &result);
	prime_bar_end(&priming->bar);
	fetching_end(&fetching);
	if (failed) {
		/* For `make`, “not found” means that the compiler is missing. */
		cli->failure = priming->for_others && err->code == JW_ERR_NOT_FOUND ? EXIT_CANNOT
																			: status_of_error(err);
		return -1;
	}
	failed = conclude(priming, result);
	jw_result_free(result);
	return failed;
}

/* ---- choosing account and GPUs */

/* Warns if it is unclear whose cache is meant (sudo), with the command that leaves no doubt. */
static int choose_account(struct jw_error *err, const struct cli *cli)
{
	char *doubt = NULL;

	/* A named directory is the intended one, even if another account fills it. */
	if (options_given(&cli->options, "cache"))
		return 0;
	if (jw_account_doubt(err, &doubt))
		return -1;
	if (doubt) {
		struct buf line = BUF_MAX(1 << 20);

		output_warning(&cli->out, "%s", doubt);
		buf_add(&line, "jitwarm %s", cli->command->name);
		shell_add_words(&line, (const char *const *)cli->argv, (size_t)cli->argc);
		if (!line.overflowed && !os_is_windows)
			output_command(&cli->out, "without sudo", buf_text(&line));
		buf_free(&line);
	}
	jw_text_free(doubt);
	return 0;
}

/* Returns the names of the command line, with a blank before each, or “ NAME” if they are too
 * long. */
static const char *typed_names(struct buf *names, const struct cli *cli)
{
	static const char *const kept[] = {"environment", NULL};

	next_step_keep(names, &cli->options, kept);
	next_step_names(names, &cli->options);
	return names->overflowed ? " NAME" : buf_text(names);
}

/* Handles --gpu: uses only those of the installed GPUs. */
static int choose_gpus(struct jw_error *err, struct cli *cli)
{
	struct jw_system *system = cli->system;
	struct gpu_targets wanted;
	size_t kept = 0;
	char name[GPUS_NAME];

	if (gpu_targets_list(err, cli, "gpu", &wanted))
		return -1;
	for (size_t i = 0; wanted.count && i < system->gpu_count; i++)
		for (size_t k = 0; k < wanted.count; k++)
			if (jw_target_equal(system->gpus[i].target, wanted.targets[k])) {
				system->gpus[kept++] = system->gpus[i];
				break;
			}
	if (wanted.count) {
		(void)jw_target_sm(system->example, wanted.targets[0]);
		system->example_driver = jw_driver_example(wanted.targets, 1);
	}
	if (wanted.count && !kept && system->gpu_count) {
		struct buf names = BUF_MAX(MAX_NAMES);

		error_set(err, JW_ERR_USAGE,
				  "--gpu: no GPU here is %s: “jitwarm make --target %s --driver %s --fetch "
				  "-o FILE.jwpack%s” compiles for another machine",
				  gpu_targets_name(name, &cli->out, wanted.targets[0]), system->example,
				  system->example_driver, typed_names(&names, cli));
		buf_free(&names);
		return -1;
	}
	system->gpu_count = wanted.count ? kept : system->gpu_count;
	return 0;
}

/* Opens the system and does everything that needs no file. */
static int open_system(struct jw_error *err, struct prime_command *priming)
{
	struct cli *cli = priming->cli;
	struct target_machine *elsewhere = &priming->elsewhere;
	struct jw_system_options how = {.probe = true};

	if (!priming->for_others)
		how.cache_dir = options_value(&cli->options, "cache");
	if (priming->for_others ? target_machine_read(err, cli, elsewhere, &how)
							: choose_account(err, cli))
		return -1;
	if (!cli_open(err, cli, &how))
		return priming->for_others ? 0 : choose_gpus(err, cli);
	return priming->for_others && err->code == JW_ERR_USAGE &&
				   !options_given(&cli->options, "driver")
			   ? target_machine_lacks_driver(err, cli, &elsewhere->gpus)
			   : -1;
}

static int prime_now(struct jw_error *err, struct prime_command *priming)
{
	struct cli *cli = priming->cli;
	struct target_machine *elsewhere = &priming->elsewhere;

	if (nvrtc_options_read(err, cli, &priming->nvrtc) || open_system(err, priming) ||
		found_files_recorded(err, cli, options_value(&cli->options, "recording"), true,
							 &priming->recording, &priming->files) ||
		(elsewhere->pack.output && !priming->only_plan &&
		 pack_report_key(err, cli, &elsewhere->pack)))
		return cli_hopeless(err, cli, priming->for_others ? JW_ERR_UNSUPPORTED : JW_OK);
	cli_warn_of_settings(cli);
	if (priming->for_others && !cli->system->driver.stamp[0]) {
		char driver[JW_DRIVER_TEXT];

		output_warning(&cli->out,
					   "jitwarm does not know the names of entries under driver %s, and cannot "
					   "tell which modules are warm; “jitwarm make” needs the driver's library or "
					   "profile (--driver FILE)",
					   jw_driver_text(driver, &cli->system->driver.version));
	}
	if (!cli->system->gpu_count) {
		struct buf names = BUF_MAX(MAX_NAMES);
		const char *shown = typed_names(&names, cli);

		cli->failure = EXIT_CANNOT;
		error_set(
			err, JW_ERR_NOT_FOUND,
			"%s. To compile for another machine or an image: “jitwarm make --target %s --driver %s "
			"--fetch -o FILE.jwpack%s”",
			cli->system->why_none, cli->system->example, cli->system->example_driver, shown);
		buf_free(&names);
		return -1;
	}
	if (!priming->for_others && store_folder_read(err, cli, &priming->folder))
		return -1;
	if (!priming->for_others && options_given(&cli->options, "tune") && !priming->only_plan) {
		const struct jw_tune_request request = {.scope = JW_SCOPE_USER};
		struct jw_tune_result *tuned;

		if (jw_tune_for_files(err, cli->system, priming->files.paths, priming->files.count, &tuned))
			return -1;
		if (tuned)
			tune_change_print(&cli->out, &request, tuned);
		jw_result_free(tuned);
	}
	os_catch_interrupts();
	return work_of_prime(err, priming);
}

/* --store and --if-changed exclude other options, whatever is found later. */
static int check_prime_usage(struct jw_error *err, const struct cli *cli)
{
	const struct options *options = &cli->options;
	const char *folder = options_value(options, "store");

	if (options_given(options, "allow-unsigned") && !folder && !cli->store_folder)
		return error_set(err, JW_ERR_USAGE, "--allow-unsigned needs --store DIR");
	if (folder && options_given(options, "no-store"))
		return error_set(err, JW_ERR_USAGE, "leave out --no-store or --store DIR");
	/* The remembered run would hide that other GPUs lack modules. */
	if (options_given(options, "if-changed") && options_given(options, "gpu"))
		return error_set(err, JW_ERR_USAGE, "--if-changed compares all GPUs: leave out --gpu");
	return 0;
}

/* Returns the options that decide what is compiled, one a line: a run with other ones is another
 * run. The caller frees the text; NULL if none is given. */
static char *what_is_primed(const struct options *options)
{
	static const char *const names[] = {"all",           "used-only",  "nvrtc",
										"nvrtc-options", "nvrtc-name", NULL};
	struct buf text = BUF_MAX(1 << 16);

	for (const char *const *name = names; *name; name++)
		if (options_has_given(options, *name))
			buf_add(&text, "%s=%s\n", *name,
					options_value(options, *name) ? options_value(options, *name) : "");
	if (text.size)
		return (char *)text.data;
	buf_free(&text);
	return NULL;
}

static int prime_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	const bool for_others = cli->command == &command_make,
			   changed = !for_others && options_given(options, "if-changed");
	struct prime_command priming = {
		.cli = cli,
		.bar = {.output = &cli->out},
		.only_plan = options_given(options, "dry-run"),
		.for_others = for_others,
		.unattended = {.log = for_others ? NULL : options_value(options, "json-log"),
					   .time_s = os_now_s(),
					   .began_ns = os_monotonic_ns()},
	};
	struct unattended *unattended = &priming.unattended;
	char *what = for_others ? NULL : what_is_primed(options);
	const struct jw_run_key key = {
		.names = options->operands,
		.name_count = options->operand_count,
		.recording = options_value(options, "recording"),
		.cache_dir = for_others ? NULL : options_value(options, "cache"),
		.what = what,
	};

	if (!for_others && check_prime_usage(err, cli))
		goto failed;
	if (changed && unattended_begin(err, &cli->out, &key, unattended))
		goto failed;
	if (!unattended->skip && prime_now(err, &priming))
		goto failed;
	goto done;
failed:
	unattended->compile.stopped = *err;
	cli_fail(cli, err);
	if (err->code == JW_ERR_UNSUPPORTED && cli->system && cli->system->cache.why_useless[0])
		next_step_cache(&cli->out, &cli->system->cache);
done:
	mem_free(what);
	found_files_free(&priming.files);
	mem_free(priming.nvrtc.words);
	mem_free(priming.nvrtc.text);
	jw_result_free(priming.recording);
	return unattended_end(err, cli, unattended);
}

/* Options about what to compile, for both commands. */
#define WHAT_OPTIONS                                                                                  \
	CLI_FLAG("all",                                                                                   \
			 "Include all modules that libraries load when they need them, and loose files in "       \
			 "test folders",                                                                          \
			 .rare = true),                                                                           \
		CLI_VALUE(                                                                                    \
			"recording", "FILE",                                                                      \
			"Compile only the modules in this recording of “jitwarm run --record”, with the PTX " \
			"from the files that you name, else from the files that the recording lists",             \
			.names = NAMES_FILE),                                                                     \
		CLI_ENVIRONMENT,                                                                              \
		CLI_VALUE("nvrtc-options", "OPTIONS",                                                         \
				  "Compile *.cu files with these NVRTC options, which must be the options that "      \
				  "the program uses",                                                                 \
				  .rare = true),                                                                      \
		CLI_VALUE("nvrtc", "FILE|PACKAGE",                                                            \
				  "Use this NVRTC, which must be the NVRTC that the program uses: a library, a "      \
				  "toolkit, or a package that has or requires NVRTC",                                 \
				  .names = NAMES_FILE_OR_NAME, .rare = true),                                         \
		CLI_FLAG("dry-run", "Only report the modules to compile", .letter = 'n')

static const struct cli_option prime_options[] = {
	CLI_HEADING(.title = "What to compile"),
	WHAT_OPTIONS,
	CLI_FLAG(
		"used-only",
		"Compile only modules that programs under “jitwarm run” used, on this machine or in a "
		"recording that was primed on this machine; without this option, these modules come first"),
	CLI_LIST("gpu", "GPU",
			 "Prime only for these GPUs of this machine: sm_86, rtx3070, “RTX 4090”, or several "
			 "with commas",
			 .rare = true),
	CLI_VALUE(
		"nvrtc-name", "NAME",
		"Compile the CUDA source under this name, which must be the name that the program uses",
		.rare = true),
	CLI_FLAG("if-changed",
			 "End at once, without starting the driver, if driver, GPUs, packages, settings and "
			 "cache are unchanged since the last run with --if-changed",
			 .rare = true),

	CLI_HEADING(.title = "Limits"),
	CLI_JOBS(.rare = false),
	CLI_DURATION("budget-time", "TIME",
				 "Start no module after TIME (5m, 1h30m), and finish the modules in progress; the "
				 "most valuable modules come first, and the next run continues",
				 .least = 1),
	CLI_SIZE("budget-size", "SIZE",
			 "Let the named files use at most SIZE of the cache (1G, 500M), warm modules included, "
			 "the most valuable modules first",
			 .least = 1, .rare = true),
	CLI_BACKGROUND(.rare = true),
	CLI_WORKER_SETTINGS,

	CLI_HEADING(.title = "Where results come from"),
	CLI_VALUE(
		"store", "DIR",
		"Take packs that fit from this folder, which machines share, instead of compiling, and "
		"put a pack with what this run compiles there (signed if there is a key)"),
	CLI_FLAG("allow-unsigned",
			 "With --store: trust whoever can write to the folder, even without a signature",
			 .rare = true),
	CLI_FLAG("no-store",
			 "Leave the store alone: restore no earlier results, and add no new results",
			 .rare = true),
	CLI_SETTING(OPTION_VALUE, "key"),

	CLI_HEADING(.title = "Where results go"),
	CLI_CACHE,
	CLI_FLAG("tune", "If the cache limit is too small for the results, first raise the limit for "
					 "this account (“jitwarm tune”)"),
	CLI_VALUE("json-log", "FILE",
			  "Append a line of JSON to FILE at the end of the run, also after a failure",
			  .names = NAMES_LOG, .rare = true),
	PROGRESS_OPTION,
	{0}};

const struct cli_command command_prime = {
	.name = "prime",
	.summary = "Compile now what a first start would compile",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Compiles now, on all cores, what the driver would compile at the first start of "
		"programs.\n\nWithout a name, prime compiles for the active Python environment. NVIDIA's "
		"driver compiles each module and keeps the result in its cache. Modules in the cache are "
		"not compiled again, and the next run continues an interrupted run.\n\nFirst jitwarm "
		"predicts the time and the space, and it starts no module whose result would not fit into "
		"the cache. --budget-time and --budget-size prefer modules that every start needs and that "
		"take the longest.\n\nAfter a driver update, jitwarm reuses the results of another driver "
		"build of the same CUDA minor version: the bytes are the same.\n\n--store takes "
		"packs from a folder that machines share, and afterwards puts a pack with the compiled "
		"modules there. Machines that start later have nothing left to compile.\n\nCUDA C sources "
		"(*.cu) are first "
		"compiled to PTX by NVRTC, for each GPU architecture. The cache identifies a module by its "
		"PTX, so NVRTC's version, options and source name must be those of the program.\n\nMemory, "
		"time-outs and the store are settings (“jitwarm config”).",
	.examples =
		"jitwarm prime tensorflow\njitwarm prime -n torch\njitwarm prime --budget-time 5m\n",
	.options = prime_options,
	.run = prime_run,
};

static const struct cli_option make_options[] = {
	CLI_HEADING(.title = "For which machine"),
	CLI_LIST("target", "GPU",
			 "Compile for this GPU: sm_86, rtx3070, “RTX 4090”, or several; may be repeated"),
	CLI_LIST("driver", "VERSION|FILE",
			 "Compile for this driver: a version (550.163.01; with -n also 580 or CUDA 12.8), a "
			 "driver's library (libcuda.so, nvcuda64.dll; if the file's name has no version, add "
			 "“--driver VERSION”), or a profile that “jitwarm status --driver-profile FILE” has "
			 "written on the other machine",
			 .names = NAMES_FILE_OR_NAME),
	CLI_VALUE("output", "FILE|DIR",
			  "Write a pack for “jitwarm import” on the other machine, or fill a cache in this "
			  "folder (DIR/)",
			  .letter = 'o', .names = NAMES_OUTPUT_OR_FOLDER),
	CLI_FLAG("sign", "Sign the pack: write the signature into FILE.minisig"),
	CLI_SETTING(OPTION_VALUE, "key"),

	CLI_HEADING(.title = "What to compile"),
	WHAT_OPTIONS,

	CLI_HEADING(.title = "How"),
	CLI_VALUE("ptxas", "FILE",
			  "Compile with this ptxas instead of the one of the driver's CUDA version",
			  .names = NAMES_FILE, .rare = true),
	FETCH_OPTION("Fetch a missing compiler first, as “jitwarm compiler fetch” does"),
	CLI_JOBS(.rare = false),
	PROGRESS_OPTION,
	CLI_WORKER_SETTINGS,
	{0}};

const struct cli_command command_make = {
	.name = "make",
	.summary = "Compile for another machine, and write a pack",
	.usage = "--target GPU --driver VERSION|FILE -o FILE|DIR/ [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Compiles modules for another machine, without the GPU and driver of that "
		"machine.\n\nNVIDIA's compiler ptxas makes the same machine code as a driver of its CUDA "
		"version. The result is a pack for “jitwarm import” on the other machine, or a cache in a "
		"folder for a container image. “jitwarm compiler fetch”, or --fetch, gets this ptxas.",
	.examples = "jitwarm make --target rtx3070 --driver 550.163.01 --fetch -o lab.jwpack torch\n"
				"jitwarm make --target sm_86 --driver 550.163.01 -n torch\n",
	.options = make_options,
	.run = prime_run,
};
