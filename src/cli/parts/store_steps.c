#include "cli/parts/store_steps.h"

#include <string.h>

#include <jitwarm/store.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/documents.h"
#include "os/environment.h"

bool store_step_is_used(const struct cli *cli, const struct jw_system *system)
{
	char *setting = os_env("JITWARM_STORE");
	bool off = setting && !strcmp(setting, "0");

	mem_free(setting);
	return !off && system->state_dir && !system->scratch && !system->cache.why_useless[0] &&
		   !options_given(&cli->options, "no-store") && !options_given(&cli->options, "cache");
}

void store_step_refill(struct cli *cli, const struct jw_system *system, const uint64_t *keys,
					   size_t count, struct jw_store_refilled *ret_refilled)
{
	const bool dry_run = options_given(&cli->options, "dry-run");
	const struct jw_store_refill_options options = {
		.system = system, .keys = keys, .count = count, .dry_run = dry_run, .cancel = cli_cancel};
	struct jw_error err = {0};
	char size[TEXT_SHORT];

	*ret_refilled = (struct jw_store_refilled){0};
	if (!store_step_is_used(cli, system))
		return;
	if (jw_store_refill(&err, &options, ret_refilled)) {
		output_warning(&cli->out, "the store is passed over: %s", err.message);
		return;
	}
	for (size_t i = 0; i < ret_refilled->note_count; i++)
		output_warning(&cli->out, "from the store: %s", ret_refilled->notes[i]);
	if (ret_refilled->more_notes)
		output_warning(&cli->out, "from the store: %zu more (“jitwarm store verify” looks at all)",
					   ret_refilled->more_notes);
	(void)text_bytes(size, ret_refilled->bytes);
	if (ret_refilled->entries && dry_run)
		output_line(&cli->out, STYLE_GOOD,
					"%s (%s) that were compiled before would come back from the store; what "
					"follows counts them as still to compile.",
					TEXT_COUNT(ret_refilled->entries, "entry", "entries"), size);
	else if (ret_refilled->entries)
		output_line(&cli->out, STYLE_GOOD,
					"%s (%s) that were compiled before came back from the store.",
					TEXT_COUNT(ret_refilled->entries, "entry", "entries"), size);
}

void store_step_document(cJSON *document, const struct jw_store_refilled *refilled)
{
	cJSON *object, *notes;

	if (!document || (!refilled->entries && !refilled->note_count))
		return;
	object = cJSON_AddObjectToObject(document, "from_store");
	document_add_count(object, "entries", refilled->entries);
	document_add_count(object, "bytes", refilled->bytes);
	notes = cJSON_AddArrayToObject(object, "notes");
	for (size_t i = 0; notes && i < refilled->note_count; i++)
		(void)document_append_text(notes, refilled->notes[i]);
}

void store_step_keep(struct cli *cli, const struct jw_system *system)
{
	const struct jw_store_keep_options options = {.system = system, .cancel = cli_cancel};
	struct jw_error err = {0};
	size_t entries = 0;

	if (store_step_is_used(cli, system) && !options_given(&cli->options, "dry-run") &&
		jw_store_keep(&err, &options, &entries))
		output_warning(&cli->out, "the store keeps nothing of it: %s", err.message);
}
