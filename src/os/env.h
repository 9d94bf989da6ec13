/* Environment variables of this process. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The value of an environment variable, UTF-8, NULL if it is not set; the caller frees it. */
char *os_env(const char *name);
int os_env_set(struct jw_error *err, const char *name, const char *value); /* value NULL: unset */

/* Environment variables that Windows keeps in the registry for an account or for the machine, and
 * jitwarm's records of them: a key below SOFTWARE, which is removed when it is empty. Only
 * administrators may write the machine's variables. */
enum os_variables {
	OS_VARIABLES_USER,
	OS_VARIABLES_MACHINE,
	OS_VARIABLES_USER_RECORD,
	OS_VARIABLES_MACHINE_RECORD
};

struct os_variable {
	char *value;  /* UTF-8 */
	bool expands; /* REG_EXPAND_SZ: %NAME% in it stands for another variable's value */
};

/* Returns whether this system stores variables; if not, all functions below return
 * JW_ERR_UNSUPPORTED. */
bool os_variables_kept(void);
/* Returns the name of the registry key, for messages. */
const char *os_variables_key(enum os_variables where);
/* Reads a variable; JW_ERR_NOT_FOUND if it is not set. The caller frees the value. */
int os_variable_read(struct jw_error *err, enum os_variables where, const char *name,
					 struct os_variable *ret_variable);
/* Writes a variable; a NULL `variable` removes it if it exists. JW_ERR_IO, with a message about
 * elevation, if that is missing. */
int os_variable_write(struct jw_error *err, enum os_variables where, const char *name,
					  const struct os_variable *variable);
/* Tells running programs that variables have changed (WM_SETTINGCHANGE), so that programs which
 * Explorer starts from now on get them. Waits at most a second. */
void os_variables_announce(void);
