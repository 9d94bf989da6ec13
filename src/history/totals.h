/* What the runs of this account have compiled, and what they have got instead, in one file of the
 * state directory:
 *
 *     {"schema":"jitwarm.totals/1","compiled":512,"from_store":1204,"from_shared":3000,
 *      "from_registries":238,"saved_seconds":7380.5,"since":1795300000}
 *
 * It is read as hostile input. */
#pragma once

#include <stddef.h>

#include <jitwarm/system.h>

/* Parses such a file; any other text gives zeros, as does each member that makes no sense. -1:
 * memory is short. */
int totals_parse(struct jw_error *err, const char *text, size_t size, struct jw_totals *ret_totals);

/* The same with the file of the state directory; NULL: it is not kept. A failure is not reported:
 * nothing depends on it. */
void totals_recall(const char *state_dir, struct jw_totals *ret_totals);
/* Adds one run, under the lock of the ledgers, so that of runs that end together each counts.
 * Without the lock, or where the file cannot be read, it stays as it is. */
void totals_add(const char *state_dir, const struct jw_totals *run);
