#include "cli/parts/registry_options.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/pack_report.h"

int registry_given_read(const struct cli *cli, struct registry_given *given)
{
	const struct options *options = &cli->options;
	const size_t count = options_count(options, "plain-http");

	given->plain = mem_array(count, sizeof *given->plain);
	given->hosts = mem_array(count, sizeof *given->hosts);
	if (!given->hosts)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *host = options_item(options, "plain-http", i);

		given->plain[given->plain_count++] = host;

		/* This machine, by any of its names and any port */
		if (!strcmp(host, "localhost") || !strcmp(host, "127.0.0.1"))
			given->insecure = true;
		else
			given->hosts[given->host_count++] = host;
	}
	return 0;
}

int registry_given_place(struct jw_error *err, const struct cli *cli, struct registry_given *given)
{
	const char *first = cli->options.operands[0];
	const char *setting = options_value(&cli->options, "registry");

	given->rest = !setting || (first && text_starts(first, "oci:"));
	given->place = given->rest ? first : setting;
	if (!given->place)
		return error_set(err, JW_ERR_USAGE, "name a place: oci://HOST/REPOSITORY");
	return jw_registry_name_check(err, given->place);
}

void registry_given_free(struct registry_given *given)
{
	mem_free(given->plain);
	mem_free(given->hosts);
	*given = (struct registry_given){0};
}

void registry_print_pushed(const struct output *out, const struct jw_push_result *result)
{
	for (size_t i = 0; i < result->pack_count; i++) {
		const struct jw_pushed_pack *pack = &result->packs[i];

		output_line(out, STYLE_GOOD, "%s:%s: %s for %s (%s)", result->place, pack->tag,
					TEXT_COUNT(pack->entries, "entry", "entries"),
					*pack->targets ? pack->targets : "any GPU",
					text_bytes((char[TEXT_SHORT]){0}, pack->pack_bytes));
		if (*pack->signed_by)
			pack_report_signature(out, pack->signed_by, pack->public_key);
	}
}

void registry_print_pulled(const struct output *out, const struct jw_pull_result *result)
{
	for (size_t i = 0; i < result->pack_count; i++) {
		const struct jw_pulled_pack *pack = &result->packs[i];

		if (!pack->import) {
			output_error(out, "%s", pack->failed.message);
			continue;
		}
		output_line(out, STYLE_PLAIN, "%s:%s (%s)", result->place, pack->tag,
					text_bytes((char[TEXT_SHORT]){0}, pack->pack_bytes));
		if (*pack->import->note)
			output_note(out, "%s", pack->import->note);
		if (*pack->import->unmarked)
			output_warning(out,
						   "entries that are not the driver's own bytes could not be marked: %s",
						   pack->import->unmarked);
		pack_report_import(out, pack->import);
	}
}

enum exit_status registry_status_of_pull(const struct jw_pull_result *result)
{
	size_t entries = 0, left = 0;

	for (size_t i = 0; i < result->pack_count; i++) {
		const struct jw_import_result *import = result->packs[i].import;

		if (!import)
			continue;
		entries += import->entries;
		left += import->refused;
	}
	if (result->failed)
		return EXIT_COLD;
	return !left ? EXIT_DONE : left == entries ? EXIT_CANNOT : EXIT_COLD;
}
