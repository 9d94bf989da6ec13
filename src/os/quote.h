/* Quotes command lines for the two systems' own files. */
#pragma once

#include "base/buf.h"

/* Appends one argument, quoted so that the C runtime of a Windows program restores it; preceded by
 * a blank unless it is the first. Source: Microsoft, "Parsing C command-line arguments". */
int quote_windows(struct jw_error *err, struct buf *line, const char *argument);

/* The same for ExecStart= of a systemd unit. Source: systemd.service(5), "Command lines". */
int quote_systemd(struct jw_error *err, struct buf *line, const char *argument);
