/* The command line of one command, read by its table of options.
 *
 *     static const struct cli_option options[] = {
 *         CLI_LIST("target", "SM", "Ask about ..."),
 *         CLI_NUMBER("workers", "N", "...", .letter = 'j', .most = 1024),
 *         CLI_FLAG("modules", "..."),
 *         {0}};
 *
 * Every command also has the common options (--json, --quiet, --help). Options and operands may be
 * mixed; "--" ends the options. Help is written from the same tables (help.h). Asking for a name
 * that the table does not contain is a mistake in the program (assert). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum option_kind {
	OPTION_FLAG,     /* no value */
	OPTION_VALUE,    /* one value; the last one counts */
	OPTION_LIST,     /* repeatable; every value counts */
	OPTION_NUMBER,   /* a whole number from 0 to `most` */
	OPTION_SIZE,     /* bytes: "512M", "2G", "2 GB" */
	OPTION_DURATION, /* milliseconds: "90", "90s", "5m", "1h30m" */
};

/* The kind of thing that a value names; options_check refuses values that cannot name that. */
enum option_names {
	NAMES_OTHER,
	NAMES_FILE,             /* a file to be read; the command decides about “-” */
	NAMES_FILE_OR_NAME,     /* with a separator, the path of a file or folder */
	NAMES_FOLDER,           /* a folder; made if missing */
	NAMES_FOLDER_LATER,     /* a folder that other programs make */
	NAMES_OUTPUT,           /* a file to be written, in an existing folder */
	NAMES_LOG,              /* a file to be extended, in an existing folder */
	NAMES_OUTPUT_OR_FOLDER, /* a file to be written; a folder if it is one, or ends in a separator
							 */
	NAMES_DRIVER,           /* a driver's or CUDA version, never a file */
};

struct cli_option {
	const char *name; /* without "--"; NULL ends the table */
	char letter;      /* without "-"; 0 if there is none */
	enum option_kind kind;
	const char *value;     /* the name of the value in help: "DIR" */
	const char *help;      /* a sentence without its full stop; help wraps it */
	const char *otherwise; /* the value if it is not given; NULL for none */
	const char *choices; /* all possible values, “user|system|shell”; others are refused. NULL if
							others are possible */
	enum option_names names;
	uint64_t most;     /* for OPTION_NUMBER; 0 means the type's limit */
	uint64_t least;    /* for a number or size: refuse less */
	bool hidden;       /* not shown in help: for tests and repairs */
	bool rare;         /* shown in help only with --all, if there are many options */
	bool setting;      /* if not given, the setting of this name counts (cli/config.h) */
	bool only_setting; /* it cannot be given on the command line */
	/* Not an option, but the heading of those below it, “Where to”; NULL for options. */
	const char *title;
};

/* The macros for rows: the option's name, its value's name in help, the help text; then .letter,
 * .most, .hidden. */
#define CLI_FLAG(name_, ...)                                                                       \
	{                                                                                              \
		.name = (name_), .kind = OPTION_FLAG, .help = __VA_ARGS__                                  \
	}
#define CLI_VALUE(name_, value_, ...)    CLI_OPTION(OPTION_VALUE, name_, value_, __VA_ARGS__)
#define CLI_LIST(name_, value_, ...)     CLI_OPTION(OPTION_LIST, name_, value_, __VA_ARGS__)
#define CLI_NUMBER(name_, value_, ...)   CLI_OPTION(OPTION_NUMBER, name_, value_, __VA_ARGS__)
#define CLI_SIZE(name_, value_, ...)     CLI_OPTION(OPTION_SIZE, name_, value_, __VA_ARGS__)
#define CLI_DURATION(name_, value_, ...) CLI_OPTION(OPTION_DURATION, name_, value_, __VA_ARGS__)
#define CLI_OPTION(kind_, name_, value_, ...)                                                      \
	{                                                                                              \
		.name = (name_), .kind = (kind_), .value = (value_), .help = __VA_ARGS__                   \
	}

/* A value that a command takes only from the settings. */
#define CLI_SETTING(kind_, name_)                                                                  \
	{                                                                                              \
		.name = (name_), .kind = (kind_), .hidden = true, .setting = true, .only_setting = true    \
	}

/* For the commands that compile with workers. Less memory than a worker needs is a number without
 * its unit. */
#define CLI_JOBS(...)                                                                              \
	CLI_NUMBER("jobs", "N", "Compile with N workers; the default is one per core", .letter = 'j',  \
			   .least = 1, .most = 1024, .setting = true, __VA_ARGS__)
#define CLI_BACKGROUND(...)                                                                        \
	CLI_FLAG("background", "Work at the lowest processor and disk priority, and pause on battery", \
			 __VA_ARGS__)
#define CLI_MAX_MEM                                                                                \
	{                                                                                              \
		.name = "max-mem", .kind = OPTION_SIZE, .least = 64 << 20, .hidden = true,                 \
		.setting = true, .only_setting = true                                                      \
	}
#define CLI_WORKER_SETTINGS CLI_MAX_MEM, CLI_SETTING(OPTION_DURATION, "module-timeout")

/* A heading of the options below it, up to the next one. */
#define CLI_HEADING(...)                                                                           \
	{                                                                                              \
		.name = "", .hidden = true, __VA_ARGS__                                                    \
	}

/* For every command about the driver's cache. */
#define CLI_CACHE                                                                                  \
	CLI_VALUE("cache", "DIR", "Use the cache in DIR instead of the driver's", .names = NAMES_FOLDER)

/* For the commands about the store. */
#define CLI_STORE_FOLDER                                                                           \
	CLI_VALUE(                                                                                     \
		"store", "DIR",                                                                            \
		"Use the packs in this folder, which machines share, instead of this account's store")

/* For every command that takes packages; the environment becomes the active one before the command
 * runs. */
#define CLI_ENVIRONMENT                                                                            \
	CLI_VALUE("environment", "DIR",                                                                \
			  "Use the environment DIR (virtual, conda by name, or a project with a .venv) "       \
			  "instead of the active one",                                                         \
			  .letter = 'e')

/* --json, --quiet/-q, --help/-h. Ends with a name of NULL. */
extern const struct cli_option options_common[];
/* Returns how many leading words are options of every command, or -e with its value, which may
 * precede the command. */
int options_leading(int count, char **words);
/* The heading of the common options in tables with headings. */
extern const char options_common_title[];
/* Returns whether the table has headings; then it begins with one. */
bool options_grouped(const struct cli_option *table);

struct options {
	const struct cli_option *table;
	struct option_given *given; /* private */
	size_t given_count, given_capacity;
	const char **operands; /* point into argv; NULL after the last */
	size_t operand_count;
	/* The first mistake of the line, if it is an option that the command does not have, nor a name
	 * that is similar to one of its options: “platform”, or “x” for -x. NULL otherwise. */
	const char *unknown;
	bool divided;      /* there was a "--" */
	size_t divided_at; /* the number of operands before it */
};

/* Reads argv[0 … argc), without the names of program and command. JW_ERR_USAGE names the first
 * mistake and, for an unknown option, the most similar one; the rest of the line is read
 * nonetheless. `table` may be NULL. With `takes_command`, without a “--” the first operand begins
 * the command line of another program. Always call options_free. */
int options_read(struct jw_error *err, const struct cli_option *table, bool takes_command, int argc,
				 char **argv, struct options *ret_options);
void options_free(struct options *options);
/* Adds a value from `origin`, of a project's file, for an option that was not given; both texts
 * must live as long as `options`. A switch takes no value. JW_ERR_USAGE: the command has no such
 * option.
 */
int options_add(struct jw_error *err, struct options *options, const char *name, const char *value,
				const char *origin);
struct config;
/* Takes values that were not given from the settings and the table. Afterwards `options` has
 * pointers into `config`. */
int options_settle(struct jw_error *err, struct options *options, const struct config *config);
/* Refuses values that cannot name what they should, before the command starts. JW_ERR_USAGE;
 * JW_ERR_NOT_FOUND if the thing is missing: its name may be right, and a disk not mounted. */
int options_check(struct jw_error *err, const struct options *options);
/* Refuses an address where a file is meant, and names the command that downloads it. */
int options_refuse_address(struct jw_error *err, const char *value);

/* Returns whether a path is that of a folder, existing or to be made. */
bool options_name_folder(const char *path);
/* Returns whether an option's value, an output, is a folder in which the command makes files. */
bool options_fill_folder(const struct options *options, const char *name, const char *value);

/* Returns whether the table has an option of this name, of a name that other tools have for it, or
 * of this letter; a NULL table has the options of every command. */
bool options_in_table(const struct cli_option *table, const char *name, size_t length);

/* Returns whether the command has such an option; another name of an option is none. */
bool options_has(const struct options *options, const char *name);
/* Returns whether that option takes no value, and --help shows it. */
bool options_is_flag(const struct options *options, const char *name);
/* Returns whether that option takes a value, and --help shows it. */
bool options_take_value(const struct options *options, const char *name);
/* Returns whether the option was given, or set by a setting. */
bool options_given(const struct options *options, const char *name);
/* Returns whether the command has the option, and it was given, or set by a setting. */
bool options_has_given(const struct options *options, const char *name);
/* Returns whether the option was given on the command line, not by a setting. */
bool options_typed(const struct options *options, const char *name);
/* Returns the last value, or NULL. Points into argv, or the settings. */
const char *options_value(const struct options *options, const char *name);
/* Return the number of times that a repeatable option was given, and its values in order (at <
 * count). */
size_t options_count(const struct options *options, const char *name);
const char *options_item(const struct options *options, const char *name, size_t at);
/* Returns the value of OPTION_NUMBER, OPTION_SIZE or OPTION_DURATION; 0 if it was not given. */
uint64_t options_number(const struct options *options, const char *name);

/* Reads "1500", "2 GB" (10^3 steps), "512M", "1GiB" (2^10 steps). False if it is not a size. */
bool options_parse_size(const char *text, uint64_t *ret_bytes);
/* Reads "90" (seconds), "90s", "5m", "1h30m", "250ms". False if it is not a duration. */
bool options_parse_duration(const char *text, uint64_t *ret_ms);
