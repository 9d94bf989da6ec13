/* From the command line to a command. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/tune.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/help.h"
#include "cli/language.h"
#include "cli/root_places.h"
#include "cli/terminal.h"
#include "os/console.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/shell.h"

/* One line a command, in the order of help, whose groups begin in help.c. */
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
	X(bake) \
	X(bake_verify) \
	X(lint) \
	X(compiler_fetch) \
	X(export) \
	X(import) \
	X(push) \
	X(pull) \
	X(key_generate) \
	X(key_trust) \
	X(key_distrust) \
	X(key_list) \
	X(cache_list) \
	X(cache_verify) \
	X(cache_prune) \
	X(cache_clear) \
	X(store_list) \
	X(store_clear) \
	X(startup_enable) \
	X(startup_disable) \
	X(startup_status) \
	X(ahead) \
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

static const struct cli_command *const command_table[] = {COMMANDS(REFER) NULL};

static int show_help(struct cli *cli, const char *group, bool all)
{
	struct buf text = BUF_MAX(1 << 20);
	const unsigned columns = output_columns(1);

	if (cli->command)
		help_command(&text, cli->command, columns, all);
	else
		help_commands(&text, cli->commands, group, columns, all);
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
	JSON(struct version_document, version, "of jitwarm"),
	JSON(struct version_document, platform, "`x86_64-linux`"),
	JSON(struct version_document, compiler, "`gcc 12.2.0`"),
	JSON(struct version_document, build_type, "with the sanitizers, where there are any"),
	JSON_MAP_OF("libraries", struct version_document, libraries, library_count,
				JSON_TABLE(struct jw_component, library_fields), "their versions by name"),
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

/* Whether an argument before any "--" is this option. Needed before options_read, which can fail */
static bool has_argument(int argc, char **argv, const char *name)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], name))
			return true;
	return false;
}

/* What is written on the command line is a name, or a value: no language changes it. */
static void keep_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;

		language_keep(equals ? equals + 1 : argv[i]);
	}
}

/* The one of the settings, instead of the system's. */
static void choose_language(const struct config *config, int argc, char **argv)
{
	const struct config_value *setting = config_find(config, "language");

	if (setting && os_prints_utf8() && language_choose(setting->value))
		keep_arguments(argc, argv);
}

/* For what is said of a wrong command line, and the help of all commands. What is wrong with the
 * settings is said where the command reads them. */
static void choose_language_early(const struct cli *cli, int argc, char **argv)
{
	struct output silent = cli->out;
	struct config config = {0};
	struct jw_error why;

	silent.quiet = true;
	if (!config_read(&why, &silent, &config))
		choose_language(&config, argc, argv);
	config_free(&config);
}

/* “--help --all”, of a command that has no --all of its own, too. */
static bool take_all(int *argc, char **argv)
{
	int kept = 0;

	if (!has_argument(*argc, argv, "--all") ||
		(!has_argument(*argc, argv, "--help") && !has_argument(*argc, argv, "-h")))
		return false;
	for (int i = 0; i < *argc; i++)
		if (strcmp(argv[i], "--all") != 0)
			argv[kept++] = argv[i];
	*argc = kept;
	return true;
}

/* Names that a shell has taken apart, or put together, otherwise than they were meant; options
 * without their dashes (“tune undo”). */
static int check_operands(struct jw_error *err, const struct cli *cli)
{
	const struct options *options = &cli->options;

	/* Two words that are one path with a blank, without its quotes */
	for (size_t i = 0; i + 1 < options->operand_count; i++) {
		char *path = mem_printf("%s %s", options->operands[i], options->operands[i + 1]);
		const bool one = os_exists(path) && !os_exists(options->operands[i]);

		if (one)
			error_set(err, JW_ERR_USAGE, "a path with a blank needs quotes: \"%s\"", path);
		mem_free(path);
		if (one)
			return -1;
	}
	for (size_t i = 0; i < options->operand_count; i++)
		if (!cli->command->hidden && cli->command != &command_help &&
			options_is_flag(options, options->operands[i]) && !os_exists(options->operands[i]))
			return error_set(err, JW_ERR_USAGE, "“%.100s”: an option has dashes: --%.100s",
							 options->operands[i], options->operands[i]);
	/* Windows ends no quoted word at a backslash and a quote: from "C:\t\" --json a program gets
	 * one word, C:\t" --json. No file there can be called so. */
	for (size_t i = 0; i < options->operand_count; i++)
		if (os_is_separator('\\') && strchr(options->operands[i], '"'))
			return error_set(err, JW_ERR_USAGE,
							 "%s: no file can have a quote in its name: drop the last backslash "
							 "before the quote",
							 options->operands[i]);
	return 0;
}

static int run_named_command(struct jw_error *err, struct cli *cli, int argc, char **argv)
{
	const bool all = take_all(&argc, argv);
	bool mends;

	/* As commands of Windows are asked; elsewhere it may name a file. */
	if (argc && os_is_separator('\\') && !strcmp(argv[0], "/?"))
		return show_help(cli, NULL, false);
	keep_arguments(argc, argv);
	cli->argc = argc;
	cli->argv = argv;
	if ((cli->command->takes_command ? options_read_command : options_read)(
			err, cli->command->options, argc, argv, &cli->options))
		return -1;
	cli->out.json = options_given(&cli->options, "json");
	cli->out.quiet = options_given(&cli->options, "quiet");
	/* What is wrong in the settings is not in the way of the command that mends it. */
	mends = cli->command == &command_config &&
			(cli->options.operand_count > 1 || options_given(&cli->options, "unset"));
	/* Of settings that are wrong, messages name it. */
	if (options_given(&cli->options, "help"))
		return show_help(cli, NULL, all);
	if (!cli->command->hidden && config_read(err, &cli->out, &cli->config) && !mends)
		return -1;
	choose_language(&cli->config, argc, argv);
	if (!cli->command->hidden && !mends && options_settle(err, &cli->options, &cli->config))
		return -1;
	/* What is printed for a program, or for an issue that others read, is English. */
	if ((options_has(&cli->options, "report") && options_given(&cli->options, "report")) ||
		(options_has(&cli->options, "format") && options_given(&cli->options, "format")))
		language_close();
	if (options_check(err, &cli->options) ||
		(!cli->command->takes_command && check_operands(err, cli)))
		return -1;
	cli->out.progress_json =
		options_has(&cli->options, "progress") && options_given(&cli->options, "progress");
	if (cli->out.progress_json && strcmp(options_value(&cli->options, "progress"), "json") != 0)
		return error_set(err, JW_ERR_USAGE, "--progress: “%.100s” is not json",
						 options_value(&cli->options, "progress"));
	if (cli->command->no_operands && cli->options.operand_count)
		return error_set(err, JW_ERR_USAGE, "“%.100s”: %s", cli->options.operands[0],
						 cli->command->no_operands);
	if (options_has(&cli->options, "environment") && options_given(&cli->options, "environment") &&
		jw_use_environment(err, options_value(&cli->options, "environment")))
		return -1;
	/* Workers inherit their parent's settings. */
	if (!cli->command->hidden && (jw_settings_adopt(err) || root_check_places(err, cli)))
		return -1;
	return cli->command->run(err, cli);
}

/* What the words may have meant. */
static int no_command(struct jw_error *err, struct cli *cli, char **words, size_t count)
{
	/* What other programs call it: the first word, and the second one where there are two. */
	static const struct {
		const char *words[2], *name;
	} called[] = {{{"install"}, "prime"},
				  {{"compile"}, "prime"},
				  {{"warm"}, "prime"},
				  {{"list"}, .name = "cache list"},
				  {{"clear"}, .name = "cache clear"},
				  {{"clean"}, .name = "cache clear"},
				  {{"empty"}, .name = "cache clear"},
				  {{"undo"}, .name = "tune --undo"},
				  {{"fix"}, .name = "doctor --fix"},
				  {{"diagnose"}, .name = "doctor"},
				  {{"gpu"}, .name = "status"},
				  {{"gpus"}, .name = "status"},
				  {{"info"}, .name = "status"},
				  {{"fetch"}, .name = "compiler fetch"},
				  {{"cache", "size"}, .name = "cache list"},
				  {{"cache", "show"}, .name = "cache list"},
				  {{"cache", "empty"}, .name = "cache clear"},
				  {{"key", "add"}, .name = "key trust"},
				  {{"key", "remove"}, .name = "key distrust"},
				  {{"key", "create"}, .name = "key generate"},
				  {{"startup", "start"}, .name = "startup enable"},
				  {{"startup", "stop"}, .name = "startup disable"},
				  {{"cache", "ls"}, .name = "cache list"},
				  {{"cache", "clean"}, .name = "cache clear"},
				  {{"cache", "purge"}, .name = "cache clear"},
				  {{"cache", "reset"}, .name = "cache clear"}};
	const bool group = commands_is_group(cli->commands, words[0]);
	const char *nearest = NULL;
	struct buf text = BUF_MAX(200);

	for (size_t i = 0; !nearest && i < sizeof called / sizeof *called; i++)
		if (!strcmp(called[i].words[0], words[0]) &&
			(!called[i].words[1] || (count > 1 && !strcmp(called[i].words[1], words[1]))))
			nearest = called[i].name;
	if (!nearest && !group)
		nearest = commands_suggest(cli->commands, words[0]);
	if (nearest) {
		const bool both = strchr(nearest, ' ') && count > 1;

		return error_set(err, JW_ERR_USAGE,
						 "no command is called “%.100s%s%.100s” (did you mean “%s”?)", words[0],
						 both ? " " : "", both ? words[1] : "", nearest);
	}
	if (!group) {
		shell_add_word(&text, words[0]);
		error_set(
			err, JW_ERR_USAGE,
			"no command is called “%.100s”; files and packages follow one: “jitwarm check%s”, "
			"“jitwarm prime%s”",
			words[0], buf_text(&text), buf_text(&text));
	} else {
		cli->group = words[0];
		commands_say_second(&text, cli->commands, words[0], strlen(words[0]));
		if (count > 1)
			error_set(err, JW_ERR_USAGE, "no command is called “%.100s %.100s”; it takes: %s",
					  words[0], words[1], buf_text(&text));
		else
			error_set(err, JW_ERR_USAGE, "“%.100s” needs a second word: %s", words[0],
					  buf_text(&text));
	}
	buf_free(&text);
	return -1;
}

/* “-n prime torch”, “torch check” */
static int command_later(struct jw_error *err, const struct cli *cli, int argc, char **argv)
{
	const char *const *words = (const char *const *)argv;
	struct buf line = BUF_MAX(300);
	size_t used = 0;
	int at = 0;

	if (!strcmp(argv[0], "-v"))
		return error_set(err, JW_ERR_USAGE, "unknown option -v (did you mean --version?)");
	if (text_starts(argv[0], "--")) {
		const char *const name = argv[0] + 2;

		if (commands_find(cli->commands, &name, 1, &used))
			return error_set(err, JW_ERR_USAGE, "a command has no dashes: “jitwarm %s”", name);
	}
	while (at < argc && strcmp(argv[at], "--") != 0 &&
		   !commands_find(cli->commands, words + at, (size_t)(argc - at), &used))
		at++;
	if (!used)
		return 0;
	buf_say(&line, "jitwarm");
	shell_add_words(&line, words + at, used);
	shell_add_words(&line, words, (size_t)at);
	shell_add_words(&line, words + at + used, (size_t)argc - (size_t)at - used);
	error_set(err, JW_ERR_USAGE, "the command comes first: %s",
			  line.overflowed ? argv[at] : buf_text(&line));
	buf_free(&line);
	return -1;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "/?");
}

/* “--json check torch”, “-e VENV check torch”: the command's words go to the front. */
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

static int dispatch(struct jw_error *err, struct cli *cli, int argc, char **argv)
{
	const char *const standard[] = {"status"};
	size_t words = 0, used = 0; /* the leading arguments that are no options: "cache", "list" */
	const struct cli_command *command;

	put_command_first(cli, argc, argv);
	while (words < (size_t)argc && argv[words][0] != '-')
		words++;
	/* -q may be one of several letters; options_read decides that. */
	cli->out = output_open(has_argument(argc, argv, "--json"), false);
	command = words ? commands_find(cli->commands, (const char *const *)argv, words, &used)
					: commands_find(cli->commands, standard, 1, &used);
	used = words ? used : 0;
	if (!command || !command->hidden)
		choose_language_early(cli, argc, argv);
	if (argc && (is_help(argv[0]) || (words == 1 && argc > 1 && is_help(argv[1]) &&
									  commands_is_group(cli->commands, argv[0]))))
		return show_help(cli, words && !is_help(argv[0]) ? argv[0] : NULL,
						 has_argument(argc, argv, "--all"));
	if (argc &&
		(!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V") || !strcmp(argv[0], "version")))
		return show_version(cli);
	if (argc && !words && command_later(err, cli, argc, argv))
		return -1;
	cli->command = command;
	if (!cli->command && words > 1 && !commands_is_group(cli->commands, argv[0]) &&
		command_later(err, cli, argc, argv))
		return -1;
	if (!cli->command)
		return argc ? no_command(err, cli, argv, words ? words : 1) : show_help(cli, NULL, false);
	return run_named_command(err, cli, argc - (int)used, argv + used);
}

enum exit_status cli_run(int argc, char **argv)
{
	struct cli cli = {.commands = command_table, .run_other = cli_run};
	struct jw_error err = {0};

	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = mem_alloc, .free_fn = mem_free});
	if (os_prepare_limits(&err) || dispatch(&err, &cli, argc > 0 ? argc - 1 : 0, argv + (argc > 0)))
		cli_fail(&cli, &err);
	if (output_close(&err))
		cli_fail(&cli, &err);
	/* Scripts end with what was interrupted, whatever it had done by then. */
	if (os_interrupted() && !cli.status_of_command)
		cli.status = (enum exit_status)os_interrupt_status();
	options_free(&cli.options);
	config_free(&cli.config);
	jw_system_free(cli.system);
	mem_free(cli.state);
	jw_text_free(cli.program);
	return cli.status;
}
