/* Packages and releases without an answer: what the name may mean, and what to do instead. */
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/text.h"
#include "os/shell.h"

enum { MAX_COMMAND = 1 << 16 };

static const struct package_fact *row_of(const char *kind, const char *package)
{
	char name[PACKAGE_MAX_NAME];

	return package_normalise(package, strlen(package), name) ? package_fact_of(kind, name) : NULL;
}

/* Returns the command with a package, “jitwarm which … NAME”; the caller frees it. */
static char *command_for(const struct jw_which_question *question, const char *more,
						 const char *package, bool asks)
{
	struct buf command = BUF_MAX(MAX_COMMAND);
	char *text;

	buf_add(&command, "%s%s", question->command, more);
	shell_add_word(&command, package);
	if (asks)
		buf_add(&command, " --ask");
	text = mem_string(buf_text(&command));
	buf_free(&command);
	return text;
}

/* Returns a source's package for the platform, and for the driver: if no release runs, that for
 * another CUDA of which one does. The caller frees it. */
static char *source_here(const struct jw_which_question *question, const char *source)
{
	const char *renamed = jw_which_name_on(question->options.platform, source);
	struct jw_which_options options = question->options;
	struct jw_which *which;
	char *runs = NULL;

	options.package = source;
	options.index = options.list = NULL;
	if (!renamed && !jw_which(NULL, &options, &which)) {
		if (!which->advised)
			runs = jw_which_running_sibling(&options, source);
		jw_result_free(which);
	}
	return runs ? runs : mem_string(renamed ? renamed : source);
}

int jw_which_refuse_for_sources(struct jw_error *err, const struct jw_which_question *question)
{
	static const char ends[] = " |";
	const char *sources = jw_which_sources(question->name->name);
	const bool one = strchr(sources, '|');
	struct buf command = BUF_MAX(MAX_COMMAND), names = BUF_MAX(MAX_COMMAND);
	bool asks = question->asks;

	buf_add(&command, "%s", question->command);
	for (const char *at = sources; *at;) {
		const size_t length = strcspn(at, ends);
		char *source = mem_string_n(at, length), *name = source_here(question, source);
		const char *next = at + length + strspn(at + length, ends);

		if (at == sources || !one) {
			shell_add_word(&command, name);
			asks = asks || !jw_which_lists(name);
		}
		buf_add(&names, "%s%s", at == sources ? "" : *next ? ", " : one ? " or " : " and ", name);
		mem_free(source);
		mem_free(name);
		at = next;
	}
	if (asks)
		buf_add(&command, " --ask");
	error_set(err, JW_ERR_NOT_FOUND, "%s: its code for GPUs comes from %s: “%s”",
			  question->name->name, buf_text(&names), buf_text(&command));
	buf_free(&command);
	buf_free(&names);
	return -1;
}

/* Refuses a build with a label that the list lacks: PyPI takes no version with a label. */
static int refuse_label(struct jw_error *err, const struct jw_which_question *question)
{
	const char *package = question->name->name, *version = question->name->version;
	const struct package_fact *elsewhere = row_of("index", package);
	char *release, *command;

	if (!elsewhere || !elsewhere->values[ELSEWHERE_PAGE])
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s %.100s: not in jitwarm's list, and PyPI has no builds with a label",
						 package, version);
	release = mem_printf("%s==%.*s", package, (int)strcspn(version, "+"), version);
	command = command_for(question, "", release, false);
	error_set(err, JW_ERR_NOT_FOUND,
			  "%s %.100s: not in jitwarm's list; builds with a label are on %s's index (%s): “%s” "
			  "shows those that the list has",
			  package, version, elsewhere->values[ELSEWHERE_WHOSE],
			  elsewhere->values[ELSEWHERE_PAGE], command);
	mem_free(command);
	mem_free(release);
	return -1;
}

/* Returns whether a build with a label is requested, which PyPI cannot have. */
static bool wants_label(const struct jw_which_question *question)
{
	return question->name->version && strchr(question->name->version, '+') &&
		   !question->other_index;
}

int jw_which_refuse_package(struct jw_error *err, const struct jw_which_question *question)
{
	const struct jw_which_name *name = question->name;
	const char *package = name->name;
	const struct package_fact *elsewhere = row_of("index", package),
							  *project = row_of("called", package);
	char *nearest = project ? NULL : jw_which_nearest(package), *command;
	const char *meant = project ? project->values[0] : nearest;

	if (wants_label(question)) {
		mem_free(nearest);
		return refuse_label(err, question);
	}
	if (jw_which_sources(package)) {
		mem_free(nearest);
		return jw_which_refuse_for_sources(err, question);
	}
	if (elsewhere) {
		mem_free(nearest);
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s: not in jitwarm's list; the builds for GPUs are on an index of %s: "
						 "“pip install %s %s”",
						 package, elsewhere->values[ELSEWHERE_WHOSE], package,
						 elsewhere->values[ELSEWHERE_OPTIONS]);
	}
	command =
		command_for(question, "", meant ? meant : name->typed, !meant || !jw_which_lists(meant));
	if (meant && text_starts(meant, package) && meant[strlen(package)] == '-')
		/* Both may be packages: onnxruntime-gpu, sglang-kernel. */
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: not in jitwarm's list; did you mean %s? “%s”; --ask looks at releases of %s",
				  package, meant, command, package);
	else if (meant)
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; did you mean %s? “%s”",
				  package, meant, command);
	else
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; “%s” looks at its releases",
				  package, command);
	mem_free(nearest);
	mem_free(command);
	return -1;
}

/* Returns “ --python 3.8” with the newest version that a release is for, if --ask would ask for
 * another one. The caller frees it. */
static char *its_python(const struct jw_which_question *question)
{
	struct jw_which_options options = question->options;
	char version[JW_PYTHON_VERSION], *text = NULL;
	struct jw_which *which;

	options.package = question->name->name;
	options.version = question->name->version;
	options.python = version;
	if (question->python_typed || !jw_environment_python(version) ||
		jw_which(NULL, &options, &which))
		return mem_string("");
	if (which->count && which->releases->answer == JW_WHICH_NO_PYTHON && which->releases->why) {
		const char *last = strrchr(which->releases->why, ' ');

		last = last ? last + 1 : which->releases->why;
		if (text_is_digit(*last))
			text = mem_printf(" --python %s", last);
	}
	jw_result_free(which);
	return text ? text : mem_string("");
}

int jw_which_refuse_release(struct jw_error *err, const struct jw_which_question *question,
							const struct jw_which *which)
{
	const struct jw_which_name *name = question->name;
	char *python, *command;

	if (name->range)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s%.100s",
						 question->options.list ? which->index : "jitwarm's list", name->name,
						 name->range);
	/* Without a version, every file on the index's page belongs to another package. */
	if (!name->version)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s", which->index,
						 name->name);
	if (question->asks)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release %.100s of %s", which->index,
						 name->version, name->name);
	if (wants_label(question))
		return refuse_label(err, question);
	python = its_python(question);
	command = command_for(question, python, name->typed, true);
	if (!which->count)
		error_set(err, JW_ERR_NOT_FOUND,
				  "jitwarm's list has no release %.100s of %s: “%s” looks for this release",
				  name->version, name->name, command);
	else
		error_set(err, JW_ERR_NOT_FOUND,
				  "jitwarm has not examined %s %.100s; “%s” examines this release", name->name,
				  which->releases->version, command);
	mem_free(python);
	mem_free(command);
	return -1;
}
