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

/* The first part of a path that another account could change, or make lead elsewhere: a folder, a
 * file or a link. For those that count as the superuser's, see os_check_private. */
struct os_stranger {
	bool found;
	bool missing; /* else, whether the path ends in something that is not there, which `part` names
				   */
	bool link;    /* on the way there is one of an account that counts as root */
	bool open;    /* in a folder for all, with the sticky bit */
	uint32_t owner, group; /* the part's; 0: it is root's, and others may write to it */
	char part[4096];
};
/* Accounts that count as the superuser from now on: numbers, or "*" for all; NULL: none. Called
 * before other threads start. Does nothing on Windows. */
void os_trust_accounts(const char *list);
/* Whether the superuser finds one there; nobody else does, and nobody on Windows. */
bool os_find_stranger(const char *path, struct os_stranger *ret_stranger);
/* "/home/ann belongs to ann", "other accounts may write to /srv". Returns `text`. */
enum { OS_STRANGER_TEXT = 4200 };
const char *os_stranger_text(char text[OS_STRANGER_TEXT], const struct os_stranger *stranger);

/* Has something done by another account. POSIX: in a child process that becomes it for good first,
 * and ends with it or after `most_s` seconds. The child has a session of its own without a
 * terminal, an environment of a few names, and no descriptor above 2 but `keeps` (-1: none). What
 * `work` appends to the answer, at most its maximum, comes back. Windows: in this process, since an
 * administrator works as one. */
int os_work_as(struct jw_error *err, const struct jw_account *account, int keeps, unsigned most_s,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer), void *context,
			   struct buf *answer);

/* The accounts of this machine (jitwarm/accounts.h lists them). */
enum { ACCOUNTS_MAX = 100000 };

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
