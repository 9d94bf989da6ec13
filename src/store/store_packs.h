/* The store's folder, and the packs in it. */
#pragma once

#include <jitwarm/store.h>

#include "os/file.h"
#include "pack/manifest.h"

/* Where a pack is before it has its name: it is taken for none. */
#define STORE_UNFINISHED "new"
#define STORE_EXTENSION  ".jwpack"

/* The caller frees it. JW_ERR_NOT_FOUND where the account has no state directory. */
char *store_path(struct jw_error *err, const char *state_dir);
/* One run writes at a time, so that no two write the same file or keep the same entries; another
 * one is waited for, a minute at most (JW_ERR_BUSY). *ret_lock, which os_file_close ends, is NULL
 * where files cannot be locked. */
int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);

/* The manifest of a pack whose digest holds. */
int store_read_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest);
/* All of a pack, as an import would check it. */
int store_verify_pack(struct jw_error *err, const char *path, const struct jw_cancel *cancel);
