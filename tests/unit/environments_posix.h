/* Programs and links in the environments of environments.h. */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "environments.h"

static inline void put_program(const char *relative, const char *content)
{
	char *path = keep(at(relative));

	put(relative, content);
	assert_int_equal(chmod(path, 0755), 0);
}

static void link_to(const char *relative, const char *target)
{
	char *path = keep(at(relative)), *folder = keep(os_dir_name(path));

	OK(os_make_dirs(why, folder, 0755));
	assert_int_equal(symlink(target, path), 0);
}
