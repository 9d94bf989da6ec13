#include "cli/parts/gpu_targets.h"

#include <stdio.h>
#include <string.h>

int gpu_targets_add(struct jw_error *err, struct gpu_targets *gpus, struct jw_target target)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (jw_target_equal(gpus->targets[i], target))
			return 0;
	if (gpus->count == GPUS_MOST)
		return error_set(err, JW_ERR_USAGE, "more than %d GPU architectures at once", GPUS_MOST);
	gpus->targets[gpus->count++] = target;
	return 0;
}

static int read_target(struct jw_error *err, struct gpu_targets *gpus, const char *text)
{
	struct jw_target target;

	if (!jw_target_parse(text, &target))
		return error_set(err, JW_ERR_USAGE, "“%.40s” is not a compute capability; try sm_86 or 8.6",
						 text);
	if (target.suffix)
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” names a kind of code; a GPU has no suffix: sm_%u", text,
						 target.sm);
	if (!jw_target_plausible(target))
		return error_set(err, JW_ERR_USAGE, "no GPU has the compute capability “%.40s”", text);
	return gpu_targets_add(err, gpus, target);
}

int gpu_targets_read(struct jw_error *err, const struct options *options,
					 struct gpu_targets *ret_gpus)
{
	const char *driver = options_value(options, "driver");
	struct gpu_targets gpus = {0};

	for (size_t i = 0; i < options_count(options, "target"); i++)
		if (read_target(err, &gpus, options_item(options, "target", i)))
			return -1;
	if (driver && jw_driver_parse(err, driver, &gpus.driver))
		return -1;
	*ret_gpus = gpus;
	return 0;
}

int gpu_targets_arch(struct jw_error *err, const struct options *options, struct gpu_targets *gpus,
					 bool *ret_other)
{
	for (size_t i = 0; i < options_count(options, "arch"); i++) {
		const char *text = options_item(options, "arch", i);
		struct jw_target target;

		if (ret_other && !strcmp(text, "other"))
			*ret_other = true;
		else if (!jw_target_parse(text, &target))
			return error_set(err, JW_ERR_USAGE,
							 "--arch: “%.40s” is not an architecture; try %ssm_86", text,
							 ret_other ? "other or " : "");
		else if (gpu_targets_add(err, gpus, target))
			return -1;
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
