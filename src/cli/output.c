#include "cli/output.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "os/clock.h"
#include "os/console.h"
#include "os/env.h"
#include "os/interrupt.h"

enum { MAX_LINE = 1 << 20, NARROWEST = 40, WIDEST = 200 };

static bool variable_is(const char *name, const char *wanted)
{
	char *value = os_env(name);
	bool is = value && (wanted ? !strcmp(value, wanted) : *value != 0);

	mem_free(value);
	return is;
}

struct output output_open(bool json, bool quiet)
{
	/* https://no-color.org: the variable counts if it is set and not empty. */
	bool color = !variable_is("NO_COLOR", NULL) && !variable_is("TERM", "dumb");

	return (struct output){.json = json,
						   .quiet = quiet,
						   .color = color && os_is_terminal(1),
						   .error_color = color && os_is_terminal(2)};
}

bool output_wants_text(const struct output *output)
{
	return !output->json && !output->quiet;
}

static const char *style_begin(bool color, enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "",        [STYLE_STRONG] = "\x1b[1m", [STYLE_FAINT] = "\x1b[2m",
		[STYLE_GOOD] = "\x1b[32m", [STYLE_WARN] = "\x1b[33m",  [STYLE_BAD] = "\x1b[31m"};

	return color ? codes[style] : "";
}

/* Return the escape sequences that begin and end a style; "" if colour is off. */
static const char *style_end(bool color, enum style style)
{
	return color && style != STYLE_PLAIN ? "\x1b[0m" : "";
}

static unsigned piped_columns = 80;

void output_set_columns(unsigned columns)
{
	piped_columns = columns;
}

/* Returns the columns of a line, at least NARROWEST. */
static uint64_t line_columns(int fd)
{
	const bool terminal = os_is_terminal(fd);
	char *variable = terminal ? NULL : os_env("COLUMNS");
	uint64_t columns = terminal ? os_terminal_columns(fd) : piped_columns;

	if (variable)
		(void)text_number(variable, MAX_LINE, &columns);
	mem_free(variable);
	return columns < NARROWEST ? NARROWEST : columns;
}

unsigned output_columns(int fd)
{
	const uint64_t columns = line_columns(fd);

	return columns > WIDEST ? WIDEST : (unsigned)columns;
}

/* Folds a harmless line. */
static void fit(struct buf *line, int fd, size_t command, size_t taken)
{
	struct buf folded = BUF_MAX(MAX_LINE);

	terminal_fold(&folded, buf_text(line), command, taken, (size_t)line_columns(fd));
	if (folded.overflowed) {
		buf_free(&folded);
		return;
	}
	buf_free(line);
	*line = folded;
}

static void lay_out(struct buf *ret_line, int fd, size_t taken, const char *text)
{
	*ret_line = BUF_MAX(MAX_LINE);
	terminal_append(ret_line, text);
	fit(ret_line, fd, 0, taken);
	terminal_to_locale(ret_line);
}

/* Waits, if nobody reads standard error, until somebody does, or until the command has to end. */
static bool may_write(int fd)
{
	enum { POLL_MS = 100 };

	while (fd == 2 && !os_fd_takes(fd, POLL_MS))
		if (os_interrupted())
			return false;
	return true;
}

/* The first reason why standard output failed, because calls in between change errno; 0 if it has
 * not failed. */
static int output_failure;

static void note_write_failure(bool failed)
{
	if (failed && !output_failure)
		output_failure = errno ? errno : EIO;
}

void output_flush(void)
{
	errno = 0;
	note_write_failure(fflush(stdout) != 0);
}

/* ---- a command that prints nothing for long */

static const uint64_t SECOND_NS = 1000000000, SILENCE_NS = 10000000000;
static uint64_t began_ns;
static _Atomic uint64_t draw_ns; /* when the line is drawn next; 0: never */
static atomic_bool is_drawn;
static atomic_flag drawing = ATOMIC_FLAG_INIT; /* taken by the thread that draws or erases it */

static void write_stream(int fd, const char *text);

void output_watch_silence(const struct output *output)
{
	if (output->quiet || output->progress_json || !terminal_rewrites(2))
		return;
	began_ns = os_monotonic_ns();
	draw_ns = began_ns + SILENCE_NS;
}

void output_silence(void)
{
	uint64_t due = draw_ns;
	const uint64_t now = due ? os_monotonic_ns() : 0, seconds = (now - began_ns) / SECOND_NS;
	char duration[TEXT_SHORT], *line, *whole;

	if (!due || now < due || !atomic_compare_exchange_strong(&draw_ns, &due, now + SECOND_NS) ||
		!os_has_terminal(2) || !os_fd_takes(2, 0) || atomic_flag_test_and_set(&drawing))
		return;
	line =
		language_translated(mem_printf("working for %s", text_duration(duration, (double)seconds)));
	whole = mem_printf("\rjitwarm: %s\x1b[K", line);
	write_stream(2, whole);
	is_drawn = true;
	atomic_flag_clear(&drawing);
	mem_free(whole);
	mem_free(line);
}

/* Erases the line, since something else is about to be printed. */
static void end_silence(void)
{
	if (draw_ns)
		draw_ns = os_monotonic_ns() + SILENCE_NS;
	while (atomic_flag_test_and_set(&drawing))
		continue; /* a line is drawn in microseconds */
	if (atomic_exchange(&is_drawn, false))
		write_stream(2, "\r\x1b[K");
	atomic_flag_clear(&drawing);
}

void output_put(int fd, const char *text)
{
	end_silence();
	write_stream(fd, text);
}

static void write_stream(int fd, const char *text)
{
	FILE *stream = fd == 2 ? stderr : stdout;
	const size_t size = strlen(text);

	/* A pipe takes a piece at once, so Ctrl-C ends the wait for its reader. */
	if (!os_terminal_write(fd, text, size)) {
		for (size_t at = 0, piece; at < size && may_write(fd); at += piece) {
			piece = size - at < OS_FD_TAKES ? size - at : OS_FD_TAKES;
			errno = 0;
			note_write_failure(fwrite(text + at, 1, piece, stream) < piece && fd == 1);
		}
	}
	/* stderr is unbuffered on POSIX, and buffered on Windows. */
	if (fd == 2)
		(void)fflush(stream);
}

/* Makes a line harmless and prints it, in one piece. */
static void put_line(const struct output *output, int fd, enum style style, const char *head,
					 const char *text)
{
	const bool color = fd == 2 ? output->error_color : output->color;
	struct buf line;
	char *whole;

	/* Keeps the order of lines when both streams go to one place. */
	if (fd == 2)
		output_flush();
	lay_out(&line, fd, terminal_width(head), text);
	whole = mem_printf("%s%s%s%s\n", head, style_begin(color, style), buf_text(&line),
					   style_end(color, style));
	output_put(fd, whole);
	mem_free(whole);
	buf_free(&line);
}

static void print_line(const struct output *output, int fd, enum style style, const char *head,
					   const char *format, va_list arguments) JW_PRINTF(5, 0);
static void print_line(const struct output *output, int fd, enum style style, const char *head,
					   const char *format, va_list arguments)
{
	char *text = language_translated(mem_vprintf(format, arguments));

	put_line(output, fd, style, head, text);
	mem_free(text);
}

void output_line(const struct output *output, enum style style, const char *format, ...)
{
	va_list arguments;

	if (!output_wants_text(output))
		return;
	va_start(arguments, format);
	print_line(output, 1, style, "", format, arguments);
	va_end(arguments);
}

void output_count(const struct output *output, enum style style, const char *head, size_t count,
				  const char *one, const char *many)
{
	if (count)
		output_line(output, style, "%s%s", head, TEXT_COUNT(count, one, many));
}

void output_text(const struct output *output, const char *text)
{
	if (output_wants_text(output))
		output_put(1, text);
}

int output_script(struct jw_error *err, const struct output *output, const char *text)
{
	const size_t size = strlen(text);
	uint32_t point;

	for (size_t at = 0, begin = 0, length; at < size; at += length) {
		length = text_utf8_next(text + at, size - at, &point);
		if (!length || (text_is_hidden(point) && !strchr("\n\t", text[at]) &&
						strncmp(text + at, "\r\n", 2) != 0))
			return error_set(err, JW_ERR_USAGE,
							 "the line “%.*s” would have hidden or control characters: rename the "
							 "file or folder that the line names",
							 (int)strcspn(text + begin, "\r\n"), text + begin);
		if (text[at] == '\n')
			begin = at + 1;
	}
	output_text(output, text);
	return 0;
}

void output_note(const struct output *output, const char *format, ...)
{
	va_list arguments;

	if (output->quiet)
		return;
	va_start(arguments, format);
	print_line(output, 2, STYLE_PLAIN, "jitwarm: ", format, arguments);
	va_end(arguments);
}

void output_warning(const struct output *output, const char *format, ...)
{
	va_list arguments;

	if (output->quiet)
		return;
	va_start(arguments, format);
	print_line(output, 2, STYLE_WARN, language_text("jitwarm: warning: "), format, arguments);
	va_end(arguments);
}

void output_error(const struct output *output, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(output, 2, STYLE_BAD, "jitwarm: ", format, arguments);
	va_end(arguments);
}

void output_line_command(const struct output *output, enum style style, const char *text,
						 const char *command)
{
	struct buf line = BUF_MAX(2 * MAX_LINE), clean = BUF_MAX(MAX_LINE);
	char *translated, *whole;

	if (!output_wants_text(output))
		return;
	translated = language_line(text);
	terminal_append(&line, translated ? translated : text);
	terminal_append(&clean, command);
	buf_add(&line, "%s", buf_text(&clean));
	fit(&line, 1, line.size - clean.size, 0);
	/* The command keeps its signs in every locale. */
	line.data[line.size -= clean.size] = '\0';
	terminal_to_locale(&line);
	whole = mem_printf("%s%s%s%s\n", style_begin(output->color, style), buf_text(&line),
					   buf_text(&clean), style_end(output->color, style));
	output_put(1, whole);
	mem_free(whole);
	mem_free(translated);
	buf_free(&line);
	buf_free(&clean);
}

void output_command(const struct output *output, const char *what, const char *command)
{
	static const char head[] = "jitwarm: ";
	struct buf line = BUF_MAX(2 * MAX_LINE), clean = BUF_MAX(MAX_LINE);
	char *whole;

	if (output->quiet)
		return;
	output_flush();
	terminal_append(&clean, command);
	buf_add(&line, "    %s: %s", language_text(what), buf_text(&clean));
	fit(&line, 2, line.size - clean.size, terminal_width(head));
	whole = mem_printf("%s%s%s%s\n", head, style_begin(output->error_color, STYLE_WARN),
					   buf_text(&line), style_end(output->error_color, STYLE_WARN));
	output_put(2, whole);
	mem_free(whole);
	buf_free(&line);
	buf_free(&clean);
}

void output_log(const struct output *output,
				void (*print)(const struct output *output, const char *format, ...),
				const char *log, size_t most)
{
	char line[400];

	for (log += strspn(log, "\n"); *log && most > 0; most--) {
		size_t length = strcspn(log, "\n"), used = 0;

		for (; used < length && used < sizeof line - 1; used++)
			line[used] = (char)(log[used] == '\t' ? ' ' : log[used]);
		line[used] = '\0';
		print(output, "    %s", line);
		log += length + strspn(log + length, "\n");
	}
	if (*log)
		print(output, "    …");
}

void output_json(struct output *output, const cJSON *document)
{
	char *text = json_lines(document);

	output_put(1, text);
	output_put(1, "\n");
	output->has_document = true;
	cJSON_free(text);
}

int output_close(struct jw_error *err)
{
	end_silence();
	output_flush();
	return output_failure
			   ? error_set(err, JW_ERR_IO, "standard output: %s", strerror(output_failure))
			   : 0;
}

enum { MAX_TEXT = 1 << 30, MAX_CELL = 1 << 16, GAP = 2 };

struct table_cell {
	const char *text; /* already harmless for terminals */
	size_t width;
	enum style style;
	char *own; /* the text of a cell; NULL for a title */
};

void table_name(struct table *table, enum style style, const char *name)
{
	struct buf clean = BUF_MAX(MAX_CELL);
	char *text;

	VEC_GROW(table->cells, table->capacity, table->count);
	terminal_append(&clean, name);
	text = mem_string(buf_text(&clean));
	table->cells[table->count++] = (struct table_cell){text, terminal_width(text), style, text};
	buf_free(&clean);
}

void table_cell(struct table *table, enum style style, const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	text = language_translated(mem_vprintf(format, arguments));
	va_end(arguments);
	table_name(table, style, text);
	mem_free(text);
}

/* Appends each cell with its padding, and `end`; no line ends in blanks. */
static int add_row(struct jw_error *err, struct buf *buf, const struct table *table,
				   const size_t *widths, const struct table_cell *cells, bool color,
				   const char *end)
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
	while (buf->size && buf->data[buf->size - 1] == ' ')
		buf->size--;
	return buf_printf(err, buf, "%s", end);
}

static size_t title_width(const struct table *table, size_t column)
{
	return terminal_width(language_text(table->titles[column]));
}

/* Prints "title text", one line for each non-empty cell. */
static void print_as_lines(const struct table *table, size_t first, const struct output *output)
{
	struct buf line = BUF_MAX(MAX_TEXT);
	size_t widest = 0;

	for (size_t i = 0; i < table->columns; i++)
		widest = title_width(table, i) > widest ? title_width(table, i) : widest;
	for (size_t i = 0; i < table->columns; i++) {
		const struct table_cell *cell = &table->cells[first + i];

		if (!*cell->text)
			continue;
		buf_add(&line, "%s%*s  %s", language_text(table->titles[i]),
				(int)(widest - title_width(table, i)), "", cell->text);
		put_line(output, 1, cell->style, "", buf_text(&line));
		buf_clear(&line);
	}
	buf_free(&line);
}

/* Prints a row that put_line folds. The cells are padded to `widths`, unless that leaves the last
 * cell less than half of the terminal. */
static void print_folded(const struct table *table, const size_t *widths,
						 const struct table_cell *cells, const struct output *output)
{
	struct buf line = BUF_MAX(MAX_TEXT);
	size_t own[TABLE_MAX_COLUMNS], before_last = 0;

	for (size_t i = 0; i < table->columns; i++) {
		own[i] = cells[i].width;
		before_last += i + 1 < table->columns ? widths[i] + GAP : 0;
	}
	if (!add_row(NULL, &line, table, before_last <= line_columns(1) / 2 ? widths : own, cells,
				 false, ""))
		put_line(output, 1, STYLE_PLAIN, "", buf_text(&line));
	buf_free(&line);
}

/* Prints a table for a terminal that is too narrow for the columns side by side. */
static bool print_narrow(const struct table *table, const size_t *widths,
						 const struct output *output)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->columns; i++)
		sum += widths[i] ? widths[i] + (i ? GAP : 0) : 0;
	/* Programs read the rows of a table with titles. */
	if (sum <= line_columns(1) || (table->titles[0] && !os_is_terminal(1)))
		return false;
	for (size_t i = 0; i < table->count; i += table->columns) {
		if (!table->titles[0]) {
			print_folded(table, widths, &table->cells[i], output);
			continue;
		}
		if (i)
			output_line(output, STYLE_PLAIN, "%s", "");
		print_as_lines(table, i, output);
	}
	return true;
}

static bool is_column_empty(const struct table *table, size_t column)
{
	for (size_t i = column; i < table->count; i += table->columns)
		if (*table->cells[i].text)
			return false;
	return true;
}

/* A terminal gets no title of a last column without content. */
int table_print(struct jw_error *err, const struct table *table, const struct output *output)
{
	struct buf text = BUF_MAX(MAX_TEXT);
	struct table_cell head[TABLE_MAX_COLUMNS] = {{0}};
	size_t widths[TABLE_MAX_COLUMNS] = {0};
	int result = 0;

	if (!output_wants_text(output))
		return 0;
	assert(table->columns && table->count % table->columns == 0);
	for (size_t i = 0; table->titles[0] && i < table->columns; i++) {
		if (i + 1 == table->columns && os_is_terminal(1) && is_column_empty(table, i)) {
			head[i] = (struct table_cell){.text = ""};
			break;
		}
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
		result = add_row(err, &text, table, widths, head, output->color, "\n");
	for (size_t i = 0; !result && i < table->count; i += table->columns)
		result = add_row(err, &text, table, widths, &table->cells[i], output->color, "\n");
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
