#include "cli/documents/documents.h"

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

static const struct json_field cache_fields[] = {
	JSON(struct jw_compiler_cache, name, "the compiler, or the cache, as it is called there"),
	JSON(struct jw_compiler_cache, belongs_to, "the package or program that uses it"),
	JSON(struct jw_compiler_cache, variable, "the variable that moves it"),
	JSON(struct jw_compiler_cache, moved, "that variable is set"),
	JSON(struct jw_compiler_cache, path, "the directory, absolute and without links"),
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
	JSON_LIST_OF("caches", struct doctor_document, caches.items, caches.count,
				 JSON_TABLE(struct jw_compiler_cache, cache_fields),
				 "of other compilers, that this account has"),
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
