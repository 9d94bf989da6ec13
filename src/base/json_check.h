/* Checks that a text is JSON (RFC 8259) whose strings have no NUL and whose objects have each
 * member once. JW_ERR_FORMAT if it is not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/* The text, before parsing. */
int json_check_text(struct jw_error *err, const char *text, size_t size);
/* The names, after parsing. */
int json_check_names(struct jw_error *err, const cJSON *value);
