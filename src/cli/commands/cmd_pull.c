/* jitwarm pull: packs of a registry into the driver's cache. */
#include <jitwarm/share.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/pack_report.h"
#include "cli/registry_options.h"
#include "os/interrupt.h"

#define PULLED(member, ...) JSON(struct jw_pulled_pack, member, __VA_ARGS__)

static const struct json_field pulled_fields[] = {
	PULLED(tag, "the tag that was asked for"),
	PULLED(pack_bytes, "the size of the pack's file"),
	JSON_POINTER_OF("import", struct jw_pulled_pack, import, &document_import,
					"the result of importing the pack"),
	JSON_AS("failed", struct jw_pulled_pack, failed.message,
			"why the import failed, in one line; `import` is absent then", .presence = JSON_IF_SET),
	{0},
};

static const struct json_field pull_fields[] = {
	JSON(struct jw_pull_result, place, "the registry and the repository: `HOST/REPOSITORY`"),
	JSON_LIST_OF("packs", struct jw_pull_result, packs, pack_count,
				 JSON_TABLE(struct jw_pulled_pack, pulled_fields),
				 "the packs that were pulled, in the order in which they were imported"),
	JSON(struct jw_pull_result, failed, "packs that were not imported"),
	JSON(struct jw_pull_result, seconds, "the wall time, including the imports"),
	{0},
};
const struct json_table document_pull = {
	.schema = "jitwarm.pull/1", .fields = pull_fields, .size = sizeof(struct jw_pull_result)};

static void registry_print_pulled(const struct output *out, const struct jw_pull_result *result)
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
		pack_report_import(out, pack->import);
	}
}

static enum exit_status registry_status_of_pull(const struct jw_pull_result *result)
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

static int pull_and_report(struct jw_error *err, struct cli *cli,
						   const struct registry_arguments *registry)
{
	const struct options *given = &cli->options;
	const struct jw_import_options how = {
		.cache_dir = options_value(given, "cache"),
		.system = cli->system,
		.state_dir = cli->system->state_dir,
		.allow_unsigned = options_given(given, "allow-unsigned"),
		.dry_run = options_given(given, "dry-run"),
		.cancel = cli_cancel,
	};
	const struct jw_pull_options options = {
		.from = registry->place,
		.names = given->operands + registry->rest,
		.name_count = given->operand_count - registry->rest,
		.how = &how,
		.plain_hosts = registry->plain,
		.plain_host_count = registry->plain_count,
		.cancel = cli_cancel,
	};
	struct jw_pull_result *result;
	int failed;

	if (jw_pull(err, &options, &result)) {
		/* A registry without such a pack is not a failure, but work is left. */
		if (err->code == JW_ERR_NOT_FOUND)
			cli->failure = EXIT_COLD;
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	}
	registry_print_pulled(&cli->out, result);
	cli->status = registry_status_of_pull(result);
	failed = document_print(&cli->out, &document_pull, result);
	jw_pull_result_free(result);
	return failed;
}

static int pull_run(struct jw_error *err, struct cli *cli)
{
	struct registry_arguments registry = {0};
	int result;

	if (registry_arguments_place(err, cli, &registry))
		return -1;
	os_catch_interrupts();
	/* The driver's release decides which pack fits. */
	if (cli_open_asleep(err, cli, options_value(&cli->options, "cache"), JW_ASK_UNCERTAIN))
		return -1;
	if (!cli->system->driver.stamp[0]) {
		cli->failure = EXIT_CANNOT;
		return error_set(err, JW_ERR_UNSUPPORTED,
						 cli->system->driver.library[0]
							 ? "%s: packs are chosen by the driver's version, which jitwarm does "
							   "not know: “jitwarm status” asks the driver on a machine with a GPU"
							 : "no NVIDIA driver is installed, and packs are chosen by its "
							   "version: pull on the machine with the GPU, or fill a directory for "
							   "that machine with “jitwarm import --cache DIR --as-is FILE”",
						 cli->system->driver.library);
	}
	registry_arguments_read(cli, &registry);
	result = pull_and_report(err, cli, &registry);
	registry_arguments_free(&registry);
	return result;
}

static const struct cli_option pull_options[] = {
	CLI_CACHE,
	CLI_FLAG("dry-run", "Download and check everything, and report; write nothing to the cache",
			 .letter = 'n'),
	CLI_FLAG("allow-unsigned", "Accept packs that no trusted key has signed, if you trust whoever "
							   "made them: your GPU runs their code"),
	REGISTRY_OPTIONS,
	{0}};

const struct cli_command command_pull = {
	.name = "pull",
	.summary = "Add packs from a registry to the driver's cache",
	.usage = "[oci://HOST/REPOSITORY[:TAG]] [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Downloads packs from a container registry for this machine's GPUs, and adds them to the "
		"driver's cache.\n\nThe packs come from “jitwarm push”. Before jitwarm unpacks a pack, it "
		"verifies that a trusted key (“jitwarm key trust”) has signed the pack, unless "
		"--allow-unsigned is given. Then it checks every entry, as “jitwarm import” "
		"does.\n\njitwarm asks for the tag NAMES-GPU-DRIVER: name the same paths and packages as "
		"for "
		"“jitwarm push”. With :TAG in the address, jitwarm asks for TAG instead. If the repository "
		"has no such tag, jitwarm lists the tags "
		"that the repository has. skopeo or oras, whichever is on PATH, downloads the packs with "
		"its own logins.\n\nExit status: 0 if all is in the cache, 1 if there is no such pack or a "
		"part was refused, 2 if everything was refused, or if there is no driver, or neither "
		"skopeo nor oras, 3 if the registry cannot be reached, a pack is damaged or not trusted, "
		"or the cache cannot be written.",
	.examples = "jitwarm pull oci://registry.example/lab/cache:torch\n",
	.options = pull_options,
	.run = pull_run,
};
