/* What a command of the program is. To add one: write src/cli/commands/cmd_NAME.c with a
 * `const struct cli_command command_NAME`, and its line in COMMANDS (command_table.c). */
#pragma once

#include <stdbool.h>

#include <jitwarm/cancel.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"

struct cli;
struct json_table;

struct cli_command {
	const char *name;                 /* "scan", "cache list" */
	const char *summary;              /* a line for the list of commands, no full stop */
	const char *usage;                /* what follows the name: "[OPTION]… [PATH|PACKAGE]…" */
	const char *description;          /* paragraphs, separated by an empty line; wrapped by help */
	const struct cli_option *options; /* own ones (options.h); NULL for none */
	const char *no_operands;          /* refuses operands, with this hint; NULL: takes them */
	bool hidden;                      /* not listed by help */
	/* Prints through cli->out and returns the exit status. */
	enum exit_status (*run)(struct cli *cli);
};

/* One run of one command. */
struct cli {
	const struct cli_command *const *commands; /* all of them: command_table */
	const struct cli_command *command;
	struct options options; /* options_value(&cli->options, "driver") */
	struct output out;
	char *program; /* this one's file, once cli_worker has looked */
	const char *worker[3];
};

/* The command of `commands` named by the first one or two of `count` words, and how many they were.
 * NULL where there is none. */
const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used);
/* Whether `word` is the first word of commands of two ("cache"). */
bool commands_is_group(const struct cli_command *const *commands, const char *word);
/* The first word of the command nearest to `word`, or NULL. */
const char *commands_suggest(const struct cli_command *const *commands, const char *word);

/* Reports a failure: one line on standard error, with --json also a jitwarm.error/1 document on
 * standard output (unless the command has printed its own). Returns the status to end with. */
enum exit_status cli_fail(struct cli *cli, const struct jw_error *err);
/* The same with a status of one's own (EXIT_CANNOT). */
enum exit_status cli_fail_as(struct cli *cli, enum exit_status status, const struct jw_error *err);

/* A failure of usage: the message, and where help is. */
enum exit_status cli_usage(struct cli *cli, const char *format, ...) JW_PRINTF(2, 3);
/* A failure with code `hopeless` is one that jitwarm cannot help with (EXIT_CANNOT). */
enum exit_status cli_fail_unless(struct cli *cli, enum jw_code hopeless,
								 const struct jw_error *err);
/* Prints the document (documents.h); `status`, or that of a failure to print. */
enum exit_status cli_end(struct cli *cli, enum exit_status status,
						 const struct json_table *document, const void *values);

/* For the options of long calls: Ctrl-C cancels them, once os_catch_interrupts was called. */
extern const struct jw_cancel cli_cancel;
/* The command that starts this program as a worker; it stays valid until the end. */
int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker);

/* What concerns other accounts is an administrator's: JW_ERR_IO, with what to do, for others. */
int cli_need_administrator(struct jw_error *err, const char *option);

/* Runs the command of argv (argv[0] is the program's name). */
enum exit_status cli_run(int argc, char **argv);
