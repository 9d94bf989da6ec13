/* The store's folder and its packs. */
#pragma once

#include <jitwarm/store.h>

#include "base/cancel.h"
#include "base/json.h"
#include "os/file.h"

/* The path of a pack before it gets its name; listing ignores it. */
#define STORE_UNFINISHED "new"
#define STORE_EXTENSION  ".jwpack"

/* Returns the path of a store's folder; the caller frees it. JW_ERR_NOT_FOUND if it is that of an
 * account without a state directory. */
char *store_path(struct jw_error *err, const struct jw_store_options *options);
/* Returns the beginning of the names of packs with entries of this driver and GPU:
 * "sm_86-550.163.01-"; the caller frees it. */
char *store_pack_start(const struct jw_system *system, struct jw_target target);
/* Locks the state directory's store for writing, so that no two runs keep the same entries. Waits a
 * minute at most for another run (JW_ERR_BUSY). *ret_lock, released by os_file_close, is NULL if
 * files cannot be locked. */
int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);

/* New packs of entries in the system's cache. */
struct store_addition {
	const struct jw_system *system;
	const char *folder;
	const char *sign_key, *state_dir; /* as in struct jw_store_folder */
	struct jw_cancel cancel;
	void *context; /* passed to `wanted`, as in jw_export_options */
	bool (*wanted)(void *context, uint64_t key, const struct jw_identity *identity);
};
/* Writes a pack for each architecture that has wanted entries. Adds their number to *entries. A
 * pack is named by its content and its signer; a signature precedes its pack. */
int store_add(struct jw_error *err, const struct store_addition *addition, size_t *entries);
