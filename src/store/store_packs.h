/* The store's folder and its packs. */
#pragma once

#include <jitwarm/store.h>

#include "os/file.h"
#include "pack/manifest.h"

/* The path of a pack before it gets its name; listing ignores it. */
#define STORE_UNFINISHED "new"
#define STORE_EXTENSION  ".jwpack"

/* The caller frees it. JW_ERR_NOT_FOUND: the account has no state directory. */
char *store_path(struct jw_error *err, const char *state_dir);
/* One run writes at a time, so that no two write the same file or keep the same entries. Waits a
 * minute at most for another run (JW_ERR_BUSY). *ret_lock, released by os_file_close, is NULL where
 * files cannot be locked. */
int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);

/* The manifest of a pack whose digest matches. */
int store_read_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest);
/* Reads the whole pack and checks it as an import does. */
int store_verify_pack(struct jw_error *err, const char *path, const struct jw_cancel *cancel);

/* Merges those small packs of the store that are for the same GPUs and drivers, if there are
 * `least` of them or more. The caller holds the store's lock. The old packs are removed after the
 * new one was synced and read to its end; it gets the date of the newest of them. Killed at any
 * moment, no entry is lost, but some may be there twice. Packs that do not match stay.
 * `count_merged` counts removed packs, `count_made` the packs made of them. */
int store_merge(struct jw_error *err, const struct jw_store *store, size_t least,
				size_t *count_merged, size_t *count_made);
