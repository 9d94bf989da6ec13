/* The language of what people read: chosen once, by the locale (Windows: by the language of its
 * surface).
 *
 * The program makes all of its messages in English, and JSON, logs and files get them so. While
 * another language is chosen, each text that base/text.h formats is made in that language as well,
 * from the translation of its format and from the translations of those arguments that are texts
 * of the program themselves; where a line is printed, its translation is looked up. No translation
 * is ever a format of printf. The messages of other languages are in the program (po/,
 * cmake/Catalogue.cmake): no file that another account could write to is read, whatever the
 * environment says. Before language_open, and where the locale is not UTF-8, all is in English. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As in a .po file. `plural` may be NULL: the format for counts other than 1. `text` "": missing */
struct message {
	const char *id, *plural, *text;
};

void language_open(void);
/* "en", "ko" */
bool language_is_known(const char *name);
/* "ko", or "en", whatever the locale is; false: there is no such language. */
bool language_choose(const char *name);
/* The messages live longer than the choice. */
void language_use(const struct message *messages, size_t count);
/* From here on all is in English: what is printed is for a program, or for people elsewhere. */
void language_close(void);

/* A file's or a package's name, which is not a message, whatever it reads like. */
void language_keep(const char *name);

/* The translation of a whole message of the program, or itself. Valid until language_close. */
const char *language_text(const char *english);
/* The translation of a finished line; the caller frees it. NULL: the line stays as it is. */
char *language_line(const char *english);
/* The same for a line that the caller frees: that one, or its translation instead of it. */
char *language_translated(char *english);
