#include <jitwarm/find.h>

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/found.h"
#include "find/named_paths.h"
#include "find/packages.h"
#include "os/shell.h"

/* The state while the names are resolved. */
struct name_search {
	struct found_list list;
	struct sites *environment;
	struct packages packages;
	bool is_open;           /* the environment and its packages are open */
	struct jw_error unread; /* why no file of the name can be looked for; no code: it can */
	struct jw_error environment_error; /* why they could not be opened, after an attempt */
	bool was_tried;
	struct requirements wanted;
};

/* Opens the environment when a name first needs it. */
static int open_environment(struct jw_error *err, struct name_search *finder)
{
	if (!finder->was_tried) {
		finder->was_tried = true;
		if (!sites_find(&finder->environment_error, &finder->list, &finder->environment)) {
			finder->list.found->environment =
				arena_string(finder->list.found, finder->environment->label);
			if (packages_open(err, finder->environment, &finder->packages))
				return -1;
			finder->is_open = true;
		}
	}
	if (finder->is_open)
		return 0;
	return cancel_check(err, &finder->list.cancel);
}

/* Reads every record of one package: Python's and conda's. *ret_found is their number. */
static int take_records_of(struct jw_error *err, struct name_search *finder,
						   const struct requirement *wanted, size_t *ret_found)
{
	size_t at = packages_find(&finder->packages, wanted->name, 0);

	*ret_found = 0;
	for (; at != SET_NONE; at = packages_find(&finder->packages, wanted->name, at + 1)) {
		if (package_take(err, finder->environment, &finder->packages.items[at], wanted->extras,
						 &finder->list, &finder->wanted))
			return -1;
		++*ret_found;
	}
	return 0;
}

/* Adds a package and its installed requirements, recursively. */
static int take_package(struct jw_error *err, struct name_search *finder,
						const struct requirement *first)
{
	struct requirements *wanted = &finder->wanted;
	struct found_list *list = &finder->list;
	size_t files = list->found->file_count, packages = 0, found;
	int result = requirements_add(err, wanted, first);

	for (size_t i = 0; !result && i < wanted->count; i++) {
		/* This is a copy, since the list grows during the loop. */
		struct requirement next = wanted->items[i];

		result = take_records_of(err, finder, &next, &found);
		packages += found > 0;
	}
	wanted->count = 0; /* what was `added` stays known to the next name */
	if (!result && packages && list->found->file_count == files)
		found_note(list, "package %s: none of its files could hold device code", first->name);
	else if (!result && packages > 1)
		found_note(list, "package %s: with %s that it requires", first->name,
				   TEXT_COUNT(packages - 1, "package", "packages"));
	return result;
}

/* Returns whether `part` stands between hyphens in a package's name, or before the first one. */
static bool has_name_part(const char *name, const char *part)
{
	const size_t length = strlen(part);
	const char *at = strstr(name, part);

	return at && (at == name || at[-1] == '-') && (!at[length] || at[length] == '-');
}

static void not_there(struct name_search *finder, const char *name, const struct required *asked)
{
	const struct requirement *typed = &asked->is;
	struct suggest nearest = suggest_for(typed->name, strlen(typed->name));
	const char *package = package_of_project(typed->name);
	char others[200] = "", index[SHELL_WORD + 80] = "", word[SHELL_WORD],
		 wanted[2 * PACKAGE_MAX_NAME + 2];
	struct jw_error why;
	const struct sites *environment = finder->environment;

	if (finder->unread.code) {
		found_trouble(&finder->list, &finder->unread);
		return;
	}
	if (finder->is_open) {
		packages_name_gpu(&finder->packages, others, sizeof others);
		/* Matches only whole names: “lib” is a folder's name rather than the beginning of
		 * “libcst”. */
		nearest.whole = true;
		for (size_t i = 0; i < finder->packages.count; i++)
			suggest_offer(&nearest, finder->packages.items[i].name);
		/* Finds “flash” in flash-attn, and “curand” in nvidia-curand-cu12. */
		for (size_t i = 0; i < finder->packages.count && !nearest.best; i++)
			if (has_name_part(finder->packages.items[i].name, typed->name))
				nearest.best = finder->packages.items[i].name;
		if (package && packages_find(&finder->packages, package, 0) != SET_NONE)
			nearest.best = package;
	}
	(void)snprintf(wanted, sizeof wanted, "%s%s%s", asked->written, *asked->version ? "==" : "",
				   asked->version);
	/* A name with a dot is more likely a file's than a package's. */
	if (!strchr(asked->written, '.') && strlen(wanted) < PACKAGE_MAX_NAME)
		(void)text_format(index, sizeof index, "; “jitwarm scan --index %s” asks the package index",
						  shell_word(word, wanted));
	if (!finder->is_open)
		error_set(
			&why, JW_ERR_NOT_FOUND,
			"%s: no such file, and no Python environment in which to look for such a package (%s)",
			name, finder->environment_error.message);
	else if (nearest.best)
		error_set(&why, JW_ERR_NOT_FOUND,
				  "%s: no such file, and no such package in %s (did you mean %s?)", name,
				  environment->label, nearest.best);
	else if (package)
		error_set(&why, JW_ERR_NOT_FOUND,
				  "%s: no such file; its package is called %s, and is not in %s", name, package,
				  environment->label);
	else if (*others)
		error_set(&why, JW_ERR_NOT_FOUND,
				  "%s: no such file, and no such package in %s, which has %s%s", name,
				  environment->label, others, index);
	/* Most people who see this have forgotten to activate the environment that has the package. */
	else if (*index && environment->installation)
		error_set(&why, JW_ERR_NOT_FOUND,
				  "%s: not installed in %s: activate its environment or name it with -e DIR%s",
				  name, environment->label, index);
	else
		error_set(&why, JW_ERR_NOT_FOUND, "%s: no such file, and no such package in %s%s", name,
				  environment->label, index);
	found_trouble(&finder->list, &why);
}

/* Takes the files of a package, or of the package that has a module of that name. A missing one
 * becomes a trouble, not a failure. */
static int take_named_package(struct jw_error *err, struct name_search *finder, const char *name,
							  struct required *typed)
{
	struct requirement *wanted = &typed->is;
	struct packages *packages = &finder->packages;
	char version[PACKAGE_MAX_NAME];
	bool module = false;
	struct jw_error why;
	size_t at;

	if (open_environment(err, finder))
		return -1;
	if (!finder->is_open) {
		not_there(finder, name, typed);
		return 0;
	}
	at = packages_find(packages, wanted->name, 0);
	/* “cv2” is a module of opencv-python, “tensorflow” one of tensorflow-gpu. */
	if (at == SET_NONE) {
		if (packages_find_module(err, packages, &finder->list, typed->written, &at))
			return -1;
		module = true;
	}
	if (at == SET_NONE) {
		not_there(finder, name, typed);
		return 0;
	}
	if (!packages_is_version(&packages->items[at], typed->version, version)) {
		error_set(&why, JW_ERR_NOT_FOUND, "%s: version %s is installed in %s", name, version,
				  finder->environment->label);
		found_trouble(&finder->list, &why);
		return 0;
	}
	TEXT_COPY(wanted->name, packages->items[at].name);
	if (module)
		found_note(&finder->list, "%s is a module of the package %s", typed->written, wanted->name);
	return take_package(err, finder, wanted);
}

/* Finds out whether a word, which names a path, means an installed package nevertheless. */
static int means_package(struct jw_error *err, struct name_search *finder, const char *name,
						 bool *ret_means)
{
	struct required typed;
	size_t at = SET_NONE;

	*ret_means = false;
	if (strpbrk(name, "/\\") || os_exists(name) || !requirement_typed(name, &typed))
		return 0;
	if (open_environment(err, finder))
		return -1;
	if (finder->is_open)
		at = packages_find(&finder->packages, typed.is.name, 0);
	if (finder->is_open && at == SET_NONE &&
		packages_find_module(err, &finder->packages, &finder->list, typed.written, &at))
		return -1;
	*ret_means = at != SET_NONE;
	return 0;
}

/* Takes the files that a typed name means: a path first, else a package; for root in a folder of
 * another account, an installed package first. A name that means nothing becomes a trouble. */
static int take_typed_name(struct jw_error *err, struct name_search *finder, const char *name)
{
	struct required typed;
	struct os_stat stat;
	struct jw_error why;
	bool package;

	if (!*name) {
		error_set(&why, JW_ERR_USAGE, "an empty name");
		found_trouble(&finder->list, &why);
		return 0;
	}
	if (!os_stat(&why, name, &stat)) {
		if (means_package(err, finder, name, &package))
			return -1;
		if (!package)
			return named_path_take(err, &finder->list, name, &stat);
		found_note(&finder->list,
				   "%s: the package, not the path ./%s, which another account can change", name,
				   name);
		why.code = JW_ERR_NOT_FOUND;
	}
	if (why.code != JW_ERR_NOT_FOUND && !os_is_denied(".")) {
		found_trouble(&finder->list, &why);
		return 0;
	}
	/* In a current folder that cannot be read, a name still means a package. */
	finder->unread = why.code == JW_ERR_NOT_FOUND ? (struct jw_error){0} : why;
	if (!requirement_typed(name, &typed)) {
		if (strstr(name, "://"))
			error_set(&why, JW_ERR_NOT_FOUND,
					  "%s: an address: download the file first, or “jitwarm scan --index NAME” "
					  "asks the package index",
					  name);
		else if (strpbrk(name, "@=<>!~") && !strpbrk(name, "/\\"))
			error_set(&why, JW_ERR_NOT_FOUND,
					  "%s: no such file; the version of a package is written as in “torch==2.1”",
					  name);
		found_trouble(&finder->list, &why);
		return 0;
	}
	return take_named_package(err, finder, name, &typed);
}

/* Takes all packages of the active environment, each once, and then its other files. */
static int take_environment(struct jw_error *err, struct name_search *finder)
{
	if (open_environment(err, finder))
		return -1;
	if (finder->environment_error.code == JW_ERR_IO)
		return error_copy(err, &finder->environment_error);
	if (!finder->is_open)
		return error_set(err, finder->environment_error.code,
						 "no Python environment: VIRTUAL_ENV and CONDA_PREFIX name none, and %s; "
						 "name a file, a folder or a package",
						 finder->environment_error.message);
	for (size_t i = 0; i < finder->packages.count; i++) {
		const char *name = finder->packages.items[i].name;

		/* Takes each package once: a package that another one of the same name hides is not in
		 * use. */
		if (packages_find(&finder->packages, name, i) == i &&
			package_take(err, finder->environment, &finder->packages.items[i], "", &finder->list,
						 NULL))
			return -1;
	}
	/* Folders that belong to the environment as a whole, after packages took their files */
	for (size_t i = 0; i < finder->environment->count; i++)
		if (finder->environment->items[i].whole &&
			directory_walk(err, &finder->list, finder->environment->items[i].path, NULL, false))
			return -1;
	found_note(&finder->list, "looking into %s: %s, %s that may hold device code",
			   finder->environment->label,
			   TEXT_COUNT(finder->packages.count, "package", "packages"),
			   TEXT_COUNT(finder->list.found->file_count, "file", "files"));
	return 0;
}

/* Fails if nothing was found and a reason is known. */
static int fail_if_empty(struct jw_error *err, const struct jw_found *found)
{
	if (found->file_count || !found->trouble_count)
		return 0;
	for (size_t i = 0; i < found->note_count; i++)
		if (found->notes[i].is_trouble)
			return error_set(err, found->notes[i].code, "%s", found->notes[i].text);
	return 0;
}

static void close_search(struct name_search *finder)
{
	found_close(&finder->list);
	packages_close(&finder->packages);
	jw_result_free(finder->environment);
	mem_free(finder->wanted.items);
	set_free(&finder->wanted.added);
}

int jw_find_path(struct jw_error *err, const char *name, char **ret_path)
{
	struct name_search finder = {0};
	bool package = true;
	int result;

	found_open(&finder.list);
	result = os_exists(name) ? means_package(err, &finder, name, &package) : 0;
	if (!result && !package)
		result = os_real_path(err, name, ret_path);
	else if (!result)
		*ret_path = NULL;
	close_search(&finder);
	jw_result_free(finder.list.found);
	return result;
}

int jw_find(struct jw_error *err, const struct jw_find_options *options,
			struct jw_found **ret_found)
{
	struct name_search finder = {0};
	struct required typed;
	struct jw_found *found;
	int result = 0;

	found_open(&finder.list);
	found = finder.list.found;
	finder.list.cancel = options->cancel;
	finder.list.sources = options->sources;
	found->whole = !options->name_count && !options->package_count;
	if (found->whole)
		result = take_environment(err, &finder);
	for (size_t i = 0; !result && i < options->name_count; i++)
		result = take_typed_name(err, &finder, options->names[i]);
	for (size_t i = 0; !result && i < options->package_count; i++)
		if (requirement_typed(options->packages[i], &typed))
			result = take_named_package(err, &finder, options->packages[i], &typed);
	if (!result && options->owners)
		result = packages_name_owners(err, &finder.list, 0);
	found_drop_foreign(&finder.list);
	if (!result)
		result = fail_if_empty(err, found);
	if (result)
		jw_result_free(found);
	else
		*ret_found = found;
	close_search(&finder);
	return result;
}
