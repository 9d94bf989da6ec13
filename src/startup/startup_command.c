#include "startup/parts.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/programs.h"
#include "os/quote.h"

enum { MOST_ARGUMENTS = 12 };

bool startup_on_windows(void)
{
	return !strcmp(os_name, "windows");
}

/* Cuts the text to its first line, without trailing blanks. */
static void cut_line(char *text)
{
	size_t length = strcspn(text, "\r\n");

	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
}

/* The first line that the program printed before it failed. -1: out of memory. */
static int tell_reason(struct jw_error *why, const char *program, const char *printed)
{
	char *text = os_system_text(why, printed + strspn(printed, " \r\n"));

	if (!text)
		return -1;
	cut_line(text);
	(void)error_set(why, JW_ERR_IO, "%s%s%.600s", os_base_name(program), *text ? ": " : "", text);
	mem_free(text);
	return 0;
}

int startup_command(struct jw_error *err, struct jw_startup *startup, const char *tool,
					const char *const *words, struct buf *ret_output, bool *ret_good)
{
	struct buf line = BUF_MAX(1 << 16), text = {0};
	struct os_ended ended = {.status = -1};
	struct jw_error why = {0};
	char *program = os_system_program(err, tool), *folder = NULL, *output = NULL;
	const char *arguments[MOST_ARGUMENTS] = {program};
	int result = -1;

	for (size_t i = 0; words[i]; i++)
		arguments[i + 1] = words[i];
	*ret_good = false;
	if (!program || os_make_temp_dir(err, "jitwarm-startup", &folder) ||
		!(output = os_join(err, folder, "output")))
		goto done;
	if (!os_run(&why, arguments, output, &ended)) {
		*ret_good = !ended.status && !ended.signal;
		if (!os_read_file(NULL, output, STARTUP_MOST_TEXT, &text) && !*ret_good &&
			tell_reason(&why, arguments[0], buf_text(&text)))
			goto done;
	}
	if (startup && !*ret_good && !startup->failed) {
		startup->failed = mem_string(err, why.message);
		if (!startup->failed)
			goto done;
	}
	for (size_t i = 0; startup && arguments[i]; i++)
		if (strpbrk(arguments[i], " \\\"")
				? quote_windows(err, &line, arguments[i])
				: buf_printf(err, &line, "%s%s", i ? " " : "",
							 i ? arguments[i] : os_base_name(arguments[i])))
			goto done;
	if (startup && startup->command_count < STARTUP_MOST_COMMANDS) {
		char *copy = mem_string(err, buf_text(&line));

		if (!copy)
			goto done;
		startup->commands[startup->command_count++] = copy;
	}
	if (ret_output) {
		*ret_output = text;
		text = (struct buf){0};
	}
	result = 0;
done:
	if (folder)
		(void)os_remove_tree(NULL, folder);
	mem_free(program);
	mem_free(folder);
	mem_free(output);
	buf_free(&text);
	buf_free(&line);
	return result;
}
