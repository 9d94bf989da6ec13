/* Which process `watch` is to watch. */
#pragma once

#include "cli/command.h"

#define WATCH_TARGET_OPTIONS                                                                       \
	CLI_VALUE("unit", "NAME", "Watch the main process of a systemd unit"),                         \
		CLI_VALUE("container", "ID",                                                               \
				  "Watch the first process of a running container (docker, podman or nerdctl; "    \
				  "root)")

/* The one that is named by its number, --unit or --container; without a name the only one that has
 * loaded NVIDIA's driver, or that has started all others which have. JW_ERR_NOT_FOUND: none has;
 * JW_ERR_USAGE: several have. */
int watch_target_choose(struct jw_error *err, const struct cli *cli, int *ret_pid);
