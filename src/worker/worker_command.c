#include "worker/worker_command.h"

#include <jitwarm/worker.h>

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/folders.h"
#include "worker/environment.h"

int worker_command_check(struct jw_error *err, const char *const *command)
{
	char *marker = os_env(WORKER_MARKER);
	bool inside = marker && *marker;

	mem_free(marker);
	if (inside)
		return error_set(
			err, JW_ERR_USAGE,
			"a worker starts no workers (%s is set): where the program is started with "
			"the arguments that it named for its workers, it calls jw_worker_main "
			"first",
			WORKER_MARKER);
	if (!command || !command[0])
		return error_set(err, JW_ERR_USAGE,
						 "no worker is named: jw_system_options.worker takes a command that calls "
						 "jw_worker_main, such as “jitwarm worker”");
	return 0;
}

int jw_program_path(struct jw_error *err, char **ret_path)
{
	return os_self_path(err, ret_path);
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
