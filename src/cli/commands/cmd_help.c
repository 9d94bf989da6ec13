/* jitwarm help, and the manual pages. */
#include <jitwarm/version.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/help.h"
#include "cli/language.h"

/* Appends the text of a paragraph: a backslash becomes \e, a line never starts with a macro, and an
 * empty line starts a new paragraph. */
static void append_text(struct buf *buf, const char *text)
{
	bool line_begins = true;

	for (; *text; text++) {
		if (line_begins && (*text == '.' || *text == '\''))
			buf_add(buf, "\\&");
		line_begins = *text == '\n';
		if (*text == '\n' && text[1] == '\n') {
			buf_add(buf, "\n.Pp\n");
			text++;
		} else if (*text == '\\') {
			buf_add(buf, "\\e");
		} else {
			(void)buf_append(NULL, buf, text, 1);
		}
	}
	buf_add(buf, "\n");
}

static void append_heading(struct buf *buf, const char *title)
{
	buf_add(buf, ".Ss %s\n.Bl -tag -width Ds\n", language_text(title));
}

/* Appends a list of options; if it has headings, each begins another list. */
static void append_options(struct buf *buf, const struct cli_option *options)
{
	for (const struct cli_option *at = options; at && at->name; at++) {
		if (at->title) {
			buf_add(buf, "%s", at != options ? ".El\n" : "");
			append_heading(buf, at->title);
		}
		if (at->title || at->hidden)
			continue;
		buf_add(buf, ".It ");
		if (at->letter)
			buf_add(buf, "Fl %c , ", at->letter);
		buf_add(buf, "Fl \\-%s%s%s\n", at->name, at->value ? " Ar " : "",
				at->value ? at->value : "");
		append_text(buf, language_text(at->help));
	}
}

/* Appends the page of one command: jitwarm-NAME(1), spaces in the name as dashes. */
static void manual_page(struct buf *buf, const struct cli_command *command)
{
	const bool grouped = options_grouped(command->options);
	char dashed[64];

	text_copy(dashed, sizeof dashed, command->name);
	for (char *at = dashed; *at; at++)
		*at = (char)(*at == ' ' ? '-' : *at);
	buf_add(buf, ".Dd $Mdocdate$\n.Dt JITWARM-%s 1\n.Os jitwarm %s\n%s\n.Nm jitwarm-%s", dashed,
			jw_version(), language_text(".Sh NAME"), dashed);
	buf_add(buf, "\n.Nd %s\n%s\n.Nm jitwarm %s\n", language_text(command->summary),
			language_text(".Sh SYNOPSIS"), command->name);
	if (*command->usage)
		append_text(buf, command->usage);
	buf_add(buf, "%s\n", language_text(".Sh DESCRIPTION"));
	append_text(buf, language_text(command->description));
	buf_add(buf, "%s\n%s", language_text(".Sh OPTIONS"), grouped ? "" : ".Bl -tag -width Ds\n");
	append_options(buf, command->options);
	if (grouped) {
		buf_add(buf, ".El\n");
		append_heading(buf, options_common_title);
	}
	append_options(buf, options_common);
	buf_add(buf, ".El\n%s\n%s\n", language_text(".Sh EXIT STATUS"),
			language_text(
				"0 done, or warm; 1 cold, or a part is left undone; 2 jitwarm "
				"cannot help, and has said why; 3 failed; 64 wrong usage; 130 ended by Ctrl-C."));
	if (command->examples) {
		buf_add(buf, "%s\n.Bd -literal -offset indent\n", language_text(".Sh EXAMPLES"));
		/* Examples are copied, so hyphens and tildes have to be those of the keyboard. */
		for (const char *at = command->examples; *at; at++)
			if (*at == '-')
				buf_add(buf, "\\-");
			else if (*at == '~')
				buf_add(buf, "\\(ti");
			else
				(void)buf_append(NULL, buf, at, 1);
		buf_add(buf, ".Ed\n");
	}
	buf_add(buf, "%s\n.Xr jitwarm 1\n", language_text(".Sh SEE ALSO"));
}

enum { MAX_HELP = 1 << 20 };

static int help_for(struct jw_error *err, struct buf *buf, const struct cli *cli)
{
	const struct cli_command *const *commands = cli->commands, *command = NULL;
	const struct options *options = &cli->options;
	const bool all = options_given(options, "all"), man = options_given(options, "man");
	const char *name = options->operand_count ? options->operands[0] : NULL, *nearest;
	const char *language = options_value(options, "language");
	size_t used, columns = output_columns(1);

	if (!name && man)
		return error_set(err, JW_ERR_USAGE, "--man needs a command");
	if (name)
		command = commands_find(commands, options->operands, options->operand_count, &used);
	if (command && man) {
		/* English unless another language is named, because an installation has pages in several
		 * languages. */
		if (!language_choose(language ? language : "en"))
			return error_set(err, JW_ERR_USAGE, "--language is en or ko, not “%.20s”", language);
		manual_page(buf, command);
	} else if (command) {
		help_command(buf, command, columns, all);
	} else if (!name || commands_is_group(commands, name)) {
		help_commands(buf, commands, name, columns, all);
	} else {
		nearest = commands_suggest(commands, name);
		return error_set(err, JW_ERR_USAGE,
						 nearest ? "no command is called “%.100s” (did you mean “%s”?)"
								 : "no command is called “%.100s”: “jitwarm help” lists them",
						 name, nearest);
	}
	return 0;
}

static int help_run(struct jw_error *err, struct cli *cli)
{
	struct buf text = BUF_MAX(MAX_HELP);
	int result = help_for(err, &text, cli);

	if (!result && !cli->out.json) {
		help_print(&text, !options_given(&cli->options, "language"));
		return 0;
	}
	if (!result)
		result =
			document_print(&cli->out, &document_text, &(struct text_document){buf_text(&text)});
	buf_free(&text);
	return result;
}

static const struct cli_option help_options[] = {
	CLI_FLAG("all", "Show every command of a group, and every option of a command"),
	CLI_FLAG("man", "Print the command's manual page (mdoc), as the installation does",
			 .hidden = true),
	CLI_VALUE("language", "NAME", "With --man: the page in this language (en, ko)", .hidden = true),
	{0}};

const struct cli_command command_help = {
	.name = "help",
	.summary = "Show the commands, or the help of one command",
	.usage = "[--all] [COMMAND]",
	.description = "Shows the list of commands, or with COMMAND the help of that command.",
	.examples = "jitwarm help prime\n",
	.options = help_options,
	.needs_no_place = true,
	.run = help_run,
};
