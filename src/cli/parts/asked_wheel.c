#include "cli/parts/asked_wheel.h"

#include <string.h>

#include "base/text.h"
#include "os/interrupt.h"

static void say_wheel(const struct cli *cli, const struct jw_index_wheel *wheel)
{
	char size[TEXT_SHORT] = "";

	if (wheel->size_bytes)
		(void)text_bytes(size, wheel->size_bytes);
	output_line(&cli->out, STYLE_PLAIN,
				*size ? "%s (%s), for %s; extras and dependencies are not looked at"
					  : "%s%s, for %s; extras and dependencies are not looked at",
				wheel->name, size, wheel->platform);
}

int asked_index_open(struct jw_error *err, const char *platform, const struct gpu_targets *gpus,
					 struct fetching *fetching, bool listed, struct jw_index **ret_index)
{
	const struct jw_index_options options = {.size = sizeof options,
											 .platform = platform,
											 .targets = gpus->targets,
											 .target_count = gpus->count,
											 .listed = listed,
											 .fetch = fetching_options(fetching)};

	os_catch_interrupts();
	return jw_index_open(err, &options, ret_index);
}

int asked_wheel_get(struct jw_error *err, struct cli *cli, const char *platform,
					const struct gpu_targets *gpus, struct jw_index_wheel **ret_wheel)
{
	const struct options *options = &cli->options;
	struct fetching fetching = {.output = &cli->out, .label = options->operands[0]};
	struct jw_index *index;
	int result;

	*ret_wheel = NULL;
	if (!options_given(options, "index"))
		return platform ? error_set(err, JW_ERR_USAGE, "--platform is for --index") : 0;
	if (options->operand_count != 1)
		return error_set(err, JW_ERR_USAGE, "--index takes one package: NAME or NAME==VERSION");
	if (asked_index_open(err, platform, gpus, &fetching, false, &index))
		return -1;
	result = jw_index_wheel_get(err, index, options->operands[0], NULL, ret_wheel);
	fetching_end(&fetching);
	jw_index_close(index);
	if (!result)
		say_wheel(cli, *ret_wheel);
	return result;
}

char *asked_wheel_name(const struct jw_index_wheel *wheel, char *text)
{
	const size_t length = wheel && wheel->folder ? strlen(wheel->folder) : 0;

	for (char *at = text; length && at && (at = strstr(at, wheel->folder));) {
		const char *rest = at + length + (at[length] != 0); /* behind the separator */

		memmove(at, rest, strlen(rest) + 1);
	}
	return text;
}
