/* jitwarm scan: the device code of files, and what would be compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/scan.h>
#include <jitwarm/version.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/cure.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/index_wheel.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/verdict_table.h"
#include "os/file.h"

/* ---- the document */

struct scan_document {
	const cJSON *packages; /* NULL without -r */
	const cJSON *files;
	const struct jw_scan_total *totals;
	size_t total_count;
	const struct gpu_refused *refused;
	size_t refused_count;
};

struct scan_package_document {
	struct jw_listed_package package;
	const char *wheel, *why;
};

#define ROW(member, ...)              JSON(struct jw_scan_image, member, __VA_ARGS__)
#define VERDICT(member, ...)          JSON(struct jw_scan_verdicts, member, __VA_ARGS__)
#define VERDICT_AS(name, member, ...) JSON_AS(name, struct jw_scan_verdicts, member, __VA_ARGS__)

static const struct json_field reason_fields[] = {
	VERDICT_AS("exclusive", cannot_exclusive,
			   "pieces whose only code is for an `a` or `f` target that is not this GPU"),
	VERDICT_AS("too_new", cannot_too_new,
			   "pieces of code whose PTX version, kind of entry or machine code is too new for the "
			   "driver"),
	VERDICT_AS("zstd", cannot_zstd,
			   "pieces whose code is compressed in a way that this driver cannot read"),
	VERDICT_AS("early", cannot_early,
			   "pieces whose PTX is older than the first version for its target, so that no driver "
			   "compiles it"),
	VERDICT_AS("damaged", cannot_damaged, "pieces whose code is damaged"),
	{0},
};

/* Rounds to milliseconds; estimates are no more precise. */
static double rounded(double seconds)
{
	return (double)(uint64_t)(seconds * 1000 + 0.5) / 1000;
}

/* Returns all that is compiled on the GPU: also what priming leaves out. */
static struct jw_scan_work all_work(const struct jw_scan_verdicts *verdicts)
{
	struct jw_scan_work work = verdicts->work;

	if (verdicts->link_needed == JW_SCAN_NEED_YES)
		jw_scan_add_work(&work, &verdicts->link_work);
	return work;
}

static double start_seconds(const void *verdicts)
{
	return rounded(all_work(verdicts).start.likely);
}

static double low_seconds(const void *verdicts)
{
	return rounded(all_work(verdicts).start.low);
}

static double high_seconds(const void *verdicts)
{
	return rounded(all_work(verdicts).start.high);
}

static double longest_seconds(const void *verdicts)
{
	return rounded(all_work(verdicts).longest_seconds);
}

static double cache_bytes(const void *verdicts)
{
	return (double)all_work(verdicts).cache_bytes;
}

static const struct json_field estimate_fields[] = {
	JSON_NUMBER_OF("cpu_seconds", start_seconds, "the predicted time on one core"),
	JSON_NUMBER_OF("low_seconds", low_seconds,
				   "the lower bound in seconds; in 5 % of cases it takes less time"),
	JSON_NUMBER_OF("high_seconds", high_seconds,
				   "the upper bound in seconds; in 5 % of cases it takes more time"),
	JSON_NUMBER_OF("longest_seconds", longest_seconds, "the time that the longest module takes"),
	JSON_NUMBER_OF("cache_bytes", cache_bytes, "by how many bytes the driver's cache grows"),
	{0},
};

static const struct json_field verdict_fields[] = {
	VERDICT(native, "pieces of code with machine code for exactly this architecture"),
	VERDICT(compatible,
			"pieces of code with machine code for another architecture that runs on this GPU"),
	VERDICT(link, "pieces of code with relocatable code and usable PTX"),
	VERDICT(jit, "pieces of code with PTX that the driver compiles"),
	VERDICT(tile,
			"pieces of code with Tile IR, which the driver compiles at its first load; whether "
			"it is in the cache is unknown"),
	VERDICT(
		unknown,
		"pieces of code with a kind of entry that jitwarm does not know (`other` has the number "
		"of the kind), or PTX sources that programs edit before the driver compiles them"),
	VERDICT(cannot, "pieces in which the driver takes code that it cannot use"),
	VERDICT(nothing, "pieces that have code only for other or newer architectures"),
	VERDICT(pieces, "pieces with code, without those that only a link reads"),
	VERDICT(lacking, "pieces among `pieces` without code for this GPU; if most have some, programs "
					 "choose by the GPU, and run"),
	VERDICT(too_new, "pieces among `pieces` that need a newer driver"),
	VERDICT(runs, "true: the file runs on this GPU with this driver"),
	VERDICT_AS("jit_modules", work.modules,
			   "distinct pairs of payload and option string that would be compiled"),
	VERDICT_AS("jit_bytes", work.ptx_bytes, "the size of the PTX of these modules, decompressed"),
	JSON_FORMATTED(
		"loading", struct jw_scan_verdicts, start_work.loading, document_loading,
		"when a program compiles the modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`; absent without modules",
		.presence = JSON_IF_SET),
	JSON_OF(
		JSON_MAYBE, "link_needed", struct jw_scan_verdicts, link_needed,
		.text =
			"whether the CUDA runtime links at start for this GPU; `null`: the file does not tell"),
	VERDICT_AS("link_modules", link_work.modules,
			   "distinct modules that the driver would compile as inputs of a link at start"),
	VERDICT_AS("link_bytes", link_work.ptx_bytes,
			   "the size of the PTX of these modules, decompressed"),
	VERDICT_AS("loose_modules", loose_work.modules,
			   "modules among `jit_modules` outside the sections that the CUDA runtime registers"),
	VERDICT_AS("loose_bytes", loose_work.ptx_bytes,
			   "the size of the PTX of these modules, decompressed"),
	VERDICT(
		left_out,
		"`prime` leaves that part out without `--all`; also true for what packages' tests load, "
		"where that part is all of `jit_modules`"),
	JSON_PART("cannot_reasons", JSON_TABLE(struct jw_scan_verdicts, reason_fields),
			  "the pieces of `cannot`, by reason"),
	JSON_PART("estimate", JSON_TABLE(struct jw_scan_verdicts, estimate_fields),
			  "the predicted cost of compiling `jit_modules`, and of a link if one is needed"),
	{0},
};

static const struct json_field verdict_pair[] = {
	JSON_FORMATTED("sm_120", struct jw_scan_verdicts, target, document_sm, NULL),
	JSON_PART("verdict", JSON_TABLE(struct jw_scan_verdicts, verdict_fields), NULL),
	{0},
};

static const char *count_name(char room[JSON_ROOM], const void *values)
{
	return jw_scan_count_name(room, values);
}

static const struct json_field count_pair[] = {
	JSON_FORMATTED_OF("target", count_name, NULL),
	JSON(struct jw_scan_count, entries, NULL),
	{0},
};

static const char *piece_target(char room[JSON_ROOM], const void *values)
{
	const struct jw_piece_entry *entry = values;

	return entry->kind == 1 || entry->kind == 64 ? jw_target_compute(room, entry->target)
		   : entry->target.sm                    ? jw_target_sm(room, entry->target)
												 : "";
}

static const char *piece_text(char room[JSON_ROOM], const void *target)
{
	const struct jw_target *text = target;

	return text->sm ? jw_target_compute(room, *text) : "";
}

static const char *needs_text(char room[JSON_ROOM], const void *needs)
{
	const struct package_fact *library;

	*room = '\0';
	for (size_t at = 0; (library = package_fact_next("library", &at));)
		if (*(const uint32_t *)needs & package_fact_bit("library", library->name))
			text_append(room, JSON_ROOM, "%s%s", *room ? " " : "", library->name);
	return room;
}

static const char *piece_isa(char room[JSON_ROOM], const void *values)
{
	const struct jw_piece_entry *entry = values;

	(void)snprintf(room, JSON_ROOM, "%u.%u", entry->isa_major, entry->isa_minor);
	return room;
}

static const char *const role_names[] = {"registered", "relocatable", "loose", NULL};

static double piece_cost(const void *values)
{
	const struct jw_piece_entry *entry = values;

	return rounded(entry->cost_ms / 1000);
}

static double piece_longest(const void *values)
{
	const struct jw_piece_entry *entry = values;

	return rounded(entry->longest_ms / 1000);
}

#define ENTRY(member, ...) JSON(struct jw_piece_entry, member, __VA_ARGS__)

static const struct json_field entry_fields[] = {
	ENTRY(kind, "1 PTX, 2 machine code, 8 LTO-IR, 64 relocatable PTX, 128 Tile IR"),
	JSON_FORMATTED_OF("target", piece_target, "the architecture, as the entry's header names it"),
	JSON_FORMATTED("text", struct jw_piece_entry, text, piece_text,
				   "PTX: the architecture that its text names, if the text was read",
				   .presence = JSON_IF_SET),
	JSON_FORMATTED_OF("isa", piece_isa,
					  "PTX: its ISA version; machine code: 1 and the number of its ABI"),
	ENTRY(cuda, "machine code: the first CUDA version (12080) whose drivers load it; 0: all do",
		  .presence = JSON_IF_SET),
	ENTRY(toolkit, "machine code: the CUDA version of the compiler that wrote it; 0: unknown",
		  .presence = JSON_IF_SET),
	ENTRY(zstd, "true: the code is compressed with zstd", .presence = JSON_IF_SET),
	ENTRY(relocatable, "true: the code has to be linked before it can be loaded",
		  .presence = JSON_IF_SET),
	ENTRY(damaged, "true: the code cannot be decoded", .presence = JSON_IF_SET),
	ENTRY(modules,
		  "PTX that one of the GPUs compiles: distinct modules, each counted in the "
		  "first piece of a file or an archive that has it",
		  .presence = JSON_IF_SET),
	ENTRY(ptx_bytes, "the size of the PTX of these modules, decompressed", .presence = JSON_IF_SET),
	ENTRY(cache_bytes, "the predicted size of the modules in the driver's cache",
		  .presence = JSON_IF_SET),
	JSON_NUMBER_OF("cost_seconds", piece_cost,
				   "the time that the model predicts for the modules, on one core",
				   .presence = JSON_IF_SET),
	JSON_NUMBER_OF("longest_seconds", piece_longest,
				   "the predicted time of the longest of these modules", .presence = JSON_IF_SET),
	{0},
};

static const struct json_field piece_fields[] = {
	JSON(struct jw_piece, containers, "the number of pieces of code that this object describes"),
	JSON(
		struct jw_piece, role,
		"`registered`: the CUDA runtime hands it to the driver at start; `relocatable`: input of a "
		"link; `loose`: the library loads it itself",
		.names = role_names),
	JSON(struct jw_piece, linked, "the result of device linking", .presence = JSON_IF_SET),
	JSON(struct jw_piece, empty, "true: the piece holds no kernel and no variable",
		 .presence = JSON_IF_SET),
	JSON(struct jw_piece, edited,
		 "true: a PTX source that programs edit before the driver compiles it",
		 .presence = JSON_IF_SET),
	JSON_LIST_OF("entries", struct jw_piece, entries, entry_count,
				 JSON_TABLE(struct jw_piece_entry, entry_fields),
				 "the entries of a piece, by architecture; those of one architecture are in "
				 "the order of "
				 "the file"),
	{0},
};

static const char *const format_names[] = {"elf", "pe", "fatbin", "cubin", "ptx", NULL};

static const struct json_field image_fields[] = {
	ROW(path, "the path of the file"),
	DOCUMENT_MEMBER(struct jw_scan_image, member),
	ROW(size_bytes, "the size of the file, or of the member of the archive"),
	ROW(format, "the format of the file: `elf`, `pe`, `fatbin`, `cubin` or `ptx`",
		.names = format_names),
	ROW(containers, "pieces of code: fat binaries; a loose cubin or PTX counts as one, as does "
					"each PTX text in a "
					"program's data"),
	JSON_MAP_OF("cubins", struct jw_scan_image, cubins, cubin_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of machine code by target: `{\"sm_75\": 190, \"sm_90a\": 1376}`"),
	JSON_MAP_OF("ptx", struct jw_scan_image, ptx, ptx_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of PTX by target: `{\"compute_120\": 188}`"),
	ROW(ptx_bytes, "the size of all PTX in the file, decompressed"),
	JSON_MAP_OF("other", struct jw_scan_image, other, other_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of other kinds by name: `lto-ir`, `kind 0x80`"),
	ROW(damaged, "places that look like a piece of code but are not sound"),
	ROW(runtime_cuda, "the CUDA version (12040) of the file's CUDA runtime: the version of the "
					  "library that the file is linked to, and of its own compiler; 0: unknown"),
	ROW(runtime_shared,
		"true: the CUDA runtime is another file (`libcudart.so.12`), not a part of this file"),
	JSON_FORMATTED("needs", struct jw_scan_image, needs, needs_text,
				   "NVIDIA's libraries that the file is linked to, if jitwarm knows their GPUs: "
				   "`libcublas.so.11`",
				   .presence = JSON_IF_SET),
	ROW(wrappers_known, "whether it is known which pieces are `linked`"),
	JSON_LIST_OF(
		"pieces", struct jw_scan_image, pieces, piece_count,
		JSON_TABLE(struct jw_piece, piece_fields),
		"the pieces of code of the file; pieces that are alike for every GPU and driver share "
		"an object"),
	JSON_MAP_OF("verdicts", struct jw_scan_image, verdicts, verdict_count,
				JSON_TABLE(struct jw_scan_verdicts, verdict_pair),
				"what becomes of the file's code on each GPU; `{}` without a GPU"),
	{0},
};
const struct json_table document_scan_image = {.fields = image_fields};

static const struct json_field change_fields[] = {
	JSON(struct jw_scan_change, driver,
		 "the driver branch from which on the numbers of this object hold"),
	JSON(struct jw_scan_change, modules,
		 "modules that `prime` would compile from this driver branch on"),
	JSON(struct jw_scan_change, failing,
		 "files with which a program fails from this driver branch on"),
	{0},
};

#define TOTAL(member, ...)          JSON(struct jw_scan_total, member, __VA_ARGS__)
#define TOTAL_AS(name, member, ...) JSON_AS(name, struct jw_scan_total, member, __VA_ARGS__)

static const struct json_field total_fields[] = {
	DOCUMENT_TARGET(struct jw_scan_total, target),
	JSON_FORMATTED("verdict", struct jw_scan_total, fate.verdict, document_runs, DOCUMENT_RUNS),
	JSON_MEMBERS_OF(struct jw_scan_total, fate, &document_fate),
	TOTAL_AS("failing", fate.failing, "files with which a program fails"),
	TOTAL_AS("lacking", fate.lacking,
			 "other files of which a part fails, or that are optional and fail"),
	TOTAL(modules, "modules that `prime` would compile, each counted once"),
	TOTAL(ptx_bytes, "the size of the PTX of these modules, decompressed"),
	TOTAL(left_out, "modules that `prime` leaves out without `--all`"),
	TOTAL(driver_from,
		  "the oldest branch of Linux drivers from which up to this driver all is the "
		  "same and no program fails; 0: none, or no driver runs any of it and no file "
		  "needs a shared CUDA runtime"),
	TOTAL(driver_to, "the last branch before a newer driver changes something, or the last one "
					 "that runs this GPU; 0: none"),
	JSON_INSIDE_OF("newer", struct jw_scan_total, newer, newer_count, "what newer drivers change",
				   .table = JSON_TABLE(struct jw_scan_change, change_fields)),
	TOTAL(older_differ,
		  "true: older driver branches have other verdicts, and no program fails with them"),
	TOTAL(fails_from, "the first driver branch with which a program fails; 0: none"),
	TOTAL(fails_to, "the last driver branch with which a program fails; 0: none"),
	TOTAL(at_most,
		  "no start compiles all of it: some files also have code that runs as it is, or two "
		  "libraries are variants, of which a program loads one (`libx_cuda118.so`, `x.dll`)"),
	JSON_OBJECT_OF("forecast", struct jw_scan_total, forecast, &document_forecast,
				   "the predicted cost of compiling the modules on this machine"),
	{0},
};

#define PACKAGE(member, ...) JSON(struct scan_package_document, member, __VA_ARGS__)

static const struct json_field package_fields[] = {
	PACKAGE(package.asked, "`torch==2.1.0`, as pip resolves it, or as it was typed; if a line is "
						   "left out, its kind: `list`, `option` (of pip), `address`, `file` or "
						   "`other`"),
	PACKAGE(package.line, "the number of the line that was left out; 0 for a package"),
	PACKAGE(wheel, "the name of the wheel, which is the `path` of its `files`",
			.presence = JSON_UNLESS_NULL),
	PACKAGE(why, "why the wheel is missing, in one line", .presence = JSON_UNLESS_NULL),
	{0},
};
const struct json_table document_scan_package = {.fields = package_fields};

static const struct json_field refused_fields[] = {
	JSON_FORMATTED("target", struct gpu_refused, target, document_sm,
				   "the GPU architecture that the driver does not run: `sm_120`"),
	JSON(struct gpu_refused, why, "why the driver does not run this GPU, in one line"),
	JSON_FORMATTED("needs", struct gpu_refused, needs, document_needs,
				   "the first driver that runs this GPU, if a newer driver does",
				   .presence = JSON_IF_SET),
	{0},
};

const struct json_table document_refused = {.fields = refused_fields,
											.size = sizeof(struct gpu_refused)};

static const struct json_field scan_fields[] = {
	JSON_READY_OF("packages", struct scan_document, packages, &document_scan_package,
				  "with `-r`: what the file names; or several names of `--index`",
				  .presence = JSON_UNLESS_NULL),
	JSON_READY_OF(
		"files", struct scan_document, files, &document_scan_image,
		"each file, and each member of an archive, that holds device code, or needs a CUDA "
		"runtime in another file (`libcudart.so.12`)"),
	JSON_LIST_OF("refused", struct scan_document, refused, refused_count, &document_refused,
				 "the GPUs of `--target` that the driver does not run, which are in no `totals`"),
	JSON_LIST_OF("totals", struct scan_document, totals, total_count,
				 JSON_TABLE(struct jw_scan_total, total_fields),
				 "the sums over all files: an object for each GPU; `[]` without a GPU"),
	{0},
};
const struct json_table document_scan = {
	.schema = "jitwarm.scan/1",
	.fields = scan_fields,
	.end = "A verdict counts pieces of code, each under the first that holds of `native` to "
		   "`nothing`.",
};

/* ---- the text */

enum { MAX_LINE = 1 << 16, MAX_LIBRARIES = 1 << 20, MAX_LARGEST = 3 };

static void add_counts(struct buf *line, const struct jw_scan_count *counts, size_t count)
{
	char name[JW_TARGET_TEXT];

	for (size_t i = 0; i < count; i++)
		buf_add(line, "%s%s × %zu", line->size ? ", " : "", jw_scan_count_name(name, &counts[i]),
				counts[i].entries);
}

static void print_content(const struct output *output, const struct jw_scan_image *image)
{
	struct buf line = BUF_MAX(MAX_LINE);

	add_counts(&line, image->cubins, image->cubin_count);
	add_counts(&line, image->ptx, image->ptx_count);
	add_counts(&line, image->other, image->other_count);
	output_line(output, STYLE_PLAIN, "  %s", line.size ? buf_text(&line) : "nothing in it");
	buf_free(&line);
}

/* Prints an image with a line for each GPU, or, without GPUs, the code that it contains. An archive
 * is named once, before its members; *archive is the last one. */
static void scan_text_image(const struct output *output, const struct jw_scan_image *image,
							char **archive)
{
	struct gpu_lines lines = {.count = 0};
	char size[TEXT_SHORT], inputs[64] = "";

	if (image->member && !text_same(*archive, image->path)) {
		output_line(output, STYLE_STRONG, "%s:", image->path);
		mem_free(*archive);
		*archive = mem_string(image->path);
	}
	if (image->inputs)
		(void)text_format(inputs, sizeof inputs, ", %zu of them for linking", image->inputs);
	if (!image->containers && !image->damaged) {
		output_line(output, STYLE_STRONG, "%s%s (%s, no code of its own, CUDA runtime %u)",
					image->member ? " " : "", image->member ? image->member : image->path,
					text_bytes(size, image->size_bytes), image->runtime_cuda / 1000);
		return;
	}
	output_line(output, STYLE_STRONG, "%s%s (%s, %s%s%s)", image->member ? " " : "",
				image->member ? image->member : image->path, text_bytes(size, image->size_bytes),
				TEXT_COUNT(image->containers, "piece of code", "pieces of code"), inputs,
				image->damaged ? ", some damaged" : "");
	if (!image->verdict_count)
		print_content(output, image);
	for (size_t i = 0; i < image->verdict_count; i++) {
		struct buf *text = gpu_lines_add(&lines, image->verdicts[i].target);

		lines.items[i].style = verdict_print_file(text, &image->verdicts[i]);
	}
	gpu_lines_print(output, &lines, "  ", true);
}

/* A file or member from which a start compiles something. */
struct scan_library {
	char *name;
	struct jw_target target;
	struct jw_seconds start;
};

static int order_by_start(const void *a, const void *b)
{
	const double x = ((const struct scan_library *)a)->start.likely,
				 y = ((const struct scan_library *)b)->start.likely;

	return (x < y) - (x > y);
}

/* Prints the largest libraries on a GPU; they are sorted. */
static void print_largest(const struct output *output, const struct scan_library *libraries,
						  size_t count, struct jw_target target)
{
	struct buf line = BUF_MAX(MAX_LINE);
	char span[TEXT_SHORT];
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (jw_target_equal(libraries[i].target, target) && found++ < MAX_LARGEST)
			buf_add(&line, "%s%s %s", line.size ? ", " : "", libraries[i].name,
					text_span(span, libraries[i].start.low, libraries[i].start.high));
	if (found > MAX_LARGEST)
		buf_add(&line, " and %zu more", found - MAX_LARGEST);
	output_line(output, STYLE_PLAIN, "  %s", buf_text(&line));
	buf_free(&line);
}

/* Prints the total for one GPU; `several` if it is over several images. */
static void scan_text_total(const struct output *output, const struct jw_scan_total *total,
							bool several, const struct scan_library *libraries, size_t count)
{
	struct verdict_row row = verdict_of_total(total);
	struct buf line = BUF_MAX(MAX_LINE);
	char name[GPUS_NAME], text[MODULE_TEXT];
	bool trifle = true;
	enum style style;

	for (size_t i = 0; i < count; i++)
		trifle = trifle && !jw_target_equal(libraries[i].target, total->target);
	buf_add(&line,
			several ? "%s, all together: " : "%s: ", gpu_targets_name(name, output, total->target));
	style = verdict_print(&line, &row, VERDICT_PTX);
	if (total->left_out)
		buf_add(&line, "; %zu more when used", total->left_out);
	output_line(output, style == STYLE_BAD ? style : STYLE_STRONG, "%s", buf_text(&line));
	if (total->modules) {
		output_line(output, STYLE_PLAIN, "%s", forecast_text(text, "  ", &total->forecast, ""));
		if (total->at_most && !trifle && !verdict_is_trifle(&total->forecast.start))
			print_largest(output, libraries, count, total->target);
		if (module_text_link(text, "  ", 0, &total->forecast, ""))
			output_line(output, STYLE_PLAIN, "%s", text);
	}
	buf_clear(&line);
	verdict_print_drivers(&line, total);
	if (line.size)
		output_line(output, total->driver_from ? STYLE_PLAIN : STYLE_BAD, "%s: %s", name,
					buf_text(&line));
	buf_free(&line);
}

/* Adds facts that have no column. */
static void add_besides(struct buf *line, const struct jw_scan_total *total)
{
	char time[TEXT_SHORT];

	if (total->left_out)
		buf_add(line, "%s compiled when used; “prime --all” includes them",
				TEXT_COUNT(total->left_out, "module", "modules"));
	if (total->forecast.link.high >= 0.1)
		buf_add(line, "%sthe driver links code at every start (%s)", verdict_separator(line),
				text_span(time, total->forecast.link.low, total->forecast.link.high));
	if (total->newer_count) {
		buf_add(line, "%s", verdict_separator(line));
		verdict_print_drivers(line, total);
	}
}

static int scan_text_totals(struct jw_error *err, const struct output *out,
							const struct jw_scan_total *totals, size_t count)
{
	static const enum verdict_column columns[] = {VERDICT_COLUMN_GPU, VERDICT_COLUMN_MODULES,
												  VERDICT_COLUMN_START, VERDICT_COLUMN_CACHE,
												  VERDICT_COLUMN_DRIVERS};
	struct verdict_row rows[GPUS_MAX];
	struct gpu_lines lines = {.count = 0};
	int failed;

	for (size_t i = 0; i < count; i++) {
		rows[i] = verdict_of_total(&totals[i]);
		add_besides(gpu_lines_add(&lines, totals[i].target), &totals[i]);
	}
	failed = verdict_table_print(err, out, columns, sizeof columns / sizeof *columns, rows, count);
	gpu_lines_print(out, &lines, "", false);
	return failed;
}

/* The file whose failure was printed last, with the other GPUs on which it fails. */
struct printed_file {
	const char *file, *why;
	enum style style;
	uint32_t first,
		others; /* the GPUs with that answer: a bit for each, by its place in `totals` */
};

struct scan_run {
	struct cli *cli;
	cJSON *files; /* the document's array; NULL without --json */
	struct jw_speed speed;
	size_t images, damaged, troubles, wheels;
	struct cures cures;
	const struct jw_driver *driver;
	struct jw_scan_result *result;
	char *archive; /* the archive whose members were printed last */
	struct printed_file last_printed;
	const struct jw_found *found;
	struct set seen; /* those of the files that have code, or a trouble */
	struct index_wheel asked;
	const struct jw_index_wheel *wheel; /* NULL without --index */
	struct scan_library *libraries;
	size_t library_count, library_capacity;

	/* With -r, or several names: */
	bool listed;
	const char *file; /* the name of the file of -r */
	struct jw_package_list list;
	size_t next, got; /* the next package of the list, and the number with a wheel */
	cJSON *packages;  /* the document's array; NULL without --json */
	struct jw_scan_verdicts sums[GPUS_MAX]; /* for the current wheel: */
	bool read;                              /* something in it was read, or is a trouble */
};

/* Adds the verdicts that add_verdict_counts prints. */
static void sum_verdicts(struct jw_scan_verdicts *sum, const struct jw_scan_verdicts *image)
{
	sum->target = image->target;
	sum->native += image->native;
	sum->compatible += image->compatible;
	sum->link += image->link;
	sum->nothing += image->nothing;
	sum->tile += image->tile;
	sum->unknown += image->unknown;
	sum->unknown_kind = image->unknown_kind ? image->unknown_kind : sum->unknown_kind;
	sum->pieces += image->pieces;
	sum->lacking += image->lacking;
	sum->too_new += image->too_new;
	sum->fails = sum->fails || image->fails;
	sum->runtime = sum->runtime || image->runtime;
	sum->runs = sum->runs || image->runs;
	sum->cannot += image->cannot;
	sum->cannot_exclusive += image->cannot_exclusive;
	sum->cannot_too_new += image->cannot_too_new;
	sum->cannot_kind += image->cannot_kind;
	sum->cannot_zstd += image->cannot_zstd;
	sum->cannot_early += image->cannot_early;
	sum->cannot_damaged += image->cannot_damaged;
	verdict_keep_newer(&sum->needs, &image->needs);
	verdict_keep_newer(&sum->kind_needs, &image->kind_needs);
	verdict_keep_newer(&sum->zstd_needs, &image->zstd_needs);
	jw_scan_add_work(&sum->start_work, &image->start_work);
	if (image->link_needed != JW_SCAN_NEED_NO)
		sum->link_needed = image->link_needed;
	if (image->link_needed == JW_SCAN_NEED_YES)
		jw_scan_add_work(&sum->link_work, &image->link_work);
	sum->left_out = sum->left_out || image->left_out;
	if (image->left_out)
		jw_scan_add_work(&sum->loose_work, &image->loose_work);
}

static int add_libraries(struct jw_error *err, struct scan_run *run,
						 const struct jw_scan_image *image)
{
	for (size_t i = 0; i < image->verdict_count; i++) {
		const struct jw_scan_work work = image->verdicts[i].first_start;
		struct scan_library library = {NULL, image->verdicts[i].target, work.start};

		if (!work.modules || verdict_is_trifle(&work.start))
			continue;
		if (ARENA_ROOM(err, run, run->libraries, run->library_capacity, run->library_count,
					   MAX_LIBRARIES))
			return -1;
		library.name = arena_string(run, image->member ? image->member : image->path);
		run->libraries[run->library_count++] = library;
	}
	return 0;
}

static int take_scanned_image(struct jw_error *err, void *context,
							  const struct jw_scan_image *image)
{
	struct scan_run *run = context;
	struct jw_scan_image named = *image;

	if (run->wheel && run->wheel->folder)
		named.path = os_base_name(image->path);
	run->images++;
	found_files_see(&run->seen, run->found, image->path);
	run->read = true;
	run->damaged += image->damaged;
	for (size_t i = 0; run->listed && i < image->verdict_count; i++)
		sum_verdicts(&run->sums[i], &image->verdicts[i]);
	if (!run->listed || image->damaged)
		scan_text_image(&run->cli->out, &named, &run->archive);
	if (add_libraries(err, run, &named))
		return -1;
	if (run->files)
		(void)cJSON_AddItemToArray(run->files, json_object(&document_scan_image, &named));
	return 0;
}

static void print_scan_trouble(void *context, const char *path, const struct jw_error *why)
{
	struct scan_run *run = context;
	struct jw_error named = *why;

	found_files_see(&run->seen, run->found, path);
	run->troubles++;
	run->read = true;
	output_error(&run->cli->out, "%s", index_wheel_hide_folder(run->wheel, named.message));
}

/* Ends the text about a file: names the other GPUs with the same answer. */
static void end_file(struct scan_run *run)
{
	const struct jw_scan_result *result = run->result;
	const uint32_t others = run->last_printed.others, alike = others | run->last_printed.first;
	char sm[JW_TARGET_TEXT], list[GPUS_MAX * JW_TARGET_TEXT] = "";
	struct jw_target low = {UINT16_MAX, 0}, high = {0};
	bool between = false; /* a GPU between them has another answer */
	size_t count = 0;

	for (size_t i = 0; i < result->total_count; i++) {
		const struct jw_target target = result->totals[i].target;

		if (!(others >> i & 1))
			continue;
		low = target.sm < low.sm ? target : low;
		high = target.sm > high.sm ? target : high;
		text_append(list, sizeof list, count++ ? ", %s" : "%s", jw_target_sm(sm, target));
	}
	for (size_t i = 0; i < result->total_count; i++)
		between = between || (!(alike >> i & 1) && result->totals[i].target.sm > low.sm &&
							  result->totals[i].target.sm < high.sm);
	if (count > 2 && !between)
		output_line(&run->cli->out, run->last_printed.style, "  and for %s to %s",
					jw_target_sm(sm, low), jw_target_sm((char[JW_TARGET_TEXT]){0}, high));
	else if (count)
		output_line(&run->cli->out, run->last_printed.style, "  and for %s", list);
	run->last_printed = (struct printed_file){.file = NULL};
}

/* Prints a line about "path" or "path: member"; for many GPUs only a line for the first one. */
static void print_of_file(struct scan_run *run, enum style style, const struct jw_scan_fate *fate)
{
	struct jw_scan_result *result = run->result;
	const char *file = fate->file, *at;
	char sm[JW_TARGET_TEXT], *named, *plain = arena_string(result, fate->why);
	uint32_t gpu = 0;

	for (size_t i = 0; i < result->total_count; i++)
		gpu |= (uint32_t)jw_target_equal(result->totals[i].target, fate->target) << i;
	if ((at = strstr(fate->why, jw_target_sm(sm, fate->target))))
		(void)snprintf(plain + (at - fate->why), strlen(at) + 1, "%s", at + strlen(sm));
	if (result->total_count > GPUS_FEW && text_same(run->last_printed.file, file) &&
		text_same(run->last_printed.why, plain)) {
		run->last_printed.others |= gpu;
		return;
	}
	end_file(run);
	run->last_printed =
		(struct printed_file){.file = file, .why = plain, .style = style, .first = gpu};
	if (run->listed) /* the wheel's folder has been removed */
		file += os_base_name(fate->path) - fate->path;
	named = arena_string(result, file);
	output_line(&run->cli->out, style, "%s: %s", index_wheel_hide_folder(run->wheel, named),
				fate->why);
}

/* Leaves the name of a downloaded wheel in a text, whose folder has been removed. */
static void hide_folder_of(char *text, const char *path)
{
	const size_t folder = (size_t)(os_base_name(path) - path);

	for (char *at = folder ? strstr(text, path) : NULL; at; at = strstr(at, path))
		memmove(at, at + folder, strlen(at + folder) + 1);
}

/* Prints the files that fail, or a part of which does. */
static void print_fates(struct scan_run *run)
{
	for (size_t i = 0; i < run->result->fate_count; i++) {
		const struct jw_scan_fate *fate = &run->result->fates[i];

		for (size_t t = 0;
			 (run->listed || (run->wheel && run->wheel->folder)) && t < run->result->total_count;
			 t++) {
			hide_folder_of(run->result->totals[t].fate.reason, fate->path);
			hide_folder_of(run->result->totals[t].fate.part, fate->path);
		}
		if (fate->part == JW_SCAN_FAILS)
			cures_add(run->cli, &run->cures, fate->file, fate->target, run->driver);
		print_of_file(run,
					  fate->part == JW_SCAN_FAILS   ? STYLE_BAD
					  : fate->part == JW_SCAN_NEWER ? STYLE_WARN
													: STYLE_PLAIN,
					  fate);
	}
	end_file(run);
}

/* Prints a line for each GPU, and ends the wheel. */
static void end_listed(struct scan_run *run)
{
	const struct output *out = &run->cli->out;
	struct gpu_lines lines = {.count = 0};
	char head[512] = "";

	if (run->wheel && !run->read)
		found_files_print_without(out, run->wheel->name, NULL);
	for (size_t i = 0; i < GPUS_MAX && run->sums[i].target.sm; i++) {
		struct buf *text = gpu_lines_add(&lines, run->sums[i].target);

		lines.items[i].style = verdict_print_file(text, &run->sums[i]);
	}
	if (run->wheel && lines.count)
		(void)snprintf(head, sizeof head, "%s, ", run->wheel->name);
	gpu_lines_print(out, &lines, head, false);
	memset(run->sums, 0, sizeof run->sums);
	run->read = false;
	run->wheel = NULL;
}

static void print_unlisted(struct scan_run *run, const struct jw_listed_package *package,
						   struct jw_error *why)
{
	if (package->line)
		error_prefix(why, "%s:%zu", run->file, package->line);
	else
		error_prefix(why, "%s", package->asked);
	if (why->code == JW_ERR_USAGE) {
		output_note(&run->cli->out, "%s", why->message);
		return;
	}
	run->troubles++;
	output_error(&run->cli->out, "%s", why->message);
}

/* Fetches the wheel of the next package of the list, and passes over packages that cannot be
 * fetched. *ret_path is NULL after the last one. */
static int next_listed(struct jw_error *err, void *context, const char **ret_path)
{
	struct scan_run *run = context;

	*ret_path = NULL;
	for (end_listed(run); !*ret_path && run->next < run->list.count; end_listed(run)) {
		const struct jw_listed_package *package = &run->list.items[run->next++];
		struct scan_package_document row = {.package = *package};
		struct jw_error why = {0};
		bool failed;

		run->asked.fetching.label = package->asked;
		failed = jw_index_listed_get(&why, run->asked.index, package, &run->wheel);
		fetching_end(&run->asked.fetching);
		if (failed) {
			if (why.code == JW_ERR_INTERRUPTED)
				return error_copy(err, &why);
			print_unlisted(run, package, &why);
			row.why = why.message;
		} else {
			run->got++;
			row.wheel = run->wheel->name;
			*ret_path = run->wheel->path;
		}
		if (run->packages)
			(void)cJSON_AddItemToArray(run->packages, json_object(&document_scan_package, &row));
		if (*ret_path)
			break;
	}
	return 0;
}

static int list_packages(struct jw_error *err, struct scan_run *run, struct gpu_targets *gpus)
{
	const struct options *given = &run->cli->options;
	const char *file = options_value(given, "requirements");
	const bool names = options_given(given, "index") && given->operand_count > 1;

	if (!file && !names)
		return 0;
	if (file && given->operand_count)
		return error_set(err, JW_ERR_USAGE, "-r FILE takes no other names");
	if (!gpus->count) {
		char gpu_names[GPUS_MAX * JW_TARGET_TEXT] = GPUS_USUAL, sm[JW_TARGET_TEXT];
		size_t usual;

		if (jw_targets_read(err, GPUS_USUAL, NULL, gpus->targets, GPUS_MAX, &gpus->count))
			return -1;
		usual = gpus->count;
		gpu_targets_drop_unnamed(gpus);
		if (gpus->count < usual)
			*gpu_names = '\0';
		for (size_t i = 0; gpus->count < usual && i < gpus->count; i++)
			text_append(gpu_names, sizeof gpu_names, "%s%s", i ? "," : "",
						jw_target_sm(sm, gpus->targets[i]));
		output_note(&run->cli->out, "%s: this is for %s; “--target %s” names another one",
					run->cli->system->why_none, gpu_names, run->cli->system->example);
	}
	if (names && jw_index_names(err, given->operands, given->operand_count, &run->list))
		return -1;
	run->listed = true;
	if (run->cli->out.json)
		run->packages = cJSON_CreateArray();
	if (file)
		run->asked.fetching.label = run->file = os_base_name(file);
	if (index_wheel_open(err, run->cli, gpus, &run->asked) ||
		(file && jw_index_list(err, run->asked.index, file, &run->list)))
		return -1;
	fetching_end(&run->asked.fetching);
	if (!run->list.count)
		output_error(&run->cli->out, "%s: its markers leave out every package on this machine",
					 file);
	return 0;
}

static int scan_all(struct jw_error *err, struct scan_run *run, const struct gpu_targets *gpus)
{
	const struct options *given = &run->cli->options;
	const char *const wheel = run->wheel ? run->wheel->path : NULL;
	struct jw_scan_options options = {
		.named = given->operands,
		.named_count = given->operand_count,
		.targets = gpus->targets,
		.target_count = gpus->count,
		.driver = gpus->driver,
		.speed = run->speed,
		.required = jw_which_required,
		.state_dir = cli_state(NULL, run->cli),
		.cancel = cli_cancel,
		.context = run,
		.platform = gpus->count ? jw_platform() : NULL,
		.image = take_scanned_image,
		.trouble = print_scan_trouble,
		.more = run->listed ? next_listed : NULL,
	};
	struct found_files files = {.found = NULL};
	int result;

	if (!run->listed && found_files_find(err, &run->cli->out, wheel ? &wheel : given->operands,
										 given->operand_count, false, &files))
		return -1;
	run->troubles += files.found ? files.found->trouble_count : 0;
	run->found = files.found;
	for (size_t i = 0; files.found && i < files.found->file_count; i++)
		run->wheels += text_ends(files.found->files[i].path, ".whl");
	options.found = files.found;
	result =
		jw_scan(err, &options, &run->result) ? cli_hopeless(err, run->cli, JW_ERR_UNSUPPORTED) : 0;
	if (!result)
		print_fates(run);
	if (!gpus->count && run->images)
		output_note(&run->cli->out,
					"%s: the output shows only the contents of the files; “--target %s” shows what "
					"the driver would compile for that GPU",
					run->cli->system->why_none, run->cli->system->example);
	if (!result && !run->images && !run->troubles && !run->listed) {
		if (found_files_none(run->cli, files.found))
			cli_end_with(run->cli, EXIT_CANNOT);
	} else if (!result && given->operand_count) {
		(void)found_files_print_cpu_builds(&run->cli->out, files.found, &run->seen);
	}
	set_free(&run->seen);
	mem_free(run->archive);
	found_files_free(&files);
	return result;
}

/* Uses this machine's GPUs without --target; if there are none, scan reports on the files'
 * contents. */
static int take_machine(struct jw_error *err, struct scan_run *run, struct gpu_targets *gpus)
{
	struct cli *cli = run->cli;

	if (gpus->count)
		return 0;
	if (cli_open_asleep(err, cli, NULL, JW_ASK_UNKNOWN) ||
		gpu_targets_add_own(err, gpus, cli->system))
		return -1;
	if (gpus->count && !options_given(&cli->options, "driver"))
		gpus->driver = cli->system->driver.version;
	run->speed = cli->system->speed;
	return 0;
}

/* The sums are over all files, but of several wheels users install one: prints the command that
 * judges each alone, if something fails. */
static void print_alone(const struct scan_run *run)
{
	static const char *const kept[] = {"driver", "environment", NULL};
	const struct options *given = &run->cli->options;
	struct buf line = BUF_MAX(NEXT_STEP_MAX);
	const char *gpus;
	bool fails = false;

	for (size_t i = 0; i < run->result->total_count; i++)
		fails = fails || run->result->totals[i].fate.failing;
	if (!fails || run->wheels < 2 || !options_given(given, "target"))
		return;
	buf_add(&line, "jitwarm lint");
	for (size_t i = 0; (gpus = options_item(given, "target", i)); i++) {
		buf_add(&line, " --gpus");
		shell_add_word(&line, gpus);
	}
	next_step_keep(&line, given, kept);
	next_step_names(&line, given);
	next_step(&run->cli->out, STYLE_FAINT, "To judge each wheel alone: ", &line);
}

/* Prints the sums over all files, and ends with the status. */
static int conclude_scan(struct jw_error *err, struct scan_run *run)
{
	struct cli *cli = run->cli;
	const struct output *out = &cli->out;
	const struct jw_scan_total *totals = run->result->totals;
	const size_t count = run->images ? run->result->total_count : 0;
	size_t doubt = 0; /* the first GPU whose times are printed */

	if (run->library_count)
		qsort(run->libraries, run->library_count, sizeof *run->libraries, order_by_start);
	if (count > GPUS_FEW && scan_text_totals(err, out, totals, count))
		return -1;
	for (size_t i = 0; count <= GPUS_FEW && i < count; i++)
		scan_text_total(out, &totals[i], run->images > 1 || run->listed, run->libraries,
						run->library_count);
	while (doubt + 1 < count && !totals[doubt].forecast.cache_bytes)
		doubt++;
	if (count && forecast_doubt(&totals[doubt].forecast))
		output_line(out, STYLE_PLAIN, "%s", forecast_doubt(&totals[doubt].forecast));
	cures_print(cli, &run->cures, options_given(&cli->options, "target"));
	print_alone(run);
	if (cli->system && count && totals[0].modules)
		output_line(out, STYLE_FAINT,
					"The cache was not searched: “jitwarm check” shows which modules are in "
					"the cache.");
	cli_end_with(cli, exit_of_troubles(run->troubles, run->images + run->got));
	if (run->listed && !run->got)
		cli_end_with(cli, EXIT_CANNOT); /* in this case nothing was judged */
	if (run->damaged)
		cli_end_with(cli, EXIT_COLD);
	for (size_t i = 0; !run->damaged && i < run->result->total_count; i++)
		if (run->result->totals[i].fate.failing || run->result->totals[i].tile ||
			run->result->totals[i].unknown)
			cli_end_with(cli, EXIT_CANNOT);
	return 0;
}

/* Fetches what an index has, scans and prints. */
static int scan_for_gpus(struct jw_error *err, struct scan_run *run, struct gpu_targets *gpus)
{
	int result = list_packages(err, run, gpus);

	if (!result && !run->listed)
		result = index_wheel_get(err, run->cli, gpus, &run->asked);
	run->wheel = run->asked.wheel;
	if (!result)
		result = scan_all(err, run, gpus);
	jw_index_close(run->asked.index);
	jw_package_list_free(&run->list);
	if (!result)
		result = conclude_scan(err, run);
	jw_result_free(run->cures.owner);
	return result ? -1 : 0;
}

/* A run is too large for a stack that may not grow. */
static int scan_run(struct jw_error *err, struct cli *cli)
{
	struct scan_run *run = arena_open(sizeof *run);
	struct gpu_targets gpus;
	int result;

	run->cli = cli;
	run->driver = &gpus.driver;
	if (cli->out.json)
		run->files = cJSON_CreateArray();
	result = gpu_targets_read(err, cli, &gpus) || take_machine(err, run, &gpus) ? -1 : 0;
	if (!result && !gpu_targets_keep_run(err, cli, &gpus)) {
		result = scan_for_gpus(err, run, &gpus);
	} else if (!result && cli->out.json) {
		/* None of the GPUs is left; the document has the answer. */
		output_error(&cli->out, "%s", err->message);
		cli_end_with(cli, EXIT_CANNOT);
	} else {
		result = -1;
	}
	if (!result)
		result = document_print(
			&cli->out, &document_scan,
			&(struct scan_document){.packages = run->packages,
									.files = run->files,
									.totals = run->result ? run->result->totals : NULL,
									.total_count = run->result ? run->result->total_count : 0,
									.refused = gpus.refused,
									.refused_count = gpus.refused_count});
	cJSON_Delete(run->packages);
	cJSON_Delete(run->files);
	jw_result_free(run->result);
	jw_result_free(run);
	return result;
}

static const struct cli_option options[] = {
	GPUS_OPTIONS,
	INDEX_OPTIONS,
	CLI_VALUE("requirements", "FILE",
			  "Download all packages of a requirements.txt, a pylock.toml or pip's report from the "
			  "index, and print a line for each",
			  .letter = 'r', .names = NAMES_FILE),
	PROGRESS_OPTION,
	CLI_ENVIRONMENT,
	{0},
};

const struct cli_command command_scan = {
	.name = "scan",
	.summary = "Show the machine code and PTX in files, and what the driver would compile",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Shows whether files run on a GPU as they are, or what the driver would compile "
		"first.\n\nscan reads libraries, programs, wheels and files of device code. For each file "
		"and GPU, the output says how long the compilation takes, and how large the cache gets. No "
		"code of the files is run. The driver is asked only if the PCI bus does not identify the "
		"GPU.\n\nNames are paths, else packages of the active Python or conda environment; without "
		"a name, the whole environment is scanned. For all files together, scan predicts how long "
		"the "
		"first start takes (the driver compiles on one core), how long “jitwarm prime” takes on "
		"this machine, and how much the cache grows. For more than two GPUs, scan prints a table, "
		"whose last column is the first driver with the same answer. The times come from a model "
		"fitted to four frameworks and, without --target, from earlier runs of “jitwarm prime” "
		"here. “jitwarm check” looks into the cache; scan does not.\n\nWith --index nothing needs "
		"to be installed. pip downloads the wheel of a package (xgboost, the newest; "
		"xgboost==1.5.2; \"torch>=2.1,<2.3\") from the index of its own configuration "
		"(PIP_INDEX_URL), for the active Python unless --python names another version, and the "
		"wheel is deleted afterwards. No code of a package runs. Several packages are downloaded "
		"one after another, with a line for each wheel and GPU. With -r, pip finds the wheels for "
		"the lines of the list. jitwarm leaves out lines that pip would have to build, other "
		"lists, and options of pip other than indexes, and prints what it leaves out.\n\nExit "
		"status: 1 if a file cannot be read or holds damaged device code, 2 if a program will fail "
		"since it has no code that runs on the GPU, or jitwarm cannot tell (Tile IR), 3 if nothing "
		"could be read. If the driver of --driver does not run one of the GPUs, the output names "
		"that GPU, and the status is 2; scan still judges the other GPUs.",
	.examples = "jitwarm scan tensorflow\njitwarm scan --target rtx3070,h100 ./libmodel.so\n",
	.options = options,
	.reads = true,
	.columns = 100,
	.run = scan_run,
};
