#include "cli/config.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/output.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

enum { MOST_CONFIG = 1 << 16, FILES = 2 };

static const struct config_value every_setting[CONFIG_SETTINGS] = {
	{.name = "registry", .help = "The place of “push” and “pull” if none is named"},
	{.name = "share", .help = "The place that “prime --share” would name, for every prime"},
	{.name = "share-unsigned",
	 .help = "Trust whoever can write to that place, also without a signature",
	 .kind = CONFIG_SWITCH},
	{.name = "plain-http",
	 .help = "The hosts to which plain HTTP is spoken: HOST or HOST:PORT",
	 .kind = CONFIG_LIST},
	{.name = "key", .help = "The key of --sign: one of “jitwarm key list”, or minisign's file"},
	{.name = "trusted-keys",
	 .help = "A folder of further public keys whose packs are accepted, NAME.pub each",
	 .variable = "JITWARM_TRUSTED_KEYS"},
	{.name = "passphrase-file", .help = "The file whose first line is that key's passphrase"},
	{.name = "jobs", .help = "How many workers compile; without it one per core"},
	{.name = "max-mem",
	 .help = "Memory for all workers together; without it three quarters of what is available"},
	{.name = "module-timeout",
	 .help =
		 "Give up on a module after this time; without it after forty times the prediction, ten "
		 "minutes at least"},
	{.name = "store",
	 .help = "Restore earlier results from the store, and add new ones; without it yes",
	 .kind = CONFIG_SWITCH,
	 .variable = "JITWARM_STORE"},
	{.name = "compilers",
	 .help = "The folder with the compilers of other CUDA versions",
	 .variable = "JITWARM_PTXAS"},
	{.name = "language", .help = "en or ko; without it the system's"},
};

/* "JITWARM_MAX_MEM" */
static char *name_of_variable(const struct config_value *setting)
{
	char *variable =
		setting->variable ? mem_string(setting->variable) : mem_printf("JITWARM_%s", setting->name);

	for (char *at = variable; *at; at++)
		*at = (char)(*at == '-' ? '_' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
	return variable;
}

/* ~/.config/jitwarm/config, and beside the system's root of the test beds /etc/jitwarm/config. */
static char *posix_settings(struct jw_error *err, int which)
{
	char *base = os_env(which ? "JITWARM_SYSTEM_ROOT" : "XDG_CONFIG_HOME"), *home = NULL, *path;

	if (which)
		path = mem_printf("%s/etc/jitwarm/config", base ? base : "");
	else if (base && os_is_absolute(base))
		path = mem_printf("%s/jitwarm/config", base);
	else
		path = os_home_dir(err, &home) ? NULL : mem_printf("%s/.config/jitwarm/config", home);
	mem_free(base);
	mem_free(home);
	return path;
}

/* Of the account (0), of the machine (1) */
static char *settings_path(struct jw_error *err, int which)
{
	char *base, *path;

	if (!os_is_windows)
		return posix_settings(err, which);
	base = os_env(which ? "ProgramData" : "APPDATA");
	path = base ? os_join(base, "jitwarm\\config") : NULL;
	mem_free(base);
	return path;
}

/* Takes both texts over. */
static void set_value(struct config_value *setting, char *value, char *origin)
{
	mem_free(setting->value);
	mem_free(setting->origin);
	setting->value = value;
	setting->origin = origin;
}

/* Cuts the blanks off both ends, in place. */
static char *bare(char *text)
{
	size_t length;

	while (text_is_blank(*text))
		text++;
	for (length = strlen(text); length && text_is_blank(text[length - 1]);)
		length--;
	text[length] = '\0';
	return text;
}

static int read_setting_line(struct jw_error *err, const struct output *output,
							 struct config *config, const char *path, unsigned number, char *line)
{
	char *equals = strchr(line, '='), *name;
	struct suggest nearest;

	line = bare(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (!equals)
		return error_set(err, JW_ERR_USAGE, "%s, line %u: no “=” in “%.100s”", path, number, line);
	*equals = '\0';
	name = bare(line);
	nearest = suggest_for(name, strlen(name));
	for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
		if (!strcmp(config->values[i].name, name)) {
			set_value(&config->values[i], mem_string(bare(equals + 1)),
					  mem_printf("%s, line %u", path, number));
			return 0;
		}
		suggest_offer(&nearest, every_setting[i].name);
	}
	if (nearest.best)
		output_warning(output, "%s, line %u: no setting is called “%.100s” (did you mean “%s”?)",
					   path, number, name, nearest.best);
	else
		output_warning(output, "%s, line %u: no setting is called “%.100s”", path, number, name);
	return 0;
}

static int read_config_file(struct jw_error *err, const struct output *output, int which,
							struct config *config, const char *path)
{
	struct buf text = {0};
	struct jw_error why = {0};
	struct os_stat stat;
	char *line;
	int result = 0;
	unsigned number = 0;

	/* Nor is there one in a home that this account may not enter. */
	if (os_stat(&why, path, &stat))
		return 0;
	/* The superuser's settings are nobody else's. The machine's are an administrator's on Windows,
	 * where every account may make folders in %ProgramData%. */
	if (os_read_file(&why, path, MOST_CONFIG, &text) ||
		((os_is_superuser() || (which && os_is_windows)) &&
		 os_check_private(&why, path, 0, false)) ||
		(text.size && memchr(text.data, 0, text.size) &&
		 error_set(&why, JW_ERR_FORMAT, "%s: not UTF-8", path))) {
		buf_free(&text);
		output_warning(output, "settings are not read: %s", why.message);
		return 0;
	}
	line = text.size ? (char *)text.data : NULL;
	/* Windows' shells begin a file with the mark of its order of bytes. */
	if (line && text_starts(line, "\xef\xbb\xbf"))
		line += 3;
	for (char *next; line && !result; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		result = read_setting_line(err, output, config, path, ++number, line);
	}
	buf_free(&text);
	return result;
}

/* $JITWARM_… comes before a file's value; what the library reads there itself it finds there. */
static int take_setting_variable(struct jw_error *err, struct config_value *setting)
{
	char *variable = name_of_variable(setting), *value = os_env(variable);
	int result = 0;

	if (value && *value) {
		set_value(setting, value, variable);
		return 0;
	}
	mem_free(value);
	if (setting->variable && setting->value)
		result = os_env_set(err, variable,
							setting->kind != CONFIG_SWITCH ? setting->value
							: config_is_on(setting)        ? "1"
														   : "0");
	mem_free(variable);
	return result;
}

static bool is_one_of(const char *text, const char *const words[])
{
	for (; *words; words++)
		if (text_equal_fold(text, *words))
			return true;
	return false;
}

static const char *const words_on[] = {"yes", "on", "true", "1", NULL};
static const char *const words_off[] = {"no", "off", "false", "0", NULL};

bool config_is_on(const struct config_value *setting)
{
	return is_one_of(setting->value, words_on);
}

/* A list's values become strings of their own. */
static int check_setting(struct jw_error *err, struct config_value *setting)
{
	char *list, *to;

	if (setting->kind == CONFIG_SWITCH && !is_one_of(setting->value, words_on) &&
		!is_one_of(setting->value, words_off))
		return error_set(err, JW_ERR_USAGE, "%s (%s) takes yes or no, not “%.200s”", setting->name,
						 setting->origin, setting->value);
	if (setting->kind != CONFIG_LIST)
		return 0;
	list = to = mem_array(strlen(setting->value) + 2, 1);
	for (const char *at = setting->value; *at;) {
		const size_t length = strcspn(at, " \t,");

		memcpy(to, at, length);
		to += length + (length > 0);
		at += length + (at[length] != '\0');
	}
	mem_free(setting->value);
	setting->value = list;
	return 0;
}

const char *config_next(const struct config_value *setting, const char *value)
{
	const char *next = value + strlen(value) + 1;

	return setting->kind == CONFIG_LIST && *next ? next : NULL;
}

int config_paths(struct jw_error *err, char **ret_account, char **ret_machine)
{
	struct jw_error why = {0};

	*ret_account = settings_path(&why, 0);
	*ret_machine = settings_path(err, 1);
	return *ret_machine ? 0 : -1;
}

int config_read(struct jw_error *err, const struct output *output, struct config *ret_config)
{
	memcpy(ret_config->values, every_setting, sizeof every_setting);
	for (int which = FILES - 1; which >= 0; which--) {
		struct jw_error why = {0};
		char *path = settings_path(&why, which);
		/* Without a home folder there is no file in it. */
		const int result = path ? read_config_file(err, output, which, ret_config, path) : 0;

		mem_free(path);
		if (result)
			return -1;
	}
	for (size_t i = 0; i < CONFIG_SETTINGS; i++)
		if (take_setting_variable(err, &ret_config->values[i]) ||
			(ret_config->values[i].value && check_setting(err, &ret_config->values[i])))
			return -1;
	return 0;
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
		mem_free(config->values[i].value);
		mem_free(config->values[i].origin);
	}
	*config = (struct config){0};
}

const struct config_value *config_find(const struct config *config, const char *name)
{
	for (size_t i = 0; i < CONFIG_SETTINGS; i++)
		if (config->values[i].name && config->values[i].value &&
			!strcmp(config->values[i].name, name))
			return &config->values[i];
	return NULL;
}
