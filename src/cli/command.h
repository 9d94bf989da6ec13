/* A command: its row of the table, the state of its run, and its exit status. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/verdict.h>

#include "cli/config.h"
#include "cli/options.h"
#include "cli/output.h"

/* Part of the interface (docs/man, docs/programs.md). */
enum exit_status {
	EXIT_DONE = 0,   /* done, or warm */
	EXIT_COLD = 1,   /* cold, or work is left: damage found, a link not primed */
	EXIT_CANNOT = 2, /* jitwarm cannot help, and has printed the reason */
	EXIT_FAILED = 3,
	EXIT_BAD_USAGE = 64,    /* sysexits.h: EX_USAGE */
	EXIT_INTERRUPTED = 130, /* by Ctrl-C; other such requests: os_interrupt_status */
};

/* Combines two outcomes: Ctrl-C beats usage beats 3 beats 1 beats 2 beats 0. */
enum exit_status exit_combine(enum exit_status a, enum exit_status b);

/* The status of a library's failure: usage 64, interrupted 130, others 3. */
enum exit_status exit_of(enum jw_code code);

/* The status of every command that judges whether a start compiles. */
enum exit_status exit_of_verdict(enum jw_verdict verdict);

/* The status if something could not be read: work is left, or a failure if nothing was read.
 * `images`: files and members with device code that were read. */
enum exit_status exit_of_troubles(size_t troubles, size_t images);

/* A command of the program. To add one: write src/cli/commands/cmd_NAME.c with a `const struct
 * cli_command command_NAME`, and add its line to COMMANDS (cli.c). */
struct jw_system_options;
struct cli;
struct jw_system;

struct cli_command {
	const char *name;                 /* "scan", "cache list" */
	const char *summary;              /* one line for the list of commands, without a full stop */
	const char *usage;                /* text after the name: "[OPTION]… [PATH|PACKAGE]…" */
	const char *description;          /* paragraphs, separated by an empty line; wrapped by help */
	const char *examples;             /* lines, which documents-commands runs; NULL: none */
	const struct cli_option *options; /* the command's own options (options.h); NULL: none */
	const char *choices;              /* all operands that there are, “a|b|c”; NULL: others */
	const char *no_operands;          /* refuses operands, with this hint; NULL: accepts them */
	bool
		takes_command; /* without “--” the first operand begins a command line of another program */
	bool hidden;       /* not listed by help */
	/* How the command treats places that root must stay out of (cli/root_places.h) */
	bool reads; /* without --apply, --undo, --repair: writes to its outputs and jitwarm's state
				 * alone, and goes on without the latter */
	bool sets_values; /* it only reads, but for a second operand and --unset */
	bool runs_anyway; /* without the place, as far as it gets */
	bool needs_no_place;
	/* Prints through cli->out. Returns 0: the program ends with cli->status, initially EXIT_DONE;
	 * -1: the caller reports the failure (cli_fail). */
	int (*run)(struct jw_error *err, struct cli *cli);
};

/* What a command line asks for. */
enum cli_asks { ASKS_COMMAND, ASKS_HELP, ASKS_VERSION };

/* One run of one command. */
struct cli {
	const struct cli_command *const *commands; /* all commands (cli.c) */
	enum cli_asks asks;
	const struct cli_command *command; /* NULL: help of all commands, or of a group's */
	const char *group;      /* the first word, “startup”, if the second one is missing */
	struct options options; /* options_value(&cli->options, "driver") */
	int argc;               /* the arguments behind the command's name, as they were typed */
	char **argv;
	struct config config;
	struct output out;
	/* cli_run: runs another command in this process. */
	enum exit_status (*run_other)(int argc, char **argv);
	enum exit_status status;  /* so far */
	bool stateless;           /* set by cli_forget */
	bool status_of_command;   /* that of the program that `run` has run */
	enum exit_status failure; /* status of the next failure; EXIT_DONE: by its code (exit_of) */
	struct jw_system *system; /* freed at the end, as are the next two */
	char *state;              /* set by cli_state */
	char *program;            /* this executable, set by cli_worker */
	const char *worker[3];
};

/* The command of `commands` named by the first one or two of `count` words, and the number of words
 * used. NULL if there is none. */
const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used);
/* Whether the command's name has two words and begins with `group` ("cache"). */
bool command_in_group(const struct cli_command *command, const char *group);
/* Whether any command is in that group, and none has its name (as “bake” has). */
bool commands_is_group(const struct cli_command *const *commands, const char *word);
/* Appends the second words of the commands whose first one this is: "list, verify, prune". */
void commands_list_second(struct buf *text, const struct cli_command *const *commands,
						  const char *first, size_t length);
/* The first word of the command most similar to `word`, or NULL. */
const char *commands_suggest(const struct cli_command *const *commands, const char *word);

/* Reports a failure that the command survives: prints one line on standard error, with --json also
 * a jitwarm.error/1 document on standard output (unless the command has printed its own), and
 * combines cli->status with its status. `run` returns other failures. */
void cli_fail(struct cli *cli, const struct jw_error *err);
/* A failure with code `hopeless` means that jitwarm cannot help (EXIT_CANNOT). Returns -1. */
int cli_hopeless(const struct jw_error *err, struct cli *cli, enum jw_code hopeless);
/* The failure of a command about the cache of --cache, or about the live one, where jitwarm cannot
 * help if the driver does not cache, or another account's files are in it. Returns -1. */
int cli_fail_of_cache(struct jw_error *err, struct cli *cli);
/* What the driver makes of the cache's settings, unless they make the cache useless: the caller
 * says that. */
void cli_warn_of_settings(struct cli *cli);
/* Why a warm cache does not help, or why nothing can be added to it, and what to do about it. */
void cli_warn_useless(struct cli *cli);
/* Whether earlier results come from the store, and new ones go there: the setting “store”. */
bool cli_uses_store(const struct cli *cli);
/* Combines cli->status with this one. */
void cli_end_with(struct cli *cli, enum exit_status status);

/* For the options of long calls: Ctrl-C cancels them after os_catch_interrupts. */
extern const struct jw_cancel cli_cancel;
/* The command line that starts this program as a worker; valid until the end. */
int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker);
/* Says once why jitwarm remembers nothing of this run; whether JITWARM_STATE would help. */
void cli_forget(struct cli *cli, const char *why, bool can_be_named);
/* Opens cli->system, and says if nothing can be remembered. */
int cli_open(struct jw_error *err, struct cli *cli, const struct jw_system_options *how);
/* Opens cli->system on the cache of --cache, without asking the driver. */
int cli_open_asleep(struct jw_error *err, struct cli *cli);
/* Opens cli->system on this cache (NULL: the driver's). Asks the driver once if the GPUs are
 * neither remembered nor, unless `certain`, known by their PCI device ids. */
int cli_open_asking(struct jw_error *err, struct cli *cli, const char *cache_dir, bool certain);
/* jitwarm's own folder, which a command that does not only read can write to; valid until the end.
 * NULL on failure, and for root without a state. */
const char *cli_state(struct jw_error *err, struct cli *cli);

/* Fails unless this account may change other accounts. JW_ERR_IO, with the next step. */
int cli_need_administrator(struct jw_error *err, const char *option);
