#include "cli/parts/target_machine.h"

#include <string.h>

#include "base/mem.h"

static int check_pack_usage(struct jw_error *err, const struct options *options, bool given)
{
	static const char *const only[] = {"sign", "key", "signature", "passphrase-file"};
	const char *file = options_value(options, "output");
	const bool share = options_given(options, "share");

	for (size_t i = 0; !file && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]) &&
			!(share && (!strcmp(only[i], "sign") || !strcmp(only[i], "key") ||
						!strcmp(only[i], "passphrase-file"))))
			return error_set(err, JW_ERR_USAGE, "--%s is for the pack that -o names", only[i]);
	if (file && !given)
		return error_set(err, JW_ERR_USAGE,
						 "-o is for another machine, whose GPU --target names; “jitwarm export” "
						 "packs this one's cache");
	if (file && !strcmp(file, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	return 0;
}

static int check_target_usage(struct jw_error *err, const struct options *options, bool given)
{
	static const char *const only[] = {"driver", "driver-lib", "driver-profile", "ptxas", "fetch"};

	for (size_t i = 0; !given && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]))
			return error_set(err, JW_ERR_USAGE,
							 "--%s is for another machine, whose GPU --target names", only[i]);
	if (options_given(options, "driver-profile") &&
		(options_given(options, "driver") || options_given(options, "driver-lib")))
		return error_set(
			err, JW_ERR_USAGE,
			"--driver-profile names the driver already: leave out --driver and --driver-lib");
	if (given && !options_given(options, "cache") && !options_given(options, "output") &&
		!options_given(options, "dry-run"))
		return error_set(err, JW_ERR_USAGE,
						 "--target is for another machine: --cache names the directory to fill, "
						 "-o the pack to write; -n needs neither");
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
										 .pack = JW_EXPORT_OPTIONS_INIT};
	if (check_target_usage(err, options, elsewhere->given))
		return -1;
	if (!elsewhere->given)
		return 0;
	if (gpu_targets_read(err, cli, &elsewhere->gpus))
		return -1;
	elsewhere->pack.output = options_value(options, "output");
	how->scratch = !options_given(options, "cache");
	how->nameless = options_given(options, "dry-run");
	how->probe = false;
	how->targets = elsewhere->gpus.targets;
	how->target_count = elsewhere->gpus.count;
	how->driver = options_value(options, "driver");
	how->driver_library = options_value(options, "driver-lib");
	how->driver_profile = options_value(options, "driver-profile");
	return 0;
}

void target_machine_warn(const struct cli *cli, const struct target_machine *elsewhere)
{
	const struct jw_driver_info *driver = &cli->system->driver;
	char text[JW_DRIVER_TEXT];

	if (elsewhere->given && !driver->stamp[0])
		output_warning(
			&cli->out,
			"the names of entries under driver %s are not known, so that it cannot be told "
			"which modules are warm; priming needs --driver-lib or --driver-profile",
			jw_driver_text(text, &driver->version));
}

int target_machine_get_ready(struct jw_error *err, const struct cli *cli,
							 struct target_machine *elsewhere)
{
	struct jw_export_options *pack = &elsewhere->pack;

	if (!pack->output || options_given(&cli->options, "dry-run"))
		return 0;
	return pack_report_sign(err, cli, pack, elsewhere->passphrase);
}

void target_machine_free(struct target_machine *elsewhere)
{
	passphrase_forget(elsewhere->passphrase);
}
