#include <jitwarm/version.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/examples.h"
#include "cli/help.h"
#include "cli/language.h"
#include "cli/terminal.h"

/* Text of a paragraph: a backslash becomes \e, a line never starts with a macro, an empty line
 * starts a new paragraph. */
static int append_text(struct jw_error *err, struct buf *buf, const char *text)
{
	bool line_begins = true;

	for (; *text; text++) {
		int failed;

		if (line_begins && (*text == '.' || *text == '\'') && buf_append(err, buf, "\\&", 2))
			return -1;
		if (*text == '\n' && text[1] == '\n') {
			failed = buf_append(err, buf, "\n.Pp\n", 5);
			text++;
		} else if (*text == '\\') {
			failed = buf_append(err, buf, "\\e", 2);
		} else {
			failed = buf_append(err, buf, text, 1);
		}
		if (failed)
			return -1;
		line_begins = *text == '\n';
	}
	return buf_append(err, buf, "\n", 1);
}

static int append_option(struct jw_error *err, struct buf *buf, const struct cli_option *option)
{
	if (buf_printf(err, buf, ".It ") ||
		(option->letter && buf_printf(err, buf, "Fl %c , ", option->letter)) ||
		buf_printf(err, buf, "Fl \\-%s", option->name) ||
		(option->value && buf_printf(err, buf, " Ar %s", option->value)) ||
		buf_append(err, buf, "\n", 1) || append_text(err, buf, language_text(option->help)))
		return -1;
	return 0;
}

static int append_heading(struct jw_error *err, struct buf *buf, const char *title)
{
	return buf_printf(err, buf, ".Ss %s\n.Bl -tag -width Ds\n", language_text(title));
}

/* A list is begun; where it has headings, each begins another one. */
static int append_options(struct jw_error *err, struct buf *buf, const struct cli_option *options)
{
	for (const struct cli_option *at = options; at && at->name; at++)
		if (at->title ? (at != options && buf_printf(err, buf, ".El\n")) ||
							append_heading(err, buf, at->title)
					  : !at->hidden && append_option(err, buf, at))
			return -1;
	return 0;
}

static int append_all_options(struct jw_error *err, struct buf *buf, const struct cli_option *own)
{
	const bool grouped = options_grouped(own);

	if (buf_printf(err, buf, "%s\n", language_text(".Sh OPTIONS")) ||
		(!grouped && buf_printf(err, buf, ".Bl -tag -width Ds\n")) ||
		append_options(err, buf, own) ||
		(grouped &&
		 (buf_printf(err, buf, ".El\n") || append_heading(err, buf, options_common_title))) ||
		append_options(err, buf, options_common) || buf_printf(err, buf, ".El\n"))
		return -1;
	return 0;
}

static int append_dashed(struct jw_error *err, struct buf *buf, const char *name)
{
	for (; *name; name++)
		if (buf_append(err, buf, *name == ' ' ? "-" : name, 1))
			return -1;
	return 0;
}

static int append_head(struct jw_error *err, struct buf *buf, const struct cli_command *command)
{
	if (buf_printf(err, buf, ".Dd $Mdocdate$\n.Dt JITWARM-") ||
		append_dashed(err, buf, command->name) ||
		buf_printf(err, buf, " 1\n.Os jitwarm %s\n%s\n.Nm jitwarm-", jw_version(),
				   language_text(".Sh NAME")) ||
		append_dashed(err, buf, command->name) ||
		buf_printf(err, buf, "\n.Nd %s\n%s\n.Nm jitwarm %s\n", language_text(command->summary),
				   language_text(".Sh SYNOPSIS"), command->name))
		return -1;
	return *command->usage ? append_text(err, buf, command->usage) : 0;
}

/* They are copied: a hyphen and a tilde are those of the keyboard. */
static int append_examples(struct jw_error *err, struct buf *buf, const char *lines)
{
	if (!*lines)
		return 0;
	if (buf_printf(err, buf, "%s\n.Bd -literal -offset indent\n", language_text(".Sh EXAMPLES")))
		return -1;
	for (; *lines; lines++)
		if (*lines == '-'   ? buf_printf(err, buf, "\\-")
			: *lines == '~' ? buf_printf(err, buf, "\\(ti")
							: buf_append(err, buf, lines, 1))
			return -1;
	return buf_printf(err, buf, ".Ed\n");
}

/* Appends the page of one command: jitwarm-NAME(1), spaces in the name as dashes. */
static int manual_page(struct jw_error *err, struct buf *buf, const struct cli_command *command)
{
	if (append_head(err, buf, command) ||
		buf_printf(err, buf, "%s\n", language_text(".Sh DESCRIPTION")) ||
		append_text(err, buf, language_text(command->description)) ||
		append_all_options(err, buf, command->options) ||
		buf_printf(err, buf, "%s\n%s\n", language_text(".Sh EXIT STATUS"),
				   language_text("0 done, or warm; 1 cold, or a part is left undone; 2 jitwarm "
								 "cannot help, and has said why; 3 failed; 64 wrong usage.")))
		return -1;
	if (append_examples(err, buf, examples_of(command)) ||
		buf_printf(err, buf, "%s\n.Xr jitwarm 1\n", language_text(".Sh SEE ALSO")))
		return -1;
	return 0;
}

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
	const bool all = options_given(options, "all");
	size_t used, columns = output_columns(1);
	const char *nearest;

	if (!options->operand_count && !options_given(options, "man"))
		return help_commands(err, buf, commands, NULL, columns, all);
	if (!options->operand_count)
		return error_set(err, JW_ERR_USAGE, "--man needs a command");
	command = commands_find(commands, options->operands, options->operand_count, &used);
	if (command && options_given(options, "man"))
		return help_manual(err, buf, options, command);
	if (command)
		return help_command(err, buf, command, columns, all);
	if (commands_is_group(commands, options->operands[0]))
		return help_commands(err, buf, commands, options->operands[0], columns, all);
	nearest = commands_suggest(commands, options->operands[0]);
	return error_set(err, JW_ERR_USAGE,
					 nearest ? "no command is called “%.100s” (did you mean “%s”?)"
							 : "no command is called “%.100s”: “jitwarm help” lists them",
					 options->operands[0], nearest);
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
	CLI_FLAG("all", "Show every command of a group, and every option of a command"),
	CLI_FLAG("man", "Print the command's manual page (mdoc), as the installation does",
			 .hidden = true),
	CLI_VALUE("language", "NAME", "With --man: the page in this language (en, ko)", .hidden = true),
	{0}};

const struct cli_command command_help = {
	.name = "help",
	.summary = "Show the commands, or the help of one",
	.usage = "[--all] [COMMAND]",
	.description = "Shows the list of commands, or the description and options of one, as “jitwarm "
				   "COMMAND --help” does.",
	.options = help_options,
	.run = help_run,
};
