/* Finds where the variables of the driver's cache are set. */
#include <jitwarm/tune.h>

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "state/run_folder.h"
#include "tune/block.h"
#include "tune/setting_places.h"

enum { MOST_SETTINGS = 4096 };

struct settings_file {
	struct jw_settings *settings;
	const char *source, *where;
	struct block_found block; /* of ours in this file */
	bool has_block;
};

static int add_warning(struct jw_error *err, struct jw_settings *settings, const char *line)
{
	char *copy = mem_string(err, line);

	if (!copy || VEC_ROOM(err, settings->warnings, settings->warning_capacity,
						  settings->warning_count, MOST_SETTINGS)) {
		mem_free(copy);
		return -1;
	}
	settings->warnings[settings->warning_count++] = copy;
	return 0;
}

/* Whether the driver takes a value for what it looks like, as far as can be known. */
static bool is_obvious(const struct jw_setting *setting)
{
	const char *value = setting->value;

	if (!strcmp(setting->name, "CUDA_CACHE_MAXSIZE"))
		return strchr(value, '$') != NULL;
	if (!strcmp(setting->name, "CUDA_CACHE_PATH"))
		return *value && *value != '~';
	return !cache_switch_is_on(value);
}

/* What it takes a value for otherwise; NULL: for what it looks like. */
static int meaning_of(struct jw_error *err, const struct jw_setting *setting, char **ret_line)
{
	const char *right = cache_lookalike_of(setting->name), *value = setting->value;

	*ret_line = NULL;
	if (!right && is_obvious(setting))
		return 0;
	if (!right && !strcmp(setting->name, "CUDA_CACHE_MAXSIZE"))
		return cache_explain_limit(err, value, ret_line);
	if (right)
		*ret_line = mem_printf(err, "%s: no driver reads it; the variable is called %s",
							   setting->name, right);
	else if (!strcmp(setting->name, "CUDA_CACHE_PATH"))
		*ret_line = mem_printf(err, "CUDA_CACHE_PATH=%.200s: %s", value,
							   *value ? "the driver does not expand ~"
									  : "empty: the driver caches nothing");
	else
		*ret_line = mem_printf(
			err, "%s=1: %s", setting->name,
			text_starts(setting->name, "CUDA_CACHE")
				? "the driver neither reads nor writes its cache"
			: text_starts(setting->name, "CUDA_FORCE")
				? "the driver compiles everything at every start, and no warm cache "
				  "helps"
				: "the driver compiles no PTX; a module that is not in its cache fails to "
				  "load");
	return *ret_line ? 0 : -1;
}

static int explain_setting(struct jw_error *err, struct jw_settings *settings,
						   const struct jw_setting *setting)
{
	char *line, *whole;
	int result;

	if (meaning_of(err, setting, &line))
		return -1;
	if (!line)
		return 0;
	whole = setting->line ? mem_printf(err, "%s:%zu: %s", setting->where, setting->line, line)
						  : mem_printf(err, "%s: %s", setting->where, line);
	mem_free(line);
	result = whole ? add_warning(err, settings, whole) : -1;
	mem_free(whole);
	return result;
}

static void setting_free(struct jw_setting *setting)
{
	mem_free(setting->name);
	mem_free(setting->value);
	mem_free(setting->where);
}

static int add_setting(struct jw_error *err, void *context, const struct assign *assign)
{
	const struct settings_file *reading = context;
	struct jw_settings *settings = reading->settings;
	struct jw_setting setting = {
		.name = mem_string(err, assign->name),
		.value = mem_string(err, assign->value),
		.where = mem_string(err, reading->where),
		.source = reading->source,
		.line = assign->line,
		.unset = assign->unset,
		.ours = reading->has_block && assign->offset >= reading->block.start &&
				assign->offset < reading->block.end,
	};

	if (!setting.name || !setting.value || !setting.where ||
		VEC_ROOM(err, settings->items, settings->capacity, settings->count, MOST_SETTINGS)) {
		setting_free(&setting);
		return -1;
	}
	settings->items[settings->count++] = setting;
	/* The system's own report covers this process. */
	return *reading->where && !setting.unset
			   ? explain_setting(err, settings, &settings->items[settings->count - 1])
			   : 0;
}

static int add_variable(struct jw_error *err, struct settings_file *reading, const char *name,
						const char *value)
{
	struct assign assign = {0};

	TEXT_COPY(assign.name, name);
	TEXT_COPY(assign.value, value);
	return add_setting(err, reading, &assign);
}

static int warn_unknown(struct jw_error *err, struct jw_settings *settings,
						const struct jw_error *why)
{
	char line[sizeof why->message + 64];

	if (why->code == JW_ERR_NOT_FOUND || why->code == JW_ERR_UNSUPPORTED)
		return 0;
	if (why->code == JW_ERR_MEMORY)
		return error_copy(err, why);
	(void)text_format(line, sizeof line, "its settings are unknown: %s", why->message);
	return add_warning(err, settings, line);
}

/* Takes `path` over. */
static int read_owned(struct jw_error *err, struct jw_settings *settings, const char *source,
					  char *path, enum assign_form form)
{
	struct settings_file reading = {.settings = settings, .source = source, .where = path};
	struct jw_error why = {0};
	struct buf text = {0};
	int result = 0;

	if (!path)
		return -1;
	if (!os_read_file(&why, path, BLOCK_MOST_FILE, &text)) {
		if (block_find(NULL, "# ", buf_text(&text), text.size, &reading.has_block, &reading.block))
			reading.has_block = false;
		result = assign_parse(err, form, buf_text(&text), text.size, add_setting, &reading);
	} else {
		result = warn_unknown(err, settings, &why);
	}
	buf_free(&text);
	mem_free(path);
	return result;
}

/* Reads every file of a folder with this ending, for units also drop-ins; owns `folder` */
static int read_folder(struct jw_error *err, struct jw_settings *settings, const char *source,
					   char *folder, const char *end, enum assign_form form)
{
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (!folder)
		return -1;
	if (os_list(&why, folder, &names)) {
		result = error_if_memory(err, &why);
	} else {
		for (size_t i = 0; !result && i < names.count; i++)
			if (names.kinds[i] == OS_REGULAR && text_ends(names.items[i], end))
				result =
					read_owned(err, settings, source, os_join(err, folder, names.items[i]), form);
			else if (!strcmp(end, ".service") && names.kinds[i] == OS_DIRECTORY &&
					 text_ends(names.items[i], ".service.d"))
				result = read_folder(err, settings, source, os_join(err, folder, names.items[i]),
									 ".conf", form);
		os_names_free(&names);
	}
	mem_free(folder);
	return result;
}

static int read_process(struct jw_error *err, struct jw_settings *settings)
{
	struct settings_file reading = {.settings = settings, .source = "process", .where = ""};
	int result = 0;

	for (size_t i = 0; !result && assign_names[i]; i++) {
		char *value = os_env(assign_names[i]);

		result = value ? add_variable(err, &reading, assign_names[i], value) : 0;
		mem_free(value);
	}
	return result;
}

/* The container's environment is that of its first process. */
static int read_container(struct jw_error *err, struct jw_settings *settings)
{
	static const char *const signs[] = {"/.dockerenv", "/run/.containerenv"};
	struct settings_file reading = {.settings = settings, .source = "container"};
	bool inside = false;
	char *path;
	struct os_file *file;
	struct buf text = BUF_MAX(BLOCK_MOST_FILE);
	size_t got = 0;
	int result;

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		char *sign = place_system_path(err, signs[i]);

		if (!sign)
			return -1;
		inside = inside || os_exists(sign);
		mem_free(sign);
	}
	if (!inside)
		return 0;
	path = place_system_path(err, "/proc/1/environ");
	reading.where = path;
	result = path ? buf_reserve(err, &text, BLOCK_MOST_FILE / 4) : -1;
	/* It reports no size: read to its end. */
	if (!result && !os_file_open(NULL, path, OS_OPEN_READ, &file)) {
		if (!os_file_read(NULL, file, 0, text.data, BLOCK_MOST_FILE / 4, &got))
			result =
				assign_parse(err, ASSIGN_NULS, (const char *)text.data, got, add_setting, &reading);
		os_file_close(file);
	}
	buf_free(&text);
	mem_free(path);
	return result;
}

/* The files in reading order: of the system (/), the account's configuration, and its home (.) */
static const struct {
	const char *path;
	const char *end;    /* of the files' names in a folder; NULL: a file */
	const char *source; /* NULL: a shell profile */
	enum assign_form form;
} read_files[] = {
	{.path = "/etc/environment", .source = "/etc/environment", .form = ASSIGN_LIST},
	{.path = "/etc/environment.d", .end = ".conf", .source = "environment.d", .form = ASSIGN_LIST},
	{.path = "/etc/profile"},
	{.path = "/etc/profile.d", .end = ".sh", .source = "profile.d"},
	{.path = "/etc/bash.bashrc"},
	{.path = "/etc/systemd/system",
	 .end = ".service",
	 .source = "systemd unit",
	 .form = ASSIGN_UNIT},
	{.path = "environment.d", .end = ".conf", .source = "environment.d", .form = ASSIGN_LIST},
	{.path = ".profile"},
	{.path = ".bash_profile"},
	{.path = ".bash_login"},
	{.path = ".bashrc"},
	{.path = ".zshenv"},
	{.path = ".zprofile"},
	{.path = ".zshrc"},
	{.path = ".zlogin"},
	{.path = ".cshrc"},
	{.path = ".tcshrc"},
	{.path = ".login"},
	{.path = "fish/config.fish"},
	{.path = "fish/conf.d", .end = ".fish"},
	{.path = "systemd/user", .end = ".service", .source = "systemd unit", .form = ASSIGN_UNIT},
};

static int read_files_of(struct jw_error *err, struct jw_settings *settings, bool has_home)
{
	int result = 0;

	for (size_t i = 0; !result && i < sizeof read_files / sizeof *read_files; i++) {
		const char *rest = read_files[i].path, *end = read_files[i].end,
				   *source = read_files[i].source ? read_files[i].source : "shell profile";
		char *path;

		if (*rest != '/' && !has_home)
			break;
		path = *rest == '/'   ? place_system_path(err, rest)
			   : *rest == '.' ? place_home_path(err, rest)
							  : place_config_path(err, rest);
		result = end ? read_folder(err, settings, source, path, end, read_files[i].form)
					 : read_owned(err, settings, source, path, read_files[i].form);
	}
	return result;
}

/* "conda env config vars set" keeps its variables in a JSON file. */
static int read_conda_state(struct jw_error *err, struct jw_settings *settings, const char *path)
{
	struct settings_file reading = {
		.settings = settings, .source = "conda environment", .where = path};
	struct jw_error why = {0};
	struct buf text = {0};
	cJSON *document = NULL;
	const cJSON *item;
	int result = 0;

	if (!os_read_file(&why, path, BLOCK_MOST_FILE, &text)) {
		document = json_parse(&why, buf_text(&text), text.size);
		if (!document)
			(void)error_prefix(&why, "%s", path);
	}
	if (!document)
		result = warn_unknown(err, settings, &why);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(document, "env_vars"))
	{
		if (!result && cJSON_IsString(item) && assign_concerns(item->string))
			result = add_variable(err, &reading, item->string, item->valuestring);
	}
	cJSON_Delete(document);
	buf_free(&text);
	return result;
}

static int read_conda_settings(struct jw_error *err, struct jw_settings *settings)
{
	char *prefix = os_env("CONDA_PREFIX"), *state = NULL;
	int result = 0;

	if (prefix && *prefix) {
		state = os_join(err, prefix, "conda-meta/state");
		result = !state || read_conda_state(err, settings, state) ||
						 read_folder(err, settings, "conda environment",
									 os_join(err, prefix, "etc/conda/activate.d"),
									 os_variables_kept() ? ".ps1" : ".sh", ASSIGN_SHELL)
					 ? -1
					 : 0;
	}
	mem_free(state);
	mem_free(prefix);
	return result;
}

static int read_registry(struct jw_error *err, struct jw_settings *settings,
						 enum os_variables where, const char *source)
{
	struct settings_file reading = {
		.settings = settings, .source = source, .where = os_variables_key(where)};
	int result = 0;

	for (size_t i = 0; !result && assign_names[i]; i++) {
		struct os_variable variable = {0};
		struct jw_error why = {0};

		result = os_variable_read(&why, where, assign_names[i], &variable)
					 ? error_if_memory(err, &why)
					 : add_variable(err, &reading, assign_names[i], variable.value);
		mem_free(variable.value);
	}
	return result;
}

int jw_settings_read(struct jw_error *err, struct jw_settings **ret_settings)
{
	struct jw_settings *settings = mem_alloc(err, sizeof *settings);
	struct jw_error why = {0};
	char *home = NULL;
	bool has_home;
	int result;

	if (!settings)
		return -1;
	has_home = !os_home_dir(&why, &home);
	result = has_home ? 0 : error_if_memory(err, &why);
	if (!result)
		result = read_process(err, settings);
	if (!result && os_variables_kept())
		result = read_registry(err, settings, OS_VARIABLES_MACHINE, "Windows machine") ||
				 read_registry(err, settings, OS_VARIABLES_USER, "Windows user");
	else if (!result)
		result = read_container(err, settings) || read_files_of(err, settings, has_home);
	mem_free(home);
	if (result || read_conda_settings(err, settings)) {
		jw_settings_free(settings);
		return -1;
	}
	*ret_settings = settings;
	return 0;
}

/* The files that --apply writes and no shell runs. Another account's decides nothing for the
 * superuser, who may have its HOME. What cannot be read sets nothing here: tune says why. */
static int read_kept(struct jw_error *err, struct jw_settings *settings)
{
	struct jw_error why = {0};
	char *own;

	if (os_variables_kept())
		return read_registry(err, settings, OS_VARIABLES_MACHINE, "Windows machine") ||
					   read_registry(err, settings, OS_VARIABLES_USER, "Windows user")
				   ? -1
				   : 0;
	if (read_owned(err, settings, "/etc/environment", place_system_path(err, "/etc/environment"),
				   ASSIGN_LIST))
		return -1;
	own = place_config_path(&why, "environment.d/60-jitwarm.conf");
	if (own && !state_check_writers(&why, own, 0))
		return read_owned(err, settings, "environment.d", own, ASSIGN_LIST);
	mem_free(own);
	return error_if_memory(err, &why);
}

/* The last place wins, as at a login. NULL: none sets it, or only a login can tell to what. */
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
	static const char *const names[] = {"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE",
										"CUDA_CACHE_DISABLE"};
	struct jw_settings *settings = mem_alloc(err, sizeof *settings);
	int result = settings ? read_kept(err, settings) : -1;

	for (size_t i = 0; !result && i < sizeof names / sizeof *names; i++) {
		const char *kept = value_kept(settings, names[i]);
		char *own;

		result = os_env_read(err, names[i], &own);
		if (!result && !own && kept)
			result = os_env_set(err, names[i], kept);
		mem_free(own);
	}
	jw_settings_free(settings);
	return result;
}

void jw_settings_free(struct jw_settings *settings)
{
	if (!settings)
		return;
	for (size_t i = 0; i < settings->count; i++)
		setting_free(&settings->items[i]);
	jw_lines_free(settings->warnings, settings->warning_count);
	mem_free(settings->items);
	mem_free(settings);
}
