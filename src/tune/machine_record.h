/* The record of the machine's variables (os/variables.h): the values that jitwarm set, and the
 * former ones. Only administrators may write to it, so an administrator's run may trust it. */
#pragma once

#include "tune/settings_record.h"

/* Adds the recorded variables; none if the system has no registry. Ignores values that are not
 * text. -1: out of memory. */
int machine_record_read(struct jw_error *err, struct settings_record *record);
/* Makes the record agree with the machine's variables in `record`; does not write an equal one, so
 * that other accounts' runs need no write permission. */
int machine_record_write(struct jw_error *err, const struct settings_record *record);
