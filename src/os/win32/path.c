#include "os/file.h"

const char os_list_separator = ';';
const char os_separator = '\\';

bool os_is_separator(char c)
{
	return c == '/' || c == '\\';
}

static bool has_drive(const char *path)
{
	return ((path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z')) &&
		   path[1] == ':';
}

bool os_is_absolute(const char *path)
{
	return os_is_separator(path[0]) || (has_drive(path) && os_is_separator(path[2]));
}

/* Length of the name that starts here, including the separator behind it. */
static size_t part_length(const char *path)
{
	size_t length = 0;

	while (path[length] && !os_is_separator(path[length]))
		length++;
	return length + (path[length] != '\0');
}

size_t os_root_length(const char *path)
{
	size_t length = 2;

	if (has_drive(path))
		return os_is_separator(path[2]) ? 3 : 2;
	if (!os_is_separator(path[0]))
		return 0;
	if (!os_is_separator(path[1]))
		return 1;
	length += part_length(path + length); /* \\server\share\ */
	return length + part_length(path + length);
}
