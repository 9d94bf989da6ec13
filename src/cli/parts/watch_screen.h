/* A few lines on a terminal that are drawn again in their place. Nothing of the terminal is changed
 * that would have to be restored, so that a program that is killed leaves it as it was. */
#pragma once

#include "cli/output.h"

enum { WATCH_SCREEN_LINES = 12 };

struct watch_screen {
	const struct output *output;
	bool shown;
	size_t widths[WATCH_SCREEN_LINES]; /* of the lines that stand there */
	size_t drawn;
	struct buf text; /* the next ones */
	size_t next_widths[WATCH_SCREEN_LINES];
	size_t count;
	unsigned columns;
};

/* `shown`: standard output is a terminal that can move its cursor, and text is wanted. */
void watch_screen_open(struct watch_screen *screen, const struct output *output);
/* One more line, translated, made harmless and cut to the terminal's width. */
void watch_screen_line(struct watch_screen *screen, enum style style, const char *format, ...)
	JW_PRINTF(3, 4);
/* Shows these lines instead of those before. */
void watch_screen_draw(struct watch_screen *screen);
/* Removes the lines. */
void watch_screen_close(struct watch_screen *screen);
