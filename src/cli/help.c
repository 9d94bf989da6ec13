#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/examples.h"
#include "cli/language.h"
#include "cli/terminal.h"

enum { OPTION_COLUMN = 26, NARROW = 60, NARROW_COLUMN = 8 };

/* The column of the options' help text; on a line of its own if an option is too long. */
static size_t option_column(size_t columns)
{
	return columns < NARROW ? NARROW_COLUMN : OPTION_COLUMN;
}

/* "  -j, --workers N", padded to the column of the help text. */
static int option_head(struct jw_error *err, struct buf *buf, const struct cli_option *option,
					   size_t columns)
{
	char head[96];
	char letter[8] = "    ";
	const int column = (int)option_column(columns);
	int length;

	if (option->letter)
		(void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
	length = snprintf(head, sizeof head, "  %s--%s%s%s", letter, option->name,
					  option->value ? " " : "", option->value ? option->value : "");
	if (length + 2 > column)
		return buf_printf(err, buf, "%s\n%*s", head, column, "");
	return buf_printf(err, buf, "%-*s", column, head);
}

static int option_row(struct jw_error *err, struct buf *buf, const struct cli_option *option,
					  size_t columns)
{
	if (option->title)
		return buf_printf(err, buf, "\n%s:\n", language_text(option->title));
	if (option->hidden)
		return 0;
	return option_head(err, buf, option, columns) ||
				   terminal_wrap(err, buf, language_text(option->help), option_column(columns),
								 columns) ||
				   buf_append(err, buf, "\n", 1)
			   ? -1
			   : 0;
}

static int option_list(struct jw_error *err, struct buf *buf, const struct cli_option *options,
					   size_t columns)
{
	for (; options && options->name; options++)
		if (option_row(err, buf, options, columns))
			return -1;
	return 0;
}

/* Where a command's own are under headings, those of every command have one, too. */
static int option_lists(struct jw_error *err, struct buf *buf, const struct cli_option *own,
						size_t columns)
{
	const bool grouped = options_grouped(own);

	if ((!grouped && buf_printf(err, buf, "\n%s\n", language_text("Options:"))) ||
		option_list(err, buf, own, columns) ||
		(grouped && buf_printf(err, buf, "\n%s:\n", language_text(options_common_title))))
		return -1;
	return option_list(err, buf, options_common, columns);
}

static int usage_line(struct jw_error *err, struct buf *buf, const char *name, const char *rest,
					  size_t columns)
{
	enum { MOST = 256 };
	const char *head = language_text("Usage: ");
	char usage[MOST];

	(void)snprintf(usage, MOST, "jitwarm %s%s%s", name, *name ? " " : "", rest);
	return buf_printf(err, buf, "%s", head) ||
				   terminal_wrap(err, buf, usage, terminal_width(head), columns) ||
				   buf_append(err, buf, "\n\n", 2)
			   ? -1
			   : 0;
}

static int example_list(struct jw_error *err, struct buf *buf, const char *lines, size_t columns)
{
	enum { INDENT = 2, MOST = 128 };

	if (!*lines)
		return 0;
	if (buf_printf(err, buf, "\n%s\n", language_text("Examples:")))
		return -1;
	for (const char *at = lines; *at; at += strcspn(at, "\n") + 1) {
		char line[MOST];

		(void)snprintf(line, MOST, "%.*s", (int)strcspn(at, "\n"), at);
		if (buf_printf(err, buf, "%*s", INDENT, "") ||
			terminal_wrap(err, buf, line, (size_t)2 * INDENT, columns) ||
			buf_append(err, buf, "\n", 1))
			return -1;
	}
	return 0;
}

int help_command(struct jw_error *err, struct buf *buf, const struct cli_command *command,
				 size_t columns)
{
	if (usage_line(err, buf, command->name, command->usage, columns) ||
		terminal_wrap(err, buf, language_text(command->description), 0, columns) ||
		buf_append(err, buf, "\n", 1) || option_lists(err, buf, command->options, columns) ||
		example_list(err, buf, examples_of(command), columns))
		return -1;
	return 0;
}

static int command_list(struct jw_error *err, struct buf *buf,
						const struct cli_command *const *commands, const char *group,
						size_t columns)
{
	enum { COLUMN = 18 };

	for (; *commands; commands++) {
		const struct cli_command *command = *commands;

		if (!command->hidden && (!group || command_in_group(command, group)) &&
			(buf_printf(err, buf, "  %-*s", COLUMN - 2, command->name) ||
			 terminal_wrap(err, buf, language_text(command->summary), COLUMN, columns) ||
			 buf_append(err, buf, "\n", 1)))
			return -1;
	}
	return 0;
}

int help_commands(struct jw_error *err, struct buf *buf, const struct cli_command *const *commands,
				  const char *group, size_t columns)
{
	static const char introduction[] =
		"Warms the NVIDIA driver's JIT cache, so that the first start of a GPU program is as fast "
		"as the second.";
	static const char closing[] =
		"Without a command jitwarm shows the status. “jitwarm COMMAND --help” tells more about a "
		"command, “jitwarm --version” what this program was built with.\n\n"
		"Exit status: 0 done, or warm · 1 cold, or a part is left undone · 2 cannot help, and says "
		"why · 3 failed · 64 wrong usage.";

	if (usage_line(err, buf, group ? group : "", "COMMAND [OPTION]… [ARGUMENT]…", columns))
		return -1;
	if (!group && (terminal_wrap(err, buf, language_text(introduction), 0, columns) ||
				   buf_append(err, buf, "\n\n", 2)))
		return -1;
	if (buf_printf(err, buf, "%s\n", language_text("Commands:")) ||
		command_list(err, buf, commands, group, columns))
		return -1;
	if (!group && (buf_append(err, buf, "\n", 1) ||
				   terminal_wrap(err, buf, language_text(closing), 0, columns) ||
				   buf_append(err, buf, "\n", 1)))
		return -1;
	return 0;
}
