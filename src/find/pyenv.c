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
static char *root_in_script(const char *text)
{
	static const char assignment[] = "PYENV_ROOT=\"";
	const char *at = strstr(text, assignment);

	if (!at)
		return NULL;
	at += strlen(assignment);
	return mem_string_n(NULL, at, strcspn(at, "\"\n"));
}

/* pyenv's folder, NULL if the script is not one of its shims. */
static char *pyenv_root(const char *shim)
{
	struct buf text = {0};
	char *root = NULL;

	if (os_read_file(NULL, shim, MOST_SHIM, &text))
		return NULL;
	if (strstr(buf_text(&text), "pyenv")) {
		root = os_env("PYENV_ROOT");
		if (!root || !*root) {
			mem_free(root);
			root = root_in_script(buf_text(&text));
		}
	}
	buf_free(&text);
	return root;
}

/* The first lines of a version file joined with ':', like PYENV_VERSION; NULL if there is no such
 * file.
 */
static char *read_versions(const char *folder, const char *name)
{
	char *path = os_join(NULL, folder, name), *versions = NULL;
	struct buf text = {0}, joined = BUF_MAX(MOST_VERSION_FILE);
	const char *at, *end, *line;
	size_t length;

	if (path && !os_read_file(NULL, path, MOST_VERSION_FILE, &text)) {
		at = buf_text(&text);
		end = at + text.size;
		while (metadata_line(&at, end, &line, &length)) {
			while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
				length--;
			if (length && *line != '#' && !memchr(line, 0, length))
				(void)buf_printf(NULL, &joined, "%s%.*s", joined.size ? ":" : "", (int)length,
								 line);
		}
		if (joined.size)
			versions = mem_string(NULL, buf_text(&joined));
		buf_free(&text);
		buf_free(&joined);
	}
	mem_free(path);
	return versions;
}

/* .python-version here or in a folder above. */
static char *local_versions(void)
{
	char *folder = NULL, *versions = NULL, *above;

	if (os_real_path(NULL, ".", &folder))
		return NULL;
	for (int level = 0; folder && !versions && level < MOST_LEVELS; level++) {
		versions = read_versions(folder, ".python-version");
		above = os_dir_name(NULL, folder);
		if (above && !strcmp(above, folder)) {
			mem_free(above);
			above = NULL;
		}
		mem_free(folder);
		folder = above;
	}
	mem_free(folder);
	return versions;
}

static char *chosen_versions(const char *root)
{
	char *versions = os_env("PYENV_VERSION");

	if (versions && *versions)
		return versions;
	mem_free(versions);
	versions = local_versions();
	return versions ? versions : read_versions(root, "version");
}

/* ROOT/versions/VERSION/bin/python3 (or python) */
static char *version_executable(const char *root, const char *version)
{
	static const char *const names[] = {"python3", "python"};
	char *path = NULL;

	for (size_t i = 0; i < 2; i++) {
		path = mem_printf(NULL, "%s/versions/%s/bin/%s", root, version, names[i]);
		if (path && os_exists(path))
			return path;
		mem_free(path);
	}
	return NULL;
}

/* "3.11" may mean the newest installed 3.11.x. */
static char *newest_executable(const char *root, const char *version)
{
	char *folder = os_join(NULL, root, "versions"), *best = NULL;
	struct os_names names = {0};
	size_t length = strlen(version);
	uint64_t highest = 0, number;

	if (folder && !os_list(NULL, folder, &names)) {
		for (size_t i = 0; i < names.count; i++) {
			const char *name = names.items[i];

			if (strncmp(name, version, length) != 0 || name[length] != '.' ||
				!text_number(name + length + 1, 1000000, &number) || (best && number < highest))
				continue;
			mem_free(best);
			best = version_executable(root, name);
			highest = number;
		}
		os_names_free(&names);
	}
	mem_free(folder);
	return best;
}

int pyenv_resolve(struct jw_error *err, const char *shim, char **ret_executable)
{
	char *root = pyenv_root(shim), *versions = root ? chosen_versions(root) : NULL,
		 *rest = versions;
	char *executable = NULL;

	while (rest && *rest && !executable) {
		size_t length = strcspn(rest, ":");
		char *next = rest + length + (rest[length] != 0);

		rest[length] = 0;
		/* A version is a folder's name; reject names that could lead elsewhere. */
		if (*rest && *rest != '.' && !strpbrk(rest, "/\\") && strcmp(rest, "system") != 0) {
			executable = version_executable(root, rest);
			if (!executable)
				executable = newest_executable(root, rest);
		}
		rest = next;
	}
	mem_free(root);
	mem_free(versions);
	if (!executable)
		return error_set(err, JW_ERR_NOT_FOUND, "%s chooses no python", shim);
	*ret_executable = executable;
	return 0;
}
