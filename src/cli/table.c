#include "cli/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/terminal.h"

enum { MOST_CELLS = 1 << 24, MOST_TEXT = 1 << 30, MOST_CELL = 1 << 16, GAP = 2 };

struct table_cell {
	char *text; /* harmless for terminals already */
	size_t width;
	enum style style;
};

void table_column(struct table *table, const char *title, enum table_align align)
{
	assert(table->columns < TABLE_MOST_COLUMNS);
	table->titles[table->columns] = title;
	table->align[table->columns++] = align;
}

static int add_cell(struct table *table, enum style style, const char *raw)
{
	struct buf clean = BUF_MAX(MOST_CELL);
	struct table_cell cell = {.style = style};

	if (VEC_ROOM(NULL, table->cells, table->capacity, table->count, MOST_CELLS) ||
		terminal_append(NULL, &clean, raw) || !(cell.text = mem_string(NULL, buf_text(&clean)))) {
		buf_free(&clean);
		return -1;
	}
	buf_free(&clean);
	cell.width = terminal_width(cell.text);
	table->cells[table->count++] = cell;
	return 0;
}

void table_cell(struct table *table, enum style style, const char *format, ...)
{
	char brief[256];
	char *whole = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(brief, sizeof brief, format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof brief) {
		whole = mem_alloc(NULL, (size_t)length + 1);
		va_start(arguments, format);
		if (whole)
			(void)vsnprintf(whole, (size_t)length + 1, format, arguments);
		va_end(arguments);
	}
	if (length < 0 || (length >= (int)sizeof brief && !whole) ||
		add_cell(table, style, whole ? whole : brief))
		table->failed = true;
	mem_free(whole);
}

/* A cell and the space behind it; the last column of a row is not filled up where it is on the
 * left. */
static int print_cell(struct jw_error *err, struct buf *buf, const struct table *table,
					  size_t column, size_t width, const struct table_cell *cell, bool color)
{
	bool last = column + 1 == table->columns, right = table->align[column] == TABLE_RIGHT;
	int fill = (int)(width - cell->width);

	return buf_printf(err, buf, "%*s%s%s%s%*s", right ? fill : 0, "",
					  style_begin(color, cell->style), cell->text, style_end(color, cell->style),
					  last ? 0 : (right ? 0 : fill) + GAP, "");
}

static int print_row(struct jw_error *err, struct buf *buf, const struct table *table,
					 const size_t *widths, const struct table_cell *cells, bool color)
{
	for (size_t i = 0; i < table->columns; i++)
		if (print_cell(err, buf, table, i, widths[i], &cells[i], color))
			return -1;
	return buf_append(err, buf, "\n", 1);
}

int table_print(struct jw_error *err, const struct table *table, const struct output *output)
{
	struct buf text = BUF_MAX(MOST_TEXT);
	struct table_cell head[TABLE_MOST_COLUMNS] = {{0}};
	size_t widths[TABLE_MOST_COLUMNS];
	bool has_head = false, color = output->color;
	int result = 0;

	if (table->failed)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	assert(table->columns && table->count % table->columns == 0);
	for (size_t i = 0; i < table->columns; i++) {
		head[i].width = widths[i] = terminal_width(table->titles[i]);
		has_head = has_head || widths[i];
		head[i].style = STYLE_STRONG;
		if (!(head[i].text = mem_string(err, table->titles[i])))
			result = -1;
	}
	for (size_t i = 0; table->columns && i < table->count; i++)
		if (table->cells[i].width > widths[i % table->columns])
			widths[i % table->columns] = table->cells[i].width;
	if (!result && has_head)
		result = print_row(err, &text, table, widths, head, color);
	for (size_t i = 0; !result && i < table->count; i += table->columns)
		result = print_row(err, &text, table, widths, &table->cells[i], color);
	if (!result)
		output_text(output, &text);
	for (size_t i = 0; i < table->columns; i++)
		mem_free(head[i].text);
	buf_free(&text);
	return result;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		mem_free(table->cells[i].text);
	mem_free(table->cells);
	*table = (struct table){0};
}
