/* Environment variables that Windows keeps for an account or for the machine, in the registry, and
 * jitwarm's record of the machine's: a key below HKEY_LOCAL_MACHINE\SOFTWARE, to which only
 * administrators may write, and that goes when it is empty. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

enum os_variables { OS_VARIABLES_USER, OS_VARIABLES_MACHINE, OS_VARIABLES_MACHINE_RECORD };

struct os_variable {
	char *value;  /* UTF-8 */
	bool expands; /* REG_EXPAND_SZ: %NAME% in it is another variable's value */
};

/* Whether this system has such a place: all of the below is JW_ERR_UNSUPPORTED elsewhere. */
bool os_variables_kept(void);
/* The registry key, for people. */
const char *os_variables_key(enum os_variables where);
/* JW_ERR_NOT_FOUND where it is not set. The caller frees the value. */
int os_variable_read(struct jw_error *err, enum os_variables where, const char *name,
					 struct os_variable *ret_variable);
/* `variable` NULL takes it away; one that is not there is fine then. JW_ERR_IO says that elevation
 * is missing where that is so. */
int os_variable_write(struct jw_error *err, enum os_variables where, const char *name,
					  const struct os_variable *variable);
/* Tells running programs that variables have changed (WM_SETTINGCHANGE), so that programs
 * that Explorer starts from now on have them. Waits a second at most. */
void os_variables_announce(void);
