/* Paths as text: the part shared by both systems. */
#include "os/file.h"

#include <string.h>

#include "base/mem.h"

static const char *last_separator(const char *path)
{
	const char *at = path + strlen(path);

	while (at > path)
		if (os_is_separator(*--at))
			return at;
	return NULL;
}

char *os_join(struct jw_error *err, const char *a, const char *b)
{
	size_t length = strlen(a);

	if (!length)
		return mem_string(err, b);
	return os_is_separator(a[length - 1]) ? mem_printf(err, "%s%s", a, b)
										  : mem_printf(err, "%s%c%s", a, os_separator, b);
}

const char *os_base_name(const char *path)
{
	const char *last = last_separator(path);

	return last ? last + 1 : path;
}

char *os_dir_name(struct jw_error *err, const char *path)
{
	const char *last = last_separator(path);
	size_t root = os_root_length(path), length = last ? (size_t)(last - path) : 0;

	if (!last && !root)
		return mem_string(err, ".");
	return mem_string_n(err, path, length < root ? root : length);
}
