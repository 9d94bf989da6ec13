#include "cli/config.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/language.h"
#include "cli/output.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"
#include "os/private.h"
#include "os/process.h"

enum { MAX_CONFIG = 1 << 16, FILES = 2 };

/* the mark with which Windows' shells begin a file */
#define ORDER_MARK "\xef\xbb\xbf"

static const struct config_value every_setting[CONFIG_SETTINGS] = {
	{.name = "key", .help = "The key of --sign: one of “jitwarm key list”, or minisign's file"},
	{.name = "trusted-keys",
	 .help = "A folder with more public keys (files NAME.pub) whose packs are accepted",
	 .kind = CONFIG_FOLDER},
	{.name = "jobs", .help = "The number of workers that compile; the default is one per core"},
	{.name = "max-mem",
	 .help =
		 "Memory for all workers together; the default is three quarters of the available memory"},
	{.name = "module-timeout",
	 .help = "Give up on a module after this time; the default is forty times the predicted time, "
			 "ten minutes at least"},
	{.name = "store",
	 .help =
		 "Restore earlier results from the store, and add new results: yes (the default), no, or "
		 "a folder that every “prime” uses as well, as with --store DIR",
	 .kind = CONFIG_STORE},
	{.name = "compilers",
	 .help = "The folder with the compilers of other CUDA versions",
	 .kind = CONFIG_FOLDER,
	 .variable = "JITWARM_PTXAS"},
	{.name = "trust-accounts",
	 .help =
		 "Let root use files that other accounts can change, in a container whose folders belong "
		 "to them: these accounts can then run code as root",
	 .kind = CONFIG_SWITCH},
	{.name = "language",
	 .help = "en or ko; the default is the system's language",
	 .kind = CONFIG_LANGUAGE},
};

/* Returns ~/.config/jitwarm/config, or /etc/jitwarm/config, below the tests' system root if there
 * is one. */
static char *posix_settings(struct jw_error *err, void *owner, int which)
{
	const char *base = arena_keep(owner, os_env(which ? "JITWARM_SYSTEM_ROOT" : "XDG_CONFIG_HOME"));
	char *home;

	if (which)
		return arena_printf(owner, "%s/etc/jitwarm/config", base ? base : "");
	if (base && os_is_absolute(base))
		return arena_keep(owner, os_join(base, "jitwarm/config"));
	if (os_home_dir(err, &home))
		return NULL;
	return arena_keep(owner, os_join(arena_keep(owner, home), ".config/jitwarm/config"));
}

/* Returns the path of the account's file (0), or of the machine's (1). */
static char *settings_path(struct jw_error *err, void *owner, int which)
{
	const char *base;

	if (!os_is_windows)
		return posix_settings(err, owner, which);
	base = arena_keep(owner, os_env(which ? "ProgramData" : "APPDATA"));
	if (base)
		return arena_keep(owner, os_join(base, "jitwarm\\config"));
	error_set(err, JW_ERR_NOT_FOUND, "%s is not set", which ? "ProgramData" : "APPDATA");
	return NULL;
}

/* Removes the blanks at both ends, in place. */
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

/* Returns the number of the setting; CONFIG_SETTINGS if there is none, and then *ret_meant (or
 * NULL) is the nearest one. */
static size_t setting_called(const char *name, const char **ret_meant)
{
	struct suggest nearest = suggest_for(name, strlen(name));
	size_t i = 0;

	for (; i < CONFIG_SETTINGS && strcmp(every_setting[i].name, name) != 0; i++)
		suggest_offer(&nearest, every_setting[i].name);
	*ret_meant = nearest.best;
	return i;
}

static void add_fault(struct config *config, const char *path, unsigned line, const char *text,
					  bool no_equals)
{
	if (!ARENA_ROOM(NULL, config->owner, config->faults, config->fault_capacity,
					config->fault_count, MAX_CONFIG * FILES))
		config->faults[config->fault_count++] = (struct config_fault){
			arena_string(config->owner, path), line, arena_string(config->owner, text), no_equals};
}

static void read_setting_line(struct config *config, const char *path, unsigned number, char *line)
{
	char *equals = strchr(line, '='), *name;
	const char *nearest;
	size_t at;

	line = bare(line);
	if (!*line || *line == '#' || *line == ';')
		return;
	if (!equals) {
		add_fault(config, path, number, line, true);
		return;
	}
	*equals = '\0';
	name = bare(line);
	at = setting_called(name, &nearest);
	if (at < CONFIG_SETTINGS) {
		config->values[at].value = arena_string(config->owner, bare(equals + 1));
		config->values[at].origin = arena_printf(config->owner, "%s, line %u", path, number);
	} else {
		add_fault(config, path, number, name, false);
	}
}

/* Reads a file that only root can change; on Windows, where every account may make folders in
 * %ProgramData%, that counts for the machine's file in every account. */
static int read_trusted(struct jw_error *err, int which, const char *path, struct buf *text)
{
	return (which ? os_guard_for_all(err, path) : os_guard(err, path)) ||
				   os_read_file(err, path, MAX_CONFIG, text) ||
				   (text->size && memchr(text->data, 0, text->size) &&
					error_set(err, JW_ERR_FORMAT, "%s: not UTF-8", path))
			   ? -1
			   : 0;
}

static void read_config_file(int which, struct config *config, const char *path)
{
	struct buf text = {0};
	struct jw_error why = {0};
	struct os_stat stat;
	char *line;
	unsigned number = 0;

	/* A home that this account may not enter has no file, either. */
	if (os_stat(&why, path, &stat))
		return;
	if (read_trusted(&why, which, path, &text)) {
		add_fault(config, path, 0, why.message, false);
		buf_free(&text);
		return;
	}
	line = text.size ? (char *)text.data : NULL;
	if (line && text_starts(line, ORDER_MARK))
		line += strlen(ORDER_MARK);
	for (char *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		read_setting_line(config, path, ++number, line);
	}
	buf_free(&text);
}

/* Takes the value of $JITWARM_MAX_MEM and the like, which comes before a file's value. */
static void take_setting_variable(void *owner, struct config_value *setting)
{
	char *variable = setting->variable ? arena_string(owner, setting->variable)
									   : arena_printf(owner, "JITWARM_%s", setting->name);
	char *value;

	for (char *at = variable; *at; at++)
		*at = (char)(*at == '-' ? '_' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
	value = arena_keep(owner, os_env(variable));
	if (value && *value) {
		setting->value = value;
		setting->origin = variable;
	}
}

static bool is_word_of(const char *text, const char *const words[])
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
	return is_word_of(setting->value, words_on);
}

const char *config_store_folder(const struct config *config)
{
	const struct config_value *setting = config_find(config, "store");

	return setting && !is_word_of(setting->value, words_on) &&
				   !is_word_of(setting->value, words_off)
			   ? setting->value
			   : NULL;
}

static int check_setting(struct jw_error *err, const struct config_value *setting)
{
	if (setting->kind == CONFIG_SWITCH && !is_word_of(setting->value, words_on) &&
		!is_word_of(setting->value, words_off))
		return error_set(err, JW_ERR_USAGE, "%s (%s) takes yes or no, not “%.200s”", setting->name,
						 setting->origin, setting->value);
	if (setting->kind == CONFIG_LANGUAGE && !language_is_known(setting->value))
		return error_set(err, JW_ERR_USAGE, "%s (%s) takes en or ko, not “%.200s”", setting->name,
						 setting->origin, setting->value);
	/* In a later current folder, another account's may have that name. */
	if (setting->kind == CONFIG_FOLDER && !text_starts(setting->origin, "JITWARM_") &&
		!os_is_whole_path(setting->value))
		return error_set(err, JW_ERR_USAGE,
						 "%s (%s) takes the whole path of a folder, not “%.200s”", setting->name,
						 setting->origin, setting->value);
	/* A mistyped word is not taken for a folder. */
	if (setting->kind == CONFIG_STORE && !is_word_of(setting->value, words_on) &&
		!is_word_of(setting->value, words_off) && !os_is_whole_path(setting->value))
		return error_set(err, JW_ERR_USAGE,
						 "%s (%s) takes yes, no or the whole path of a folder, not “%.200s”",
						 setting->name, setting->origin, setting->value);
	return 0;
}

int config_paths(struct jw_error *err, void *owner, char **ret_account, char **ret_machine)
{
	struct jw_error why = {0};

	*ret_account = settings_path(&why, owner, 0);
	*ret_machine = settings_path(err, owner, 1);
	return *ret_machine ? 0 : -1;
}

static bool lifts_door(const struct config *config)
{
	const char *nearest;
	struct config_value setting = config->values[setting_called("trust-accounts", &nearest)];
	char *variable = arena_keep(config->owner, os_env("JITWARM_TRUST_ACCOUNTS"));

	if (variable && *variable)
		setting.value = variable;
	return setting.value && config_is_on(&setting);
}

void config_read(struct config *ret_config, void (*lift)(bool lifted))
{
	*ret_config = (struct config){.owner = arena_open(0)};
	memcpy(ret_config->values, every_setting, sizeof every_setting);
	lift(lifts_door(ret_config));
	for (int which = FILES - 1; which >= 0; which--) {
		struct jw_error why = {0};
		const char *path = settings_path(&why, ret_config->owner, which);

		/* Without a home folder there is no file in it. */
		if (path)
			read_config_file(which, ret_config, path);
		lift(lifts_door(ret_config));
	}
	for (size_t i = 0; i < CONFIG_SETTINGS; i++)
		take_setting_variable(ret_config->owner, &ret_config->values[i]);
}

static int check_config(struct jw_error *err, const struct output *output,
						const struct config *config)
{
	for (size_t i = 0; i < config->fault_count; i++) {
		const struct config_fault *fault = &config->faults[i];
		const char *nearest = NULL;

		if (fault->no_equals)
			return error_set(err, JW_ERR_USAGE,
							 "%s, line %u: no “=” in “%.100s”; write “name = value”", fault->path,
							 fault->line, fault->text);
		if (fault->line)
			(void)setting_called(fault->text, &nearest);
		if (!fault->line)
			output_warning(output, "the settings were not read: %s", fault->text);
		else if (nearest)
			output_warning(output,
						   "%s, line %u: no setting is called “%.100s” (did you mean “%s”?); see "
						   "“jitwarm config --help”",
						   fault->path, fault->line, fault->text, nearest);
		else
			output_warning(output,
						   "%s, line %u: no setting is called “%.100s”; see “jitwarm config "
						   "--help”",
						   fault->path, fault->line, fault->text);
	}
	for (size_t i = 0; i < CONFIG_SETTINGS; i++)
		if (config->values[i].value && check_setting(err, &config->values[i]))
			return -1;
	return 0;
}

int config_check(struct jw_error *err, const struct output *output, const struct config *config)
{
	struct jw_error why;

	return check_config(&why, output, config)
			   ? error_set(err, why.code, "%s; see “jitwarm config --help”", why.message)
			   : 0;
}

static int no_such_setting(struct jw_error *err, const char *name, const char *nearest)
{
	if (nearest)
		return error_set(err, JW_ERR_USAGE, "no setting is called “%.100s” (did you mean “%s”?)",
						 name, nearest);
	return error_set(
		err, JW_ERR_USAGE,
		"no setting is called “%.100s”: “jitwarm config” lists them, “jitwarm config NAME "
		"VALUE” sets one",
		name);
}

int config_has(struct jw_error *err, const char *name)
{
	const char *nearest;

	return setting_called(name, &nearest) < CONFIG_SETTINGS ? 0
															: no_such_setting(err, name, nearest);
}

int config_one(struct jw_error *err, const char *name, const char *value, const char *origin,
			   struct config *ret_one)
{
	const char *nearest;
	const size_t at = setting_called(name, &nearest);

	*ret_one = (struct config){.owner = arena_open(0)};
	memcpy(ret_one->values, every_setting, sizeof every_setting);
	if (config_has(err, name))
		return -1;
	if (!*value || strpbrk(value, "\r\n"))
		return error_set(err, JW_ERR_USAGE, "%s needs a value of one line that is not empty", name);
	ret_one->values[at].value = arena_string(ret_one->owner, value);
	ret_one->values[at].origin = arena_string(ret_one->owner, origin);
	return check_setting(err, &ret_one->values[at]);
}

static const char *next_config_line(const char *line)
{
	const char *feed = strchr(line, '\n');

	return feed ? feed + 1 : line + strlen(line);
}

static bool line_sets(const char *line, const char *name)
{
	char *copy = mem_string_n(line, (size_t)(next_config_line(line) - line)),
		 *equals = strchr(copy, '=');
	bool sets = false;

	if (equals) {
		*equals = '\0';
		sets = !strcmp(bare(copy), name);
	}
	mem_free(copy);
	return sets;
}

/* Changes the lines of a name: the last one, which counts, gets the value; if there is none, a line
 * is added at the end. Without a value all lines of the name are removed. Returns the number of the
 * last line that was changed, added or removed; 0 if there was none to remove. */
static unsigned change_lines(const char *old, const char *name, const char *value, struct buf *text)
{
	const size_t mark = text_starts(old, ORDER_MARK) ? strlen(ORDER_MARK) : 0;
	const char *feed = strstr(old, "\r\n") ? "\r\n" : "\n";
	unsigned last = 0, number = 0;

	for (const char *line = old + mark; *line; line = next_config_line(line)) {
		number++;
		last = line_sets(line, name) ? number : last;
	}
	buf_add(text, "%.*s", (int)mark, old);
	number = 0;
	for (const char *line = old + mark; *line; line = next_config_line(line)) {
		number++;
		if (value && number == last)
			buf_add(text, "%s = %s%s", name, value, feed);
		else if (value || !line_sets(line, name))
			buf_add(text, "%.*s", (int)(next_config_line(line) - line), line);
	}
	if (!value || last)
		return last;
	if (number && text->data[text->size - 1] != '\n')
		buf_add(text, "%s", feed);
	buf_add(text, "%s = %s%s", name, value, feed);
	return number + 1;
}

int config_write(struct jw_error *err, bool machine, const char *name, const char *value,
				 unsigned *ret_line)
{
	void *owner = arena_open(0);
	const char *path = settings_path(err, owner, machine), *folder;
	struct buf old = {0}, text = BUF_MAX(MAX_CONFIG);
	unsigned line = 0;
	bool there;
	int result = -1;

	/* A file that would not be read is not written either. */
	if (!path || os_check_exists(err, path, &there) ||
		(there && read_trusted(err, machine, path, &old)))
		goto done;
	line = change_lines(buf_text(&old), name, value, &text);
	folder = arena_keep(owner, os_dir_name(path));
	if (text.overflowed)
		error_set(err, JW_ERR_LIMIT, "%s: more than %d KiB", path, MAX_CONFIG >> 10);
	else if (!line)
		result = config_has(err, name);
	else if (!os_make_dirs(err, folder, machine ? 0755 : 0700))
		result = os_rewrite_mode(err, path, text.data, text.size, machine ? 0644 : 0600);
done:
	*ret_line = line;
	buf_free(&old);
	buf_free(&text);
	jw_result_free(owner);
	return result;
}

int config_remove(struct jw_error *err, void *owner, bool dry_run, char **ret_path)
{
	struct jw_error why = {0};
	struct os_stat stat;
	char *path = settings_path(&why, owner, 0);

	*ret_path = NULL;
	if (!path || os_stat(&why, path, &stat) || stat.kind == OS_DIRECTORY)
		return 0;
	if (os_guard(err, path) || (!dry_run && os_remove(err, path)))
		return -1;
	if (!dry_run)
		(void)os_remove_empty_dir(NULL, arena_keep(owner, os_dir_name(path)));
	*ret_path = path;
	return 0;
}

void config_free(struct config *config)
{
	jw_result_free(config->owner);
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
