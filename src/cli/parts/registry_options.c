#include "cli/parts/registry_options.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/pack_report.h"

int registry_given_read(struct jw_error *err, const struct cli *cli, struct registry_given *given)
{
	const struct options *options = &cli->options;
	const size_t count = options_count(options, "plain-http");

	given->timeout_ms = options_has(options, "timeout") ? options_number(options, "timeout", 0) : 0;
	given->hosts = mem_array(err, count, sizeof *given->hosts);
	if (!given->hosts)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *host = options_item(options, "plain-http", i);

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
	mem_free(given->hosts);
	*given = (struct registry_given){0};
}

static void print_traffic(const struct output *out, const struct jw_traffic *traffic,
						  double seconds)
{
	char sent[TEXT_SHORT], received[TEXT_SHORT], time[TEXT_SHORT];

	output_line(out, STYLE_FAINT, "  %s, %s sent, %s received, in %s",
				TEXT_COUNT(traffic->requests, "request", "requests"),
				text_bytes(sent, traffic->sent_bytes),
				text_bytes(received, traffic->received_bytes), text_duration(time, seconds));
	output_count(out, STYLE_FAINT, "  ", traffic->resumed, "transfer continued after it broke off",
				 "transfers continued after they broke off");
}

static void print_pushed_pack(const struct output *out, const char *place,
							  const struct jw_pushed_pack *pack)
{
	char bytes[TEXT_SHORT];

	output_line(out, pack->fuller ? STYLE_WARN : STYLE_GOOD, "%s:%s: %s for %s (%s)%s", place,
				pack->plan, TEXT_COUNT(pack->entries, "entry", "entries"),
				*pack->targets ? pack->targets : "any GPU", text_bytes(bytes, pack->pack_bytes),
				pack->fuller  ? ", more than this cache has: left as it is"
				: pack->there ? ", already there"
							  : "");
	output_count(out, STYLE_WARN, "  ", pack->missing,
				 "module of this plan is not in the cache (“jitwarm prime” compiles it)",
				 "modules of this plan are not in the cache (“jitwarm prime” compiles them)");
	if (*pack->signed_by && !pack->fuller)
		pack_report_signature(out, pack->signed_by, pack->public_key);
}

void registry_print_pushed(const struct output *out, const struct jw_push_result *result)
{
	for (size_t i = 0; i < result->pack_count; i++)
		print_pushed_pack(out, result->place, &result->packs[i]);
	if (*result->tag)
		output_line(out, STYLE_GOOD, "%s:%s: %s", result->place, result->tag,
					result->pack_count == 1
						? "is that pack, beside those for other GPUs and drivers"
						: "are these packs, beside those for other GPUs and "
						  "drivers");
	print_traffic(out, &result->traffic, result->seconds);
}

void registry_print_pulled(const struct output *out, const struct jw_pull_result *result)
{
	for (size_t i = 0; i < result->pack_count; i++) {
		const struct jw_pulled_pack *pack = &result->packs[i];
		char bytes[TEXT_SHORT];

		output_line(out, STYLE_PLAIN, "%s@%.19s (%s)", result->place, pack->digest,
					text_bytes(bytes, pack->pack_bytes));
		if (!pack->import) {
			output_error(out, "%s", pack->failed.message);
			continue;
		}
		if (*pack->import->note)
			output_note(out, "%s", pack->import->note);
		if (*pack->import->unmarked)
			output_warning(out,
						   "entries that are not the driver's own bytes could not be marked: %s",
						   pack->import->unmarked);
		pack_report_import(out, pack->import);
	}
	output_count(out, STYLE_WARN, "", result->missed, "plan has no pack there",
				 "plans have no pack there");
	print_traffic(out, &result->traffic, result->seconds);
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
	if (result->failed || result->missed)
		return EXIT_COLD;
	return !left ? EXIT_DONE : left == entries ? EXIT_CANNOT : EXIT_COLD;
}
