/* jitwarm pull: packs of a registry into the driver's cache. */
#include <jitwarm/share.h>

#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/module_text.h"
#include "cli/parts/registry_options.h"
#include "os/interrupt.h"

struct pulling {
	struct registry_given registry;
	struct found_files files;
};

static int pull_and_report(struct jw_error *err, struct cli *cli, const struct pulling *pulling)
{
	const struct options *given = &cli->options;
	const struct jw_import_options how = {
		.size = sizeof how,
		.cache_dir = options_value(given, "cache"),
		.system = cli->system,
		.state_dir = cli->system->state_dir,
		.allow_unsigned = options_given(given, "allow-unsigned"),
		.dry_run = options_given(given, "dry-run"),
		.cancel = cli_cancel,
	};
	const struct jw_pull_options options = {
		.size = sizeof options,
		.from = pulling->registry.place,
		.found = pulling->files.found,
		.how = &how,
		.insecure = pulling->registry.insecure,
		.insecure_hosts = pulling->registry.hosts,
		.insecure_host_count = pulling->registry.host_count,
		.timeout_ms = pulling->registry.timeout_ms,
		.cancel = cli_cancel,
	};
	struct jw_pull_result *result;
	int failed;

	if (jw_pull(err, &options, &result)) {
		/* A registry that has no such pack is no failure of it: the work is left. */
		if (err->code == JW_ERR_NOT_FOUND)
			cli->failure = EXIT_COLD;
		return -1;
	}
	registry_print_pulled(&cli->out, result);
	cli->status = registry_status_of_pull(result);
	failed = document_print(err, &cli->out, &document_pull, result);
	jw_pull_result_free(result);
	return failed;
}

static int pull_run(struct jw_error *err, struct cli *cli)
{
	struct pulling pulling = {{0}, {0}};
	int failed;

	if (registry_given_place(err, cli, &pulling.registry))
		return -1;
	os_catch_interrupts();
	/* Which packs fit is decided by the driver's CUDA version, which it tells itself. */
	if (cli_open_asking(err, cli, options_value(&cli->options, "cache"), true))
		return -1;
	if (!cli->system->driver.stamp[0]) {
		cli->failure = EXIT_CANNOT;
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "no driver is known here, so that nothing can be chosen for it: “jitwarm "
						 "import” takes a pack for another machine");
	}
	failed = registry_given_read(err, cli, &pulling.registry) ||
			 (cli->options.operand_count > pulling.registry.rest &&
			  found_files_find(err, &cli->out, cli->options.operands + pulling.registry.rest,
							   cli->options.operand_count - pulling.registry.rest, false,
							   &pulling.files)) ||
			 pull_and_report(err, cli, &pulling);
	found_files_free(&pulling.files);
	registry_given_free(&pulling.registry);
	return failed ? -1 : 0;
}

static const struct cli_option pull_options[] = {
	CLI_CACHE,
	CLI_ENVIRONMENT,
	CLI_FLAG("dry-run", "Download and check everything, and report; write nothing to the cache",
			 .letter = 'n'),
	CLI_FLAG("allow-unsigned", "Accept packs that no trusted key has signed. They hold code that "
							   "GPUs run: check their source"),
	REGISTRY_OPTIONS,
	{0}};

const struct cli_command command_pull = {
	.name = "pull",
	.summary = "Add packs of a registry to the driver's cache",
	.usage = "[oci://HOST/REPOSITORY[:TAG|@DIGEST]] [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Downloads packs that “jitwarm push” put into an OCI registry, and imports them as "
		"“jitwarm import” does: nothing is unpacked before a trusted key's signature is found good "
		"(“jitwarm key trust”), unless --allow-unsigned is given.\n\nWith names of paths or "
		"packages it asks for the pack of exactly their modules under this driver and GPU, by the "
		"tag that follows from them: one request tells whether there is one. With a tag or digest "
		"it takes that pack, or those of an index that fit this machine, and of them only entries "
		"of the named files.\n\nA registry's answers are bounded in size and time, and checked "
		"against the "
		"digests that name them. A broken download is continued.\n\nExit status: 0 if all is in "
		"the cache, 1 if there is no such pack or a part was refused, 2 if all of it was refused "
		"or there is no driver, 3 if the registry cannot be reached, a pack is damaged or not "
		"trusted, or the cache cannot be written.",
	.options = pull_options,
	.run = pull_run,
};
