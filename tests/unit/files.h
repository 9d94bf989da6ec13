/* Writes files at any place, with the folders above them. */
#pragma once

#include <string.h>

#include "check.h"

#include "base/mem.h"
#include "os/file.h"

/* Takes ownership of `path`. */
static inline void files_put_at(char *path, const void *bytes, size_t size)
{
	char *above = keep(os_dir_name(path));

	OK(os_make_dirs(why, above, 0700));
	OK(os_write_atomic(why, path, bytes, size));
	mem_free(path);
}

static inline void files_put(const char *dir, const char *name, const void *bytes, size_t size)
{
	files_put_at(os_join(dir, name), bytes, size);
}

static inline void files_put_text(const char *dir, const char *name, const char *text)
{
	files_put(dir, name, text, strlen(text));
}
