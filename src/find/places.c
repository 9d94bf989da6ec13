#include <jitwarm/places.h>

#include <string.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/packages.h"
#include "base/text.h"
#include "find/python.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/process.h"

enum { MAX_NAMES = 10000, MAX_PLACES = 4096, MAX_NOTES = 100 };

/* An installation of conda, which is an environment, and the environments that it has made. */
#define CONDA(from, path)                                                                          \
	{"conda", NULL, from, path, NULL, NULL},                                                       \
	{                                                                                              \
		"conda", NULL, from, path "/envs", "", NULL                                                \
	}
/* Installations of conda under the names that its installers propose. */
#define CONDAS(from, above)                                                                        \
	CONDA(from, above "anaconda3"), CONDA(from, above "miniconda3"),                               \
		CONDA(from, above "miniforge3"), CONDA(from, above "mambaforge")

/* The places to search, for environments only if one is there. docs/commands.md has the source of
 * each. */
static const struct place_rule {
	const char *kind, *program; /* a NULL program stands for environments */
	/* "/"; "~" for the account's folder; ":ollama" for the folder of this program on PATH; or a
	 * variable, each part of which counts */
	const char *from, *path;
	/* Selects the names in it that begin like this, with or without "lib" before it, and the path
	 * below them; NULL for the path itself. */
	const char *names, *below;
} rules[] = {
	{"venv", NULL, "VIRTUAL_ENV", "", NULL, NULL},
	{"conda", NULL, "CONDA_PREFIX", "", NULL, NULL},
	{"venv", NULL, "WORKON_HOME", "", "", NULL},
	{"venv", NULL, "~", ".virtualenvs", "", NULL},
	{"venv", NULL, "~", ".venvs", "", NULL},
	{"venv", NULL, "~", ".local/share/virtualenvs", "", NULL},
	{"venv", NULL, "~", ".cache/pypoetry/virtualenvs", "", NULL},
	{"venv", NULL, "LOCALAPPDATA", "pypoetry/Cache/virtualenvs", "", NULL},
	{"conda", NULL, "MAMBA_ROOT_PREFIX", "", NULL, NULL},
	{"conda", NULL, "MAMBA_ROOT_PREFIX", "envs", "", NULL},
	{"conda", NULL, "CONDA_ENVS_PATH", "", "", NULL},
	CONDA("CONDA_EXE", ".."),
	CONDAS("~", ""),
	CONDAS("/", "opt/"),
	CONDA("/", "opt/conda"),
	CONDAS("LOCALAPPDATA", ""),
	CONDAS("ProgramData", ""),
	{"conda", NULL, "~", "micromamba/envs", "", NULL},
	{"conda", NULL, "~", ".conda/envs", "", NULL},
	{"conda", NULL, "~", ".pixi/envs", "", NULL},
	{"pipx", NULL, "PIPX_HOME", "venvs", "", NULL},
	{"pipx", NULL, "~", ".local/share/pipx/venvs", "", NULL},
	{"pipx", NULL, "~", ".local/pipx/venvs", "", NULL},
	{"pipx", NULL, "/", "opt/pipx/venvs", "", NULL},
	{"pipx", NULL, "~", "pipx/venvs", "", NULL},
	{"pipx", NULL, "LOCALAPPDATA", "pipx/pipx/venvs", "", NULL},
	{"uv", NULL, "UV_TOOL_DIR", "", "", NULL},
	{"uv", NULL, "~", ".local/share/uv/tools", "", NULL},
	{"uv", NULL, "APPDATA", "uv/tools", "", NULL},
	{"uv", NULL, "APPDATA", "uv/data/tools", "", NULL},
	{"uv", NULL, "UV_PYTHON_INSTALL_DIR", "", "", NULL},
	{"uv", NULL, "~", ".local/share/uv/python", "", NULL},
	{"uv", NULL, "APPDATA", "uv/python", "", NULL},
	{"uv", NULL, "APPDATA", "uv/data/python", "", NULL},
	{"pyenv", NULL, "PYENV_ROOT", "versions", "", NULL},
	{"pyenv", NULL, "~", ".pyenv/versions", "", NULL},
	{"pyenv", NULL, "~", ".pyenv/pyenv-win/versions", "", NULL},
	{"Python", NULL, "/", "usr", NULL, NULL},
	{"Python", NULL, "/", "usr/local", NULL, NULL},
	{"Python", NULL, "/", "opt", "", "bin/.."},
	{"Python", NULL, "LOCALAPPDATA", "Programs/Python", "", NULL},
	{"folder", "Python of the Store", "LOCALAPPDATA", "Packages",
	 "PythonSoftwareFoundation.Python.", "LocalCache/local-packages"},
};

/* ---- the list: each place once */

struct place_list {
	struct jw_places *places; /* owns all paths of the search, too */
	size_t capacity;
	struct jw_cancel cancel;
};

static void place_note(struct place_list *list, const char *text)
{
	struct jw_places *places = list->places;

	arena_add_string(places, &places->notes, &places->note_count, MAX_NOTES, text);
}

/* Adds a path to the place of this name, which is made if it is missing, unless there are too many.
 * A place that is an environment counts as one, no matter which rule finds it. Skips a path that is
 * already in the list. */
static void place_add(struct place_list *list, const char *kind, const char *name, bool environment,
					  const char *real)
{
	struct jw_places *places = list->places;
	struct jw_place *place = NULL;

	for (size_t i = 0; i < places->count && !place; i++) {
		struct jw_place *known = &places->items[i];

		if (known->environment == environment && !strcmp(known->name, name) &&
			(environment || !strcmp(known->kind, kind)))
			place = known;
	}
	if (!place) {
		if (ARENA_ROOM(NULL, places, places->items, list->capacity, places->count, MAX_PLACES))
			return;
		place = &places->items[places->count++];
		*place = (struct jw_place){
			.kind = kind, .name = arena_string(places, name), .environment = environment};
	}
	for (size_t i = 0; i < place->path_count; i++)
		if (!strcmp(place->paths[i], real))
			return;
	arena_add_string(places, &place->paths, &place->path_count, MAX_NAMES, real);
}

static void place_add_path(struct place_list *list, const char *kind, const char *name,
						   const char *path)
{
	char *real;

	if (!os_real_path(NULL, path, &real))
		place_add(list, kind, name, false, arena_keep(list->places, real));
}

/* Adds the environment at `path` and returns its kind, or NULL if there is none. A NULL `kind`
 * stands for the kind that it looks like. */
static const char *place_add_environment(struct place_list *list, const char *kind,
										 const char *path)
{
	const char *is;
	char *real;

	if (os_real_path(NULL, path, &real))
		return NULL;
	is = environment_kind(arena_keep(list->places, real));
	if (is)
		place_add(list, kind ? kind : is, real, true, real);
	return is;
}

/* ---- by the table */

static int take_match(struct jw_error *err, struct place_list *list, const struct place_rule *rule,
					  const char *path)
{
	if (cancel_check(err, &list->cancel))
		return -1;
	if (rule->program)
		place_add_path(list, rule->kind, rule->program, path);
	else
		(void)place_add_environment(list, rule->kind, path);
	return 0;
}

/* Returns whether a name begins with that of a rule, perhaps after “lib”. */
static bool fits_rule(const char *name, const char *wanted)
{
	return text_starts(name, wanted) || (text_starts(name, "lib") && text_starts(name + 3, wanted));
}

static int take_rule_names(struct jw_error *err, struct place_list *list,
						   const struct place_rule *rule, const char *folder)
{
	struct os_names names;
	int result = 0;

	if (os_list(NULL, folder, &names))
		return 0;
	for (size_t i = 0; names.count <= MAX_NAMES && i < names.count && !result; i++) {
		const bool fits =
			names.kinds[i] == OS_DIRECTORY || (names.kinds[i] == OS_REGULAR && rule->program);

		if (fits && fits_rule(names.items[i], rule->names))
			result =
				take_match(err, list, rule,
						   arena_printf(list->places, "%s/%s%s%s", folder, names.items[i],
										rule->below ? "/" : "", rule->below ? rule->below : ""));
	}
	os_names_free(&names);
	return result;
}

static int take_from(struct jw_error *err, struct place_list *list, const struct place_rule *rule,
					 const char *base)
{
	const char *folder = *rule->path ? arena_keep(list->places, os_join(base, rule->path)) : base;

	return rule->names ? take_rule_names(err, list, rule, folder)
					   : take_match(err, list, rule, folder);
}

/* Takes the folder of a program. */
static int take_program(struct jw_error *err, struct place_list *list,
						const struct place_rule *rule, const char *path)
{
	char *real;

	if (os_real_path(NULL, path, &real))
		return 0;
	(void)arena_keep(list->places, real);
	return take_from(err, list, rule, arena_keep(list->places, os_dir_name(real)));
}

/* Takes the places of one rule: below the root, the home, or each folder of a variable. */
static int take_rule(struct jw_error *err, struct place_list *list, const struct place_rule *rule)
{
	const bool on_path = *rule->from == ':', program = on_path || !strcmp(rule->from, "CONDA_EXE");
	const char *ending = os_list_separator == ';' ? ".exe" : "";
	const char *at, *member;
	char *folders;

	/* Any account may make "\\opt" on Windows' current drive. */
	if (!strcmp(rule->from, "/"))
		return os_is_whole_path("/") ? take_from(err, list, rule, "/") : 0;
	if (!strcmp(rule->from, "~")) {
		if (os_home_dir(NULL, &folders) || !os_is_absolute(arena_keep(list->places, folders)))
			return 0;
		return take_from(err, list, rule, folders);
	}
	folders = arena_keep(list->places, os_env(on_path ? "PATH" : rule->from));
	at = folders ? folders : "";
	while ((member = path_list_next(list->places, &at))) {
		if (!os_is_whole_path(member))
			continue;
		if (on_path)
			member = arena_printf(list->places, "%s/%s%s", member, rule->from + 1, ending);
		if (program ? take_program(err, list, rule, member) : take_from(err, list, rule, member))
			return -1;
	}
	return 0;
}

/* Takes the places of the rows “program” of packages.tsv. */
static int take_programs(struct jw_error *err, struct place_list *list)
{
	enum { FROM, PATH, NAMES, BELOW };
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next("program", &at));) {
		const char *const *values = fact->values, *names = values[NAMES];
		const struct place_rule rule = {.kind = "program",
										.program = fact->name,
										.from = values[FROM],
										.path = strcmp(values[PATH], ".") ? values[PATH] : "",
										.names = text_same(names, "*") ? "" : names,
										.below = values[BELOW]};

		if (take_rule(err, list, &rule))
			return -1;
	}
	return 0;
}

/* ---- conda's list */

static int take_conda_place(struct jw_error *err, void *context, const char *prefix)
{
	struct place_list *list = context;

	if (cancel_check(err, &list->cancel))
		return -1;
	(void)place_add_environment(list, "conda", prefix);
	return 0;
}

/* ---- folders */

/* The folders below, nearer ones first: if there are too many names, the farther ones are left
 * out. */
struct below {
	struct jw_places *owner;
	size_t depth, max_names; /* the most levels of folders, and the most names */
	bool one_device;         /* do not enter other file systems, which may not answer */
	uint64_t device;
	size_t names;
	struct below_folder {
		const char *path;
		size_t level;
	} * folders;
	size_t next, count, capacity;
};

static bool may_hold_environments(const char *name)
{
	static const char *const never[] = {
		"node_modules", "__pycache__", "site-packages", "dist-packages", "proc", "sys", "dev"};

	/* Hidden folders are skipped except projects' .venv; the table has the well-known ones. */
	if (name[0] == '.')
		return strcmp(name, ".venv") == 0;
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (!strcmp(name, never[i]))
			return false;
	return true;
}

/* Adds a folder for later. */
static int below_later(struct jw_error *err, struct below *below, const char *path)
{
	const size_t level = below->count ? below->folders[below->next].level + 1 : 0;

	if (ARENA_ROOM(err, below->owner, below->folders, below->capacity, below->count,
				   below->max_names + 1))
		return -1;
	below->folders[below->count++] = (struct below_folder){path, level};
	return 0;
}

/* Returns 1 if there are enough. */
static int below_take(struct jw_error *err, void *context, const char *name,
					  const struct os_stat *stat)
{
	struct below *below = context;

	if (++below->names > below->max_names)
		return 1;
	if (stat->kind != OS_DIRECTORY || !may_hold_environments(name) ||
		(below->one_device && stat->device != below->device))
		return 0;
	return below_later(err, below,
					   arena_keep(below->owner, os_join(below->folders[below->next].path, name)));
}

/* Searches one folder. The folders in an environment belong to it, except conda's `envs`; below an
 * installation (/usr) there may be other environments. A folder that this account cannot list
 * counts as empty. */
static int below_find(struct jw_error *err, struct below *below, struct place_list *list,
					  bool *ret_any)
{
	const struct below_folder folder = below->folders[below->next];
	const char *kind, *envs;

	if (cancel_check(err, &list->cancel))
		return -1;
	/* /lib is a link to the folder in /usr. */
	kind = strcmp(folder.path, "/") != 0 ? place_add_environment(list, NULL, folder.path) : NULL;
	*ret_any = *ret_any || kind;
	if (folder.level == below->depth || below->names > below->max_names)
		return 0;
	if (!kind || !strcmp(kind, "Python")) {
		if (!os_is_made_up(folder.path))
			(void)os_each(NULL, folder.path, below_take, below);
		return 0;
	}
	envs = arena_keep(below->owner, os_join(folder.path, "envs"));
	return os_exists(envs) ? below_later(err, below, envs) : 0;
}

/* Adds the environments below a folder, without following links. *ret_any is set if there are some,
 * even if they were known. */
static int place_below(struct jw_error *err, struct place_list *list, const char *folder,
					   struct below below, bool *ret_any)
{
	struct os_stat stat;
	int result;

	*ret_any = false;
	if (os_stat(NULL, folder, &stat))
		return 0;
	below.owner = list->places;
	below.device = stat.device;
	result = below_later(err, &below, folder);
	for (; !result && below.next < below.count; below.next++)
		result = below_find(err, &below, list, ret_any);
	if (!result && below.names > below.max_names)
		place_note(
			list,
			arena_printf(
				list->places,
				"%s has more than %zu files and folders near its top, so not all were searched; "
				"“jitwarm find DIR” searches below DIR",
				folder, below.max_names));
	return result;
}

/* Takes the environments near the home folder. */
static int take_home(struct jw_error *err, struct place_list *list)
{
	static const struct below near = {.depth = 3, .max_names = 20000, .one_device = true};
	char *home, *real;
	bool any;

	if (os_home_dir(NULL, &home) || os_real_path(NULL, arena_keep(list->places, home), &real))
		return 0;
	return place_below(err, list, arena_keep(list->places, real), near, &any);
}

static int take_folder(struct jw_error *err, struct place_list *list, const char *folder)
{
	static const struct below far = {.depth = 8, .max_names = 1000000};
	struct os_stat stat;
	char *real;
	bool any;

	if (os_real_path(err, folder, &real) ||
		place_below(err, list, arena_keep(list->places, real), far, &any))
		return -1;
	if (!any)
		place_add_path(list,
					   os_stat(NULL, real, &stat) || stat.kind != OS_REGULAR ? "folder" : "file",
					   real, real);
	return 0;
}

static int take_registered(struct jw_error *err, void *context, const char *prefix)
{
	(void)err;
	(void)place_add_environment(context, "Python", prefix);
	return 0;
}

static int take_usual(struct jw_error *err, struct place_list *list)
{
	struct jw_error unread = {0};

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (take_rule(err, list, &rules[i]))
			return -1;
	if (take_programs(err, list))
		return -1;
	if (conda_list_each(err, take_conda_place, list, &unread))
		return -1;
	if (unread.code)
		place_note(list, arena_printf(list->places, "%s: left out", unread.message));
	if (os_python_each(err, take_registered, list))
		return -1;
	return take_home(err, list);
}

int jw_places_find(struct jw_error *err, const struct jw_places_options *options,
				   struct jw_places **ret_places)
{
	struct place_list list = {.places = arena_open(sizeof *list.places), .cancel = options->cancel};
	int result = options->folder_count ? 0 : take_usual(err, &list);

	for (size_t i = 0; !result && i < options->folder_count; i++)
		result = take_folder(err, &list, options->folders[i]);
	if (!result && list.places->count == MAX_PLACES)
		place_note(&list, arena_printf(list.places,
									   "more than %d places were found: the others are left out",
									   MAX_PLACES));
	if (result)
		jw_result_free(list.places);
	else
		*ret_places = list.places;
	return result;
}
