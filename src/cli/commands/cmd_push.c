/* jitwarm push: packs into a registry. */
#include <jitwarm/share.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/module_text.h"
#include "cli/parts/registry_options.h"
#include "os/interrupt.h"

struct pushing {
	struct jw_push_options options;
	struct registry_given registry;
	struct found_files files;
	char passphrase[PASSPHRASE_SIZE];
};

/* A pack, or files whose modules' entries are wanted. */
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
							 "%s: a pack is signed where it is made, with “jitwarm export --sign”",
							 names[0]);
		return count == 1
				   ? 0
				   : error_set(err, JW_ERR_USAGE, "%s: one pack, and nothing beside it", names[0]);
	}
	if (found_files_find(err, &cli->out, names, count, false, &pushing->files))
		return -1;
	pushing->options.found = pushing->files.found;
	return 0;
}

static int read_push_key(struct jw_error *err, const struct cli *cli, struct pushing *pushing)
{
	struct jw_export_options key = {0};

	if (pack_report_key(err, cli, &key, pushing->passphrase))
		return -1;
	pushing->options.sign_key = key.sign_key;
	pushing->options.passphrase = key.passphrase;
	pushing->options.state_dir = key.state_dir;
	return 0;
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
	int failed;

	if (registry_given_place(err, cli, &pushing.registry))
		return -1;
	os_catch_interrupts();
	failed = cli_open_asking(err, cli, options_value(&cli->options, "cache"), false) ||
			 registry_given_read(cli, &pushing.registry) || read_pushed_names(err, cli, &pushing) ||
			 read_push_key(err, cli, &pushing) || push_and_report(err, cli, &pushing);
	passphrase_forget(pushing.passphrase);
	if (!failed)
		found_files_end(cli, &pushing.files);
	found_files_free(&pushing.files);
	registry_given_free(&pushing.registry);
	return failed ? -1 : 0;
}

static const struct cli_option push_options[] = {
	CLI_CACHE,
	CLI_ENVIRONMENT,
	PACKING_KEY_OPTIONS("Sign the packs; the signature travels with them"),
	REGISTRY_OPTIONS,
	{0}};

const struct cli_command command_push = {
	.name = "push",
	.summary = "Put the driver's cache, or a pack, into a registry",
	.usage = "[oci://HOST/REPOSITORY[:TAG]] [--sign] [PACK | PATH|PACKAGE…]",
	.description =
		"Puts entries of the driver's JIT cache into a container registry, where “jitwarm pull” of "
		"machines of the same kind finds them: those of the modules in the named paths and "
		"packages, all of the cache without names, or a pack of “jitwarm export” (FILE.jwpack, "
		"with its FILE.jwpack.minisig).\n\nskopeo or oras carries them, whichever is on PATH, with "
		"its logins (“skopeo login”, “oras login”). Without a TAG there is one pack for each GPU "
		"here, with the tag NAMES-GPU-DRIVER, for example torch-sm_86-550.163.01; a TAG of yours "
		"holds one pack for all GPUs. A pack replaces the one that had its tag.\n\nPlain HTTP "
		"needs "
		"the setting plain-http.\n\nExit status: 0 if it is there, 1 if a name matches no file, 2 "
		"if "
		"neither program is here, 3 if the registry cannot be reached or refuses, or there is "
		"nothing to push.",
	.options = push_options,
	.run = push_run,
};
