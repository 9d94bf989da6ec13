/* Folders of the system or the account for certain purposes. Names are to be freed. None is made */
#pragma once

#include <stdbool.h>

#include "base/error.h"

int os_home_dir(struct jw_error *err, char **ret_path);
/* jitwarm's own: $JITWARM_STATE, else $XDG_STATE_HOME/jitwarm or ~/.local/state/jitwarm,
 * %LOCALAPPDATA%\jitwarm. Not made. */
int os_state_dir(struct jw_error *err, char **ret_path);
/* From now on there is none: JW_ERR_NOT_FOUND. */
void os_keep_no_state(void);
/* The driver's default cache, unless CUDA_CACHE_PATH says otherwise (docs/internals/driver-cache.md):
 * $HOME/.nv/ComputeCache, where HOME may be empty but must be set (else JW_ERR_NOT_FOUND: the
 * driver caches nothing); %APPDATA%\NVIDIA\ComputeCache. `home`: for another account's home
 * directory; NULL: our own. Not made. */
int os_driver_cache_dir(struct jw_error *err, const char *home, char **ret_path);
/* Our own executable. */
int os_self_path(struct jw_error *err, char **ret_path);

/* The system's place for temporary files. Windows: an administrator's is the system's own, since
 * programs of the account that are not elevated write to %TEMP% and set it. */
char *os_temp_dir(struct jw_error *err);
/* Whether nobody with fewer rights than ours can have made this folder there, or swap what is in it
 * while it is removed. Everywhere but on Windows removing follows no link anyway: true. */
bool os_is_own_temp_dir(const char *path);
/* A new private directory (0700) there. */
int os_make_temp_dir(struct jw_error *err, const char *prefix, char **ret_path);
