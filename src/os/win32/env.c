#include <stdlib.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/win32/win32.h"

int os_env_set(struct jw_error *err, const char *name, const char *value)
{
	wchar_t *wide_name = win32_wide(err, name), *wide_value = value ? win32_wide(err, value) : NULL;
	int result = -1;

	if (!wide_name || (value && !wide_value))
		goto done;
	/* The C library keeps its own copy, which libraries that share it read. It cannot hold an empty
	 * value; the system can. */
	if (_wputenv_s(wide_name, wide_value ? wide_value : L"") ||
		(!SetEnvironmentVariableW(wide_name, wide_value) && value)) {
		win32_error(err, name);
		goto done;
	}
	result = 0;
done:
	mem_free(wide_name);
	mem_free(wide_value);
	return result;
}
