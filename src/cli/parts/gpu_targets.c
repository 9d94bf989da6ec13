#include "cli/parts/gpu_targets.h"

#include <stdio.h>
#include <string.h>

int gpu_targets_add_own(struct jw_error *err, struct gpu_targets *gpus,
						const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++) {
		char sm[JW_TARGET_TEXT];

		if (jw_targets_read(err, jw_target_sm(sm, system->gpus[i].target), NULL, gpus->targets,
							GPUS_MOST, &gpus->count))
			return -1;
	}
	return 0;
}

static int add_native(struct jw_error *err, struct cli *cli, const char *option,
					  struct gpu_targets *gpus)
{
	if (cli_open_asking(err, cli, NULL, false))
		return -1;
	if (!cli->system->gpu_count)
		return error_set(err, JW_ERR_USAGE, "--%s native: %s; name a GPU (rtx4090, sm_86)", option,
						 cli->system->why_none);
	if (gpu_targets_add_own(err, gpus, cli->system))
		return -1;
	jw_system_free(cli->system);
	cli->system = NULL;
	return 0;
}

/* Adds the GPUs of one value of --target or --arch. `driver` NULL: not asked. */
static int add_named(struct jw_error *err, struct cli *cli, const char *option, const char *text,
					 const struct jw_driver *driver, struct gpu_targets *gpus)
{
	if (!strcmp(text, "native"))
		return add_native(err, cli, option, gpus);
	return jw_targets_read(err, text, driver, gpus->targets, GPUS_MOST, &gpus->count);
}

int gpu_targets_read(struct jw_error *err, struct cli *cli, struct gpu_targets *ret_gpus)
{
	const struct options *options = &cli->options;
	const char *driver = options_value(options, "driver");
	struct gpu_targets gpus = {0};

	if (driver && jw_driver_parse(err, driver, &gpus.driver))
		return -1;
	for (size_t i = 0; i < options_count(options, "target"); i++) {
		if (add_named(err, cli, "target", options_item(options, "target", i), &gpus.driver, &gpus))
			return -1;
	}
	*ret_gpus = gpus;
	return 0;
}

int gpu_targets_list(struct jw_error *err, struct cli *cli, const char *option,
					 struct gpu_targets *ret_gpus)
{
	const struct options *options = &cli->options;
	struct gpu_targets gpus = {0};

	for (size_t i = 0; i < options_count(options, option); i++)
		if (jw_targets_read(err, options_item(options, option, i), NULL, gpus.targets, GPUS_MOST,
							&gpus.count))
			return error_prefix(err, "--%s", option);
	*ret_gpus = gpus;
	return 0;
}

int gpu_targets_arch(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus,
					 bool *ret_other)
{
	const struct options *options = &cli->options;

	for (size_t i = 0; i < options_count(options, "arch"); i++) {
		const char *text = options_item(options, "arch", i);
		struct jw_target code;

		if (ret_other && !strcmp(text, "other"))
			*ret_other = true;
		else if (jw_target_parse(text, &code) && code.suffix)
			gpus->count = jw_target_add(gpus->targets, gpus->count, GPUS_MOST, code);
		else if (add_named(err, cli, "arch", text, NULL, gpus))
			return strcmp(text, "native") ? error_prefix(err, "--arch") : -1;
	}
	return 0;
}

const char *gpu_targets_name(char text[GPUS_NAME], struct jw_target target)
{
	const char *names = jw_target_products(target);
	int first = (int)strcspn(names, ",");
	char sm[JW_TARGET_TEXT];

	if (first)
		(void)snprintf(text, GPUS_NAME, "%s (%.*s)", jw_target_sm(sm, target), first, names);
	else
		(void)snprintf(text, GPUS_NAME, "%s", jw_target_sm(sm, target));
	return text;
}
