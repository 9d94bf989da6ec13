/* jitwarm tune: permanent settings of the driver's cache. */
#include <string.h>

#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/tune_changes.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"

/* ---- the document */

struct tune_document {
	struct jw_cache_info cache;
	const char *path; /* the expected path */
	uint64_t limit_bytes, predicted_bytes;
	struct jw_settings settings;
	enum jw_tune_state states[2]; /* one for each of tuned_names */
	char **warnings;
	size_t warning_count;
	struct jw_tune_result changes;
};

static const char *const tuned_names[] = {"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH"};
static const char *const state_names[] = {
	[JW_TUNE_NOT_SET] = "not-set",
	[JW_TUNE_IN_FORCE] = "in-force",
	[JW_TUNE_PENDING] = "pending",
	[JW_TUNE_OVERRIDDEN] = "overridden",
};

#define TUNE(member, ...)          JSON(struct tune_document, member, __VA_ARGS__)
#define TUNE_AS(name, member, ...) JSON_AS(name, struct tune_document, member, __VA_ARGS__)

static const struct json_field force_fields[] = {
	TUNE(cache.now.path, "the cache directory; absent if the driver would not cache",
		 .presence = JSON_UNLESS_NULL),
	TUNE(cache.now.limit_bytes, "the cache limit that is in force"),
	TUNE(cache.now.limit_set, "`CUDA_CACHE_MAXSIZE` sets the limit"),
	{0},
};

static const struct json_field login_fields[] = {
	TUNE(cache.path, "the cache directory; absent if the driver would not cache",
		 .presence = JSON_UNLESS_NULL),
	TUNE(cache.limit_bytes, "the cache limit from the next login on"),
	TUNE(cache.limit_set, "`CUDA_CACHE_MAXSIZE` sets the limit"),
	{0},
};

static const struct json_field wanted_fields[] = {
	TUNE(path, "the cache directory to set; absent if it does not change",
		 .presence = JSON_UNLESS_NULL),
	TUNE(limit_bytes, "the cache limit to set"),
	{0},
};

static const struct json_field setting_fields[] = {
	JSON(struct jw_setting, source,
		 "where the setting was found: `process`, `/etc/environment`, `environment.d`, `shell`, "
		 "`Windows machine`, `Windows user`"),
	JSON(struct jw_setting, where, "the file or registry key that holds the setting"),
	JSON(struct jw_setting, name, "the name of the variable"),
	JSON(struct jw_setting, value, "the value of the setting"),
	JSON_AS("by_jitwarm", struct jw_setting, ours, "true: jitwarm has written the setting"),
	{0},
};

static const char *format_limit_state(char room[JSON_ROOM], const void *values)
{
	const struct tune_document *document = values;

	(void)room;
	return state_names[document->states[0]];
}

static const char *format_path_state(char room[JSON_ROOM], const void *values)
{
	const struct tune_document *document = values;

	(void)room;
	return state_names[document->states[1]];
}

static const struct json_field change_fields[] = {
	JSON(struct jw_tune_change, where, "the file or registry key that holds the setting"),
	JSON(struct jw_tune_change, what,
		 "the outcome for the setting: `written`, `unchanged`, `restored`, `removed`, or `left` "
		 "because another program has changed it since"),
	{0},
};

static const struct json_field undone_fields[] = {
	JSON_LIST_OF("changes", struct tune_document, changes.changes, changes.count,
				 JSON_TABLE(struct jw_tune_change, change_fields),
				 "the changes that `--apply` or `--undo` has made"),
	{0},
};
const struct json_table document_tune_undone = {
	.schema = "jitwarm.tune/1",
	.text = "`--undo` prints only this:",
	.fields = undone_fields,
};

static const struct json_field tune_fields[] = {
	JSON_PART("in_force", JSON_TABLE(struct tune_document, force_fields),
			  "the settings of the cache in this process"),
	JSON_PART("next_login", JSON_TABLE(struct tune_document, login_fields),
			  "what programs have from the next login on, and jitwarm at once"),
	JSON_PART("should_be", JSON_TABLE(struct tune_document, wanted_fields),
			  "the settings that `--apply` writes"),
	TUNE_AS("present_bytes", cache.outlook.bytes, "the size of the entries in the cache"),
	TUNE(predicted_bytes, "the predicted size of the entries that the named packages would add"),
	JSON_LIST_OF("settings", struct tune_document, settings.items, settings.count,
				 JSON_TABLE(struct jw_setting, setting_fields),
				 "what this process, jitwarm's files, `/etc/environment` and the registry set"),
	JSON_FORMATTED_OF(
		"limit_state", format_limit_state,
		"the state of the `CUDA_CACHE_MAXSIZE` that jitwarm has set: `not-set`, `in-force`, "
		"`pending` (from the next login on) or `overridden` (something else sets it later)"),
	JSON_FORMATTED_OF("path_state", format_path_state,
					  "the state of the `CUDA_CACHE_PATH` that jitwarm has set, with the values of "
					  "`limit_state`"),
	JSON_LINES_OF("warnings", struct tune_document, warnings, warning_count,
				  "warnings about misleading values, names that the driver does not know, and "
				  "problems with the directory, one a line"),
	JSON_SAME(&document_tune_undone),
	{0},
};
const struct json_table document_tune = {
	.schema = "jitwarm.tune/1", .fields = tune_fields, .instead = &document_tune_undone};

/* The state of one run. */
struct tuning {
	struct cli *cli;
	struct jw_tune_advice *advice;
	struct jw_tune_result *result;
	enum jw_scope scope;
	struct tune_document document; /* points into the other members */
};

/* ---- the settings to reach */

static int collect_settings(struct jw_error *err, struct tuning *tuning)
{
	struct cli *cli = tuning->cli;
	struct jw_system_options how = {0};
	const char *path = options_value(&cli->options, "path");
	const struct jw_tune_question question = {
		.names = cli->options.operands,
		.name_count = cli->options.operand_count,
		.limit_bytes = options_number(&cli->options, "max-size"),
		.path = path && os_is_absolute(path) ? path : NULL,
		.cancel = cli_cancel,
	};
	const struct jw_tune_advice *advice;
	const struct jw_setting *ours;

	if (cli_open(err, cli, &how) || jw_tune_advise(err, cli->system, &question, &tuning->advice))
		return -1;
	advice = tuning->advice;
	tuning->document = (struct tune_document){.cache = cli->system->cache,
											  .path = advice->path,
											  .limit_bytes = advice->limit_bytes,
											  .predicted_bytes = advice->predicted_bytes,
											  .settings = *advice->settings,
											  .warnings = advice->warnings,
											  .warning_count = advice->warning_count};
	for (size_t i = 0; i < 2; i++)
		tuning->document.states[i] = jw_tune_state(advice->settings, tuned_names[i], &ours);
	return 0;
}

static int print_settings(struct jw_error *err, const struct tuning *tuning)
{
	struct table table = {.columns = 4};
	int result;

	for (size_t i = 0; i < tuning->document.settings.count; i++) {
		const struct jw_setting *setting = &tuning->document.settings.items[i];

		table_cell(&table, STYLE_PLAIN, "%s", setting->source);
		table_cell(&table, STYLE_STRONG, "%s", setting->name);
		table_name(&table, STYLE_PLAIN, setting->value);
		table_cell(&table, STYLE_FAINT, setting->ours ? "%s (by jitwarm)" : "%s", setting->where);
	}
	result = tuning->document.settings.count ? table_print(err, &table, &tuning->cli->out) : 0;
	table_free(&table);
	return result;
}

/* Prints the grep with which users find the profile that overrides jitwarm's value; false if none
 * does. */
static bool print_overridden(const struct tuning *tuning)
{
	const struct output *out = &tuning->cli->out;
	const struct jw_setting *ours;
	bool is = false;

	for (size_t i = 0; i < 2; i++) {
		char *grep;

		if (jw_tune_state(tuning->advice->settings, tuned_names[i], &ours) != JW_TUNE_OVERRIDDEN)
			continue;
		is = true;
		grep = jw_tune_grep(tuned_names[i]);
		output_warning(out, "%s: %s sets %s, and a file that is read later overrides the setting",
					   ours->name, ours->where, ours->value);
		next_step_fixed(
			out, "Next       find the line that overrides the setting, and remove it: ", grep);
		jw_text_free(grep);
	}
	return is;
}

/* Returns the setting of jitwarm's that the next login has, if it is the wanted one; NULL if
 * --apply is useful. */
static const struct jw_setting *find_pending(const struct tuning *tuning)
{
	const struct options *options = &tuning->cli->options;
	const struct jw_settings *settings = tuning->advice->settings;
	const uint64_t wanted = tuning->document.limit_bytes;
	const struct jw_setting *limit, *path;
	const enum jw_tune_state limit_state = jw_tune_state(settings, tuned_names[0], &limit),
							 path_state = jw_tune_state(settings, tuned_names[1], &path);
	uint64_t number = 0;

	if (limit && !text_number(limit->value, UINT64_MAX, &number))
		number = 0;
	if (limit && (options_given(options, "max-size") ? number != wanted : number < wanted))
		return NULL;
	if (options_given(options, "path") && (!path || !text_same(path->value, tuning->document.path)))
		return NULL;
	return limit_state == JW_TUNE_PENDING ? limit : path_state == JW_TUNE_PENDING ? path : NULL;
}

/* Prints the command as it was called, with --apply. */
static void print_apply(const struct output *out, const struct options *options)
{
	static const char *const kept[] = {"scope", "max-size", "path", "environment", NULL};
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "jitwarm tune --apply");
	next_step_keep(&line, options, kept);
	next_step_names(&line, options);
	next_step(out, STYLE_FAINT,
			  options_given(options, "scope")
				  ? "Next       apply this setting (--undo reverts it): "
				  : "Next       apply this setting for your account (--scope system: for all; "
					"--undo reverts it): ",
			  &line);
}

/* Returns whether the advised settings are in force. */
static bool is_in_force(const struct tuning *tuning)
{
	const uint64_t limit = tuning->cli->system->cache.limit_bytes;
	const uint64_t wanted = tuning->document.limit_bytes;

	return (options_given(&tuning->cli->options, "max-size") ? limit == wanted : limit >= wanted) &&
		   tuning->advice->path_in_force && !tuning->advice->value_warnings;
}

/* Returns whether nothing sets a variable, and nothing has to: a default is not made permanent
 * without a request. */
static bool defaults_suffice(const struct tuning *tuning)
{
	const struct options *options = &tuning->cli->options;

	return !options_given(options, "max-size") && !options_given(options, "path") &&
		   !tuning->document.settings.count && !tuning->cli->system->cache.limit_set &&
		   is_in_force(tuning);
}

static bool is_switched_off(const struct tuning *tuning)
{
	const struct jw_cache_info *cache = &tuning->cli->system->cache;

	return cache->disabled || cache->force_ptx_jit;
}

/* Returns whether the user has to name another folder: also if the folder is in force, and a
 * warning is about it. */
static bool needs_folder(const struct tuning *tuning)
{
	return !is_switched_off(tuning) &&
		   (!tuning->document.path || !tuning->advice->path_usable ||
			(is_in_force(tuning) && !tuning->advice->path_named && tuning->document.warning_count));
}

static void print_tune_next(const struct tuning *tuning)
{
	const struct output *out = &tuning->cli->out;
	const struct jw_setting *pending = find_pending(tuning);

	if (is_switched_off(tuning) && tuning->cli->system->gpu_count)
		next_step_fixed(
			out, "Next       unset the variable that is named above, then: ", "jitwarm prime");
	else if (is_switched_off(tuning))
		next_step(out, STYLE_FAINT, "Next       unset the variable that is named above", NULL);
	else if (needs_folder(tuning) && jw_tune_can_apply(tuning->scope))
		next_step_fixed(out, "Next       name a writable local directory that survives a restart: ",
						"jitwarm tune --path DIR --apply");
	else if (needs_folder(tuning))
		next_step_fixed(out,
						"Next       start your programs with CUDA_CACHE_PATH=DIR (“docker run -e "
						"CUDA_CACHE_PATH=DIR”); DIR is a writable local directory that survives a "
						"restart. To print the lines: ",
						"jitwarm tune --print sh --path DIR");
	else if (print_overridden(tuning))
		return;
	else if (pending)
		output_line(out, STYLE_FAINT, "Next       log out and in again: %s sets %s=%s",
					pending->where, pending->name, pending->value);
	else if (!is_in_force(tuning))
		print_apply(out, &tuning->cli->options);
	else if (tune_change_is_ahead(&tuning->cli->system->cache))
		output_line(out, STYLE_FAINT,
					"Next       log out and in again: then programs use the new setting");
	else
		output_line(out, STYLE_FAINT, "No setting needs a change.");
}

static int print_tune_report(struct jw_error *err, const struct tuning *tuning)
{
	const struct output *out = &tuning->cli->out;
	const struct jw_cache_info *cache = &tuning->cli->system->cache;
	char limit[TEXT_SHORT], size[TEXT_SHORT], predicted[TEXT_SHORT], better[TEXT_SHORT];
	char *what, *cure;

	if (print_settings(err, tuning))
		return -1;
	if (!tuning->cli->system->gpu_count)
		output_note(out,
					"%s: cannot predict how much the cache will grow; “jitwarm scan --target %s” "
					"predicts it for that GPU, and --max-size sets the limit",
					tuning->cli->system->why_none, tuning->cli->system->example);
	if (!tuning->document.settings.count)
		output_line(out, STYLE_PLAIN,
					"No file and no login sets a variable of the driver's cache.");
	output_line(out, STYLE_STRONG, "In force   %s, limit %s%s",
				cache->now.path ? cache->now.path : "none",
				text_bytes(limit, cache->now.limit_bytes),
				cache->now.limit_set ? "" : " (the driver's default)");
	if (tune_change_is_ahead(cache))
		output_line(out, STYLE_STRONG, "Next login %s, limit %s%s",
					cache->path ? cache->path : "none", text_bytes(limit, cache->limit_bytes),
					cache->limit_set ? "" : " (the driver's default)");
	if (!defaults_suffice(tuning))
		output_line(out, STYLE_STRONG,
					"Should be  CUDA_CACHE_MAXSIZE=%llu (%s: %s used now, %s more needed)",
					(unsigned long long)tuning->document.limit_bytes,
					text_bytes(better, tuning->document.limit_bytes),
					text_bytes(size, cache->outlook.bytes),
					text_bytes(predicted, tuning->document.predicted_bytes));
	if (!needs_folder(tuning) && tuning->document.path && !defaults_suffice(tuning) &&
		(tuning->scope != JW_SCOPE_SYSTEM || options_given(&tuning->cli->options, "path")))
		output_line(out, STYLE_STRONG, "           CUDA_CACHE_PATH=%s", tuning->document.path);
	for (size_t i = 0; i < tuning->document.warning_count; i++)
		output_warning(out, "%s", tuning->document.warnings[i]);
	if (tuning->document.path && jw_tune_loss(tuning->document.path, &what, &cure)) {
		output_line(out, STYLE_FAINT, "           %s", cure);
		jw_text_free(what);
		jw_text_free(cure);
	}
	if (!options_given(&tuning->cli->options, "apply"))
		print_tune_next(tuning);
	return 0;
}

/* Warns that under sudo this account is root, which is rarely intended. */
static void warn_of_sudo(const struct output *out, enum jw_scope scope)
{
	char *caller = os_sudo_user();

	if (caller && (scope == JW_SCOPE_USER || scope == JW_SCOPE_SHELL))
		output_warning(out,
					   "under sudo, this command sets the cache of root's programs, not of %s's "
					   "programs: run it without sudo, or with --scope system",
					   caller);
	mem_free(caller);
}

/* Applies the settings. If only one of the two is requested, the other stays as it is. One
 * directory does not suit all accounts or a service, so it is set for these only with --path. */
static int apply_tuning(struct jw_error *err, struct tuning *tuning,
						struct jw_tune_request *request)
{
	const struct output *out = &tuning->cli->out;
	const bool size = options_given(&tuning->cli->options, "max-size"),
			   path = options_given(&tuning->cli->options, "path");

	warn_of_sudo(out, request->scope);
	request->limit_bytes = path && !size ? 0 : tuning->document.limit_bytes;
	request->path = size && !path ? NULL : jw_tune_path(tuning->advice, request->scope);
	if (jw_tune_apply(err, request, &tuning->result))
		return -1;
	tune_change_print(out, request, tuning->result);
	return 0;
}

static bool is_of_windows(const char *form)
{
	return form && (!strcmp(form, "cmd") || !strcmp(form, "powershell"));
}

/* Returns whether a path is absolute; the lines can be for another system than this one. */
static bool is_absolute_for(const char *form, const char *path)
{
	const bool drive =
				   text_is_alnum(path[0]) && path[1] == ':' && strchr("\\/", path[2]) && path[2],
			   share = text_starts(path, "\\\\");

	if (!form)
		return os_is_absolute(path);
	return drive || share || (!is_of_windows(form) && *path == '/');
}

static int print_lines(struct jw_error *err, const struct tuning *tuning, const char *form)
{
	const bool pods = !strcmp(form, "k8s") || !strcmp(form, "kubernetes"),
			   /* This account's folder is useless on a node's own disk, and on Windows. */
		is_own = strcmp(form, "slurm") != 0 && !pods && (os_is_windows || !is_of_windows(form));
	const char *named = options_value(&tuning->cli->options, "path"),
			   *path = named || !is_own ? named : tuning->document.path;
	char *text;
	int result;

	for (size_t i = 0; i < tuning->advice->limit_warnings; i++)
		output_warning(&tuning->cli->out, "%s", tuning->advice->warnings[i]);
	if (jw_tune_print(err, form, tuning->document.limit_bytes, path,
					  options_value(&tuning->cli->options, "all-caches"), &text))
		return -1;
	result = output_script(err, &tuning->cli->out, text);
	if (pods && !named && !options_given(&tuning->cli->options, "all-caches"))
		output_note(
			&tuning->cli->out,
			"the pods of a node share one folder of the node; --path DIR names another one");
	jw_text_free(text);
	return result;
}

static int undo(struct jw_error *err, struct tuning *tuning, const struct jw_tune_request *request)
{
	if (jw_tune_undo(err, request, &tuning->result))
		return -1;
	tune_change_print_changes(&tuning->cli->out, tuning->result);
	if (!tuning->result->count)
		output_line(&tuning->cli->out, STYLE_PLAIN, "There is nothing to undo.");
	return 0;
}

static int work_of_tune(struct jw_error *err, struct tuning *tuning)
{
	const struct options *options = &tuning->cli->options;
	const char *scope = options_value(options, "scope"), *form = options_value(options, "print"),
			   *path = options_value(options, "path"), *all = options_value(options, "all-caches");
	struct jw_tune_request request = {.scope = JW_SCOPE_USER};

	/* This is checked before the path is recommended. */
	if (path && is_of_windows(form) && !is_absolute_for(form, path))
		return error_set(err, JW_ERR_USAGE,
						 "%s: not a path of Windows: begin with a drive, such as C:\\cache", path);
	if (path && !is_absolute_for(form, path))
		return error_set(err, JW_ERR_USAGE, "%s: name an absolute path", path);

	if (all && (!form || path || !is_absolute_for(form, all)))
		return error_set(err, JW_ERR_USAGE,
						 !form || path ? "--all-caches is for --print FORM, without --path"
									   : "--all-caches: the path has to be absolute");
	if (options_given(options, "apply") + options_given(options, "undo") + (form != NULL) > 1)
		return error_set(err, JW_ERR_USAGE, "only one of --apply, --undo and --print can be given");
	if (scope) {
		size_t at = 0;

		while (at < JW_SCOPES && strcmp(scope, jw_scope_name((enum jw_scope)at)) != 0)
			at++;
		request.scope = (enum jw_scope)at;
	}
	tuning->scope = request.scope;
	for (size_t i = 0; i < options->operand_count; i++) {
		const char *name = options->operands[i];
		uint64_t bytes;

		if (options_parse_size(name, &bytes) && !os_exists(name))
			return error_set(err, JW_ERR_USAGE,
							 "“%.100s”: not a path or package; for a limit, use --max-size %.100s",
							 name, name);
	}
	if (options_given(options, "undo"))
		return undo(err, tuning, scope ? &request : NULL);
	if (collect_settings(err, tuning))
		return -1;
	if (form)
		return print_lines(err, tuning, form);
	if (print_tune_report(err, tuning))
		return -1;
	if (options_given(options, "apply") && defaults_suffice(tuning)) {
		if (tuning->document.warning_count)
			print_tune_next(tuning);
		else
			output_line(&tuning->cli->out, STYLE_FAINT,
						"The driver's defaults are enough: nothing was written.");
		return 0;
	}
	return options_given(options, "apply") ? apply_tuning(err, tuning, &request) : 0;
}

static int tune_run(struct jw_error *err, struct cli *cli)
{
	struct tuning tuning = {.cli = cli};
	int failed = work_of_tune(err, &tuning);

	if (tuning.result)
		tuning.document.changes = *tuning.result;
	failed =
		failed || document_print(&cli->out, cli->system ? &document_tune : &document_tune_undone,
								 &tuning.document);
	jw_result_free(tuning.advice);
	jw_result_free(tuning.result);
	return failed ? cli_hopeless(err, cli, JW_ERR_UNSUPPORTED) : 0;
}

static const struct cli_option tune_options[] = {
	CLI_FLAG("apply",
			 "Write CUDA_CACHE_MAXSIZE and CUDA_CACHE_PATH into a file of jitwarm, and add to the "
			 "shell's profile a marked line that loads this file; a second call changes nothing"),
	CLI_FLAG("undo", "Remove the settings that --apply has made. Without --scope: in every scope "
					 "that this account may change"),
	CLI_VALUE("scope", "SCOPE",
			  "Set for this account (user; the default), for all accounts (system) or in the "
			  "shell's files (shell). For all accounts, CUDA_CACHE_PATH is set only with --path",
			  .choices = "user|system|shell"),
	CLI_VALUE("print", "FORM",
			  "Print the lines in this form, and set nothing: sh, bash, zsh, fish, cmd, "
			  "powershell, docker, apptainer (singularity), compose, k8s (kubernetes), slurm (a "
			  "script for Prolog and TaskProlog), systemd or conda",
			  .choices = "sh|bash|zsh|fish|cmd|powershell|docker|apptainer|singularity|compose|k8s|"
						 "kubernetes|slurm|systemd|conda"),
	CLI_VALUE("all-caches", "DIR",
			  "With --print: also put the caches of Triton, torch.compile, vLLM, FlashInfer, "
			  "DeepGEMM, JAX, CuPy, Numba and cuDF into this folder",
			  .names = NAMES_FOLDER_LATER),
	CLI_SIZE("max-size", "SIZE", "Use this limit (2GiB) instead of the computed limit"),
	CLI_VALUE("path", "DIR", "Use this directory for the cache instead of the present directory",
			  .names = NAMES_FOLDER_LATER),
	CLI_ENVIRONMENT,
	{0}};

const struct cli_command command_tune = {
	.name = "tune",
	.summary = "Show the settings of the driver's cache, and set them permanently",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Shows the limit that the driver's cache needs, and the settings in force; --apply changes "
		"the settings.\n\nThe limit is the size of the present entries and of the entries that the "
		"named paths or packages (without a name: the active environment) would add, plus a "
		"quarter. The output also shows the settings that jitwarm has made, and warns about "
		"variables that keep the driver from caching. --undo reverts --apply. Programs have the "
		"new settings from the next login on; jitwarm uses them at once, also in a unit or a hook. "
		"If something in a shell's profile overrides a setting, jitwarm prints the command that "
		"finds the line.",
	.examples = "jitwarm tune\njitwarm tune --apply tensorflow\njitwarm tune --print docker\n"
				"jitwarm tune --print k8s --all-caches /srv/jit\n"
				"jitwarm tune --undo\n",
	.options = tune_options,
	.reads = true,
	.run = tune_run,
};
