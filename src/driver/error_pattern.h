/* Patterns of error messages, as data/errors.tsv has them. Letters stand for themselves, large or
 * small; “*” for a word or number, which may be empty at the end of a name; “ ~ ” for no or some
 * words of the same sentence; “{not}” for one of the words that data/error-words.tsv lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CAPTURED_WORDS = 4, CAPTURED_WORD = 48 };

/* The words that stand for the “*” of a pattern. */
struct captured {
	char words[CAPTURED_WORDS][CAPTURED_WORD];
	size_t count;
};

/* Returns whether a byte belongs to a word or number. */
bool error_pattern_in_name(char c);

/* Returns the length of a text's part that a pattern of LENGTH bytes takes at the text's start, and
 * the words in it; 0 if the text does not begin with it. A name ends where the text's name ends:
 * cudaErrorInvalidDevice is not cudaErrorInvalidDeviceFunction. */
size_t error_pattern_begins(const char *text, const char *pattern, size_t length,
							struct captured *ret_captured);

/* Calls TAKE with the first and second letter, in lower case, with which a text of this pattern of
 * LENGTH bytes may begin; the second is 0 where it may be any. */
void error_pattern_letters(const char *pattern, size_t length,
						   void (*take)(unsigned char first, unsigned char second, void *data),
						   void *data);
