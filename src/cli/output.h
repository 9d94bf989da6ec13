/* The output of commands: text and JSON on standard output; errors, warnings and notes on standard
 * error.
 *
 * With --json standard output gets one document and nothing else; with --quiet it gets no text (a
 * document requested by --json is still printed). Colours are used only if the stream is a
 * terminal, TERM is not "dumb" and NO_COLOR is not set. This layer makes text harmless for
 * terminals (terminal.h), so callers pass file names unchanged. Lines are broken at spaces to fit
 * the terminal, and in a file or pipe to fit the command's columns, or those of $COLUMNS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/error.h"

struct gpu_names;

struct output {
	bool json, quiet;
	bool progress_json;                /* for --progress json */
	bool color, error_color;           /* for standard output, for standard error */
	const struct gpu_names *gpu_names; /* as the user typed them (gpu_targets.h); NULL: none */
	bool has_document;                 /* output_json has printed */
};

enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_WARN, STYLE_BAD };

/* Examines the streams and the environment. */
struct output output_open(bool json, bool quiet);

/* Sets the columns of lines in files and pipes, without $COLUMNS; initially 80. */
void output_set_columns(unsigned columns);

/* Returns the columns for layout: the terminal's at `fd`, else $COLUMNS, else those of
 * output_set_columns; from 40 to 200. */
unsigned output_columns(int fd);

/* Returns whether text is printed on standard output. */
bool output_wants_text(const struct output *output);

/* Prints one line (without its line feed) on standard output, unless --json or --quiet. */
void output_line(const struct output *output, enum style style, const char *format, ...)
	JW_PRINTF(3, 4);
/* Prints a line about `count` things, or nothing if it is 0: `head`, the count, the text that
 * agrees. */
void output_count(const struct output *output, enum style style, const char *head, size_t count,
				  const char *one, const char *many);
/* Prints a text as it is, to standard output or (2) standard error, in one piece if that is a
 * console. */
void output_put(int fd, const char *text);
/* Prints prepared text with its own line feeds (help, tables) unchanged. */
void output_text(const struct output *output, const char *text);

/* Prints a text that a program reads, unchanged. JW_ERR_USAGE if a name in it has characters that
 * control a terminal or hide text. */
int output_script(struct jw_error *err, const struct output *output, const char *text);

/* Print "jitwarm: …" on standard error. A note or a warning is silent with --quiet; an error never
 * is. */
void output_note(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);
void output_warning(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);
void output_error(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);

/* Commands for copying are on one line, however long, because a shell takes each line for a
 * command. They stay as they are in every language and locale, because a translation could move a
 * quote. next_step.h prints them. This prints a line on standard output: `text`, and the
 * command. */
void output_line_command(const struct output *output, enum style style, const char *text,
						 const char *command);
/* Prints a command below its warning or note; `what` says what it does ("without sudo"). */
void output_command(const struct output *output, const char *what, const char *command);

/* Prints the first `most` lines of a compiler's log with one of these three functions, indented
 * below the failure that they explain. */
void output_log(const struct output *output,
				void (*print)(const struct output *output, const char *format, ...),
				const char *log, size_t most);

/* Prints a document (cli/document.h). */
void output_json(struct output *output, const cJSON *document);

/* From here on output_silence shows on a terminal how long the command has been working, unless
 * --quiet or --progress json. */
void output_watch_silence(const struct output *output);
/* Draws that line once nothing has been printed for ten seconds; the next output erases it. Any
 * thread may call this often. */
void output_silence(void);

/* Writes what standard output holds back, before anything else is written to the same place. */
void output_flush(void);
/* Flushes standard output and reports a full disk. */
int output_close(struct jw_error *err);

/* Tables of text with aligned columns.
 *
 *     struct table table = {
 *         .columns = 2, .titles = {"library", "size"}, .align = {[1] = TABLE_RIGHT}};
 *     table_cell(&table, STYLE_PLAIN, "%s", name);  table_cell(&table, STYLE_GOOD, "%s", size);
 *     ... a cell a column, row after row ...
 *     table_print(err, &table, &cli->out);  table_free(&table);
 *
 * If a terminal is too narrow for the columns, each cell has a line, after its title; without
 * titles each row is folded, and its last cell stays in its column. */
enum table_align { TABLE_LEFT, TABLE_RIGHT };
enum { TABLE_MAX_COLUMNS = 16 };

struct table {
	size_t columns;
	const char *titles[TABLE_MAX_COLUMNS]; /* if there are none, the table has no head */
	enum table_align align[TABLE_MAX_COLUMNS];
	struct table_cell *cells; /* private */
	size_t count, capacity;
};

void table_cell(struct table *table, enum style style, const char *format, ...) JW_PRINTF(3, 4);
/* Adds a name from outside, which stays as it is in every language. */
void table_name(struct table *table, enum style style, const char *name);
int table_print(struct jw_error *err, const struct table *table, const struct output *output);
void table_free(struct table *table);
