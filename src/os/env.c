#include "os/env.h"

#include <uv.h>

#include "base/mem.h"

int os_env_read(struct jw_error *err, const char *name, char **ret_value)
{
	char none, *value = NULL;
	size_t size = sizeof none;
	int result = uv_os_getenv(name, &none, &size);

	*ret_value = NULL;
	if (!result || result == UV_ENOBUFS) {
		/* If it does not fit, `size` becomes the size of the value and its NUL. */
		value = mem_alloc(err, size + 1);
		if (!value)
			return -1;
		size++;
		if (uv_os_getenv(name, value, &size)) {
			mem_free(value);
			value = NULL;
		}
	}
	*ret_value = value;
	return 0;
}

char *os_env(const char *name)
{
	char *value;

	return os_env_read(NULL, name, &value) ? NULL : value;
}
