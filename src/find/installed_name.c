#include "find/installed_name.h"

#include <string.h>

#include "os/file.h"

const char *installed_name(const char *path)
{
	static const char *const folders[] = {"site-packages", "dist-packages"};
	const char *best = path;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const size_t length = strlen(folders[i]);

		for (const char *at = path; (at = strstr(at, folders[i])); at += length)
			if (at > path && os_is_separator(at[-1]) && os_is_separator(at[length]) &&
				at + length + 1 > best)
				best = at + length + 1;
	}
	return best;
}
