#include "cli/parts/cache_commands.h"
#include "base/text.h"

#include <string.h>

struct jw_cache_options cache_command_options(const struct cli *cli)
{
	return (struct jw_cache_options){.path = options_value(&cli->options, "cache"),
									 .cancel = cli_cancel};
}

int cache_command_fail(const struct jw_error *err, struct cli *cli)
{
	return cli_hopeless(err, cli,
						options_given(&cli->options, "cache") ? JW_OK : JW_ERR_UNSUPPORTED);
}

const char *const cached_kinds[] = {"cuda", "opencl", "other", NULL};
const char *const cached_forms[] = {"load", "link", "nvjitlink"};

const char *cache_command_driver_text(char text[CACHE_DRIVER_TEXT], const char *driver)
{
	enum { STAMP = 19 };
	const char *release = jw_cache_driver_of_stamp(driver);

	(void)text_format(text, CACHE_DRIVER_TEXT,
					  release                   ? "%s"
					  : strlen(driver) == STAMP ? "built “%s”"
					  : *driver                 ? "%s (OpenCL)"
												: "unknown%s",
					  release ? release : driver);
	return text;
}
