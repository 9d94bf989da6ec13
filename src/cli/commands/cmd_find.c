/* jitwarm find: finds environments and programs on this machine, and what their start compiles. */
#include <stdlib.h>
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/places.h>
#include <jitwarm/scan.h>
#include <jitwarm/tune.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/verdict_table.h"
#include "os/interrupt.h"

/* ---- the document */

struct find_document {
	struct jw_places places;
	struct find_row {
		struct jw_place place;
		/* Images is 0 if there is no device code. */
		size_t files, images, warm, cold, failing;
		struct jw_fate fate;     /* how the files run, whatever is in the cache */
		enum jw_loading loading; /* when a program compiles the cold ones */
		struct jw_seconds start; /* the time that a first start needs for the cold ones */
		char *trouble;           /* NULL if there is none */
		char **dearest;          /* the files with cold modules, the most expensive first */
		size_t dearest_count;
		char **packages; /* the packages with device code; only without GPUs */
		size_t package_count;
		enum jw_verdict verdict;
		bool verdict_known;
		bool judged; /* judged for GPUs; otherwise only files and packages are counted */
	} * rows;        /* sorted by cost, the highest first */
	size_t count;
};

static const struct json_field row_fields[] = {
	JSON_AS("kind", struct find_row, place.kind,
			"`venv`, `conda`, `pipx`, `uv`, `pyenv`, `Python` (another installation of it), "
			"`folder`, `file` or `program`"),
	JSON_AS("name", struct find_row, place.name,
			"the path of an environment or folder; the name of a program or package"),
	JSON_AS(
		"environment", struct find_row, place.environment,
		"true: other commands accept the place with `--environment`; false: they accept `paths`"),
	JSON_LINES_OF("paths", struct find_row, place.paths, place.path_count,
				  "the absolute paths of the place, without symlinks"),
	JSON(struct find_row, files, "files of the place that may hold device code"),
	JSON(struct find_row, images, "files and members of archives with device code"),
	JSON_LINES_OF(
		"packages", struct find_row, packages, package_count,
		"packages with device code: `torch 2.8.0`; empty if the place is judged for GPUs"),
	JSON_FORMATTED("verdict", struct find_row, verdict, document_verdict,
				   "the answer of `check` for this place", JSON_IF(struct find_row, verdict_known)),
	JSON_MEMBERS_OF(struct find_row, fate, &document_fate),
	JSON(struct find_row, warm, "modules in the cache", JSON_IF(struct find_row, judged)),
	JSON(struct find_row, cold, "modules that a start compiles, for all GPUs together",
		 JSON_IF(struct find_row, judged)),
	JSON(struct find_row, failing,
		 "files with which a program fails: code that does not run on a GPU",
		 JSON_IF(struct find_row, judged)),
	JSON_FORMATTED(
		"loading", struct find_row, loading, document_loading,
		"when a program compiles the cold modules: `eager` (all at its start), `lazy` (each at "
		"its first use) or `mixed`",
		.presence = JSON_IF_SET),
	JSON_OBJECT_OF("start_seconds", struct find_row, start, &document_span,
				   "the time that a first start takes to compile the cold modules, on one core",
				   JSON_IF(struct find_row, judged)),
	JSON(struct find_row, trouble, "why the place, or a part of it, was not searched",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field find_fields[] = {
	JSON_LIST_OF("places", struct find_document, rows, count,
				 JSON_TABLE(struct find_row, row_fields),
				 "the places that were found, the slowest to compile first"),
	JSON_LINES_OF("notes", struct find_document, places.notes, places.note_count,
				  "what was left out and why, one a line"),
	{0},
};
const struct json_table document_find = {.schema = "jitwarm.find/1", .fields = find_fields};

enum { MAX_DEAREST = 8 };

struct finding_places {
	struct cli *cli;
	struct gpu_targets gpus;
	struct jw_places *places;
	bool judged;
	struct find_document document;
};

/* ---- places */

static int collect_places(struct jw_error *err, struct finding_places *finding)
{
	const struct options *given = &finding->cli->options;
	const char *const environment = options_value(given, "environment");
	const struct jw_places_options options = {
		.folders = environment ? &environment : given->operands,
		.folder_count = environment ? 1 : given->operand_count,
		.cancel = cli_cancel};
	struct find_document *document = &finding->document;

	if (jw_places_find(err, &options, &finding->places))
		return -1;
	document->places = *finding->places;
	document->count = document->places.count;
	document->rows = arena_array(finding->places, document->count, sizeof *document->rows);
	for (size_t i = 0; i < document->count; i++)
		document->rows[i].place = document->places.items[i];
	return 0;
}

/* ---- judging */

static int judge_row(struct jw_error *err, const struct finding_places *finding,
					 const struct jw_found *found, struct find_row *row, size_t *ret_troubles)
{
	const struct jw_check_options options = {.found = found,
											 .system = finding->cli->system,
											 .targets = finding->gpus.targets,
											 .target_count = finding->gpus.count,
											 .driver =
												 options_value(&finding->cli->options, "driver"),
											 .cancel = cli_cancel};
	struct jw_check_result *result;

	row->judged = true;
	if (jw_check(err, &options, &result))
		return -1;
	row->verdict = result->verdict;
	row->verdict_known = result->images;
	row->images = result->images;
	row->warm = result->all.warm;
	row->cold = result->all.cold;
	row->failing = result->failing_count;
	row->fate = result->all.fate;
	row->loading = result->all.forecast.loading;
	row->start = result->all.forecast.start;
	*ret_troubles = result->troubles;
	for (size_t i = 0; i < result->file_count; i++)
		if (result->files[i].cold)
			arena_add_string(finding->places, &row->dearest, &row->dearest_count, MAX_DEAREST,
							 result->files[i].path);
	jw_result_free(result);
	return 0;
}

/* One place that is read without GPUs to judge for. */
struct reading {
	struct finding_places *finding;
	const struct jw_found *found;
	struct find_row *row;
	size_t troubles;
};

static int note_code(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	enum { MAX_PACKAGES = 1000 };
	struct reading *reading = context;
	const struct jw_found *found = reading->found;
	struct find_row *row = reading->row;
	size_t at = 0;
	char *text;

	(void)err;
	row->images++;
	while (at < found->file_count && strcmp(found->files[at].path, image->path) != 0)
		at++;
	if (at == found->file_count || !found->files[at].package)
		return 0;
	text = arena_printf(reading->finding->places, "%s%s%s", found->files[at].package,
						found->files[at].version ? " " : "",
						found->files[at].version ? found->files[at].version : "");
	for (size_t i = 0; i < row->package_count; i++)
		if (!strcmp(row->packages[i], text))
			return 0;
	arena_add_string(reading->finding->places, &row->packages, &row->package_count, MAX_PACKAGES,
					 text);
	return 0;
}

static void note_trouble(void *context, const char *path, const struct jw_error *why)
{
	struct reading *reading = context;

	(void)path;
	(void)why;
	reading->troubles++;
}

static bool is_listed(const char *package)
{
	char *name = mem_string_n(package, strcspn(package, " "));
	const bool listed = jw_which_lists(name);

	mem_free(name);
	return listed;
}

/* For qsort: first the packages that “which” answers for. */
static int listed_first(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	const bool first = is_listed(x), second = is_listed(y);

	return first != second ? (first ? -1 : 1) : strcmp(x, y);
}

/* Finds out which packages of a place have device code. */
static int read_row(struct jw_error *err, struct finding_places *finding,
					const struct jw_found *found, struct find_row *row, size_t *ret_troubles)
{
	struct reading reading = {finding, found, row, found->trouble_count};
	const struct jw_scan_options options = {.found = found,
											.verdicts_only = true,
											.state_dir = cli_state(NULL, finding->cli),
											.cancel = cli_cancel,
											.context = &reading,
											.image = note_code,
											.trouble = note_trouble};

	if (jw_scan(err, &options, NULL))
		return -1;
	/* Frameworks come before the libraries that pip installs for them. */
	if (row->package_count)
		qsort(row->packages, row->package_count, sizeof *row->packages, listed_first);
	*ret_troubles = reading.troubles;
	return 0;
}

static int analyse_place(struct jw_error *err, struct finding_places *finding, struct find_row *row)
{
	const struct jw_place *place = &row->place;
	const struct jw_find_options options = {.names = (const char *const *)place->paths,
											.name_count =
												place->environment ? 0 : place->path_count,
											.cancel = cli_cancel};
	struct jw_found *found = NULL;
	size_t troubles = 0;
	int result = (place->environment && jw_use_environment(err, place->paths[0])) ||
						 jw_find(err, &options, &found)
					 ? -1
					 : 0;

	if (!result) {
		row->files = found->file_count;
		troubles = found->trouble_count;
		if (found->file_count)
			result = finding->judged ? judge_row(err, finding, found, row, &troubles)
									 : read_row(err, finding, found, row, &troubles);
	}
	/* The numbers do not include these files. */
	if (!result && troubles)
		row->trouble = arena_printf(finding->places, "%s: %s could not be read", place->name,
									TEXT_COUNT(troubles, "file", "files"));
	jw_result_free(found);
	return result;
}

static int analyse_places(struct jw_error *err, struct finding_places *finding)
{
	struct find_document *document = &finding->document;

	for (size_t i = 0; i < document->count; i++) {
		struct find_row *row = &document->rows[i];
		struct jw_error why = {0};

		row->judged = finding->judged;
		if (!analyse_place(&why, finding, row))
			continue;
		/* A place that the driver does not support runs nowhere. */
		if (why.code == JW_ERR_INTERRUPTED || why.code == JW_ERR_USAGE ||
			(row->files && why.code == JW_ERR_UNSUPPORTED))
			return error_copy(err, &why);
		row->trouble = arena_string(finding->places, why.message);
	}
	return 0;
}

static int dearer(const void *a, const void *b)
{
	const struct find_row *x = a, *y = b;

	if (x->start.likely < y->start.likely || x->start.likely > y->start.likely)
		return x->start.likely < y->start.likely ? 1 : -1;
	if (!!x->cold != !!y->cold)
		return x->cold ? -1 : 1;
	if (!!x->failing != !!y->failing)
		return x->failing ? -1 : 1;
	if (!!x->images != !!y->images)
		return x->images ? -1 : 1;
	return strcmp(x->place.name, y->place.name);
}

/* ---- printing */

/* Prints which places have no device code, if no place has any. */
static void print_searched(const struct output *out, const struct find_document *document,
						   size_t without)
{
	enum { MAX_SEARCHED = 12 };
	size_t printed = 0;

	output_line(out, STYLE_PLAIN, "no device code in %s:",
				TEXT_COUNT(without, "environment or program", "environments and programs"));
	for (size_t i = 0; i < document->count && printed < MAX_SEARCHED; i++)
		if (!document->rows[i].trouble) {
			output_line(out, STYLE_PLAIN, "  %s (%s)", document->rows[i].place.name,
						document->rows[i].place.kind);
			printed++;
		}
	if (printed < without)
		output_line(out, STYLE_PLAIN, "  and %s",
					TEXT_COUNT(without - printed, "more place", "more places"));
	output_line(out, STYLE_FAINT, "“jitwarm find DIR” searches below DIR");
}

static int print_rows(struct jw_error *err, const struct output *out,
					  const struct find_document *document)
{
	const bool judged = document->count && document->rows[0].judged;
	const enum verdict_column columns[] = {VERDICT_COLUMN_KIND, VERDICT_COLUMN_NAME,
										   judged ? VERDICT_COLUMN_ANSWER : VERDICT_COLUMN_CODE};
	struct verdict_row *rows = mem_array(document->count, sizeof *rows);
	size_t listed = 0, without = 0;
	int result;

	for (size_t i = 0; i < document->count; i++) {
		const struct find_row *row = &document->rows[i];

		if (!row->images)
			without += !row->trouble;
		else
			rows[listed++] = (struct verdict_row){
				.kind = row->place.kind,
				.name = row->place.name,
				.modules = row->warm + row->cold,
				.cold = row->cold,
				.failing = row->failing,
				.unsure = row->verdict == JW_VERDICT_UNSURE,
				.useless = row->verdict == JW_VERDICT_USELESS,
				.forecast = {.loading = row->loading, .start = row->start},
				.packages = row->packages,
				.package_count = row->package_count,
				.images = row->images,
			};
	}
	result = verdict_table_print(err, out, columns, 3, rows, listed);
	mem_free(rows);
	if (without && listed)
		output_line(
			out, STYLE_FAINT, "no device code in %s",
			TEXT_COUNT(without, "other environment or program", "other environments and programs"));
	else if (without)
		print_searched(out, document, without);
	else if (!document->count)
		output_line(out, STYLE_PLAIN,
					"no environment and no program was found, neither near the home folder nor "
					"where venv, conda, pipx, uv, pyenv and programs usually are; “jitwarm find "
					"DIR” searches below DIR");
	return result;
}

/* Prints the command for the most expensive place. */
static void print_find_next(const struct finding_places *finding, const struct find_row *row)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	if (!row->judged || !row->cold || finding->gpus.count)
		return;
	if (finding->cli->system->cache.why_useless[0]) {
		cli_warn_useless(finding->cli);
		return;
	}
	buf_add(&line,
			jw_cache_holds(&finding->cli->system->cache, 0) || !jw_tune_can_apply(JW_SCOPE_USER)
				? "jitwarm prime"
				: "jitwarm prime --tune");
	if (row->place.environment) {
		buf_add(&line, " --environment");
		shell_add_word(&line, row->place.paths[0]);
	} else {
		shell_add_words(&line, (const char *const *)row->dearest, row->dearest_count);
	}
	next_step(&finding->cli->out, STYLE_FAINT, "Next    ", &line);
}

static int print_places(struct jw_error *err, struct finding_places *finding)
{
	const struct output *out = &finding->cli->out;
	const struct find_document *document = &finding->document;
	const bool any_driver = finding->gpus.count && !options_given(&finding->cli->options, "driver");
	bool unknown = false;

	if (output_wants_text(out) && print_rows(err, out, document))
		return -1;
	for (size_t i = 0; i < document->count; i++) {
		const struct find_row *row = &document->rows[i];
		const bool nameless = row->images && row->verdict == JW_VERDICT_UNKNOWN;

		if (row->trouble)
			output_warning(out, "%s", row->trouble);
		/* A place without device code is an answer, too. Without a driver there is no cache, so
		 * everything has to be compiled. */
		cli_end_with(finding->cli, row->trouble || (nameless && any_driver) ? EXIT_COLD
								   : row->verdict_known ? exit_of_verdict(row->verdict)
														: EXIT_DONE);
		unknown = unknown || (nameless && !any_driver);
	}
	if (unknown)
		output_note(
			out, "cannot tell which of these modules are in the cache: “jitwarm check” says why");
	cli_end_with(finding->cli, finding->judged ? EXIT_DONE : EXIT_CANNOT);
	for (size_t i = 0; i < document->places.note_count; i++)
		output_note(out, "%s", document->places.notes[i]);
	if (!finding->judged)
		output_note(out, "%s; “--target %s” shows what the driver of that GPU would compile",
					finding->cli->system->why_none, finding->cli->system->example);
	if (document->count)
		print_find_next(finding, &document->rows[0]);
	return document_print(&finding->cli->out, &document_find, document);
}

static int find_run(struct jw_error *err, struct cli *cli)
{
	struct finding_places finding = {.cli = cli};
	int result;

	if (options_given(&cli->options, "environment") && cli->options.operand_count)
		return error_set(err, JW_ERR_USAGE,
						 "--environment names the folder to search: name no other folder");
	result = gpu_targets_read(err, cli, &finding.gpus) ||
					 (finding.gpus.count
						  ? cli_open_asleep(err, cli, options_value(&cli->options, "cache"),
											JW_ASK_NEVER)
						  : cli_open_asleep(err, cli, NULL, JW_ASK_UNCERTAIN))
				 ? -1
				 : 0;
	os_catch_interrupts();
	if (!result) {
		finding.judged = finding.gpus.count || cli->system->gpu_count;
		result = collect_places(err, &finding) || analyse_places(err, &finding) ? -1 : 0;
		if (result)
			(void)cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	}
	if (!result) {
		qsort(finding.document.rows, finding.document.count, sizeof *finding.document.rows, dearer);
		result = print_places(err, &finding);
	}
	jw_result_free(finding.places);
	return result;
}

static const struct cli_option find_options[] = {
	GPUS_OPTIONS,
	CLI_CACHE,
	CLI_VALUE("environment", "DIR", "Search below DIR, as “jitwarm find DIR” does", .letter = 'e'),
	CLI_FLAG("all-envs", "Search all environments, as without a name", .hidden = true),
	{0}};

const struct cli_command command_find = {
	.name = "find",
	.summary = "Find environments and programs, and what their starts compile",
	.usage = "[OPTION]… [DIR]…",
	.description =
		"Finds Python environments and programs that use the GPU, and says what their first starts "
		"compile.\n\njitwarm looks for environments other than the active one (venv, conda, pipx, "
		"uv, pyenv, other installations) and for programs without Python (ollama, llama.cpp, "
		"Blender, OpenCV). It searches their usual folders, conda's list of environments, and the "
		"upper folders of your home directory; with DIR, only DIR. The slowest environment or "
		"program comes first. To use an environment with another command, pass the environment's "
		"folder with --environment. No program is started. The contents of files are remembered, "
		"so only the first search takes seconds.\n\nExit status: 0 if no module is to be compiled, "
		"1 if modules are to be compiled or a folder could not be read, 2 if jitwarm "
		"cannot help: no driver, no code for the GPU, or a cache that is unusable or too small.",
	.examples = "jitwarm find\njitwarm find ~/projects\n",
	.options = find_options,
	.reads = true,
	.run = find_run,
};
