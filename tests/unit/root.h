/* Replaces the system's /proc and /sys by the test's own: group set-up and end, and their files. */
#pragma once

#include <string.h>

#include "check.h"

#include "files.h"
#include "os/env.h"
#include "os/folders.h"

static char *root;

static inline int root_make(void **state)
{
	(void)state;
	if (os_make_temp_dir(why, "jitwarm-root", &root))
		return -1;
	return os_env_set(why, "JITWARM_SYSTEM_ROOT", root);
}

static inline int root_remove(void **state)
{
	(void)state;
	(void)os_env_set(NULL, "JITWARM_SYSTEM_ROOT", NULL);
	if (os_remove_tree(why, root))
		return -1;
	mem_free(root);
	return 0;
}

static inline int root_empty(void **state)
{
	(void)state;
	return os_remove_tree(why, root) || os_make_dirs(why, root, 0700);
}

static inline void root_put(const char *path, const char *text)
{
	files_put_at(mem_printf("%s/%s", root, path), text, strlen(text));
}
