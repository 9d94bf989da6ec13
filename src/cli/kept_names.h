/* Names that no language changes: those of the command line and of what was found there.
 *
 * A line is translated when it is complete (cli/translate.h), and a file may be called “modules” or
 * “x: nothing to compile”. So the names that a run can meet are kept beforehand. One of several
 * words is taken out of a line before it is compared with the catalogue; one of a single word is
 * refused where it would be translated. */
#pragma once

#include "base/buf.h"

struct kept_names {
	char **names;
	size_t count, capacity;
};

/* Beyond a bound, and without memory, a name is not kept. */
void kept_names_add(struct kept_names *kept, const char *name);
void kept_names_free(struct kept_names *kept);
bool kept_names_has(const struct kept_names *kept, const char *text, size_t size);

/* The line with a mark instead of each name of several words; false: without memory, or the line
 * has such marks itself. */
bool kept_names_hide(const struct kept_names *kept, const char *line, struct buf *ret_hidden);
/* Puts the names back; a text without memory for that becomes lacking. */
void kept_names_show(const struct kept_names *kept, struct buf *text);
