#include "setup/jit_caches.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"

const struct jit_cache jit_caches[] = {
#define JIT_CACHE(variable, below, standard, inside, package)                                      \
	{variable, below, standard, inside, package},
#include "jit_caches.inc"
#undef JIT_CACHE
};
const size_t jit_cache_count = sizeof jit_caches / sizeof *jit_caches;

enum { MAX_FILES = 1 << 17, MAX_DEPTH = 8 };

/* $XDG_CACHE_HOME, else ~/.cache. */
static char *cache_home(void)
{
	char *path = os_env("XDG_CACHE_HOME"), *home;

	if (path && os_is_absolute(path))
		return path;
	mem_free(path);
	if (os_home_dir(NULL, &home))
		return NULL;
	path = os_join(home, ".cache");
	mem_free(home);
	return path;
}

/* Returns the account's name from the variables that Python's getpass.getuser reads, else the
 * system's name for it (os_account_id). */
static char *account_name(void)
{
	static const char *const variables[] = {"LOGNAME", "USER", "LNAME", "USERNAME"};
	char *name = NULL;

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		name = os_env(variables[i]);
		if (name && *name)
			return name;
		mem_free(name);
	}
	return os_account_id(NULL, &name) ? NULL : name;
}

/* The default with its names replaced; NULL: one is not known. */
static char *expand_default(const char *text)
{
	static const char user[] = "$USER";
	char *start = NULL, *path, *account;
	size_t skipped = 0;

	if (*text == '~') {
		skipped = 1;
		(void)os_home_dir(NULL, &start);
	} else if (text_starts(text, "$CACHE")) {
		skipped = strlen("$CACHE");
		start = cache_home();
	} else if (text_starts(text, "$TMP")) {
		skipped = strlen("$TMP");
		start = os_temp_dir(NULL);
	}
	if (!start)
		return NULL;
	account = text_ends(text, user) ? account_name() : mem_string("");
	path = account ? mem_printf("%s%.*s%s", start,
								(int)(strlen(text) - skipped - (*account ? strlen(user) : 0)),
								text + skipped, account)
				   : NULL;
	mem_free(account);
	mem_free(start);
	return path;
}

char *jit_cache_path(const struct jit_cache *cache)
{
	char *folder = os_env(cache->variable), *path;

	if (!folder || !*folder) {
		mem_free(folder);
		folder = *cache->standard ? expand_default(cache->standard) : NULL;
	}
	if (!folder || !*cache->inside)
		return folder;
	path = os_join(folder, cache->inside);
	mem_free(folder);
	return path;
}

struct counting {
	const char *folder;
	uint64_t bytes, device;
	size_t files;
	unsigned depth;
};

static int count_file(struct jw_error *err, void *context, const char *name,
					  const struct os_stat *stat)
{
	struct counting *counting = context;
	const char *folder = counting->folder;
	struct os_stat whole;
	char *path;

	if (++counting->files > MAX_FILES)
		return 1;
	path = os_join(folder, name);
	if (stat->kind == OS_REGULAR && !os_stat(NULL, path, &whole))
		counting->bytes += whole.size_bytes;
	if (stat->kind != OS_DIRECTORY || stat->device != counting->device ||
		counting->depth == MAX_DEPTH) {
		mem_free(path);
		return 0;
	}
	counting->folder = path;
	counting->depth++;
	(void)os_each(err, path, count_file, counting);
	counting->depth--;
	counting->folder = folder;
	mem_free(path);
	return 0;
}

uint64_t jit_cache_bytes(const char *path)
{
	struct counting counting = {.folder = path};
	struct os_stat stat;

	if (os_stat(NULL, path, &stat) || stat.kind != OS_DIRECTORY)
		return 0;
	counting.device = stat.device;
	(void)os_each(NULL, path, count_file, &counting);
	return counting.bytes;
}
