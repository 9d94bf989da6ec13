#include "find/sites.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/python.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/process.h"

enum { MAX_MISSING = 400 }; /* the most bytes of a message about a variable */

static int is_folder(struct jw_error *err, const char *path, bool *ret_is)
{
	struct jw_error why = {0};
	struct os_stat stat;

	*ret_is = false;
	if (os_stat(&why, path, &stat))
		return os_ignore_unreadable(err, path, &why);
	*ret_is = stat.kind == OS_DIRECTORY;
	return 0;
}

static bool has_site(const struct sites *environment, const struct os_stat *stat)
{
	struct os_stat other;

	for (size_t i = 0; i < environment->count; i++)
		if (!os_stat(NULL, environment->items[i].path, &other) && other.device == stat->device &&
			other.inode == stat->inode)
			return true;
	return false;
}

/* Adds a folder if it exists and is new. The environment owns both paths. */
static int add_site(struct jw_error *err, struct sites *environment, char *path, char *root,
					bool whole)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat) || stat.kind != OS_DIRECTORY ||
		environment->count == SITES_MAX || has_site(environment, &stat))
		return os_ignore_unreadable(err, path, &why);
	environment->items[environment->count++] = (struct site){path, root, whole};
	return 0;
}

/* Adds PREFIX/LIB/python3.X/site-packages and dist-packages; only those of `version` ("3.11") and
 * Debian's "python3" unless it is NULL. */
static int add_lib(struct jw_error *err, struct sites *environment, char *prefix, const char *lib,
				   const char *version)
{
	const char *folder = arena_keep(environment, os_join(prefix, lib));
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	/* No packages were seen in it, which does not mean that there are none. */
	if (os_list(&why, folder, &names))
		return os_ignore_unreadable(err, folder, &why);
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i], *digits = name + strcspn(name, "0123456789");

		if (names.kinds[i] != OS_DIRECTORY ||
			(!text_starts(name, "python3") && !text_starts(name, "pypy3")) ||
			(version && *version && strcmp(digits, version) != 0 && strcmp(digits, "3") != 0))
			continue;
		result =
			add_site(err, environment,
					 arena_printf(environment, "%s/%s/site-packages", folder, name), prefix, true);
		if (!result)
			result = add_site(err, environment,
							  arena_printf(environment, "%s/%s/dist-packages", folder, name),
							  prefix, true);
	}
	os_names_free(&names);
	return result;
}

/* Adds the folders of one installation of Python. */
static int add_prefix(struct jw_error *err, struct sites *environment, char *prefix,
					  const char *version)
{
	/* Debian's python3 searches /usr/local first. */
	if (!strcmp(prefix, "/usr") &&
		add_lib(err, environment, arena_string(environment, "/usr/local"), "lib", version))
		return -1;
	if (add_lib(err, environment, prefix, "lib", version) ||
		add_lib(err, environment, prefix, "lib64", version))
		return -1;
	return add_site(err, environment, arena_printf(environment, "%s/Lib/site-packages", prefix),
					prefix, true);
}

/* Returns the folder into which the pip of Microsoft's Store installs:
 * %LOCALAPPDATA%\Packages\NAME_PUBLISHER\ LocalCache\local-packages, because nobody may write to
 * the installation, ...\WindowsApps\NAME_VERSION_MACHINE__PUBLISHER. NULL for other installations.
 * Source: Microsoft, "Package identity"; Python's documentation, "Using Python on Windows". */
static char *store_base(struct sites *environment, const char *prefix)
{
	const char *name = os_base_name(prefix), *rest = strchr(name, '_'),
			   *publisher = strstr(name, "__"),
			   *above = arena_keep(environment, os_dir_name(prefix)),
			   *local = arena_keep(environment, os_env("LOCALAPPDATA"));

	return local && publisher && rest < publisher &&
				   text_equal_fold(os_base_name(above), "WindowsApps")
			   ? arena_printf(environment, "%s/Packages/%.*s_%s/LocalCache/local-packages", local,
							  (int)(rest - name), name, publisher + 2)
			   : NULL;
}

/* Returns the folder with the packages of the account: PYTHONUSERBASE, else the Store's, else
 * ~/.local or %APPDATA%\Python; NULL if Python is to use none, or the account has none. */
static char *user_base(struct sites *environment, const char *prefix)
{
	const char *none = arena_keep(environment, os_env("PYTHONNOUSERSITE"));
	char *base = arena_keep(environment, os_env("PYTHONUSERBASE")), *home = NULL;

	if (none && *none)
		return NULL;
	if (base && *base)
		return base;
	if (os_is_windows && (base = store_base(environment, prefix)))
		return base;
	if (os_is_windows)
		home = os_env("APPDATA");
	if (!home && os_home_dir(NULL, &home))
		return NULL;
	return arena_keep(environment,
					  os_join(arena_keep(environment, home), os_is_windows ? "Python" : ".local"));
}

/* Adds BASE\Python311\site-packages for the prefix that has python311.dll. */
static int add_windows_sites(struct jw_error *err, struct sites *environment, const char *prefix,
							 char *base)
{
	struct os_names names;
	int result = 0;

	if (os_list(NULL, base, &names))
		return 0;
	for (size_t i = 0; !result && i < names.count; i++) {
		if (os_exists(arena_printf(environment, "%s/%s.dll", prefix, names.items[i])))
			result = add_site(
				err, environment,
				arena_printf(environment, "%s/%s/site-packages", base, names.items[i]), base, true);
	}
	os_names_free(&names);
	return result;
}

/* Adds ~/.local/lib/python3.X/site-packages or %APPDATA%\Python\Python311\site-packages. */
static int add_user_site(struct jw_error *err, struct sites *environment, const char *prefix,
						 const char *version)
{
	char *base = user_base(environment, prefix);

	if (base && add_lib(err, environment, base, "lib", version))
		return -1;
	return base && os_is_windows ? add_windows_sites(err, environment, prefix, base) : 0;
}

/* Adds the folders of PYTHONPATH, where clusters' module systems put frameworks. */
static int add_python_path(struct jw_error *err, struct sites *environment)
{
	const char *list = arena_keep(environment, os_env("PYTHONPATH")), *at = list ? list : "";
	char *path;

	while ((path = path_list_next(environment, &at)))
		if (os_is_absolute(path) && add_site(err, environment, path, path, false))
			return -1;
	return 0;
}

/* Adds the installation that a virtual environment was made from, if the environment may use its
 * packages. */
static int add_base(struct jw_error *err, struct sites *environment)
{
	const char *prefix = environment->prefix;
	char *shared, *home, *base;
	bool windows;

	if (pyvenv_value(err, environment, prefix, "include-system-site-packages", &shared) ||
		pyvenv_value(err, environment, prefix, "home", &home))
		return -1;
	if (!home || !shared || !text_equal_fold(shared, "true"))
		return 0;
	if (is_folder(err, arena_keep(environment, os_join(home, "Lib")), &windows))
		return -1;
	base = windows ? home : arena_keep(environment, os_dir_name(home));
	return add_user_site(err, environment, base, NULL) || add_prefix(err, environment, base, NULL)
			   ? -1
			   : 0;
}

static int fill_virtual(struct jw_error *err, struct sites *environment, char *prefix)
{
	environment->prefix = prefix;
	environment->label = arena_printf(environment, "the virtual environment %s", prefix);
	if (add_python_path(err, environment) || add_prefix(err, environment, prefix, NULL))
		return -1;
	return add_base(err, environment);
}

/* Returns "3.11" for an executable (NULL: the python3 of the prefix), by its real name
 * "python3.11"; "" if that lacks the version. */
static const char *version_in(struct sites *environment, const char *prefix, const char *executable)
{
	const char *name, *digits;
	char *real;

	if (os_real_path(NULL,
					 executable ? executable : arena_printf(environment, "%s/bin/python3", prefix),
					 &real))
		return "";
	name = os_base_name(arena_keep(environment, real));
	digits = name + strcspn(name, "0123456789");
	return strchr(digits, '.') && !digits[strspn(digits, "0123456789.")] ? digits : "";
}

static int fill_installation(struct jw_error *err, struct sites *environment, char *prefix,
							 const char *executable)
{
	const char *version = version_in(environment, prefix, executable);

	if (is_folder(err, arena_keep(environment, os_join(prefix, "conda-meta")), &environment->conda))
		return -1;
	environment->prefix = prefix;
	environment->installation = !environment->conda;
	environment->label = arena_printf(
		environment, environment->conda ? "the conda environment %s" : "the Python of %s", prefix);
	return add_python_path(err, environment) || add_user_site(err, environment, prefix, version) ||
				   add_prefix(err, environment, prefix, version)
			   ? -1
			   : 0;
}

/* Finds the folder that a variable names; NULL if it is unset, or if the folder does not exist,
 * which `missing` says. */
static int named_folder(struct jw_error *err, struct sites *environment, const char *variable,
						char **ret_folder, char missing[MAX_MISSING])
{
	const char *value = arena_keep(environment, os_env(variable));
	bool there;

	*ret_folder = NULL;
	if (!value || !*value)
		return 0;
	if (is_folder(err, value, &there))
		return -1;
	if (!there)
		(void)text_format(missing, MAX_MISSING, "%s is %.300s, which is not a folder", variable,
						  value);
	else if (!os_real_path(NULL, value, ret_folder))
		(void)arena_keep(environment, *ret_folder);
	return 0;
}

/* Finds the virtual or conda environment that the program is installed in; NULL if there is none.
 * An environment that pipx or uv made for the command contains nothing else and does not count. */
static int own_environment(struct jw_error *err, struct sites *environment, char **ret_prefix,
						   bool *ret_virtual)
{
	bool conda, pipx, uv;
	char *self, *prefix;

	if (os_self_path(NULL, &self))
		return 0;
	prefix = os_dir_name(arena_keep(environment, os_dir_name(arena_keep(environment, self))));
	(void)arena_keep(environment, prefix);
	if (python_has_mark(err, prefix, "pyvenv.cfg", ret_virtual) ||
		python_has_mark(err, prefix, "conda-meta", &conda) ||
		python_has_mark(err, prefix, "pipx_metadata.json", &pipx) ||
		python_has_mark(err, prefix, "uv-receipt.toml", &uv))
		return -1;
	if ((*ret_virtual || conda) && !pipx && !uv)
		*ret_prefix = prefix;
	return 0;
}

/* Accepts a folder that was not asked for by name only if it belongs to this account or root,
 * because anybody may make a folder in /tmp. NULL if it is not accepted. */
static char *take_ours(struct sites *environment, const char *path)
{
	struct os_stat stat;
	char *real;

	if (os_real_path(NULL, path, &real))
		return NULL;
	(void)arena_keep(environment, real);
	return !os_stat(NULL, real, &stat) && (!stat.owner || stat.owner == os_own_account()) ? real
																						  : NULL;
}

/* Finds .venv in the current folder, or in the nearest one above that has it, as uv does. NULL if
 * there is none. */
static int project_environment(struct jw_error *err, struct sites *environment, char **ret_prefix)
{
	char *folder;

	if (os_real_path(NULL, ".", &folder))
		return 0;
	for (const char *below = "";; below = folder, folder = os_dir_name(folder)) {
		const char *path = arena_keep(environment, os_join(folder, ".venv"));
		bool there;

		(void)arena_keep(environment, folder);
		if (!strcmp(below, folder))
			return 0;
		if (python_has_mark(err, path, "pyvenv.cfg", &there))
			return -1;
		if (there) {
			*ret_prefix = take_ours(environment, path);
			return 0;
		}
	}
}

static int fill_from_path(struct jw_error *err, const struct jw_cancel *cancel,
						  struct sites *environment)
{
	char *executable, *prefix;
	bool is_virtual;
	struct jw_error why = {0};

	if (python_on_path(&why, environment, cancel, &executable)) {
		/* On Windows, the registered Python (PEP 514) is used if there is none on PATH. */
		if (why.code != JW_ERR_NOT_FOUND || os_python_registered(NULL, &prefix))
			return error_copy(err, &why);
		return fill_installation(err, environment, arena_keep(environment, prefix), NULL);
	}
	if (python_prefix(err, environment, executable, &prefix, &is_virtual))
		return -1;
	return is_virtual ? fill_virtual(err, environment, prefix)
					  : fill_installation(err, environment, prefix, executable);
}

int sites_find(struct jw_error *err, struct found_list *list, struct sites **ret_environment)
{
	struct sites *environment = arena_open(sizeof *environment);
	char *prefix = NULL, missing[MAX_MISSING] = "";
	bool is_virtual = true;
	int result = named_folder(err, environment, "VIRTUAL_ENV", &prefix, missing);

	if (!result && !prefix) {
		is_virtual = false;
		result = named_folder(err, environment, "CONDA_PREFIX", &prefix, missing);
	}
	if (!result && !prefix) {
		is_virtual = true;
		result = project_environment(err, environment, &prefix);
		if (prefix)
			found_note(list, "%s is used: no other environment is active", prefix);
	}
	if (!result && !prefix)
		result = own_environment(err, environment, &prefix, &is_virtual);
	if (!result)
		result = !prefix      ? fill_from_path(err, &list->cancel, environment)
				 : is_virtual ? fill_virtual(err, environment, prefix)
							  : fill_installation(err, environment, prefix, NULL);
	if (result) {
		jw_result_free(environment);
		return -1;
	}
	/* Each answer about the environment then says why it is not the one that was meant. */
	if (*missing)
		environment->label = arena_printf(environment, "%s (%s)", environment->label, missing);
	*ret_environment = environment;
	return 0;
}

/* Source: conda's documentation, “Managing environments”. */
int conda_list_each(struct jw_error *err,
					int (*take)(struct jw_error *err, void *context, const char *prefix),
					void *context, struct jw_error *ret_unread)
{
	enum { MAX_LISTED = 1 << 20, MAX_LINES = 10000 };
	struct buf text = {0};
	char *home = NULL, *file = NULL;
	bool there = true;
	size_t lines = 0;
	int result = 0;

	*ret_unread = (struct jw_error){0};
	if (!os_home_dir(NULL, &home)) {
		file = os_join(home, ".conda/environments.txt");
		if (os_check_exists(NULL, file, &there) || there)
			(void)os_read_file(ret_unread, file, MAX_LISTED, &text);
	}
	for (const char *line = buf_text(&text); !result && *line;) {
		const size_t length = strcspn(line, "\r\n");
		char *prefix;

		if (lines++ == MAX_LINES) {
			error_set(ret_unread, JW_ERR_LIMIT, "%s: more than %d lines", file, (int)MAX_LINES);
			break;
		}
		prefix = mem_string_n(line, length);
		result = os_is_absolute(prefix) ? take(err, context, prefix) : 0;
		mem_free(prefix);
		line += length + strspn(line + length, "\r\n");
	}
	buf_free(&text);
	mem_free(file);
	mem_free(home);
	return result;
}

struct conda_name {
	const char *name;
	struct sites *environment;
	char *prefix; /* NULL if no list has it */
};

static int match_conda(struct jw_error *err, void *context, const char *prefix)
{
	struct conda_name *wanted = context;

	(void)err;
	if (wanted->prefix || strcmp(os_base_name(prefix), wanted->name) != 0)
		return 0;
	wanted->prefix = arena_string(wanted->environment, prefix);
	return 0;
}

static bool has_mark(const char *path, const char *mark)
{
	char *marked = os_join(path, mark);
	const bool has = os_exists(marked);

	mem_free(marked);
	return has;
}

const char *environment_kind(const char *path)
{
	if (has_mark(path, "pyvenv.cfg"))
		return "venv";
	if (has_mark(path, "conda-meta"))
		return "conda";
	return has_mark(path, "bin/python3") || has_mark(path, "python.exe") ? "Python" : NULL;
}

/* Returns the only environment directly inside a folder, such as python_embeded of ComfyUI's
 * portable version; NULL if there is none, or several. */
static const char *environment_inside(struct sites *owner, const char *dir)
{
	struct os_names names;
	const char *found = NULL;
	size_t count = 0;

	if (os_list(NULL, dir, &names))
		return NULL;
	for (size_t i = 0; i < names.count; i++) {
		const char *path = arena_keep(owner, os_join(dir, names.items[i]));

		if (names.kinds[i] == OS_DIRECTORY && environment_kind(path) && !count++)
			found = path;
	}
	os_names_free(&names);
	return count == 1 ? found : NULL;
}

/* Refuses a path inside an environment, such as .venv/bin/python, or a folder around one, and names
 * the environment. */
static int refuse_environment(struct jw_error *err, struct sites *owner, const char *dir)
{
	const char *meant = environment_inside(owner, dir), *above = dir;

	for (size_t i = 0; i < 2 && !meant; i++) {
		const char *kind;

		above = arena_keep(owner, os_dir_name(above));
		kind = environment_kind(above);
		meant = kind && strcmp(kind, "Python") != 0 ? above : NULL;
	}
	return meant
			   ? error_set(err, JW_ERR_USAGE,
						   "--environment %s: not an environment (did you mean --environment %s?)",
						   dir, meant)
			   : error_set(
					 err, JW_ERR_USAGE,
					 "--environment %s: not an environment; “jitwarm find” lists environments",
					 dir);
}

static int use_environment(struct jw_error *err, struct sites *inside, const char *dir)
{
	struct jw_error why = {0};
	struct conda_name named = {.name = dir, .environment = inside};
	const char *kind, *project;
	bool is_virtual;
	char *path;

	if (!strpbrk(dir, "/\\") && !os_exists(dir) && conda_list_each(err, match_conda, &named, &why))
		return -1;
	/* A list that could not be read may have had it. */
	if (!named.prefix && why.code)
		return error_set(err, why.code, "--environment %s: %s", dir, why.message);
	if (os_real_path(&why, named.prefix ? named.prefix : dir, &path))
		return error_set(err, why.code,
						 why.code == JW_ERR_NOT_FOUND ? "%s; “jitwarm find” lists environments"
													  : "%s",
						 why.message);
	kind = environment_kind(arena_keep(inside, path));
	/* The folder of a project stands for the environment that uv and others make in it, .venv. */
	project = arena_keep(inside, os_join(path, ".venv"));
	if (!kind && has_mark(project, "pyvenv.cfg") && !os_real_path(NULL, project, &path))
		kind = environment_kind(arena_keep(inside, path));
	if (add_prefix(err, inside, path, NULL))
		return -1;
	is_virtual = kind && !strcmp(kind, "venv");
	if (!kind && !inside->count)
		return refuse_environment(err, inside, dir);
	return os_env_set(err, "VIRTUAL_ENV", is_virtual ? path : NULL) ||
				   os_env_set(err, "CONDA_PREFIX", is_virtual ? NULL : path)
			   ? -1
			   : 0;
}

int jw_use_environment(struct jw_error *err, const char *dir)
{
	struct sites *inside = arena_open(sizeof *inside);
	const int result = use_environment(err, inside, dir);

	jw_result_free(inside);
	return result;
}

/* Reads the "3.11" of …/lib/python3.11/site-packages. */
static bool python_version_in(const char *path, char version[JW_PYTHON_VERSION])
{
	static const char mark[] = "python";
	const char *at = path;

	while ((at = strstr(at, mark))) {
		const char *number = at + strlen(mark);
		const size_t length = strspn(number, "0123456789.");

		at = number;
		if (length > 2 && length < JW_PYTHON_VERSION && number[1] == '.' &&
			os_is_separator(number[length])) {
			memcpy(version, number, length);
			version[length] = '\0';
			return true;
		}
	}
	return false;
}

bool jw_environment_python(char version[JW_PYTHON_VERSION])
{
	struct sites *environment = NULL;
	struct found_list list;
	bool found = false;

	found_open(&list);
	if (!sites_find(NULL, &list, &environment))
		for (size_t i = 0; i < environment->count && !found; i++)
			found = python_version_in(environment->items[i].path, version);
	jw_result_free(environment);
	jw_result_free(list.found);
	found_close(&list);
	return found;
}
