/* Errors of CUDA that users type in place of a name: “jitwarm check 222”. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* If the words are an error's number, name or sentence, sets the error to its cause and the next
 * command, and returns true. */
bool error_words_explain(struct jw_error *err, const char *const *words, size_t count);
