/* What commands print: text and JSON on standard output, everything about trouble on standard
 * error.
 *
 * With --json nothing but one document goes to standard output; with --quiet no text at all (a
 * document asked for by --json still does). Colours only where the stream is a terminal, TERM is
 * not "dumb" and NO_COLOR is not set. Text is made harmless for terminals here (terminal.h), so
 * callers pass names of files as they are. At a terminal a line is
 * broken at spaces to fit; elsewhere it stays one, for programs that read lines.
 */
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/error.h"

struct output {
	bool json, quiet;
	bool color, error_color; /* on standard output, on standard error */
	bool has_document;       /* output_json has printed */
};

enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_WARN, STYLE_BAD };

/* Looks at the streams and the environment. */
struct output output_open(bool json, bool quiet);

/* The columns that text is laid out for: the terminal's behind `fd`, else $COLUMNS, else 80; from
 * 40 to 200. */
unsigned output_columns(int fd);

/* Whether text on standard output is wanted at all. */
bool output_wants_text(const struct output *output);

/* One line (without its line feed) on standard output, unless --json or --quiet. */
void output_line(const struct output *output, enum style style, const char *format, ...)
	JW_PRINTF(3, 4);
/* A line on `count` things, none where it is 0: `head`, the count, and the text that agrees with
 * it. */
void output_count(const struct output *output, enum style style, const char *head, size_t count,
				  const char *one, const char *many);
/* Prepared text with its own line feeds, as it is (help, tables). */
void output_text(const struct output *output, const char *text);

/* "jitwarm: …" on standard error. A note or a warning is silent with --quiet; an error never is. */
void output_note(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);
void output_warning(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);
void output_error(const struct output *output, const char *format, ...) JW_PRINTF(2, 3);

/* A command to be copied, below a warning: on one line, however long. */
void output_command(const struct output *output, const char *what, const char *command);

/* The first `most` lines of a compiler's log by one of these three, indented below the failure that
 * they explain. */
void output_log(const struct output *output,
				void (*print)(const struct output *output, const char *format, ...),
				const char *log, size_t most);

/* Prints a document (cli/documents/documents.h). */
int output_json(struct jw_error *err, struct output *output, const cJSON *document);

/* Escape sequences that begin and end a style; "" where colour is off. */
const char *style_begin(bool color, enum style style);
const char *style_end(bool color, enum style style);

/* Flushes standard output: a full disk is noticed here. */
int output_close(struct jw_error *err);
