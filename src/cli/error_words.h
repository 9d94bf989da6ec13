/* Errors of CUDA that users type in place of a name: “jitwarm check 222”. */
#pragma once

#include "base/error.h"
#include "cli/options.h"

/* If the operands are an error's number, name or sentence, replaces the error “not found” by the
 * cause and the next command. */
void error_words_explain(struct jw_error *err, const struct options *options);
