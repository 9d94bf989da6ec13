/* The account of this process, and acting as another one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/accounts.h>

#include "base/buf.h"
#include "base/error.h"

struct jw_account;

/* Root, or Windows' own account (LocalSystem), which services and tasks may use: its programs use
 * no user's folders. An administrator of Windows uses the same ones with and without elevation. */
bool os_is_superuser(void);
/* The account of this process. `sudo_user`: the account that called sudo, if we are root through it
 * (else NULL), and its id. */
struct os_account {
	uint32_t owner, group;
	char *sudo_user;
	uint32_t sudo_owner;
};
int os_account(struct jw_error *err, struct os_account *ret_account);
void os_account_free(struct os_account *account);
/* Our account as the system's own programs name it: a user's name on POSIX, the SID ("S-1-5-...")
 * on Windows. The caller frees it. */
int os_account_id(struct jw_error *err, char **ret_id);
/* Turns this process permanently into that account instead of root: its ids, its groups, its HOME.
 * POSIX; JW_ERR_UNSUPPORTED on Windows. */
int os_become_account(struct jw_error *err, const struct jw_account *account);

/* Whose rights decide where a path leads: for the superuser, the first other account to which a
 * folder or link on the way belongs, and the group of that; 0: none. */
struct os_way {
	uint32_t owner, group;
	bool shared; /* others may write to the folder that it ends in */
};
/* JW_ERR_IO: a link on the way, which others may have put there. Windows: 0, always. */
int os_find_way(struct jw_error *err, const char *path, struct os_way *ret_way);
/* As os_become_account, for an account that may have no name. HOME becomes its own, unless it is
 * already (`keeps_home`). */
int os_become_owner(struct jw_error *err, const struct os_way *way, bool keeps_home);

/* Has something done by another account. POSIX: in a child process that becomes it for good first,
 * and ends with it; what `work` appends to the answer, at most its maximum, comes back. Windows: in
 * this process, since an administrator works as one. */
int os_work_as(struct jw_error *err, const struct jw_account *account,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer), void *context,
			   struct buf *answer);

/* The accounts of this machine (jitwarm/accounts.h lists them). */
enum { ACCOUNTS_MOST = 100000 };

/* Adds an account and takes the strings over. If one of them is NULL (out of memory), returns -1
 * and frees the others. */
int accounts_add(struct jw_error *err, struct jw_accounts *accounts,
				 const struct jw_account *account);

/* The default directory of the account's driver cache, unless CUDA_CACHE_PATH says otherwise.
 * Windows: below %APPDATA%, which may have been moved; that is known for our own account and for
 * those whose registry is loaded, and others get the usual place. The account may have chosen any
 * path: write there only with its rights. JW_ERR_UNSUPPORTED if another account has chosen one on a
 * server, or on no drive. */
int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path);

/* The account of this name, or (`name` NULL) of this number, whose home may be missing.
 * JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. */
int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account);
void os_found_free(const struct jw_account *account);
