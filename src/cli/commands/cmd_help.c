
#include "cli/command.h"
#include "cli/help.h"
#include "cli/language.h"
#include "cli/manual.h"
#include "cli/terminal.h"

enum { MOST_HELP = 1 << 20 };

/* English unless another language is named: an installation has pages in several. */
static int help_manual(struct jw_error *err, struct buf *buf, const struct options *options,
					   const struct cli_command *command)
{
	const char *language = options_value(options, "language");

	if (!language_choose(language ? language : "en"))
		return error_set(err, JW_ERR_USAGE, "--language is en or ko, not “%.20s”", language);
	return manual_page(err, buf, command);
}

static int help_for(struct jw_error *err, struct buf *buf, const struct cli *cli)
{
	const struct cli_command *const *commands = cli->commands, *command;
	const struct options *options = &cli->options;
	size_t used, columns = output_columns(1);

	if (!options->operand_count && !options_given(options, "man"))
		return help_commands(err, buf, commands, NULL, columns);
	if (!options->operand_count)
		return error_set(err, JW_ERR_USAGE, "--man needs a command");
	command = commands_find(commands, options->operands, options->operand_count, &used);
	if (command && options_given(options, "man"))
		return help_manual(err, buf, options, command);
	if (command)
		return help_command(err, buf, command, columns);
	if (commands_is_group(commands, options->operands[0]))
		return help_commands(err, buf, commands, options->operands[0], columns);
	return error_set(err, JW_ERR_USAGE, "no command is called “%.100s”", options->operands[0]);
}

static int help_run(struct jw_error *err, struct cli *cli)
{
	struct buf text = BUF_MAX(MOST_HELP);
	int failed = help_for(err, &text, cli);

	if (!options_given(&cli->options, "language"))
		terminal_to_locale(&text);
	if (!failed)
		output_text(&cli->out, buf_text(&text));
	buf_free(&text);
	return failed;
}

static const struct cli_option help_options[] = {
	CLI_FLAG("man", "Print the command's manual page (mdoc), as the installation does",
			 .hidden = true),
	CLI_VALUE("language", "NAME", "With --man: the page in this language (en, ko)", .hidden = true),
	{0}};

const struct cli_command command_help = {
	.name = "help",
	.summary = "Show the commands, or the help of one",
	.usage = "[COMMAND]",
	.description = "Shows the list of commands, or the description and options of one, as “jitwarm "
				   "COMMAND --help” does.",
	.options = help_options,
	.run = help_run,
};
