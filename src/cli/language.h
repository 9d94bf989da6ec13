/* The language of output, chosen once, by the locale (on Windows by the display language).
 *
 * The program makes all of its messages in English, and JSON, logs and files get them in English.
 * While another language is chosen, each text that base/text.h formats is also made in that
 * language, from the translation of its format and from the translations of those arguments that
 * are texts of the program themselves; when a line is printed, its translation is looked up. No
 * translation is ever a format of printf.
 *
 * The messages of other languages are in the program (po/, cmake/Catalogue.cmake): no file that
 * another account could write to is read, whatever the environment says. Before language_open, and
 * if the locale is not UTF-8, everything is in English. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A message as in a .po file. `plural`, the format for counts other than 1, may be NULL. `text` is
 * "" if missing. */
struct message {
	const char *id, *plural, *text;
};

void language_open(void);
/* "en", "ko" */
bool language_is_known(const char *name);
/* Chooses "ko" or "en", whatever the locale is; false if there is no such language. */
bool language_choose(const char *name);
/* Uses messages that live longer than the choice. */
void language_use(const struct message *messages, size_t count);
/* Switches to English: the following output is for a program, or for readers of other languages. */
void language_close(void);

/* Marks a file's or a package's name, which is not a message, whatever it reads like. */
void language_keep(const char *name);

/* Returns the translation of a whole message of the program, or the message itself. Valid until
 * language_close. */
const char *language_text(const char *english);
/* Returns the translation of a finished line; the caller frees it. NULL if the line stays as it
 * is. */
char *language_line(const char *english);
/* Returns a line that the caller frees, or its translation in its place. */
char *language_translated(char *english);
