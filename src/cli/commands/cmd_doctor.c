/* jitwarm doctor: why programs start slowly, and what to do about it. */
#include <ctype.h>
#include <string.h>

#include <jitwarm/doctor.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>
#include <jitwarm/version.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "cli/places.h"
#include "cli/process_view.h"
#include "cli/words.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/interrupt.h"

/* ---- the document */

/* The words before a finding's command, and those after its name; NULL if there are none. */
struct doctor_words {
	const char *before, *environment;
};

struct doctor_document {
	struct jw_doctor_result result;
	struct doctor_words words;
	struct process_view process; /* pid is 0 without a process */
	const char *empty; /* the examined environment, if it has no device code; otherwise NULL */
	bool unnamed;      /* the user has not named it, so this is no failure */
	char **fixed;
	size_t fixed_count;
};

static const struct json_field finding_fields[] = {
	JSON(struct jw_finding, id, "the finding's name, such as `cache-disabled`"),
	JSON(struct jw_finding, hopeless, "nothing that jitwarm or this account can do helps"),
	JSON(struct jw_finding, evidence, "what is wrong, with the evidence, in one line"),
	JSON(struct jw_finding, fix, "what to do, in one line"),
	JSON_LINES_OF("command", struct jw_finding, command, word_count,
				  "the arguments with which `--fix` calls jitwarm; empty if the user has to do it"),
	{0},
};

static const char *const probe_names[] = {
	[JW_PROBE_NOT] = "not asked", [JW_PROBE_HIT] = "hit",       [JW_PROBE_REFUSED] = "refused",
	[JW_PROBE_UNREAD] = "unread", [JW_PROBE_FAILED] = "failed", [JW_PROBE_FAILED + 1] = NULL,
};

static const struct json_field process_fields[] = {
	JSON(struct doctor_document, process.pid, "the number of the process"),
	JSON(struct doctor_document, process.name, "the name of the process's program"),
	JSON(struct doctor_document, process.driver, "the process has loaded NVIDIA's driver"),
	JSON(struct doctor_document, process.compiler,
		 "the process has loaded the driver's compiler, so it has compiled or linked something"),
	JSON(struct doctor_document, process.others, "compilers that cache their own results"),
	JSON_LINES_OF("replaced", struct doctor_document, process.replaced, process.replaced_count,
				  "libraries that the process has loaded and that were replaced or removed since"),
	{0},
};

static const struct json_field doctor_fields[] = {
	JSON_LIST_OF("findings", struct doctor_document, result.findings, result.finding_count,
				 JSON_TABLE(struct jw_finding, finding_fields),
				 "the likeliest cause first; empty where all is well"),
	JSON_FORMATTED("verdict", struct doctor_document, result.verdict, document_verdict,
				   "the answer of `check`; without files `runs`, or `useless` because of the "
				   "settings; `nothing` without a GPU"),
	JSON_MEMBERS_OF(struct doctor_document, result.fate, &document_fate),
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
			 .text = "the process of `--pid`", JSON_IF(struct doctor_document, process.pid)),
	JSON(struct doctor_document, words.before,
		 "with `--user` or `--pid`: the words before `jitwarm` in a shell that give the commands "
		 "the same account, files and variables",
		 .presence = JSON_UNLESS_NULL),
	JSON_LINES_OF("fixed", struct doctor_document, fixed, fixed_count,
				  "with `--fix`: the commands that were run"),
	{0},
};
const struct json_table document_doctor = {.schema = "jitwarm.doctor/1", .fields = doctor_fields};

/* ---- the text */

/* Marks a command in a text of lines. Other occurrences come from names; they only make the rest of
 * their line English, because a command contains no mark. */
#define COMMAND_MARK "\x01"

enum { MAX_REPORT = 1 << 20 };

/* Returns "sudo -u ollama jitwarm prime torch"; the caller frees it. */
static char *doctor_text_command(const struct doctor_words *words, const struct jw_finding *finding)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);
	char *text;

	buf_add(&line, "%s%sjitwarm", words->before ? words->before : "", words->before ? " " : "");
	for (size_t i = 0; i < finding->word_count; i++) {
		shell_add_word(&line, finding->command[i]);
		if (!i && words->environment && !strcmp(finding->command[0], "prime")) {
			buf_add(&line, " --environment");
			shell_add_word(&line, words->environment);
		}
	}
	text = next_step_take(&line);
	/* Text after a line break in a name would look like a line of jitwarm's. */
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	return text;
}

static void put_finding(struct buf *text, size_t number, const struct doctor_words *words,
						const struct jw_finding *finding)
{
	char *command = finding->command ? doctor_text_command(words, finding) : NULL;

	buf_add(text, "%2zu  %s: %s\n", number, finding->id, finding->evidence);
	buf_add(text, "    Do: %s", finding->fix);
	buf_add(text, "%s%s\n", command ? COMMAND_MARK ": " : "", command ? command : "");
	mem_free(command);
}

static const char *probe_text(enum jw_probe_use use)
{
	switch (use) {
	case JW_PROBE_HIT:
		return "the driver stores compiled code in its cache, and loads the code again";
	case JW_PROBE_REFUSED: return "the driver stores no compiled code in its cache";
	case JW_PROBE_UNREAD:
		return "the driver stores compiled code in its cache, but compiles the code again";
	case JW_PROBE_FAILED: return "the driver refused a tiny module";
	case JW_PROBE_NOT: break;
	}
	return "not asked";
}

static void put_process(struct buf *text, const struct process_view *process)
{
	size_t from;

	if (!process->pid)
		return;
	buf_add(text, "Process %d (%s): %s%s%s\n", process->pid, process->name,
			!process->driver    ? "the process has not loaded NVIDIA's driver"
			: process->compiler ? "the driver has compiled or linked code, or is doing so"
								: "so far the driver has compiled nothing for this process",
			process->others[0] ? "; other compilers that are loaded: " : "", process->others);
	if (!process->replaced_count)
		return;
	from = text->size;
	buf_add(text,
			"        %s replaced since the process started (%s%s): start it again, to examine what "
			"it loads",
			TEXT_COUNT(process->replaced_count, "library was", "libraries were"),
			process->replaced[0], process->replaced_count > 1 ? ", …" : "");
	/* Replaces line breaks in a text with names from outside, which would begin a new line of the
	 * report. */
	for (size_t i = from; i < text->size; i++)
		if (text->data[i] < ' ')
			text->data[i] = '?';
	buf_add(text, "\n");
}

static void put_findings(struct buf *text, const struct doctor_document *document)
{
	const struct jw_doctor_result *result = &document->result;

	put_process(text, &document->process);
	for (size_t i = 0; i < result->finding_count; i++)
		put_finding(text, i + 1, &document->words, &result->findings[i]);
	if (document->empty)
		buf_add(text, "no device code found in %s; “jitwarm find” shows the environments here\n",
				document->empty);
	if (document->empty && document->unnamed && !result->finding_count)
		buf_add(text, "GPU, driver, cache and settings: all is well\n");
	else if (!document->empty && !result->finding_count && result->verdict == JW_VERDICT_NOTHING)
		buf_add(text, "no device code found\n");
	else if (!document->empty && !result->finding_count) {
		buf_add(text, "%s: %s%s\n",
				result->troubles ? "Nothing found in the readable files" : "All is well",
				result->warm ? TEXT_COUNT(result->warm, "module", "modules")
							 : "these files compile nothing",
				result->warm ? " in the cache, and nothing else is compiled" : "");
		buf_add(text, "If a start is slow: NVRTC, Triton or XLA compile, or weights are loaded\n");
		buf_add(text, "To prepare code that is in no file, record a start" COMMAND_MARK
					  ": jitwarm run --record FILE -- COMMAND\n");
	}
	if (result->probe != JW_PROBE_NOT)
		buf_add(text, "Probe   %s\n", probe_text(result->probe));
}

/* Prints line by line: output_line makes each harmless and fits it to the terminal. */
static void print_lines_of(const struct output *out, char *text)
{
	for (char *line = text, *end, *command; *line; line = end + 1) {
		struct buf step = BUF_MAX(NEXT_STEP_MAX);
		const enum style style =
			line[0] == ' ' && text_is_digit(line[1]) ? STYLE_WARN : STYLE_PLAIN;

		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		command = strrchr(line, *COMMAND_MARK);
		if (command) {
			*command = '\0';
			buf_add(&step, "%s", command + 1);
		}
		next_step(out, style, line, command ? &step : NULL);
	}
}

static void put_machine(struct buf *text, const struct jw_system *system)
{
	char driver[JW_DRIVER_TEXT], target[JW_TARGET_TEXT], size[TEXT_SHORT], limit[TEXT_SHORT];

	buf_add(text, "jitwarm %s (%s)\n", jw_version(), jw_platform());
	for (size_t i = 0; i < system->gpu_count; i++)
		buf_add(text, "GPU     %s (%s)\n", system->gpus[i].name,
				jw_target_sm(target, system->gpus[i].target));
	buf_add(text, "Driver  %s\n", jw_driver_text(driver, &system->driver.version));
	buf_add(text, "Cache   %s, %s of %s%s\n",
			TEXT_COUNT(system->cache.outlook.entries, "entry", "entries"),
			text_bytes(size, system->cache.outlook.bytes),
			text_bytes(limit, system->cache.limit_bytes),
			system->cache.path ? "" : "; the driver caches nothing");
}

/* ---- the report for strangers */

/* A name that is hidden, and its replacement. */
struct hidden_name {
	char *name; /* NULL if there is none */
	const char *shown;
};

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool begins_hidden(const char *text, size_t at, const struct hidden_name *hidden)
{
	enum { SHORTEST_NAME = 2 };
	const size_t length = hidden->name ? strlen(hidden->name) : 0;

	return length >= SHORTEST_NAME && !strncmp(text + at, hidden->name, length) &&
		   !is_in_word(text[at + length]) && (!at || !is_in_word(text[at - 1]));
}

/* Copies a text with "~" for the account's folder, and "USER" for its name or that of sudo's
 * caller. */
static void hide_names(struct buf *copy, const char *text)
{
	static const char *const variables[] = {"USER", "USERNAME", "LOGNAME", "SUDO_USER"};
	enum { HIDDEN = 1 + sizeof variables / sizeof *variables };
	struct hidden_name names[HIDDEN] = {{NULL, "~"}};

	(void)os_home_dir(NULL, &names[0].name);
	for (size_t i = 1; i < HIDDEN; i++)
		names[i] = (struct hidden_name){os_env(variables[i - 1]), "USER"};
	for (size_t at = 0; text[at];) {
		size_t i = 0;

		while (i < HIDDEN && !begins_hidden(text, at, &names[i]))
			i++;
		if (i < HIDDEN)
			buf_add(copy, "%s", names[i].shown);
		else
			(void)buf_append(NULL, copy, text + at, 1);
		at += i < HIDDEN ? strlen(names[i].name) : 1;
	}
	for (size_t i = 0; i < HIDDEN; i++)
		mem_free(names[i].name);
}

/* Prints one block to paste, with facts about the machine, but without folders and the account's
 * name. */
static void doctor_text_report(const struct output *out, const struct jw_system *system,
							   const struct doctor_document *document)
{
	struct buf text = BUF_MAX(MAX_REPORT), hidden = BUF_MAX(MAX_REPORT);

	put_machine(&text, system);
	put_findings(&text, document);
	hide_names(&hidden, buf_text(&text));
	output_line(out, STYLE_PLAIN, "```text");
	if (hidden.size)
		print_lines_of(out, (char *)hidden.data);
	output_line(out, STYLE_PLAIN, "```");
	buf_free(&text);
	buf_free(&hidden);
}

/* ---- the view: this account's, another one's, or a process's */

/* These variables decide the cache and the GPUs. */
static const char *const deciding[] = {"HOME",
									   "CUDA_CACHE_PATH",
									   "CUDA_CACHE_MAXSIZE",
									   "CUDA_CACHE_DISABLE",
									   "CUDA_FORCE_PTX_JIT",
									   "CUDA_FORCE_JIT",
									   "CUDA_VISIBLE_DEVICES",
									   "CUDA_DEVICE_ORDER"};
enum { DECIDING = sizeof deciding / sizeof *deciding, MAX_BEFORE = 1 << 18 };

struct viewpoint {
	struct process_view process; /* pid is 0 without a process */
	char *before; /* the words that a command needs before it to have the same view, in a shell;
					 NULL if there are none */
};

/* Describes how a command gets the same view: “env” with the variables that differ; unset ones come
 * first. */
static int describe_view(struct jw_error *err, char *const values[DECIDING],
						 struct viewpoint *viewpoint)
{
	struct buf line = BUF_MAX(MAX_BEFORE), unset = BUF_MAX(MAX_BEFORE), set = BUF_MAX(MAX_BEFORE);
	int result = 0;

	for (size_t i = 0; i < DECIDING; i++) {
		char *its = os_env(deciding[i]);

		if (its && (!values[i] || strcmp(values[i], its) != 0)) {
			char *pair = mem_printf("%s=%s", deciding[i], its);

			shell_add_word(&set, pair);
			mem_free(pair);
		} else if (!its && values[i]) {
			shell_add_words(&unset, (const char *const[]){"-u", deciding[i]}, 2);
		}
		mem_free(its);
	}
	if (unset.size + set.size)
		buf_add(&line, " env%s%s", buf_text(&unset), buf_text(&set));
	if (line.overflowed || unset.overflowed || set.overflowed)
		result =
			error_set(err, JW_ERR_LIMIT, "the variables of the process are too long for a command");
	buf_free(&unset);
	buf_free(&set);
	if (!result && line.size)
		viewpoint->before = next_step_take(&line);
	buf_free(&line);
	return result;
}

/* Handles --pid. */
static int take_viewpoint(struct jw_error *err, struct cli *cli, struct viewpoint *viewpoint)
{
	const struct options *options = &cli->options;
	const int pid = (int)options_number(options, "pid");
	char *values[DECIDING];
	int result;

	if (pid && options->operand_count)
		return error_set(err, JW_ERR_USAGE,
						 "--pid examines the libraries that the process has loaded: name either a "
						 "process or files");
	if (!pid)
		return 0;
	for (size_t i = 0; i < DECIDING; i++)
		values[i] = os_env(deciding[i]);
	result = places_enter_process(err, cli, pid) ||
					 process_view_read(err, pid, 0, &viewpoint->process) ||
					 describe_view(err, values, viewpoint)
				 ? -1
				 : 0;
	for (size_t i = 0; i < DECIDING; i++)
		mem_free(values[i]);
	return result;
}

/* ---- the run */

enum { MAX_ROUNDS = 4, MAX_FIXES = 32, MAX_ARGUMENTS = 64 };

/* The state of one run. */
struct doctoring {
	struct cli *cli;
	const char *const *names; /* what to examine */
	size_t name_count;
	bool loaded; /* the names are files that a process has loaded */
	struct jw_found *found;
	struct jw_doctor_result *result;
	struct viewpoint viewpoint;
	char **fixed;
	size_t fixed_count;
};

/* Chooses the examined names: the operands, or else the files that the process has loaded. */
static int choose_names(struct jw_error *err, struct doctoring *doctoring)
{
	const struct options *options = &doctoring->cli->options;

	if (options_given(options, "report") && doctoring->cli->out.json)
		return error_set(err, JW_ERR_USAGE, "--report is text: it cannot be combined with --json");
	if (take_viewpoint(err, doctoring->cli, &doctoring->viewpoint))
		return -1;
	doctoring->names = options->operands;
	doctoring->name_count = options->operand_count;
	doctoring->loaded = doctoring->viewpoint.process.pid && !options->operand_count;
	if (doctoring->loaded) {
		doctoring->names = (const char *const *)doctoring->viewpoint.process.paths;
		doctoring->name_count = doctoring->viewpoint.process.count;
	}
	return 0;
}

/* Finds the named programs; without names those of the active environment, if there is one. */
static int find_programs(struct jw_error *err, struct doctoring *doctoring)
{
	const struct jw_find_options find = {
		.names = doctoring->names, .name_count = doctoring->name_count, .cancel = cli_cancel};
	struct jw_error why;

	if (!jw_find(&why, &find, &doctoring->found))
		return 0;
	if (!doctoring->name_count && why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_copy(err, &why);
}

static int find_faults(struct jw_error *err, struct doctoring *doctoring)
{
	struct cli *cli = doctoring->cli;
	struct jw_system_options how = {0};
	struct jw_doctor_options options = {.probe = !options_given(&cli->options, "no-probe") &&
												 !cli->stateless,
										.cancel = cli_cancel};

	/* The results of the round before */
	jw_result_free(doctoring->result);
	jw_result_free(doctoring->found);
	jw_system_free(cli->system);
	doctoring->result = NULL;
	doctoring->found = NULL;
	cli->system = NULL;
	if (cli_worker(err, cli, &how.worker) || jw_system_open(err, &how, &cli->system) ||
		find_programs(err, doctoring))
		return -1;
	options.system = cli->system;
	options.found = doctoring->found;
	/* A process has hundreds of libraries, so the findings name only those with modules to
	 * compile. */
	options.names = doctoring->names;
	options.name_count = doctoring->loaded ? 0 : doctoring->name_count;
	options.environment = options_value(&cli->options, "environment");
	options.process = doctoring->loaded;
	if (jw_doctor(err, &options, &doctoring->result))
		return -1;
	/* Files that a process has loaded, and that no longer exist, cannot be examined. */
	doctoring->result->troubles += doctoring->viewpoint.process.replaced_count;
	return 0;
}

static struct doctor_words words_of(const struct doctoring *doctoring)
{
	return (struct doctor_words){.before = doctoring->viewpoint.before,
								 .environment =
									 options_value(&doctoring->cli->options, "environment")};
}

/* ---- --fix */

/* Runs jitwarm itself in this process, which has the account and environment that were examined. */
static int run_fix(struct jw_error *err, struct doctoring *doctoring,
				   const struct jw_finding *finding, const char *line)
{
	const struct output *out = &doctoring->cli->out;
	char program[] = "jitwarm", quiet[] = "--quiet", *arguments[MAX_ARGUMENTS + 3] = {program};
	bool shows_less = out->json || out->quiet;
	int count = 1;

	output_line(out, STYLE_STRONG, "Fix     %s", line);
	/* The options go after the command's words, and before a "--". */
	for (size_t i = 0; i < finding->word_count && count < MAX_ARGUMENTS; i++) {
		if (shows_less && !strcmp(finding->command[i], "--")) {
			arguments[count++] = quiet;
			shows_less = false;
		}
		arguments[count++] = finding->command[i];
	}
	if (shows_less)
		arguments[count++] = quiet;
	if (doctoring->cli->run_other(count, arguments) == EXIT_FAILED)
		output_warning(out, "“%s” failed", line);
	if (!finding->variable)
		return 0;
	/* Adopts the value as after the next login. */
	return jw_settings_take(err, finding->variable, finding->value);
}

/* Fixes findings; *ret_done is set if a command was run, so that a further examination is
 * worthwhile. */
static int fix_found(struct jw_error *err, struct doctoring *doctoring, bool *ret_done)
{
	const struct jw_doctor_result *result = doctoring->result;
	const struct doctor_words words = words_of(doctoring);
	size_t first = 0;

	*ret_done = false;
	for (size_t i = 0; i < result->finding_count; i++) {
		const struct jw_finding *finding = &result->findings[i];
		char *line = NULL;
		size_t done = 0;

		/* If the limit is too small, prime refuses to compile. */
		if (!finding->command && text_starts(finding->id, "limit-"))
			first = i + 1;
		if (first && finding->command && !strcmp(finding->command[0], "prime")) {
			output_line(&doctoring->cli->out, STYLE_WARN,
						"Fix     nothing: first follow finding %zu yourself, then finding %zu",
						first, i + 1);
			continue;
		}
		if (finding->command)
			line = doctor_text_command(&words, finding);
		while (line && done < doctoring->fixed_count && strcmp(doctoring->fixed[done], line) != 0)
			done++;
		if (line && done == doctoring->fixed_count) {
			mem_add_string(&doctoring->fixed, &doctoring->fixed_count, MAX_FIXES, line);
			if (run_fix(err, doctoring, finding, line)) {
				mem_free(line);
				return -1;
			}
			*ret_done = true;
		}
		mem_free(line);
	}
	return 0;
}

/* Says that nothing was fixed, unless a command was run, or the condition for a finding's fix was
 * printed. */
static void print_nothing_fixed(const struct doctoring *doctoring)
{
	const struct jw_doctor_result *result = doctoring->result;

	for (size_t i = 0; i < result->finding_count; i++)
		if (result->findings[i].command)
			return;
	if (result->finding_count)
		output_line(&doctoring->cli->out, STYLE_WARN,
					"Fix     nothing was fixed: jitwarm cannot fix this itself; see below");
	else
		output_line(&doctoring->cli->out, STYLE_PLAIN, "Fix     nothing to fix");
}

static int find_and_fix(struct jw_error *err, struct doctoring *doctoring)
{
	const bool fix = options_given(&doctoring->cli->options, "fix");
	bool done = true;

	for (unsigned round = 0; done && round < MAX_ROUNDS; round++) {
		done = false;
		if (find_faults(err, doctoring) || (fix && fix_found(err, doctoring, &done)))
			return -1;
	}
	if (done && find_faults(err, doctoring))
		return -1;
	if (fix && !doctoring->fixed_count)
		print_nothing_fixed(doctoring);
	return 0;
}

/* ---- the end */

static enum exit_status status_of_findings(const struct doctor_document *document)
{
	const struct jw_doctor_result *result = &document->result;
	enum exit_status status = document->unnamed ? EXIT_DONE : exit_of_verdict(result->verdict);

	/* Other findings do not change the answer of `check`. */
	if (status != EXIT_DONE)
		return status;
	status = result->troubles ? EXIT_COLD : result->finding_count ? EXIT_CANNOT : EXIT_DONE;
	for (size_t i = 0; i < result->finding_count; i++)
		if (!result->findings[i].hopeless)
			status = EXIT_COLD;
	return status;
}

static int print_findings(struct doctoring *doctoring)
{
	struct cli *cli = doctoring->cli;
	struct doctor_document document = {.result = *doctoring->result,
									   .process = doctoring->viewpoint.process,
									   .words = words_of(doctoring),
									   .fixed = doctoring->fixed,
									   .fixed_count = doctoring->fixed_count};
	struct buf text = BUF_MAX(MAX_REPORT);

	if (cli->system->gpu_count && doctoring->found && doctoring->found->whole &&
		document.result.verdict == JW_VERDICT_NOTHING)
		document.empty = doctoring->found->environment;
	document.unnamed = document.empty && !options_given(&cli->options, "environment");
	cli->status = status_of_findings(&document);
	if (options_given(&cli->options, "report")) {
		doctor_text_report(&cli->out, cli->system, &document);
		return 0;
	}
	plan_notes_print(&cli->out, &cli->options, document.result.notes, document.result.note_count,
					 document.result.assumptions);
	put_findings(&text, &document);
	if (text.size)
		print_lines_of(&cli->out, (char *)text.data);
	buf_free(&text);
	return document_print(&cli->out, &document_doctor, &document);
}

/* ---- the text of an error */

/* Appends the standard input: of a long log the end, where the error is. */
static int read_input(struct jw_error *err, struct buf *text)
{
	enum { STDIN = 0, KEPT = 1 << 18 };
	uint8_t fresh[4096];
	size_t got;

	do {
		if (os_fd_read_some(err, STDIN, fresh, sizeof fresh, &got) ||
			buf_append(err, text, fresh, got))
			return -1;
		if (text->size > 2 * KEPT) {
			memmove(text->data, text->data + text->size - KEPT, KEPT);
			text->size = KEPT;
		}
	} while (got);
	for (size_t i = 0; i < text->size; i++)
		if (!text->data[i])
			text->data[i] = ' ';
	return 0;
}

/* Returns whether some words are files, or packages of the environment, and not the text of an
 * error. */
static bool names_files(const char *const *words, size_t count)
{
	const struct jw_find_options find = {.names = words, .name_count = count, .cancel = cli_cancel};
	struct jw_found *found = NULL;
	bool names;

	for (size_t i = 0; i < count; i++)
		if (os_exists(words[i]))
			return true;
	names = !jw_find(NULL, &find, &found) && (found->file_count || found->package_count);
	jw_result_free(found);
	return names;
}

/* Refuses a text that is no error: a sentence about a slow start, a word with blanks, which is no
 * package's name, and three words or more of which most name nothing. Returns 1 if they are names.
 */
static int refuse_text(struct jw_error *err, const struct options *options, const char *text,
					   const struct jw_error *why)
{
	enum { FEWEST = 3 };
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	const char *advice = NULL;
	size_t named = 0;
	int result = 1;

	buf_add(&command, "jitwarm doctor");
	for (size_t i = 0; i < options->operand_count; i++)
		if (names_files(&options->operands[i], 1)) {
			shell_add_word(&command, options->operands[i]);
			named++;
		} else if (!advice) {
			advice = words_advise_slow(options->operands[i]);
		}
	if (advice)
		result = error_set(err, JW_ERR_USAGE, "“%.200s”: not an error that doctor knows; %s", text,
						   advice);
	else if (strchr(options->operands[0], ' ') && !os_exists(options->operands[0]))
		result = error_copy(err, why);
	else if (options->operand_count >= FEWEST && named < (options->operand_count + 1) / 2)
		result = error_set(err, JW_ERR_USAGE,
						   "“%.200s”: neither names nor an error that doctor knows; “%s” examines "
						   "%s",
						   text, buf_text(&command), named ? "what is installed" : "this machine");
	buf_free(&command);
	return result;
}

/* Explains the text of an error, in the operands or in the standard input (“-”). Returns 1 if the
 * operands are none. */
static int explain_text(struct jw_error *err, struct doctoring *doctoring)
{
	struct cli *cli = doctoring->cli;
	const struct options *options = &cli->options;
	const bool piped = options->operand_count == 1 && !strcmp(options->operands[0], "-");
	struct doctor_document document = {.words = {0}};
	struct buf text = BUF_MAX(MAX_REPORT), lines = BUF_MAX(MAX_REPORT);
	struct jw_error why = {0};
	int result = 1;

	if (!options->operand_count)
		return 1;
	if (piped && read_input(err, &text)) {
		result = -1;
		goto done;
	}
	if (piped && !text.size) {
		result = error_set(err, JW_ERR_UNSUPPORTED, "the standard input is empty");
		goto done;
	}
	for (size_t i = 0; i < options->operand_count && !piped; i++)
		buf_add(&text, "%s%s", i ? " " : "", options->operands[i]);
	if (jw_doctor_text(&why, buf_text(&text), &doctoring->result)) {
		result = piped ? error_copy(err, &why) : refuse_text(err, options, buf_text(&text), &why);
		goto done;
	}
	if (!piped && names_files(options->operands, options->operand_count))
		goto done;
	if (options_given(options, "fix") || options_given(options, "report")) {
		result = error_set(err, JW_ERR_USAGE,
						   "--fix and --report are about this machine, not about a text");
		goto done;
	}
	document.result = *doctoring->result;
	put_findings(&lines, &document);
	print_lines_of(&cli->out, (char *)lines.data);
	result = document_print(&cli->out, &document_doctor, &document);
done:
	buf_free(&text);
	buf_free(&lines);
	return result;
}

/* Says that a text is not read that a person pipes into doctor. Elsewhere, as in a job of cron, the
 * standard input may be a pipe to which nobody writes. */
static void note_pipe(const struct cli *cli)
{
	enum { STDOUT = 1 };
	struct os_stat input;

	if (!cli->options.operand_count && os_is_terminal(STDOUT) &&
		!os_stat(NULL, "/dev/stdin", &input) && input.kind == OS_PIPE)
		output_note(&cli->out, "“jitwarm doctor -” reads the text that is piped into it");
}

static int doctor_run(struct jw_error *err, struct cli *cli)
{
	struct doctoring doctoring = {.cli = cli};
	int result;

	note_pipe(cli);

	os_catch_interrupts();
	result = choose_names(err, &doctoring);
	if (!result)
		result = explain_text(err, &doctoring);
	if (!result)
		goto done;
	if (result > 0)
		result = find_and_fix(err, &doctoring);
	if (!result)
		result = print_findings(&doctoring);
	if (result)
		(void)cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
done:
	jw_result_free(doctoring.result);
	jw_result_free(doctoring.found);
	process_view_free(&doctoring.viewpoint.process);
	mem_free(doctoring.viewpoint.before);
	jw_lines_free(doctoring.fixed, doctoring.fixed_count);
	return result;
}

static const struct cli_option doctor_options[] = {
	CLI_FLAG("fix", "Run the suggested commands: each is printed first, and either can be undone "
					"or deletes nothing of value"),
	CLI_FLAG("report", "Print one block for a bug report, without the account's name and folder"),
	CLI_FLAG("no-probe", "Do not have the driver load a tiny module twice"),
	CLI_NUMBER("pid", "PID",
			   "Examine a running process of this account: its variables and the libraries that it "
			   "has loaded (Linux)",
			   .most = 1 << 30, .least = 1),
	CLI_ENVIRONMENT,
	{0},
};

const struct cli_command command_doctor = {
	.name = "doctor",
	.summary = "Find out why programs start slowly, and what helps",
	.usage = "[OPTION]… [PATH|PACKAGE|TEXT|-]…",
	.description =
		"Finds out why programs start slowly or fail, and prints what to do for each "
		"cause.\n\nWith the text of an error of CUDA, PyTorch, TensorFlow, JAX, Numba, CuPy or a "
		"compiler, doctor prints what the error means and what to do; “-” reads the text from the "
		"standard input. A name of a file or an installed package is never such a text.\n\nWithout "
		"a name, doctor examines the active Python environment. It examines the "
		"GPU and its driver, the settings of the cache, the cache itself with its limit and "
		"permissions, the code of each program, and last whether the driver uses the cache. For "
		"this last check, the driver loads a tiny module twice, which adds an entry of 3 KiB "
		"(--no-probe skips the check). Each finding is a line of evidence and a line that begins "
		"with “Do:”. The likeliest cause comes first.\n\nIf nothing is found, the start is slow "
		"for another reason than the driver's compiler: another compiler with its own cache "
		"(Triton, XLA, NVRTC), the choice of algorithms, or the loading of weights.\n\nExit "
		"status: as “jitwarm check”. If the status of “jitwarm check” is 0: 1 if another finding "
		"can be repaired or a file could not be read, and 2 if there are only findings that cannot "
		"be repaired. An active environment without device code counts as 0 unless you name the "
		"environment.",
	.examples = "jitwarm doctor\njitwarm doctor --fix tensorflow\njitwarm doctor --pid 4242\n"
				"jitwarm doctor \"no kernel image is available for execution on the device\"\n",
	.options = doctor_options,
	.reads = true,
	.probes = true,
	.reads_text = true,
	.run = doctor_run,
};
