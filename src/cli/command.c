#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/document.h"
#include "cli/next_step.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/interrupt.h"
#include "os/platform.h"

static int exit_rank(enum exit_status status)
{
	switch (status) {
	case EXIT_DONE: return 0;
	case EXIT_CANNOT: return 1;
	case EXIT_COLD: return 2;
	case EXIT_FAILED: break;
	case EXIT_BAD_USAGE: return 4;
	case EXIT_INTERRUPTED: return 5;
	}
	return 3;
}

enum exit_status exit_combine(enum exit_status a, enum exit_status b)
{
	return exit_rank(a) >= exit_rank(b) ? a : b;
}

enum exit_status exit_of(enum jw_code code)
{
	if (code == JW_ERR_USAGE)
		return EXIT_BAD_USAGE;
	return code == JW_ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

enum exit_status exit_of_verdict(enum jw_verdict verdict)
{
	switch (verdict) {
	case JW_VERDICT_RUNS:
	case JW_VERDICT_WARM: return EXIT_DONE;
	case JW_VERDICT_COLD:
	case JW_VERDICT_NO_ROOM: /* the modules are cold until there is room */
	case JW_VERDICT_PARTLY: return EXIT_COLD;
	case JW_VERDICT_NOTHING:
	case JW_VERDICT_USELESS:
	case JW_VERDICT_UNKNOWN:
	case JW_VERDICT_FAILS:
	case JW_VERDICT_UNSURE: return EXIT_CANNOT;
	case JW_VERDICT_UNREAD: break;
	}
	return EXIT_FAILED;
}

enum exit_status exit_of_troubles(size_t troubles, size_t images)
{
	if (!troubles)
		return EXIT_DONE;
	return images ? EXIT_COLD : EXIT_FAILED;
}

static bool is_interrupted(void *context)
{
	(void)context;
	output_silence();
	return os_interrupted();
}

const struct jw_cancel cli_cancel = {.is_cancelled = is_interrupted};

const struct cli_command *commands_find(const struct cli_command *const *commands,
										const char *const *words, size_t count, size_t *ret_used)
{
	for (size_t used = count < 2 ? count : 2; used > 0; used--) {
		char name[2 * 32 + 2]; /* longer than any */

		(void)snprintf(name, sizeof name, "%.32s%s%.32s", words[0], used > 1 ? " " : "",
					   used > 1 ? words[1] : "");
		for (size_t i = 0; commands[i]; i++)
			if (!strcmp(commands[i]->name, name)) {
				*ret_used = used;
				return commands[i];
			}
	}
	return NULL;
}

bool command_in_group(const struct cli_command *command, const char *group)
{
	size_t length = strlen(group);

	return !strncmp(command->name, group, length) && command->name[length] == ' ';
}

bool commands_is_group(const struct cli_command *const *commands, const char *word)
{
	bool group = false;

	for (; *commands; commands++) {
		if (!strcmp((*commands)->name, word))
			return false;
		group = group || command_in_group(*commands, word);
	}
	return group;
}

void commands_list_second(struct buf *text, const struct cli_command *const *commands,
						  const char *first, size_t length)
{
	for (; *commands; commands++) {
		const char *name = (*commands)->name;

		if (!strncmp(name, first, length) && name[length] == ' ')
			buf_add(text, "%s%s", text->size ? ", " : "", name + length + 1);
	}
}

const char *commands_suggest(const struct cli_command *const *commands, const char *word)
{
	struct suggest nearest = suggest_for(word, strlen(word));

	/* A command that removes something is never suggested. */
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden && strcmp(commands[i]->name, "uninstall") != 0 &&
			!strstr(commands[i]->name, "remove"))
			suggest_offer(&nearest, commands[i]->name);
	return nearest.best;
}

void cli_end_with(struct cli *cli, enum exit_status status)
{
	cli->status = exit_combine(cli->status, status);
}

void cli_fail(struct cli *cli, const struct jw_error *err)
{
	const enum exit_status status = cli->failure ? cli->failure : exit_of(err->code);
	const char *name = cli->command ? cli->command->name : cli->group;

	/* A fault of a setting has named the help of config. */
	if (status == EXIT_BAD_USAGE && !text_ends(err->message, "--help”"))
		output_error(&cli->out, "%s; see “jitwarm %s%s--help”", err->message, name ? name : "",
					 name ? " " : "");
	else
		output_error(&cli->out, "%s", err->message);
	if (!cli->out.has_document)
		(void)document_print(&cli->out, &document_error, err);
	cli->failure = EXIT_DONE;
	cli_end_with(cli, status);
}

int cli_hopeless(const struct jw_error *err, struct cli *cli, enum jw_code hopeless)
{
	if (err->code == hopeless)
		cli->failure = EXIT_CANNOT;
	return -1;
}

int cli_fail_of_cache(struct jw_error *err, struct cli *cli)
{
	const char *dir = options_value(&cli->options, "cache");

	return cli_hopeless(err, cli, dir ? JW_OK : JW_ERR_UNSUPPORTED);
}

void cli_warn_of_settings(struct cli *cli)
{
	const struct jw_cache_info *cache = &cli->system->cache;

	if (cache->why_useless[0])
		return;
	for (size_t i = 0; i < cache->warning_count; i++)
		output_warning(&cli->out, "%s", cache->warnings[i]);
}

void cli_warn_useless(struct cli *cli)
{
	const struct jw_cache_info *cache = &cli->system->cache;

	output_warning(&cli->out, cache->no_compiler ? "%s" : "a warm cache does not help here: %s",
				   cache->why_useless);
	next_step_cache(&cli->out, cache);
}

int cli_worker(struct jw_error *err, struct cli *cli, const char *const **ret_worker)
{
	/* The program is its own worker. */
	if (!cli->program && os_self_path(err, &cli->program))
		return -1;
	cli->worker[0] = cli->program;
	cli->worker[1] = "worker";
	*ret_worker = cli->worker;
	return 0;
}

void cli_forget(struct cli *cli, const char *why, bool can_be_named)
{
	if (!cli->stateless)
		output_note(&cli->out,
					can_be_named ? "%.700s; jitwarm remembers nothing of this run; name a writable "
								   "folder: JITWARM_STATE=DIR"
								 : "%.700s; jitwarm remembers nothing of this run",
					why);
	cli->stateless = true;
}

int cli_open(struct jw_error *err, struct cli *cli, const struct jw_system_options *options)
{
	struct jw_system_options how = *options;

	if (cli_worker(err, cli, &how.worker) || jw_system_open(err, &how, &cli->system))
		return -1;
	if (cli->system->why_forgets[0])
		cli_forget(cli, cli->system->why_forgets, true);
	return 0;
}

int cli_open_asleep(struct jw_error *err, struct cli *cli, const char *cache_dir, enum jw_ask ask)
{
	return cli_open(
		err, cli, &(struct jw_system_options){.asleep = true, .cache_dir = cache_dir, .ask = ask});
}

const char *cli_state(struct jw_error *err, struct cli *cli)
{
	struct jw_error why = {0};

	if (!cli->state)
		(void)os_state_dir(err, &cli->state);
	if (!cli->state || cli->command->reads || !os_may_make(&why, cli->state))
		return cli->state;
	error_set(err, why.code, "%s; name a writable folder: JITWARM_STATE=DIR", why.message);
	return NULL;
}

int cli_need_administrator(struct jw_error *err, const char *option)
{
	if (jw_is_administrator())
		return 0;
	return error_set(
		err, JW_ERR_IO,
		os_is_windows
			? "%s: Permission denied: only an administrator may change other accounts; start the "
			  "command from a console that was opened with “Run as administrator”"
			: "%s: Permission denied: only root may change other accounts; run it with sudo",
		option);
}
