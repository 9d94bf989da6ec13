#include "find/python.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/metadata.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"

enum { MOST_CONFIG = 65536 };

static bool is_windows(void)
{
	return !strcmp(os_name, "windows");
}

/* A regular file that is not the Store's stub (size 0). */
static bool is_executable_file(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR && stat.size_bytes &&
		   (is_windows() || (stat.mode & 0111));
}

static bool is_script(const char *path)
{
	char head[2];

	return os_read_head(path, head, sizeof head) == sizeof head && head[0] == '#' && head[1] == '!';
}

char *path_list_next(const char **list)
{
	const char *start = *list + strspn(*list, (const char[]){os_list_separator, 0}), *end = start;

	while (*end && *end != os_list_separator)
		end++;
	*list = end;
	return end > start ? mem_string_n(NULL, start, (size_t)(end - start)) : NULL;
}

/* The first member of PATH with a `name` that can be started. Takes over *ret_executable only on
 * success. */
static bool search_path(const char *path, const char *name, char **ret_executable)
{
	char *folder, *file;

	while ((folder = path_list_next(&path))) {
		file = os_join(NULL, folder, name);
		mem_free(folder);
		if (file && is_executable_file(file)) {
			if (!is_script(file)) {
				*ret_executable = file;
				return true;
			}
			if (!pyenv_resolve(NULL, file, ret_executable)) {
				mem_free(file);
				return true;
			}
		}
		mem_free(file);
	}
	return false;
}

int python_on_path(struct jw_error *err, char **ret_executable)
{
	static const char *const posix_names[] = {"python3", "python", NULL};
	static const char *const windows_names[] = {"python3.exe", "python.exe", NULL};
	const char *const *names = is_windows() ? windows_names : posix_names;
	char *path = os_env("PATH");
	bool found = false;

	for (; path && !found && *names; names++)
		found = search_path(path, *names, ret_executable);
	mem_free(path);
	return found ? 0 : error_set(err, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
}

char *pyvenv_value(const char *directory, const char *key)
{
	char *path = os_join(NULL, directory, "pyvenv.cfg"), *value = NULL;
	struct buf text = {0};
	const char *at, *end, *line;
	size_t length, wanted = strlen(key);

	if (path && !os_read_file(NULL, path, MOST_CONFIG, &text)) {
		at = buf_text(&text);
		end = at + text.size;
		while (!value && metadata_line(&at, end, &line, &length)) {
			const char *equals = memchr(line, '=', length);
			size_t used = equals ? (size_t)(equals - line) : 0;

			while (used && line[used - 1] == ' ')
				used--;
			if (!equals || used != wanted || memcmp(line, key, wanted) != 0)
				continue;
			for (equals++; equals < line + length && *equals == ' ';)
				equals++;
			value = mem_string_n(NULL, equals, (size_t)(line + length - equals));
		}
		buf_free(&text);
	}
	mem_free(path);
	return value;
}

static bool has_config(const char *directory)
{
	char *path = os_join(NULL, directory, "pyvenv.cfg");
	bool has = path && os_exists(path);

	mem_free(path);
	return has;
}

int python_prefix(struct jw_error *err, const char *executable, char **ret_prefix,
				  bool *ret_virtual)
{
	char *folder = os_dir_name(err, executable), *above = folder ? os_dir_name(err, folder) : NULL;
	char *real = NULL, *prefix = NULL;

	if (!above)
		goto done;
	*ret_virtual = true;
	if (has_config(folder)) {
		prefix = folder;
		folder = NULL;
	} else if (has_config(above)) {
		prefix = above;
		above = NULL;
	} else {
		*ret_virtual = false;
		if (os_real_path(err, executable, &real))
			goto done;
		mem_free(folder);
		folder = os_dir_name(err, real);
		if (folder && is_windows()) {
			prefix = folder;
			folder = NULL;
		} else if (folder) {
			prefix = os_dir_name(err, folder);
		}
	}
done:
	mem_free(real);
	mem_free(folder);
	mem_free(above);
	if (!prefix)
		return -1;
	*ret_prefix = prefix;
	return 0;
}
