#include "setup/startup_command.h"

#include <string.h>

#include "base/arena.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/process.h"

enum { MAX_ARGUMENTS = 12 };

int startup_command(struct jw_error *err, struct jw_startup *startup, const char *tool,
					const char *const *words, struct buf *ret_output, bool *ret_good)
{
	struct buf line = BUF_MAX(1 << 16), text = {0};
	struct os_ended ended = {.status = -1};
	struct jw_error why = {0};
	char *program = os_system_program(&why, tool), *folder = NULL, *output = NULL;
	const char *arguments[MAX_ARGUMENTS] = {program ? program : tool};
	int result = -1;

	for (size_t i = 0; words[i]; i++)
		arguments[i + 1] = words[i];
	*ret_good = false;
	if (os_make_temp_dir(err, "jitwarm-startup", &folder))
		goto done;
	output = os_join(folder, "output");
	if (program && !os_run_found_program(&why, arguments, output, &ended)) {
		*ret_good = !ended.status && !ended.signal;
		if (!os_read_file(NULL, output, STARTUP_MAX_TEXT, &text) && !*ret_good) {
			/* The first line of the output, without blanks at its end. */
			char *said = os_system_text(buf_text(&text) + strspn(buf_text(&text), " \r\n"));
			size_t length = strcspn(said, "\r\n");

			while (length && said[length - 1] == ' ')
				length--;
			said[length] = '\0';
			(void)error_set(&why, JW_ERR_IO, "%s%s%.600s", os_base_name(arguments[0]),
							*said ? ": " : "", said);
			mem_free(said);
		}
	}
	if (startup && !*ret_good && !startup->failed)
		startup->failed = arena_string(startup, why.message);
	for (size_t i = 0; startup && arguments[i]; i++)
		if (strpbrk(arguments[i], " \\\"")
				? quote_windows(err, &line, arguments[i])
				: buf_printf(err, &line, "%s%s", i ? " " : "",
							 i ? arguments[i] : os_base_name(arguments[i])))
			goto done;
	if (startup)
		arena_add_string(startup, &startup->commands, &startup->command_count, STARTUP_MAX_COMMANDS,
						 buf_text(&line));
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
