/* Settings that belong to a place, not to a call. Each stands in for an option that is not given.
 *
 * $JITWARM_NAME comes first, then the account's file, then the machine's: ~/.config/jitwarm/config
 * and /etc/jitwarm/config, %APPDATA%\jitwarm\config and %PROGRAMDATA%\jitwarm\config. A line is
 * “name = value”; '#' and ';' begin comments. The superuser reads no file that other accounts could
 * change. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct output;

enum config_kind {
	CONFIG_VALUE,
	CONFIG_SWITCH, /* "yes", "no" */
	CONFIG_LANGUAGE,
	CONFIG_FOLDER, /* a whole path; a variable's may be relative */
	CONFIG_STORE,  /* "yes", "no", or a whole path */
};

struct config_value {
	const char *name; /* the name of the setting, and of the option that it stands in for */
	const char *help;
	enum config_kind kind;
	const char *variable; /* NULL for JITWARM_ and the name */
	char *value;          /* NULL if not set */
	char *origin;         /* "JITWARM_JOBS", "/etc/jitwarm/config, line 3" */
};

enum { CONFIG_SETTINGS = 9 };

/* A problem with a file, or with one line of it. */
struct config_fault {
	char *path;
	unsigned line; /* 0 if the whole file cannot be read */
	char *text;    /* the unknown name, a line without “=”, or why the file cannot be read */
	bool no_equals;
};

struct config {
	void *owner; /* of all texts (base/arena.h) */
	struct config_value values[CONFIG_SETTINGS];
	struct config_fault *faults;
	size_t fault_count, fault_capacity;
};

/* Reads both files and the variables, and records their faults for config_check. Before each of
 * them, `lift` gets the setting trust-accounts so far, which decides whether root reads it. Always
 * call config_free. */
void config_read(struct config *ret_config, void (*lift)(bool lifted));
/* Warns of files that cannot be read, and of unknown names. JW_ERR_USAGE for a line without “=”, or
 * a value that its setting cannot have. */
int config_check(struct jw_error *err, const struct output *output, const struct config *config);
void config_free(struct config *config);
/* Makes a config with only the setting `name`, with this value and origin. JW_ERR_USAGE if there is
 * no such setting, or it cannot have the value. Always call config_free. */
int config_one(struct jw_error *err, const char *name, const char *value, const char *origin,
			   struct config *ret_one);
/* JW_ERR_USAGE if no setting has this name. */
int config_has(struct jw_error *err, const char *name);
/* Writes the value into the account's file or the machine's; NULL removes all of its lines. All
 * other lines keep their bytes. *ret_line is the line's number; 0 if there was none to remove.
 * JW_ERR_USAGE if there is no such setting, and no line of that name. */
int config_write(struct jw_error *err, bool machine, const char *name, const char *value,
				 unsigned *ret_line);
/* Removes the account's file, and its folder if that is empty then. *ret_path is the file's path
 * (with `dry_run`: that of the file that would be removed), which `owner` keeps (base/arena.h);
 * NULL if there is none that this account reads. */
int config_remove(struct jw_error *err, void *owner, bool dry_run, char **ret_path);
/* Finds the paths of the files, which `owner` keeps. NULL for an account without a home. */
int config_paths(struct jw_error *err, void *owner, char **ret_account, char **ret_machine);
/* Returns a setting; NULL if no setting has this name, or it is not set. */
const struct config_value *config_find(const struct config *config, const char *name);
bool config_is_on(const struct config_value *setting);
/* Returns the folder of the setting “store”; NULL if it names none. */
const char *config_store_folder(const struct config *config);
