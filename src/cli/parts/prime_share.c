#include "cli/parts/prime_share.h"

#include <jitwarm/system.h>

#include "base/text.h"

static struct jw_share_options options_of(const struct cli *cli, const struct registry_given *given)
{
	return (struct jw_share_options){
		.size = sizeof(struct jw_share_options),
		.place = options_value(&cli->options, "share"),
		.allow_unsigned = options_given(&cli->options, "share-unsigned"),
		.insecure = given->insecure,
		.insecure_hosts = given->hosts,
		.insecure_host_count = given->host_count,
		.back = options_given(&cli->options, "back"),
	};
}

int prime_share_check(struct jw_error *err, const struct cli *cli)
{
	static const char *const only[] = {"back", "share-unsigned", "insecure", "insecure-host"};
	const bool share = options_given(&cli->options, "share");
	struct registry_given given;
	struct jw_share_options options;
	int failed;

	for (size_t i = 0; !share && i < sizeof only / sizeof *only; i++)
		if (options_given(&cli->options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s is for the place that --share names",
							 only[i]);
	if (!share)
		return 0;
	if (options_given(&cli->options, "target"))
		return error_set(err, JW_ERR_USAGE,
						 "--share is for this machine; “jitwarm push” takes a pack of -o");
	if (registry_given_read(err, cli, &given))
		return -1;
	options = options_of(cli, &given);
	failed = jw_share_check(err, &options);
	registry_given_free(&given);
	return failed;
}

int prime_share_read(struct jw_error *err, const struct cli *cli, struct prime_share *share)
{
	struct jw_export_options key = JW_EXPORT_OPTIONS_INIT;

	if (!options_given(&cli->options, "share"))
		return 0;
	if (registry_given_read(err, cli, &share->given) ||
		pack_report_key(err, cli, &key, share->passphrase))
		return -1;
	share->options = options_of(cli, &share->given);
	share->options.sign_key = key.sign_key;
	share->options.passphrase = key.passphrase;
	share->options.state_dir = key.state_dir;
	return 0;
}

const struct jw_share_options *prime_share_options(const struct prime_share *share)
{
	return share->options.place ? &share->options : NULL;
}

void prime_share_print(const struct output *out, const struct jw_prime_result *result)
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

void prime_share_free(struct prime_share *share)
{
	registry_given_free(&share->given);
	passphrase_forget(share->passphrase);
}
