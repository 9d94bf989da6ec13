/* Libraries that were baked in their places: bake --undo, bake list. */
#pragma once

#include <jitwarm/bake.h>

#include "cli/command.h"

/* "as baked" … */
const char *baked_state_text(enum jw_baked_state state);
/* bake --undo */
int baked_files_undo(struct jw_error *err, struct cli *cli);
