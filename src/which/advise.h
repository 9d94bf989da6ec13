/* The parts of jw_which_advise: rows.c writes the rows of an answer, advise.c all else. */
#pragma once

#include <jitwarm/which.h>

#include "base/buf.h"

/* Returns the label of a declared build, “cu126”, which names its place on another index; NULL for
 * a release of the index in question. */
const char *release_label(const struct jw_which_release *release);
/* Returns whether an answer has builds of another index. */
bool which_has_labels(const struct jw_which *which);
/* Appends what one release does: “fails: no code for sm_61”. `timed`: with the time that it
 * compiles, although its main library has machine code. */
void release_says(struct buf *text, const struct jw_which_release *release, bool timed);

/* Adds the rows of the answer to the advice: with `each` one for each release, else those of
 * releases with the same answer, at most JW_WHICH_ROWS. `timed` as for release_says. */
void advice_add_rows(struct jw_which_advice *advice, bool each, bool timed);
/* Adds the row of one release, whatever is known of it. */
void advice_add_row(struct jw_which_advice *advice, const struct jw_which_release *release);
