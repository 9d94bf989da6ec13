#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "os/console.h"
#include "os/env.h"

enum { MOST_LINE = 1 << 20, NARROWEST = 40, WIDEST = 200 };

static bool variable_is(const char *name, const char *wanted)
{
	char *value = os_env(name);
	bool is = value && (wanted ? !strcmp(value, wanted) : *value != 0);

	mem_free(value);
	return is;
}

struct output output_open(bool json, bool quiet)
{
	/* https://no-color.org: set and not empty. */
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

const char *style_begin(bool color, enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "",        [STYLE_STRONG] = "\x1b[1m", [STYLE_FAINT] = "\x1b[2m",
		[STYLE_GOOD] = "\x1b[32m", [STYLE_WARN] = "\x1b[33m",  [STYLE_BAD] = "\x1b[31m"};

	return color ? codes[style] : "";
}

const char *style_end(bool color, enum style style)
{
	return color && style != STYLE_PLAIN ? "\x1b[0m" : "";
}

unsigned output_columns(int fd)
{
	char *variable = os_is_terminal(fd) ? NULL : os_env("COLUMNS");
	uint64_t columns = os_terminal_columns(fd);

	if (variable)
		(void)text_number(variable, UINT32_MAX, &columns);
	mem_free(variable);
	return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : (unsigned)columns;
}

static void note_lacking(const struct output *output)
{
	if (output->lacking)
		*output->lacking = true;
}

void output_expect_whole(const struct output *output, const struct buf *text)
{
	if (text->lacking)
		note_lacking(output);
}

/* Makes a line harmless; fits it to a terminal's width. In a file a line is not broken. */
static void lay_out(struct buf *ret_line, int fd, size_t taken, const char *text)
{
	struct buf folded = BUF_MAX(MOST_LINE);

	*ret_line = BUF_MAX(MOST_LINE);
	if (terminal_append(NULL, ret_line, text) || !os_is_terminal(fd) ||
		terminal_fold(NULL, &folded, buf_text(ret_line), taken, output_columns(fd))) {
		buf_free(&folded);
	} else {
		buf_free(ret_line);
		*ret_line = folded;
	}
	terminal_to_locale(ret_line);
}

void output_put(int fd, const char *text)
{
	FILE *stream = fd == 2 ? stderr : stdout;
	const size_t size = strlen(text);

	if (!os_terminal_write(fd, text, size))
		(void)fwrite(text, 1, size, stream);
	/* stderr is unbuffered on POSIX, and buffered on Windows. */
	if (fd == 2)
		(void)fflush(stream);
}

/* Puts a line out as a whole; NULL: memory ended. */
static void put_whole(const struct output *output, int fd, char *whole)
{
	if (!whole)
		note_lacking(output);
	output_put(fd, whole ? whole : "out of memory\n");
	mem_free(whole);
}

/* Makes a line harmless and prints it; frees it. NULL: memory ended. */
static void put_finished(const struct output *output, int fd, enum style style, const char *head,
						 char *text)
{
	const bool color = fd == 2 ? output->error_color : output->color;
	struct buf line = {0};

	/* Keeps the order of lines when both streams go to one place. */
	if (fd == 2)
		(void)fflush(stdout);
	if (text)
		lay_out(&line, fd, terminal_width(head), text);
	output_expect_whole(output, &line);
	put_whole(output, fd,
			  text ? mem_printf(NULL, "%s%s%s%s\n", head, style_begin(color, style),
								buf_text(&line), style_end(color, style))
				   : NULL);
	buf_free(&line);
	mem_free(text);
}

static void print_line(const struct output *output, int fd, enum style style, const char *head,
					   const char *format, va_list arguments) JW_PRINTF(5, 0);
static void print_line(const struct output *output, int fd, enum style style, const char *head,
					   const char *format, va_list arguments)
{
	put_finished(output, fd, style, head,
				 language_translated(mem_vprintf(NULL, format, arguments)));
}

void output_line_as_it_is(const struct output *output, enum style style, const char *text)
{
	if (output_wants_text(output))
		put_finished(output, 1, style, "", mem_string(NULL, text));
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
		output_line(output, style, "%s%zu %s", head, count, count == 1 ? one : many);
}

void output_text(const struct output *output, const char *text)
{
	if (output_wants_text(output))
		output_put(1, text);
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
						 const char *command, const char *rest)
{
	struct buf before = {0}, clean = BUF_MAX(MOST_LINE);
	char *translated;

	if (!output_wants_text(output))
		return;
	translated = language_line(text);
	lay_out(&before, 1, 0, translated ? translated : text);
	(void)terminal_append(NULL, &clean, command);
	output_expect_whole(output, &before);
	output_expect_whole(output, &clean);
	put_whole(output, 1,
			  mem_printf(NULL, "%s%s%s%s%s\n", style_begin(output->color, style), buf_text(&before),
						 buf_text(&clean), language_text(rest), style_end(output->color, style)));
	mem_free(translated);
	buf_free(&before);
	buf_free(&clean);
}

void output_command(const struct output *output, const char *what, const char *command)
{
	struct buf clean = BUF_MAX(MOST_LINE);

	what = language_text(what);
	if (output->quiet)
		return;
	(void)fflush(stdout);
	(void)terminal_append(NULL, &clean, command);
	output_expect_whole(output, &clean);
	put_whole(output, 2,
			  mem_printf(NULL, "jitwarm: %s    %s: %s%s\n",
						 style_begin(output->error_color, STYLE_WARN), what, buf_text(&clean),
						 style_end(output->error_color, STYLE_WARN)));
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

int output_json(struct jw_error *err, struct output *output, const cJSON *document)
{
	char *text = json_print(err, document, true);

	if (!text)
		return -1;
	output_put(1, text);
	output_put(1, "\n");
	output->has_document = true;
	cJSON_free(text);
	return 0;
}

int output_close(struct jw_error *err)
{
	if (fflush(stdout) || ferror(stdout))
		return error_set(err, JW_ERR_IO, "standard output: %s",
						 errno ? strerror(errno) : "write failed");
	return 0;
}
