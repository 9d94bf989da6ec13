/* Another account's rights over files, for this thread alone. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Whether this thread is the superuser, and acts as nobody else. */
bool rights_are_roots(void);
/* From now on this thread's calls that concern files are done with the account's rights: its user,
 * its group and its other groups, as the system lists them. An account that is not listed has
 * `group` alone. -1: nothing changed, except that JW_ERR_UNSUPPORTED tells of an account that this
 * user namespace lacks, over whose files nobody here has power. */
int rights_take(struct jw_error *err, uid_t owner, gid_t group);
void rights_return(void);
