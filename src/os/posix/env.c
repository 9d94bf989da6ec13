#include "os/env.h"

#include <stdlib.h>

#include "os/posix/posix.h"

int os_env_set(struct jw_error *err, const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		return posix_error(err, name);
	return 0;
}
