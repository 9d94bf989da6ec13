/* prime, run, command */
#include "cli/documents/documents.h"
#include "cli/parts/prime_text.h"

#define ROW(member, ...)          JSON(struct prime_document, result.member, __VA_ARGS__)
#define ROW_AS(name, member, ...) JSON_AS(name, struct prime_document, result.member, __VA_ARGS__)

static const struct json_field failure_fields[] = {
	JSON(struct prime_failure, failure.path, NULL),
	JSON(struct prime_failure, failure.member, "inside an archive: its name there",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct prime_failure, failure.offset, "of the container"),
	JSON_SAID("target", struct prime_failure, failure.target, document_sm, "`sm_86`"),
	JSON(struct prime_failure, failure.reason, "a line"),
	JSON(struct prime_failure, failure.log, "the driver's log; `\"\"` where it wrote none"),
	JSON(struct prime_failure, command, "a line for a shell that shows the failure again",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field gpu_fields[] = {
	JSON_SAID("target", struct jw_prime_gpu, target, document_sm, "`sm_86`"),
	JSON(struct jw_prime_gpu, cold, NULL),
	JSON(struct jw_prime_gpu, restored, NULL),
	JSON_OBJECT_OF("forecast", struct jw_prime_gpu, forecast, &document_forecast,
				   "if this architecture had all workers"),
	{0},
};

static const struct json_field refilled_fields[] = {
	JSON(struct jw_store_refilled, entries,
		 "restored entries; with `--dry-run`: entries that would be"),
	JSON(struct jw_store_refilled, bytes, "of these entries"),
	JSON_INSIDE_OF("notes", struct jw_store_refilled, notes, note_count,
				   "the first eight lines on damaged packs and on entries without room"),
	{0},
};

static const struct json_field shared_fields[] = {
	JSON(struct jw_shared, fetched, "modules taken from there; not in `compiled`"),
	JSON(struct jw_shared, fetched_bytes, "of their packs"),
	JSON(struct jw_shared, saved_seconds, "predicted for compiling them on one core"),
	JSON(struct jw_shared, placed, "compiled modules that were put there"),
	JSON(struct jw_shared, placed_bytes, "of their packs"),
	JSON(struct jw_shared, refused, "modules there that were not taken"),
	JSON(struct jw_shared, refused_why, "a line on the first of them", .presence = JSON_IF_SET),
	JSON(struct jw_shared, unplaced,
		 "compiled modules that could not be put there, while others could be taken",
		 .presence = JSON_IF_SET),
	JSON(struct jw_shared, trouble,
		 "a line on why the place was used no further, or those not put there",
		 .presence = JSON_IF_SET),
	{0},
};

static const char *say_from(char room[JSON_ROOM], const void *in_store)
{
	(void)room;
	return *(const bool *)in_store ? "store" : "cache";
}

static const struct json_field group_fields[] = {
	JSON(struct jw_carry_group, driver, "that compiled them: `535.309.01 (CUDA 12.2)`"),
	JSON(struct jw_carry_group, target, "`sm_86`"),
	JSON(struct jw_carry_group, refused, "they cannot be carried over"),
	JSON(struct jw_carry_group, older, "compiled by an older compiler"),
	JSON_SAID("from", struct jw_carry_group, in_store, say_from, "`cache` or `store`"),
	JSON(struct jw_carry_group, modules, "their number"),
	JSON(struct jw_carry_group, why, "of refused ones: each field that does not fit",
		 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field carried_fields[] = {
	JSON_AS("modules", struct jw_carry_result, carried,
			"carried over; with `--dry-run`: that would be"),
	JSON(struct jw_carry_result, older, "of these: compiled by an older compiler"),
	JSON(struct jw_carry_result, refused, "that cannot be carried over"),
	JSON_AS("added_bytes", struct jw_carry_result, bytes, "of these results in the cache"),
	JSON(struct jw_carry_result, evicted, "old entries that were evicted for them"),
	JSON(struct jw_carry_result, seconds, NULL),
	JSON_LIST_OF("groups", struct jw_carry_result, groups, group_count,
				 JSON_TABLE(struct jw_carry_group, group_fields), NULL),
	{0},
};

extern const struct json_table document_export_members;

static const struct json_field prime_fields[] = {
	JSON_SAID("verdict", struct prime_document, result.verdict, document_verdict,
			  "as in `check`, before the run; with `--dry-run` it decides the exit status"),
	ROW(plan.modules, "as in `check`, like the next nine, before anything was compiled"),
	ROW(plan.warm, NULL),
	ROW(plan.cold, NULL),
	ROW(plan.restored, "of the cold ones: the store, or what former drivers compiled, makes them "
					   "warm at once"),
	ROW(plan.carried, NULL),
	ROW(plan.anew, "with `--recompile-carried`: of the cold ones, those with a result of an older "
				   "driver in the cache"),
	ROW(plan.damaged, NULL),
	ROW(plan.cannot, NULL),
	ROW(plan.lacking, "pieces of code that have none for a GPU, of files that do not fail"),
	ROW(plan.tile, "pieces of Tile IR, which the driver compiles at their first load"),
	ROW(plan.unknown, "pieces of a kind that jitwarm does not know"),
	ROW(plan.refused, "modules that the driver has refused before, which are not tried again"),
	ROW(plan.link, NULL),
	ROW(plan.left_out, NULL),
	ROW(plan.why, "a line on the reasons why modules are cold, the most frequent first",
		.presence = JSON_IF_SET),
	ROW(plan.recorded, "with `--recording`: its modules that come from files",
		.presence = JSON_IF_SET),
	ROW(plan.recorded_missing, "of these: not in the files here",
		JSON_IF(struct prime_document, result.plan.recorded)),
	ROW_AS("recorded_not_in_files", plan.recorded_unfiled,
		   "with `--recording`: its modules that are in no file", .presence = JSON_IF_SET),
	ROW(plan.forecast.workers, "number of processes that compile at the same time"),
	ROW(plan.cold_bytes, "as in `check`"),
	ROW_AS("predicted_cache_bytes", plan.forecast.cache_bytes, "as in `check`"),
	ROW_AS("predicted_cpu_seconds", plan.forecast.start.likely, "as in `check`"),
	ROW_AS("predicted_seconds", plan.forecast.prime.likely,
		   "wall time with these workers; compare `seconds`"),
	JSON_OBJECT_OF("forecast", struct prime_document, result.plan.forecast, &document_forecast,
				   "what compiling the `cold` ones takes, with how sure that is"),
	JSON_LIST_OF("gpus", struct prime_document, result.gpus, result.gpu_count,
				 JSON_TABLE(struct jw_prime_gpu, gpu_fields), "an object for each architecture"),
	ROW(plan.limit_bytes, "the limit of the driver's cache"),
	ROW(plan.used_bytes, "in the cache by its files, of all programs"),
	ROW(plan.over_budget, "of the cold ones: modules that `--budget-time` or `--budget-size` leave "
						  "for a later run; predictions leave them out"),
	ROW_AS("over_budget_cache_bytes", plan.over_budget_bytes, "predicted for these modules",
		   JSON_IF(struct prime_document, result.plan.over_budget)),
	ROW_AS("over_budget_cpu_seconds", plan.over_budget_seconds, "predicted for these modules",
		   JSON_IF(struct prime_document, result.plan.over_budget)),
	ROW(compiled, "modules compiled into the cache"),
	ROW(misjudged, "of these: entries whose names differ from the prediction"),
	ROW(unchanged, "modules that the driver loaded without leaving an entry"),
	ROW(failed, "modules that could not be compiled"),
	ROW(met, "modules that another run compiled at the same time"),
	ROW(lost, "modules whose entries are missing at the end of the run (evicted, wiped, "
			  "removed); counted as `undone` too"),
	ROW(undone, "modules left by a run that was interrupted or stopped"),
	ROW(added_bytes, "growth of the cache"),
	JSON_OBJECT_OF("cache", struct prime_document, result.plan.cache, &document_outlook,
				   "what the driver would have done with the cache before this run"),
	ROW(repaired, "the cache's index was not sound, and is now"),
	ROW(evicted, "old entries that were evicted for them"),
	ROW(cooled,
		"of the evicted, also those for carried entries: entries of the driver in use, which "
		"are cold now (status 1)"),
	ROW(seconds, "wall time of compiling"),
	ROW(compile_seconds, "the sum of the modules' times in their workers"),
	ROW(longest_seconds, "the longest of them"),
	ROW(compile_cpu_seconds,
		"the processor time of that sum, from which jitwarm learns this machine's speed; much less "
		"where other programs keep the processor busy"),
	ROW(peak_worker_bytes, "resident memory of a worker at its highest"),
	JSON(struct prime_document, peak_supervisor_bytes,
		 "resident memory of jitwarm itself at its highest"),
	ROW(interrupted, "by Ctrl-C"),
	ROW(out_of_time, "`--budget-time` ended before all was compiled (`undone`)"),
	ROW(opaque, "the form of the driver's entries is unknown: they were only counted"),
	ROW_AS("stopped", stopped.message,
		   "a line on why the run stopped early (the cache or the disk is full, no worker stays "
		   "alive) or did not start (the results exceed the cache's limit; status 2)",
		   JSON_IF(struct prime_document, result.stopped.code)),
	JSON_LIST_OF("failures", struct prime_document, failures, result.failure_count,
				 JSON_TABLE(struct prime_failure, failure_fields),
				 "the modules that could not be compiled"),
	JSON_LINES_OF("notes", struct prime_document, result.notes, result.note_count,
				  "lines, as in `check`"),
	JSON_POINTER_OF("from_store", struct prime_document, refilled,
					JSON_TABLE(struct jw_store_refilled, refilled_fields),
					"where the store had missing entries, or could not restore them"),
	JSON_POINTER_OF("carried_over", struct prime_document, carried,
					JSON_TABLE(struct jw_carry_result, carried_fields),
					"where former drivers compiled modules that this one lacks"),
	JSON_POINTER_OF("pack", struct prime_document, pack, &document_export_members,
					"with `-o`, where one was written"),
	JSON_POINTER_OF("shared", struct prime_document, shared,
					JSON_TABLE(struct jw_shared, shared_fields), "with `--share`"),
	{0},
};
const struct json_table document_prime = {
	.schema = "jitwarm.prime/1", .fields = prime_fields, .instead = &document_prime_skipped};

static const struct json_field skipped_fields[] = {
	JSON_AS("skipped", struct unattended, skip, "true"),
	JSON(struct unattended, compiled, "0"),
	{0},
};
const struct json_table document_prime_skipped = {
	.schema = "jitwarm.prime/1",
	.text = "A run that `--if-changed` skips prints only this:",
	.fields = skipped_fields,
};

static const struct json_field run_fields[] = {
	JSON(struct unattended, time_s, "its start, in seconds since 1970"),
	JSON(struct unattended, seconds, "wall time"),
	JSON(struct unattended, status, "its exit status"),
	JSON_AS("skipped", struct unattended, skip, "nothing was changed"),
	JSON_AS("changed", struct unattended, changes,
			"with `--if-changed`: `driver`, `GPUs`, `packages`, `settings`, `cache` (entries are "
			"lost or were written again, or its index is not sound), separated by commas, or "
			"`first run`",
			.presence = JSON_UNLESS_NULL),
	JSON(struct unattended, modules, "as in `prime`"),
	JSON(struct unattended, compiled, "as in `prime`"),
	JSON(struct unattended, failed, "as in `prime`"),
	JSON(struct unattended, undone, "as in `prime`"),
	JSON(struct unattended, restored,
		 "modules that were taken from the store, a shared place or an older driver's entries"),
	JSON(struct unattended, saved_seconds,
		 "processor time of the compiled ones, which a first start is spared"),
	JSON(struct unattended, problem, "why it did not start, or stopped; or `\"\"`"),
	{0},
};
const struct json_table document_run = {
	.schema = "jitwarm.run/1",
	.text = "A line of the log that `prime --if-changed` writes in the state directory "
			"(`runs.jsonl`), and of that of `--json-log`.",
	.fields = run_fields,
};

#define COMMAND(member, ...) JSON(struct command_document, member, __VA_ARGS__)

static const struct json_field owner_fields[] = {
	JSON_AS("path", struct command_owner, file.path, "with a package: below its folder"),
	JSON_AS("package", struct command_owner, file.package, "that installed it",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("version", struct command_owner, file.version, "of the package",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("member", struct command_owner, file.member, "inside an archive",
			.presence = JSON_UNLESS_NULL),
	JSON(struct command_owner, modules, "that were compiled"),
	JSON(struct command_owner, seconds, "of compiling them"),
	{0},
};

static const struct json_field command_fields[] = {
	JSON_AS("recording", struct command_document, file,
			"with `--record`: the file that was written", .presence = JSON_UNLESS_NULL),
	COMMAND(recording.command, "the program's name"),
	COMMAND(result.exit_status, "the command's; 128 and the signal's number where one ended it"),
	COMMAND(result.seconds, "wall time that it ran"),
	JSON_AS("modules", struct command_document, recording.module_count,
			"that the driver compiled meanwhile: `in_files` + `not_in_files`"),
	COMMAND(result.compile_seconds, "of compiling them, predicted"),
	JSON_LIST_OF("files", struct command_document, owners, owner_count,
				 JSON_TABLE(struct command_owner, owner_fields),
				 "the files that hold these modules, the slowest to compile first"),
	JSON_AS("in_files", struct command_document, result.found,
			"modules that the searched files hold"),
	COMMAND(not_in_files, "modules that no searched file holds"),
	COMMAND(result.not_by_prime,
			"of `in_files`: those that `prime` of the files does not compile, only of a recording"),
	COMMAND(result.live, "the command had the driver's cache; else a private one"),
	JSON_AS("why_useless", struct command_document, why_useless,
			"a line on why programs do not use the cache", .presence = JSON_IF_SET),
	COMMAND(result.added, "entries added to the user's cache"),
	COMMAND(result.added_bytes, "growth of the user's cache by those of a private one"),
	COMMAND(result.there, "entries of a private cache that the user's had already"),
	COMMAND(result.refused, "entries not added: damaged, or of an unknown form"),
	COMMAND(result.evicted, "old entries that were evicted for them"),
	COMMAND(result.cooled, "of these: entries of the driver in use, whose modules are cold again"),
	JSON_AS("why_not_warmed", struct command_document, result.unwarmed.message,
			"a line on why entries were not added to the user's cache",
			JSON_IF(struct command_document, result.unwarmed.code)),
	COMMAND(result.compiler_seen,
			"a process of the command had loaded the driver's compiler, which compiles and links; "
			"a process that ended quickly may be missed"),
	COMMAND(result.interrupted,
			"by Ctrl-C after the command's end: the search stopped, and `in_files` may be too low"),
	JSON_LINES_OF("notes", struct command_document, result.notes, result.note_count,
				  "lines: files that could not be read"),
	{0},
};
const struct json_table document_command = {
	.schema = "jitwarm.command/1",
	.text = "The result of `run`; a recording is another document (`formats.md`).",
	.fields = command_fields,
};
