/* One table of a TOML file: its strings, booleans and numbers, and arrays of these. Other tables
 * are skipped, whatever they hold. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct toml_value {
	char *key;
	char **items; /* without quotes; of a value that is no array, one */
	size_t count;
	bool text; /* the first item is a string, not a boolean or a number */
	size_t line;
};

struct toml_table {
	struct toml_value *values;
	size_t count, capacity;
};

/* `name`: "tool.jitwarm.lint". A missing table is empty. JW_ERR_FORMAT names the line of what
 * cannot be read. The caller frees the table with jw_result_free. */
int toml_table_read(struct jw_error *err, const char *text, const char *name,
					struct toml_table **ret_table);
