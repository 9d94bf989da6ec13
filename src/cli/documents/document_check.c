#include "cli/documents/documents.h"

#define GPU(member, ...)          JSON(struct jw_check_gpu, member, __VA_ARGS__)
#define GPU_AS(name, member, ...) JSON_AS(name, struct jw_check_gpu, member, __VA_ARGS__)

static const struct json_field count_fields[] = {
	GPU(modules, "that the driver would compile: `warm` + `cold`"),
	GPU(warm, "with a sound entry in the cache"),
	GPU(cold, "without one"),
	GPU(carried, "of the warm ones: made by an older driver's compiler (`prime --carry-over`, "
				 "`import --carry-over`)"),
	GPU(damaged, "of the cold ones: the entry is there and damaged; `prime` replaces it"),
	GPU(cannot, "containers with code that the driver cannot use"),
	GPU(link, "of the cold ones: inputs of a link that is needed"),
	GPU(left_out, "modules that `--all` would include"),
	GPU(cold_bytes, "PTX of the cold modules"),
	GPU_AS("predicted_cache_bytes", forecast.cache_bytes,
		   "their size in the cache once compiled: keys, which hold the PTX, and cubins"),
	GPU_AS("predicted_cpu_seconds", forecast.start.likely,
		   "their predicted time on one core: that of a first start"),
	GPU_AS("predicted_longest_seconds", forecast.longest_seconds,
		   "the predicted time of the longest of them"),
	JSON_OBJECT_OF("forecast", struct jw_check_gpu, forecast, &document_forecast,
				   "the predicted times, with how sure they are"),
	{0},
};

static const struct json_field gpu_fields[] = {
	JSON_SAID("target", struct jw_check_gpu, target, document_sm, "`sm_86`"),
	JSON_SAME(JSON_TABLE(struct jw_check_gpu, count_fields)),
	{0},
};

static const struct json_field file_fields[] = {
	JSON(struct jw_check_file, path, NULL),
	JSON(struct jw_check_file, member, "inside an archive: its name there",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_file, warm, NULL),
	JSON(struct jw_check_file, cold, NULL),
	{0},
};

static const struct json_field failing_fields[] = {
	JSON(struct jw_check_failing, file, "its path; of a member of an archive with its name there"),
	JSON_SAID("target", struct jw_check_failing, target, document_sm, "`sm_86`"),
	JSON(struct jw_check_failing, why, "a line for people"),
	{0},
};

static const char *say_reason(char room[JSON_ROOM], const void *reason)
{
	(void)room;
	return jw_cold_reason_name(*(const enum jw_cold_reason *)reason);
}

static const struct json_field cause_fields[] = {
	JSON(struct jw_check_cause, path, NULL),
	JSON(struct jw_check_cause, member, "inside an archive: its name there",
		 .presence = JSON_UNLESS_NULL),
	JSON_SAID("target", struct jw_check_cause, target, document_sm, "`sm_86`"),
	JSON(struct jw_check_cause, modules, "their number"),
	JSON_SAID("reason", struct jw_check_cause, reason, say_reason, "see below"),
	JSON(struct jw_check_cause, text, "a line for people"),
	{0},
};

static const struct json_field check_fields[] = {
	JSON_LIST_OF("gpus", struct check_document, result.gpus, result.gpu_count,
				 JSON_TABLE(struct jw_check_gpu, gpu_fields), "an object for each architecture"),
	JSON_SAID("verdict", struct check_document, result.verdict, document_verdict,
			  "the answer, which decides the exit status: `runs`, `warm` (0), `cold`, `partly` "
			  "(1), `fails`, "
			  "`unknown`, `no-room`, `useless`, `nothing` (2) or `unread` (3): the table in "
			  "`commands.md`"),
	JSON_MEMBERS_OF(struct check_document, sum, JSON_TABLE(struct jw_check_gpu, count_fields)),
	JSON_OBJECT_OF("cache", struct check_document, result.cache, &document_outlook,
				   "what the driver does with the cache as it is"),
	JSON(struct check_document, result.names_known,
		 "`false`: the names of this driver's entries cannot be predicted, so everything counts as "
		 "cold"),
	JSON(struct check_document, why_useless,
		 "a line on driver settings that make a warm cache useless "
		 "(`CUDA_CACHE_DISABLE=1`, `CUDA_FORCE_PTX_JIT=1`, no place for a cache)",
		 .presence = JSON_IF_SET),
	JSON_LIST_OF("files", struct check_document, result.files, result.file_count,
				 JSON_TABLE(struct jw_check_file, file_fields),
				 "the libraries with modules, the slowest to compile first"),
	JSON_LIST_OF("failing", struct check_document, result.failing, result.failing_count,
				 JSON_TABLE(struct jw_check_failing, failing_fields),
				 "files whose code cannot run on a GPU, so that programs fail; libraries of one "
				 "folder count only where none of them runs"),
	JSON_LIST_OF("causes", struct check_document, result.causes, result.cause_count,
				 JSON_TABLE(struct jw_check_cause, cause_fields),
				 "with `--explain`: for each library, GPU and reason why modules are cold",
				 JSON_IF(struct check_document, explain)),
	JSON_LIST_OF("baked", struct check_document, baked.items, baked.count, &document_baked_members,
				 "of these files: those baked in their places, as in `jitwarm.baked/1`"),
	JSON_LINES_OF("notes", struct check_document, result.notes, result.note_count,
				  "lines: modules left out, files that could not be read"),
	{0},
};
const struct json_table document_check = {
	.schema = "jitwarm.check/1",
	.fields = check_fields,
	.end = "A `reason` is `never` (no trace of them on disk), `driver` (another driver compiled "
		   "them), `file` (an earlier version of the file was compiled), `options` (the "
		   "same PTX was compiled with other options), `gpu` (for other GPUs), `damaged` (the "
		   "entry exists and drivers refuse it), `evicted` (the driver evicted it), "
		   "`deleted` (the entry, all entries or the cache were deleted, or `cache prune` removed "
		   "it), `wiped` (the driver wiped the cache), `gone` (removed in one of these ways, "
		   "unknown which), `carried` (an older driver's compiler made it, and "
		   "`--recompile-carried` replaces it) or `unknown` "
		   "(the names of this driver's entries are not known).",
};
