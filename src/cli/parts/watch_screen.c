#include "cli/parts/watch_screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "os/console.h"
#include "os/env.h"

enum { MOST_SCREEN = 1 << 16, MOST_LINE_TEXT = 4096 };

void watch_screen_open(struct watch_screen *screen, const struct output *output)
{
	char *term = os_env("TERM");

	*screen = (struct watch_screen){.output = output, .text = BUF_MAX(MOST_SCREEN)};
	screen->shown =
		output_wants_text(output) && os_is_terminal(1) && !(term && !strcmp(term, "dumb"));
	mem_free(term);
}

/* Drops characters at the end until it fits; never a part of one. */
static void cut_to(struct buf *line, size_t columns)
{
	while (line->size && terminal_width(buf_text(line)) > columns) {
		do
			line->size--;
		while (line->size && (line->data[line->size] & 0xc0) == 0x80);
		line->data[line->size] = 0;
	}
}

void watch_screen_line(struct watch_screen *screen, enum style style, const char *format, ...)
{
	const bool color = screen->output->color;
	struct buf line = BUF_MAX(MOST_LINE_TEXT);
	va_list arguments;
	char *text;

	if (!screen->shown || screen->count == WATCH_SCREEN_LINES)
		return;
	if (!screen->count)
		screen->columns = os_terminal_columns(1);
	va_start(arguments, format);
	text = language_translated(mem_vprintf(NULL, format, arguments));
	va_end(arguments);
	if (text)
		(void)terminal_append(NULL, &line, text);
	terminal_to_locale(&line);
	/* Some terminals wrap behind their last column. */
	cut_to(&line, screen->columns ? screen->columns - 1 : 0);
	screen->next_widths[screen->count++] = terminal_width(buf_text(&line));
	(void)buf_printf(NULL, &screen->text, "%s%s%s\n", style_begin(color, style), buf_text(&line),
					 style_end(color, style));
	buf_free(&line);
	mem_free(text);
}

/* A terminal that has become narrower has wrapped them. */
static size_t rows_drawn(const struct watch_screen *screen, unsigned columns)
{
	size_t rows = screen->drawn;

	for (size_t i = 0; columns && i < screen->drawn; i++)
		rows += screen->widths[i] ? (screen->widths[i] - 1) / columns : 0;
	return rows;
}

static void replace_lines(struct watch_screen *screen, const char *lines)
{
	const size_t rows = rows_drawn(screen, os_terminal_columns(1));
	char *whole = rows ? mem_printf(NULL, "\x1b[%zuA\r\x1b[J%s", rows, lines) : NULL;

	if (whole || !rows)
		output_put(1, whole ? whole : lines);
	(void)fflush(stdout);
	mem_free(whole);
}

void watch_screen_draw(struct watch_screen *screen)
{
	if (!screen->shown)
		return;
	replace_lines(screen, buf_text(&screen->text));
	memcpy(screen->widths, screen->next_widths, sizeof screen->widths);
	screen->drawn = screen->count;
	screen->count = 0;
	buf_clear(&screen->text);
}

void watch_screen_close(struct watch_screen *screen)
{
	if (screen->shown && screen->drawn)
		replace_lines(screen, "");
	buf_free(&screen->text);
	screen->drawn = 0;
	screen->shown = false;
}
