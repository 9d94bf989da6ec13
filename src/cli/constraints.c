/* which --constraints. */
#include "cli/constraints.h"

#include <string.h>

#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "cli/document.h"
#include "cli/index_wheel.h"
#include "cli/next_step.h"
#include "os/file.h"

/* ---- the document */

struct constraints_document {
	struct jw_constraints *constraints;
	const char *platform, *python;
	char **gpus;
	size_t gpu_count;
	struct jw_driver driver;
};

static const char *const kind_names[] = {
	[JW_CONSTRAINT_LIMITS] = "limits",         [JW_CONSTRAINT_NONE_RUNS] = "none_runs",
	[JW_CONSTRAINT_APART] = "apart",           [JW_CONSTRAINT_BUILD] = "build",
	[JW_CONSTRAINT_REQUIRED] = "required",     [JW_CONSTRAINT_PLUGIN] = "plugin",
	[JW_CONSTRAINT_UNEXAMINED] = "unexamined", [JW_CONSTRAINT_KEPT] = "kept",
	[JW_CONSTRAINT_UNLISTED] = "unlisted",     NULL,
};

static const struct json_field row_fields[] = {
	JSON(struct jw_constraint, package, "the package, as indexes name it"),
	JSON(struct jw_constraint, kind,
		 "`limits`: some of its releases fail; `none_runs`: none runs; `apart`: none runs on all "
		 "of the GPUs, but some run on each; `build`: the newest build of `label` that runs. "
		 "Without `constraint`: `required`: a package that runs without it requires it; `plugin`: "
		 "pip would leave it out of an extra; `unexamined`: too many releases were not examined; "
		 "`kept`: the installed one must not be replaced; `unlisted`: the list lacks it",
		 .names = kind_names),
	JSON(struct jw_constraint, constraint,
		 "the line for pip and uv: `torch<2.8.0`; absent if nothing is left out",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_constraint, reason, "why: `2.8.0 and newer: no code for sm_61`"),
	{0},
};

static const struct json_field result_fields[] = {
	JSON(struct jw_constraints, date, "the day on which the list of releases was made"),
	JSON(struct jw_constraints, label,
		 "the label of the builds that `build` rows pin: `cu126`; absent if all rows hold for PyPI",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_constraints, address, "the index of these builds", .presence = JSON_UNLESS_NULL),
	JSON(struct jw_constraints, newer,
		 "a build of PyTorch's index that runs and is newer than what PyPI has for the GPU: `torch "
		 "2.14.1+cu126`",
		 .presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("constraints", struct jw_constraints, rows, count,
				 JSON_TABLE(struct jw_constraint, row_fields), "a row for each package"),
	{0},
};

static const struct json_table document_result = {.fields = result_fields,
												  .size = sizeof(struct jw_constraints)};

static const struct json_field constraints_fields[] = {
	JSON_LINES_OF("gpus", struct constraints_document, gpus, gpu_count,
				  "the GPUs that the constraints hold for: `sm_61`"),
	JSON_FORMATTED("driver", struct constraints_document, driver, document_needs,
				   "the driver in question; missing for the newest one", .presence = JSON_IF_SET),
	JSON(struct constraints_document, platform,
		 "the platform of the wheels: `linux`, `linux-aarch64` or `windows`"),
	JSON(struct constraints_document, python, "the version of Python; missing for all",
		 .presence = JSON_UNLESS_NULL),
	JSON_MEMBERS_BEHIND(struct constraints_document, constraints, &document_result),
	{0},
};
const struct json_table document_constraints = {
	.schema = "jitwarm.constraints/1",
	.fields = constraints_fields,
	.size = sizeof(struct constraints_document),
};

/* ---- the command */

int constraints_check_options(struct jw_error *err, const struct cli *cli)
{
	static const char *const only[] = {"output", "index", "format"};
	static const char *const never[] = {"ask", "all"};
	const bool asked = options_given(&cli->options, "constraints");

	for (size_t i = 0; !asked && i < sizeof only / sizeof *only; i++)
		if (options_given(&cli->options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s is for --constraints", only[i]);
	for (size_t i = 0; asked && i < sizeof never / sizeof *never; i++)
		if (options_given(&cli->options, never[i]))
			return error_set(err, JW_ERR_USAGE, "--%s does not go with --constraints: leave it out",
							 never[i]);
	return 0;
}

/* Finds the packages in question: those of the line, and those of -r. */
static int read_packages(struct jw_error *err, struct cli *cli, void *owner,
						 struct jw_constraints_options *question)
{
	const struct options *given = &cli->options;
	const char *file = options_value(given, "requirements");
	struct jw_which_names *names;
	char **packages = NULL;
	char name[PACKAGE_MAX_NAME];
	size_t count = 0;

	for (size_t i = 0; i < given->operand_count; i++) {
		const char *word = given->operands[i];

		if (strchr(word, '.') && os_exists(word))
			return error_set(err, JW_ERR_USAGE, "%s is a file: write “-r %s”", word, word);
		if (!package_normalise(word, strcspn(word, " [(<>=!~;@,"), name))
			return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", word);
		arena_add_string(owner, &packages, &count, SIZE_MAX, word);
	}
	if (file) {
		if (jw_which_read_names(err, file, question->platform, question->python, &names))
			return -1;
		arena_join(owner, names);
		for (size_t i = 0; i < names->count; i++)
			arena_add_string(owner, &packages, &count, SIZE_MAX, names->items[i]);
		for (size_t i = 0; i < names->unread_count; i++) {
			output_warning(&cli->out,
						   "%s: jitwarm cannot read this line; write it as “torch==2.7.1” or "
						   "“torch>=2,<2.3”",
						   names->unread[i]);
			cli_end_with(cli, EXIT_FAILED);
		}
	}
	question->packages = (const char *const *)packages;
	question->package_count = count;
	return 0;
}

/* Warns of what the file cannot do. */
static void warn(struct cli *cli, const struct jw_constraints *constraints)
{
	const char *unlisted = NULL;
	size_t lacking = 0;

	for (size_t i = 0; i < constraints->count; i++) {
		const struct jw_constraint *row = &constraints->rows[i];

		if (row->kind == JW_CONSTRAINT_APART)
			output_warning(&cli->out,
						   "no release of %s runs on all of these GPUs: write a file for each GPU",
						   row->package);
		if (row->kind == JW_CONSTRAINT_KEPT)
			output_warning(&cli->out,
						   "the %s of this image must not be replaced, so the file leaves it out",
						   row->package);
		if (row->kind != JW_CONSTRAINT_UNLISTED)
			continue;
		unlisted = unlisted ? unlisted : row->package;
		lacking++;
		cli_end_with(cli, EXIT_FAILED);
	}
	if (lacking == 1)
		output_warning(&cli->out, "jitwarm's list lacks %s", unlisted);
	else if (lacking)
		output_warning(&cli->out, "jitwarm's list lacks %zu of these packages, such as %s", lacking,
					   unlisted);
}

/* Prints the command that uses the written file. */
static void print_use(const struct cli *cli, const struct jw_constraints *constraints,
					  const char *path)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&command, "pip install");
	buf_add(&command, " -c");
	shell_add_word(&command, path);
	if (constraints->address) {
		buf_add(&command, " --extra-index-url");
		shell_add_word(&command, constraints->address);
	}
	buf_add(&command, constraints->label ? " torch" : " PACKAGE");
	next_step(&cli->out, STYLE_PLAIN, "Install with it: ", &command);
}

static int write_or_print(struct jw_error *err, struct cli *cli,
						  const struct constraints_about *about,
						  const struct jw_constraints *constraints)
{
	enum { MAX_FILE = 16 << 20 };
	struct buf text = BUF_MAX(MAX_FILE);
	int result = 0;

	constraints_write(&text, about, constraints);
	if (text.overflowed)
		result = error_set(err, JW_ERR_LIMIT, "the constraints are too long for a file");
	else if (about->path)
		result = os_write_output(err, about->path, text.data, text.size);
	else if (output_wants_text(&cli->out))
		result = output_script(err, &cli->out, buf_text(&text));
	buf_free(&text);
	if (!result && about->path)
		print_use(cli, constraints, about->path);
	return result;
}

int constraints_run(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus)
{
	const struct options *given = &cli->options;
	const char *platform = options_value(given, "platform"),
			   *python = options_value(given, "python");
	struct constraints_document *document = arena_open(sizeof *document);
	const struct wheel_platform *is;
	struct jw_constraints_options question = {.targets = gpus->targets,
											  .target_count = gpus->count,
											  .driver = gpus->driver,
											  .label = options_value(given, "index"),
											  .keeps_torch = jw_constraints_keep_torch()};
	char version[JW_PYTHON_VERSION], sm[JW_TARGET_TEXT];
	int result = -1;

	if (!platform)
		platform = gpus->arm ? "linux-aarch64" : jw_which_own_platform();
	if (wheel_platform_read(err, platform, &is) ||
		(python && index_wheel_python(err, python, version)))
		goto done;
	question.platform = document->platform = platform;
	question.python = document->python = python ? version : NULL;
	document->driver = gpus->driver;
	for (size_t i = 0; i < gpus->count; i++)
		arena_add_string(document, &document->gpus, &document->gpu_count, SIZE_MAX,
						 jw_target_sm(sm, gpus->targets[i]));
	if (read_packages(err, cli, document, &question) ||
		jw_constraints(err, &question, &document->constraints))
		goto done;
	arena_join(document, document->constraints);
	warn(cli, document->constraints);
	result = write_or_print(
		err, cli,
		&(struct constraints_about){.cli = cli,
									.gpus = gpus,
									.platform = is->title,
									.python = question.python,
									.path = options_value(given, "output"),
									.for_uv = text_same(options_value(given, "format"), "uv")},
		document->constraints);
	if (!result)
		result = document_print(&cli->out, &document_constraints, document);
done:
	jw_result_free(document);
	return result;
}
