/* Whose process this is. */
#pragma once

#include "cli/command.h"

/* Whose process this is, decided once before any file of an account is read: root becomes the
 * account that its places (HOME, --cache, outputs) belong to, for good; of two accounts it refuses.
 * `argv`: behind the command's name. */
int account_decide(struct jw_error *err, struct cli *cli, int argc, char **argv);
