/* The record of the machine's variables (os/variables.h): what jitwarm set them to, and what they
 * were. Only administrators may write to it, so an administrator's run may trust it. */
#pragma once

#include "tune/settings_record.h"

/* Adds what is on record, nothing where the system has no registry. Values that are no text do not
 * count. -1: out of memory. */
int machine_record_read(struct jw_error *err, struct settings_record *record);
/* Makes the record agree with the machine's variables in `record`; an equal one is not written, so
 * that other accounts' runs need no right to. */
int machine_record_write(struct jw_error *err, const struct settings_record *record);
