#include "find/looked_files.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "find/found.h"

static uint64_t path_key(const char *path)
{
	return fnv_update(FNV_START, path, strlen(path));
}

int looked_files_add(struct jw_error *err, struct looked_files *files,
					 const struct looked_file *from)
{
	struct looked_file file = *from;

	if (VEC_ROOM(err, files->items, files->capacity, files->count, FOUND_MOST_FILES))
		return -1;
	file.path = mem_string(err, from->path);
	if (!file.path || set_add(err, &files->by_path, path_key(from->path), files->count)) {
		mem_free(file.path);
		return -1;
	}
	files->items[files->count++] = file;
	return 0;
}

const struct looked_file *looked_files_find(const struct looked_files *files, const char *path)
{
	const uint64_t key = files->count ? path_key(path) : 0;
	size_t cursor = 0, at;

	while (files->count && (at = set_find(&files->by_path, key, &cursor)) != SET_NONE)
		if (!strcmp(files->items[at].path, path))
			return &files->items[at];
	return NULL;
}

void looked_files_free(struct looked_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		mem_free(files->items[i].path);
	mem_free(files->items);
	set_free(&files->by_path);
	*files = (struct looked_files){0};
}
