/* Lines fit the terminal's width, control characters are made visible, and the bar never goes back.
 * */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "os/env.h"
#include "os/file.h"

TEST(widths_are_counted)
{
	static const struct {
		const char *text;
		size_t width;
	} cases[] = {
		{"", 0},          {"abc", 3}, {"한글", 4},     {"é", 1}, {"e\xcc\x81", 1},
		{"日本語.so", 9}, {"…", 1},   {"\xff\xfe", 2}, {"Ω", 1},
	};

	OK(os_env_set(why, "LC_ALL", "C.UTF-8"));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(terminal_width(cases[i].text), cases[i].width);
}

TEST(steering_characters_become_visible)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"plain 한글", "plain 한글"},
		{"a\x1b[31mb", "a\\x1b[31mb"},
		{"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"},
		{"\x7f", "\\x7f"},
		{"\xc2\x9b"
		 "1m",
		 "\\u009b1m"},
		{"\xe2\x80\xae"
		 "gpj.exe",
		 "\\u202egpj.exe"},
		{"bad\xff", "bad\\xff"},
		{"no\xe2\x80\x8bspace", "no\\u200bspace"},
		{"one\xe2\x80\xa8two", "one\\u2028two"},
		{"tag\xf3\xa0\x81\x81", "tag\\U000e0041"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf buf = BUF_MAX(1000);

		terminal_append(&buf, cases[i].text);
		assert_string_equal(buf_text(&buf), cases[i].shown);
		buf_free(&buf);
	}
}

TEST(lines_are_wrapped)
{
	static const struct {
		const char *text;
		size_t indent, columns;
		const char *shown;
	} cases[] = {
		{.text = "aaa bbb ccc", .columns = 7, .shown = "aaa bbb\nccc"},
		{.text = "aaa bbb ccc", .indent = 2, .columns = 9, .shown = "aaa bbb\n  ccc"},
		{.text = "aaaaaaaaaa b", .columns = 5, .shown = "aaaaaaaaaa\nb"},
		{.text = "a\nb", .indent = 2, .columns = 80, .shown = "a\n  b"},
		{.text = "a\n\nb", .columns = 80, .shown = "a\n\nb"},
		{.text = "aaa “bbb ccc” d", .columns = 8, .shown = "aaa\n“bbb ccc”\nd"},
		{.text = "aaa\n“bbb ccc”", .columns = 8, .shown = "aaa\n“bbb ccc”"},
		{.text = "한글 한글 한글", .columns = 9, .shown = "한글 한글\n한글"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf buf = BUF_MAX(1000);

		terminal_wrap(&buf, cases[i].text, cases[i].indent, cases[i].columns);
		assert_string_equal(buf_text(&buf), cases[i].shown);
		buf_free(&buf);
	}
}

TEST(lines_are_folded_outside_quotes)
{
	static const struct {
		const char *line;
		size_t columns;
		const char *shown;
	} cases[] = {
		{"aaa bbb ccc", 7, "aaa bbb\n  ccc"},
		{"do this: “one two three”, or that", 12, "do this:\n  “one two three”,\n  or that"},
		{"(“a b”/“c d”) e", 6, "(“a b”/“c d”)\n  e"},
		{"Next  do this: jitwarm a b", 20, "Next  do this:\n      jitwarm a b"},
		{"Next  do this: jitwarm a b", 16, "Next  do this:\n      jitwarm a b"},
		{"Next  jitwarm a b c d e f g", 20, "Next  jitwarm a b c d e f g"},
		{"“never closed here", 10, "“never\n  closed\n  here"},
		{"from 7 to 27 s, 10.1 MiB, 5 more", 12, "from 7 to\n  27 s,\n  10.1 MiB,\n  5 more"},
		{"Cache  /a/long/path (1 GiB)", 12, "Cache\n  /a/long/path\n  (1 GiB)"},
		{"Cache  /a/long/path (1 GiB)", 16, "Cache  /a/long/path\n       (1 GiB)"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf buf = BUF_MAX(1000);

		const char *command = strstr(cases[i].line, "jitwarm");

		terminal_fold(&buf, cases[i].line, command ? (size_t)(command - cases[i].line) : 0, 0,
					  cases[i].columns);
		assert_string_equal(buf_text(&buf), cases[i].shown);
		buf_free(&buf);
	}
}

/* Returns the columns of a command's lines in a pipe. */
static size_t columns_of(const char *typed)
{
	return text_starts(typed, "which") || text_starts(typed, "lint") || text_starts(typed, "scan")
			   ? 100
			   : 80;
}

/* Returns the command at the end of a line; NULL without one. */
static const char *command_in(const char *line)
{
	static const char *const programs[] = {": jitwarm ", ": pip ",    ": sudo ",
										   ": docker ",  ": python ", ": uv "};
	const char *found = NULL;

	for (size_t i = 0; !found && i < sizeof programs / sizeof *programs; i++)
		found = strstr(line, programs[i]);
	return found ? found + 2 : NULL;
}

/* Returns whether a row is wider than the columns although it has a blank at which it could be
 * broken: outside quotes, behind its label. `command` is a row of its own, except
 * behind a label of one word. */
static bool is_too_wide(const char *row, size_t columns, const char *command)
{
	const char *quoted, *label;

	row += strspn(row, " ");
	if (terminal_width(row) <= columns)
		return false;
	if (command && text_ends(row, command))
		return strcspn(row, " ") + 1 < strlen(row) - strlen(command);
	label = strstr(row, "  ");
	for (const char *at = label ? label + strspn(label, " ") : row; *at; at++) {
		if (text_starts(at, "“") && (quoted = strstr(at, "”")))
			at = quoted;
		else if (*at == ' ' && at[1] != ' ' && at[-1] != ' ')
			return true;
	}
	return false;
}

/* Cuts off the next line; NULL after the last one. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = line + strcspn(line, "\n");

	*rest = end + (*end != '\0');
	if (line == end && !*end)
		return NULL;
	*end = '\0';
	return line;
}

TEST(what_commands_have_printed_fits_a_terminal)
{
	static const char folder[] = JITWARM_SOURCE_DIR "/tests/cli/snapshots", asks[] = "$ jitwarm";
	struct os_names names;
	size_t folded = 0;

	assert_int_equal(os_list(NULL, folder, &names), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *path = keep(os_join(folder, names.items[i])), *rest;
		struct buf content = {0};
		size_t columns = 0;

		assert_int_equal(os_read_file(NULL, path, 1 << 20, &content), 0);
		(void)buf_text(&content);
		rest = (char *)content.data;
		for (char *line; text_ends(path, ".text") && (line = next_line(&rest));) {
			const char *command = command_in(line);
			struct buf shown = BUF_MAX(1 << 16);
			char *row, *rows;

			if (*line == '$')
				columns = text_starts(line, asks) && !strstr(line, " --json")
							  ? columns_of(line + strlen(asks) + (line[strlen(asks)] == ' '))
							  : 0;
			if (!columns || *line == '$')
				continue;
			line += text_starts(line, "! ") ? strlen("! ") : 0;
			terminal_fold(&shown, line, command ? (size_t)(command - line) : 0, 0, columns);
			rows = keep(mem_string(buf_text(&shown)));
			folded += strchr(rows, '\n') != NULL;
			for (char *at = rows; (row = next_line(&at));)
				if (is_too_wide(row, columns, command))
					fail_msg("%s: wider than %zu: %s", names.items[i], columns, row);
			buf_free(&shown);
		}
		buf_free(&content);
	}
	os_names_free(&names);
	assert_true(folded > 100);
}

#define SECOND UINT64_C(1000000000)

static struct progress half_done(void)
{
	return (struct progress){.label = "sm_86",
							 .unit = "modules",
							 .total_modules = 400,
							 .done_modules = 100,
							 .total_weight = 1000,
							 .done_weight = 500,
							 .done_bytes = 2000000,
							 .changed_ns = 10 * SECOND};
}

TEST(bar_fits_its_terminal)
{
	struct progress progress = half_done();

	for (unsigned columns = 0; columns < 300; columns++) {
		char line[PROGRESS_LINE];

		(void)progress_line(line, &progress, 10 * SECOND, columns);
		assert_true(strlen(line) <= columns);
	}
}

TEST(bar_shows_the_work_done)
{
	struct progress progress = half_done();
	char line[PROGRESS_LINE];

	(void)progress_line(line, &progress, 10 * SECOND, 100);
	assert_string_equal(line, "sm_86 [####################....................]  50 %  "
							  "100/400 modules, 1.9 MiB, 10 s left");
	progress.done_modules = 399;
	progress.done_weight = 2000;
	/* The weights are predictions: beyond their sum, something is still left to do. */
	(void)progress_line(line, &progress, 10 * SECOND, 100);
	assert_non_null(strstr(line, " 99 %  399/400"));
	progress.done_modules = 400;
	progress.shown_left_s = 3;
	(void)progress_line(line, &progress, 10 * SECOND, 100);
	assert_string_equal(strstr(line, "100 %"), "100 %  400/400 modules, 1.9 MiB");
}

TEST(bar_shows_the_time_that_it_was_told)
{
	struct progress progress = half_done();
	char line[PROGRESS_LINE];

	progress.shown_left_s = 200;
	assert_string_equal(progress_line(line, &progress, 10 * SECOND, 50),
						" 50 %  100/400 modules, 1.9 MiB, 3 min 20 s left");
	assert_string_equal(progress_line(line, &progress, 10 * SECOND, 34),
						" 50 %  100/400, 3 min 20 s left");
}

TEST(progress_never_goes_back)
{
	const struct output quiet = {.quiet = true};
	struct progress progress;

	progress_start(&progress, &quiet, 10, 100, "");
	progress_update(&progress, 5, 60, 500);
	progress_update(&progress, 3, 40, 100);
	assert_int_equal(progress.done_modules, 5);
	assert_true(progress.done_weight > 59 && progress.done_weight < 61);
	assert_int_equal(progress.done_bytes, 500);
	progress_finish(&progress);
}

TEST(time_left_follows_the_pace)
{
	static const struct {
		double elapsed, changed, share, left; /* left -1: unknown */
	} cases[] = {
		{.elapsed = 10, .changed = 10, .share = 0.5, .left = 10},
		{.elapsed = 14, .changed = 10, .share = 0.5, .left = 6},
		{.elapsed = 25, .changed = 10, .share = 0.5, .left = -1},
		{.elapsed = 10, .changed = 10, .share = 0.001, .left = -1},
		{.elapsed = 0.1, .changed = 0.1, .share = 0.5, .left = -1},
		{.elapsed = 10, .changed = 10, .share = 1, .left = -1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double left = progress_seconds_left(cases[i].elapsed, cases[i].changed, cases[i].share);

		assert_true(left > cases[i].left - 0.01 && left < cases[i].left + 0.01);
	}
}

RUN_TESTS(NULL, NULL)
