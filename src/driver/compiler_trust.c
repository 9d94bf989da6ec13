#include "driver/compiler_trust.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/private.h"

int compiler_check_name(struct jw_error *err, const char *name)
{
	char *list = os_env("LD_LIBRARY_PATH"), *at = list;
	bool found = false;
	int result = 0;

	while (at && !result && !found) {
		char *end = strpbrk(at, ":;"), *path;

		if (end)
			*end = '\0';
		/* An empty part of the list is the current folder. */
		path = os_join(*at ? at : ".", name);
		found = os_exists(path);
		if (found)
			result = os_guard(err, path);
		mem_free(path);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	return result;
}
