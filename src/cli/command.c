/* Finding a command in the table, and its failure on standard error. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/worker.h>

#include "base/suggest.h"
#include "cli/documents/documents.h"
#include "os/interrupt.h"
#include "os/platform.h"

static bool is_interrupted(void *context)
{
	(void)context;
	return os_interrupted();
}

const struct jw_cancel cli_cancel = {.is_cancelled = is_interrupted};

/* Whether `name` is exactly the first `count` words, separated by single spaces. */
static bool name_is(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		if (strncmp(name, words[i], length) != 0 || name[length] != (i + 1 < count ? ' ' : '\0'))
			return false;
		name += length + 1;
	}
	return true;
}

const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used)
{
	for (size_t used = count < 2 ? count : 2; used > 0; used--) {
		for (size_t i = 0; commands[i]; i++) {
			if (name_is(commands[i]->name, words, used)) {
				*ret_used = used;
				return commands[i];
			}
		}
	}
	return NULL;
}

bool commands_is_group(const struct cli_command *const *commands, const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; commands[i]; i++)
		if (!strncmp(commands[i]->name, word, length) && commands[i]->name[length] == ' ')
			return true;
	return false;
}

const char *commands_suggest(const struct cli_command *const *commands, const char *word)
{
	struct suggest nearest = suggest_for(word, strlen(word));

	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			suggest_offer(&nearest, commands[i]->name);
	return nearest.best;
}

enum exit_status cli_fail_as(struct cli *cli, enum exit_status status, const struct jw_error *err)
{
	if (status == EXIT_BAD_USAGE)
		output_error(&cli->out, "%s; see “jitwarm %s%s--help”", err->message,
					 cli->command ? cli->command->name : "", cli->command ? " " : "");
	else
		output_error(&cli->out, "%s", err->message);
	if (!cli->out.has_document)
		(void)document_print(NULL, &cli->out, &document_error, err);
	return status;
}

enum exit_status cli_fail(struct cli *cli, const struct jw_error *err)
{
	return cli_fail_as(cli, exit_of(err->code), err);
}

int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker)
{
	if (!cli->program && jw_program_path(err, &cli->program))
		return -1;
	cli->worker[0] = cli->program;
	cli->worker[1] = "worker";
	*ret_worker = cli->worker;
	return 0;
}

enum exit_status cli_usage(struct cli *cli, const char *format, ...)
{
	char message[sizeof((struct jw_error *)0)->message];
	struct jw_error err;
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	(void)error_set(&err, JW_ERR_USAGE, "%s", message);
	return cli_fail(cli, &err);
}

enum exit_status cli_fail_unless(struct cli *cli, enum jw_code hopeless, const struct jw_error *err)
{
	return cli_fail_as(cli, err->code == hopeless ? EXIT_CANNOT : exit_of(err->code), err);
}

enum exit_status cli_end(struct cli *cli, enum exit_status status,
						 const struct json_table *document, const void *values)
{
	struct jw_error err;

	return document_print(&err, &cli->out, document, values) ? cli_fail(cli, &err) : status;
}

int cli_need_administrator(struct jw_error *err, const char *option)
{
	if (jw_is_administrator())
		return 0;
	return error_set(err, JW_ERR_IO,
					 !strcmp(os_name, "windows")
						 ? "%s: Permission denied: other accounts are an administrator's affair; "
						   "start the command from a console that was opened with “Run as "
						   "administrator”"
						 : "%s: Permission denied: other accounts are root's affair; run it with "
						   "sudo",
					 option);
}
