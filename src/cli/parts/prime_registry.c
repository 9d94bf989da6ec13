#include "cli/parts/prime_registry.h"

#include <jitwarm/system.h>

#include "base/text.h"

static int check_share(struct jw_error *err, const struct cli *cli)
{
	struct registry_given given;
	int failed = registry_given_read(err, cli, &given);

	if (!failed)
		failed = jw_share_check(
			err, &(struct jw_share_options){.size = sizeof(struct jw_share_options),
											.place = options_value(&cli->options, "share"),
											.insecure = given.insecure,
											.insecure_hosts = given.hosts,
											.insecure_host_count = given.host_count});
	registry_given_free(&given);
	return failed;
}

int prime_registry_check(struct jw_error *err, const struct cli *cli)
{
	const struct options *options = &cli->options;
	static const char *const only[] = {"allow-unsigned", "timeout"};
	static const char *const both[] = {"back", "insecure", "insecure-host"};
	const bool from = options_given(options, "from"), share = options_given(options, "share");

	for (size_t i = 0; !from && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s is for the registry that --from names",
							 only[i]);
	for (size_t i = 0; !from && !share && i < sizeof both / sizeof *both; i++)
		if (options_given(options, both[i]))
			return error_set(err, JW_ERR_USAGE,
							 "--%s is for the registry that --from names, or the place of --share",
							 both[i]);
	if (!share && options_given(options, "share-unsigned"))
		return error_set(err, JW_ERR_USAGE, "--share-unsigned is for the place that --share names");
	if ((from || share) && options_given(options, "target"))
		return error_set(err, JW_ERR_USAGE,
						 "--%s is for this machine; “jitwarm push” takes a pack of -o",
						 from ? "from" : "share");
	return (from && jw_registry_name_check(err, options_value(options, "from"))) ||
				   (share && check_share(err, cli))
			   ? -1
			   : 0;
}

static void read_back(struct prime_registry *registry, const struct jw_export_options *key)
{
	registry->back = (struct jw_push_options){
		.size = sizeof registry->back,
		.to = registry->from.from,
		.sign_key = key->sign_key,
		.passphrase = key->passphrase,
		.state_dir = key->state_dir,
		.insecure = registry->given.insecure,
		.insecure_hosts = registry->given.hosts,
		.insecure_host_count = registry->given.host_count,
		.timeout_ms = registry->given.timeout_ms,
	};
}

static void read_share(struct prime_registry *registry, const struct options *options,
					   const struct jw_export_options *key)
{
	registry->share = (struct jw_share_options){
		.size = sizeof registry->share,
		.place = options_value(options, "share"),
		.sign_key = key->sign_key,
		.passphrase = key->passphrase,
		.state_dir = key->state_dir,
		.allow_unsigned = options_given(options, "share-unsigned"),
		.insecure = registry->given.insecure,
		.insecure_hosts = registry->given.hosts,
		.insecure_host_count = registry->given.host_count,
		.back = options_given(options, "back"),
	};
}

/* Asks for the passphrase before the work. */
static int read_places(struct jw_error *err, const struct cli *cli, struct prime_registry *registry)
{
	struct jw_export_options key = JW_EXPORT_OPTIONS_INIT;
	const bool back = options_given(&cli->options, "back"),
			   share = options_given(&cli->options, "share");

	if ((back || share) && pack_report_key(err, cli, &key, registry->passphrase))
		return -1;
	if (back)
		read_back(registry, &key);
	if (share)
		read_share(registry, &cli->options, &key);
	return 0;
}

int prime_registry_read(struct jw_error *err, const struct cli *cli,
						struct prime_registry *registry)
{
	const struct options *options = &cli->options;

	if (!options_given(options, "from") && !options_given(options, "share"))
		return 0;
	if (registry_given_read(err, cli, &registry->given))
		return -1;
	registry->import =
		(struct jw_import_options){.size = sizeof registry->import,
								   .allow_unsigned = options_given(options, "allow-unsigned")};
	registry->from = (struct jw_pull_options){
		.size = sizeof registry->from,
		.from = options_value(options, "from"),
		.how = &registry->import,
		.insecure = registry->given.insecure,
		.insecure_hosts = registry->given.hosts,
		.insecure_host_count = registry->given.host_count,
		.timeout_ms = registry->given.timeout_ms,
	};
	return read_places(err, cli, registry);
}

const struct jw_pull_options *prime_registry_from(const struct prime_registry *registry)
{
	return registry->from.from ? &registry->from : NULL;
}

const struct jw_push_options *prime_registry_back(const struct prime_registry *registry)
{
	return registry->back.to ? &registry->back : NULL;
}

const struct jw_share_options *prime_registry_share(const struct prime_registry *registry)
{
	return registry->share.place ? &registry->share : NULL;
}

void prime_registry_print_shared(const struct output *out, const struct jw_prime_result *result)
{
	const struct jw_shared *shared = &result->shared;
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	if (shared->fetched)
		output_line(out, STYLE_GOOD, "%s from the shared place (%s), which saved %s of compiling.",
					TEXT_COUNT(shared->fetched, "module", "modules"),
					text_bytes(bytes, shared->fetched_bytes),
					text_duration(time, shared->saved_seconds));
	if (shared->placed)
		output_line(out, STYLE_PLAIN, "%s put there (%s).",
					TEXT_COUNT(shared->placed, "module", "modules"),
					text_bytes(bytes, shared->placed_bytes));
	if (shared->refused)
		output_warning(out, "%s there not taken: %s",
					   TEXT_COUNT(shared->refused, "module", "modules"), shared->refused_why);
	if (shared->unplaced)
		output_warning(out, "%s could not be put there: %s",
					   TEXT_COUNT(shared->unplaced, "module", "modules"), shared->trouble);
	else if (*shared->trouble)
		output_warning(out, "the shared place is used no further: %s", shared->trouble);
}

void prime_registry_print_pulled(const struct output *out, const struct jw_prime_result *result)
{
	if (result->pulled)
		registry_print_pulled(out, result->pulled);
	else if (result->not_pulled.code == JW_ERR_NOT_FOUND)
		output_line(out, STYLE_PLAIN, "%s", result->not_pulled.message);
	else if (result->not_pulled.code)
		output_warning(out, "nothing comes from the registry: %s", result->not_pulled.message);
}

void prime_registry_print_pushed(struct cli *cli, const struct jw_prime_result *result)
{
	if (result->pushed)
		registry_print_pushed(&cli->out, result->pushed);
	if (!result->not_pushed.code)
		return;
	output_warning(&cli->out, "nothing was pushed: %s", result->not_pushed.message);
	cli_end_with(cli, EXIT_COLD);
}

void prime_registry_free(struct prime_registry *registry)
{
	registry_given_free(&registry->given);
	passphrase_forget(registry->passphrase);
}
