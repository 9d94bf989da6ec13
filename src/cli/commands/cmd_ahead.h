/* How far the cache is prepared for a driver that starts at the next boot, for other commands. */
#pragma once

#include <jitwarm/ahead.h>

#include "base/json_table.h"
#include "cli/command.h"

extern const struct json_table document_ahead_members; /* struct jw_ahead */

/* How far the cache is prepared for it, in one line; nothing if no driver is pending. `head` stands
 * before it. */
void ahead_print(const struct output *out, const char *head, const struct jw_ahead *ahead);
/* `prime` takes what waits in the store for the boot that has come, and compiles nothing here. With
 * --if-changed (unattended) it prepares the cache, too; *ret_pending: the installed driver does not
 * run yet, so that nothing else can be primed. */
int ahead_besides(struct jw_error *err, struct cli *cli, bool unattended, bool *ret_pending);
