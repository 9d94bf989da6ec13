#include "cli/registry_options.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include <jitwarm/share.h>

void registry_given_read(const struct cli *cli, struct registry_given *given)
{
	const struct options *options = &cli->options;
	const size_t count = options_count(options, "plain-http");

	given->plain = mem_array(count, sizeof *given->plain);
	given->hosts = mem_array(count, sizeof *given->hosts);
	for (size_t i = 0; i < count; i++) {
		const char *host = options_item(options, "plain-http", i);

		given->plain[given->plain_count++] = host;

		/* This machine, by any of its names and any port */
		if (!strcmp(host, "localhost") || !strcmp(host, "127.0.0.1"))
			given->insecure = true;
		else
			given->hosts[given->host_count++] = host;
	}
}

int registry_given_place(struct jw_error *err, const struct cli *cli, struct registry_given *given)
{
	const char *first = cli->options.operands[0];
	const char *setting = options_value(&cli->options, "registry");

	given->rest = !setting || (first && text_starts(first, "oci:"));
	given->place = given->rest ? first : setting;
	if (!given->place)
		return error_set(err, JW_ERR_USAGE,
						 "name a registry: oci://HOST/REPOSITORY; “jitwarm config registry "
						 "oci://HOST/REPOSITORY” keeps one");
	return jw_registry_name_check(err, given->place);
}

void registry_given_free(struct registry_given *given)
{
	mem_free(given->plain);
	mem_free(given->hosts);
	*given = (struct registry_given){0};
}
