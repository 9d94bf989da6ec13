#include "cli/documents/documents.h"

static const struct json_field row_fields[] = {
	JSON_AS("kind", struct find_row, place.kind,
			"`venv`, `conda`, `pipx`, `uv`, `pyenv`, `Python` (another installation of it), "
			"`folder` or `program`"),
	JSON_AS("name", struct find_row, place.name,
			"the path of an environment or folder; the name of a program or package"),
	JSON_AS("environment", struct find_row, place.environment,
			"other commands take it by `--environment`; otherwise they take `paths`"),
	JSON_LINES_OF("paths", struct find_row, place.paths, place.path_count,
				  "absolute, without links"),
	JSON(struct find_row, files, "that may hold device code"),
	JSON(struct find_row, images, "files and members of archives with device code",
		 JSON_IF(struct find_row, judged)),
	JSON_SAID("verdict", struct find_row, verdict, document_verdict, "as in `check`",
			  JSON_IF(struct find_row, images)),
	JSON(struct find_row, warm, "modules in the cache", JSON_IF(struct find_row, judged)),
	JSON(struct find_row, cold, "modules that a start compiles, for all GPUs together",
		 JSON_IF(struct find_row, judged)),
	JSON(struct find_row, failing,
		 "files with which a program fails: code that does not run on a GPU",
		 JSON_IF(struct find_row, judged)),
	JSON_OBJECT_OF("start_seconds", struct find_row, start, &document_span,
				   "that a first start takes for the cold ones, on one core",
				   JSON_IF(struct find_row, judged)),
	JSON(struct find_row, trouble, "why it was not looked at, or not all of it",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field find_fields[] = {
	JSON_LIST_OF("places", struct find_document, rows, count,
				 JSON_TABLE(struct find_row, row_fields), "what costs most first"),
	JSON_LINES_OF("notes", struct find_document, places.notes, places.note_count,
				  "lines: what was left out, and why"),
	{0},
};
const struct json_table document_find = {.schema = "jitwarm.find/1", .fields = find_fields};

#define ROW(member, ...)              JSON(struct jw_scan_image, member, __VA_ARGS__)
#define VERDICT(member, ...)          JSON(struct jw_scan_verdicts, member, __VA_ARGS__)
#define VERDICT_AS(name, member, ...) JSON_AS(name, struct jw_scan_verdicts, member, __VA_ARGS__)

static const struct json_field reason_fields[] = {
	VERDICT_AS("exclusive", cannot_exclusive, "an `a` or `f` target"),
	VERDICT_AS("too_new", cannot_too_new,
			   "a PTX version, a kind of entry or machine code that the driver does not know"),
	VERDICT_AS("zstd", cannot_zstd, "compressed in a way that this driver cannot read"),
	VERDICT_AS("damaged", cannot_damaged, NULL),
	{0},
};

/* Rounds to milliseconds; estimates are no more precise. */
static double rounded(double seconds)
{
	return (double)(uint64_t)(seconds * 1000 + 0.5) / 1000;
}

/* The inputs of a link, if there is one. */
static struct jw_scan_work linked(const struct jw_scan_verdicts *verdicts)
{
	return verdicts->link_needed == JW_SCAN_NEED_YES ? verdicts->link_work
													 : (struct jw_scan_work){0};
}

static double start_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.likely + linked(verdicts).start.likely);
}

static double low_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.low + linked(verdicts).start.low);
}

static double high_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.high + linked(verdicts).start.high);
}

static double longest_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;
	const double longest = linked(verdicts).longest_seconds;

	return rounded(longest > verdicts->work.longest_seconds ? longest
															: verdicts->work.longest_seconds);
}

static double cache_bytes(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return (double)(verdicts->work.cache_bytes + linked(verdicts).cache_bytes);
}

static const struct json_field estimate_fields[] = {
	JSON_NUMBER_OF("cpu_seconds", start_seconds, "on one core"),
	JSON_NUMBER_OF("low_seconds", low_seconds, "it takes less in one case of twenty"),
	JSON_NUMBER_OF("high_seconds", high_seconds, "it takes more in one case of twenty"),
	JSON_NUMBER_OF("longest_seconds", longest_seconds, "of the longest module"),
	JSON_NUMBER_OF("cache_bytes", cache_bytes, "growth of the driver's cache"),
	{0},
};

static const struct json_field verdict_fields[] = {
	VERDICT(native, "machine code of exactly this architecture"),
	VERDICT(compatible, "other machine code that runs"),
	VERDICT(link, "relocatable, with usable PTX"),
	VERDICT(jit, "PTX that the driver compiles"),
	VERDICT(tile, "Tile IR, which the driver compiles at its first load; whether it is in the "
				  "cache cannot be told"),
	VERDICT(unknown, "a kind of entry that jitwarm does not know: `other` has its number"),
	VERDICT(cannot, "the code that the driver takes is unusable"),
	VERDICT(nothing, "code for other or newer architectures"),
	VERDICT(pieces,
			"containers with code that the CUDA runtime registers, with the objects that a link "
			"left out, or of a loose file"),
	VERDICT(lacking, "of these: without code for this GPU; a program that uses one fails"),
	VERDICT_AS("jit_modules", work.modules,
			   "distinct pairs of payload and option string that would be compiled"),
	VERDICT_AS("jit_bytes", work.ptx_bytes, "their PTX, decompressed"),
	JSON_OF(
		JSON_MAYBE, "link_needed", struct jw_scan_verdicts, link_needed,
		.text =
			"whether the CUDA runtime links at start for this GPU; `null`: the file does not tell"),
	VERDICT_AS("link_modules", link_work.modules, "as `jit_modules`, of inputs of that link"),
	VERDICT_AS("link_bytes", link_work.ptx_bytes, "their PTX, decompressed"),
	VERDICT_AS("loose_modules", loose_work.modules,
			   "of `jit_modules`: outside the sections that the CUDA runtime registers"),
	VERDICT_AS("loose_bytes", loose_work.ptx_bytes, "their PTX, decompressed"),
	VERDICT(left_out, "`prime` leaves that part out without `--all`; true, too, of what packages' "
					  "tests load, and then that part is all of `jit_modules`"),
	JSON_PART("cannot_reasons", JSON_TABLE(struct jw_scan_verdicts, reason_fields),
			  "the same containers as `cannot`, by reason"),
	JSON_PART("estimate", JSON_TABLE(struct jw_scan_verdicts, estimate_fields),
			  "of compiling `jit_modules` and a link that is needed"),
	{0},
};

static const struct json_field verdict_pair[] = {
	JSON_SAID("sm_120", struct jw_scan_verdicts, target, document_sm, NULL),
	JSON_PART("verdict", JSON_TABLE(struct jw_scan_verdicts, verdict_fields), NULL),
	{0},
};

static const struct json_field count_pair[] = {
	JSON_AS("target", struct jw_scan_count, name, NULL),
	JSON(struct jw_scan_count, entries, NULL),
	{0},
};

static const struct json_field image_fields[] = {
	ROW(path, "the file"),
	ROW(member, "inside an archive: its name there", .presence = JSON_UNLESS_NULL),
	ROW(size_bytes, "of the file or member"),
	ROW(format, "`elf`, `pe`, `fatbin`, `cubin` or `ptx`"),
	ROW(containers, "fat binaries; a loose cubin or PTX counts as one, as does each PTX text in a "
					"program's data"),
	JSON_MAP_OF("cubins", struct jw_scan_image, cubins, cubin_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of machine code by target: `{\"sm_75\": 190, \"sm_90a\": 1376}`"),
	JSON_MAP_OF("ptx", struct jw_scan_image, ptx, ptx_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of PTX by target: `{\"compute_120\": 188}`"),
	ROW(ptx_bytes, "all of them, decompressed"),
	JSON_MAP_OF("other", struct jw_scan_image, other, other_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of other kinds by name: `lto-ir`, `kind 0x80`"),
	ROW(damaged, "places that look like a container but are not sound"),
	JSON_MAP_OF("verdicts", struct jw_scan_image, verdicts, verdict_count,
				JSON_TABLE(struct jw_scan_verdicts, verdict_pair), "by GPU; `{}` without a GPU"),
	{0},
};
const struct json_table document_scan_image = {.fields = image_fields};

static const struct json_field change_fields[] = {
	JSON(struct jw_scan_change, driver, "from this branch on"),
	JSON(struct jw_scan_change, modules, "that `prime` would compile then"),
	JSON(struct jw_scan_change, failing, "files with which a program fails then"),
	{0},
};

#define TOTAL(member, ...) JSON(struct jw_scan_total, member, __VA_ARGS__)

static const struct json_field total_fields[] = {
	JSON_SAID("target", struct jw_scan_total, target, document_sm, "`sm_86`"),
	TOTAL(modules, "that `prime` would compile, each once, whichever files hold it"),
	TOTAL(ptx_bytes, "their PTX, decompressed"),
	TOTAL(left_out, "modules that `prime` leaves out without `--all`"),
	TOTAL(driver_from, "the oldest branch of Linux drivers from which up to this driver all is the "
					   "same and no program fails; 0: none"),
	TOTAL(driver_to, "the last branch before a newer driver changes something; 0: none does"),
	JSON_INSIDE_OF("newer", struct jw_scan_total, newer, newer_count, "what newer drivers change",
				   .table = JSON_TABLE(struct jw_scan_change, change_fields)),
	TOTAL(older_differ, "older branches have other verdicts, with which no program fails"),
	TOTAL(fails_from, "branches with which a program fails: the first"),
	TOTAL(fails_to, "and the last; 0: none"),
	TOTAL(at_most,
		  "no start compiles all of it: code that runs as it is is beside what is compiled, or "
		  "two libraries are one for several CUDA versions (`libx_cuda118.so`)"),
	JSON_OBJECT_OF("forecast", struct jw_scan_total, forecast, &document_forecast,
				   "what compiling them takes on this machine"),
	{0},
};

#define PACKAGE(member, ...) JSON(struct scan_package_document, member, __VA_ARGS__)

static const struct json_field package_fields[] = {
	PACKAGE(package.asked,
			"`torch==2.1.0`, as pip resolves it; of what is left out what the file has there"),
	PACKAGE(package.line, "the line of what is left out; 0: a package"),
	PACKAGE(wheel, "the wheel's file, the `path` of its `files`", .presence = JSON_UNLESS_NULL),
	PACKAGE(why, "why there is none, in one line", .presence = JSON_UNLESS_NULL),
	{0},
};
const struct json_table document_scan_package = {.fields = package_fields};

static const struct json_field scan_fields[] = {
	JSON_READY_OF("packages", struct scan_document, packages, &document_scan_package,
				  "with `-r`: what the file names", .presence = JSON_UNLESS_NULL),
	JSON_READY_OF("files", struct scan_document, files, &document_scan_image,
				  "each file, and each member of an archive, that holds device code"),
	JSON_LIST_OF("totals", struct scan_document, totals, total_count,
				 JSON_TABLE(struct jw_scan_total, total_fields),
				 "all files together, an object for each GPU; `[]` without a GPU"),
	{0},
};
const struct json_table document_scan = {
	.schema = "jitwarm.scan/1",
	.fields = scan_fields,
	.end = "A verdict counts containers, each under the first that holds of `native` to `nothing`.",
};

static const char *const lint_level_names[] = {
	[JW_LINT_NOTE] = "note",
	[JW_LINT_WARNING] = "warning",
	[JW_LINT_ERROR] = "error",
	[JW_LINT_ERROR + 1] = NULL,
};
static const char *const kind_names[] = {
	[JW_LINT_COMPILES] = "compiles", [JW_LINT_FAILS] = "fails",   [JW_LINT_LACKS] = "lacks",
	[JW_LINT_UNSURE] = "unsure",     [JW_LINT_UNSURE + 1] = NULL,
};

#define LINT_GPU(member, ...) JSON(struct jw_lint_gpu, member, __VA_ARGS__)

static const struct json_field lint_gpu_fields[] = {
	JSON_SAID("target", struct jw_lint_gpu, target, document_sm, NULL),
	LINT_GPU(level,
			 "`error`: over the bound or not known to be within, or a program fails; `warning`: "
			 "something is compiled, and there is no bound",
			 .names = lint_level_names),
	LINT_GPU(modules, "that the first start compiles, each once"),
	LINT_GPU(failing, "files with which a program fails on this GPU"),
	LINT_GPU(lacking, "files with pieces of code that have none for this GPU"),
	LINT_GPU(tile, "pieces of Tile IR, which the driver compiles at their first load"),
	LINT_GPU(unknown, "pieces of a kind that jitwarm does not know"),
	LINT_GPU(ptx_bytes, "of these modules, decompressed"),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_gpu, start, &document_span,
				   "the first start on one core, with run-time linking"),
	JSON_SAID("code", struct jw_lint_gpu, code, document_sm,
			  "one of `codes`: it spares that; empty: none is missing"),
	LINT_GPU(driver_from, "the oldest branch of Linux drivers with the same code in use; 0: none"),
	LINT_GPU(fails_from, "branches with which a program fails: the first"),
	LINT_GPU(fails_to, "and the last; 0: none"),
	{0},
};

#define LINT_CODE(member, ...) JSON(struct jw_lint_code, member, __VA_ARGS__)

static const struct json_field code_fields[] = {
	JSON_SAID("target", struct jw_lint_code, target, document_sm, "of `-gencode`"),
	LINT_CODE(
		cuda,
		"the first CUDA version whose compiler makes it, 12080 for 12.8; 0: older than known"),
	LINT_CODE(bytes, "its size as predicted, uncompressed; 0: unknown, since there is no PTX"),
	{0},
};

#define FINDING(member, ...) JSON(struct jw_lint_finding, member, __VA_ARGS__)

static const struct json_field finding_fields[] = {
	FINDING(kind,
			"`lacks`: pieces of it have no code for this GPU; `unsure`: Tile IR, or a kind of "
			"entry that jitwarm does not know",
			.names = kind_names),
	FINDING(level, "that of the GPU; of `lacks` `note`", .names = lint_level_names),
	JSON_SAID("target", struct jw_lint_finding, target, document_sm, NULL),
	FINDING(path, NULL),
	FINDING(member, "inside an archive", .presence = JSON_UNLESS_NULL),
	FINDING(why, "not with `compiles`", .presence = JSON_UNLESS_NULL),
	FINDING(modules, "of this library; one that several libraries hold counts in each"),
	FINDING(ptx_bytes, "of these modules, decompressed"),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_finding, start, &document_span,
				   "they take, on one core"),
	{0},
};

static const struct json_field lint_fields[] = {
	JSON_LIST_OF("gpus", struct jw_lint_result, gpus, gpu_count,
				 JSON_TABLE(struct jw_lint_gpu, lint_gpu_fields), "in the order of `--gpus`"),
	JSON_LIST_OF("codes", struct jw_lint_result, codes, code_count,
				 JSON_TABLE(struct jw_lint_code, code_fields),
				 "missing machine code: `-gencode arch=compute_90,code=sm_90` for `sm_90`"),
	JSON_LIST_OF("findings", struct jw_lint_result, findings, finding_count,
				 JSON_TABLE(struct jw_lint_finding, finding_fields), "of one library on one GPU"),
	JSON_LINES_OF("troubles", struct jw_lint_result, troubles, trouble_count,
				  "files that could not be read, or hold damaged device code, with the reason"),
	JSON(struct jw_lint_result, images, "files and members of archives with device code"),
	JSON(struct jw_lint_result, damaged,
		 "places in them that look like device code but are unsound"),
	{0},
};

const struct json_table document_lint = {.schema = "jitwarm.lint/1", .fields = lint_fields};

#define GPU(member, ...)          JSON(struct jw_check_gpu, member, __VA_ARGS__)
#define GPU_AS(name, member, ...) JSON_AS(name, struct jw_check_gpu, member, __VA_ARGS__)

static const struct json_field count_fields[] = {
	GPU(modules, "that the driver would compile: `warm` + `cold`"),
	GPU(warm, "with a sound entry in the cache"),
	GPU(cold, "without one"),
	GPU(restored, "of the cold ones: the store gives them back at once (`check` alone looks)"),
	GPU(carried, "of the warm ones: made by an older driver's compiler (`prime --carry-over`, "
				 "`import --carry-over`)"),
	GPU(damaged, "of the cold ones: the entry is there and damaged; `prime` replaces it"),
	GPU(unread, "of the cold ones: this account cannot read the entry"),
	GPU(cannot, "containers with code that the driver cannot use"),
	GPU(lacking, "pieces of code that have none for this GPU, of files that do not fail: a program "
				 "that uses one fails"),
	GPU(tile, "pieces of Tile IR, which the driver compiles at their first load; whether they are "
			  "in the cache cannot be told"),
	GPU(unknown, "pieces of a kind that jitwarm does not know"),
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
	JSON(struct jw_check_file, seconds, "to compile the cold ones on one core"),
	{0},
};

static const struct json_field failing_fields[] = {
	JSON(struct jw_check_failing, file, "its path; of a member of an archive with its name there"),
	JSON_SAID("target", struct jw_check_failing, target, document_sm, "`sm_86`"),
	JSON(struct jw_check_failing, why, "a line for people"),
	{0},
};

static const struct json_field compiler_fields[] = {
	JSON(struct jw_check_compiler, name, "`NVRTC`, `NVVM`, `nvJitLink` or `ptxas`"),
	JSON(struct jw_check_compiler, file, "its path"),
	JSON(struct jw_check_compiler, why, "a line for people"),
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
	JSON_SAID(
		"verdict", struct check_document, result.verdict, document_verdict,
		"the answer, which decides the exit status: `runs`, `warm` (0), `cold`, `partly` "
		"(1), `fails`, "
		"`unsure`, `unknown`, `no-room`, `useless`, `nothing` (2) or `unread` (3): the table in "
		"`commands.md`"),
	JSON_MEMBERS_OF(struct check_document, sum, JSON_TABLE(struct jw_check_gpu, count_fields)),
	JSON_OBJECT_OF("cache", struct check_document, result.cache, &document_outlook,
				   "what the driver does with the cache as it is"),
	JSON_SAID("driver", struct check_document, result.driver, document_driver,
			  "that was asked about: `550.163.01 (CUDA 12.4)`"),
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
	JSON_LIST_OF(
		"failing", struct check_document, result.failing, result.failing_count,
		JSON_TABLE(struct jw_check_failing, failing_fields),
		"files whose code cannot run on a GPU, so that programs fail; of files whose names "
		"differ in a version or a GPU only, none for want of code where one runs"),
	JSON_LIST_OF("compilers", struct check_document, result.compilers, result.compiler_count,
				 JSON_TABLE(struct jw_check_compiler, compiler_fields),
				 "compilers with which programs compile while they run, in the packages and "
				 "folders: those too new for the driver or too old for a GPU"),
	JSON_LIST_OF("causes", struct check_document, result.causes, result.cause_count,
				 JSON_TABLE(struct jw_check_cause, cause_fields),
				 "with `--explain`: for each library, GPU and reason why modules are cold",
				 JSON_IF(struct check_document, explain)),
	JSON_LINES_OF("notes", struct check_document, result.notes, result.note_count,
				  "lines: modules left out, files that could not be read"),
	{0},
};
const struct json_table document_check = {
	.schema = "jitwarm.check/1",
	.fields = check_fields,
	.end = "A `reason` is `never` (no trace of them on disk), `driver` (another driver compiled "
		   "them), `file` (an earlier version of the file was compiled), `damaged` (the entry "
		   "exists and drivers refuse it), `evicted` (the driver evicted it), `deleted` (by "
		   "somebody, by `cache prune`, or by a driver that wiped the cache), `carried` (an older "
		   "driver's compiler made it, and `--recompile-carried` replaces it) or `unknown` "
		   "(the names of this driver's entries are not known, or the entry cannot be read).",
};
