#include "cache/settings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

static void warn(struct jw_cache_info *settings, const char *format, ...) JW_PRINTF(2, 3);

static void warn(struct jw_cache_info *settings, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	line = mem_vprintf(format, arguments);
	va_end(arguments);
	mem_add_string(&settings->warnings, &settings->warning_count, CACHE_MAX_WARNINGS, line);
	mem_free(line);
}

/* Returns whether the driver considers this value of a switch as on. */
static bool cache_switch_is_on(const char *text)
{
	return strtoull(text, NULL, 10) == 1; /* as the driver parses numbers */
}

/* Returns the variable that is on, or NULL: the first one, if set, overrides the second. */
static const char *first_on(const char *name, const char *other)
{
	char *text = os_env(name);
	const char *on;

	if (!text) {
		name = other;
		text = os_env(other);
	}
	on = text && cache_switch_is_on(text) ? name : NULL;
	mem_free(text);
	return on;
}

static void read_switches(struct jw_cache_info *settings)
{
	const char *force = first_on("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT");
	const char *disable = first_on("CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT");
	char *off = os_env("CUDA_CACHE_DISABLE");

	settings->force_jit = force && !strcmp(force, "CUDA_FORCE_JIT");
	settings->force_ptx_jit = force && !settings->force_jit;
	settings->disable_ptx_jit = disable != NULL;
	settings->disabled = off && cache_switch_is_on(off);
	mem_free(off);
	if (settings->disabled)
		warn(settings, "CUDA_CACHE_DISABLE=1: the driver neither reads nor writes its cache");
	if (disable)
		warn(settings,
			 "%s=1: the driver compiles no PTX; a module that is not in its cache fails to load",
			 disable);
}

static void read_limit(struct jw_cache_info *settings)
{
	char *text = os_env("CUDA_CACHE_MAXSIZE");
	char *line = text ? cache_explain_limit(text) : NULL;

	settings->limit_bytes = gpu_branch_of(&(struct jw_driver){0})->default_limit_bytes;
	if (text) {
		settings->limit_set = true;
		settings->limit_bytes = cache_parse_limit(text);
		settings->meant_bytes = cache_meant_limit(text);
	}
	if (line)
		warn(settings, "%s", line);
	mem_free(line);
	mem_free(text);
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
static void explain_relative(struct jw_cache_info *settings, const char *path)
{
	size_t length = 0;
	char *first;
	bool there;

	if (path[0] == '~') {
		warn(settings,
			 "CUDA_CACHE_PATH=%s: the driver does not expand ~ and uses a folder "
			 "of that name below the working directory",
			 path);
		return;
	}
	while (path[length] && !os_is_separator(path[length]))
		length++;
	first = mem_string_n(path, length);
	there = !path[length] || os_exists(first);
	mem_free(first);
	warn(settings,
		 there ? "CUDA_CACHE_PATH=%s: relative to each program's working directory"
			   : "CUDA_CACHE_PATH=%s: the path is relative, and the driver caches nothing until "
				 "its first folder exists; set an absolute path",
		 path);
}

static int read_path(struct jw_error *err, struct jw_cache_info *settings)
{
	char *text = os_env("CUDA_CACHE_PATH");
	struct jw_error why = {0};
	int result = 0;

	settings->path_set = text != NULL;
	if (text && !*text) {
		warn(settings,
			 "CUDA_CACHE_PATH is empty: the driver caches nothing; unset it, or name a directory");
	} else if (text) {
		result = os_absolute(err, text, &settings->path);
		if (!result && !os_is_absolute(text))
			explain_relative(settings, text);
	} else if (os_driver_cache_dir(&why, &settings->path)) {
		if (why.code == JW_ERR_NOT_FOUND)
			warn(settings, "%s", why.message);
		else
			result = error_copy(err, &why);
	}
	mem_free(text);
	return result;
}

/* Warns if there is little space at `there`, the directory or the place where it will be made. */
static void check_free_space(const char *there, struct jw_cache_info *settings)
{
	char size[TEXT_SHORT];
	struct os_space space;

	if (os_space(NULL, there, &space))
		return;
	settings->free_bytes = space.free_bytes;
	if (space.network)
		warn(settings,
			 "%s: on a network file system: the driver caches only if locks work there, "
			 "and every look-up waits for the network",
			 settings->path);
	if (settings->free_bytes < CACHE_LITTLE_ROOM)
		warn(settings, "%s: only %s are free", settings->path,
			 text_bytes(size, settings->free_bytes));
}

/* Checks the parent of a missing directory, which the driver makes if it can. */
static void check_parent(struct jw_cache_info *settings)
{
	char *nearest = os_nearest(settings->path);
	struct os_stat stat;

	settings->usable =
		!os_stat(NULL, nearest, &stat) && stat.kind == OS_DIRECTORY && !os_may_write(NULL, nearest);
	if (settings->usable)
		check_free_space(nearest, settings);
	else
		warn(settings,
			 "%s: cannot be created, since %s is not writable for "
			 "this account: the driver compiles everything again at every start",
			 settings->path, nearest);
	mem_free(nearest);
}

static void check_directory(struct jw_cache_info *settings)
{
	struct os_stat stat;
	bool writable, opens;
	char *index;

	if (os_stat(NULL, settings->path, &stat)) {
		check_parent(settings);
		return;
	}
	if (stat.kind != OS_DIRECTORY) {
		warn(settings, "%s: not a directory: the driver caches nothing", settings->path);
		return;
	}
	settings->exists = true;
	writable = !os_may_write(NULL, settings->path);
	/* The driver opens the index for writing even to read the cache, and makes it in a folder that
	 * it may write to (conformance, permission/). */
	index = os_join(settings->path, "index");
	opens = !os_may_write(NULL, index);
	settings->usable = writable && (opens || !os_exists(index));
	settings->reads = opens && !writable;
	if (settings->reads)
		warn(settings,
			 "%s: this account may only read it: the driver loads its entries, and compiles "
			 "everything else again at every start",
			 settings->path);
	else if (!writable)
		warn(settings,
			 "%s: not writable for this account: the driver compiles everything again at every "
			 "start",
			 settings->path);
	else if (!settings->usable)
		warn(settings,
			 "%s: not writable for this account, so the driver does not use the cache at all",
			 index);
	mem_free(index);
	if (settings->usable)
		check_free_space(settings->path, settings);
}

static struct adopted {
	const char *name;
	bool is;
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

	if (variable && !variable->is) {
		variable->own = os_env(name);
		variable->is = true;
	}
	return os_env_set(err, name, value);
}

char *cache_settings_own(const char *name)
{
	const struct adopted *variable = adopted_of(name);

	if (!variable || !variable->is)
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
		adopted[i].is = false;
	}
}

/* Finds the cache directory now; if it cannot be determined it counts as absent, and the error is
 * reported where the directory is used. */
static void read_now(struct jw_cache_info *settings)
{
	char *path = cache_settings_own("CUDA_CACHE_PATH");
	char *limit = cache_settings_own("CUDA_CACHE_MAXSIZE");
	char *disable = cache_settings_own("CUDA_CACHE_DISABLE");

	if (!path)
		(void)os_driver_cache_dir(NULL, &settings->now.path);
	else if (*path)
		(void)os_absolute(NULL, path, &settings->now.path);
	settings->now.limit_set = limit != NULL;
	settings->now.limit_bytes = limit ? cache_parse_limit(limit) : 0;
	settings->now.disabled = disable && cache_switch_is_on(disable);
	mem_free(path);
	mem_free(limit);
	mem_free(disable);
}

int cache_settings_read(struct jw_error *err, const char *dir, struct jw_cache_info *ret_settings)
{
	struct jw_cache_info settings = {.free_bytes = UINT64_MAX, .kept_bytes = kept_limit_bytes};

	read_now(&settings);
	if (dir ? os_absolute(err, dir, &settings.path) : read_path(err, &settings)) {
		cache_settings_free(&settings);
		return -1;
	}
	read_switches(&settings);
	read_limit(&settings);
	for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
		char *text = os_env(lookalikes[i].wrong);

		if (text)
			warn(&settings, "%s: no driver reads this variable; the right name is %s",
				 lookalikes[i].wrong, lookalikes[i].right);
		mem_free(text);
	}
	if (settings.path)
		check_directory(&settings);
	*ret_settings = settings;
	return 0;
}

void cache_settings_free(struct jw_cache_info *settings)
{
	jw_lines_free(settings->warnings, settings->warning_count);
	mem_free(settings->path);
	mem_free(settings->now.path);
	*settings = (struct jw_cache_info){0};
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
