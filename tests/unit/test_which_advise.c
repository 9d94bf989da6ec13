/* The advice for packages, GPUs, drivers, Pythons and platforms: tests/data/advice.tsv has a line
 * for each case, as advice_line writes it. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/which.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "os/file.h"
#include "os/platform.h"

enum { MAX_LINE = 1 << 14, MAX_FILE = 1 << 20 };

/* Ends a cell of a line, and returns it. */
static const char *next_cell(char **at)
{
	char *cell = *at, *end = cell + strcspn(cell, "\t");

	*at = end + (*end != 0);
	*end = '\0';
	return cell;
}

/* Commands are quoted for the shell of the system that prints them, and the table has Linux'
 * quotes: elsewhere a text is compared without any. */
static char *comparable(const char *text)
{
	char *copy = keep(mem_string(text)), *to = copy;

	if (!os_is_windows)
		return copy;
	for (const char *from = copy; *from; from++)
		if (!strchr("'\"", *from))
			*to++ = *from;
	*to = '\0';
	return copy;
}

static void add_note(struct buf *line, const struct jw_which_note *note)
{
	if (note->kind)
		buf_add(line, " %s%s", note->text, note->command ? note->command : "");
}

/* Appends what the advice has behind the first five cells. */
static void add_advice(struct buf *line, const struct jw_which_advice *advice)
{
	buf_add(line, "%s%s%s%s", advice->before ? advice->before : "", advice->before ? "; " : "",
			advice->verdict ? advice->verdict : "", advice->install ? advice->install : "");
	buf_add(line, "\t");
	for (size_t i = 0; i < advice->row_count; i++)
		buf_add(line, "%s%s%s%s: %s", i ? " | " : "", advice->rows[i].index,
				*advice->rows[i].index ? " " : "", advice->rows[i].versions, advice->rows[i].says);
	if (advice->left_out)
		buf_add(line, " | …");
	buf_add(line, "\t");
	add_note(line, &advice->instead);
	for (size_t i = 0; i < advice->note_count; i++)
		add_note(line, &advice->notes[i]);
}

/* Answers one case, of which *line has the first five cells. */
static void answer(struct buf *line, const char *typed, const char *gpu, const char *driver,
				   const char *python, const char *platform)
{
	const struct wheel_platform *is;
	struct jw_which_name name;
	struct jw_which_question question = {
		.name = &name,
		.options = {.platform = platform, .python = strcmp(python, "-") ? python : NULL},
		.command = "jitwarm which",
		.packages = &typed,
		.package_count = 1};
	struct jw_which_advice *advice;

	assert_true(jw_target_parse(gpu, &question.options.target));
	if (strcmp(driver, "-") != 0)
		OK(jw_driver_parse(why, driver, &question.options.driver));
	OK(wheel_platform_read(why, platform, &is));
	question.platform_title = is->title;
	OK(jw_which_name_read(why, typed, &name));
	OK(jw_which_advise(why, &question, &advice));
	add_advice(line, advice);
	jw_result_free(advice);
}

TEST(each_case_has_its_advice)
{
	static const char path[] = JITWARM_SOURCE_DIR "/tests/data/advice.tsv";
	struct buf content = {0};
	size_t wrong = 0, count = 0;
	char *text;

	OK(os_read_file(why, path, MAX_FILE, &content));
	text = keep(mem_string(buf_text(&content)));
	for (char *at = text, *next; *at; at = next) {
		char *const wanted = keep(mem_string_n(at, strcspn(at, "\n")));
		const char *typed, *gpu, *driver, *python, *platform;
		struct buf line = BUF_MAX(MAX_LINE);

		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		if (*at == '#')
			continue;
		typed = next_cell(&at);
		gpu = next_cell(&at);
		driver = next_cell(&at);
		python = next_cell(&at);
		platform = next_cell(&at);
		buf_add(&line, "%s\t%s\t%s\t%s\t%s\t", typed, gpu, driver, python, platform);
		answer(&line, typed, gpu, driver, python, platform);
		count++;
		if (strcmp(comparable(buf_text(&line)), comparable(wanted)) != 0) {
			print_message("got: %s\n", buf_text(&line));
			wrong++;
		}
		buf_free(&line);
	}
	assert_int_equal(wrong, 0);
	assert_in_range(count, 60, 1000);
	buf_free(&content);
}

/* A row has no time that a program may never spend, unless it is requested. */
TEST(only_all_has_the_time_of_some_kernels)
{
	struct jw_which_name name;
	struct jw_which_question question = {.name = &name,
										 .options = {.platform = "linux"},
										 .platform_title = "Linux x86-64",
										 .command = "jitwarm which"};
	struct jw_which_advice *advice;

	OK(jw_which_name_read(why, "vllm==0.33.0", &name));
	assert_true(jw_target_parse("sm_90", &question.options.target));
	for (size_t i = 0; i < 2; i++) {
		question.all = i;
		OK(jw_which_advise(why, &question, &advice));
		assert_true(strstr(advice->rows->says, "may compile some kernels"));
		assert_int_equal(strstr(advice->rows->says, "up to") != NULL, i);
		jw_result_free(advice);
	}
}

RUN_TESTS(NULL, NULL)
