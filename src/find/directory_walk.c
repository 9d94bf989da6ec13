#include "find/directory_walk.h"

#include <string.h>

#include "base/mem.h"
#include "find/file_kind.h"

/* Deeper than any installation, and far from the end of the stack's kin: paths of 4096 bytes. */
enum { MOST_WAITING = 1 << 20, MOST_PATH = 4000 };

/* Directories still to be read, last in, first out. */
struct waiting {
	char **paths;
	size_t count, capacity;
};

static int wait_for(struct jw_error *err, struct waiting *waiting, char *path)
{
	if (VEC_ROOM(err, waiting->paths, waiting->capacity, waiting->count, MOST_WAITING)) {
		mem_free(path);
		return -1;
	}
	waiting->paths[waiting->count++] = path;
	return 0;
}

/* Folders that hold no libraries but may hold a great many files. */
static bool is_passed_over(const char *name)
{
	return !strcmp(name, "__pycache__") || !strcmp(name, ".git");
}

static bool may_hold_code(const char *path)
{
	const char *name = os_base_name(path);
	struct os_stat stat;

	if (kind_is_code(name) || kind_is_archive(name))
		return true;
	return !strchr(name, '.') && !os_stat(NULL, path, &stat) && (stat.mode & 0111) &&
		   kind_is_program(path);
}

static int take_name(struct jw_error *err, struct found_list *list, struct waiting *waiting,
					 const char *directory, const char *name, enum os_kind kind,
					 const struct find_package *package)
{
	char *path = os_join(err, directory, name);
	struct jw_error why;
	int result = 0;

	if (!path)
		return -1;
	if (kind == OS_DIRECTORY && !is_passed_over(name)) {
		if (strlen(path) < MOST_PATH)
			return wait_for(err, waiting, path);
		error_set(&why, JW_ERR_LIMIT, "%.200s… goes deeper than %d bytes of path: not looked into",
				  path, MOST_PATH);
		result = found_trouble(err, list, &why);
	}
	if (kind == OS_REGULAR && may_hold_code(path))
		result = found_file(err, list, path, package);
	mem_free(path);
	return result;
}

static int read_directory(struct jw_error *err, struct found_list *list, struct waiting *waiting,
						  const char *directory, const struct find_package *package)
{
	struct os_names names;
	struct jw_error why;
	int result = 0;

	if (os_list(&why, directory, &names))
		return found_trouble(err, list, &why);
	/* Backwards, since the last directory that waits is read first. */
	for (size_t i = names.count; !result && i-- > 0;)
		if (names.kinds[i] == OS_DIRECTORY)
			result =
				take_name(err, list, waiting, directory, names.items[i], names.kinds[i], package);
	for (size_t i = 0; !result && i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR)
			result =
				take_name(err, list, waiting, directory, names.items[i], names.kinds[i], package);
	os_names_free(&names);
	return result;
}

static int enter(struct jw_error *err, struct found_list *list, struct waiting *waiting,
				 const char *directory, const struct find_package *package)
{
	struct os_stat stat;
	struct jw_error why;
	bool is_new;

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
	int result = path ? wait_for(err, &waiting, path) : -1;

	while (!result && waiting.count) {
		path = waiting.paths[--waiting.count];
		result = enter(err, list, &waiting, path, package);
		mem_free(path);
	}
	while (waiting.count)
		mem_free(waiting.paths[--waiting.count]);
	mem_free(waiting.paths);
	return result;
}
