/* Which variables of the driver's cache this process, jitwarm's own files, /etc/environment and
 * Windows' registry set. */
#include "setup/setting_sources.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/env.h"
#include "os/file.h"
#include "os/private.h"
#include "setup/lines.h"
#include "setup/marked_line.h"
#include "setup/setting_places.h"

enum { MAX_SETTINGS = 4096 };

/* The driver's variables, and names that users mistake for them. The first ones are those that
 * jitwarm sets. */
static const char *const names[] = {
	"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH",      "CUDA_CACHE_DISABLE",  "CUDA_FORCE_PTX_JIT",
	"CUDA_FORCE_JIT",     "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT",    "CUDA_CACHE_MAX_SIZE",
	"CUDA_CACHE_SIZE",    "CUDA_CACHE_DIR",       "CUDA_CACHE_DISABLED",
};
enum { NAMES = sizeof names / sizeof *names };

/* jitwarm's files set this variable last: a process with the same value has read the file. */
static const char stamp_name[] = "JITWARM_TUNED";

/* Adds a setting and takes ownership of `value`. */
static int add_setting(struct jw_error *err, struct jw_settings *settings, const char *source,
					   const char *where, const char *name, char *value, bool ours)
{
	(void)arena_keep(settings, value);
	if (ARENA_ROOM(err, settings, settings->items, settings->capacity, settings->count,
				   MAX_SETTINGS))
		return -1;
	settings->items[settings->count++] = (struct jw_setting){
		.name = arena_string(settings, name),
		.value = value,
		.where = arena_string(settings, where),
		.source = source,
		.ours = ours,
	};
	return 0;
}

static int read_process(struct jw_error *err, struct jw_settings *settings)
{
	int result = 0;

	settings->stamp = arena_keep(settings, os_env(stamp_name));
	for (size_t i = 0; !result && i < NAMES; i++) {
		char *value = cache_settings_own(names[i]);

		if (value)
			result = add_setting(err, settings, "process", "", names[i], value, false);
	}
	return result;
}

/* Returns the value after the name, without quotes and fish's backslashes. */
static char *value_of(const char *at, const char *end)
{
	struct buf value = BUF_MAX(1 << 16);
	char *text, quote = '\0';

	while (end > at && strchr("\r\n \t", end[-1]))
		end--;
	if (end - at > 1 && strchr("\"'", *at) && end[-1] == *at) {
		quote = *at++;
		end--;
	}
	for (; at < end; at++) {
		at += quote == '\'' && *at == '\\' && end - at > 1;
		(void)buf_append(NULL, &value, at, 1);
	}
	text = mem_string(buf_text(&value));
	buf_free(&value);
	return text;
}

/* Returns whether the line sets a variable, as NAME=value or as fish's “set -gx NAME value”. */
static bool sets(const char **at, const char *end, const char *name)
{
	static const char fish[] = "set -gx ";
	const char *from = *at;
	const size_t length = strlen(name);
	char separator = '=';

	while (from < end && strchr(" \t", *from) && *from)
		from++;
	if ((size_t)(end - from) > sizeof fish - 1 && !memcmp(from, fish, sizeof fish - 1)) {
		from += sizeof fish - 1;
		separator = ' ';
	}
	if ((size_t)(end - from) <= length || memcmp(from, name, length) != 0 ||
		from[length] != separator)
		return false;
	*at = from + length + 1;
	return true;
}

static int read_line(struct jw_error *err, struct jw_settings *settings, const char *source,
					 const char *where, const char *at, const char *end, bool ours)
{
	size_t i = 0;

	while (i < NAMES && !sets(&at, end, names[i]))
		i++;
	if (i < NAMES)
		return add_setting(err, settings, source, where, names[i], value_of(at, end), ours);
	if (!ours || !sets(&at, end, stamp_name))
		return 0;
	for (i = 0; i < settings->count; i++)
		if (settings->items[i].ours && !strcmp(settings->items[i].where, where) &&
			!settings->items[i].stamp)
			settings->items[i].stamp = arena_keep(settings, value_of(at, end));
	return 0;
}

/* Reads the settings of a place; an unreadable file sets nothing. */
static int read_setting_place(struct jw_error *err, struct jw_settings *settings,
							  const char *source, const struct setting_place *place)
{
	char mark[PLACE_MARK];
	struct buf text = {0};
	unsigned claims = 0;
	int result = 0;

	place_mark(mark, place->scope);
	if (os_read_file(NULL, place->path, MARKED_MAX_FILE, &text))
		return 0;
	for (const char *at = buf_text(&text), *end = at + text.size, *next; !result && at < end;
		 at = next) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const bool claimed = marked_claims(at, (size_t)((feed ? feed : end) - at), mark, &claims);

		next = feed ? feed + 1 : end;
		result = read_line(err, settings, source, place->path, at, feed ? feed : end,
						   place->form != PLACE_SHARED || claimed);
	}
	buf_free(&text);
	return result;
}

static int read_registry(struct jw_error *err, struct jw_settings *settings,
						 enum os_variables where, enum os_variables record, const char *source)
{
	int result = 0;

	for (size_t i = 0; !result && i < NAMES; i++) {
		struct os_variable variable = {0}, set = {0};

		if (os_variable_read(NULL, where, names[i], &variable))
			continue;
		(void)os_variable_read(NULL, record, names[i], &set);
		result = add_setting(err, settings, source, os_variables_key(where), names[i],
							 variable.value, set.value && !strcmp(set.value, variable.value));
		mem_free(set.value);
	}
	return result;
}

static const char *scope_name(enum jw_scope scope)
{
	return scope == JW_SCOPE_SYSTEM ? "/etc/environment"
		   : scope == JW_SCOPE_USER ? "environment.d"
									: "shell";
}

static int read_scope(struct jw_error *err, struct jw_settings *settings, enum jw_scope scope,
					  bool as_superuser)
{
	struct setting_places *places;
	struct jw_error why = {0};
	int result = 0;

	/* Without a home there are no files of the account. */
	if (places_of(&why, scope, &places))
		return 0;
	/* fish's file for logins has the same settings as environment.d's. */
	if (places->count && (!as_superuser || !os_guard(&why, places->items[0].path)))
		result = read_setting_place(err, settings, scope_name(scope), &places->items[0]);
	jw_result_free(places);
	return result;
}

int settings_read_scope(struct jw_error *err, enum jw_scope scope,
						struct jw_settings **ret_settings)
{
	struct jw_settings *settings = arena_open(sizeof *settings);

	if (read_scope(err, settings, scope, false)) {
		jw_result_free(settings);
		return -1;
	}
	*ret_settings = settings;
	return 0;
}

/* Reads the scopes from the general to the specific, as a login does. */
static int read_kept_settings(struct jw_error *err, struct jw_settings *settings, bool as_superuser)
{
	if (os_variables_kept())
		return read_registry(err, settings, OS_VARIABLES_MACHINE, OS_VARIABLES_MACHINE_RECORD,
							 "Windows machine") ||
					   read_registry(err, settings, OS_VARIABLES_USER, OS_VARIABLES_USER_RECORD,
									 "Windows user")
				   ? -1
				   : 0;
	return read_scope(err, settings, JW_SCOPE_SYSTEM, false) ||
				   read_scope(err, settings, JW_SCOPE_USER, as_superuser)
			   ? -1
			   : 0;
}

int jw_settings_read(struct jw_error *err, struct jw_settings **ret_settings)
{
	struct jw_settings *settings = arena_open(sizeof *settings);

	if (read_process(err, settings) || read_kept_settings(err, settings, false) ||
		(!os_variables_kept() && read_scope(err, settings, JW_SCOPE_SHELL, false))) {
		jw_result_free(settings);
		return -1;
	}
	*ret_settings = settings;
	return 0;
}

/* Returns the value that a login will have: the last place counts. NULL if none sets the variable,
 * or only a login can know its value. */
static const char *value_kept(const struct jw_settings *settings, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < settings->count; i++)
		if (!strcmp(settings->items[i].name, name))
			value = settings->items[i].value;
	return value && !strpbrk(value, os_variables_kept() ? "%" : "$\\") ? value : NULL;
}

int jw_settings_adopt(struct jw_error *err)
{
	struct jw_settings *settings = arena_open(sizeof *settings);
	uint64_t bytes, most_bytes = 0;
	/* Another account's file does not count for the superuser, who may have that account's HOME. */
	int result = read_kept_settings(err, settings, true);

	/* The path, the limit and the switch of the cache; no shell that would set them is run. */
	for (size_t i = 0; !result && i < 3; i++) {
		const char *kept = value_kept(settings, names[i]);
		char *own = os_env(names[i]);

		if (!own && kept)
			result = cache_settings_adopt(err, names[i], kept);
		mem_free(own);
	}
	if (!result && !os_variables_kept())
		result = read_scope(err, settings, JW_SCOPE_SHELL, true);
	for (size_t i = 0; i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];

		if (setting->ours && !strcmp(setting->name, names[0]) &&
			text_number(setting->value, CACHE_MAX_LIMIT, &bytes) && bytes > most_bytes)
			most_bytes = bytes;
	}
	cache_settings_keep_limit(most_bytes);
	jw_result_free(settings);
	return result;
}

int jw_settings_take(struct jw_error *err, const char *name, const char *value)
{
	return cache_settings_adopt(err, name, value);
}

enum jw_tune_state jw_tune_state(const struct jw_settings *settings, const char *name,
								 const struct jw_setting **ret_ours)
{
	const struct jw_setting *process = NULL, *kept = NULL, *ours = NULL;

	/* The last place counts. */
	for (size_t i = 0; i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];

		if (strcmp(setting->name, name) != 0)
			continue;
		if (!strcmp(setting->source, "process"))
			process = setting;
		else
			kept = setting;
		ours = setting->ours ? setting : ours;
	}
	*ret_ours = ours;
	if (!ours)
		return JW_TUNE_NOT_SET;
	if (process && !strcmp(process->value, ours->value))
		return JW_TUNE_IN_FORCE;
	if (kept && strcmp(kept->value, ours->value) != 0)
		return JW_TUNE_OVERRIDDEN;
	return ours->stamp && settings->stamp && !strcmp(ours->stamp, settings->stamp)
			   ? JW_TUNE_OVERRIDDEN
			   : JW_TUNE_PENDING;
}
