/* Folders that the system or the account has for certain purposes. The caller frees the names. No
 * function makes a folder. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

int os_home_dir(struct jw_error *err, char **ret_path);
/* Finds jitwarm's own folder: $JITWARM_STATE, else $XDG_STATE_HOME/jitwarm or
 * ~/.local/state/jitwarm, on Windows %LOCALAPPDATA%\jitwarm. */
int os_state_dir(struct jw_error *err, char **ret_path);
/* From now on os_state_dir returns JW_ERR_NOT_FOUND if there is none. */
void os_keep_no_state(bool none);
/* Finds the driver's default cache, which applies unless CUDA_CACHE_PATH is set
 * (docs/internals/driver-cache.md): $HOME/.nv/ComputeCache, where HOME may be empty but must be set
 * (else JW_ERR_NOT_FOUND: the driver caches nothing); %APPDATA%\NVIDIA\ComputeCache. */
int os_driver_cache_dir(struct jw_error *err, char **ret_path);
/* Finds the path of our own executable. */
int os_self_path(struct jw_error *err, char **ret_path);

/* Finds the system's folder for temporary files. On Windows, an administrator gets the system's own
 * one, since unelevated programs of the account can set %TEMP% and write there. */
char *os_temp_dir(struct jw_error *err);
/* Returns whether this is a folder that no other account can have made; on Windows, for an
 * administrator, one whose content no account with fewer rights can exchange while it is removed
 * (elsewhere, removing follows no symlink). */
bool os_is_own_temp_dir(const char *path);
/* Makes a new private directory (0700) in that folder. */
int os_make_temp_dir(struct jw_error *err, const char *prefix, char **ret_path);
