#include "os/env.h"

#include <uv.h>

#include "base/mem.h"

char *os_env(const char *name)
{
	char none, *value;
	size_t size = sizeof none;
	int result = uv_os_getenv(name, &none, &size);

	if (result && result != UV_ENOBUFS)
		return NULL;
	/* If it does not fit, `size` becomes the size of the value and its NUL. */
	value = mem_alloc(NULL, size + 1);
	size++;
	if (value && uv_os_getenv(name, value, &size)) {
		mem_free(value);
		value = NULL;
	}
	return value;
}
