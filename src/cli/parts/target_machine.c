#include "cli/parts/target_machine.h"

#include <string.h>

#include <jitwarm/key.h>

#include "base/mem.h"

static int check_pack_usage(struct jw_error *err, const struct options *options, bool given)
{
	static const char *const only[] = {"sign", "key", "signature", "passphrase-file", "thin"};
	const char *file = options_value(options, "output");

	for (size_t i = 0; !file && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s is for the pack that -o names", only[i]);
	if (file && !given)
		return error_set(err, JW_ERR_USAGE,
						 "-o is for another machine, whose GPU --target names; “jitwarm export” "
						 "packs this one's cache");
	if (file && !strcmp(file, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	return 0;
}

static int check_usage(struct jw_error *err, const struct options *options, bool given)
{
	static const char *const only[] = {"driver", "driver-lib", "driver-profile", "ptxas", "split"};

	for (size_t i = 0; !given && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]))
			return error_set(err, JW_ERR_USAGE,
							 "--%s is for another machine, whose GPU --target names", only[i]);
	if (options_given(options, "driver-profile") &&
		(options_given(options, "driver") || options_given(options, "driver-lib")))
		return error_set(
			err, JW_ERR_USAGE,
			"--driver-profile names the driver already: leave out --driver and --driver-lib");
	if (given && !options_given(options, "cache") && !options_given(options, "output"))
		return error_set(err, JW_ERR_USAGE,
						 "--target is for another machine: --cache names the directory to fill, "
						 "-o the pack to write");
	if (given && options_given(options, "sudo-user"))
		return error_set(err, JW_ERR_USAGE, "--sudo-user is for this machine's own cache");
	return check_pack_usage(err, options, given);
}

int target_machine_read(struct jw_error *err, struct cli *cli, struct target_machine *ret_elsewhere,
						struct jw_system_options *how)
{
	const struct options *options = &cli->options;
	struct target_machine *elsewhere = ret_elsewhere;

	*elsewhere = (struct target_machine){.given = options_given(options, "target"),
										 .export = JW_EXPORT_OPTIONS_INIT,
										 .pack.result = JW_EXPORT_RESULT_INIT};
	if (check_usage(err, options, elsewhere->given))
		return -1;
	if (!elsewhere->given)
		return 0;
	if (gpu_targets_read(err, cli, &elsewhere->gpus))
		return -1;
	elsewhere->export.output = options_value(options, "output");
	elsewhere->scratch = elsewhere->export.output && !options_given(options, "cache");
	how->scratch = elsewhere->scratch;
	how->probe = false;
	how->targets = elsewhere->gpus.targets;
	how->target_count = elsewhere->gpus.count;
	how->driver = options_value(options, "driver");
	how->driver_library = options_value(options, "driver-lib");
	how->driver_profile = options_value(options, "driver-profile");
	return 0;
}

/* Source: docs/compiler-twin.md, [1]. */
static bool differs(const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++)
		if (system->driver.version.release[0] == 535 && system->gpus[i].target.sm == 90)
			return true;
	return false;
}

static int find_compiler(struct jw_error *err, const struct cli *cli, struct jw_compiler *compiler)
{
	const struct jw_driver *version = &cli->system->driver.version;
	char driver[JW_DRIVER_TEXT];

	if (jw_compiler_find(err, version, options_value(&cli->options, "ptxas"), compiler) ||
		(options_given(&cli->options, "split") && jw_compiler_can_split(err, compiler)))
		return -1;
	(void)jw_driver_text(driver, version);
	if (!compiler->exact)
		output_warning(
			&cli->out,
			"%s is of CUDA %u.%u, older than driver %s: its code works there, but is not "
			"the driver's own",
			compiler->path, compiler->cuda / 1000, compiler->cuda % 1000 / 10, driver);
	else if (differs(cli->system))
		output_warning(&cli->out,
					   "on sm_90 driver %s writes one attribute more into its results than ptxas "
					   "does: they are not the driver's own to the last byte",
					   driver);
	return 0;
}

int target_machine_get_ready(struct jw_error *err, const struct cli *cli,
							 struct target_machine *elsewhere)
{
	struct jw_export_options *export = &elsewhere->export;

	if (find_compiler(err, cli, &elsewhere->compiler) ||
		pack_report_sign(err, cli, export, elsewhere->passphrase))
		return -1;
	/* Refuses a key that cannot sign before the work. */
	return export->sign_key
			   ? jw_key_check(err, export->state_dir, export->sign_key, export->passphrase)
			   : 0;
}

int target_machine_pack(struct jw_error *err, const struct cli *cli, const struct jw_found *found,
						const struct jw_prime_result *primed, struct target_machine *elsewhere)
{
	struct jw_export_options *export = &elsewhere->export;
	struct jw_error why = {0};

	if (!export->output || options_given(&cli->options, "dry-run"))
		return 0;
	if (primed->interrupted)
		return error_set(err, JW_ERR_INTERRUPTED, "%s is not written%s", export->output,
						 elsewhere->scratch ? ", and what was compiled is gone: with --cache DIR "
											  "an interrupted run can continue"
											: "");
	export->thin = options_given(&cli->options, "thin");
	if (export->thin && found) {
		if (jw_pack_files(err, found, &elsewhere->files))
			return -1;
		export->files = elsewhere->files;
		export->file_count = found->file_count;
	}
	export->system = cli->system;
	export->targets = elsewhere->gpus.targets;
	export->target_count = elsewhere->gpus.count;
	export->cancel = cli_cancel;
	if (jw_export(&why, export, &elsewhere->pack.result))
		return why.code == JW_ERR_NOT_FOUND
				   ? error_set(err, JW_ERR_UNSUPPORTED,
							   "%s is not written: no entry is left to put into it", export->output)
				   : error_copy(err, &why);
	elsewhere->pack.file = export->output;
	pack_report_print(&cli->out, export->output, &elsewhere->pack.result);
	return 0;
}

void target_machine_free(struct target_machine *elsewhere)
{
	jw_pack_files_free(elsewhere->files);
	jw_compiler_free(&elsewhere->compiler);
	passphrase_forget(elsewhere->passphrase);
}
