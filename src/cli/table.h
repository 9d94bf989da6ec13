/* Tables of text with aligned columns.
 *
 *     struct table table = {
 *         .columns = 2, .titles = {"library", "size"}, .align = {[1] = TABLE_RIGHT}};
 *     table_cell(&table, STYLE_PLAIN, "%s", name);  table_cell(&table, STYLE_GOOD, "%s", size);
 *     ... a cell a column, row after row ...
 *     table_print(err, &table, &cli->out);  table_free(&table);
 *
 * Where a terminal is too narrow for the columns, each cell has a line, behind its title. A failure
 * (out of memory) is remembered and reported by table_print.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/output.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };
enum { TABLE_MOST_COLUMNS = 16 };

struct table {
	size_t columns;
	const char *titles[TABLE_MOST_COLUMNS]; /* without any, the table has no head */
	enum table_align align[TABLE_MOST_COLUMNS];
	struct table_cell *cells; /* private */
	size_t count, capacity;
	bool failed;
};

void table_cell(struct table *table, enum style style, const char *format, ...) JW_PRINTF(3, 4);
/* A name from outside: it stays as it is, in every language. */
void table_name(struct table *table, enum style style, const char *name);
int table_print(struct jw_error *err, const struct table *table, const struct output *output);
void table_free(struct table *table);
