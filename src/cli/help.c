#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/examples.h"
#include "cli/language.h"
#include "cli/terminal.h"

enum {
	OPTION_COLUMN = 26,
	NARROW = 60,
	NARROW_COLUMN = 8,
	SCREEN_LINES = 40,
	USUAL_COLUMNS = 80,
	MOST_HELP = 1 << 20
};

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
					  size_t columns, bool all)
{
	if (option->title)
		return all ? buf_printf(err, buf, "\n%s:\n", language_text(option->title)) : 0;
	if (option->hidden || (option->rare && !all))
		return 0;
	return option_head(err, buf, option, columns) ||
				   terminal_wrap(err, buf, language_text(option->help), option_column(columns),
								 columns) ||
				   buf_append(err, buf, "\n", 1)
			   ? -1
			   : 0;
}

static int option_list(struct jw_error *err, struct buf *buf, const struct cli_option *options,
					   size_t columns, bool all)
{
	for (; options && options->name; options++)
		if (option_row(err, buf, options, columns, all))
			return -1;
	return 0;
}

/* Where a command's own are under headings, those of every command have one, too. */
static int option_lists(struct jw_error *err, struct buf *buf, const struct cli_option *own,
						size_t columns, bool all)
{
	const bool grouped = all && options_grouped(own);

	if ((!grouped && buf_printf(err, buf, "\n%s\n", language_text("Options:"))) ||
		option_list(err, buf, own, columns, all) ||
		(grouped && buf_printf(err, buf, "\n%s:\n", language_text(options_common_title))))
		return -1;
	return option_list(err, buf, options_common, columns, all);
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

/* The first paragraph, or all. */
static int description(struct jw_error *err, struct buf *buf, const char *text, size_t columns,
					   bool all)
{
	const char *end = all ? NULL : strstr(text, "\n\n");
	char *first = end ? mem_string_n(err, text, (size_t)(end - text)) : mem_string(err, text);
	const int failed =
		!first || terminal_wrap(err, buf, first, 0, columns) || buf_append(err, buf, "\n", 1);

	mem_free(first);
	return failed ? -1 : 0;
}

static int write_help(struct jw_error *err, struct buf *buf, const struct cli_command *command,
					  size_t columns, bool all)
{
	return usage_line(err, buf, command->name, command->usage, columns) ||
				   description(err, buf, language_text(command->description), columns, all) ||
				   option_lists(err, buf, command->options, columns, all) ||
				   example_list(err, buf, examples_of(command), columns)
			   ? -1
			   : 0;
}

int help_command(struct jw_error *err, struct buf *buf, const struct cli_command *command,
				 size_t columns, bool all)
{
	struct buf whole = BUF_MAX(MOST_HELP);
	char more[96];
	size_t lines = 0;
	int result = write_help(err, &whole, command, USUAL_COLUMNS, true);

	for (size_t i = 0; i < whole.size; i++)
		lines += whole.data[i] == '\n';
	buf_free(&whole);
	all = all || lines <= SCREEN_LINES;
	if (result || write_help(err, buf, command, columns, all))
		return -1;
	if (all)
		return 0;
	(void)snprintf(more, sizeof more, "jitwarm %s --help --all", command->name);
	return buf_append(err, buf, "\n", 1) ||
				   terminal_wrap(err, buf, language_text("All options and details:"), 0, columns) ||
				   buf_printf(err, buf, "\n  ") || terminal_wrap(err, buf, more, 4, columns) ||
				   buf_append(err, buf, "\n", 1)
			   ? -1
			   : 0;
}

/* Groups of commands, a line each in the list. */
static const struct {
	const char *name, *summary;
} groups[] = {
	{"cache", "List, check and prune the entries of the driver's cache"},
	{"key", "Make keys that sign packs, and say whose packs are accepted"},
	{"startup", "Prime automatically after logon, and when packages change"},
};

static const char *group_summary(const char *word)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (!strcmp(groups[i].name, word))
			return groups[i].summary;
	return NULL;
}

static int command_row(struct jw_error *err, struct buf *buf, const char *name, const char *summary,
					   size_t columns)
{
	enum { COLUMN = 18 };

	return buf_printf(err, buf, "  %-*s", COLUMN - 2, name) ||
				   terminal_wrap(err, buf, language_text(summary), COLUMN, columns) ||
				   buf_append(err, buf, "\n", 1)
			   ? -1
			   : 0;
}

/* In the short list the first of a group stands for it. */
static int command_in_list(struct jw_error *err, struct buf *buf,
						   const struct cli_command *const *commands,
						   const struct cli_command *command, size_t columns)
{
	const char *space = strchr(command->name, ' ');
	char word[32];

	if (!space)
		return command_row(err, buf, command->name, command->summary, columns);
	(void)snprintf(word, sizeof word, "%.*s", (int)(space - command->name), command->name);
	if (!group_summary(word))
		return commands_is_group(commands, word)
				   ? command_row(err, buf, command->name, command->summary, columns)
				   : 0;
	while (!command_in_group(*commands, word))
		commands++;
	return *commands == command ? command_row(err, buf, word, group_summary(word), columns) : 0;
}

static int command_list(struct jw_error *err, struct buf *buf,
						const struct cli_command *const *commands, const char *group,
						size_t columns, bool all)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct cli_command *command = commands[i];
		const bool listed = !command->hidden && (!group || command_in_group(command, group));

		if (listed &&
			(all || group ? command_row(err, buf, command->name, command->summary, columns)
						  : command_in_list(err, buf, commands, command, columns)))
			return -1;
	}
	return 0;
}

int help_commands(struct jw_error *err, struct buf *buf, const struct cli_command *const *commands,
				  const char *group, size_t columns, bool all)
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
		command_list(err, buf, commands, group, columns, all))
		return -1;
	if (!group && (buf_append(err, buf, "\n", 1) ||
				   terminal_wrap(err, buf, language_text(closing), 0, columns) ||
				   buf_append(err, buf, "\n", 1)))
		return -1;
	return 0;
}
