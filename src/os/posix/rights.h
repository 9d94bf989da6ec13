/* Another account's rights over files, for this thread only. */
#pragma once

#include <stdbool.h>

#include <sys/types.h>

#include "base/error.h"

/* Whether this thread is the superuser and acts as no other account. */
bool rights_are_roots(void);
/* The superuser's own groups, which are read once: before another account's are taken, and back. */
int rights_keep_groups(struct jw_error *err);
void rights_restore_groups(void);
/* From now on this thread's file operations use the account's rights: its user, its group and its
 * other groups, as the system lists them. An account that is not listed has only `group`. -1:
 * nothing changed; JW_ERR_UNSUPPORTED means an account that this user namespace lacks, whose files
 * no process here may change. */
int rights_take(struct jw_error *err, uid_t owner, gid_t group);
void rights_return(void);
