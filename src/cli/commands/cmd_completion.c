/* jitwarm completion, and jitwarm complete, which a shell runs to get the candidates. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/target.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "completion_bash.h"
#include "completion_fish.h"
#include "completion_powershell.h"
#include "completion_zsh.h"

enum { MAX_CANDIDATES = 16 << 20 };
static const uint16_t newest_sm = 200;

/* ---- candidates */

/* The word that is being completed, and its candidates. */
struct completion {
	const char *word; /* the part that is completed: the value of “--option=” */
	const char *head; /* the text before that part, "" or "--option=" */
	size_t head_length;
	struct buf text;
};

/* Returns whether a candidate can do no harm: a shell puts it into its command line as it is, and a
 * name from a file must not become a command. */
static bool is_harmless(const char *candidate, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+=:",
					candidate[i]))
			return false;
	return true;
}

/* Adds a candidate if the word is its beginning. */
static void offer_candidate(struct completion *completion, const char *candidate, size_t length,
							const char *about)
{
	const size_t begun = strlen(completion->word);

	if (length < begun || memcmp(candidate, completion->word, begun) != 0 ||
		!is_harmless(candidate, length))
		return;
	buf_add(&completion->text, "%.*s%.*s\t", (int)completion->head_length, completion->head,
			(int)length, candidate);
	terminal_append(&completion->text, about);
	buf_add(&completion->text, "\n");
}

/* Offers the parts of "bash|zsh|fish". */
static void offer_choices(struct completion *completion, const char *choices)
{
	while (*choices) {
		const size_t length = strcspn(choices, "|");

		offer_candidate(completion, choices, length, "");
		choices += length + (choices[length] == '|');
	}
}

/* Leaves files to the shell, which knows them better. */
static void offer_files(struct completion *completion, bool folders)
{
	buf_add(&completion->text, "%s", folders ? ":folders\n" : ":files\n");
}

static void offer_gpus(struct completion *completion)
{
	char name[JW_TARGET_TEXT];

	offer_choices(completion, "native|all");
	for (uint16_t sm = 0; sm < newest_sm; sm++) {
		const struct jw_target target = {.sm = sm};
		const char *products = jw_target_products(target);

		if (*products)
			offer_candidate(completion, jw_target_sm(name, target), strlen(name), products);
	}
}

/* Offers the packages of the active environment that may hold device code. */
static void offer_packages(struct completion *completion)
{
	const struct jw_find_options all = {0};
	struct jw_error why;
	struct jw_found *found;
	const char *last = "";

	if (jw_find(&why, &all, &found))
		return;
	for (size_t i = 0; i < found->file_count; i++) {
		const char *package = found->files[i].package;

		if (!package || !strcmp(package, last))
			continue;
		offer_candidate(completion, package, strlen(package),
						found->files[i].version ? found->files[i].version : "");
		last = package;
	}
	jw_result_free(found);
}

/* Offers candidates for a name in the help: "PATH|PACKAGE", "DIR". */
static void offer_what(struct completion *completion, const char *names)
{
	if (strstr(names, "PACKAGE"))
		offer_packages(completion);
	if (strstr(names, "PATH") || strstr(names, "FILE") || strstr(names, "PACK"))
		offer_files(completion, false);
	else if (strstr(names, "DIR"))
		offer_files(completion, true);
	if (!strcmp(names, "GPU") || !strcmp(names, "SM"))
		offer_gpus(completion);
}

static void offer_options(struct completion *completion, const struct cli_option *table)
{
	char text[TEXT_SHORT];

	for (; table && table->name; table++)
		if (!table->hidden) {
			const int length = snprintf(text, sizeof text, "--%s", table->name);

			offer_candidate(completion, text, (size_t)length, table->help);
		}
}

/* Returns whether an earlier command begins with the same word. */
static bool is_listed_before(const struct cli_command *const *commands, size_t i, size_t length)
{
	for (size_t k = 0; k < i; k++)
		if (!strncmp(commands[k]->name, commands[i]->name, length) &&
			(commands[k]->name[length] == ' ' || !commands[k]->name[length]))
			return true;
	return false;
}

/* Offers commands, or, with `group`, the second words of its commands; each word once. */
static void offer_commands(struct completion *completion, const struct cli_command *const *commands,
						   const char *group)
{
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name, *second = strchr(name, ' ');
		const size_t first = strcspn(name, " ");
		struct buf words = BUF_MAX(200);

		if (commands[i]->hidden || (group && !command_in_group(commands[i], group)))
			continue;
		commands_list_second(&words, commands, name, first);
		if (group)
			offer_candidate(completion, second + 1, strlen(second + 1), commands[i]->summary);
		else if (!is_listed_before(commands, i, first))
			offer_candidate(completion, name, first,
							second ? buf_text(&words) : commands[i]->summary);
		buf_free(&words);
	}
}

/* ---- the place of the word */

static const struct cli_option *option_named(const struct cli_option *table, const char *name,
											 size_t length)
{
	for (; table && table->name; table++)
		if (strlen(table->name) == length && !strncmp(table->name, name, length))
			return table;
	return NULL;
}

/* Returns the option whose value the word is: "--target", "-o"; NULL for others. */
static const struct cli_option *option_that_waits(const struct cli_option *table, const char *word)
{
	if (text_starts(word, "--")) {
		const struct cli_option *option = option_named(table, word + 2, strlen(word + 2));

		return option && option->value ? option : NULL;
	}
	for (; word[0] == '-' && word[1] && !word[2] && table && table->name; table++)
		if (table->letter == word[1])
			return table->value ? table : NULL;
	return NULL;
}

/* Completes the last of `count` words after the command's name. */
static void complete_of_command(struct completion *completion, const struct cli_command *command,
								const char *const *words, size_t count)
{
	const char *word = completion->word, *equals = strchr(word, '=');
	const struct cli_option *option = NULL;

	for (size_t i = 0; i + 1 < count; i++)
		if (!strcmp(words[i], "--")) {
			offer_files(completion, false);
			return;
		}
	if (count > 1)
		option = option_that_waits(command->options, words[count - 2]);
	if (!option && text_starts(word, "--") && equals) {
		option = option_named(command->options, word + 2, (size_t)(equals - word) - 2);
		completion->head = word;
		completion->head_length = (size_t)(equals + 1 - word);
		completion->word = equals + 1;
		if (!option || !option->value)
			return;
	}
	if (option && option->choices)
		offer_choices(completion, option->choices);
	else if (option)
		offer_what(completion, option->value);
	else if (*word == '-') {
		offer_options(completion, command->options);
		offer_options(completion, options_common);
	} else if (command->choices)
		offer_choices(completion, command->choices);
	else
		offer_what(completion, command->usage);
}

static size_t names_before_options(const char *const *words, size_t count)
{
	size_t names = 0;

	while (names < count && words[names][0] != '-')
		names++;
	return names;
}

static int complete_run(struct jw_error *err, struct cli *cli)
{
	const char *const *words = (const char *const *)cli->options.operands;
	size_t count = cli->options.operand_count, used = 0;
	const bool help = count > 1 && !strcmp(words[0], "help");
	bool lacking;
	const struct cli_command *command = NULL;
	struct completion completion = {.head = "", .text = BUF_MAX(MAX_CANDIDATES)};

	(void)err;
	language_close();
	if (!count)
		return 0;
	words += help;
	count -= help;
	completion.word = words[count - 1];
	if (count > 1)
		command =
			commands_find(cli->commands, words, names_before_options(words, count - 1), &used);
	if (command && !help)
		complete_of_command(&completion, command, words + used, count - used);
	else if (!command && count == 1 && *completion.word == '-')
		offer_options(&completion, options_common);
	else if (!command && count == 1)
		offer_commands(&completion, cli->commands, NULL);
	else if (!command && count == 2)
		offer_commands(&completion, cli->commands, words[0]);
	lacking = completion.text.overflowed;
	if (!lacking)
		output_text(&cli->out, buf_text(&completion.text));
	buf_free(&completion.text);
	return 0;
}

const struct cli_command command_complete = {
	.name = "complete",
	.summary = "Print completions for a command line",
	.usage = "-- [WORD]…",
	.description =
		"Prints completions for the last word of a command line, each with a tab and a "
		"description.\n\nThe arguments are the words that follow “jitwarm” on the command line. "
		"“:files” or “:folders” tells the shell to complete names of files or folders. The scripts "
		"that “jitwarm completion” prints run this command.",
	.hidden = true,
	.needs_no_place = true,
	.run = complete_run,
};

/* ---- the scripts */

static int completion_run(struct jw_error *err, struct cli *cli)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = {{"bash", completion_bash},
				   {"zsh", completion_zsh},
				   {"fish", completion_fish},
				   {"powershell", completion_powershell}};
	const struct options *options = &cli->options;

	for (size_t i = 0; options->operand_count == 1 && i < sizeof scripts / sizeof *scripts; i++)
		if (!strcmp(options->operands[0], scripts[i].shell)) {
			output_text(&cli->out, scripts[i].script);
			return document_print(&cli->out, &document_text,
								  &(struct text_document){scripts[i].script});
		}
	return error_set(err, JW_ERR_USAGE, "name one shell: bash, zsh, fish or powershell");
}

const struct cli_command command_completion = {
	.name = "completion",
	.summary = "Print the script that completes command lines in a shell",
	.usage = "bash|zsh|fish|powershell",
	.choices = "bash|zsh|fish|powershell",
	.description =
		"Prints the script with which a shell completes jitwarm's commands, options, packages, "
		"GPUs and files.\n\nTo load it in every shell, add “eval \"$(jitwarm completion bash)\"” "
		"to ~/.bashrc; “source <(jitwarm completion zsh)” to ~/.zshrc, after compinit; “jitwarm "
		"completion fish | source” to ~/.config/fish/config.fish; “jitwarm completion powershell | "
		"Out-String | Invoke-Expression” to PowerShell's $PROFILE.",
	.examples = "jitwarm completion bash\n",
	.needs_no_place = true,
	.run = completion_run,
};
