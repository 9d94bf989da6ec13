#include "find/sites.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>

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

void sites_free(struct sites *environment)
{
	mem_free(environment->label);
	mem_free(environment->prefix);
	for (size_t i = 0; i < environment->count; i++) {
		mem_free(environment->items[i].path);
		mem_free(environment->items[i].root);
	}
	*environment = (struct sites){0};
}

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

/* Adds a folder if it exists and is new. Takes ownership of `path`. */
static int add_site(struct jw_error *err, struct sites *environment, char *path, const char *root,
					bool whole)
{
	struct site site = {.path = path, .whole = whole};
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat) || stat.kind != OS_DIRECTORY ||
		environment->count == SITES_MAX || has_site(environment, &stat)) {
		int result = os_ignore_unreadable(err, path, &why);

		mem_free(path);
		return result;
	}
	site.root = mem_string(root);
	environment->items[environment->count++] = site;
	return 0;
}

/* Adds PREFIX/LIB/python3.X/site-packages and dist-packages; only those of `version` ("3.11") and
 * Debian's "python3" unless it is NULL. */
static int add_lib(struct jw_error *err, struct sites *environment, const char *prefix,
				   const char *lib, const char *version)
{
	char *folder = os_join(prefix, lib);
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	/* No packages were seen in it, which does not mean that there are none. */
	if (os_list(&why, folder, &names)) {
		result = os_ignore_unreadable(err, folder, &why);
	} else {
		for (size_t i = 0; !result && i < names.count; i++) {
			const char *name = names.items[i], *digits = name + strcspn(name, "0123456789");

			if (names.kinds[i] != OS_DIRECTORY ||
				(!text_starts(name, "python3") && !text_starts(name, "pypy3")) ||
				(version && *version && strcmp(digits, version) != 0 && strcmp(digits, "3") != 0))
				continue;
			result = add_site(err, environment, mem_printf("%s/%s/site-packages", folder, name),
							  prefix, true);
			if (!result)
				result = add_site(err, environment, mem_printf("%s/%s/dist-packages", folder, name),
								  prefix, true);
		}
		os_names_free(&names);
	}
	mem_free(folder);
	return result;
}

/* Adds the folders of one installation of Python. */
static int add_prefix(struct jw_error *err, struct sites *environment, const char *prefix,
					  const char *version)
{
	/* Debian's python3 searches /usr/local first. */
	if (!strcmp(prefix, "/usr") && add_lib(err, environment, "/usr/local", "lib", version))
		return -1;
	if (add_lib(err, environment, prefix, "lib", version) ||
		add_lib(err, environment, prefix, "lib64", version))
		return -1;
	return add_site(err, environment, mem_printf("%s/Lib/site-packages", prefix), prefix, true);
}

/* Returns the folder into which the pip of Microsoft's Store installs:
 * %LOCALAPPDATA%\Packages\NAME_PUBLISHER\ LocalCache\local-packages, because nobody may write to
 * the installation, ...\WindowsApps\NAME_VERSION_MACHINE__PUBLISHER. NULL for other installations.
 * Source: Microsoft, "Package identity"; Python's documentation, "Using Python on Windows". */
static char *store_base(const char *prefix)
{
	const char *name = os_base_name(prefix), *rest = strchr(name, '_'),
			   *publisher = strstr(name, "__");
	char *above = os_dir_name(prefix), *local = os_env("LOCALAPPDATA"), *base = NULL;

	if (local && publisher && rest < publisher &&
		text_equal_fold(os_base_name(above), "WindowsApps"))
		base = mem_printf("%s/Packages/%.*s_%s/LocalCache/local-packages", local,
						  (int)(rest - name), name, publisher + 2);
	mem_free(above);
	mem_free(local);
	return base;
}

/* Returns the folder with the packages of the account: PYTHONUSERBASE, else the Store's, else
 * ~/.local or %APPDATA%\Python; NULL if Python is to use none, or the account has none. */
static char *user_base(const char *prefix)
{
	char *none = os_env("PYTHONNOUSERSITE"), *base = NULL, *home = NULL;
	const bool is_used = !none || !*none;

	mem_free(none);
	if (!is_used)
		return NULL;
	base = os_env("PYTHONUSERBASE");
	if (base && *base)
		return base;
	mem_free(base);
	if (os_is_windows && (base = store_base(prefix)))
		return base;
	if (os_is_windows)
		home = os_env("APPDATA");
	if (!home && os_home_dir(NULL, &home))
		return NULL;
	base = os_join(home, os_is_windows ? "Python" : ".local");
	mem_free(home);
	return base;
}

/* Adds BASE\Python311\site-packages for the prefix that has python311.dll. */
static int add_windows_sites(struct jw_error *err, struct sites *environment, const char *prefix,
							 const char *base)
{
	struct os_names names;
	int result = 0;

	if (os_list(NULL, base, &names))
		return 0;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *library = mem_printf("%s/%s.dll", prefix, names.items[i]);

		if (os_exists(library))
			result = add_site(err, environment,
							  mem_printf("%s/%s/site-packages", base, names.items[i]), base, true);
		mem_free(library);
	}
	os_names_free(&names);
	return result;
}

/* Adds ~/.local/lib/python3.X/site-packages or %APPDATA%\Python\Python311\site-packages. */
static int add_user_site(struct jw_error *err, struct sites *environment, const char *prefix,
						 const char *version)
{
	char *base = user_base(prefix);
	int result = base ? add_lib(err, environment, base, "lib", version) : 0;

	if (!result && base && os_is_windows)
		result = add_windows_sites(err, environment, prefix, base);
	mem_free(base);
	return result;
}

/* Adds the folders of PYTHONPATH, where clusters' module systems put frameworks. */
static int add_python_path(struct jw_error *err, struct sites *environment)
{
	char *list = os_env("PYTHONPATH"), *path;
	const char *at = list ? list : "";
	int result = 0;

	while (!result && (path = path_list_next(&at))) {
		if (os_is_absolute(path))
			result = add_site(err, environment, mem_string(path), path, false);
		mem_free(path);
	}
	mem_free(list);
	return result;
}

/* Adds the installation that a virtual environment was made from, if the environment may use its
 * packages. */
static int add_base(struct jw_error *err, struct sites *environment)
{
	char *shared = NULL, *home = NULL, *base = NULL, *lib = NULL;
	bool windows = false;
	int result = pyvenv_value(err, environment->prefix, "include-system-site-packages", &shared) ||
						 pyvenv_value(err, environment->prefix, "home", &home)
					 ? -1
					 : 0;

	if (!result && home && shared && text_equal_fold(shared, "true")) {
		lib = os_join(home, "Lib");
		result = is_folder(err, lib, &windows);
		base = windows ? mem_string(home) : os_dir_name(home);
		if (!result)
			result = add_user_site(err, environment, base, NULL);
		if (!result)
			result = add_prefix(err, environment, base, NULL);
	}
	mem_free(lib);
	mem_free(base);
	mem_free(home);
	mem_free(shared);
	return result;
}

static int fill_virtual(struct jw_error *err, struct sites *environment, char *prefix)
{
	environment->prefix = prefix;
	environment->label = mem_printf("the virtual environment %s", prefix);
	if (add_python_path(err, environment) || add_prefix(err, environment, prefix, NULL))
		return -1;
	return add_base(err, environment);
}

/* Returns "3.11" for an executable (NULL: the python3 of the prefix), by its real name
 * "python3.11"; "" if that lacks the version. The caller frees it. */
static char *version_in(const char *prefix, const char *known)
{
	char *executable = known ? mem_string(known) : mem_printf("%s/bin/python3", prefix);
	char *real = NULL, *version = NULL;

	if (!os_real_path(NULL, executable, &real)) {
		const char *name = os_base_name(real), *digits = name + strcspn(name, "0123456789");

		if (strchr(digits, '.') && !digits[strspn(digits, "0123456789.")])
			version = mem_string(digits);
	}
	mem_free(executable);
	mem_free(real);
	return version ? version : mem_string("");
}

/* Fills in an installation and takes ownership of `prefix`. */
static int fill_installation(struct jw_error *err, struct sites *environment, char *prefix,
							 const char *executable)
{
	char *meta = os_join(prefix, "conda-meta"), *version = version_in(prefix, executable);
	int result = is_folder(err, meta, &environment->conda);

	environment->prefix = prefix;
	mem_free(meta);
	environment->installation = !environment->conda;
	environment->label =
		mem_printf(environment->conda ? "the conda environment %s" : "the Python of %s", prefix);
	if (result || add_python_path(err, environment) ||
		add_user_site(err, environment, prefix, version) ||
		add_prefix(err, environment, prefix, version))
		result = -1;
	mem_free(version);
	return result;
}

/* Returns the folder that a variable names; NULL if it is unset, or if the folder does not exist,
 * which `missing` says. */
static int named_folder(struct jw_error *err, const char *variable, char **ret_folder,
						char missing[MAX_MISSING])
{
	char *value = os_env(variable), *real = NULL;
	bool is = false;
	int result = 0;

	if (value && *value) {
		result = is_folder(err, value, &is);
		if (!result && !is)
			(void)text_format(missing, MAX_MISSING, "%s is %.300s, which is not a folder", variable,
							  value);
		else if (is)
			(void)os_real_path(NULL, value, &real);
	}
	mem_free(value);
	*ret_folder = real;
	return result;
}

/* Finds the virtual or conda environment that the program is installed in; NULL if there is none.
 * An environment that pipx or uv made for the command contains nothing else and does not count. */
static int own_environment(struct jw_error *err, char **ret_prefix, bool *ret_virtual)
{
	char *self = NULL, *folder = NULL, *prefix = NULL;
	bool is_virtual = false, conda = false, pipx = false, uv = false;
	int result = 0;

	if (!os_self_path(NULL, &self)) {
		folder = os_dir_name(self);
		prefix = os_dir_name(folder);
		if (python_has_mark(err, prefix, "pyvenv.cfg", &is_virtual) ||
			python_has_mark(err, prefix, "conda-meta", &conda) ||
			python_has_mark(err, prefix, "pipx_metadata.json", &pipx) ||
			python_has_mark(err, prefix, "uv-receipt.toml", &uv))
			result = -1;
	}
	mem_free(self);
	mem_free(folder);
	if (result || !(is_virtual || conda) || pipx || uv) {
		mem_free(prefix);
		prefix = NULL;
	}
	*ret_prefix = prefix;
	*ret_virtual = is_virtual;
	return result;
}

/* Accepts a folder that was not asked for by name only if it belongs to this account or root,
 * because anybody may make a folder in /tmp. NULL if it is not accepted. */
static char *take_ours(const char *path)
{
	struct os_stat stat;
	char *real;

	if (os_real_path(NULL, path, &real))
		return NULL;
	if (!os_stat(NULL, real, &stat) && (!stat.owner || stat.owner == os_own_account()))
		return real;
	mem_free(real);
	return NULL;
}

/* Finds .venv in the current folder, or in the nearest one above that has it, as uv does. NULL if
 * there is none. */
static int project_environment(struct jw_error *err, char **ret_prefix)
{
	char *folder = NULL;
	bool is = false;
	int result = 0;

	*ret_prefix = NULL;
	(void)os_real_path(NULL, ".", &folder);
	while (!result && folder && !is) {
		char *path = os_join(folder, ".venv"), *above = os_dir_name(folder);
		const bool top = !strcmp(above, folder);

		result = python_has_mark(err, path, "pyvenv.cfg", &is);
		if (is && !result)
			*ret_prefix = take_ours(path);
		mem_free(path);
		mem_free(folder);
		folder = top ? NULL : above;
		if (top)
			mem_free(above);
	}
	mem_free(folder);
	return result;
}

static int fill_from_path(struct jw_error *err, const struct jw_cancel *cancel,
						  struct sites *environment)
{
	char *executable = NULL, *prefix = NULL;
	bool is_virtual = false;
	struct jw_error why = {0};
	int result;

	if (python_on_path(&why, cancel, &executable)) {
		/* On Windows, the registered Python (PEP 514) is used if there is none on PATH. */
		if (why.code != JW_ERR_NOT_FOUND || os_python_registered(NULL, &prefix))
			return error_copy(err, &why);
		return fill_installation(err, environment, prefix, NULL);
	}
	result = python_prefix(err, executable, &prefix, &is_virtual);
	if (!result)
		result = is_virtual ? fill_virtual(err, environment, prefix)
							: fill_installation(err, environment, prefix, executable);
	mem_free(executable);
	return result;
}

int sites_find(struct jw_error *err, struct found_list *list, struct sites *ret_environment)
{
	struct sites environment = {0};
	char *prefix = NULL, missing[MAX_MISSING] = "";
	bool is_virtual = true;
	int result = named_folder(err, "VIRTUAL_ENV", &prefix, missing);

	if (!result && !prefix) {
		is_virtual = false;
		result = named_folder(err, "CONDA_PREFIX", &prefix, missing);
	}
	if (!result && !prefix) {
		is_virtual = true;
		result = project_environment(err, &prefix);
		if (prefix)
			found_note(list, "%s is used: no other environment is active", prefix);
	}
	if (!result && !prefix)
		result = own_environment(err, &prefix, &is_virtual);
	if (!result)
		result = !prefix      ? fill_from_path(err, &list->cancel, &environment)
				 : is_virtual ? fill_virtual(err, &environment, prefix)
							  : fill_installation(err, &environment, prefix, NULL);
	/* Each answer about the environment then says why it is not the one that was meant. */
	if (!result && *missing) {
		char *label = mem_printf("%s (%s)", environment.label, missing);

		mem_free(environment.label);
		environment.label = label;
	}
	if (result) {
		sites_free(&environment);
		return -1;
	}
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
	char *prefix; /* NULL if no list has it */
};

static int match_conda(struct jw_error *err, void *context, const char *prefix)
{
	struct conda_name *wanted = context;

	(void)err;
	if (wanted->prefix || strcmp(os_base_name(prefix), wanted->name) != 0)
		return 0;
	wanted->prefix = mem_string(prefix);
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
static char *environment_inside(const char *dir)
{
	struct os_names names;
	char *found = NULL;
	size_t count = 0;

	if (os_list(NULL, dir, &names))
		return NULL;
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(dir, names.items[i]);

		if (names.kinds[i] == OS_DIRECTORY && environment_kind(path) && !count++)
			found = path;
		else
			mem_free(path);
	}
	os_names_free(&names);
	if (count == 1)
		return found;
	mem_free(found);
	return NULL;
}

/* Refuses a path inside an environment, such as .venv/bin/python, or a folder around one, and names
 * the environment. */
static int refuse_environment(struct jw_error *err, const char *dir)
{
	char *above = os_dir_name(dir), *higher = os_dir_name(above), *inside = environment_inside(dir);
	const char *const candidates[] = {above, higher}, *meant = inside;

	for (size_t i = 0; i < 2 && !meant; i++) {
		const char *kind = environment_kind(candidates[i]);

		meant = kind && strcmp(kind, "Python") != 0 ? candidates[i] : NULL;
	}
	if (meant)
		error_set(err, JW_ERR_USAGE,
				  "--environment %s: not an environment (did you mean --environment %s?)", dir,
				  meant);
	else
		error_set(err, JW_ERR_USAGE,
				  "--environment %s: not an environment; “jitwarm find” lists environments", dir);
	mem_free(above);
	mem_free(higher);
	mem_free(inside);
	return -1;
}

int jw_use_environment(struct jw_error *err, const char *dir)
{
	struct jw_error why = {0};
	struct sites inside = {0};
	struct conda_name named = {.name = dir};
	char *path = NULL;
	const char *kind;
	bool is_virtual;
	int result = -1;

	if (!strpbrk(dir, "/\\") && !os_exists(dir) && conda_list_each(err, match_conda, &named, &why))
		goto done;
	/* A list that could not be read may have had it. */
	if (!named.prefix && why.code) {
		error_set(err, why.code, "--environment %s: %s", dir, why.message);
		goto done;
	}
	if (os_real_path(&why, named.prefix ? named.prefix : dir, &path)) {
		error_set(err, why.code,
				  why.code == JW_ERR_NOT_FOUND ? "%s; “jitwarm find” lists environments" : "%s",
				  why.message);
		goto done;
	}
	kind = environment_kind(path);
	/* The folder of a project stands for the environment that uv and others make in it, .venv. */
	if (!kind) {
		char *project = os_join(path, ".venv"), *real = NULL;

		if (has_mark(project, "pyvenv.cfg") && !os_real_path(NULL, project, &real)) {
			mem_free(path);
			path = real;
			kind = environment_kind(path);
		}
		mem_free(project);
	}
	if (add_prefix(err, &inside, path, NULL))
		goto done;
	is_virtual = kind && !strcmp(kind, "venv");
	if (!kind && !inside.count)
		result = refuse_environment(err, dir);
	else
		result = os_env_set(err, "VIRTUAL_ENV", is_virtual ? path : NULL) ||
						 os_env_set(err, "CONDA_PREFIX", is_virtual ? NULL : path)
					 ? -1
					 : 0;
done:
	sites_free(&inside);
	mem_free(named.prefix);
	mem_free(path);
	return result ? -1 : 0;
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
	struct sites environment = {0};
	struct found_list list;
	bool found = false;

	found_open(&list);
	if (!sites_find(NULL, &list, &environment))
		for (size_t i = 0; i < environment.count && !found; i++)
			found = python_version_in(environment.items[i].path, version);
	sites_free(&environment);
	jw_found_free(list.found);
	found_close(&list);
	return found;
}
