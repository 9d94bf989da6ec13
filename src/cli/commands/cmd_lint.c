/* jitwarm lint: for authors of packages. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/lint.h>
#include <jitwarm/which.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/toml_table.h"
#include "cli/command.h"
#include "cli/cure.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/index_wheel.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verdict_table.h"
#include "os/file.h"

/* ---- the document */

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
	DOCUMENT_TARGET(struct jw_lint_gpu, total.target),
	LINT_GPU(level,
			 "`error`: over the bound or not known to be within, or a program fails; `warning`: "
			 "something is compiled, and there is no bound",
			 .names = lint_level_names),
	LINT_GPU(total.modules, "modules that the first start compiles, each counted once"),
	LINT_GPU(total.fate.failing, "files with which a program fails on this GPU"),
	LINT_GPU(lacking,
			 "files of which some or all has no code for this GPU, while the package runs"),
	LINT_GPU(total.tile, "pieces of Tile IR, which the driver compiles at their first load"),
	LINT_GPU(total.unknown,
			 "pieces of a kind that jitwarm does not know, or PTX sources that programs edit"),
	LINT_GPU(total.ptx_bytes, "the size of the PTX of these modules, decompressed"),
	JSON_FORMATTED(
		"loading", struct jw_lint_gpu, total.forecast.loading, document_loading,
		"when a program compiles the modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`",
		.presence = JSON_IF_SET),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_gpu, start, &document_span,
				   "the first start on one core, with run-time linking"),
	JSON_FORMATTED("code", struct jw_lint_gpu, code, document_sm,
				   "the one of `codes` that avoids compiling on this GPU; empty if no machine code "
				   "is missing"),
	LINT_GPU(total.driver_from,
			 "the oldest branch of Linux drivers with the same code in use; 0: none"),
	LINT_GPU(total.fails_from, "the first driver branch with which a program fails; 0: none"),
	LINT_GPU(total.fails_to, "the last driver branch with which a program fails; 0: none"),
	{0},
};

#define LINT_CODE(member, ...) JSON(struct jw_lint_code, member, __VA_ARGS__)

static const struct json_field code_fields[] = {
	JSON_FORMATTED("target", struct jw_lint_code, target, document_sm,
				   "the architecture that `-gencode` names"),
	LINT_CODE(cuda, "the first CUDA version whose compiler makes this code: 12080 for 12.8; 0: "
					"older than jitwarm knows"),
	LINT_CODE(last_cuda, "the last CUDA version whose compiler makes this code: 12090 for 12.9; "
						 "0: none that jitwarm knows"),
	LINT_CODE(bytes, "about the size of the code; 0: unknown, because there is no other code"),
	LINT_CODE(measured, "`bytes` is measured on the code that is there, as it is in the files; "
						"otherwise it is predicted, uncompressed"),
	LINT_CODE(ptx, "build PTX without the suffix of `target`, in place of the PTX with it: "
				   "`compute_90` for `sm_90a`"),
	JSON_OBJECT_OF("saves_seconds", struct jw_lint_code, saves, &document_span,
				   "the time that the code saves of a first start, at most"),
	{0},
};

#define FINDING(member, ...) JSON(struct jw_lint_finding, member, __VA_ARGS__)

static const struct json_field finding_fields[] = {
	FINDING(kind,
			"`lacks`: pieces of it have no code for this GPU; `unsure`: Tile IR, or a kind of "
			"entry that jitwarm does not know",
			.names = kind_names),
	FINDING(level, "the level of the GPU, or `note` for the kind `lacks`",
			.names = lint_level_names),
	DOCUMENT_TARGET(struct jw_lint_finding, target),
	FINDING(path, "the path of the library"),
	DOCUMENT_MEMBER(struct jw_lint_finding, member),
	FINDING(why, "the reason in one line; absent with the kind `compiles`",
			.presence = JSON_UNLESS_NULL),
	FINDING(cause, "the cause, in one line; only with the kind `fails`",
			.presence = JSON_UNLESS_NULL),
	FINDING(work.modules,
			"modules of this library that are compiled; a module that several libraries "
			"hold counts in each"),
	FINDING(work.ptx_bytes, "the size of the PTX of these modules, decompressed"),
	JSON_FORMATTED(
		"loading", struct jw_lint_finding, work.loading, document_loading,
		"when a program compiles the modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`",
		.presence = JSON_IF_SET),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_finding, work.start, &document_span,
				   "the predicted time to compile these modules on one core"),
	{0},
};

static const char *const claim_names[] = {
	[JW_LINT_MISSING] = "missing", [JW_LINT_SOME] = "some",     [JW_LINT_NO_NEWER] = "no-newer",
	[JW_LINT_CUDA] = "cuda",       [JW_LINT_EXEMPT] = "exempt", [JW_LINT_EXEMPT + 1] = NULL,
};

static const char *claim_arch(char room[JSON_ROOM], const void *values)
{
	const struct jw_lint_claim *claim = values;

	return claim->arch.target.sm ? jw_arch_name(room, claim->arch) : "";
}

#define CLAIM(member, ...) JSON(struct jw_lint_claim, member, __VA_ARGS__)

static const struct json_field claim_fields[] = {
	CLAIM(kind,
		  "`missing`: no piece has code that the list or the label names; `some`: pieces lack it, "
		  "with `--each`; `no-newer`: no PTX that newer GPUs can compile; `cuda`: another CUDA "
		  "version than the label's; `exempt`: `--except`",
		  .names = claim_names),
	CLAIM(level, "the level of the finding", .names = lint_level_names),
	CLAIM(path, "the path of the library"),
	DOCUMENT_MEMBER(struct jw_lint_claim, member),
	CLAIM(why, "the reason, in one line"),
	CLAIM(label, "the variant label in the wheel's name, if the library differs from that",
		  .presence = JSON_UNLESS_NULL),
	JSON_FORMATTED_OF(
		"code", claim_arch,
		"the code that is missing: `sm_120`, `compute_120`; empty with other kinds than `missing` "
		"and `some`"),
	CLAIM(lacking, "pieces of the library without that code"),
	CLAIM(pieces, "all pieces of the library"),
	CLAIM(
		size_bytes,
		"about how many bytes the code adds to the library, by the nearest code in it; 0: unknown"),
	{0},
};

#define BEFORE(member, ...) JSON(struct jw_lint_before, member, __VA_ARGS__)

static const struct json_field before_fields[] = {
	BEFORE(path, "the path of the wheel"),
	DOCUMENT_TARGET(struct jw_lint_before, target),
	BEFORE(kind, "what the wheel does on the GPU: `fails`, `lacks` (a part fails) or `compiles`",
		   .names = kind_names),
	JSON_OBJECT_OF("release", struct jw_lint_before, release, &document_release,
				   "the release before it, and what that does on the GPU"),
	{0},
};

struct lint_document {
	struct jw_lint_result result;
	const struct gpu_refused *refused;
	size_t refused_count;
	struct lint_part *parts;
	size_t part_count;
};

/* One wheel or conda package, which users install alone; or all other files, which are one program.
 */
struct lint_part {
	const char *path;      /* NULL for the other files */
	struct jw_found found; /* its files, which belong to the whole search */
	const char **paths;
	struct jw_lint_result *result;
	const struct jw_lint_gpu *gpus;
	size_t gpu_count;
};

static const struct json_field part_fields[] = {
	JSON(struct lint_part, path, "the path of the package; absent for the files outside packages",
		 .presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("gpus", struct lint_part, gpus, gpu_count,
				 JSON_TABLE(struct jw_lint_gpu, lint_gpu_fields), "as in the whole document"),
	{0},
};

static const struct json_field lint_fields[] = {
	JSON_LIST_OF("gpus", struct lint_document, result.gpus, result.gpu_count,
				 JSON_TABLE(struct jw_lint_gpu, lint_gpu_fields),
				 "an object for each GPU, in the order of `--gpus`, about all files together; its "
				 "level is that of the worst package"),
	JSON_LIST_OF("packages", struct lint_document, parts, part_count,
				 JSON_TABLE(struct lint_part, part_fields),
				 "an object for each wheel or conda package, and one for all other files; empty if "
				 "there is only one of them"),
	JSON_LIST_OF("refused", struct lint_document, refused, refused_count, &document_refused,
				 "the GPUs of the question that the driver does not run, which are not in `gpus`"),
	JSON_LIST_OF(
		"codes", struct lint_document, result.codes, result.code_count,
		JSON_TABLE(struct jw_lint_code, code_fields),
		"the machine code that the files lack: `-gencode arch=compute_90,code=sm_90` for `sm_90`"),
	JSON_LIST_OF("findings", struct lint_document, result.findings, result.finding_count,
				 JSON_TABLE(struct jw_lint_finding, finding_fields),
				 "what was found, an object for each library and GPU"),
	JSON_LIST_OF("claims", struct lint_document, result.claims, result.claim_count,
				 JSON_TABLE(struct jw_lint_claim, claim_fields),
				 "how libraries differ from `--arch-list`, and from the label of their wheel"),
	JSON(struct lint_document, result.compared, "libraries that were compared with `--arch-list`"),
	JSON(struct lint_document, result.labelled,
		 "libraries that were compared with the variant label in their wheel's name"),
	JSON_LIST_OF("before", struct lint_document, result.before, result.before_count,
				 JSON_TABLE(struct jw_lint_before, before_fields),
				 "wheels that do worse on a GPU than the release before them, by the list of "
				 "`which`"),
	JSON_LINES_OF("troubles", struct lint_document, result.troubles, result.trouble_count,
				  "files that could not be read, or hold damaged device code, with the reason"),
	JSON(struct lint_document, result.images, "files and members of archives with device code"),
	JSON(struct lint_document, result.damaged,
		 "places in the files that look like device code and are damaged"),
	{0},
};

const struct json_table document_lint = {.schema = "jitwarm.lint/1", .fields = lint_fields};

/* ---- the text */

struct lint_bound {
	bool set;
	double most_start_s;
};

enum { MAX_LINT_LINE = 1 << 16, LINT_GENCODE = 64 };

/* Writes the -gencode option that adds the code which a GPU lacks; returns `text`. */
static const char *lint_gencode(char text[LINT_GENCODE], struct jw_target code)
{
	char compute[JW_TARGET_TEXT], sm[JW_TARGET_TEXT];

	(void)snprintf(text, LINT_GENCODE, "-gencode arch=%s,code=%s", jw_target_compute(compute, code),
				   jw_target_sm(sm, code));
	return text;
}

static struct verdict_row lint_row(const struct jw_lint_gpu *gpu, const struct lint_bound *bound)
{
	struct verdict_row row = verdict_of_total(&gpu->total);

	row.forecast =
		(struct jw_forecast){.loading = gpu->total.forecast.loading, .start = gpu->start};
	row.driver_to = 0;
	row.most_start_s = bound->set ? bound->most_start_s : 0;
	return row;
}

/* Describes the problem on a GPU in one line; `text` is empty if there is none. */
static void lint_print_gpu(struct buf *text, const struct jw_lint_gpu *gpu,
						   const struct lint_bound *bound)
{
	const struct verdict_row row = lint_row(gpu, bound);
	char most[TEXT_SHORT], gencode[LINT_GENCODE];

	if (gpu->total.fate.failing || gpu->total.modules || gpu->total.tile || gpu->total.unknown)
		(void)verdict_print(text, &row, VERDICT_PTX | VERDICT_START);
	if (gpu->total.modules && bound->set)
		buf_add(text, ", %s the bound of %s",
				gpu->start.likely > bound->most_start_s ? "over" : "within",
				text_set_time(most, (uint64_t)(bound->most_start_s * 1000 + 0.5)));
	if (gpu->lacking)
		buf_add(text, "%ssome code of %s is not for this GPU", verdict_separator(text),
				TEXT_COUNT(gpu->lacking, "file", "files"));
	if (gpu->code.sm)
		buf_add(text, "; avoided by %s", lint_gencode(gencode, gpu->code));
}

/* Describes one finding, without the names of file and GPU. */
static void lint_print_finding(struct buf *text, const struct jw_lint_finding *finding)
{
	const struct verdict_row row = {
		.modules = finding->work.modules,
		.cold = finding->work.modules,
		.ptx_bytes = finding->work.ptx_bytes,
		.forecast = {.loading = finding->work.loading, .start = finding->work.start}};

	if (finding->driver_alone)
		buf_add(text, "will fail: %s", finding->cause);
	else if (finding->cause)
		buf_add(text, "%s: %s", finding->why, finding->cause);
	else if (finding->why)
		buf_add(text, "%s", finding->why);
	else
		(void)verdict_print(text, &row, VERDICT_PTX | VERDICT_START);
}

static enum style level_style(enum jw_lint_level level)
{
	switch (level) {
	case JW_LINT_ERROR: return STYLE_BAD;
	case JW_LINT_WARNING: return STYLE_WARN;
	case JW_LINT_NOTE: break;
	}
	return STYLE_PLAIN;
}

/* The other GPUs have no problem. */
static void end_lint_findings(const struct output *out, const struct jw_lint_result *result,
							  struct gpu_lines *lines)
{
	const size_t count = lines->count;

	for (size_t i = 0; count && i < result->gpu_count && lines->count < GPUS_MAX; i++) {
		size_t k = 0;

		while (k < count && !jw_target_equal(lines->items[k].target, result->gpus[i].total.target))
			k++;
		if (k == count)
			(void)gpu_lines_add(lines, result->gpus[i].total.target);
	}
	gpu_lines_print(out, lines, "  ", false);
}

static void print_lint_findings(const struct output *out, const struct jw_lint_result *result)
{
	struct gpu_lines lines = {.count = 0};

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct jw_lint_finding *finding = &result->findings[i];
		const bool same_path = i && text_same(finding->path, finding[-1].path);

		if (!same_path || !text_same(finding->member, finding[-1].member)) {
			end_lint_findings(out, result, &lines);
			if (finding->member && !same_path)
				output_line(out, STYLE_STRONG, "%s:", finding->path);
			output_line(out, STYLE_STRONG, "%s%s", finding->member ? " " : "",
						finding->member ? finding->member : finding->path);
		}
		if (lines.count == GPUS_MAX)
			end_lint_findings(out, result, &lines);
		lint_print_finding(gpu_lines_add(&lines, finding->target), finding);
		lines.items[lines.count - 1].style = level_style(finding->level);
	}
	end_lint_findings(out, result, &lines);
}

static void print_claims(const struct output *out, const struct jw_lint_result *result,
						 const struct jw_arch_list *list)
{
	struct buf names = BUF_MAX(MAX_LINT_LINE);
	bool holds = result->compared, labelled = result->labelled;

	for (size_t i = 0; i < result->claim_count; i++) {
		const struct jw_lint_claim *claim = &result->claims[i];

		output_line(out, level_style(claim->level), "%s%s%s: %s", claim->path,
					claim->member ? ": " : "", claim->member ? claim->member : "", claim->why);
		holds = holds && (claim->label || claim->level != JW_LINT_ERROR);
		labelled = labelled && !claim->label;
	}
	for (size_t i = 0; i < list->count; i++) {
		char name[JW_TARGET_TEXT];

		buf_add(&names, "%s%s", i ? ", " : "", jw_arch_name(name, list->items[i]));
	}
	if (holds)
		output_line(out, STYLE_GOOD,
					result->compared == 1 ? "The library has the code of --arch-list: %s"
										  : "All libraries have the code of --arch-list: %s",
					buf_text(&names));
	if (labelled)
		output_line(out, STYLE_GOOD,
					result->labelled == 1 ? "The library fits the label in its wheel's name"
										  : "All libraries fit the label in their wheel's name");
	buf_free(&names);
}

static int print_linted_gpus(struct jw_error *err, const struct output *out,
							 const struct jw_lint_result *result, const struct gpu_targets *gpus,
							 const struct lint_bound *bound)
{
	static const enum verdict_column columns[] = {VERDICT_COLUMN_GPU, VERDICT_COLUMN_MODULES,
												  VERDICT_COLUMN_START, VERDICT_COLUMN_DRIVERS,
												  VERDICT_COLUMN_BOUND};
	const size_t count = sizeof columns / sizeof *columns - !bound->set;
	struct verdict_row rows[2 * GPUS_MAX];
	size_t row_count = 0;

	for (size_t i = 0; i < result->gpu_count; i++)
		rows[row_count++] = lint_row(&result->gpus[i], bound);
	for (size_t i = 0; i < gpus->refused_count; i++)
		rows[row_count++] = (struct verdict_row){.target = gpus->refused[i].target,
												 .not_run = true,
												 .driver_from = gpus->refused[i].needs.release[0]};
	return verdict_table_print(err, out, columns, count, rows, row_count);
}

static void print_plain_ptx(const struct output *out, const struct jw_lint_result *result)
{
	for (size_t i = 0; i < result->code_count; i++) {
		const struct jw_lint_code *code = &result->codes[i];
		const struct jw_target plain = {code->target.sm, 0};
		char own[JW_TARGET_TEXT], all[JW_TARGET_TEXT];

		if (code->ptx)
			output_line(out, STYLE_PLAIN,
						"Building %s in place of %s costs nothing: newer GPUs then compile the "
						"code at the first start instead of failing",
						jw_target_compute(all, plain), jw_target_compute(own, code->target));
	}
}

/* The machine code that a file needs on the GPUs where it fails, or is slow to start. */
struct lint_build {
	struct buf options, gpus;
	uint64_t codes; /* a bit for each of the result's codes */
	struct jw_seconds saves;
	uint64_t bytes;
	uint32_t cuda, last_cuda;
};

/* Returns whether a GPU's missing code matters for a file that has to compile for so long. */
static bool misses_code(const struct jw_lint_gpu *gpu, bool fails, double seconds,
						const struct lint_bound *bound)
{
	return gpu->code.sm && (fails || seconds > JW_WHICH_NEGLIGIBLE_S ||
							(seconds > 0 && bound->set && gpu->start.likely > bound->most_start_s));
}

static void build_add(struct lint_build *build, const struct jw_lint_result *result,
					  struct jw_target target)
{
	char gencode[LINT_GENCODE];
	size_t i = 0;

	while (result->codes[i].ptx || !jw_target_equal(result->codes[i].target, target))
		i++;
	if (build->codes >> i & 1)
		return;
	build->codes |= UINT64_C(1) << i;
	buf_add(&build->options, "%s%s", build->options.size ? " " : "", lint_gencode(gencode, target));
	build->bytes += result->codes[i].bytes;
	if (result->codes[i].cuda > build->cuda)
		build->cuda = result->codes[i].cuda;
	if (result->codes[i].last_cuda &&
		(!build->last_cuda || result->codes[i].last_cuda < build->last_cuda))
		build->last_cuda = result->codes[i].last_cuda;
}

/* Collects what one file needs. */
static struct lint_build build_of(const struct output *out, const struct jw_lint_result *result,
								  const struct lint_bound *bound, const char *path)
{
	struct lint_build build = {.options = BUF_MAX(MAX_LINT_LINE), .gpus = BUF_MAX(MAX_LINT_LINE)};

	for (size_t g = 0; g < result->gpu_count; g++) {
		const struct jw_lint_gpu *gpu = &result->gpus[g];
		struct jw_seconds start = {0};
		char name[GPUS_NAME];
		bool fails = false;

		for (size_t i = 0; i < result->finding_count; i++) {
			const struct jw_lint_finding *finding = &result->findings[i];

			if (!jw_target_equal(finding->target, gpu->total.target) ||
				strcmp(finding->path, path) != 0)
				continue;
			fails = fails || finding->kind == JW_LINT_FAILS;
			start.low += finding->work.start.low;
			start.likely += finding->work.start.likely;
			start.high += finding->work.start.high;
		}
		if (!misses_code(gpu, fails, start.likely, bound))
			continue;
		build_add(&build, result, gpu->code);
		buf_add(&build.gpus, "%s%s", build.gpus.size ? ", " : "",
				gpu_targets_name(name, out, gpu->total.target));
		if (start.likely > build.saves.likely)
			build.saves = start;
	}
	return build;
}

static void build_print(const struct output *out, const char *path, struct lint_build *build)
{
	const uint32_t from = build->cuda, to = build->last_cuda;
	char size[TEXT_SHORT], adds[TEXT_SHORT + 40] = "", saves[2 * TEXT_SHORT + 40] = "",
											 needs[40] = "", text[4096];

	if (!path && build->bytes)
		(void)text_format(adds, sizeof adds, "; adds about %s", text_bytes(size, build->bytes));
	if (build->saves.high > 0)
		(void)text_format(saves, sizeof saves,
						  *adds ? ", and saves %s of a first start" : "; saves %s of a first start",
						  text_span(size, build->saves.low, build->saves.high));
	if (from && to)
		(void)text_format(needs, sizeof needs, "; needs CUDA %u.%u to %u.%u", from / 1000,
						  from % 1000 / 10, to / 1000, to % 1000 / 10);
	else if (to)
		(void)text_format(needs, sizeof needs, "; needs CUDA %u.%u or older", to / 1000,
						  to % 1000 / 10);
	else if (from)
		(void)text_format(needs, sizeof needs, "; needs CUDA %u.%u or newer", from / 1000,
						  from % 1000 / 10);
	if (path)
		(void)text_format(text, sizeof text, "%s: code for %s avoids this%s%s%s: ", path,
						  buf_text(&build->gpus), adds, saves, needs);
	else
		(void)text_format(text, sizeof text,
						  "Code for %s avoids this%s%s%s: ", buf_text(&build->gpus), adds, saves,
						  needs);
	output_line_command(out, STYLE_PLAIN, text, buf_text(&build->options));
}

/* Returns whether a finding is the first one of its file; a fate follows all findings of images. */
static bool is_first_of_file(const struct jw_lint_result *result, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (!strcmp(result->findings[i].path, result->findings[at].path))
			return false;
	return true;
}

/* Prints the options of nvcc that each file needs, in one line. */
static void print_builds(const struct output *out, const struct jw_lint_result *result,
						 const struct lint_bound *bound)
{
	size_t files = 0;

	for (size_t i = 0; result->code_count && i < result->finding_count; i++)
		files += is_first_of_file(result, i);
	for (size_t i = 0; files && i < result->finding_count; i++) {
		const char *path = result->findings[i].path;
		struct lint_build build;

		if (!is_first_of_file(result, i))
			continue;
		build = build_of(out, result, bound, path);
		if (build.codes)
			build_print(out, files > 1 ? path : NULL, &build);
		buf_free(&build.options);
		buf_free(&build.gpus);
	}
}

/* Says that the release before the wheel did better: "1.22.0 ran on RTX 50 …; this one fails". */
static void print_before(struct buf *line, const struct jw_lint_before *before, const char *gpu)
{
	const struct jw_which_release *release = &before->release;

	if (release->answer == JW_WHICH_COMPILES)
		buf_add(line,
				verdict_is_lazy(release->loading, &release->start)
					? "%s ran on %s after compiling up to %s; "
					: "%s ran on %s after compiling %s; ",
				release->version, gpu, TEXT_COUNT(release->modules, "module", "modules"));
	else
		buf_add(line, "%s ran on %s; ", release->version, gpu);
	buf_add(line, before->kind == JW_LINT_FAILS   ? "this wheel fails"
				  : before->kind == JW_LINT_LACKS ? "this wheel runs without a part"
												  : "this wheel has modules to compile");
}

static bool same_before(const struct jw_lint_before *a, const struct jw_lint_before *b)
{
	return a->kind == b->kind && a->release.answer == b->release.answer &&
		   a->release.modules == b->release.modules && !strcmp(a->path, b->path);
}

/* Prints one line for each wheel and answer, with all GPUs that have this answer. */
static void print_befores(const struct output *out, const struct jw_lint_result *result)
{
	for (size_t i = 0; i < result->before_count; i++) {
		const struct jw_lint_before *before = &result->before[i];
		struct buf line = BUF_MAX(MAX_LINT_LINE), gpus = BUF_MAX(MAX_LINT_LINE);
		bool first = true;

		for (size_t k = 0; k < result->before_count; k++) {
			char name[GPUS_NAME];

			if (!same_before(before, &result->before[k]))
				continue;
			first = first && k >= i;
			buf_add(&gpus, "%s%s", gpus.size ? ", " : "",
					gpu_targets_name(name, out, result->before[k].target));
		}
		print_before(&line, before, buf_text(&gpus));
		if (first)
			output_line(out, before->kind == JW_LINT_FAILS ? STYLE_BAD : STYLE_WARN, "%s: %s",
						before->path, buf_text(&line));
		buf_free(&gpus);
		buf_free(&line);
	}
}

/* Appends a text with the escapes of GitHub's runner; a comma and a colon would end a property. */
static void add_escaped(struct buf *text, const char *from, bool property)
{
	for (; *from; from++)
		if (*from == '%' || *from == '\r' || *from == '\n' ||
			(property && (*from == ':' || *from == ',')))
			buf_add(text, "%%%02X", (unsigned)(unsigned char)*from);
		else /* the file's name as in the repository */
			(void)buf_append(NULL, text, property && *from == os_separator ? "/" : from, 1);
}

/* Prints ::error file=…,title=…::…; `file` is NULL if the annotation is about none. */
static void annotate(const struct output *out, enum jw_lint_level level, const char *file,
					 const char *title, const char *text)
{
	static const char *const levels[] = {"notice", "warning", "error"};
	struct buf line = BUF_MAX(MAX_LINT_LINE), harmless = BUF_MAX(2 * MAX_LINT_LINE);

	buf_add(&line, "::%s ", levels[level]);
	if (file) {
		buf_add(&line, "file=");
		add_escaped(&line, file, true);
		buf_add(&line, ",");
	}
	buf_add(&line, "title=");
	add_escaped(&line, title, true);
	buf_add(&line, "::");
	add_escaped(&line, text, false);
	terminal_append(&harmless, buf_text(&line));
	buf_add(&harmless, "\n");
	output_text(out, buf_text(&harmless)); /* a command of GitHub is one line */
	buf_free(&harmless);
	buf_free(&line);
}

/* One file or archive on a GPU: the sum of its findings there, and the first library that fails in
 * whole, else in part; NULL if none does. */
struct lint_file {
	const char *path;
	size_t failing, lacking;
	struct jw_scan_work work;
	enum jw_lint_level level;
	const struct jw_lint_finding *first;
};

static bool is_same_file(const void *element, const void *like)
{
	const struct lint_file *a = element, *b = like;

	return !strcmp(a->path, b->path);
}

/* Returns the files with findings on a GPU, which the caller frees. */
static struct lint_file *lint_files_on(const struct jw_lint_result *result, struct jw_target target,
									   size_t *ret_count)
{
	struct lint_file *files = NULL;
	size_t count = 0, capacity = 0;
	const struct mem_list list = VEC_LIST(files, count, capacity, SIZE_MAX);

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct jw_lint_finding *finding = &result->findings[i];
		const struct lint_file like = {.path = finding->path};
		struct lint_file *file;
		size_t at;

		if (!jw_target_equal(finding->target, target))
			continue;
		at = mem_find_or_add(&list, &like, is_same_file);
		file = &files[at];
		jw_scan_add_work(&file->work, &finding->work);
		file->failing += finding->kind == JW_LINT_FAILS;
		file->lacking += finding->kind == JW_LINT_LACKS;
		file->level = finding->level > file->level ? finding->level : file->level;
		if (finding->why && (!file->first || (finding->cause && !file->first->cause)))
			file->first = finding;
	}
	*ret_count = count;
	return files;
}

/* Prints an annotation for each file with a problem on a GPU, and for each that was not judged. */
static void lint_github_print(const struct output *out, const struct jw_found *found,
							  const struct jw_lint_result *result, const struct gpu_targets *gpus,
							  const struct lint_bound *bound)
{
	char name[GPUS_NAME];

	for (size_t i = 0; i < found->note_count; i++)
		if (found->notes[i].is_trouble)
			annotate(out, JW_LINT_ERROR, NULL, "jitwarm", found->notes[i].text);
	for (size_t i = 0; i < result->trouble_count; i++)
		annotate(out, JW_LINT_ERROR, NULL, "jitwarm", result->troubles[i]);
	for (size_t i = 0; i < gpus->refused_count; i++)
		annotate(out, JW_LINT_ERROR, NULL, gpu_targets_name(name, out, gpus->refused[i].target),
				 gpus->refused[i].why);
	for (size_t i = 0; i < result->claim_count; i++) {
		const struct jw_lint_claim *claim = &result->claims[i];
		char *what = mem_printf("%s%s%s", claim->member ? claim->member : "",
								claim->member ? ": " : "", claim->why);

		annotate(out, claim->level, claim->path, claim->label ? "variant label" : "--arch-list",
				 what);
		mem_free(what);
	}
	for (size_t i = 0; i < result->gpu_count; i++) {
		const struct jw_lint_gpu *gpu = &result->gpus[i];
		size_t count;
		struct lint_file *files = lint_files_on(result, gpu->total.target, &count);

		(void)gpu_targets_name(name, out, gpu->total.target);
		for (size_t k = 0; k < count; k++) {
			const struct lint_file *file = &files[k];
			enum jw_lint_level level = file->level;
			struct jw_lint_gpu part = *gpu;
			struct buf what = BUF_MAX(MAX_LINT_LINE);

			if (count == 1) {
				level = gpu->level;
			} else {
				part.total.modules = file->work.modules;
				part.total.fate.failing = file->failing;
				part.lacking = file->lacking;
				part.start = file->work.start;
				if (!misses_code(gpu, file->failing, part.start.likely, bound))
					part.code.sm = 0;
				/* A failure in another file is no error of this one. */
				if (gpu->total.fate.failing && !file->failing && level == JW_LINT_ERROR &&
					!(bound->set && gpu->start.likely > bound->most_start_s))
					level = JW_LINT_WARNING;
			}
			lint_print_gpu(&what, &part, bound);
			if (file->first) {
				const char *member = file->first->member;

				buf_add(&what, "; %s%s", member ? member : "", member ? ": " : "");
				lint_print_finding(&what, file->first);
			}
			for (size_t b = 0; b < result->before_count; b++)
				if (jw_target_equal(result->before[b].target, gpu->total.target) &&
					!strcmp(result->before[b].path, file->path)) {
					buf_add(&what, "; ");
					print_before(&what, &result->before[b], name);
				}
			if (what.size)
				annotate(out, level, file->path, name, buf_text(&what));
			buf_free(&what);
		}
		mem_free(files);
	}
}

/* Prints what lint says about files that belong together. */
static int print_text(struct jw_error *err, struct cli *cli, const struct jw_lint_result *result,
					  const struct lint_bound *bound, const struct gpu_targets *gpus,
					  const struct jw_arch_list *list)
{
	struct cures cures = {.only_listed = true}; /* of others, the reader is the author */

	if (!result->images || !result->kernels) {
		if (result->images)
			output_line(&cli->out, STYLE_PLAIN,
						"no kernels found: no CUDA program can use the device code in these files");
		print_claims(&cli->out, result, list);
		return 0;
	}
	print_lint_findings(&cli->out, result);
	print_claims(&cli->out, result, list);
	if (output_wants_text(&cli->out) && print_linted_gpus(err, &cli->out, result, gpus, bound))
		return -1;
	print_plain_ptx(&cli->out, result);
	print_builds(&cli->out, result, bound);
	print_befores(&cli->out, result);
	for (size_t i = 0; i < result->finding_count; i++)
		if (result->findings[i].kind == JW_LINT_FAILS)
			cures_add(cli, &cures, result->findings[i].path, result->findings[i].target,
					  &gpus->driver);
	cures_print(cli, &cures, true);
	jw_result_free(cures.owner);
	return 0;
}

/* ---- packages: each is judged alone, as it is installed alone */

/* Returns the path of a wheel or conda package among the files, or NULL. */
static const char *package_of(const struct jw_found_file *file)
{
	return text_ends(file->path, ".whl") || text_ends(file->path, ".conda") ? file->path : NULL;
}

/* Divides the files; the files outside packages are the last part. Returns the number of parts. */
static size_t divide_files(const struct jw_found *found, struct lint_part **ret_parts)
{
	struct lint_part *parts = mem_array(found->file_count + 1, sizeof *parts);
	size_t count = 0;

	for (int packages = 1; packages >= 0; packages--)
		for (size_t i = 0; i < found->file_count; i++) {
			const char *path = package_of(&found->files[i]);
			struct lint_part *part;

			if ((path != NULL) != (packages != 0))
				continue;
			if (path || !count || parts[count - 1].path) {
				const size_t most = path ? 1 : found->file_count;

				part = &parts[count++];
				*part = (struct lint_part){.path = path, .found = *found};
				part->found.files = mem_array(most, sizeof *part->found.files);
				part->found.file_count = 0;
				/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
				part->paths = mem_array(most, sizeof *part->paths);
				part->found.note_count = count == 1 ? found->note_count : 0;
			}
			part = &parts[count - 1];
			part->paths[part->found.file_count] = found->files[i].path;
			part->found.files[part->found.file_count++] = found->files[i];
		}
	if (!count) {
		parts[count] = (struct lint_part){.found = *found};
		parts[count++].found.files = NULL;
	}
	*ret_parts = parts;
	return count;
}

static void free_parts(struct lint_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		jw_result_free(parts[i].result);
		mem_free(parts[i].found.files);
		mem_free(parts[i].paths);
	}
	mem_free(parts);
}

/* Writes the names of these GPUs, a bit for each; returns whether there are any. */
static bool name_gpus(struct buf *names, const struct output *out,
					  const struct jw_lint_result *result, uint32_t gpus)
{
	size_t count = 0;

	names->size = 0;
	for (size_t i = 0; i < result->gpu_count; i++)
		count += gpus >> i & 1;
	if (count > 1 && count == result->gpu_count) {
		buf_add(names, "all %zu GPUs", count);
		return true;
	}
	for (size_t i = 0; i < result->gpu_count; i++) {
		char name[GPUS_NAME];

		if (gpus >> i & 1)
			buf_add(names, "%s%s", names->size ? ", " : "",
					gpu_targets_name(name, out, result->gpus[i].total.target));
	}
	return count;
}

static const char other_files[] = "other files";

/* Prints one line for each part, so that the outcome of many wheels is at the end of the output. */
static void print_parts(const struct output *out, const struct lint_part *parts, size_t count,
						const struct lint_bound *bound)
{
	for (size_t p = 0; p < count; p++) {
		const struct jw_lint_result *result = parts[p].result;
		struct buf line = BUF_MAX(MAX_LINT_LINE), names = BUF_MAX(MAX_LINT_LINE);
		uint32_t fails = 0, unsure = 0, over = 0, compiles = 0, lacks = 0;
		bool label = false, arch_list = false;

		for (size_t i = 0; result->kernels && i < result->gpu_count; i++) {
			const struct jw_lint_gpu *gpu = &result->gpus[i];
			const uint32_t bit = UINT32_C(1) << i;

			if (gpu->total.fate.failing)
				fails |= bit;
			else if (bound->set && gpu->start.likely > bound->most_start_s)
				over |= bit;
			else if (gpu->total.tile || gpu->total.unknown)
				unsure |= bit;
			else if (gpu->total.modules)
				compiles |= bit;
			lacks |= gpu->parts ? bit : 0;
		}
		for (size_t i = 0; i < result->claim_count; i++)
			if (result->claims[i].level == JW_LINT_ERROR)
				*(result->claims[i].label ? &label : &arch_list) = true;
		if (name_gpus(&names, out, result, fails))
			buf_add(&line, "fails on %s", buf_text(&names));
		if (name_gpus(&names, out, result, over))
			buf_add(&line, "%sover --max-start on %s", verdict_separator(&line), buf_text(&names));
		if (name_gpus(&names, out, result, unsure))
			buf_add(&line, "%sjitwarm cannot tell on %s", verdict_separator(&line),
					buf_text(&names));
		if (name_gpus(&names, out, result, lacks))
			buf_add(&line, "%sa part has no code for %s", verdict_separator(&line),
					buf_text(&names));
		if (name_gpus(&names, out, result, compiles))
			buf_add(&line, "%scompiles on %s", verdict_separator(&line), buf_text(&names));
		if (arch_list)
			buf_add(&line, "%slacks code of --arch-list", verdict_separator(&line));
		if (label)
			buf_add(&line, "%sdoes not fit its label", verdict_separator(&line));
		if (result->trouble_count)
			buf_add(&line, "%s%s", verdict_separator(&line),
					result->images ? "damaged" : "cannot be read");
		else if (!result->images)
			buf_add(&line, "no device code");
		else if (!line.size)
			buf_add(&line, "nothing to compile");
		if (!p)
			output_line(out, STYLE_STRONG, "Summary:");
		output_line(out,
					fails || over || label || arch_list || result->trouble_count ? STYLE_BAD
																				 : STYLE_PLAIN,
					"  %s: %s", parts[p].path ? parts[p].path : other_files, buf_text(&line));
		buf_free(&line);
		buf_free(&names);
	}
}

/* Adds the findings of a part to those of the others, for one document. */
static void join_result(struct jw_lint_result *all, const struct jw_lint_result *part,
						size_t capacities[4])
{
#define JOIN(list, number, capacity)                                                               \
	for (size_t i = 0; i < part->number; i++) {                                                    \
		VEC_GROW(all->list, capacity, all->number);                                                \
		all->list[all->number++] = part->list[i];                                                  \
	}
	JOIN(findings, finding_count, capacities[0])
	JOIN(claims, claim_count, capacities[1])
	JOIN(before, before_count, capacities[2])
	JOIN(troubles, trouble_count, capacities[3])
#undef JOIN
	for (size_t i = 0; i < all->gpu_count; i++)
		if (part->gpus[i].level > all->gpus[i].level)
			all->gpus[i].level = part->gpus[i].level;
}

/* Prints the document: with several parts, `whole` has the sums, and the parts have the rest. */
static int print_document(struct output *out, const struct jw_lint_result *whole,
						  struct lint_part *parts, size_t count, const struct gpu_targets *gpus)
{
	struct lint_document document = {.result = *whole,
									 .refused = gpus->refused,
									 .refused_count = gpus->refused_count,
									 .parts = parts,
									 .part_count = count > 1 ? count : 0};
	size_t capacities[4] = {0};
	int failed;

	if (count > 1) {
		struct jw_lint_result *all = &document.result;

		all->findings = NULL, all->claims = NULL, all->before = NULL, all->troubles = NULL;
		all->finding_count = all->claim_count = all->before_count = all->trouble_count = 0;
		for (size_t i = 0; i < all->gpu_count; i++)
			all->gpus[i].level = JW_LINT_NOTE;
		for (size_t i = 0; i < count; i++) {
			parts[i].gpus = parts[i].result->gpus;
			parts[i].gpu_count = parts[i].result->gpu_count;
			join_result(all, parts[i].result, capacities);
		}
	}
	failed = document_print(out, &document_lint, &document);
	if (count > 1) {
		mem_free(document.result.findings);
		mem_free(document.result.claims);
		mem_free(document.result.before);
		mem_free(document.result.troubles);
	}
	return failed;
}

static void end_with_result(struct cli *cli, const struct jw_lint_result *result,
							const struct lint_bound *bound)
{
	for (size_t i = 0; i < result->claim_count; i++)
		if (result->claims[i].level == JW_LINT_ERROR)
			cli_end_with(cli, EXIT_COLD);
	for (size_t i = 0; i < result->gpu_count; i++) {
		if (result->gpus[i].total.fate.failing || result->gpus[i].total.tile ||
			result->gpus[i].total.unknown)
			cli_end_with(cli, EXIT_CANNOT);
		if (result->gpus[i].parts ||
			(bound->set && result->gpus[i].start.likely > bound->most_start_s))
			cli_end_with(cli, EXIT_COLD);
	}
}

static void hide_folder(const struct jw_index_wheel *wheel, struct jw_lint_result *result)
{
	for (size_t i = 0; i < result->finding_count; i++)
		(void)index_wheel_hide_folder(wheel, result->findings[i].path);
	for (size_t i = 0; i < result->before_count; i++)
		(void)index_wheel_hide_folder(wheel, result->before[i].path);
	for (size_t i = 0; i < result->claim_count; i++)
		(void)index_wheel_hide_folder(wheel, result->claims[i].path);
	for (size_t i = 0; i < result->trouble_count; i++)
		(void)index_wheel_hide_folder(wheel, result->troubles[i]);
}

/* Judges each part, prints it unless there is a document, and adds up what decides the status. */
static int lint_parts(struct jw_error *err, struct cli *cli, struct jw_lint_options *options,
					  const struct jw_found *found, struct lint_part *parts, size_t count,
					  const struct lint_bound *bound, const struct gpu_targets *gpus,
					  const struct jw_arch_list *list, const struct jw_index_wheel *wheel)
{
	struct gpu_targets later = *gpus; /* the GPUs that do not run are annotated once */
	const bool text = !cli->out.json && !options_given(&cli->options, "format");
	size_t troubles = 0, images = 0, claims = 0;
	int failed = 0;

	later.refused_count = 0;
	for (size_t p = 0; !failed && p < count; p++) {
		struct lint_part *part = &parts[p];
		struct jw_lint_result *result;

		options->paths = part->paths;
		options->path_count = part->found.file_count;
		options->found = &part->found;
		if (jw_lint(err, options, &part->result))
			return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
		result = part->result;
		hide_folder(wheel, result);
		for (size_t i = 0; i < result->trouble_count; i++)
			output_error(&cli->out, "%s", result->troubles[i]);
		troubles += result->trouble_count;
		images += result->images;
		claims += result->claim_count;
		end_with_result(cli, result, bound);
		if (options_given(&cli->options, "format"))
			lint_github_print(&cli->out, &part->found, result, p ? &later : gpus, bound);
		else if (text && count > 1 && result->images && !result->finding_count)
			output_line(&cli->out, STYLE_STRONG, "%s:", part->path ? part->path : other_files);
		if (text)
			failed = print_text(err, cli, result, bound, gpus, list);
	}
	if (failed)
		return failed;
	cli_end_with(cli, exit_of_troubles(troubles + found->trouble_count, images));
	if (text && !images && !troubles && !claims && found_files_none(cli, found))
		cli_end_with(cli, EXIT_CANNOT);
	if (text && count > 1 && images)
		print_parts(&cli->out, parts, count, bound);
	return 0;
}

static int lint_files(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					  const struct jw_arch_list *list, const char *const *except,
					  const struct jw_index_wheel *wheel)
{
	const char *const path = wheel ? wheel->path : NULL;
	const struct options *given = &cli->options;
	const struct lint_bound bound = {options_given(given, "max-start"),
									 (double)options_number(given, "max-start") / 1000};
	struct jw_lint_options options = {
		.targets = gpus->targets,
		.target_count = gpus->count,
		.driver = gpus->driver,
		.bounded = bound.set,
		.most_start_s = bound.most_start_s,
		.arch = *list,
		.each = options_given(given, "each"),
		.except = except,
		.except_count = options_count(given, "except"),
		.required = jw_which_required,
		.state_dir = cli_state(NULL, cli),
		.cancel = cli_cancel,
	};
	struct jw_lint_result *whole = NULL;
	struct lint_part *parts;
	struct found_files files;
	size_t count;
	int failed;

	if (found_files_find(err, &cli->out, path ? &path : given->operands, given->operand_count,
						 false, &files))
		return -1;
	count = divide_files(files.found, &parts);
	failed = lint_parts(err, cli, &options, files.found, parts, count, &bound, gpus, list, wheel);
	if (!files.count && !cli->status)
		cli->status = EXIT_CANNOT; /* nothing was judged, in whichever format that is printed */
	if (!failed && cli->out.json) {
		options.paths = files.paths;
		options.path_count = files.count;
		options.found = files.found;
		failed = (count > 1 && jw_lint(err, &options, &whole)) ||
				 print_document(&cli->out, whole ? whole : parts->result, parts, count, gpus);
	}
	jw_result_free(whole);
	free_parts(parts, count);
	found_files_free(&files);
	return failed ? -1 : 0;
}

/* ---- [tool.jitwarm.lint] of the working directory's pyproject.toml: what the command line does
 * not give */

static const char project_file[] = "pyproject.toml";

static int add_project_value(struct jw_error *err, struct cli *cli, const struct toml_value *value)
{
	static const char *const keys[] = {"arch-list", "each", "except",
									   "max-start", "gpus", "driver"};
	size_t at = 0;

	while (at < sizeof keys / sizeof *keys && strcmp(keys[at], value->key) != 0)
		at++;
	if (at == sizeof keys / sizeof *keys)
		return error_set(
			err, JW_ERR_USAGE,
			"%s, line %zu: [tool.jitwarm.lint] has no “%.60s”; it has arch-list, each, "
			"except, max-start, gpus and driver",
			project_file, value->line, value->key);
	if (!strcmp(value->key, "each")) {
		if (value->count != 1 || value->text ||
			(strcmp(value->items[0], "true") != 0 && strcmp(value->items[0], "false") != 0))
			return error_set(err, JW_ERR_USAGE, "%s, line %zu: “each” must be true or false",
							 project_file, value->line);
		return *value->items[0] == 't' ? options_add(err, &cli->options, "each", NULL, project_file)
									   : 0;
	}
	for (size_t i = 0; i < value->count; i++)
		if (options_add(err, &cli->options, value->key, value->items[i], project_file))
			return -1;
	return 0;
}

/* Reads the table of the project's pyproject.toml, if there is one, and adds its values. */
static int read_project(struct jw_error *err, struct cli *cli, struct toml_table **ret_table)
{
	enum { MAX_PROJECT = 1 << 20 };
	struct buf text = {0};
	struct jw_error why = {0};
	int result = 0;

	if (os_read_file(&why, project_file, MAX_PROJECT, &text)) {
		buf_free(&text);
		return why.code == JW_ERR_NOT_FOUND || os_is_denied(".") ? 0 : error_copy(err, &why);
	}
	if (toml_table_read(err, buf_text(&text), "tool.jitwarm.lint", ret_table))
		result = error_prefix(err, "%s", project_file);
	buf_free(&text);
	for (size_t i = 0; !result && i < (*ret_table)->count; i++)
		result = add_project_value(err, cli, &(*ret_table)->values[i]);
	return result;
}

/* Finds the GPUs of the labels in the operands' names: all of them if each name has a label that
 * names GPUs, else none. Returns whether some name has one. */
static bool labels_gpus(const struct cli *cli, struct gpu_targets *gpus)
{
	struct gpu_targets named = *gpus;
	bool some = false, all = true;

	for (size_t i = 0; i < cli->options.operand_count; i++) {
		struct jw_lint_label label = {.arch.count = 0};

		(void)jw_lint_label(cli->options.operands[i], &label);
		some = some || label.arch.count;
		all = all && label.arch.count;
		for (size_t k = 0; k < label.arch.count; k++)
			named.count = jw_target_add(named.targets, named.count, GPUS_MAX,
										(struct jw_target){label.arch.items[k].target.sm, 0});
	}
	if (all)
		*gpus = named;
	return some;
}

static int lint_named(struct jw_error *err, struct cli *cli)
{
	const char *const format = options_value(&cli->options, "format"), *const driver =
																		   options_value(
																			   &cli->options,
																			   "driver");
	struct gpu_targets gpus, labelled;
	struct jw_arch_list list = {.count = 0};
	struct index_wheel asked;
	const char **except;
	int result;

	if (!cli->options.operand_count)
		return error_set(err, JW_ERR_USAGE, "name a wheel, a conda package or a library");
	if (format && cli->out.json)
		return error_set(err, JW_ERR_USAGE,
						 "--format github and --json cannot be combined: choose one");
	if (gpu_targets_list(err, cli, "gpus", &gpus) ||
		(driver && jw_driver_parse(err, driver, &gpus.driver)))
		return -1;
	gpu_targets_warn(cli, &gpus.driver);
	for (size_t i = 0; i < options_count(&cli->options, "arch-list"); i++)
		if (jw_arch_list_read(err, options_item(&cli->options, "arch-list", i), &list))
			return -1;
	labelled = gpus;
	if (!labels_gpus(cli, &labelled) && !list.count && options_given(&cli->options, "each"))
		return error_set(
			err, JW_ERR_USAGE,
			"--each needs a list of GPUs: add --arch-list, or name a wheel whose label names GPUs");
	/* Without --gpus, uses those of the list or of the wheels' labels, else the GPUs on sale since
	 * 2018 except Jetson; of these, those that the driver runs. */
	if (!gpus.count) {
		for (size_t i = 0; i < list.count; i++)
			gpus.count = jw_target_add(gpus.targets, gpus.count, GPUS_MAX,
									   (struct jw_target){list.items[i].target.sm, 0});
		if (!list.count)
			gpus = labelled;
		if (!gpus.count &&
			jw_targets_read(err, GPUS_USUAL, NULL, gpus.targets, GPUS_MAX, &gpus.count))
			return -1;
		gpu_targets_drop_unnamed(&gpus);
	}
	if (gpu_targets_keep_run(err, cli, &gpus))
		return -1;
	if (index_wheel_get(err, cli, &gpus, &asked))
		return -1;
	except = mem_array(options_count(&cli->options, "except") + 1, sizeof *except);
	for (size_t i = 0; i < options_count(&cli->options, "except"); i++)
		except[i] = options_item(&cli->options, "except", i);
	result = lint_files(err, cli, &gpus, &list, except, asked.wheel);
	mem_free(except);
	jw_index_close(asked.index);
	return result;
}

static int lint_run(struct jw_error *err, struct cli *cli)
{
	struct toml_table *project = NULL; /* whose texts are values of options */
	const int result = read_project(err, cli, &project) || lint_named(err, cli) ? -1 : 0;

	jw_result_free(project);
	return result;
}

static const struct cli_option options[] = {
	CLI_LIST("gpus", "GPUS",
			 "Answer for these GPUs: rtx4090, h100, sm_86, ranges (rtx20..rtx50, sm_80..sm_90), "
			 "several with commas; may be repeated. Default: the GPUs of --arch-list, or of the "
			 "label in the wheel's name, else rtx20..rtx50,a100,h100,b200"),
	CLI_LIST("arch-list", "LIST",
			 "Require code for the architectures that the build was asked for, written as in "
			 "TORCH_CUDA_ARCH_LIST (\"8.6;12.0+PTX\"), CMAKE_CUDA_ARCHITECTURES (\"86-real;120\") "
			 "or nvcc (\"-gencode arch=compute_86,code=sm_86\"): the status is 1 if a library "
			 "lacks one of them; may be repeated"),
	CLI_FLAG("each",
			 "Require the architectures of --arch-list in every piece of code, not only in "
			 "one piece of each library",
			 .rare = true),
	CLI_LIST(
		"except", "GLOB",
		"Leave out, and print, libraries whose name or path fits this pattern; may be repeated",
		.rare = true),
	CLI_DURATION("max-start", "TIME",
				 "Exit with status 1 if the first start is predicted to compile for longer than "
				 "this time (5s, 2m)"),
	CLI_VALUE("driver", "VERSION",
			  "Answer for this driver: version (550.163.01, 580) or CUDA version (12.2)",
			  .names = NAMES_DRIVER, .rare = true),
	CLI_VALUE("format", "NAME",
			  "github: print annotations for a GitHub workflow; for JSON, use --json",
			  .choices = "github", .rare = true),
	INDEX_OPTIONS,
	PROGRESS_OPTION,
	CLI_ENVIRONMENT,
	{0},
};

const struct cli_command command_lint = {
	.name = "lint",
	.summary = "Report for which GPUs the driver must compile a package",
	.usage = "[OPTION]… WHEEL|PATH|PACKAGE…",
	.description =
		"Shows for which GPUs the driver must compile a package at its first start, and which GPUs "
		"cannot run it.\n\nFor continuous integration: lint needs neither driver nor GPU, runs "
		"none of the files' code, and gives the same result on any machine. For each GPU of "
		"--gpus, lint says which libraries the driver would compile at the first start, for how "
		"long on one core, and which -gencode of nvcc avoids this. For several GPUs of one major "
		"version of compute capability, lint names only the oldest GPU, since the newer GPUs run "
		"the same machine code. Times assume a typical machine; --max-start is compared with the "
		"middle of the range.\n\nIf the name of a wheel ends in a variant label (PEP 825) such as "
		"cu129_sm90, its libraries need machine code for sm_90, made with CUDA 12.9 or older. "
		"jitwarm ignores other words of a label.\n\nIf “jitwarm which” lists the package of a "
		"wheel, lint also names the GPUs on which the previous release did better.\n\nThe table "
		"[tool.jitwarm.lint] of pyproject.toml in the working directory may hold arch-list, each, "
		"except, max-start, gpus and driver; the command line wins.\n\nExit status: 1 if a first "
		"start takes longer than --max-start, if a library lacks code of --arch-list or of a "
		"label, if a part of a file has no code for one of these GPUs, or if a file cannot be read "
		"or holds damaged device code. Else 2 if a program will fail on one of these GPUs since no "
		"code in a file runs there, or jitwarm cannot tell (Tile IR). 3 if nothing could be read.",
	.examples = "jitwarm lint dist/model-1.0.whl --gpus rtx20..rtx50 --max-start 5s\n",
	.options = options,
	.reads = true,
	.columns = 100,
	.run = lint_run,
};
