/* From the command line to a command. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/find.h>
#include <jitwarm/key.h>
#include <jitwarm/tune.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"
#include "cli/help.h"
#include "cli/language.h"
#include "cli/next_step.h"
#include "cli/places.h"
#include "cli/words.h"
#include "os/console.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/shell.h"

/* One line for each command, in the order of help, whose groups begin in help.c. */
/* clang-format off */
#define COMMANDS(X) \
	X(status) \
	X(check) \
	X(prime) \
	X(doctor) \
	X(tune) \
	X(scan) \
	X(find) \
	X(which) \
	X(watch) \
	X(run) \
	X(make) \
	X(lint) \
	X(compiler_fetch) \
	X(export) \
	X(import) \
	X(key_generate) \
	X(key_trust) \
	X(key_distrust) \
	X(key_list) \
	X(cache_list) \
	X(cache_verify) \
	X(cache_clear) \
	X(store_list) \
	X(store_clear) \
	X(startup_enable) \
	X(startup_disable) \
	X(startup_status) \
	X(config) \
	X(completion) \
	X(uninstall) \
	X(help) \
	X(complete) \
	X(worker)
/* clang-format on */

#define DECLARE(name) extern const struct cli_command command_##name;
#define REFER(name)   &command_##name,

COMMANDS(DECLARE)

const struct cli_command *const cli_commands[] = {COMMANDS(REFER) NULL};

/* “--help --all” shows all options of every command. */
static int show_help(const struct cli *cli)
{
	struct buf text = BUF_MAX(1 << 20);
	const unsigned columns = output_columns(1);
	bool all = false;

	for (int i = 0; i < cli->argc && strcmp(cli->argv[i], "--") != 0; i++)
		all = all || !strcmp(cli->argv[i], "--all");
	if (cli->command)
		help_command(&text, cli->command, columns, all);
	else
		help_commands(&text, cli->commands, cli->group, columns, all);
	help_print(&text, true);
	return 0;
}

struct version_document {
	const char *version, *platform, *compiler, *build_type;
	const struct jw_component *libraries;
	size_t library_count;
};

static const struct json_field library_fields[] = {
	JSON_AS("zstd", struct jw_component, name, NULL),
	JSON(struct jw_component, version, NULL),
	{0},
};

static const struct json_field version_fields[] = {
	JSON(struct version_document, version, "the version of jitwarm"),
	JSON(struct version_document, platform,
		 "the platform that jitwarm was built for: `x86_64-linux`"),
	JSON(struct version_document, compiler, "the compiler that built jitwarm: `gcc 12.2.0`"),
	JSON(struct version_document, build_type,
		 "the build type, with the sanitizers if there are any"),
	JSON_MAP_OF("libraries", struct version_document, libraries, library_count,
				JSON_TABLE(struct jw_component, library_fields),
				"the versions of the libraries in jitwarm, by name"),
	{0},
};
const struct json_table document_version = {
	.schema = "jitwarm.version/1",
	.text = "`jitwarm --version --json`.",
	.fields = version_fields,
};

static int show_version(struct cli *cli)
{
	enum { MOST = 32 };
	struct jw_component libraries[MOST];
	struct version_document built = {.version = jw_version(),
									 .platform = jw_platform(),
									 .compiler = jw_build_compiler(),
									 .build_type = jw_build_type(),
									 .libraries = libraries};

	while (built.library_count < MOST &&
		   jw_component_at(built.library_count, &libraries[built.library_count]))
		built.library_count++;
	output_line(&cli->out, STYLE_PLAIN, "jitwarm %s (%s)", built.version, built.platform);
	output_line(&cli->out, STYLE_PLAIN, "built with %s, %s", built.compiler, built.build_type);
	for (size_t i = 0; i < built.library_count; i++)
		output_line(&cli->out, STYLE_PLAIN, "%-11s %s", libraries[i].name, libraries[i].version);
	return document_print(&cli->out, &document_version, &built);
}

/* Refuses an option that the command does not have, with the commands that have it. */
static int refuse_option(struct jw_error *err, struct cli *cli, const struct jw_error *wrong)
{
	enum { MOST_NAMES = 3 };
	const char *const name = cli->options.unknown;
	const size_t length = strcspn(name, "=");
	struct buf names = BUF_MAX(NEXT_STEP_MAX);
	size_t count = 0;

	for (size_t i = 0; cli->commands[i]; i++)
		if (!cli->commands[i]->hidden && cli->commands[i] != cli->command &&
			options_in_table(cli->commands[i]->options, name, length) && ++count <= MOST_NAMES)
			buf_add(&names, "%s“jitwarm %s”", names.size ? ", " : "", cli->commands[i]->name);
	if (count)
		error_set(err, JW_ERR_USAGE,
				  count > MOST_NAMES ? "unknown option %s%.*s, which is an option of %s and others"
									 : "unknown option %s%.*s, which is an option of %s",
				  length > 1 ? "--" : "-", (int)length, name, buf_text(&names));
	else
		error_copy(err, wrong);
	buf_free(&names);
	return -1;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "/?");
}

/* Moves the command's words to the front: “--json check torch”, “-e VENV check torch”. */
static void put_command_first(const struct cli *cli, int argc, char **argv)
{
	const int lead = options_leading(argc, argv);
	size_t used = 1;

	if (!lead || lead == argc || argv[lead][0] == '-')
		return;
	if (!commands_find(cli->commands, (const char *const *)argv + lead, (size_t)(argc - lead),
					   &used))
		used += commands_is_group(cli->commands, argv[lead]) && lead + 1 < argc &&
				argv[lead + 1][0] != '-';
	for (size_t i = 0; i < used; i++) {
		char *word = argv[(size_t)lead + i];

		memmove(argv + i + 1, argv + i, (size_t)lead * sizeof *argv);
		argv[i] = word;
	}
}

/* Refuses a GPU among the names of files and packages: “check torch rtx 5090”. */
static int refuse_gpu(struct jw_error *err, const struct options *options)
{
	static const char *const names[] = {"target", "gpus", "gpu", "arch"};
	const char *option = NULL;
	char gpu[WORDS_GPU];

	for (size_t i = 0; !option && i < sizeof names / sizeof *names; i++)
		if (options_has(options, names[i]))
			option = names[i];
	/* “--target rtx 5090” has an error of its own. */
	if (option && options_typed(options, option) &&
		!words_gpu((const char *[]){options_value(options, option)}, 1, gpu))
		return 0;
	for (size_t i = 0; i < options->operand_count; i++)
		if (words_gpu(options->operands + i, options->operand_count - i, gpu))
			return option
					   ? error_set(err, JW_ERR_USAGE, "“%.100s” is a GPU: add --%s %s", gpu, option,
								   gpu)
					   : error_set(err, JW_ERR_USAGE,
								   "“%.100s” is a GPU: run “jitwarm check --target %s”", gpu, gpu);
	return 0;
}

/* Refuses names that a shell has split or joined otherwise than intended, and options without their
 * dashes (“tune undo”). */
static int check_operands(struct jw_error *err, const struct cli *cli)
{
	const struct options *options = &cli->options;

	if ((cli->command->for_operands || options_has(options, "environment") ||
		 options_has(options, "target")) &&
		!(cli->command->reads_text && options->operand_count > 2) && refuse_gpu(err, options))
		return -1;
	/* Two words that are one path with a blank, typed without quotes. */
	for (size_t i = 0; i + 1 < options->operand_count; i++) {
		char *path = mem_printf("%s %s", options->operands[i], options->operands[i + 1]);
		const bool one = os_exists(path) && !os_exists(options->operands[i]);

		if (one)
			error_set(err, JW_ERR_USAGE, "a path with a blank needs quotes: \"%s\"", path);
		mem_free(path);
		if (one)
			return -1;
	}
	/* “tune undo”; “which torch cuda 11.8” */
	for (size_t i = 0; i < options->operand_count; i++)
		if (!cli->command->hidden && cli->command != &command_help &&
			(options_is_flag(options, options->operands[i]) ||
			 (i + 1 < options->operand_count && text_is_digit(*options->operands[i + 1]) &&
			  options_take_value(options, options->operands[i]))) &&
			!os_exists(options->operands[i]))
			return error_set(err, JW_ERR_USAGE, "“%.100s”: an option begins with dashes: --%.100s",
							 options->operands[i], options->operands[i]);
	/* On Windows a quoted word does not end at a backslash and a quote: from "C:\t\" --json a
	 * program gets one word, C:\t" --json. No file there can have that name. */
	for (size_t i = 0; i < options->operand_count; i++)
		if (os_is_separator('\\') && strchr(options->operands[i], '"'))
			return error_set(err, JW_ERR_USAGE,
							 "%s: no file can have a quote in its name: drop the last backslash "
							 "before the quote",
							 options->operands[i]);
	return 0;
}

/* ---- the five steps of a run */

static const char *setting_of(const struct cli *cli, const char *name)
{
	const struct config_value *setting = config_find(&cli->config, name);

	return setting ? setting->value : NULL;
}

/* Reads the settings; a language in them applies to every text from here on. */
static void read_settings(struct cli *cli)
{
	const struct config_value *store;
	const char *language;

	config_read(&cli->config, places_lift);
	store = config_find(&cli->config, "store");
	cli->store_folder = config_store_folder(&cli->config);
	cli->uses_store = !store || config_is_on(store) || cli->store_folder;
	language = setting_of(cli, "language");
	if (language && os_prints_utf8() && language_is_known(language))
		(void)language_choose(language);
	jw_use_trusted_keys(setting_of(cli, "trusted-keys"));
	jw_use_compilers(setting_of(cli, "compilers"));
}

/* Finds the command, and reads its options. A request for help is always answered, whatever is
 * wrong with the rest of the line. */
static int parse_line(struct jw_error *err, struct cli *cli, int argc, char **argv)
{
	size_t words = 0, used = 0; /* the leading arguments that are not options: "cache", "list" */
	const struct cli_command *command = &command_status;
	struct jw_error wrong = {0};
	bool group;

	put_command_first(cli, argc, argv);
	while (words < (size_t)argc && argv[words][0] != '-')
		words++;
	if (words)
		command = commands_find(cli->commands, (const char *const *)argv, words, &used);
	group = words && commands_is_group(cli->commands, argv[0]);
	cli->argc = argc - (int)used;
	cli->argv = argv + used;
	/* No language changes names and values. */
	for (int i = 0; i < cli->argc; i++) {
		const char *equals = cli->argv[i][0] == '-' ? strchr(cli->argv[i], '=') : NULL;

		language_keep(equals ? equals + 1 : cli->argv[i]);
	}
	(void)options_read(&wrong, command ? command->options : NULL, command && command->takes_command,
					   cli->argc, cli->argv, &cli->options);
	cli->out =
		output_open(options_given(&cli->options, "json"), options_given(&cli->options, "quiet"));

	if (argc && (is_help(argv[0]) || (group && words == 1 && argc > 1 && is_help(argv[1])))) {
		cli->asks = ASKS_HELP;
		cli->group = group ? argv[0] : NULL;
		return 0;
	}
	if (argc &&
		(!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V") || !strcmp(argv[0], "version"))) {
		cli->asks = ASKS_VERSION;
		return 0;
	}
	if (!command) {
		cli->group = group ? argv[0] : NULL;
		return words_refuse(err, cli->commands, (const char *const *)argv, words);
	}

	cli->command = command;
	/* Windows' commands are asked for help by “/?”; elsewhere that may be a file. */
	if (options_given(&cli->options, "help") ||
		(cli->argc && os_is_separator('\\') && !strcmp(cli->argv[0], "/?")))
		cli->asks = ASKS_HELP;
	else if (wrong.code)
		return cli->options.unknown ? refuse_option(err, cli, &wrong) : error_copy(err, &wrong);
	else if (options_has_given(&cli->options, "driver") &&
			 text_same(options_value(&cli->options, "driver"), "list"))
		cli->asks = ASKS_DRIVERS;
	return 0;
}

/* Completes the options from the settings, and checks them. */
static int apply_settings(struct jw_error *err, struct cli *cli)
{
	const struct cli_command *command = cli->command;
	struct options *options = &cli->options;
	/* The command that changes settings runs even if the present ones are wrong. */
	const bool mends = command == &command_config &&
					   (options->operand_count > 1 || options_given(options, "unset"));

	if (!command->hidden && config_check(err, &cli->out, &cli->config) && !mends)
		return -1;
	if (!command->hidden && !mends && options_settle(err, options, &cli->config))
		return -1;
	/* Output for a program, or for an issue that others read, is in English. */
	if (options_has_given(options, "report") || options_has_given(options, "format"))
		language_close();
	if (options_check(err, options) || (!command->takes_command && check_operands(err, cli)))
		return -1;
	cli->out.progress_json = options_has_given(options, "progress");
	/* The terminal is that of the command that “jitwarm run” starts. */
	if (!command->hidden && !command->runs_anyway)
		output_watch_silence(&cli->out);
	if (command->no_operands && options->operand_count && command->for_operands) {
		struct buf line = BUF_MAX(NEXT_STEP_MAX);
		char *text;

		buf_add(&line, "jitwarm %s", command->for_operands);
		next_step_names(&line, options);
		text = next_step_take(&line);
		error_set(err, JW_ERR_USAGE, "“%.100s”: %s; “%s” answers for files and packages",
				  options->operands[0], command->no_operands, text);
		mem_free(text);
		return -1;
	}
	if (command->no_operands && options->operand_count)
		return error_set(err, JW_ERR_USAGE, "“%.100s”: %s", options->operands[0],
						 command->no_operands);
	return 0;
}

/* Adopts what a login of this account would set, and checks root's places. */
static int enter_account(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;

	if (options_has_given(options, "environment") &&
		jw_use_environment(err, options_value(options, "environment")))
		return -1;
	/* Workers inherit their parent's settings. */
	if (cli->command->hidden)
		return 0;
	return jw_settings_adopt(err) || places_check(err, cli) ? -1 : 0;
}

/* Prints the known drivers, one in a line. */
static int show_drivers(const struct cli *cli)
{
	char names[JW_DRIVER_NAMES];
	size_t length;

	for (const char *at = jw_driver_names(names, NULL); *at; at += length, at += strspn(at, ", ")) {
		length = strcspn(at, ",");
		output_line(&cli->out, STYLE_PLAIN, "%.*s", (int)length, at);
	}
	return 0;
}

static int run_command(struct jw_error *err, struct cli *cli)
{
	switch (cli->asks) {
	case ASKS_HELP: return show_help(cli);
	case ASKS_VERSION: return show_version(cli);
	case ASKS_DRIVERS: return show_drivers(cli);
	case ASKS_COMMAND: break;
	}
	if (cli->command->columns)
		output_set_columns(cli->command->columns);
	return cli->command->run(err, cli);
}

static struct cli *running;

/* Ends the program, whose other threads may be anywhere. */
static void end_of_cut_file(const char *path)
{
	struct jw_error err = {0};

	error_set(&err, JW_ERR_IO,
			  "%s: cannot be read to its end: its disk failed, or another process shortened the "
			  "file meanwhile; run the command again when nothing writes to the file",
			  path);
	cli_fail(running, &err);
	output_flush();
	os_end_now((int)running->status);
}

enum exit_status cli_run(int argc, char **argv)
{
	struct cli cli = {.commands = cli_commands, .run_other = cli_run};
	struct cli *const outer = running; /* doctor --fix runs other commands inside its own */
	struct jw_error err = {0};

	running = &cli;
	os_on_cut_file(end_of_cut_file);
	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = mem_alloc, .free_fn = mem_free});
	places_open(&cli);
	read_settings(&cli);
	if (os_prepare_limits(&err) ||
		parse_line(&err, &cli, argc > 0 ? argc - 1 : 0, argv + (argc > 0)) ||
		(cli.asks == ASKS_COMMAND && (apply_settings(&err, &cli) || enter_account(&err, &cli))) ||
		run_command(&err, &cli))
		cli_fail(&cli, &err);
	if (output_close(&err))
		cli_fail(&cli, &err);
	/* Scripts end together with an interrupted command, however far it came. */
	if (os_interrupted() && !cli.status_of_command)
		cli.status = (enum exit_status)os_interrupt_status();
	options_free(&cli.options);
	config_free(&cli.config);
	jw_system_free(cli.system);
	mem_free(cli.state);
	places_close();
	mem_free(cli.gpu_names);
	jw_text_free(cli.program);
	places_open(outer);
	running = outer;
	return cli.status;
}
