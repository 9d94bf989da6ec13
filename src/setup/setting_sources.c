#include "setup/setting_sources.h"

#include <jitwarm/tune.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "driver/run_folder.h"
#include "os/env.h"
#include "os/file.h"
#include "setup/block.h"
#include "setup/setting_places.h"

enum { MOST_SETTINGS = 4096, MOST_WARNINGS = 2 * MOST_SETTINGS };

struct settings_reading {
	struct jw_settings *settings;
	const char *source, *where;
	struct block_found block; /* of ours in this file */
	bool has_block;
};

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

/* What it takes a value for otherwise, which the caller frees; NULL: for what it looks like. */
static char *meaning_of(const struct jw_setting *setting)
{
	const char *right = cache_lookalike_of(setting->name), *value = setting->value;

	if (right)
		return mem_printf("%s: no driver reads it; the variable is called %s", setting->name,
						  right);
	if (is_obvious(setting))
		return NULL;
	if (!strcmp(setting->name, "CUDA_CACHE_MAXSIZE"))
		return cache_explain_limit(value);
	if (!strcmp(setting->name, "CUDA_CACHE_PATH"))
		return mem_printf("CUDA_CACHE_PATH=%.200s: %s", value,
						  *value ? "the driver does not expand ~"
								 : "empty: the driver caches nothing");
	return mem_printf(
		"%s=1: %s", setting->name,
		text_starts(setting->name, "CUDA_CACHE") ? "the driver neither reads nor writes its cache"
		: text_starts(setting->name, "CUDA_FORCE")
			? "the driver compiles everything at every start, and no warm cache "
			  "helps"
			: "the driver compiles no PTX; a module that is not in its cache fails to "
			  "load");
}

static void add_warning(struct jw_settings *settings, const char *line)
{
	mem_add_string(&settings->warnings, &settings->warning_count, MOST_WARNINGS, line);
}

static int add_setting(struct jw_error *err, void *context, const struct assign *assign)
{
	const struct settings_reading *reading = context;
	struct jw_settings *settings = reading->settings;
	struct jw_setting *setting;
	char *meaning, *line;

	if (VEC_ROOM(err, settings->items, settings->capacity, settings->count, MOST_SETTINGS))
		return -1;
	setting = &settings->items[settings->count++];
	*setting = (struct jw_setting){
		.name = mem_string(assign->name),
		.value = mem_string(assign->value),
		.where = mem_string(reading->where),
		.source = reading->source,
		.line = assign->line,
		.unset = assign->unset,
		.ours = reading->has_block && assign->offset >= reading->block.start &&
				assign->offset < reading->block.end,
	};
	/* The system's own report covers this process. */
	meaning = *reading->where && !setting->unset ? meaning_of(setting) : NULL;
	if (!meaning)
		return 0;
	line = setting->line ? mem_printf("%s:%zu: %s", setting->where, setting->line, meaning)
						 : mem_printf("%s: %s", setting->where, meaning);
	add_warning(settings, line);
	mem_free(line);
	mem_free(meaning);
	return 0;
}

static int add_variable(struct jw_error *err, struct settings_reading *reading, const char *name,
						const char *value)
{
	struct assign assign = {0};

	TEXT_COPY(assign.name, name);
	TEXT_COPY(assign.value, value);
	return add_setting(err, reading, &assign);
}

static int read_file(struct jw_error *err, struct jw_settings *settings,
					 const struct setting_file *file)
{
	struct settings_reading reading = {
		.settings = settings, .source = file->source, .where = file->path};
	struct jw_error why = {0};
	struct buf text = {0};
	int result = 0;

	if (!os_read_file(&why, file->path, BLOCK_MOST_FILE, &text)) {
		if (block_find(NULL, buf_text(&text), text.size, &reading.has_block, &reading.block))
			reading.has_block = false;
		result = assign_parse(err, file->form, buf_text(&text), text.size, add_setting, &reading);
	} else if (why.code != JW_ERR_NOT_FOUND && why.code != JW_ERR_UNSUPPORTED) {
		char line[sizeof why.message + 64];

		(void)text_format(line, sizeof line, "its settings are unknown: %s", why.message);
		add_warning(settings, line);
	}
	buf_free(&text);
	return result;
}

static int read_process(struct jw_error *err, struct jw_settings *settings)
{
	struct settings_reading reading = {.settings = settings, .source = "process", .where = ""};
	int result = 0;

	for (size_t i = 0; !result && assign_names[i]; i++) {
		char *value = cache_settings_own(assign_names[i]);

		if (value)
			result = add_variable(err, &reading, assign_names[i], value);
		mem_free(value);
	}
	return result;
}

/* ---- the files */

/* Takes `path` over. */
static int add_setting_file(struct jw_error *err, struct setting_files *files, const char *source,
							char *path, enum assign_form form)
{
	if (!path || VEC_ROOM(err, files->items, files->capacity, files->count, MOST_SETTINGS)) {
		mem_free(path);
		return -1;
	}
	files->items[files->count++] = (struct setting_file){path, source, form};
	return 0;
}

/* Adds every file of a folder with this ending, for units also drop-ins; owns `folder` */
static int add_folder(struct jw_error *err, struct setting_files *files, const char *source,
					  char *folder, const char *end, enum assign_form form)
{
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (!folder)
		return -1;
	if (!os_list(&why, folder, &names)) {
		for (size_t i = 0; !result && i < names.count; i++)
			if (names.kinds[i] == OS_REGULAR && text_ends(names.items[i], end))
				result =
					add_setting_file(err, files, source, os_join(folder, names.items[i]), form);
			else if (!strcmp(end, ".service") && names.kinds[i] == OS_DIRECTORY &&
					 text_ends(names.items[i], ".service.d"))
				result =
					add_folder(err, files, source, os_join(folder, names.items[i]), ".conf", form);
		os_names_free(&names);
	}
	mem_free(folder);
	return result;
}

/* In reading order: of the system (/), the account's configuration, and its home (.) */
static const struct {
	const char *path;
	const char *end;    /* of the files' names in a folder; NULL: a file */
	const char *source; /* NULL: a shell profile */
	enum assign_form form;
} known_files[] = {
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

int setting_files_list(struct jw_error *err, struct setting_files *ret_files)
{
	struct setting_files files = {0};
	char *profile = place_home_path(NULL, ".profile");
	bool there;
	/* Of a HOME that nobody may enter each file would be a warning; the cache's own says it. */
	const bool has_home = profile && !os_look(&files.home, profile, &there);
	int result = 0;

	mem_free(profile);
	for (size_t i = 0; !result && i < sizeof known_files / sizeof *known_files; i++) {
		const char *rest = known_files[i].path, *end = known_files[i].end,
				   *source = known_files[i].source ? known_files[i].source : "shell profile";
		char *path;

		if (*rest != '/' && !has_home)
			break;
		path = *rest == '/'              ? place_system_path(rest)
			   : text_starts(rest, ".z") ? place_zsh_path(err, rest)
			   : *rest == '.'            ? place_home_path(err, rest)
										 : place_config_path(err, rest);
		result = end ? add_folder(err, &files, source, path, end, known_files[i].form)
					 : add_setting_file(err, &files, source, path, known_files[i].form);
		if (*rest == '/')
			files.of_system = files.count;
	}
	if (result)
		setting_files_free(&files);
	else
		*ret_files = files;
	return result;
}

void setting_files_free(struct setting_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		mem_free(files->items[i].path);
	mem_free(files->items);
	*files = (struct setting_files){0};
}

static int read_setting_files(struct jw_error *err, struct jw_settings *settings,
							  const struct setting_files *files)
{
	int result = 0;

	for (size_t i = 0; !result && i < files->count; i++)
		result = read_file(err, settings, &files->items[i]);
	return result;
}

static int read_registry(struct jw_error *err, struct jw_settings *settings,
						 enum os_variables where, const char *source)
{
	struct settings_reading reading = {
		.settings = settings, .source = source, .where = os_variables_key(where)};
	int result = 0;

	for (size_t i = 0; !result && assign_names[i]; i++) {
		struct os_variable variable = {0};
		struct jw_error why = {0};

		result = os_variable_read(&why, where, assign_names[i], &variable)
					 ? 0
					 : add_variable(err, &reading, assign_names[i], variable.value);
		mem_free(variable.value);
	}
	return result;
}

int jw_settings_read(struct jw_error *err, struct jw_settings **ret_settings)
{
	struct jw_settings *settings = mem_alloc(sizeof *settings);
	struct setting_files files = {0};
	int result;

	result = read_process(err, settings);
	if (!result && os_variables_kept())
		result = read_registry(err, settings, OS_VARIABLES_MACHINE, "Windows machine") ||
				 read_registry(err, settings, OS_VARIABLES_USER, "Windows user");
	else if (!result)
		result = setting_files_list(err, &files) || read_setting_files(err, settings, &files);
	setting_files_free(&files);
	if (result) {
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
	struct setting_files files = {0};
	struct jw_error why = {0};
	char *own;
	int result;

	if (os_variables_kept()) {
		if (read_registry(err, settings, OS_VARIABLES_MACHINE, "Windows machine"))
			return -1;
		return read_registry(err, settings, OS_VARIABLES_USER, "Windows user");
	}
	result = add_setting_file(err, &files, "/etc/environment",
							  place_system_path("/etc/environment"), ASSIGN_LIST);
	own = result ? NULL : place_config_path(&why, "environment.d/60-jitwarm.conf");
	if (own && !state_check_writers(&why, own))
		result = add_setting_file(err, &files, "environment.d", own, ASSIGN_LIST);
	else
		mem_free(own);
	if (!result)
		result = read_setting_files(err, settings, &files);
	setting_files_free(&files);
	return result;
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
	struct jw_settings *settings = mem_alloc(sizeof *settings);
	int result = read_kept(err, settings);

	for (size_t i = 0; !result && i < sizeof names / sizeof *names; i++) {
		const char *kept = value_kept(settings, names[i]);
		char *own = os_env(names[i]);

		if (!own && kept)
			result = cache_settings_adopt(err, names[i], kept);
		mem_free(own);
	}
	jw_settings_free(settings);
	return result;
}

int jw_settings_take(struct jw_error *err, const char *name, const char *value)
{
	return cache_settings_adopt(err, name, value);
}

void jw_settings_free(struct jw_settings *settings)
{
	if (!settings)
		return;
	for (size_t i = 0; i < settings->count; i++) {
		mem_free(settings->items[i].name);
		mem_free(settings->items[i].value);
		mem_free(settings->items[i].where);
	}
	jw_lines_free(settings->warnings, settings->warning_count);
	mem_free(settings->items);
	mem_free(settings);
}
