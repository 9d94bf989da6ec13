#include "cache/settings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/system.h>

#include "base/arena.h"
#include "base/text.h"
#include "code/release.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

/* The settings that are read, and the arena that they live in. */
struct reading {
	void *owner;
	struct jw_cache_info *settings;
};

static void warn(const struct reading *to, const char *format, ...) JW_PRINTF(2, 3);

static void warn(const struct reading *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	arena_add_string(to->owner, &to->settings->warnings, &to->settings->warning_count,
					 CACHE_MAX_WARNINGS, arena_keep(to->owner, mem_vprintf(format, arguments)));
	va_end(arguments);
}

static char *variable_of(const struct reading *to, const char *name)
{
	return arena_keep(to->owner, os_env(name));
}

/* Returns whether the driver considers this value of a switch as on: it parses a number. */
static bool switch_is_on(const char *text)
{
	return text && strtoull(text, NULL, 10) == 1;
}

/* Returns the variable that is on, or NULL: the first one, if set, overrides the second. */
static const char *first_on(const struct reading *to, const char *name, const char *other)
{
	const char *first = variable_of(to, name);

	return switch_is_on(first ? first : variable_of(to, other)) ? (first ? name : other) : NULL;
}

static void read_switches(const struct reading *to)
{
	const char *force = first_on(to, "CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT");
	const char *disable = first_on(to, "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT");

	to->settings->force_jit = force && !strcmp(force, "CUDA_FORCE_JIT");
	to->settings->force_ptx_jit = force && !to->settings->force_jit;
	to->settings->disable_ptx_jit = disable != NULL;
	to->settings->disabled = switch_is_on(variable_of(to, "CUDA_CACHE_DISABLE"));
	if (to->settings->disabled)
		warn(to, "CUDA_CACHE_DISABLE=1: the driver neither reads nor writes its cache");
	if (disable)
		warn(to,
			 "%s=1: the driver compiles no PTX; a module that is not in its cache fails to load",
			 disable);
}

static void read_limit(const struct reading *to)
{
	const char *text = variable_of(to, "CUDA_CACHE_MAXSIZE");
	const char *line = text ? arena_keep(to->owner, cache_explain_limit(text)) : NULL;

	to->settings->limit_bytes = gpu_branch_of(&(struct jw_driver){0})->default_limit_bytes;
	if (text) {
		to->settings->limit_set = true;
		to->settings->limit_bytes = cache_parse_limit(text);
		to->settings->meant_bytes = cache_meant_limit(text);
	}
	if (line)
		warn(to, "%s", line);
}

/* Names of variables that users set and no driver reads. */
static const struct {
	const char *wrong, *right;
} lookalikes[] = {{"CUDA_CACHE_MAX_SIZE", "CUDA_CACHE_MAXSIZE"},
				  {"CUDA_CACHE_SIZE", "CUDA_CACHE_MAXSIZE"},
				  {"CUDA_CACHE_DIR", "CUDA_CACHE_PATH"},
				  {"CUDA_CACHE_DISABLED", "CUDA_CACHE_DISABLE"}};

const char *cache_lookalike_of(const char *name)
{
	for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
		if (!strcmp(name, lookalikes[i].wrong))
			return lookalikes[i].right;
	return NULL;
}

/* Warns about a relative path: the driver makes missing levels, but not the first level of a
 * relative path of several (measured). */
static void explain_relative(const struct reading *to, const char *path)
{
	size_t length = 0;
	bool there;

	if (path[0] == '~') {
		warn(to,
			 "CUDA_CACHE_PATH=%s: the driver does not expand ~ and uses a folder "
			 "of that name below the working directory",
			 path);
		return;
	}
	while (path[length] && !os_is_separator(path[length]))
		length++;
	there = !path[length] || os_exists(arena_keep(to->owner, mem_string_n(path, length)));
	warn(to,
		 there ? "CUDA_CACHE_PATH=%s: relative to each program's working directory"
			   : "CUDA_CACHE_PATH=%s: relative, and its first folder is missing: the driver caches "
				 "nothing",
		 path);
}

static int read_path(struct jw_error *err, const struct reading *to)
{
	const char *text = variable_of(to, "CUDA_CACHE_PATH");
	struct jw_error why = {0};

	to->settings->path_set = text != NULL;
	if (text && !*text) {
		warn(to, "CUDA_CACHE_PATH is empty: the driver caches nothing");
	} else if (text) {
		if (os_absolute(err, text, &to->settings->path))
			return -1;
		if (!os_is_absolute(text))
			explain_relative(to, text);
	} else if (os_driver_cache_dir(&why, &to->settings->path)) {
		if (why.code != JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
		warn(to, "%s", why.message);
	}
	return 0;
}

/* Warns if there is little space at `there`, the directory or the place where it will be made. */
static void check_free_space(const struct reading *to, const char *there)
{
	char size[TEXT_SHORT];
	struct os_space space;

	if (os_space(NULL, there, &space))
		return;
	to->settings->free_bytes = space.free_bytes;
	if (space.network)
		warn(to, "%s: on a network file system, which is slow, and useless without file locks",
			 to->settings->path);
	if (to->settings->free_bytes < CACHE_LITTLE_ROOM)
		warn(to, "%s: only %s are free", to->settings->path,
			 text_bytes(size, to->settings->free_bytes));
}

/* Checks the parent of a missing directory, which the driver makes if it can. */
static void check_parent(const struct reading *to)
{
	const char *nearest = arena_keep(to->owner, os_nearest(to->settings->path));
	struct os_stat stat;

	to->settings->usable =
		!os_stat(NULL, nearest, &stat) && stat.kind == OS_DIRECTORY && !os_may_write(NULL, nearest);
	if (to->settings->usable)
		check_free_space(to, nearest);
	else
		warn(to, "%s: cannot be created (%s is not writable): each start compiles everything",
			 to->settings->path, nearest);
}

static void check_directory(const struct reading *to)
{
	struct os_stat stat;
	bool writable, opens;
	const char *index;

	if (os_stat(NULL, to->settings->path, &stat)) {
		check_parent(to);
		return;
	}
	if (stat.kind != OS_DIRECTORY) {
		warn(to, "%s: not a directory: the driver caches nothing", to->settings->path);
		return;
	}
	to->settings->exists = true;
	writable = !os_may_write(NULL, to->settings->path);
	/* The driver opens the index for writing even to read the cache, and makes it in a folder that
	 * it may write to (conformance, permission/). */
	index = arena_keep(to->owner, os_join(to->settings->path, "index"));
	opens = !os_may_write(NULL, index);
	to->settings->usable = writable && (opens || !os_exists(index));
	to->settings->reads = opens && !writable;
	if (to->settings->reads)
		warn(to, "%s: this account may only read it: each start compiles what is not there",
			 to->settings->path);
	else if (!writable)
		warn(to, "%s: not writable for this account: each start compiles everything",
			 to->settings->path);
	else if (!to->settings->usable)
		warn(to, "%s: not writable for this account, so the driver does not use the cache at all",
			 index);
	if (to->settings->usable)
		check_free_space(to, to->settings->path);
}

static struct adopted {
	const char *name;
	bool is_changed;
	char *own; /* the variable's value in the process; NULL if it has none */
} adopted[] = {
	{.name = "CUDA_CACHE_PATH"}, {.name = "CUDA_CACHE_MAXSIZE"}, {.name = "CUDA_CACHE_DISABLE"}};

static struct adopted *adopted_of(const char *name)
{
	for (size_t i = 0; i < sizeof adopted / sizeof *adopted; i++)
		if (!strcmp(name, adopted[i].name))
			return &adopted[i];
	return NULL;
}

int cache_settings_adopt(struct jw_error *err, const char *name, const char *value)
{
	struct adopted *variable = adopted_of(name);

	if (variable && !variable->is_changed) {
		variable->own = os_env(name);
		variable->is_changed = true;
	}
	return os_env_set(err, name, value);
}

char *cache_settings_own(const char *name)
{
	const struct adopted *variable = adopted_of(name);

	if (!variable || !variable->is_changed)
		return os_env(name);
	return variable->own ? mem_string(variable->own) : NULL;
}

static uint64_t kept_limit_bytes;

void cache_settings_keep_limit(uint64_t bytes)
{
	kept_limit_bytes = bytes;
}

void cache_settings_forget_adopted(void)
{
	kept_limit_bytes = 0;
	for (size_t i = 0; i < sizeof adopted / sizeof *adopted; i++) {
		mem_free(adopted[i].own);
		adopted[i].own = NULL;
		adopted[i].is_changed = false;
	}
}

/* Finds the cache directory now; if it cannot be determined it counts as absent, and the error is
 * reported where the directory is used. */
static void read_now(const struct reading *to)
{
	const char *path = arena_keep(to->owner, cache_settings_own("CUDA_CACHE_PATH"));
	const char *limit = arena_keep(to->owner, cache_settings_own("CUDA_CACHE_MAXSIZE"));
	const char *disable = arena_keep(to->owner, cache_settings_own("CUDA_CACHE_DISABLE"));

	if (!path)
		(void)os_driver_cache_dir(NULL, &to->settings->now.path);
	else if (*path)
		(void)os_absolute(NULL, path, &to->settings->now.path);
	(void)arena_keep(to->owner, to->settings->now.path);
	to->settings->now.limit_set = limit != NULL;
	to->settings->now.limit_bytes = limit ? cache_parse_limit(limit) : 0;
	to->settings->now.disabled = switch_is_on(disable);
}

int cache_settings_read(struct jw_error *err, void *owner, const char *dir,
						struct jw_cache_info *ret_settings)
{
	struct jw_cache_info settings = {.free_bytes = UINT64_MAX, .kept_bytes = kept_limit_bytes};
	const struct reading to = {owner, &settings};

	read_now(&to);
	if (dir ? os_absolute(err, dir, &settings.path) : read_path(err, &to))
		return -1;
	(void)arena_keep(owner, settings.path);
	read_switches(&to);
	read_limit(&to);
	for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
		if (variable_of(&to, lookalikes[i].wrong))
			warn(&to, "%s: no driver reads this variable; the right name is %s",
				 lookalikes[i].wrong, lookalikes[i].right);
	if (settings.path)
		check_directory(&to);
	*ret_settings = settings;
	return 0;
}

int jw_account_doubt(struct jw_error *err, char **ret_line)
{
	char *caller = os_sudo_user();

	(void)err;
	*ret_line = NULL;
	if (caller)
		*ret_line = mem_printf(
			"under sudo, jitwarm warms root's cache, not the cache of %s: run jitwarm without sudo",
			caller);
	else if (os_is_superuser() && os_is_windows)
		*ret_line = mem_string("jitwarm is running as SYSTEM, whose cache no user's program reads: "
							   "run jitwarm in the user's own account");
	mem_free(caller);
	return 0;
}
