#include "find/named_paths.h"

#include "find/directory_walk.h"
#include "find/variants.h"

int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat)
{
	size_t before = list->found->file_count;
	struct jw_error why;

	if (stat->kind == OS_REGULAR)
		return found_file(err, list, path, stat, NULL);
	if (stat->kind != OS_DIRECTORY) {
		error_set(&why, JW_ERR_UNSUPPORTED, "%s: neither a file nor a folder", path);
		return found_trouble(err, list, &why);
	}
	if (directory_walk(err, list, path, NULL))
		return -1;
	if (list->found->file_count == before)
		return found_note(err, list, "%s: no file in it that could hold device code", path);
	return 0;
}

int named_path_find(struct jw_error *err, struct found_list *list, const char *path)
{
	struct os_stat stat;
	struct jw_error why;

	if (!os_stat(&why, path, &stat))
		return named_path_take(err, list, path, &stat);
	return error_if_memory(err, &why) ? -1 : found_trouble(err, list, &why);
}

int named_paths_find(struct jw_error *err, const char *const *paths, size_t count,
					 struct jw_found **ret_found)
{
	struct found_list list;
	int result = found_open(err, &list);

	if (result)
		return -1;
	for (size_t i = 0; !result && i < count; i++)
		result = named_path_find(err, &list, paths[i]);
	if (!result)
		result = variants_settle(err, &list, paths, count);
	if (result)
		jw_found_free(list.found);
	else
		*ret_found = list.found;
	found_close(&list);
	return result;
}
