/* Manual pages of commands (mdoc), generated from the same tables as help. */
#pragma once

#include "base/buf.h"
#include "cli/command.h"

/* Appends the page of one command: jitwarm-NAME(1), spaces in the name as dashes. */
int manual_page(struct jw_error *err, struct buf *buf, const struct cli_command *command);
