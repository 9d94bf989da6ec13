#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/language.h"
#include "cli/terminal.h"

enum {
	OPTION_COLUMN = 26,
	NARROW = 60,
	NARROW_COLUMN = 8,
	SCREEN_LINES = 40,
	USUAL_COLUMNS = 80,
	MAX_HELP = 1 << 20
};

/* Returns the column of the options' help text; a longer option has a line of its own. */
static size_t option_column(size_t columns)
{
	return columns < NARROW ? NARROW_COLUMN : OPTION_COLUMN;
}

/* Writes " -j, --workers N", padded to the column of the help text. */
static void option_head(struct buf *buf, const struct cli_option *option, size_t columns)
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
		buf_add(buf, "%s\n%*s", head, column, "");
	else
		buf_add(buf, "%-*s", column, head);
}

static void option_list(struct buf *buf, const struct cli_option *options, size_t columns, bool all)
{
	for (; options && options->name; options++) {
		if (options->title && all)
			buf_add(buf, "\n%s:\n", language_text(options->title));
		if (options->title || options->hidden || (options->rare && !all))
			continue;
		option_head(buf, options, columns);
		terminal_wrap(buf, language_text(options->help), option_column(columns), columns);
		buf_add(buf, "\n");
	}
}

/* Lists the options. If a command's own options have headings, the common ones have one, too. */
static void option_lists(struct buf *buf, const struct cli_option *own, size_t columns, bool all)
{
	const bool grouped = all && options_grouped(own);

	if (!grouped)
		buf_add(buf, "\n%s\n", language_text("Options:"));
	option_list(buf, own, columns, all);
	if (grouped)
		buf_add(buf, "\n%s:\n", language_text(options_common_title));
	option_list(buf, options_common, columns, all);
}

static void usage_line(struct buf *buf, const char *name, const char *rest, size_t columns)
{
	enum { MOST = 256 };
	const char *head = language_text("Usage: ");
	char usage[MOST];

	(void)snprintf(usage, MOST, "jitwarm %s%s%s", name, *name ? " " : "", rest);
	buf_add(buf, "%s", head);
	terminal_wrap(buf, usage, terminal_width(head), columns);
	buf_add(buf, "\n\n");
}

/* Lists commands, each on one line, whatever the width: they are copied. */
static void example_list(struct buf *buf, const char *lines)
{
	if (!lines)
		return;
	buf_add(buf, "\n%s\n", language_text("Examples:"));
	for (const char *at = lines; *at; at += strcspn(at, "\n") + 1)
		buf_add(buf, "  %.*s\n", (int)strcspn(at, "\n"), at);
}

/* Returns the last paragraph of the translated description if it is about the exit status, which
 * the English one tells; else NULL. */
static const char *exit_paragraph(const struct cli_command *command)
{
	static const char gap[] = "\n\n";
	const char *english = strstr(command->description, "\n\nExit status: "),
			   *text = language_text(command->description);

	for (const char *at = command->description; english && text && at <= english;
		 at = strstr(at, gap) + strlen(gap))
		if ((text = strstr(text, gap)))
			text += strlen(gap);
	return english ? text : NULL;
}

static void write_help(struct buf *buf, const struct cli_command *command, size_t columns, bool all)
{
	const char *description = language_text(command->description),
			   *end = strstr(description, "\n\n"), *status = exit_paragraph(command);
	struct buf shown = BUF_MAX(MAX_HELP);

	usage_line(buf, command->name, command->usage, columns);
	/* the first paragraph and that of the exit status, or all of them */
	(void)buf_append(NULL, &shown, description,
					 end && !all ? (size_t)(end - description) : strlen(description));
	if (!all && status)
		buf_add(&shown, "\n\n%s", status);
	terminal_wrap(buf, buf_text(&shown), 0, columns);
	buf_add(buf, "\n");
	buf_free(&shown);
	option_lists(buf, command->options, columns, all);
	example_list(buf, command->examples);
}

void help_command(struct buf *buf, const struct cli_command *command, size_t columns, bool all)
{
	struct buf whole = BUF_MAX(MAX_HELP);
	size_t lines = 0;

	write_help(&whole, command, USUAL_COLUMNS, true);
	for (size_t i = 0; i < whole.size; i++)
		lines += whole.data[i] == '\n';
	buf_free(&whole);
	all = all || lines <= SCREEN_LINES;
	write_help(buf, command, columns, all);
	if (all)
		return;
	buf_add(buf, "\n");
	terminal_wrap(buf, language_text("All options and details:"), 0, columns);
	buf_add(buf, "\n  jitwarm %s --help --all\n", command->name);
}

/* The groups of commands, each with a line in the list. */
static const struct {
	const char *name, *summary;
} groups[] = {
	{"cache", "List, check or clear the entries of the driver's cache"},
	{"key", "Make keys that sign packs, and choose whose packs are accepted"},
	{"startup", "Prime automatically after logon, and when packages change"},
	{"store", "List or clear the packs in which “jitwarm prime” keeps results"},
};

static const char *group_summary(const char *word)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (!strcmp(groups[i].name, word))
			return groups[i].summary;
	return NULL;
}

/* The groups of the list, each by its first command; the README's five come first. */
static const struct {
	const char *name, *title;
} sections[] = {
	{.name = "status", .title = "The five that most people need"},
	{.name = "scan", .title = "To find out more"},
	{.name = "make", .title = "For other machines, and in packages"},
	{.name = "export", .title = "To share results"},
	{.name = "cache list", .title = "Upkeep"},
};

static const char *section_title(const struct cli_command *command)
{
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (!strcmp(sections[i].name, command->name))
			return sections[i].title;
	return NULL;
}

static void command_row(struct buf *buf, const char *name, const char *summary, size_t columns)
{
	enum { COLUMN = 18 };

	buf_add(buf, "  %-*s", COLUMN - 2, name);
	terminal_wrap(buf, language_text(summary), COLUMN, columns);
	buf_add(buf, "\n");
}

/* Writes a command's line; in the short list the first command of a group stands for the group. */
static void command_in_list(struct buf *buf, const struct cli_command *const *commands,
							const struct cli_command *command, size_t columns)
{
	const char *space = strchr(command->name, ' '), *summary;
	char word[32];

	(void)snprintf(word, sizeof word, "%.*s", (int)strcspn(command->name, " "), command->name);
	summary = group_summary(word);
	if (!space || (!summary && commands_is_group(commands, word)))
		command_row(buf, command->name, command->summary, columns);
	if (!space || !summary)
		return;
	while (!command_in_group(*commands, word))
		commands++;
	if (*commands == command)
		command_row(buf, word, summary, columns);
}

void help_commands(struct buf *buf, const struct cli_command *const *commands, const char *group,
				   size_t columns, bool all)
{
	static const char introduction[] =
		"Warms the NVIDIA driver's JIT cache, so that the first start of a GPU program is as fast "
		"as the second.";
	static const char closing[] =
		"Without a command jitwarm shows the status. “jitwarm COMMAND --help” tells more about a "
		"command, and “jitwarm --version” shows how this program was built.\n\nExit status: 0 "
		"done, or warm · 1 cold, or a part is left undone · 2 cannot help, and says why · 3 failed "
		"· 64 wrong usage · 130 ended by Ctrl-C.";

	usage_line(buf, group ? group : "", "COMMAND [OPTION]… [ARGUMENT]…", columns);
	if (!group) {
		terminal_wrap(buf, language_text(introduction), 0, columns);
		buf_add(buf, "\n\n");
	}
	if (group || all)
		buf_add(buf, "%s\n", language_text("Commands:"));
	for (size_t i = 0; commands[i]; i++) {
		const struct cli_command *command = commands[i];
		const char *title = group || all ? NULL : section_title(command);

		if (title)
			buf_add(buf, "%s%s:\n", i ? "\n" : "", language_text(title));
		if (command->hidden || (group && !command_in_group(command, group)))
			continue;
		if (all || group)
			command_row(buf, command->name, command->summary, columns);
		else
			command_in_list(buf, commands, command, columns);
	}
	if (!group) {
		buf_add(buf, "\n");
		terminal_wrap(buf, language_text(closing), 0, columns);
		buf_add(buf, "\n");
	}
}

void help_print(struct buf *text, bool for_terminal)
{
	if (for_terminal)
		terminal_to_locale(text);
	output_put(1, buf_text(text));
	buf_free(text);
}
