/* Whether what is kept in the state directory may decide something elsewhere. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* 0 unless this is the superuser, and an account other than `owner` could change what is kept at
 * `path`: keys, packs and journals of a state directory that another account can write would decide
 * what the superuser does elsewhere. JW_ERR_IO with the reason. */
int state_check_writers(struct jw_error *err, const char *path, uint32_t owner);
/* The same, where it decides about the folder `place` or one that is made there: its owner's state
 * may. NULL: about folders of several accounts. */
int state_check_kept_for(struct jw_error *err, const char *path, const char *place);
