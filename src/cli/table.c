#include "cli/table.h"

#include <assert.h>
#include <stdarg.h>

#include "base/mem.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "os/console.h"

enum { MOST_CELLS = 1 << 24, MOST_TEXT = 1 << 30, MOST_CELL = 1 << 16, GAP = 2 };

struct table_cell {
	const char *text; /* already harmless for terminals */
	size_t width;
	enum style style;
	char *own; /* the text of a cell; NULL: a title */
};

static int add_cell(struct table *table, enum style style, const char *raw)
{
	struct buf clean = BUF_MAX(MOST_CELL);
	struct table_cell cell = {.style = style};
	int result = -1;

	if (raw && !VEC_ROOM(NULL, table->cells, table->capacity, table->count, MOST_CELLS) &&
		!terminal_append(NULL, &clean, raw) && (cell.own = mem_string(NULL, buf_text(&clean)))) {
		cell.text = cell.own;
		cell.width = terminal_width(cell.text);
		table->cells[table->count++] = cell;
		result = 0;
	}
	buf_free(&clean);
	return result;
}

void table_cell(struct table *table, enum style style, const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	text = language_translated(mem_vprintf(NULL, format, arguments));
	va_end(arguments);
	table->failed = add_cell(table, style, text) || table->failed;
	mem_free(text);
}

void table_name(struct table *table, enum style style, const char *name)
{
	table->failed = add_cell(table, style, name) || table->failed;
}

/* Prints each cell with its padding; a left-aligned last column gets none. */
static int print_row(struct jw_error *err, struct buf *buf, const struct table *table,
					 const size_t *widths, const struct table_cell *cells, bool color)
{
	for (size_t i = 0; i < table->columns; i++) {
		const struct table_cell *cell = &cells[i];
		const bool last = i + 1 == table->columns, right = table->align[i] == TABLE_RIGHT;
		const int fill = (int)(widths[i] - cell->width);

		if (buf_printf(err, buf, "%*s%s%s%s%*s", right ? fill : 0, "",
					   style_begin(color, cell->style), cell->text, style_end(color, cell->style),
					   last ? 0 : (right ? 0 : fill) + GAP, ""))
			return -1;
	}
	return buf_append(err, buf, "\n", 1);
}

static size_t title_width(const struct table *table, size_t column)
{
	return terminal_width(language_text(table->titles[column]));
}

/* "title  text", one line per non-empty cell; without titles one line per row. */
static void print_as_lines(const struct table *table, size_t first, const struct output *output)
{
	struct buf line = BUF_MAX(MOST_TEXT);
	size_t widest = 0;

	for (size_t i = 0; table->titles[0] && i < table->columns; i++)
		widest = title_width(table, i) > widest ? title_width(table, i) : widest;
	for (size_t i = 0; i < table->columns; i++) {
		const struct table_cell *cell = &table->cells[first + i];

		if (!*cell->text)
			continue;
		if (table->titles[0]) {
			(void)buf_printf(NULL, &line, "%s%*s  %s", language_text(table->titles[i]),
							 (int)(widest - title_width(table, i)), "", cell->text);
			output_expect_whole(output, &line);
			output_line_as_it_is(output, cell->style, buf_text(&line));
			buf_clear(&line);
		} else {
			(void)buf_printf(NULL, &line, "%s%s", line.size ? "  " : "", cell->text);
		}
	}
	output_expect_whole(output, &line);
	if (!table->titles[0])
		output_line_as_it_is(output, STYLE_PLAIN, buf_text(&line));
	buf_free(&line);
}

/* Used if the terminal is too narrow for the columns side by side. */
static bool print_narrow(const struct table *table, const size_t *widths,
						 const struct output *output)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->columns; i++)
		sum += widths[i] + (i ? GAP : 0);
	if (!os_is_terminal(1) || sum <= output_columns(1))
		return false;
	for (size_t i = 0; i < table->count; i += table->columns) {
		if (i && table->titles[0])
			output_line(output, STYLE_PLAIN, "%s", "");
		print_as_lines(table, i, output);
	}
	return true;
}

int table_print(struct jw_error *err, const struct table *table, const struct output *output)
{
	struct buf text = BUF_MAX(MOST_TEXT);
	struct table_cell head[TABLE_MOST_COLUMNS] = {{0}};
	size_t widths[TABLE_MOST_COLUMNS] = {0};
	int result = 0;

	if (table->failed)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	assert(table->columns && table->count % table->columns == 0);
	for (size_t i = 0; table->titles[0] && i < table->columns; i++) {
		widths[i] = title_width(table, i);
		head[i] =
			(struct table_cell){language_text(table->titles[i]), widths[i], STYLE_STRONG, NULL};
	}
	for (size_t i = 0; table->columns && i < table->count; i++)
		if (table->cells[i].width > widths[i % table->columns])
			widths[i % table->columns] = table->cells[i].width;
	if (print_narrow(table, widths, output))
		return 0;
	if (table->titles[0])
		result = print_row(err, &text, table, widths, head, output->color);
	for (size_t i = 0; !result && i < table->count; i += table->columns)
		result = print_row(err, &text, table, widths, &table->cells[i], output->color);
	terminal_to_locale(&text);
	if (!result)
		output_text(output, buf_text(&text));
	buf_free(&text);
	return result;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		mem_free(table->cells[i].own);
	mem_free(table->cells);
	*table = (struct table){0};
}
