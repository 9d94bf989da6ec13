/* jitwarm import: a pack into the driver's cache. */
#include <string.h>

#include <jitwarm/pack.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/pack_report.h"
#include "os/interrupt.h"

static enum exit_status status_of(const struct jw_import_result *result)
{
	if (!result->refused)
		return result->dry_run && result->evicted ? EXIT_COLD : EXIT_DONE;
	return result->refused == result->entries ? EXIT_CANNOT : EXIT_COLD;
}

static int import_into(struct jw_error *err, struct cli *cli,
					   const struct jw_import_options *options)
{
	const bool as_is = !options->system;
	const struct jw_cache_info *cache = &cli->system->cache;
	struct jw_import_result *result;
	int failed;

	if (jw_import(err, options, &result)) {
		/* Without a driver, or if the driver has no cache, jitwarm cannot help. */
		if (err->code == JW_ERR_UNSUPPORTED && !options->cache_dir &&
			(!cli->system->driver.stamp[0] || !cache->path))
			cli->failure = EXIT_CANNOT;
		return -1;
	}
	if (result->as_is && !as_is)
		output_note(&cli->out,
					cli->system->driver.library[0]
						? "jitwarm does not know the names of this driver's entries: the imported "
						  "entries keep the drivers that made them"
						: "no driver is installed: the imported entries keep the drivers that made "
						  "them");
	if (*result->note)
		output_note(&cli->out, "%s: %s", options->path, result->note);
	pack_report_import(&cli->out, result);
	if (cache->why_useless[0] && !cache->no_compiler)
		output_warning(&cli->out, "a warm cache does not help here: %s", cache->why_useless);
	cli->status = status_of(result);
	failed = document_print(&cli->out, &document_import, result);
	jw_result_free(result);
	return failed;
}

static int import_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	const char *pack = given->operand_count ? given->operands[0] : NULL;
	struct jw_import_options options = {
		.path = pack,
		.cache_dir = options_value(given, "cache"),
		.allow_unsigned = options_given(given, "allow-unsigned"),
		.dry_run = options_given(given, "dry-run"),
		.cancel = cli_cancel,
	};
	const bool as_is = options_given(given, "as-is");

	if (!pack)
		return error_set(err, JW_ERR_USAGE, "name a pack");
	if (given->operand_count > 1)
		return error_set(err, JW_ERR_USAGE, "%s: import reads one pack at a time; name only one",
						 pack);
	if (!strcmp(pack, "-"))
		return error_set(
			err, JW_ERR_USAGE,
			"a pack cannot come from standard input, which has no signature: name a file");
	if (text_ends(pack, ".minisig"))
		return error_set(err, JW_ERR_USAGE,
						 "%s: a signature: name the pack that belongs to the signature", pack);
	if (strstr(pack, "://"))
		return error_set(
			err, JW_ERR_USAGE,
			"%s: an address, and import reads files: download the pack and its signature first",
			pack);
	if (as_is && !options.cache_dir)
		return error_set(err, JW_ERR_USAGE, "--as-is: name the directory with --cache DIR");
	os_catch_interrupts();
	if (cli_open_asleep(err, cli, options.cache_dir, JW_ASK_UNKNOWN))
		return -1;
	options.system = as_is ? NULL : cli->system;
	options.state_dir = cli->system->state_dir;
	return import_into(err, cli, &options);
}

static const struct cli_option import_options[] = {
	CLI_CACHE,
	CLI_FLAG("dry-run",
			 "Check everything, also whether the directory is writable, but write nothing",
			 .letter = 'n'),
	CLI_FLAG("allow-unsigned", "Accept a pack that no trusted key has signed, if you trust whoever "
							   "made the pack: your GPU runs its code"),
	CLI_FLAG("as-is", "With --cache: fill the directory for another machine, and keep the drivers "
					  "and GPUs of the entries. This is the default if no driver is installed"),
	{0}};

const struct cli_command command_import = {
	.name = "import",
	.summary = "Add a pack to the driver's cache",
	.usage = "[OPTION]… FILE",
	.description =
		"Adds the entries of a pack of “jitwarm export” to the driver's cache, also while programs "
		"are running.\n\nThe pack needs a signature in FILE.minisig by a key that “jitwarm key "
		"list” shows as trusted, unless --allow-unsigned is given. Everything is checked before "
		"anything is written: digest and signature, each member's hash, the GPU and form of each "
		"piece of machine code, and whether the name of each entry fits its module. An interrupted "
		"import leaves a sound cache; the next import completes the work.\n\nFor each kind of "
		"entry, import reports “accepted”, “already there”, or “refused” with each field that does "
		"not fit: architecture, driver, OS, pointer size, key form, cubin ABI. Entries from "
		"another build of the same CUDA version are the driver's own bytes and are reused.\n\nExit "
		"status: 0 if all is in the cache, 1 if a part was refused, or if --dry-run says that the "
		"pack would exceed the cache's limit, 2 if the whole pack was refused or there is no "
		"driver to import for, 3 if the pack is damaged, other entries would be evicted, or the "
		"cache cannot be written.",
	.examples = "jitwarm import lab.jwpack\njitwarm import --dry-run lab.jwpack\n",
	.options = import_options,
	.run = import_run,
};
