/* Reports, for other commands, the preparation of the cache for the driver of the next boot. */
#pragma once

#include <jitwarm/ahead.h>

#include "base/json_table.h"
#include "cli/command.h"

extern const struct json_table document_ahead_members; /* struct jw_ahead */

/* Prints in one line how far the cache is prepared; nothing if no driver is pending. The line
 * begins with `head`. */
void ahead_print(const struct output *out, const char *head, const struct jw_ahead *ahead);
/* Takes, for `prime`, the entries that wait in the store for the current boot, and compiles
 * nothing. With --if-changed (unattended) also prepares the cache; *ret_pending is set if the
 * installed driver is not running yet, so that nothing else can be primed. `recorded`: --recording
 * names the modules. */
int ahead_besides(struct jw_error *err, struct cli *cli, bool unattended, bool recorded,
				  bool *ret_pending);
