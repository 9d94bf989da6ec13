#include "worker/worker_command.h"

#include <string.h>

#include "base/mem.h"
#include "os/folders.h"

int worker_command_find(struct jw_error *err, const char *const *given,
						struct worker_command *ret_command)
{
	if (given) {
		ret_command->command = given;
		return 0;
	}
	if (os_self_path(err, &ret_command->path))
		return -1;
	ret_command->own[0] = ret_command->path;
	ret_command->own[1] = "worker";
	ret_command->own[2] = NULL;
	ret_command->command = ret_command->own;
	return 0;
}

void worker_command_free(struct worker_command *command)
{
	mem_free(command->path);
	*command = (struct worker_command){0};
}

struct cache_profile profile_of_system(const struct jw_system *system)
{
	static const enum cache_trust trust[] = {
		[JW_TRUST_NONE] = CACHE_STAMP_UNKNOWN,
		[JW_TRUST_READ] = CACHE_STAMP_READ,
		[JW_TRUST_CONFIRMED] = CACHE_STAMP_CONFIRMED,
		[JW_TRUST_OPAQUE] = CACHE_STAMP_OPAQUE,
	};
	struct cache_profile profile = {.trust = trust[system->driver.trust],
									.driver = system->driver.version};

	if (profile_is_known(system))
		memcpy(profile.stamp, system->driver.stamp, sizeof profile.stamp);
	memcpy(profile.library, system->driver.library, sizeof profile.library);
	return profile;
}

bool profile_is_known(const struct jw_system *system)
{
	return system->driver.stamp[0] && system->driver.trust != JW_TRUST_OPAQUE;
}
