/* The store's folder and its packs. */
#pragma once

#include <jitwarm/store.h>

#include "os/file.h"
#include "pack/manifest.h"

/* The path of a pack before it gets its name; listing ignores it. */
#define STORE_UNFINISHED "new"
#define STORE_EXTENSION  ".jwpack"

/* Returns the store's path; the caller frees it. JW_ERR_NOT_FOUND if the account has no state
 * directory. */
char *store_path(struct jw_error *err, const char *state_dir);
/* Locks the store for writing, so that no two runs write the same file or keep the same entries.
 * Waits a minute at most for another run (JW_ERR_BUSY). *ret_lock, released by os_file_close, is
 * NULL if files cannot be locked. */
int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);
