/* The account of this process, and acting as another one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct jw_account;

/* The account of this process. `sudo_user`: the account that called sudo, if we are root through it
 * (else NULL), with its ids and home. */
struct os_account {
	bool superuser;
	uint32_t owner, group;
	char *sudo_user, *sudo_home;
	uint32_t sudo_owner, sudo_group;
};
int os_account(struct jw_error *err, struct os_account *ret_account);
void os_account_free(struct os_account *account);
/* Our account as the system's own programs name it: a user's name on POSIX, the SID ("S-1-5-...")
 * on Windows. The caller frees it. */
int os_account_id(struct jw_error *err, char **ret_id);
/* Turns this process permanently into that account instead of root: its ids, its groups, its HOME.
 * POSIX; JW_ERR_UNSUPPORTED on Windows. */
int os_become_account(struct jw_error *err, const struct jw_account *account);

/* For the superuser who writes into another account's folders: from now on files are opened, made
 * and removed with that account's rights, so that a link planted there leads nowhere else.
 * os_act_as_self ends it. On POSIX this applies to the whole process, with the account's other
 * groups; on Windows this thread gets a token that allows only what both this process and the
 * account may do (a restricted token with the account's SID), without privileges. -1, and nothing
 * changed, if this account may not do that. */
int os_act_as_account(struct jw_error *err, const struct jw_account *account);
void os_act_as_self(void);
