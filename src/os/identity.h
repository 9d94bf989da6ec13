/* The account of this process, and the accounts of this machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Returns whether this process runs as root, or as Windows' own account (LocalSystem), which
 * services and tasks may use: no user has folders for its programs. An administrator of Windows
 * uses the same folders with and without elevation. */
bool os_is_superuser(void);
/* The number of this process's account; 0 on Windows. */
uint32_t os_own_account(void);
/* Returns the account that called sudo if we are root through it, else NULL. The caller frees it.
 */
char *os_sudo_user(void);
/* Finds our account's name for the system's own programs: a user name on POSIX, the SID
 * ("S-1-5-...") on Windows. The caller frees it. */
int os_account_id(struct jw_error *err, char **ret_id);

struct os_account {
	char *name; /* "alice" */
	char *home; /* its home folder, absolute */
	uint32_t owner;
};

/* Finds the account with this name, or, if `name` is NULL, with this number; its home may be
 * missing. JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. The caller frees it. */
int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct os_account *ret_account);
void os_account_free(const struct os_account *account);
