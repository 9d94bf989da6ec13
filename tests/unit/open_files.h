/* Counts the process's open files: a call leaves as many as there were. */
#pragma once

#include "check.h"

#include "os/file.h"

/* Returns the number of open files; 0 on Windows, where /proc would be that of Wine's machine. */
static inline size_t open_files(void)
{
#ifdef _WIN32
	return 0;
#else
	struct os_names names;
	size_t count;

	OK(os_list(why, "/proc/self/fd", &names));
	count = names.count;
	os_names_free(&names);
	return count;
#endif
}
