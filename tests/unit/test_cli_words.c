/* Each row of data/words.tsv leads to something that jitwarm has, and lines without a command are
 * answered by rows, or with the nearest command. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/words.h"
#include "os/shell.h"

static const struct cli_command *command_called(const char *name, size_t length)
{
	for (size_t i = 0; cli_commands[i]; i++)
		if (strlen(cli_commands[i]->name) == length && !memcmp(cli_commands[i]->name, name, length))
			return cli_commands[i];
	return NULL;
}

/* Returns the option of a command, or of any command (NULL), with this name. */
static const struct cli_option *option_called(const struct cli_command *command, const char *name)
{
	for (size_t i = 0; cli_commands[i]; i++)
		for (const struct cli_option *option = cli_commands[i]->options;
			 (!command || command == cli_commands[i]) && option && option->name; option++)
			if (!option->hidden && !strcmp(option->name, name))
				return option;
	return NULL;
}

static bool has_choice(const char *choices, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = choices; at && *at; at += strcspn(at, "|"), at += *at == '|')
		if (strcspn(at, "|") == length && !memcmp(at, word, length))
			return true;
	return false;
}

TEST(commands_lead_to_commands)
{
	const struct word *row;

	for (size_t at = 0; (row = words_next("command", &at));) {
		const char *means = row->means[0], *dashes = strstr(means, " --");
		const struct cli_command *command =
			command_called(means, dashes ? (size_t)(dashes - means) : strlen(means));
		char option[64] = "", value[64] = "";
		const struct cli_option *has;

		if (command_called(row->typed, strlen(row->typed)))
			fail_msg("“%s” is a command itself", row->typed);
		if (!command || command->hidden)
			fail_msg("“%s”: there is no command “%s”", row->typed, means);
		if (!dashes)
			continue;
		(void)sscanf(dashes + 3, "%63s %63s", option, value);
		has = option_called(command, option);
		if (!has || (*value ? !has_choice(has->choices, value) : has->kind != OPTION_FLAG))
			fail_msg("“%s”: “%s” has no “%s”", row->typed, command->name, dashes + 1);
	}
}

TEST(options_lead_to_options)
{
	const struct word *row;

	for (size_t at = 0; (row = words_next("option", &at));)
		if (!option_called(NULL, row->means[0]))
			fail_msg("--%s: no command has --%s", row->typed, row->means[0]);
}

TEST(values_lead_to_values)
{
	const struct word *row;

	for (size_t at = 0; (row = words_next("choice", &at));) {
		bool found = false;

		for (size_t i = 0; cli_commands[i]; i++)
			for (const struct cli_option *option = cli_commands[i]->options; option && option->name;
				 option++) {
				found = found || has_choice(option->choices, row->means[0]);
				if (has_choice(option->choices, row->typed))
					fail_msg("“%s” is a value of --%s itself", row->typed, option->name);
			}
		if (!found)
			fail_msg("“%s”: no option takes “%s”", row->typed, row->means[0]);
	}
}

TEST(options_of_pip_are_named)
{
	const struct cli_command *const which = command_called("which", strlen("which"));
	const struct word *row;

	for (size_t at = 0; (row = words_next("pip", &at));) {
		char typed[64], value[] = "x", *argv[2] = {typed, value};
		const char *const variable = row->means[0];
		struct options options;

		(void)snprintf(typed, sizeof typed, "%s%s", strlen(row->typed) > 1 ? "--" : "-",
					   row->typed);
		GIVES(JW_ERR_USAGE, options_read(why, which->options, false, 2, argv, &options));
		if (!strstr(why->message, typed) || !strstr(why->message, " is an option of pip") ||
			!strstr(why->message, variable ? variable : "leave it out"))
			fail_msg("%s: “%s”", typed, why->message);
		options_free(&options);
	}
}

#define SLOW                                                                                       \
	"to find out why a start is slow, run “jitwarm doctor”; to look at a running process, "    \
	"“jitwarm watch PID”"

TEST(lines_without_a_command_are_answered)
{
	static const struct {
		const char *words[12]; /* a name that has a quoted word for a shell of Windows: `quoted` */
		const char *answer, *quoted;
	} cases[] = {
		{{"prmie"}, "“prmie” (did you mean “prime”?)", NULL},
		{{"chekc", "torch", "rtx5090"}, "“chekc” (did you mean “check”?)", NULL},
		{{"PRIME"}, "(did you mean “prime”?)", NULL},
		{{"install", "frame"}, "“install” (did you mean “prime”?)", NULL},
		{{"Docker"}, "(did you mean “tune --print docker”?)", NULL},
		{{"cache", "ls"}, "“cache ls” (did you mean “cache list”?)", NULL},
		{{"cache", "foo"}, "“cache foo”; the second word is one of: list, verify", NULL},
		{{"key"}, "“key” needs a second word: generate, trust", NULL},
		/* jitwarm never guesses a command that removes something. */
		{{"uninstal"}, "“uninstal”; to examine a file or a package, run", NULL},
		{{"mykern"}, "“jitwarm check mykern”", NULL},
		{{"torch"}, "run “jitwarm check torch”; to explain", NULL},
		{{"CUDA", "error", "209"}, "“jitwarm doctor CUDA error 209”", NULL},
		{{"rtx5090"}, "“jitwarm which --target rtx5090 PACKAGE”", NULL},
		{{"does", "torch", "2.8", "work", "on", "rtx", "5090?"},
		 "“jitwarm which --target rtx5090 torch==2.8”",
		 "torch==2.8"},
		{{"can i run pytorch on my gtx 1060"}, "“jitwarm which --target gtx1060 torch”", NULL},
		{{"what", "torch", "runs", "on", "RTX", "3070", "Ti", "Laptop", "GPU"},
		 "“jitwarm which --target RTX3070TiLaptopGPU torch”",
		 NULL},
		{{"which", "one:", "torch", "with", "rtx", "3070", "with", "xformers"},
		 "“jitwarm which --target rtx3070 torch xformers”",
		 NULL},
		{{"torch and vllm on H100"}, "“jitwarm which --target H100 torch vllm”", NULL},
		{{"install torch 2.7.1, for rtx 3070"}, "--target rtx3070 torch==2.7.1”", "torch==2.7.1"},
		{{"is torch==2.8 ok on a100"}, "--target a100 torch==2.8”", "torch==2.8"},
		{{"my start takes minutes"}, SLOW, NULL},
		{{"why", "is", "comfyui", "so", "slow?"}, SLOW, NULL},
		{{"it hangs"}, SLOW, NULL},
		{{"왜", "느려요"}, SLOW, NULL},
		{{"Stuck"}, SLOW, NULL},
		{{"how do I make comfyui start faster"}, "“jitwarm doctor ", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const *words = cases[i].words;
		struct buf answer = BUF_MAX(1000), quoted = BUF_MAX(100);
		const char *at = cases[i].answer, *part;
		size_t count = 0;

		while (words[count])
			count++;
		if (cases[i].quoted)
			shell_add_word(&quoted, cases[i].quoted);
		part = cases[i].quoted ? strstr(at, cases[i].quoted) : NULL;
		if (part)
			buf_add(&answer, "%.*s%s%s", (int)(part - at), at, buf_text(&quoted) + 1,
					part + strlen(cases[i].quoted));
		GIVES(JW_ERR_USAGE, words_refuse(why, cli_commands, words, count));
		if (!strstr(why->message, part ? buf_text(&answer) : at))
			fail_msg("“%s …”: “%s” does not say “%s”", words[0], why->message,
					 part ? buf_text(&answer) : at);
		buf_free(&answer);
		buf_free(&quoted);
	}
}

TEST(only_words_about_time_are_about_a_slow_start)
{
	static const char *const slow[] = {"it takes long", "so long!", "Slowly",     "hanging",
									   "hung",          "freezes",  "20 minutes", "오래 걸려요"},
							 *const other[] = {
								 "",         "no longer available", "longest", "unstuck",
								 "a change", "minutesman",          "belong"};

	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
		if (!words_advise_slow(slow[i]))
			fail_msg("“%s” is about a slow start", slow[i]);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (words_advise_slow(other[i]))
			fail_msg("“%s” is not about a slow start", other[i]);
}

RUN_TESTS(NULL, NULL)
