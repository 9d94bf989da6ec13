/* What both systems do with paths alike. */
#include "os/file.h"

#include <string.h>

#include "base/mem.h"

static const char *last_separator(const char *path)
{
	const char *last = NULL;

	for (; *path; path++)
		if (os_is_separator(*path))
			last = path;
	return last;
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

bool os_exists(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat);
}

char *os_nearest(struct jw_error *err, const char *path)
{
	char *at = mem_string(err, path);

	while (at && !os_exists(at)) {
		char *above = os_dir_name(err, at);
		bool top = above && !strcmp(above, at);

		mem_free(at);
		at = above;
		if (top)
			break;
	}
	return at;
}

int os_may_make(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};
	struct os_stat stat;
	char *above;
	int result;

	if (!os_may_write(&why, path))
		return os_stat(err, path, &stat) ? -1
			   : stat.kind != OS_DIRECTORY
				   ? error_set(err, JW_ERR_UNSUPPORTED, "%s: is no directory", path)
				   : 0;
	if (why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	above = os_dir_name(err, path);
	if (!above)
		return -1;
	result = strcmp(above, path) != 0 ? os_may_make(err, above) : error_copy(err, &why);
	mem_free(above);
	return result;
}

int os_make_shared_dirs(struct jw_error *err, const char *path, uint32_t mode)
{
	char *above;
	int result = 0;

	if (os_exists(path))
		return 0;
	above = os_dir_name(err, path);
	if (!above)
		return -1;
	if (strcmp(above, path) != 0)
		result = os_make_shared_dirs(err, above, mode);
	mem_free(above);
	return result || os_make_dirs(err, path, mode) || os_set_mode(err, path, mode) ? -1 : 0;
}
