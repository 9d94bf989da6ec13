#include "find/sites.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/python.h"
#include "os/env.h"
#include "os/folders.h"
#include "os/platform.h"
#include "os/python.h"

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

static bool is_site_directory(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.kind == OS_DIRECTORY;
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

/* Adds a folder if it exists and is new. Takes over `path` (NULL: out of memory). */
static int add_site(struct jw_error *err, struct sites *environment, char *path, const char *root,
					bool whole)
{
	struct site site = {.path = path, .whole = whole};
	struct os_stat stat;

	if (!path)
		return -1;
	if (os_stat(NULL, path, &stat) || stat.kind != OS_DIRECTORY ||
		environment->count == SITES_MOST || has_site(environment, &stat)) {
		mem_free(path);
		return 0;
	}
	site.root = mem_string(err, root);
	if (!site.root) {
		mem_free(path);
		return -1;
	}
	environment->items[environment->count++] = site;
	return 0;
}

/* PREFIX/LIB/python3.X/site-packages and dist-packages; only those of `version` ("3.11") and
 * Debian's "python3" unless it is NULL. */
static int add_lib(struct jw_error *err, struct sites *environment, const char *prefix,
				   const char *lib, const char *version)
{
	char *folder = os_join(err, prefix, lib);
	struct os_names names;
	int result = 0;

	if (!folder)
		return -1;
	if (!os_list(NULL, folder, &names)) {
		for (size_t i = 0; !result && i < names.count; i++) {
			const char *name = names.items[i], *digits = name + strcspn(name, "0123456789");

			if (names.kinds[i] != OS_DIRECTORY ||
				(!text_starts(name, "python3") && !text_starts(name, "pypy3")) ||
				(version && *version && strcmp(digits, version) != 0 && strcmp(digits, "3") != 0))
				continue;
			result = add_site(err, environment,
							  mem_printf(err, "%s/%s/site-packages", folder, name), prefix, true);
			if (!result)
				result =
					add_site(err, environment, mem_printf(err, "%s/%s/dist-packages", folder, name),
							 prefix, true);
		}
		os_names_free(&names);
	}
	mem_free(folder);
	return result;
}

/* The folders of one installation of Python. */
static int add_prefix(struct jw_error *err, struct sites *environment, const char *prefix,
					  const char *version)
{
	/* Debian's python3 searches /usr/local first. */
	if (!strcmp(prefix, "/usr") && add_lib(err, environment, "/usr/local", "lib", version))
		return -1;
	if (add_lib(err, environment, prefix, "lib", version) ||
		add_lib(err, environment, prefix, "lib64", version))
		return -1;
	return add_site(err, environment, mem_printf(err, "%s/Lib/site-packages", prefix), prefix,
					true);
}

static bool variable_is_set(const char *name)
{
	char *value = os_env(name);
	bool is_set = value && *value;

	mem_free(value);
	return is_set;
}

/* The folder of an installation by Microsoft's Store is
 * ...\WindowsApps\NAME_VERSION_MACHINE__PUBLISHER,
 * which nobody may write to: its pip installs into %LOCALAPPDATA%\Packages\NAME_PUBLISHER\
 * LocalCache\local-packages. NULL for another one. Source: Microsoft, "Package identity"; Python's
 * documentation, "Using Python on Windows". */
static char *store_base(const char *prefix)
{
	const char *name = os_base_name(prefix), *rest = strchr(name, '_'),
			   *publisher = strstr(name, "__");
	char *above = os_dir_name(NULL, prefix), *local = os_env("LOCALAPPDATA"), *base = NULL;

	if (above && local && publisher && rest < publisher &&
		text_equal_fold(os_base_name(above), "WindowsApps"))
		base = mem_printf(NULL, "%s/Packages/%.*s_%s/LocalCache/local-packages", local,
						  (int)(rest - name), name, publisher + 2);
	mem_free(above);
	mem_free(local);
	return base;
}

/* ~/.local/lib/python3.X/site-packages; %APPDATA%\Python\Python311\site-packages for the prefix
 * that holds python311.dll. */
static int add_user_site(struct jw_error *err, struct sites *environment, const char *prefix,
						 const char *version)
{
	char *base = os_env("PYTHONUSERBASE"), *home = NULL;
	struct os_names names;
	int result = 0;

	if (variable_is_set("PYTHONNOUSERSITE")) {
		mem_free(base);
		return 0;
	}
	if ((!base || !*base) && !strcmp(os_name, "windows")) {
		mem_free(base);
		base = store_base(prefix);
	}
	if (!base || !*base) {
		mem_free(base);
		home = strcmp(os_name, "windows") != 0 ? NULL : os_env("APPDATA");
		if (!home && os_home_dir(NULL, &home))
			return 0;
		base = os_join(err, home, !strcmp(os_name, "windows") ? "Python" : ".local");
		mem_free(home);
		if (!base)
			return -1;
	}
	result = add_lib(err, environment, base, "lib", version);
	if (!result && !strcmp(os_name, "windows") && !os_list(NULL, base, &names)) {
		for (size_t i = 0; !result && i < names.count; i++) {
			char *library = mem_printf(err, "%s/%s.dll", prefix, names.items[i]);

			if (library && os_exists(library))
				result = add_site(err, environment,
								  mem_printf(err, "%s/%s/site-packages", base, names.items[i]),
								  base, true);
			mem_free(library);
		}
		os_names_free(&names);
	}
	mem_free(base);
	return result;
}

/* Folders of PYTHONPATH, where clusters' module systems put frameworks. */
static int add_python_path(struct jw_error *err, struct sites *environment)
{
	char *list = os_env("PYTHONPATH"), *path;
	const char *at = list ? list : "";
	int result = 0;

	while (!result && (path = path_list_next(&at))) {
		if (os_is_absolute(path))
			result = add_site(err, environment, mem_string(err, path), path, false);
		mem_free(path);
	}
	mem_free(list);
	return result;
}

/* "3.11" from a file's name "python3.11"; "" if it lacks the version. */
static const char *version_of(const char *executable)
{
	const char *name = os_base_name(executable), *digits = name + strcspn(name, "0123456789");

	return strchr(digits, '.') && !digits[strspn(digits, "0123456789.")] ? digits : "";
}

/* The installation that a virtual environment was made from, if it may use its packages. */
static int add_base(struct jw_error *err, struct sites *environment)
{
	char *shared = pyvenv_value(environment->prefix, "include-system-site-packages");
	char *home = pyvenv_value(environment->prefix, "home"), *base = NULL, *lib = NULL;
	int result = 0;

	if (home && shared && text_equal_fold(shared, "true")) {
		lib = os_join(err, home, "Lib");
		base = lib && is_site_directory(lib) ? mem_string(err, home) : os_dir_name(err, home);
		result = base ? 0 : -1;
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
	environment->label = mem_printf(err, "the virtual environment %s", prefix);
	if (!environment->label || add_python_path(err, environment) ||
		add_prefix(err, environment, prefix, NULL))
		return -1;
	return add_base(err, environment);
}

/* "3.11" for an executable (NULL: the python3 of the prefix); "" if its real name lacks the
 * version. The caller frees it. */
static char *version_in(struct jw_error *err, const char *prefix, const char *known)
{
	char *executable = known ? mem_string(err, known) : mem_printf(err, "%s/bin/python3", prefix);
	char *real = NULL, *version;

	if (!executable)
		return NULL;
	version = mem_string(
		err, os_real_path(NULL, executable, &real) ? "" : version_of(os_base_name(real)));
	mem_free(executable);
	mem_free(real);
	return version;
}

/* Takes over `prefix`. */
static int fill_installation(struct jw_error *err, struct sites *environment, char *prefix,
							 const char *executable)
{
	char *meta = os_join(err, prefix, "conda-meta"), *version = version_in(err, prefix, executable);
	int result = -1;

	environment->prefix = prefix;
	environment->conda = meta && is_site_directory(meta);
	mem_free(meta);
	environment->label = mem_printf(
		err, "%s %s", environment->conda ? "the conda environment" : "the Python of", prefix);
	if (version && environment->label && !add_python_path(err, environment) &&
		!add_user_site(err, environment, prefix, version))
		result = add_prefix(err, environment, prefix, version);
	mem_free(version);
	return result;
}

/* The folder that a variable names; NULL if it is unset or, with a note, if it does not exist. */
static char *named_folder(struct found_list *list, const char *variable)
{
	char *value = os_env(variable), *real = NULL;

	if (value && *value && !is_site_directory(value))
		(void)found_note(NULL, list, "%s is %s, which is not a folder", variable, value);
	else if (value && *value)
		(void)os_real_path(NULL, value, &real);
	mem_free(value);
	return real;
}

static int fill_from_path(struct jw_error *err, struct sites *environment)
{
	char *executable = NULL, *prefix = NULL;
	bool is_virtual = false;
	int result;

	if (python_on_path(err, &executable)) {
		/* Windows: the registered python (PEP 514), if there is no python on PATH. */
		if (os_python_registered(NULL, &prefix))
			return -1;
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
	char *prefix;
	int result;

	if ((prefix = named_folder(list, "VIRTUAL_ENV")))
		result = fill_virtual(err, &environment, prefix);
	else if ((prefix = named_folder(list, "CONDA_PREFIX")))
		result = fill_installation(err, &environment, prefix, NULL);
	else
		result = fill_from_path(err, &environment);
	if (result) {
		sites_free(&environment);
		return -1;
	}
	*ret_environment = environment;
	return 0;
}

int jw_use_environment(struct jw_error *err, const char *dir)
{
	char *path = NULL, *mark = NULL;
	bool is_virtual;
	int result = -1;

	if (os_real_path(err, dir, &path) || !(mark = os_join(err, path, "pyvenv.cfg")))
		goto done;
	is_virtual = os_exists(mark);
	result = os_env_set(err, "VIRTUAL_ENV", is_virtual ? path : NULL) ||
			 os_env_set(err, "CONDA_PREFIX", is_virtual ? NULL : path);
done:
	mem_free(path);
	mem_free(mark);
	return result ? -1 : 0;
}
