/* Settings that belong to a place, not to a call: each stands in for an option that is not given.
 *
 * $JITWARM_NAME comes first, then the account's file, then the machine's:
 * ~/.config/jitwarm/config and /etc/jitwarm/config, %APPDATA%\jitwarm\config and
 * %PROGRAMDATA%\jitwarm\config. A line is “name = value”; '#' and ';' begin comments. The superuser
 * and administrators read no file that other accounts could change. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct output;

enum config_kind {
	CONFIG_VALUE,
	CONFIG_SWITCH, /* "yes", "no" */
	CONFIG_LIST,   /* values with blanks between them */
	CONFIG_LANGUAGE,
	CONFIG_ACCOUNTS, /* numbers, or "*" */
};

struct config_value {
	const char *name; /* of the setting, and of the option that it stands in for */
	const char *help;
	enum config_kind kind;
	const char *variable; /* NULL: JITWARM_ and the name */
	char *value;  /* NULL: not set; of a list each value ends in a NUL, and the list in one */
	char *origin; /* "JITWARM_JOBS", "/etc/jitwarm/config, line 3" */
};

enum { CONFIG_SETTINGS = 13 };

/* What is wrong with a file, or with one line of it. */
struct config_fault {
	char *path;
	unsigned line; /* 0: the whole file cannot be read */
	char *text; /* the name that no setting has, a line without “=”, or why it cannot be read */
	bool no_equals;
};

struct config {
	struct config_value values[CONFIG_SETTINGS];
	struct config_fault *faults;
	size_t fault_count, fault_capacity;
};

/* Reads both files and the variables, and keeps what is wrong with them for config_check. Always
 * call config_free. */
void config_read(struct config *ret_config);
/* Warns of files that cannot be read, and of names that no setting has. JW_ERR_USAGE: a line
 * without “=”, or a value that its setting cannot have. */
int config_check(struct jw_error *err, const struct output *output, const struct config *config);
void config_free(struct config *config);
/* The setting `name` with this value and origin, and no other; JW_ERR_USAGE where there is no such
 * setting, or the value cannot be its own. Always call config_free. */
int config_one(struct jw_error *err, const char *name, const char *value, const char *origin,
			   struct config *ret_one);
/* JW_ERR_USAGE: no setting has this name. */
int config_has(struct jw_error *err, const char *name);
/* Writes the value into the account's file or the machine's; NULL: takes all of its lines out. All
 * other lines stay to the byte. *ret_line: the line's number; 0: none was there to be taken out.
 * JW_ERR_USAGE: no such setting, and no line of that name. */
int config_write(struct jw_error *err, bool machine, const char *name, const char *value,
				 unsigned *ret_line);
/* The files; the caller frees both. NULL for an account without a home. */
int config_paths(struct jw_error *err, char **ret_account, char **ret_machine);
/* NULL: no setting has this name, or it is not set. */
const struct config_value *config_find(const struct config *config, const char *name);
/* Whether a switch is on. */
bool config_is_on(const struct config_value *setting);
/* The value behind `value` of a list; NULL: that was the last, or it is no list. */
const char *config_next(const struct config_value *setting, const char *value);
