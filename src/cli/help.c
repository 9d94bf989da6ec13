#include "cli/help.h"

#include <stdio.h>

#include "cli/terminal.h"
#include "os/console.h"

enum { WIDEST = 100, NARROWEST = 40, OPTION_COLUMN = 26 };

size_t help_columns(void)
{
	size_t columns = os_terminal_columns(1);

	return columns > WIDEST ? WIDEST : columns < NARROWEST ? NARROWEST : columns;
}

/* "  -j, --workers N" filled up to where the help text begins. */
static int option_head(struct jw_error *err, struct buf *buf, const struct cli_option *option)
{
	char head[96];
	char letter[8] = "    ";
	int length;

	if (option->letter)
		(void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
	length = snprintf(head, sizeof head, "  %s--%s%s%s", letter, option->name,
					  option->value ? " " : "", option->value ? option->value : "");
	if (length + 2 > OPTION_COLUMN)
		return buf_printf(err, buf, "%s\n%*s", head, OPTION_COLUMN, "");
	return buf_printf(err, buf, "%-*s", OPTION_COLUMN, head);
}

static int option_list(struct jw_error *err, struct buf *buf, const struct cli_option *options,
					   size_t columns)
{
	for (; options && options->name; options++)
		if (!options->hidden && (option_head(err, buf, options) ||
								 terminal_wrap(err, buf, options->help, OPTION_COLUMN, columns) ||
								 buf_append(err, buf, "\n", 1)))
			return -1;
	return 0;
}

int help_command(struct jw_error *err, struct buf *buf, const struct cli_command *command,
				 size_t columns)
{
	if (buf_printf(err, buf, "Usage: jitwarm %s %s\n\n", command->name, command->usage) ||
		terminal_wrap(err, buf, command->description, 0, columns) ||
		buf_printf(err, buf, "\n\nOptions:\n") ||
		option_list(err, buf, command->options, columns) ||
		option_list(err, buf, options_common, columns))
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
			 terminal_wrap(err, buf, command->summary, COLUMN, columns) ||
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
		"\nWithout a command jitwarm shows the status. “jitwarm COMMAND --help” tells more about a "
		"command, “jitwarm --version” what this program was built with.\n\n"
		"Exit status: 0 done, or warm · 1 cold, or a part is left undone · 2 cannot help, and says "
		"why · 3 failed · 64 wrong usage.";

	if (buf_printf(err, buf, "Usage: jitwarm %s%sCOMMAND [OPTION]… [ARGUMENT]…\n\n",
				   group ? group : "", group ? " " : ""))
		return -1;
	if (!group &&
		(terminal_wrap(err, buf, introduction, 0, columns) || buf_append(err, buf, "\n\n", 2)))
		return -1;
	if (buf_printf(err, buf, "Commands:\n") || command_list(err, buf, commands, group, columns))
		return -1;
	if (!group && (terminal_wrap(err, buf, closing, 0, columns) || buf_append(err, buf, "\n", 1)))
		return -1;
	return 0;
}
