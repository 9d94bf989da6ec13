/* pyenv puts shell scripts on PATH that select a version at each start. The rules are those of
 * `pyenv help` (version, local, global). */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/metadata.h"
#include "find/python.h"
#include "os/env.h"
#include "os/file.h"

enum { MOST_SHIM = 65536, MOST_VERSION_FILE = 65536, MOST_LEVELS = 64 };

/* "/root/.pyenv" from 'export PYENV_ROOT="/root/.pyenv"'. */
static int root_in_script(struct jw_error *err, const char *text, char **ret_root)
{
	static const char assignment[] = "PYENV_ROOT=\"";
	const char *at = strstr(text, assignment);

	*ret_root = NULL;
	if (!at)
		return 0;
	at += strlen(assignment);
	*ret_root = mem_string_n(err, at, strcspn(at, "\"\n"));
	return *ret_root ? 0 : -1;
}

/* pyenv's folder, NULL if the script is not one of its shims. */
static int pyenv_root(struct jw_error *err, const char *shim, char **ret_root)
{
	struct jw_error why = {0};
	struct buf text = {0};
	char *root = NULL;
	int result = 0;

	if (os_read_file(&why, shim, MOST_SHIM, &text))
		return error_if_memory(err, &why);
	if (strstr(buf_text(&text), "pyenv")) {
		result = os_env_read(err, "PYENV_ROOT", &root);
		if (!result && (!root || !*root)) {
			mem_free(root);
			result = root_in_script(err, buf_text(&text), &root);
		}
	}
	buf_free(&text);
	if (!result)
		*ret_root = root;
	return result;
}

static int join_versions(struct jw_error *err, const struct buf *text, char **ret_versions)
{
	const char *at = buf_text(text), *end = at + text->size, *line;
	struct buf joined = BUF_MAX(MOST_VERSION_FILE);
	size_t length;
	int result = 0;

	while (!result && metadata_line(&at, end, &line, &length)) {
		while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
			length--;
		if (length && *line != '#' && !memchr(line, 0, length))
			result = buf_printf(err, &joined, "%s%.*s", joined.size ? ":" : "", (int)length, line);
	}
	if (!result && joined.size) {
		*ret_versions = mem_string(err, buf_text(&joined));
		result = *ret_versions ? 0 : -1;
	}
	buf_free(&joined);
	return result;
}

/* The first lines of a version file joined with ':', like PYENV_VERSION; NULL if there is no such
 * file.
 */
static int read_versions(struct jw_error *err, const char *folder, const char *name,
						 char **ret_versions)
{
	char *path = os_join(err, folder, name);
	struct jw_error why = {0};
	struct buf text = {0};
	int result = path ? 0 : -1;

	/* Too many are none, as are those that cannot be read. */
	if (path && (os_read_file(&why, path, MOST_VERSION_FILE, &text) ||
				 join_versions(&why, &text, ret_versions)))
		result = error_if_memory(err, &why);
	buf_free(&text);
	mem_free(path);
	return result;
}

/* .python-version here or in a folder above. */
static int local_versions(struct jw_error *err, char **ret_versions)
{
	char *folder = NULL, *above;
	struct jw_error why = {0};
	int result = 0;

	if (os_real_path(&why, ".", &folder))
		return error_if_memory(err, &why);
	for (int level = 0; !result && folder && !*ret_versions && level < MOST_LEVELS; level++) {
		result = read_versions(err, folder, ".python-version", ret_versions);
		above = os_dir_name(err, folder);
		if (!above) {
			result = -1;
		} else if (!strcmp(above, folder)) {
			mem_free(above);
			above = NULL;
		}
		mem_free(folder);
		folder = above;
	}
	mem_free(folder);
	return result;
}

static int chosen_versions(struct jw_error *err, const char *root, char **ret_versions)
{
	char *versions = NULL;

	if (os_env_read(err, "PYENV_VERSION", &versions))
		return -1;
	if (!versions || !*versions) {
		mem_free(versions);
		versions = NULL;
		if (local_versions(err, &versions) ||
			(!versions && read_versions(err, root, "version", &versions))) {
			mem_free(versions);
			return -1;
		}
	}
	*ret_versions = versions;
	return 0;
}

/* ROOT/versions/VERSION/bin/python3 (or python) */
static int version_executable(struct jw_error *err, const char *root, const char *version,
							  char **ret_path)
{
	static const char *const names[] = {"python3", "python"};

	for (size_t i = 0; i < 2; i++) {
		char *path = mem_printf(err, "%s/versions/%s/bin/%s", root, version, names[i]);
		struct jw_error why = {0};
		bool there = false;

		if (!path)
			return -1;
		if (!os_look(&why, path, &there) && there) {
			*ret_path = path;
			return 0;
		}
		mem_free(path);
		if (error_if_memory(err, &why))
			return -1;
	}
	return 0;
}

/* "3.11" may mean the newest installed 3.11.x. */
static int newest_executable(struct jw_error *err, const char *root, const char *version,
							 char **ret_path)
{
	char *folder = os_join(err, root, "versions"), *best = NULL;
	struct jw_error why = {0};
	struct os_names names = {0};
	size_t length = strlen(version);
	uint64_t highest = 0, number;
	int result = folder ? 0 : -1;

	if (folder && os_list(&why, folder, &names))
		result = error_if_memory(err, &why);
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];

		if (strncmp(name, version, length) != 0 || name[length] != '.' ||
			!text_number(name + length + 1, 1000000, &number) || (best && number < highest))
			continue;
		mem_free(best);
		best = NULL;
		result = version_executable(err, root, name, &best);
		highest = number;
	}
	os_names_free(&names);
	mem_free(folder);
	if (!result)
		*ret_path = best;
	return result;
}

int pyenv_resolve(struct jw_error *err, const char *shim, char **ret_executable)
{
	char *root = NULL, *versions = NULL, *executable = NULL;
	int result = pyenv_root(err, shim, &root);

	if (!result && root)
		result = chosen_versions(err, root, &versions);
	for (char *rest = versions; !result && rest && *rest && !executable;) {
		size_t length = strcspn(rest, ":");
		char *next = rest + length + (rest[length] != 0);

		rest[length] = 0;
		/* A version is a folder's name; reject names that could lead elsewhere. */
		if (*rest && *rest != '.' && !strpbrk(rest, "/\\") && strcmp(rest, "system") != 0) {
			result = version_executable(err, root, rest, &executable);
			if (!result && !executable)
				result = newest_executable(err, root, rest, &executable);
		}
		rest = next;
	}
	mem_free(root);
	mem_free(versions);
	if (!result && !executable)
		result = error_set(err, JW_ERR_NOT_FOUND, "%s chooses no python", shim);
	if (result)
		return -1;
	*ret_executable = executable;
	return 0;
}
