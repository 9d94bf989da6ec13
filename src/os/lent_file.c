#include "os/lent_file.h"

#include "base/mem.h"
#include "os/env.h"
#include "os/folders.h"
#include "os/open_file.h"
#include "os/programs.h"

enum { MOST_NETRC = 1 << 20 };
static const char own_files[] = "/proc/self/fd";

static int check_lent(struct jw_error *err, struct os_file *file, size_t most)
{
	struct os_stat stat;

	if (os_file_stat(err, file, &stat))
		return -1;
	if (stat.kind != OS_REGULAR)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: is not a regular file", file->path);
	return stat.size_bytes <= most
			   ? 0
			   : error_set(err, JW_ERR_LIMIT, "%s: more than %zu bytes", file->path, most);
}

int os_lend(struct jw_error *err, const char *path, size_t most, struct os_lent *ret_lent)
{
	struct os_lent lent = {0};

	if (os_file_open(err, path, OS_OPEN_READ, &lent.file))
		return -1;
	if (!check_lent(err, lent.file, most))
		lent.path = os_is_whole_path(own_files) && os_exists(own_files)
						? mem_printf(err, "%s/%d", own_files, lent.file->fd)
						: mem_string(err, path);
	if (!lent.path) {
		os_lent_close(&lent);
		return -1;
	}
	*ret_lent = lent;
	return 0;
}

struct os_lent os_lend_netrc(void)
{
	static const char *const names[] = {".netrc", "_netrc"};
	const size_t count = os_separator == '\\' ? 2 : 1;
	char *named = os_env("NETRC"), *home = os_env("HOME");
	struct os_lent lent = {0};

	if (!home)
		(void)os_home_dir(NULL, &home);
	if (named && *named)
		(void)os_lend(NULL, named, MOST_NETRC, &lent);
	else
		for (size_t i = 0; home && !lent.path && i < count; i++) {
			char *path = os_join(NULL, home, names[i]);

			if (path)
				(void)os_lend(NULL, path, MOST_NETRC, &lent);
			mem_free(path);
		}
	mem_free(home);
	mem_free(named);
	return lent;
}

void os_lent_close(struct os_lent *lent)
{
	os_file_close(lent->file);
	mem_free(lent->path);
	*lent = (struct os_lent){0};
}
