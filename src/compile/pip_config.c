#include "compile/pip_config.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"

enum { MOST_VALUE = 1 << 16, MOST_NAME = 64, RANK_VARIABLE = 4 };

static const char blanks[] = " \t\r\n\f\v";

static const struct {
	const char *name;
	enum pip_option option;
} option_names[] = {
	{"index-url", PIP_INDEX_URL},       {"extra-index-url", PIP_EXTRA_INDEX_URL},
	{"no-index", PIP_NO_INDEX},         {"find-links", PIP_FIND_LINKS},
	{"trusted-host", PIP_TRUSTED_HOST}, {"cert", PIP_CERT},
	{"client-cert", PIP_CLIENT_CERT},   {"proxy", PIP_PROXY},
	{"timeout", PIP_TIMEOUT},           {"default-timeout", PIP_TIMEOUT},
	{"retries", PIP_RETRIES},
};

/* Sections by rank. A later file does not replace a value of a higher rank. */
static const char *const sections[RANK_VARIABLE] = {"", "global", "install", "download"};

/* An empty value is ignored. */
static int set(struct jw_error *err, struct pip_config *config, enum pip_option option,
			   unsigned char rank, const char *value)
{
	char *copy;

	if (!*value || rank < config->ranks[option])
		return 0;
	if (!(copy = mem_string(err, value)))
		return -1;
	mem_free(config->values[option]);
	config->values[option] = copy;
	config->ranks[option] = rank;
	return 0;
}

/* ---- a file: INI as Python's configparser reads it */

/* A key and its value, which may continue on indented lines. */
struct entry {
	unsigned char rank; /* of the section; 0: of another one */
	bool open;          /* an indented line belongs to it */
	size_t indent;
	int option; /* -1: another option */
	struct buf value;
};

/* Cuts blanks off both ends; returns the new beginning. */
static char *strip(char *text)
{
	char *start = text + strspn(text, blanks), *end = start + strlen(start);

	while (end > start && strchr(blanks, end[-1]))
		end--;
	*end = 0;
	return start;
}

static unsigned char section_rank(const char *name)
{
	for (size_t rank = 1; rank < RANK_VARIABLE; rank++)
		if (!strcmp(sections[rank], name))
			return (unsigned char)rank;
	return 0;
}

/* “--Index_URL” is index-url. -1: not one of these options. */
static int find_option(const char *name)
{
	char text[MOST_NAME];

	if (strlen(name) >= sizeof text)
		return -1;
	for (size_t at = 0; at <= strlen(name); at++)
		text[at] = (char)(name[at] == '_' ? '-' : tolower((unsigned char)name[at]));
	for (size_t i = 0; i < sizeof option_names / sizeof *option_names; i++)
		if (!strcmp(text_starts(text, "--") ? text + 2 : text, option_names[i].name))
			return (int)option_names[i].option;
	return -1;
}

static int finish_value(struct jw_error *err, struct pip_config *config, struct entry *entry)
{
	int option = entry->option;

	entry->option = -1;
	return option < 0 || !entry->rank
			   ? 0
			   : set(err, config, (enum pip_option)option, entry->rank, buf_text(&entry->value));
}

static int append_line(struct jw_error *err, struct buf *value, const char *text)
{
	return buf_printf(err, value, "%s%s", value->size ? "\n" : "", text);
}

/* A section, “key = value”, “key: value”, or a continued value. */
static int take_config_line(struct jw_error *err, struct pip_config *config, struct entry *entry,
							char *line)
{
	const size_t indent = strspn(line, blanks);
	char *text = strip(line), *end;

	if (!*text || *text == '#' || *text == ';')
		return 0;
	if (entry->open && indent > entry->indent)
		return append_line(err, &entry->value, text);
	if (finish_value(err, config, entry))
		return -1;
	entry->open = *text != '[';
	end = text + strcspn(text, entry->open ? "=:" : "]");
	if (!*end || end == text)
		return error_set(err, JW_ERR_FORMAT,
						 entry->open ? "neither a section nor “name = value”"
									 : "a section without its “]”");
	*end++ = 0;
	if (!entry->open) {
		entry->rank = section_rank(text + 1);
		return 0;
	}
	entry->option = find_option(strip(text));
	entry->indent = indent;
	buf_clear(&entry->value);
	return append_line(err, &entry->value, strip(end));
}

int pip_config_parse(struct jw_error *err, struct pip_config *config, const char *text, size_t size)
{
	struct entry entry = {.option = -1, .value = BUF_MAX(MOST_VALUE)};
	char *copy, *end;
	size_t number = 0;
	int result = 0;

	if (size && memchr(text, 0, size))
		return error_set(err, JW_ERR_FORMAT, "a NUL in it");
	if (!(copy = mem_string_n(err, text, size)))
		return -1;
	for (char *line = copy; !result && line; line = end) {
		if ((end = strchr(line, '\n')))
			*end++ = 0;
		number++;
		if ((result = take_config_line(err, config, &entry, line)))
			error_prefix(err, "line %zu", number);
	}
	if (!result)
		result = finish_value(err, config, &entry);
	buf_free(&entry.value);
	mem_free(copy);
	return result;
}

/* ---- where files are */

struct config_place {
	bool windows;
	bool user; /* replaced by PIP_CONFIG_FILE */
	bool list; /* the variable lists folders */
	const char *variable;
	const char *otherwise; /* "~/…": in the home folder, "$…": another variable; NULL: none */
	const char *file;
};

/* In pip's order. */
static const struct config_place places[] = {
	{.list = true, .variable = "XDG_CONFIG_DIRS", .otherwise = "/etc/xdg", .file = "pip/pip.conf"},
	{.otherwise = "/etc", .file = "pip.conf"},
	{.user = true, .otherwise = "~/.pip", .file = "pip.conf"},
	{.user = true, .variable = "XDG_CONFIG_HOME", .otherwise = "~/.config", .file = "pip/pip.conf"},
	{.variable = "VIRTUAL_ENV", .otherwise = "$CONDA_PREFIX", .file = "pip.conf"},
	{.windows = true, .variable = "ProgramData", .file = "pip\\pip.ini"},
	{.windows = true, .user = true, .variable = "USERPROFILE", .file = "pip\\pip.ini"},
	{.windows = true, .user = true, .variable = "APPDATA", .file = "pip\\pip.ini"},
	{.windows = true, .variable = "VIRTUAL_ENV", .otherwise = "$CONDA_PREFIX", .file = "pip.ini"},
};

/* Like pip, skips a file that is missing or unreadable. */
static int read_config_file(struct jw_error *err, struct pip_config *config, const char *path)
{
	struct buf text = {0};
	int result = 0;

	if (!os_read_file(NULL, path, PIP_MOST_FILE, &text)) {
		if (pip_config_parse(err, config, buf_text(&text), text.size))
			result = error_prefix(err, "%s", path);
		buf_free(&text);
	}
	return result;
}

char *pip_config_path(struct jw_error *err, const char *text)
{
	char *home = NULL, *path;

	if (!text_starts(text, "~/") || os_home_dir(NULL, &home))
		return mem_string(err, text);
	path = mem_printf(err, "%s%s", home, text + 1);
	mem_free(home);
	return path;
}

char *pip_config_variable(const char *name)
{
	char *value = os_env(name);

	if (!value || *value)
		return value;
	mem_free(value);
	return NULL;
}

static int read_place(struct jw_error *err, struct pip_config *config,
					  const struct config_place *place)
{
	char *list = place->variable ? pip_config_variable(place->variable) : NULL, *end, *path;
	int result = 0;

	if (!list && place->otherwise && *place->otherwise == '$')
		list = pip_config_variable(place->otherwise + 1);
	else if (!list && place->otherwise && !(list = pip_config_path(err, place->otherwise)))
		return -1;
	for (char *at = list; !result && at; at = end) {
		end = place->list ? strchr(at, os_list_separator) : NULL;
		if (end)
			*end++ = 0;
		path = mem_printf(err, "%s%c%s", at, os_separator, place->file);
		result = !path || (*at && read_config_file(err, config, path)) ? -1 : 0;
		mem_free(path);
	}
	mem_free(list);
	return result;
}

static int read_all_files(struct jw_error *err, struct pip_config *config)
{
	bool windows = !strcmp(os_name, "windows");
	char *named = os_env("PIP_CONFIG_FILE");
	bool user = !named || !os_exists(named);
	int result = 0;

	if (named && !strcmp(named, windows ? "nul" : "/dev/null")) {
		mem_free(named);
		return 0;
	}
	for (size_t i = 0; !result && i < sizeof places / sizeof *places; i++)
		if (places[i].windows == windows && (user || !places[i].user))
			result = read_place(err, config, &places[i]);
	if (!result && named)
		result = read_config_file(err, config, named);
	mem_free(named);
	return result;
}

static int read_variables(struct jw_error *err, struct pip_config *config)
{
	for (size_t i = 0; i < sizeof option_names / sizeof *option_names; i++) {
		char name[MOST_NAME] = "PIP_", *value;
		int result;

		for (size_t at = 0; option_names[i].name[at]; at++)
			name[4 + at] = (char)(option_names[i].name[at] == '-'
									  ? '_'
									  : toupper((unsigned char)option_names[i].name[at]));
		value = os_env(name);
		result = value ? set(err, config, option_names[i].option, RANK_VARIABLE, value) : 0;
		mem_free(value);
		if (result)
			return -1;
	}
	return 0;
}

int pip_config_load(struct jw_error *err, struct pip_config *ret_config)
{
	struct pip_config config = {{0}, {0}};

	if (read_all_files(err, &config) || read_variables(err, &config)) {
		pip_config_free(&config);
		return error_prefix(err, "pip's configuration");
	}
	*ret_config = config;
	return 0;
}

void pip_config_free(struct pip_config *config)
{
	for (size_t i = 0; i < PIP_OPTIONS; i++)
		mem_free(config->values[i]);
	*config = (struct pip_config){{0}, {0}};
}

bool pip_config_bool(const struct pip_config *config, enum pip_option option)
{
	static const char *const yes[] = {"y", "yes", "t", "true", "on", "1"};

	for (size_t i = 0; config->values[option] && i < sizeof yes / sizeof *yes; i++)
		if (text_equal_fold(config->values[option], yes[i]))
			return true;
	return false;
}

unsigned pip_config_number(const struct pip_config *config, enum pip_option option,
						   unsigned otherwise)
{
	uint64_t number;

	return config->values[option] && text_number(config->values[option], 86400, &number)
			   ? (unsigned)number
			   : otherwise;
}

char *pip_config_next(struct jw_error *err, const char **at)
{
	const char *start;

	if (!*at)
		return NULL;
	start = *at + strspn(*at, blanks);
	*at = start + strcspn(start, blanks);
	return *start ? mem_string_n(err, start, (size_t)(*at - start)) : NULL;
}
