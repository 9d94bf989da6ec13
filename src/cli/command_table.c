#include "cli/command_table.h"

#include <string.h>

#include "base/suggest.h"

/* One line a command, in the order of help. */
/* clang-format off */
#define COMMANDS(X) \
	X(status) \
	X(scan) \
	X(check) \
	X(prime) \
	X(record) \
	X(export) \
	X(import) \
	X(store_list) \
	X(store_verify) \
	X(store_gc) \
	X(store_remove) \
	X(key_generate) \
	X(key_import) \
	X(key_trust) \
	X(key_distrust) \
	X(key_list) \
	X(cache_list) \
	X(cache_verify) \
	X(tune) \
	X(cache_prune) \
	X(startup_enable) \
	X(startup_disable) \
	X(startup_status) \
	X(uninstall) \
	X(compiler_fetch) \
	X(worker) \
	X(help)
/* clang-format on */

#define DECLARE(name) extern const struct cli_command command_##name;
#define REFER(name)   &command_##name,

COMMANDS(DECLARE)

static const struct cli_command *const commands[] = {COMMANDS(REFER) NULL};

const struct cli_command *commands_at(size_t at)
{
	return commands[at];
}

/* Whether `name` is exactly the first `count` words, separated by single spaces. */
static bool name_is(const char *name, char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		if (strncmp(name, words[i], length) != 0 || name[length] != (i + 1 < count ? ' ' : '\0'))
			return false;
		name += length + 1;
	}
	return true;
}

const struct cli_command *commands_find(char *const *words, size_t count, size_t *ret_used)
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

bool commands_is_group(const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; commands[i]; i++)
		if (!strncmp(commands[i]->name, word, length) && commands[i]->name[length] == ' ')
			return true;
	return false;
}

const char *commands_suggest(const char *word)
{
	struct suggest nearest = suggest_for(word, strlen(word));

	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			suggest_offer(&nearest, commands[i]->name);
	return nearest.best;
}
