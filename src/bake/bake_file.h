/* Bakes one library: finds its containers that the driver would compile, and writes a copy of the
 * library in which they have machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/baking.h"

/* Fills in all of `file` except its path. A failure of the library is stored in file->failed;
 * JW_ERR_INTERRUPTED if cancelled. */
int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file);
