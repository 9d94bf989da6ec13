#include <stdio.h>

#include "cli/documents/documents.h"

#define ROW(member, ...)          JSON(struct status_document, member, __VA_ARGS__)
#define ROW_AS(name, member, ...) JSON_AS(name, struct status_document, member, __VA_ARGS__)

static const struct json_field gpu_fields[] = {
	JSON(struct jw_gpu, name, "as the driver calls it"),
	JSON_SAID("target", struct jw_gpu, target, document_sm, "`sm_86`"),
	JSON(struct jw_gpu, bus, "`0000:01:00.0`; `\"\"` where unknown"),
	JSON(struct jw_gpu, uuid, "as nvidia-smi writes it; `\"\"` where unknown"),
	JSON(struct jw_gpu, memory_bytes, NULL),
	{0},
};

/* NVIDIA's form: two digits in the third number, which some releases lack. */
static const char *say_release(char room[JSON_ROOM], const void *driver)
{
	const uint32_t *release = ((const struct jw_driver *)driver)->release;

	if (!release[0])
		return NULL;
	(void)snprintf(room, JSON_ROOM, release[2] ? "%u.%u.%02u" : "%u.%02u", release[0], release[1],
				   release[2]);
	return room;
}

static const char *say_cuda(char room[JSON_ROOM], const void *driver)
{
	const uint32_t cuda = ((const struct jw_driver *)driver)->cuda;

	if (!cuda)
		return NULL;
	(void)snprintf(room, JSON_ROOM, "%u.%u", cuda / 1000, cuda % 1000 / 10);
	return room;
}

static const char *const trust_names[] = {
	[JW_TRUST_NONE] = "unknown",  [JW_TRUST_READ] = "read",     [JW_TRUST_CONFIRMED] = "confirmed",
	[JW_TRUST_OPAQUE] = "opaque", [JW_TRUST_OPAQUE + 1] = NULL,
};

static const struct json_field driver_fields[] = {
	JSON_SAID("version", struct jw_driver_info, version, say_release, "`550.163.01`",
			  .presence = JSON_UNLESS_NULL),
	JSON_SAID("cuda", struct jw_driver_info, version, say_cuda, "`12.4`",
			  .presence = JSON_UNLESS_NULL),
	JSON(struct jw_driver_info, library, "the file; `\"\"` where no driver is installed"),
	JSON(struct jw_driver_info, stamp,
		 "the date and time of the build, which the names of cache entries depend on; `\"\"` where "
		 "unknown"),
	JSON_AS("stamp_trust", struct jw_driver_info, trust,
			"`unknown` (no stamp), `read` (from the library's file), `confirmed` (seen in an entry "
			"of this driver) or `opaque` (jitwarm does not know the form of this driver's cache)",
			.names = trust_names),
	{0},
};

static const struct json_field cache_fields[] = {
	ROW(system.cache.path, "absent where the driver would not cache", .presence = JSON_UNLESS_NULL),
	ROW(system.cache.exists, "the directory is there"),
	ROW(system.cache.outlook.entries, "files of entries"),
	ROW_AS("size_bytes", system.cache.outlook.bytes,
		   "the size of the entries, as the limit counts it"),
	JSON_MEMBERS_OF(struct status_document, system.cache.outlook, &document_outlook),
	ROW(carried, "of the entries: compiled by older drivers"),
	ROW(system.cache.limit_bytes, "the limit of the driver's cache"),
	ROW(system.cache.limit_set, "by `CUDA_CACHE_MAXSIZE`, not by the driver's default"),
	ROW(system.cache.disabled, "by `CUDA_CACHE_DISABLE`"),
	ROW(system.cache.force_ptx_jit,
		"`CUDA_FORCE_PTX_JIT` is set: the cache is written and never read"),
	JSON_LINES_OF("warnings", struct status_document, system.cache.warnings,
				  system.cache.warning_count, "lines"),
	{0},
};

static const struct json_field other_fields[] = {
	JSON(struct jw_other_cache, account, NULL),
	JSON(struct jw_other_cache, path, NULL),
	JSON(struct jw_other_cache, entries, "0 where this account may not read it"),
	JSON(struct jw_other_cache, size_bytes, "0 where this account may not read it"),
	{0},
};

static const struct json_field package_gpu_fields[] = {
	JSON_SAID("target", struct jw_check_package_gpu, target, document_sm, "`sm_86`"),
	JSON(struct jw_check_package_gpu, warm, "modules with a sound entry in the cache"),
	JSON(struct jw_check_package_gpu, cold, "modules without one"),
	JSON(struct jw_check_package_gpu, failing,
		 "files whose code cannot run there, so that programs fail"),
	JSON_OBJECT_OF("forecast", struct jw_check_package_gpu, forecast, &document_forecast,
				   "of the cold ones"),
	{0},
};

static const struct json_field package_fields[] = {
	JSON(struct jw_check_package, name, "absent for files that no package has installed",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_package, version, "absent where unknown", .presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("gpus", struct jw_check_package, gpus, gpu_count,
				 JSON_TABLE(struct jw_check_package_gpu, package_gpu_fields),
				 "an object for each architecture; where all three numbers are 0, everything runs "
				 "as it is"),
	{0},
};

#define AHEAD(member, ...) JSON(struct jw_ahead, member, __VA_ARGS__)

static const char *say_ahead(char room[JSON_ROOM], const void *state)
{
	(void)room;
	return jw_ahead_state_name(*(const enum jw_ahead_state *)state);
}

static const struct json_field ahead_fields[] = {
	JSON_SAID("state", struct jw_ahead, state, say_ahead,
			  "`none`, `noticed`, `carried`, `compiling`, `ready`, `live`, `undone`, `no-room`, "
			  "`no-compiler` or `failed`"),
	AHEAD(running, "the driver that runs; `\"\"` where unknown"),
	AHEAD(next, "the one that was or is prepared", .presence = JSON_IF_SET),
	AHEAD(pending, "`next` is installed and starts at the next boot"),
	AHEAD(modules, "that the running driver has compiled, for this machine's GPUs"),
	AHEAD(ready, "of them, those with an entry of `next`"),
	AHEAD(carried, "of these, those made by an older compiler"),
	AHEAD(stored, "`no-room`: those that wait in the store for the boot", .presence = JSON_IF_SET),
	AHEAD(limit_bytes, "`no-room`: the limit that all would need", .presence = JSON_IF_SET),
	AHEAD(why, "one line about the last three states", .presence = JSON_IF_SET),
	{0},
};
const struct json_table document_ahead = {.schema = "jitwarm.ahead/1", .fields = ahead_fields};
static const struct json_table ahead_members = {.fields = ahead_fields,
												.size = sizeof(struct jw_ahead)};

static const struct json_field status_fields[] = {
	JSON_LIST_OF("gpus", struct status_document, system.gpus, system.gpu_count,
				 JSON_TABLE(struct jw_gpu, gpu_fields), "the GPUs of this machine"),
	JSON_AS("why_no_gpu", struct status_document, system.why_none,
			"one line, where `gpus` is empty", .presence = JSON_IF_SET),
	ROW(system.remembered,
		"the GPUs were found by an earlier run with this driver and these devices"),
	JSON_OBJECT_OF("driver", struct status_document, system.driver,
				   JSON_TABLE(struct jw_driver_info, driver_fields), NULL),
	JSON_PART("cache", JSON_TABLE(struct status_document, cache_fields), "the driver's"),
	JSON_LIST_OF("others", struct status_document, others, other_count,
				 JSON_TABLE(struct jw_other_cache, other_fields),
				 "caches of service accounts, as far as this account may see them"),
	JSON_OBJECT_OF("ahead", struct status_document, ahead, &ahead_members,
				   "how far the cache is prepared for a driver that is installed and starts at the "
				   "next boot",
				   JSON_IF(struct status_document, ahead.pending)),
	ROW(environment, "the Python environment; absent without one, or without a GPU",
		.presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("packages", struct status_document, packages.packages, packages.package_count,
				 JSON_TABLE(struct jw_check_package, package_fields),
				 "its packages with device code, the slowest to compile first; a module that "
				 "several packages hold counts for the first"),
	JSON_SAID("verdict", struct status_document, packages.verdict, document_verdict,
			  "as in `check`; absent like `environment`",
			  JSON_IF(struct status_document, environment)),
	ROW(troubles, "its files and folders that could not be read: what they hold is not known"),
	ROW(wsl, "this Linux runs inside Windows (WSL), whose programs have another cache"),
	JSON_AS("state", struct status_document, system.state_dir, "jitwarm's own folder",
			.presence = JSON_UNLESS_NULL),
	{0},
};
const struct json_table document_status = {.schema = "jitwarm.status/1", .fields = status_fields};

/* tune, startup, uninstall */

#define TUNE(member, ...)          JSON(struct tune_document, member, __VA_ARGS__)
#define TUNE_AS(name, member, ...) JSON_AS(name, struct tune_document, member, __VA_ARGS__)

static const struct json_field force_fields[] = {
	TUNE(cache.now.path, "absent where the driver would not cache", .presence = JSON_UNLESS_NULL),
	TUNE(cache.now.limit_bytes, NULL),
	TUNE(cache.now.limit_set, "by `CUDA_CACHE_MAXSIZE`"),
	{0},
};

static const struct json_field login_fields[] = {
	TUNE(cache.path, "absent where the driver would not cache", .presence = JSON_UNLESS_NULL),
	TUNE(cache.limit_bytes, NULL),
	TUNE(cache.limit_set, "by `CUDA_CACHE_MAXSIZE`"),
	{0},
};

static const struct json_field wanted_fields[] = {
	TUNE(path, "absent where it stays as it is", .presence = JSON_UNLESS_NULL),
	TUNE(limit_bytes, NULL),
	{0},
};

static const char *say_value(char room[JSON_ROOM], const void *values)
{
	const struct jw_setting *setting = values;

	(void)room;
	return setting->unset ? NULL : setting->value;
}

static const struct json_field setting_fields[] = {
	JSON(struct jw_setting, source,
		 "`process`, `shell profile`, `environment.d`, `/etc/environment`, `profile.d`, `systemd "
		 "unit`, `Windows user`, `Windows machine`"),
	JSON(struct jw_setting, where, "file or registry key"),
	JSON(struct jw_setting, line, "0: none"),
	JSON(struct jw_setting, name, "of the variable"),
	JSON_SAID_OF("value", say_value, "absent where the variable is unset",
				 .presence = JSON_UNLESS_NULL),
	JSON_AS("by_jitwarm", struct jw_setting, ours, "in a block that jitwarm wrote"),
	{0},
};

static const struct json_field change_fields[] = {
	JSON(struct jw_tune_change, where, "file or registry key"),
	JSON(struct jw_tune_change, what,
		 "`written`, `unchanged`, `restored`, `removed`; "
		 "`left`: changed by others since"),
	{0},
};

static const struct json_field undone_fields[] = {
	JSON_LIST_OF("changes", struct tune_document, changes.changes, changes.count,
				 JSON_TABLE(struct jw_tune_change, change_fields), "of `--apply` and `--undo`"),
	{0},
};
const struct json_table document_tune_undone = {
	.schema = "jitwarm.tune/1",
	.text = "`--undo` prints only this:",
	.fields = undone_fields,
};

static const struct json_field tune_fields[] = {
	JSON_PART("in_force", JSON_TABLE(struct tune_document, force_fields), "of this process"),
	JSON_PART("next_login", JSON_TABLE(struct tune_document, login_fields),
			  "what programs have from the next login on, and jitwarm at once"),
	JSON_PART("should_be", JSON_TABLE(struct tune_document, wanted_fields), "`--apply` sets it"),
	TUNE_AS("present_bytes", cache.outlook.bytes, "in the cache"),
	TUNE(predicted_bytes, "that the named packages would add"),
	JSON_LIST_OF("settings", struct tune_document, settings.items, settings.count,
				 JSON_TABLE(struct jw_setting, setting_fields),
				 "every place that sets a variable of the driver's cache"),
	JSON_LINES_OF(
		"warnings", struct tune_document, warnings, warning_count,
		"lines: misleading values, names unknown to the driver, problems of the directory"),
	JSON_SAME(&document_tune_undone),
	{0},
};
const struct json_table document_tune = {
	.schema = "jitwarm.tune/1", .fields = tune_fields, .instead = &document_tune_undone};

static const struct json_field item_fields[] = {
	JSON(struct jw_startup_item, where, "a file, or the task's name"),
	JSON(struct jw_startup_item, there, "it exists"),
	JSON_AS("by_jitwarm", struct jw_startup_item, ours, "it is jitwarm's"),
	JSON(struct jw_startup_item, text, "the content that `startup enable` with these names writes"),
	{0},
};

static const struct json_field startup_fields[] = {
	JSON(struct startup_document, enabled,
		 "the task, or all of the units, exist and are jitwarm's"),
	JSON_LIST_OF("items", struct startup_document, startup.items, startup.count,
				 JSON_TABLE(struct jw_startup_item, item_fields), NULL),
	JSON_LINES_OF("commands", struct startup_document, startup.commands, startup.command_count,
				  "run for the system, one line each"),
	JSON(struct startup_document, startup.failed,
		 "why one of them failed; nothing is enabled then, and the files are as before",
		 .presence = JSON_UNLESS_NULL),
	JSON_READY_OF("runs", struct startup_document, runs, &document_run,
				  "with `startup status`: the last lines of the log"),
	{0},
};
const struct json_table document_startup = {
	.schema = "jitwarm.startup/1",
	.fields = startup_fields,
};

static const struct json_field uninstall_fields[] = {
	JSON_LINES_OF(
		"removed", struct uninstall_document, removed, count,
		"files, registry values, folders (jitwarm's empty one in the driver's cache too)"),
	{0},
};
const struct json_table document_uninstall = {
	.schema = "jitwarm.uninstall/1",
	.fields = uninstall_fields,
};

static const struct json_field span_fields[] = {
	JSON(struct jw_seconds, low, "it takes less in one case of twenty"),
	JSON(struct jw_seconds, likely, NULL),
	JSON(struct jw_seconds, high, "it takes more in one case of twenty"),
	{0},
};
const struct json_table document_span = {.fields = span_fields, .size = sizeof(struct jw_seconds)};

#define FORECAST(member, ...) JSON(struct jw_forecast, member, __VA_ARGS__)

static const struct json_field forecast_fields[] = {
	JSON_OBJECT_OF("start_seconds", struct jw_forecast, start, &document_span,
				   "the first start of programs: their driver compiles one module after the other, "
				   "on one core; of several other machines together: the longest"),
	FORECAST(longest_seconds, "of the longest module"),
	JSON_OBJECT_OF("prime_seconds", struct jw_forecast, prime, &document_span,
				   "wall time of `prime` with these workers"),
	FORECAST(workers, "processes that compile at the same time"),
	FORECAST(cache_bytes, "growth of the driver's cache"),
	JSON_OBJECT_OF("link_seconds", struct jw_forecast, link, &document_span,
				   "run-time linking, which every start repeats, also a warm one; not in "
				   "`start_seconds`"),
	FORECAST(measured,
			 "false: how fast the compiler is on that machine is not known, and the times "
			 "are those of a usual one"),
	{0},
};
const struct json_table document_forecast = {.fields = forecast_fields,
											 .size = sizeof(struct jw_forecast)};

/* error, version, compiler */

static const char *const code_names[] = {
	[JW_OK] = "ok",
	[JW_ERR_USAGE] = "usage",
	[JW_ERR_NOT_FOUND] = "not_found",
	[JW_ERR_IO] = "io",
	[JW_ERR_FORMAT] = "format",
	[JW_ERR_LIMIT] = "limit",
	[JW_ERR_UNSUPPORTED] = "unsupported",
	[JW_ERR_DRIVER] = "driver",
	[JW_ERR_BUSY] = "busy",
	[JW_ERR_INTERRUPTED] = "interrupted",
	[JW_ERR_INTERRUPTED + 1] = NULL,
};

static const struct json_field error_fields[] = {
	JSON_AS("error", struct jw_error, message, "the message of standard error, one line"),
	JSON(struct jw_error, code, "the kind of failure", .names = code_names),
	{0},
};
const struct json_table document_error = {
	.schema = "jitwarm.error/1",
	.text = "Instead of any other document where a command fails.",
	.fields = error_fields,
};

static const struct json_field library_fields[] = {
	JSON_AS("zstd", struct jw_component, name, NULL),
	JSON(struct jw_component, version, NULL),
	{0},
};

static const struct json_field version_fields[] = {
	JSON(struct version_document, version, "of jitwarm"),
	JSON(struct version_document, platform, "`x86_64-linux`"),
	JSON(struct version_document, compiler, "`gcc 12.2.0`"),
	JSON(struct version_document, build_type, "with the sanitizers, where there are any"),
	JSON_MAP_OF("libraries", struct version_document, libraries, library_count,
				JSON_TABLE(struct jw_component, library_fields), "their versions by name"),
	{0},
};
const struct json_table document_version = {
	.schema = "jitwarm.version/1",
	.text = "`jitwarm --version --json`.",
	.fields = version_fields,
};

static const struct json_field text_fields[] = {
	JSON(struct text_document, text, "what the command prints without `--json`"),
	{0},
};
const struct json_table document_text = {
	.schema = "jitwarm.text/1",
	.text = "Of `help` and `completion`.",
	.fields = text_fields,
};

static const struct json_field kept_setting_fields[] = {
	JSON(struct config_row, name, NULL),
	JSON(struct config_row, value, "of a list with blanks between them; absent: not set",
		 .presence = JSON_IF_SET),
	JSON_AS("from", struct config_row, origin, "a variable, or a file and its line",
			.presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field config_fields[] = {
	JSON_AS("account", struct config_document, account_file, "the account's file, there or not",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("machine", struct config_document, machine_file, "the machine's"),
	JSON_LIST_OF("settings", struct config_document, rows, count,
				 JSON_TABLE(struct config_row, kept_setting_fields), "all that there are"),
	{0},
};
const struct json_table document_config = {
	.schema = "jitwarm.config/1",
	.text = "`jitwarm config`.",
	.fields = config_fields,
};

static const struct json_field compiler_fields[] = {
	JSON(struct compiler_row, version, "the CUDA version as it was asked for"),
	JSON(struct compiler_row, path, "its ptxas"),
	{0},
};

static const struct json_field compilers_fields[] = {
	JSON_LIST_OF("compilers", struct compiler_document, rows, count,
				 JSON_TABLE(struct compiler_row, compiler_fields), "in the order of the arguments"),
	{0},
};
const struct json_table document_compiler = {
	.schema = "jitwarm.compiler/1",
	.text = "`jitwarm compiler fetch`.",
	.fields = compilers_fields,
};

static const struct json_field finding_fields[] = {
	JSON(struct jw_finding, id, "what it is: the table in `doctor.md`"),
	JSON(struct jw_finding, hopeless, "nothing that jitwarm or this account can do helps"),
	JSON(struct jw_finding, evidence, "a line: what is wrong, and where that is seen"),
	JSON(struct jw_finding, fix, "a line: what to do"),
	JSON_LINES_OF(
		"command", struct jw_finding, command, word_count,
		"the arguments with which `--fix` calls jitwarm; empty where a user has to do it"),
	{0},
};

static const char *const probe_names[] = {
	[JW_PROBE_NOT] = "not asked", [JW_PROBE_HIT] = "hit",       [JW_PROBE_REFUSED] = "refused",
	[JW_PROBE_UNREAD] = "unread", [JW_PROBE_FAILED] = "failed", [JW_PROBE_UNSAFE] = "unsafe",
	[JW_PROBE_UNSAFE + 1] = NULL,
};

static const struct json_field process_fields[] = {
	JSON(struct doctor_document, process.pid, "its number"),
	JSON(struct doctor_document, process.name, "its program"),
	JSON(struct doctor_document, process.driver, "it has loaded NVIDIA's driver"),
	JSON(struct doctor_document, process.compiler,
		 "it has loaded the driver's compiler: it has compiled or linked something"),
	JSON(struct doctor_document, process.others, "compilers with results of their own"),
	JSON_LINES_OF("replaced", struct doctor_document, process.replaced, process.replaced_count,
				  "libraries that it has loaded, and that were replaced or removed since"),
	{0},
};

static const struct json_field doctor_fields[] = {
	JSON_LIST_OF("findings", struct doctor_document, result.findings, result.finding_count,
				 JSON_TABLE(struct jw_finding, finding_fields),
				 "the likeliest cause first; empty where all is well"),
	JSON_SAID(
		"verdict", struct doctor_document, result.verdict, document_verdict,
		"as in `check`; without files `runs`, or `useless` by the settings; `nothing` without "
		"a GPU"),
	JSON_AS(
		"probe", struct doctor_document, result.probe,
		"what the driver did with a tiny module that it was given twice: `hit`, `refused` (it "
		"stored no entry), `unread` (it compiled it again), `failed`, "
		"`unsafe` (not asked: as root, in a cache that another account could lead elsewhere) or "
		"`not asked`",
		.names = probe_names),
	JSON(struct doctor_document, result.probe_entry, "the file of that module's entry",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct doctor_document, result.warm, "modules in the cache"),
	JSON(struct doctor_document, result.cold, "modules that a start compiles"),
	JSON_ROW("process", JSON_OBJECT, .table = JSON_TABLE(struct doctor_document, process_fields),
			 .text = "with `--pid`", JSON_IF(struct doctor_document, process.pid)),
	JSON(struct doctor_document, words.before,
		 "what a shell needs before `jitwarm`, so that the commands have the same account, files "
		 "and variables; with `--user` or `--pid`",
		 .presence = JSON_UNLESS_NULL),
	JSON_LINES_OF("fixed", struct doctor_document, fixed, fixed_count,
				  "with `--fix`: the commands that were run"),
	{0},
};
const struct json_table document_doctor = {.schema = "jitwarm.doctor/1", .fields = doctor_fields};

static const struct json_field watched_fields[] = {
	JSON(struct watch_document, process.pid, "its number"),
	JSON(struct watch_document, process.name, "its program"),
	JSON(struct watch_document, process.driver, "it has loaded NVIDIA's driver"),
	JSON(struct watch_document, process.compiler, "it has loaded the driver's compiler"),
	JSON(struct watch_document, process.others, "compilers with results of their own"),
	{0},
};

static const char *const watch_names[] = {
	[WATCH_COMPILING] = "compiling", [WATCH_LINKING] = "linking", [WATCH_BUSY] = "busy",
	[WATCH_WAITING] = "waiting",     [WATCH_STATES] = NULL,
};

static const struct json_field watch_fields[] = {
	JSON_PART("process", JSON_TABLE(struct watch_document, watched_fields), NULL),
	JSON(struct watch_document, cache, "that the driver uses for it", .presence = JSON_UNLESS_NULL),
	JSON(struct watch_document, seconds, "that it was watched"),
	JSON(struct watch_document, cpu_seconds, "processor time that it used meanwhile"),
	JSON_AS("compiling_seconds", struct watch_document, compiling_s,
			"of those: the driver compiled for it"),
	JSON_AS("linking_seconds", struct watch_document, linking_s,
			"the driver's compiler was loaded, the process was busy, and no entry appeared"),
	JSON_AS("busy_seconds", struct watch_document, busy_s,
			"the process was busy with something else"),
	JSON_AS("waiting_seconds", struct watch_document, waiting_s, "the process waited"),
	JSON(struct watch_document, entries, "that the cache has got meanwhile, of any program"),
	JSON(struct watch_document, bytes, "of them"),
	JSON(struct watch_document, left, "modules of its libraries that are not in the cache"),
	JSON_AS("left_seconds", struct watch_document, left_s,
			"that compiling them will take, by the prediction and the pace so far; -1: not known"),
	JSON(struct watch_document, processes, "it and those that it has started, at the last look"),
	JSON(struct watch_document, state, "the last one", .names = watch_names),
	JSON(struct watch_document, ended, "the process has ended"),
	{0},
};
const struct json_table document_watch = {.schema = "jitwarm.watch/1", .fields = watch_fields};
