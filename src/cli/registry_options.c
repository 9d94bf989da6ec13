#include "cli/registry_options.h"

#include "base/mem.h"
#include "base/text.h"
#include <jitwarm/share.h>

void registry_arguments_read(const struct cli *cli, struct registry_arguments *given)
{
	const struct options *options = &cli->options;
	const size_t count = options_count(options, "plain-http");

	given->plain = mem_array(count, sizeof *given->plain);
	for (size_t i = 0; i < count; i++)
		given->plain[given->plain_count++] = options_item(options, "plain-http", i);
}

int registry_arguments_place(struct jw_error *err, const struct cli *cli,
							 struct registry_arguments *given)
{
	const char *first = cli->options.operands[0];
	const char *setting = options_value(&cli->options, "registry");

	given->rest = !setting || (first && text_starts(first, "oci:"));
	given->place = given->rest ? first : setting;
	if (!given->place)
		return error_set(err, JW_ERR_USAGE,
						 "name a registry: oci://HOST/REPOSITORY, or set one for all commands: "
						 "“jitwarm config registry oci://HOST/REPOSITORY”");
	return jw_registry_name_check(err, given->place);
}

void registry_arguments_free(struct registry_arguments *given)
{
	mem_free(given->plain);
	*given = (struct registry_arguments){0};
}
