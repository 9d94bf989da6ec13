#include "prime/folder.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"

/* A run was killed where its process is gone. One whose number another process has taken meanwhile
 * waits for the next time. */
static void sweep(const char *work)
{
	struct os_names names;

	if (os_list(NULL, work, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		int pid = (int)strtol(names.items[i], NULL, 10);
		char *path = os_join(NULL, work, names.items[i]);

		if (path && pid > 0 && uv_kill(pid, 0) == UV_ESRCH)
			(void)os_remove_tree(NULL, path);
		mem_free(path);
	}
	os_names_free(&names);
}

int folder_make(struct jw_error *err, const char *state_dir, char **ret_path)
{
	char *work = os_join(err, state_dir, "work"), *path = NULL;
	int result = -1;

	if (!work)
		return -1;
	sweep(work);
	path = mem_printf(err, "%s/%d-%llu", work, (int)uv_os_getpid(),
					  (unsigned long long)os_monotonic_ns());
	if (path && !os_make_dirs(err, path, 0700)) {
		*ret_path = path;
		path = NULL;
		result = 0;
	}
	mem_free(path);
	mem_free(work);
	return result;
}

enum { MOST_DEPTH = 8 };

static uint64_t count_below(const char *path, int depth)
{
	struct os_names names;
	uint64_t count = 0;

	if (depth > MOST_DEPTH || os_list(NULL, path, &names))
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		char *below = os_join(NULL, path, names.items[i]);

		if (below && names.kinds[i] == OS_DIRECTORY)
			count += count_below(below, depth + 1);
		count += names.kinds[i] == OS_REGULAR && strcmp(names.items[i], "index") != 0;
		mem_free(below);
	}
	os_names_free(&names);
	return count;
}

uint64_t folder_count_entries(const char *path)
{
	return count_below(path, 0);
}
