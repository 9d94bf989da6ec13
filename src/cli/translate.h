/* Translates finished lines by a catalogue of formats.
 *
 * Messages are put together from many pieces, in the library too, and the same texts go to JSON and
 * into files in English. So a line is translated when it is complete: it is compared with the
 * catalogue's formats, and what stands where a format has a conversion is put into the translation,
 * after it has been translated itself where it is a message. No text of a catalogue is ever a
 * format of printf. Where nothing fits, lines are taken apart at “; ”, “: ”, “, ” and “. ”; what
 * does not fit either stays English. The work for a line is bounded, whatever names are in it. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* As in a .po file. `plural` may be NULL: the format for counts other than 1. `text` "": missing.
 */
struct message {
	const char *id, *plural, *text;
};

struct translator;

int translator_make(struct jw_error *err, const struct message *messages, size_t count,
					struct translator **ret_translator);
void translator_free(struct translator *translator);

/* A name that no line is to change. */
void translator_keep(struct translator *translator, const char *name);
/* The text of a message that is `english` as it stands, or NULL. */
const char *translator_text(const struct translator *translator, const char *english);
/* A new text; NULL where no part of the line has a translation, or without memory. */
char *translator_line(const struct translator *translator, const char *english);
