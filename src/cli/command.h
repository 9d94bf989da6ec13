/* A command of the program. To add one: write src/cli/commands/cmd_NAME.c with a
 * `const struct cli_command command_NAME`, and its line in COMMANDS (command_table.c). */
#pragma once

#include <stdbool.h>

#include <jitwarm/cancel.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"

struct cli;
struct jw_system;

struct cli_command {
	const char *name;                 /* "scan", "cache list" */
	const char *summary;              /* a line for the list of commands, no full stop */
	const char *usage;                /* what follows the name: "[OPTION]… [PATH|PACKAGE]…" */
	const char *description;          /* paragraphs, separated by an empty line; wrapped by help */
	const struct cli_option *options; /* own ones (options.h); NULL for none */
	const char *no_operands;          /* refuses operands, with this hint; NULL: takes them */
	bool hidden;                      /* not listed by help */
	/* Prints through cli->out. 0: the program ends with cli->status, which begins as EXIT_DONE; -1:
	 * the failure is reported (cli_fail). */
	int (*run)(struct jw_error *err, struct cli *cli);
};

/* One run of one command. */
struct cli {
	const struct cli_command *const *commands; /* all of them: command_table */
	const struct cli_command *command;
	struct options options; /* options_value(&cli->options, "driver") */
	struct output out;
	enum exit_status status;  /* so far */
	enum exit_status failure; /* of the next failure; EXIT_DONE: by its code (exit_of) */
	struct jw_system *system; /* freed at the end, as are the next two */
	char *state;              /* once cli_state has looked */
	char *program;            /* this one's file, once cli_worker has looked */
	const char *worker[3];
};

/* The command of `commands` named by the first one or two of `count` words, and how many they were.
 * NULL where there is none. */
const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used);
/* Whether the command's name has two words, of which `group` is the first ("cache"). */
bool command_in_group(const struct cli_command *command, const char *group);
/* Whether any command is in that group. */
bool commands_is_group(const struct cli_command *const *commands, const char *word);
/* The first word of the command nearest to `word`, or NULL. */
const char *commands_suggest(const struct cli_command *const *commands, const char *word);

/* Reports a failure, and combines cli->status with its status: one line on standard error, with
 * --json also a jitwarm.error/1 document on standard output (unless the command has printed its
 * own). For failures after which a command goes on; the others are returned by `run`. */
void cli_fail(struct cli *cli, const struct jw_error *err);
/* A failure with code `hopeless` is one that jitwarm cannot help with (EXIT_CANNOT). Returns -1. */
int cli_hopeless(const struct jw_error *err, struct cli *cli, enum jw_code hopeless);
/* Combines cli->status with this one. */
void cli_end_with(struct cli *cli, enum exit_status status);

/* For the options of long calls: Ctrl-C cancels them, once os_catch_interrupts was called. */
extern const struct jw_cancel cli_cancel;
/* The command that starts this program as a worker; it stays valid until the end. */
int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker);
/* Opens cli->system on the cache of --cache, without asking the driver. */
int cli_open_asleep(struct jw_error *err, struct cli *cli);
/* On this cache (NULL: the driver's), and asks the driver once where the GPUs are not known without
 * it: neither remembered nor, unless it has to be `certain`, by their PCI device ids. */
int cli_open_asking(struct jw_error *err, struct cli *cli, const char *cache_dir, bool certain);
/* jitwarm's own folder; it stays valid until the end. NULL on failure. */
const char *cli_state(struct jw_error *err, struct cli *cli);

/* Only an administrator changes other accounts. JW_ERR_IO, with the next step, for others. */
int cli_need_administrator(struct jw_error *err, const char *option);

/* Runs the command of argv (argv[0] is the program's name). */
enum exit_status cli_run(int argc, char **argv);
