/* The accounts of this machine (jitwarm/accounts.h lists them). */
#pragma once

#include <jitwarm/accounts.h>

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

/* The number of the account of this name, and its home, which may be missing; the caller frees it.
 * JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. */
int os_named_account(struct jw_error *err, const char *name, uint32_t *ret_owner, char **ret_home);

/* The account of this name, or (`name` NULL) of this number. The caller frees its texts.
 * JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. */
int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account);
