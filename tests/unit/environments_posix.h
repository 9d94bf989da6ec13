/* Programs and links in the environments of environments.h. */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "environments.h"

static inline void put_program(const char *relative, const char *content)
{
	char *path = at(relative);

	put(relative, content);
	assert_int_equal(chmod(path, 0755), 0);
	mem_free(path);
}

static void link_to(const char *relative, const char *target)
{
	char *path = at(relative), *folder = os_dir_name(path);

	OK(os_make_dirs(why, folder, 0755));
	assert_int_equal(symlink(target, path), 0);
	mem_free(folder);
	mem_free(path);
}
