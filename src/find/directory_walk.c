#include "find/directory_walk.h"

#include <string.h>

#include "base/mem.h"
#include "devcode/code_file.h"

/* Deeper than any installation; MOST_PATH stays below the system's limit of 4096 bytes. */
enum { MOST_WAITING = 1 << 20, MOST_PATH = 4000 };

/* Directories to be read, last in, first out. */
struct waiting {
	char **paths;
	size_t count, capacity;
};

static int walk_next(struct jw_error *err, struct waiting *waiting, char *path)
{
	if (VEC_ROOM(err, waiting->paths, waiting->capacity, waiting->count, MOST_WAITING)) {
		mem_free(path);
		return -1;
	}
	waiting->paths[waiting->count++] = path;
	return 0;
}

static int walk_later(struct jw_error *err, struct found_list *list, struct waiting *waiting,
					  char *path)
{
	struct jw_error why;
	int result;

	if (strlen(path) < MOST_PATH)
		return walk_next(err, waiting, path);
	error_set(&why, JW_ERR_LIMIT, "%.200s… has paths of more than %d bytes: not searched", path,
			  MOST_PATH);
	result = found_trouble(err, list, &why);
	mem_free(path);
	return result;
}

static int take_listed_file(struct jw_error *err, struct found_list *list, const char *directory,
							const char *name, const struct find_package *package)
{
	enum code_file kind = code_file_by_name(name);
	char *path;
	int result;

	/* Most files of most packages are .py: do not build a path for them. */
	if (kind == CODE_FILE_OTHER)
		return 0;
	path = os_join(err, directory, name);
	result = path ? found_code_file(err, list, path, kind, package) : -1;
	mem_free(path);
	return result;
}

static int take_names(struct jw_error *err, struct found_list *list, struct waiting *waiting,
					  const char *directory, const struct os_names *names,
					  const struct find_package *package)
{
	/* In reverse, since the last directory on the stack is read first. */
	for (size_t i = names->count; i-- > 0;) {
		char *path;

		if (names->kinds[i] != OS_DIRECTORY || !code_folder_is_searched(names->items[i]))
			continue;
		path = os_join(err, directory, names->items[i]);
		if (!path || walk_later(err, list, waiting, path))
			return -1;
	}
	for (size_t i = 0; i < names->count; i++)
		if (names->kinds[i] == OS_REGULAR &&
			take_listed_file(err, list, directory, names->items[i], package))
			return -1;
	return 0;
}

static int read_directory(struct jw_error *err, struct found_list *list, struct waiting *waiting,
						  const char *directory, const struct find_package *package)
{
	struct os_names names;
	struct jw_error why;
	int result;

	if (os_list(&why, directory, &names))
		return found_trouble(err, list, &why);
	result = take_names(err, list, waiting, directory, &names, package);
	os_names_free(&names);
	return result;
}

/* `first`: the directory that the user named; a note says so if it is not searched. */
static int enter_directory(struct jw_error *err, struct found_list *list, struct waiting *waiting,
						   const char *directory, const struct find_package *package, bool first)
{
	struct os_stat stat;
	struct jw_error why;
	bool is_new;

	if (os_is_made_up(directory)) {
		error_set(&why, JW_ERR_UNSUPPORTED,
				  "%s: a pseudo file system: name files there, not folders", directory);
		return first ? found_trouble(err, list, &why) : 0;
	}

	if (os_stat(&why, directory, &stat))
		return found_trouble(err, list, &why);
	if (found_see(err, list, &stat, &is_new))
		return -1;
	return is_new ? read_directory(err, list, waiting, directory, package) : 0;
}

int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package)
{
	struct waiting waiting = {0};
	char *path = mem_string(err, directory);
	int result = path ? walk_next(err, &waiting, path) : -1;
	bool first = true;

	while (!result && waiting.count) {
		path = waiting.paths[--waiting.count];
		result = enter_directory(err, list, &waiting, path, package, first);
		first = false;
		mem_free(path);
	}
	while (waiting.count)
		mem_free(waiting.paths[--waiting.count]);
	mem_free(waiting.paths);
	return result;
}
