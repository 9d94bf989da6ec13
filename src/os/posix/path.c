#include "os/file.h"

const char os_separator = '/';
const char os_list_separator = ':';

bool os_is_separator(char c)
{
	return c == '/';
}

bool os_is_absolute(const char *path)
{
	return path[0] == '/';
}

size_t os_root_length(const char *path)
{
	return path[0] == '/';
}
