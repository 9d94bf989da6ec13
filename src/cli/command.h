/* A command: its row of the table, the state of its run, and its exit status. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

#include "cli/config.h"
#include "cli/options.h"
#include "cli/output.h"

/* Part of the interface (docs/man, docs/programs.md). */
enum exit_status {
	EXIT_DONE = 0,   /* done, or everything is warm */
	EXIT_COLD = 1,   /* cold, or work is left: damage found, a failed link */
	EXIT_CANNOT = 2, /* jitwarm cannot help, and has printed the reason */
	EXIT_FAILED = 3,
	EXIT_BAD_USAGE = 64, /* sysexits.h: EX_USAGE */
	EXIT_INTERRUPTED =
		130, /* interrupted by Ctrl-C; os_interrupt_status has the status for other signals */
};

/* Combines two statuses: Ctrl-C comes before usage, 3, 1, 2 and 0. */
enum exit_status exit_combine(enum exit_status a, enum exit_status b);

/* Returns the status of a library's failure: 64 for usage, 130 if interrupted, 3 for others. */
enum exit_status exit_of(enum jw_code code);

/* Returns the status of a command that judges whether a start compiles. */
enum exit_status exit_of_verdict(enum jw_verdict verdict);

/* Returns the status if something could not be read: work is left, or a failure if nothing was
 * read. `images` is the number of files and members with device code that were read. */
enum exit_status exit_of_troubles(size_t troubles, size_t images);

/* A command of the program. To add one: write src/cli/commands/cmd_NAME.c with a `const struct
 * cli_command command_NAME`, and add its line to COMMANDS (cli.c). */
struct cli;

struct cli_command {
	const char *name;        /* "scan", "cache list" */
	const char *summary;     /* one line without a full stop, for the list of commands */
	const char *usage;       /* the text after the name: "[OPTION]… [PATH|PACKAGE]…" */
	const char *description; /* paragraphs, separated by an empty line; wrapped by help */
	const char *examples;    /* lines, which documents-commands runs; NULL if there are none */
	/* The command's own options (options.h); NULL if there are none. */
	const struct cli_option *options;
	const char *choices;     /* all possible operands, “a|b|c”; NULL if others are possible */
	const char *no_operands; /* refuses operands, with this hint; NULL to accept them */
	const char
		*for_operands; /* the command that takes such operands, if another one does; else NULL
						*/
	/* Without “--” the first operand begins a command line of another program. */
	bool takes_command;
	/* Three operands or more may be a text without its quotes. */
	bool reads_text;
	bool hidden;      /* not listed by help */
	unsigned columns; /* of its lines in files and pipes; 0: 80 */
	/* The command's use of places that root checks (cli/places.h): */
	bool reads; /* without --apply, --undo, --repair it writes only to its outputs and jitwarm's
				   state, and continues without the latter */
	bool sets_values; /* it only reads, except with a second operand or --unset */
	bool runs_anyway; /* it runs without the refused place, as far as possible */
	bool probes;      /* its driver writes to the cache, unless that is refused */
	bool needs_no_place;
	/* Runs the command, which prints through cli->out. Returns 0 if the program ends with
	 * cli->status, initially EXIT_DONE; -1 if the caller has to report the failure (cli_fail). */
	int (*run)(struct jw_error *err, struct cli *cli);
};

/* The request of a command line. */
enum cli_asks { ASKS_COMMAND, ASKS_HELP, ASKS_VERSION, ASKS_DRIVERS };

/* One run of one command. */
struct cli {
	const struct cli_command *const *commands; /* all commands (cli.c) */
	enum cli_asks asks;
	const struct cli_command *command; /* NULL for the help of all commands, or of a group's */
	const char *group;      /* the first word, “startup”, if the second one is missing */
	struct options options; /* options_value(&cli->options, "driver") */
	int argc;               /* the arguments after the command's name, as typed */
	char **argv;
	struct config config;
	struct gpu_names *gpu_names; /* which `out` refers to; NULL: no GPU was named */
	const char *store_folder;    /* the folder of the setting “store”, or NULL */
	bool uses_store; /* earlier results come from the store, and new ones go there: the setting */
	struct output out;
	/* cli_run, which runs another command in this process. */
	enum exit_status (*run_other)(int argc, char **argv);
	enum exit_status status; /* the status so far */
	bool stateless;          /* set by cli_forget */
	bool status_of_command;  /* the status is that of the program that `run` has run */
	/* The status of the next failure; EXIT_DONE to choose it by the code (exit_of). */
	enum exit_status failure;
	struct jw_system *system; /* freed at the end, like the next two */
	char *state;              /* set by cli_state */
	char *program;            /* this executable, set by cli_worker */
	const char *worker[3];
};

/* Returns the command that the first one or two of `count` words name, and the number of words
 * used; NULL if there is none. */
const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used);
/* Returns whether the command's name has two words and begins with `group` ("cache"). */
bool command_in_group(const struct cli_command *command, const char *group);
/* Returns whether a command is in that group, and none has its name. */
bool commands_is_group(const struct cli_command *const *commands, const char *word);
/* Appends the second words of the commands with this first word: "list, verify, clear". */
void commands_list_second(struct buf *text, const struct cli_command *const *commands,
						  const char *first, size_t length);
/* Returns the first word of the command most similar to `word`, or NULL. */
const char *commands_suggest(const struct cli_command *const *commands, const char *word);

/* Reports a failure that the command survives: prints one line on standard error, with --json also
 * a jitwarm.error/1 document on standard output (unless the command has printed its own), and
 * combines cli->status with its status. `run` returns other failures. */
void cli_fail(struct cli *cli, const struct jw_error *err);
/* Makes a failure with code `hopeless` end with EXIT_CANNOT, because jitwarm cannot help. Returns
 * -1. */
int cli_hopeless(const struct jw_error *err, struct cli *cli, enum jw_code hopeless);
/* Fails a command about the cache of --cache, or the live one; with EXIT_CANNOT if the driver does
 * not cache, or another account's files are in the cache. Returns -1. */
int cli_fail_of_cache(struct jw_error *err, struct cli *cli);
/* Warns of settings that the driver reads otherwise than the user; but not if they make the cache
 * useless, which the caller reports. */
void cli_warn_of_settings(struct cli *cli);
/* Warns why a warm cache does not help, or why nothing can be added to it, and says what to do. */
void cli_warn_useless(struct cli *cli);
/* Combines cli->status with this one. */
void cli_end_with(struct cli *cli, enum exit_status status);

/* For the options of long calls: Ctrl-C cancels them after os_catch_interrupts. */
extern const struct jw_cancel cli_cancel;
/* Finds the command line that starts this program as a worker; valid until the end. */
int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker);
/* Says once why jitwarm remembers nothing about this run, and whether JITWARM_STATE would help. */
void cli_forget(struct cli *cli, const char *why, bool can_be_named);
/* Opens cli->system, whose worker is this program, and says so if nothing can be remembered. */
int cli_open(struct jw_error *err, struct cli *cli, const struct jw_system_options *options);
/* Opens cli->system for this cache (NULL: the driver's) without starting the driver, unless `ask`
 * allows that. */
int cli_open_asleep(struct jw_error *err, struct cli *cli, const char *cache_dir, enum jw_ask ask);
/* Returns jitwarm's own folder, to which a command can write unless it only reads; valid until the
 * end. NULL on failure, and for root without a state. */
const char *cli_state(struct jw_error *err, struct cli *cli);

/* Fails unless this account may change other accounts: JW_ERR_IO, with the next step. */
int cli_need_administrator(struct jw_error *err, const char *option);
