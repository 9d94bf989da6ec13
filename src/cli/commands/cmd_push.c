/* jitwarm push: packs into a registry. */
#include <jitwarm/share.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/pack_report.h"
#include "cli/registry_options.h"
#include "os/interrupt.h"

#define PUSHED(member, ...) JSON(struct jw_pushed_pack, member, __VA_ARGS__)

static const struct json_field pushed_fields[] = {
	PUSHED(tag, "the tag that was set"),
	PUSHED(targets, "the GPU architectures of the pack's entries: `sm_70 sm_86`"),
	PUSHED(drivers, "the drivers of the pack's entries: `550.163.01`"),
	PUSHED(entries, "entries in the pack"),
	PUSHED(pack_bytes, "the size of the pack's file"),
	PUSHED(signed_by, "the id of the key that has signed the pack; absent without a signature",
		   .presence = JSON_IF_SET),
	PUSHED(public_key, "the argument of `key trust` on receiving machines",
		   JSON_IF(struct jw_pushed_pack, signed_by)),
	{0},
};

static const struct json_field push_fields[] = {
	JSON(struct jw_push_result, place, "the registry and the repository: `HOST/REPOSITORY`"),
	JSON_LIST_OF("packs", struct jw_push_result, packs, pack_count,
				 JSON_TABLE(struct jw_pushed_pack, pushed_fields),
				 "the packs that were pushed, one for each GPU architecture"),
	JSON(struct jw_push_result, seconds, "the wall time of the command"),
	{0},
};
const struct json_table document_push = {
	.schema = "jitwarm.push/1", .fields = push_fields, .size = sizeof(struct jw_push_result)};

struct pushing {
	struct jw_push_options options;
	struct registry_arguments registry;
	struct found_files files;
};

/* Reads the operands: a pack, or files whose modules' entries are wanted. */
static int read_pushed_names(struct jw_error *err, struct cli *cli, struct pushing *pushing)
{
	const char **names = cli->options.operands + pushing->registry.rest;
	const size_t count = cli->options.operand_count - pushing->registry.rest;

	if (!count)
		return 0;
	pushing->options.names = names;
	pushing->options.name_count = count;
	if (text_ends(names[0], ".jwpack")) {
		pushing->options.pack = names[0];
		if (options_given(&cli->options, "sign"))
			return error_set(err, JW_ERR_USAGE,
							 "%s: an existing pack cannot be signed: sign it when you make it, "
							 "with “jitwarm export --sign”",
							 names[0]);
		return count == 1
				   ? 0
				   : error_set(err, JW_ERR_USAGE, "%s: name one pack and nothing else", names[0]);
	}
	if (found_files_find(err, &cli->out, names, count, false, &pushing->files))
		return -1;
	pushing->options.found = pushing->files.found;
	return 0;
}

static void registry_print_pushed(const struct output *out, const struct jw_push_result *result)
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

static int push_and_report(struct jw_error *err, struct cli *cli, struct pushing *pushing)
{
	struct jw_push_options *options = &pushing->options;
	struct jw_push_result *result;
	int failed;

	options->to = pushing->registry.place;
	options->system = cli->system;
	options->cache_dir = options_value(&cli->options, "cache");
	options->plain_hosts = pushing->registry.plain;
	options->plain_host_count = pushing->registry.plain_count;
	options->cancel = cli_cancel;
	if (jw_push(err, options, &result))
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	registry_print_pushed(&cli->out, result);
	failed = document_print(&cli->out, &document_push, result);
	jw_push_result_free(result);
	return failed;
}

static int push_run(struct jw_error *err, struct cli *cli)
{
	struct pushing pushing = {.options = {0}};
	struct jw_export_options key = {0};
	int result;

	if (registry_arguments_place(err, cli, &pushing.registry))
		return -1;
	os_catch_interrupts();
	registry_arguments_read(cli, &pushing.registry);
	result = cli_open_asleep(err, cli, options_value(&cli->options, "cache"), JW_ASK_UNKNOWN);
	if (!result)
		result = read_pushed_names(err, cli, &pushing);
	if (!result)
		result = pack_report_key(err, cli, &key);
	pushing.options.sign_key = key.sign_key;
	pushing.options.state_dir = key.state_dir;
	if (!result)
		result = push_and_report(err, cli, &pushing);
	if (!result)
		found_files_end(cli, &pushing.files);
	found_files_free(&pushing.files);
	registry_arguments_free(&pushing.registry);
	return result;
}

static const struct cli_option push_options[] = {
	CLI_CACHE,
	CLI_ENVIRONMENT,
	PACKING_KEY_OPTIONS("Sign the packs, and upload the signature with them"),
	REGISTRY_OPTIONS,
	{0}};

const struct cli_command command_push = {
	.name = "push",
	.summary = "Upload the driver's cache, or a pack, to a registry",
	.usage = "[oci://HOST/REPOSITORY[:TAG]] [--sign] [PACK | PATH|PACKAGE…]",
	.description =
		"Uploads the driver's cache, or a part of it, to a container registry for “jitwarm pull” "
		"on similar machines.\n\nIf you name paths or packages, push uploads only the entries of "
		"their modules. If you name FILE.jwpack, push uploads this pack with its signature "
		"FILE.jwpack.minisig. Otherwise push uploads the whole cache.\n\nskopeo or oras, whichever "
		"is on PATH, uploads the packs with its own logins (“skopeo login”, “oras login”). Without "
		"a TAG, push uploads one pack for each GPU of this machine, with the tag NAMES-GPU-DRIVER, "
		"for example torch-sm_86-550.163.01. With a TAG, push uploads one pack for all GPUs. A "
		"pack "
		"replaces the pack that had the same tag.\n\nFor a registry without TLS, name its host "
		"first: “jitwarm config plain-http HOST”.\n\nExit status: 0 if everything was pushed, 1 if "
		"a name matches no file, 2 if neither skopeo nor oras is installed, 3 if the registry "
		"cannot be reached or refuses, or there is nothing to push.",
	.examples = "jitwarm push oci://registry.example/lab/cache:torch --sign torch\n",
	.options = push_options,
	.run = push_run,
};
