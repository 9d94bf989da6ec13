/* Shared by the files that read and write journals (journal.h). */
#pragma once

#include "bake/journal.h"

enum { JOURNAL_TRAILER = 24, JOURNAL_RANGE = 16 };
extern const char journal_magic[8];

/* Appends the document. */
int journal_document(struct jw_error *err, const struct journal *journal, struct buf *text);
