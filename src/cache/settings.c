#include "cache/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "gpu/release.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

static int warn_of_setting(struct cache_settings *settings, const char *format, ...)
	JW_PRINTF(2, 3);

static int warn_of_setting(struct cache_settings *settings, const char *format, ...)
{
	va_list arguments;
	char *line;

	if (settings->warning_count == CACHE_MOST_WARNINGS)
		return 0;
	va_start(arguments, format);
	line = mem_vprintf(format, arguments);
	va_end(arguments);
	if (!line)
		return -1;
	settings->warnings[settings->warning_count++] = line;
	return 0;
}

/* Parses like strtoull: blanks, a sign, digits; ignores text behind them. A number that does not
 * fit becomes the largest. */
static uint64_t read_setting(const char *text)
{
	return strtoull(text, NULL, 10);
}

uint64_t cache_parse_limit(const char *text)
{
	uint64_t limit = read_setting(text);

	return limit < CACHE_MOST_LIMIT ? limit : CACHE_MOST_LIMIT;
}

bool cache_switch_is_on(const char *text)
{
	return read_setting(text) == 1;
}

/* A switch is on if its number is 1; *ret_set tells whether the variable exists. */
static int is_on(const char *name, bool *ret_on, bool *ret_set)
{
	char *text;

	os_env_read(name, &text);
	*ret_on = text && cache_switch_is_on(text);
	*ret_set = text != NULL;
	mem_free(text);
	return 0;
}

/* Of two variables the one that is on, or NULL: the first, if set, overrides the second. */
static int first_on(const char *name, const char *other, const char **ret_on)
{
	bool on, set;

	if (is_on(name, &on, &set))
		return -1;
	if (!set) {
		name = other;
		if (is_on(name, &on, &set))
			return -1;
	}
	*ret_on = on ? name : NULL;
	return 0;
}

static int read_switches(struct cache_settings *settings)
{
	const char *force, *disable;
	bool set;

	if (first_on("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", &force) ||
		first_on("CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT", &disable) ||
		is_on("CUDA_CACHE_DISABLE", &settings->disabled, &set))
		return -1;
	settings->force_jit = force && !strcmp(force, "CUDA_FORCE_JIT");
	settings->force_ptx_jit = force && !settings->force_jit;
	settings->disable_ptx_jit = disable != NULL;
	if (settings->disabled &&
		warn_of_setting(settings,
						"CUDA_CACHE_DISABLE=1: the driver neither reads nor writes its cache"))
		return -1;
	if (disable &&
		warn_of_setting(
			settings,
			"%s=1: the driver compiles no PTX; a module that is not in its cache fails to load",
			disable))
		return -1;
	return 0;
}

/* "1G", "1 GiB": the size that a user meant by a unit; 0 for any other text. */
static uint64_t meant_with_unit(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10), unit = 1;

	while (*end == ' ')
		end++;
	switch (toupper((unsigned char)*end)) {
	case 'K': unit = UINT64_C(1) << 10; break;
	case 'M': unit = UINT64_C(1) << 20; break;
	case 'G': unit = UINT64_C(1) << 30; break;
	case 'T': unit = UINT64_C(1) << 40; break;
	default: return 0;
	}
	return number > UINT64_MAX / unit ? UINT64_MAX : number * unit;
}

uint64_t cache_meant_limit(const char *text)
{
	const uint64_t meant = meant_with_unit(text);

	return meant < CACHE_MOST_LIMIT ? meant : CACHE_MOST_LIMIT;
}

int cache_explain_limit(const char *text, char **ret_line)
{
	const uint64_t meant = meant_with_unit(text), number = read_setting(text),
				   limit = cache_parse_limit(text);
	char size[TEXT_SHORT], *line;

	*ret_line = NULL;
	if (meant)
		line = mem_printf(meant > CACHE_MOST_LIMIT
							  ? "CUDA_CACHE_MAXSIZE=%.200s: the driver reads %s, since it knows no "
								"units; write %llu: 4 GiB are the most that it keeps"
							  : "CUDA_CACHE_MAXSIZE=%.200s: the driver reads %s, since it knows no "
								"units; write %llu",
						  text, TEXT_COUNT(limit, "byte", "bytes"),
						  (unsigned long long)cache_meant_limit(text));
	else if (!limit)
		line = mem_printf("CUDA_CACHE_MAXSIZE=%.200s: the driver reads 0 and stores nothing; it "
						  "wants a number of bytes",
						  text);
	else if (number > CACHE_MOST_LIMIT)
		line = mem_printf("CUDA_CACHE_MAXSIZE=%.200s: the driver reads it as its maximum, %s", text,
						  text_bytes(size, CACHE_MOST_LIMIT));
	else
		return 0;
	*ret_line = line;
	return 0;
}

static int explain_limit(struct cache_settings *settings, const char *text)
{
	char *line;
	int result;

	cache_explain_limit(text, &line);
	result = line ? warn_of_setting(settings, "%s", line) : 0;
	mem_free(line);
	return result;
}

static int read_limit(struct cache_settings *settings)
{
	char *text;
	int result = 0;

	os_env_read("CUDA_CACHE_MAXSIZE", &text);
	settings->limit_bytes = gpu_branch_of(&(struct jw_driver){0})->default_limit_bytes;
	if (text) {
		settings->limit_set = true;
		settings->limit_bytes = cache_parse_limit(text);
		settings->meant_bytes = cache_meant_limit(text);
		result = explain_limit(settings, text);
	}
	mem_free(text);
	return result;
}

/* Variable names that users set and no driver reads. */
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

static int look_for_lookalikes(struct cache_settings *settings)
{
	for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
		char *text;
		int result = os_env_read(lookalikes[i].wrong, &text);

		if (result)
			return -1;
		if (text)
			result = warn_of_setting(settings, "%s: no driver reads it; the variable is called %s",
									 lookalikes[i].wrong, lookalikes[i].right);
		mem_free(text);
		if (result)
			return -1;
	}
	return 0;
}

static int make_absolute(struct jw_error *err, const char *path, char **ret_path)
{
	char *here = NULL, *whole = NULL;

	if (os_is_absolute(path))
		whole = mem_string(path);
	else if (!os_real_path(err, ".", &here))
		whole = os_join(here, path);
	mem_free(here);
	if (!whole)
		return -1;
	/* Normalises a directory to one name, since remembered facts are found by it. */
	for (size_t at = strlen(whole); at > os_root_length(whole) && os_is_separator(whole[at - 1]);)
		whole[--at] = '\0';
	*ret_path = whole;
	return 0;
}

/* The driver makes missing levels, but not the first of a relative path of several (measured). */
static int explain_relative(struct cache_settings *settings, const char *path)
{
	size_t length = 0;
	char *first;
	bool there;

	if (path[0] == '~')
		return warn_of_setting(settings,
							   "CUDA_CACHE_PATH=%s: the driver does not expand ~ and uses a folder "
							   "of that name below the working directory",
							   path);
	while (path[length] && !os_is_separator(path[length]))
		length++;
	first = mem_string_n(path, length);
	there = !path[length] || os_exists(first);
	mem_free(first);
	return warn_of_setting(
		settings,
		there ? "CUDA_CACHE_PATH=%s: relative to each program's working directory"
			  : "CUDA_CACHE_PATH=%s: relative, and the driver does not make the first folder of "
				"such a path: it caches nothing until that exists",
		path);
}

static int read_path(struct jw_error *err, const char *home, struct cache_settings *settings)
{
	struct jw_error why = {0};
	char *text;
	int result = -1;

	os_env_read("CUDA_CACHE_PATH", &text);
	settings->path_set = text != NULL;
	if (text && !*text) {
		result = warn_of_setting(
			settings,
			"CUDA_CACHE_PATH is empty: the driver caches nothing; unset it, or name a directory");
	} else if (text) {
		if (!make_absolute(err, text, &settings->path))
			result = os_is_absolute(text) ? 0 : explain_relative(settings, text);
	} else if (!os_driver_cache_dir(&why, home, &settings->path)) {
		result = 0;
	} else if (why.code == JW_ERR_NOT_FOUND) {
		result = warn_of_setting(settings, "%s", why.message);
	} else {
		result = error_copy(err, &why);
	}
	mem_free(text);
	return result;
}

/* `there`: the directory, or where it will be. */
static int look_at_room(const char *there, struct cache_settings *settings)
{
	char size[TEXT_SHORT];
	struct os_space space;

	if (os_space(NULL, there, &space))
		return 0;
	settings->free_bytes = space.free_bytes;
	if (space.network &&
		warn_of_setting(settings,
						"%s: on a network file system: the driver caches only if locks work there, "
						"and every look-up waits for the network",
						settings->path))
		return -1;
	if (settings->free_bytes < CACHE_LITTLE_ROOM)
		return warn_of_setting(settings, "%s: only %s are free there", settings->path,
							   text_bytes(size, settings->free_bytes));
	return 0;
}

/* The driver makes a missing directory below this one if it can. */
static int look_above(struct cache_settings *settings)
{
	char *nearest = os_nearest(settings->path);
	struct os_stat stat;
	int result = nearest ? 0 : -1;

	settings->usable = nearest && !os_stat(NULL, nearest, &stat) && stat.kind == OS_DIRECTORY &&
					   !os_may_write(NULL, nearest);
	if (nearest && !settings->usable)
		result =
			warn_of_setting(settings,
							"%s: cannot be made by this account, since %s is not a directory that "
							"it can write to: the driver compiles everything again at every start",
							settings->path, nearest);
	else if (nearest)
		result = look_at_room(nearest, settings);
	mem_free(nearest);
	return result;
}

static int look_at_directory(struct cache_settings *settings)
{
	struct os_stat stat;
	char *index;
	int result = 0;

	if (os_stat(NULL, settings->path, &stat))
		return look_above(settings);
	settings->usable = false;
	if (stat.kind != OS_DIRECTORY)
		return warn_of_setting(settings, "%s: not a directory: the driver caches nothing",
							   settings->path);
	settings->exists = true;
	if (os_may_write(NULL, settings->path))
		return warn_of_setting(
			settings,
			"%s: cannot be written to by this account: the driver compiles everything again "
			"at every start",
			settings->path);
	index = os_join(settings->path, "index");
	if (!index)
		return -1;
	/* The driver opens it for writing even for reading the cache. */
	if (os_exists(index) && os_may_write(NULL, index))
		result = warn_of_setting(
			settings,
			"%s: cannot be written to by this account, and so the driver does not use the "
			"cache at all",
			index);
	else
		settings->usable = true;
	mem_free(index);
	return result ? result : look_at_room(settings->path, settings);
}

static struct adopted {
	const char *name;
	bool is;
	char *own; /* of the process; NULL: it has none */
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
		os_env_read(name, &variable->own);
		variable->is = true;
	}
	return os_env_set(err, name, value);
}

int cache_settings_own(const char *name, char **ret_value)
{
	const struct adopted *variable = adopted_of(name);

	if (!variable || !variable->is) {
		os_env_read(name, ret_value);
		return 0;
	}
	*ret_value = variable->own ? mem_string(variable->own) : NULL;
	return variable->own && !*ret_value ? -1 : 0;
}

void cache_settings_forget_adopted(void)
{
	for (size_t i = 0; i < sizeof adopted / sizeof *adopted; i++) {
		mem_free(adopted[i].own);
		adopted[i].own = NULL;
		adopted[i].is = false;
	}
}

/* A directory that cannot be told is none: its fault is told where it counts. */
static int read_now(const char *home, struct cache_settings_now *now)
{
	char *path = NULL, *limit = NULL, *disable = NULL;
	struct jw_error why = {0};
	int result = -1;

	if (!cache_settings_own("CUDA_CACHE_PATH", &path) &&
		!cache_settings_own("CUDA_CACHE_MAXSIZE", &limit) &&
		!cache_settings_own("CUDA_CACHE_DISABLE", &disable)) {
		result = !path   ? os_driver_cache_dir(&why, home, &now->path)
				 : *path ? make_absolute(&why, path, &now->path)
						 : 0;
		result = result ? 0 : 0;
		now->limit_set = limit != NULL;
		now->limit_bytes = limit ? cache_parse_limit(limit) : 0;
		now->disabled = disable && cache_switch_is_on(disable);
	}
	mem_free(path);
	mem_free(limit);
	mem_free(disable);
	return result;
}

int cache_settings_read(struct jw_error *err, const char *dir, const char *home,
						struct cache_settings *ret_settings)
{
	struct cache_settings settings = {.free_bytes = UINT64_MAX};

	if (read_now(home, &settings.now))
		goto fail;
	if (dir ? make_absolute(err, dir, &settings.path) : read_path(err, home, &settings))
		goto fail;
	if (read_switches(&settings) || read_limit(&settings) || look_for_lookalikes(&settings))
		goto fail;
	if (settings.path && look_at_directory(&settings))
		goto fail;
	*ret_settings = settings;
	return 0;
fail:
	cache_settings_free(&settings);
	return -1;
}

void cache_settings_free(struct cache_settings *settings)
{
	for (size_t i = 0; i < settings->warning_count; i++)
		mem_free(settings->warnings[i]);
	mem_free(settings->path);
	mem_free(settings->now.path);
	*settings = (struct cache_settings){0};
}

/* The caches of other accounts than the one that is meant, and becoming that one. */

enum { MOST_CACHES = 1024 };

int jw_account_doubt(struct jw_error *err, char **ret_line)
{
	struct os_account account;
	char *line = NULL;
	bool doubtful = true;

	if (os_account(err, &account))
		return -1;
	if (account.sudo_user)
		line = mem_printf("under sudo this warms root's cache, not that of %s: run it without "
						  "sudo",
						  account.sudo_user);
	else if (os_is_superuser() && os_is_windows)
		line = mem_string("this runs as SYSTEM, whose cache no user's program reads: run it "
						  "in the user's own account");
	else
		doubtful = false;
	os_account_free(&account);
	if (doubtful && !line)
		return -1;
	*ret_line = line;
	return 0;
}

void jw_other_caches_free(struct jw_other_cache *caches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(caches[i].account);
		mem_free(caches[i].path);
	}
	mem_free(caches);
}

/* Takes `path` over. */
static int add_account_cache(struct jw_other_cache *caches, size_t *count, const char *account,
							 char *path)
{
	struct jw_other_cache *cache = &caches[*count];
	struct jw_cache_outlook outlook;

	cache->path = path;
	cache->account = mem_string(account);
	(*count)++;
	if (!cache->account)
		return -1;
	cache_outlook(path, CACHE_MOST_LIMIT, true, &outlook);
	cache->entries = outlook.entries;
	cache->size_bytes = outlook.bytes;
	return 0;
}

/* Accounts without a home of their own share one (/nonexistent). */
static bool is_listed(const struct jw_other_cache *caches, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(caches[i].path, path))
			return true;
	return false;
}

int jw_other_caches(struct jw_error *err, const char *own, struct jw_other_cache **ret_caches,
					size_t *ret_count)
{
	struct jw_other_cache *caches = mem_array(MOST_CACHES, sizeof *caches);
	struct jw_accounts accounts = {0};
	size_t count = 0;
	int result = jw_accounts_services(err, &accounts);

	for (size_t i = 0; !result && i < accounts.count && count < MOST_CACHES; i++) {
		struct jw_error why = {0};
		char *path;

		if (os_account_cache_dir(&why, &accounts.items[i], &path))
			result = why.code == JW_ERR_UNSUPPORTED ? 0 : error_copy(err, &why);
		else if (os_exists(path) && (!own || strcmp(path, own) != 0) &&
				 !is_listed(caches, count, path))
			result = add_account_cache(caches, &count, accounts.items[i].name, path);
		else
			mem_free(path);
	}
	jw_accounts_free(&accounts);
	if (result) {
		jw_other_caches_free(caches, count);
		return -1;
	}
	*ret_caches = caches;
	*ret_count = count;
	return 0;
}
