/* Words that people type for a command, an option or a value of jitwarm: data/words.tsv. What no
 * row means gets the nearest name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

/* A row; `means` has NULL if the row has no third cell (data/README.md). */
struct word {
	const char *kind, *typed;
	const char *means[1];
};

/* Returns the next row of a kind; NULL after the last one. `at` is 0 at first. */
const struct word *words_next(const char *kind, size_t *at);
/* Returns the next row of a kind for a word, in any letter case. */
const struct word *words_typed(const char *kind, const char *typed, size_t length, size_t *at);

enum { WORDS_GPU = 200 };
/* Returns the number of leading words that are one GPU (“rtx 5090”, “RTX 3070 Ti”) and no file, and
 * its name as one word; 0 if there is none. */
size_t words_gpu(const char *const *words, size_t count, char ret_name[WORDS_GPU]);
/* Returns what to do about a slow start if a word of a text is one of a row “slow”, else NULL. */
const char *words_advise_slow(const char *text);

/* Refuses a line that begins with no command, JW_ERR_USAGE. `count` words are not options. */
int words_refuse(struct jw_error *err, const struct cli_command *const *commands,
				 const char *const *words, size_t count);
