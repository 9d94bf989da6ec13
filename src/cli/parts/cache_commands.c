#include "cli/parts/cache_commands.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/folders.h"

struct jw_cache_options cache_command_options(const struct cli *cli)
{
	return (struct jw_cache_options){.size = sizeof(struct jw_cache_options),
									 .path = options_value(&cli->options, "cache"),
									 .cancel = cli_cancel};
}

enum exit_status cache_command_fail(struct cli *cli, const struct jw_error *err)
{
	return cli_fail_unless(cli, options_given(&cli->options, "cache") ? JW_OK : JW_ERR_UNSUPPORTED,
						   err);
}

int cache_command_marks(struct jw_error *err, const char *path, struct jw_marks **ret_marks)
{
	char *state = NULL;
	int result;

	if (os_state_dir(NULL, &state))
		state = NULL;
	result = jw_marks_open(err, state, path, ret_marks);
	mem_free(state);
	return result;
}

const char *const cached_kinds[] = {"cuda", "opencl", "other", NULL};
const char *const cached_forms[] = {"load", "link", "nvjitlink"};

const char *cache_command_driver_text(char text[64], const char *driver)
{
	const char *release = jw_cache_driver_of_stamp(driver);

	if (release)
		(void)snprintf(text, 64, "%s", release);
	else if (strlen(driver) == 19)
		(void)snprintf(text, 64, "built %.11s %s", driver, driver + 11);
	else if (*driver)
		(void)snprintf(text, 64, "%s (OpenCL)", driver);
	else
		(void)snprintf(text, 64, "unknown");
	return text;
}
