#include "find/directory_walk.h"

#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "devcode/code_file.h"
#include "os/tree.h"

/* Deeper than any installation; MOST_PATH stays below the system's limit of 4096 bytes. */
enum { MOST_WAITING = 1 << 20, MOST_PATH = 4000 };

static bool is_walked(const char *name, enum os_kind kind)
{
	return kind == OS_DIRECTORY ? code_folder_is_searched(name)
								: kind == OS_REGULAR && code_file_by_name(name) != CODE_FILE_OTHER;
}

/* Directories to be read, last in, first out. */
struct waiting {
	char **paths;
	size_t count, capacity;
};

struct directory_walking {
	struct found_list *list;
	const struct find_package *package;
	struct os_tree *tree;
	struct waiting waiting;
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

static int walk_later(struct jw_error *err, struct directory_walking *walking, char *path)
{
	struct jw_error why;
	int result;

	if (strlen(path) < MOST_PATH)
		return walk_next(err, &walking->waiting, path);
	error_set(&why, JW_ERR_LIMIT, "%.200s… has paths of more than %d bytes: not searched", path,
			  MOST_PATH);
	result = found_trouble(err, walking->list, &why);
	mem_free(path);
	return result;
}

static int take_walked_file(struct jw_error *err, struct directory_walking *walking, char *path)
{
	const enum code_file kind = code_file_by_name(path);
	struct found_list *list = walking->list;
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_tree_stat(&why, walking->tree, path, &stat))
		return found_unseen(err, list, path, &why);
	if (kind == CODE_FILE_PROGRAM && (stat.mode & CODE_FILE_RUNS))
		os_tree_rest(walking->tree);
	return found_may_hold_code(path, kind, &stat)
			   ? found_file(err, list, path, &stat, walking->package)
			   : 0;
}

static int take_names(struct jw_error *err, struct directory_walking *walking,
					  const char *directory, const struct os_names *names)
{
	/* In reverse, since the last directory on the stack is read first. */
	for (size_t i = names->count; i-- > 0;) {
		char *path;

		if (names->kinds[i] != OS_DIRECTORY)
			continue;
		path = os_join(err, directory, names->items[i]);
		if (!path || walk_later(err, walking, path))
			return -1;
	}
	for (size_t i = 0; i < names->count; i++) {
		char *path;
		int result;

		if (names->kinds[i] == OS_DIRECTORY)
			continue;
		path = os_join(err, directory, names->items[i]);
		result = path ? take_walked_file(err, walking, path) : -1;
		mem_free(path);
		if (result)
			return -1;
	}
	return 0;
}

static int read_directory(struct jw_error *err, struct directory_walking *walking,
						  const char *directory)
{
	struct os_names names;
	struct jw_error why;
	int result;

	if (os_tree_list(&why, walking->tree, is_walked, &names))
		return found_trouble(err, walking->list, &why);
	result = take_names(err, walking, directory, &names);
	os_names_free(&names);
	return result;
}

/* `first`: the directory that the user named; a note says so if it is not searched. */
static int enter_directory(struct jw_error *err, struct directory_walking *walking,
						   const char *directory, bool first)
{
	struct found_list *list = walking->list;
	struct os_stat stat;
	struct jw_error why;
	bool is_new, is_made_up;

	if (cancel_check(err, &list->cancel))
		return -1;
	if (os_tree_enter(&why, walking->tree, directory, &stat, &is_made_up))
		return found_trouble(err, list, &why);
	if (is_made_up) {
		error_set(&why, JW_ERR_UNSUPPORTED,
				  "%s: a pseudo file system: name files there, not folders", directory);
		return first ? found_trouble(err, list, &why) : 0;
	}
	if (found_see(err, &list->seen, &stat, &is_new))
		return -1;
	return is_new ? read_directory(err, walking, directory) : 0;
}

static int walk_from(struct jw_error *err, struct directory_walking *walking, const char *directory)
{
	struct waiting *waiting = &walking->waiting;
	char *path = mem_string(err, directory);
	int result = path ? walk_next(err, waiting, path) : -1;
	bool first = true;

	if (!result)
		result = os_tree_open(err, &walking->tree);
	while (!result && waiting->count) {
		path = waiting->paths[--waiting->count];
		result = enter_directory(err, walking, path, first);
		first = false;
		mem_free(path);
	}
	while (waiting->count)
		mem_free(waiting->paths[--waiting->count]);
	mem_free(waiting->paths);
	os_tree_close(walking->tree);
	return result;
}

int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package)
{
	struct directory_walking walking = {.list = list, .package = package};

	return walk_from(err, &walking, directory);
}
