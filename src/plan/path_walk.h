/* Going through the files that somebody named: files themselves, and what lies in directories. */
#ifndef JW_PLAN_PATH_WALK_H
#define JW_PLAN_PATH_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "os/file.h"

struct path_walk_sink {
	void *context;
	/* One regular file. `named`: given itself, not found in a directory. A return other than 0 ends
	 * the walk. */
	int (*file)(struct jw_error *err, void *context, const char *path, const struct os_stat *stat,
				bool named);
	/* A path or directory that cannot be read. The walk goes on. */
	void (*trouble)(void *context, const char *path, const struct jw_error *why);
};

/* Every regular file once, however many names or links lead to it. Links to directories are not
 * followed, except where a path itself is one. Files in directories whose names say that they hold
 * no device code (sources, texts, pictures) are passed over. */
int path_walk(struct jw_error *err, const char *const *paths, size_t count,
			  const struct path_walk_sink *sink);

#endif
