#include "cli/stored.h"

#include <string.h>

#include <jitwarm/store.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/system.h"

bool stored_is_used(const struct cli *cli, const struct jw_system *system)
{
	char *setting = os_env("JITWARM_STORE");
	bool off = setting && !strcmp(setting, "0");

	mem_free(setting);
	return !off && system->state_dir && !system->scratch && !system->cache.why_useless[0] &&
		   !options_given(&cli->options, "no-store") && !options_given(&cli->options, "cache") &&
		   !options_given(&cli->options, "dry-run");
}

void stored_refill(struct cli *cli, const struct jw_system *system, const uint64_t *keys,
				   size_t count)
{
	struct jw_error err = {0};
	char size[TEXT_SHORT];
	uint64_t bytes = 0;
	size_t entries = 0;

	if (!stored_is_used(cli, system))
		return;
	if (jw_store_refill(&err, system, keys, count, &entries, &bytes))
		output_warning(&cli->out, "the store is passed over: %s", err.message);
	else if (entries)
		output_line(&cli->out, STYLE_GOOD,
					"%zu entries (%s) that were compiled before came back from the store.", entries,
					text_bytes(size, bytes));
}

void stored_keep(struct cli *cli, const struct jw_system *system)
{
	struct jw_error err = {0};
	size_t entries = 0;

	if (stored_is_used(cli, system) &&
		jw_store_keep(&err, system, JW_STORE_DEFAULT_BYTES, &entries))
		output_warning(&cli->out, "the store keeps nothing of it: %s", err.message);
}
