/* The accounts of this machine (jitwarm/accounts.h lists them). */
#pragma once

#include <jitwarm/accounts.h>

enum { ACCOUNTS_MOST = 100000 };

/* Adds one, and takes the strings over; one of them NULL (out of memory) is -1, and the others are
 * freed. */
int accounts_add(struct jw_error *err, struct jw_accounts *accounts,
				 const struct jw_account *account);

/* Where programs of the account have their driver's cache, unless CUDA_CACHE_PATH says otherwise.
 * Windows: below %APPDATA%, which may have been moved; that is known of our own account and of
 * those whose registry is loaded, and of others the usual place is given. The path may be any that
 * the account has chosen: write there with its rights alone. */
int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path);

/* The number of the account of this name, and its home, which may be missing; the caller frees it.
 * JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. */
int os_named_account(struct jw_error *err, const char *name, uint32_t *ret_owner, char **ret_home);
