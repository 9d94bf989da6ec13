#include "find/conda.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/file.h"

static int copy_conda_text(struct jw_error *err, const cJSON *object, const char *name,
						   char **ret_text)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	if (!text || !*text)
		return error_set(err, JW_ERR_FORMAT, "the member “%s” is missing", name);
	*ret_text = mem_string(err, text);
	return *ret_text ? 0 : -1;
}

/* The strings of a list, each cut off before the first character of `stop`. Skips other values. */
static int copy_list(struct jw_error *err, const cJSON *object, const char *name, const char *stop,
					 char ***ret_items, size_t *ret_count)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
	size_t most = (size_t)cJSON_GetArraySize(list);

	if (!cJSON_IsArray(list) || !most)
		return 0;
	*ret_items = mem_array(err, most, sizeof **ret_items);
	if (!*ret_items)
		return -1;
	cJSON_ArrayForEach(item, list)
	{
		const char *text = cJSON_GetStringValue(item);
		size_t length = text ? strcspn(text, stop) : 0;

		if (!length)
			continue;
		(*ret_items)[*ret_count] = mem_string_n(err, text, length);
		if (!(*ret_items)[*ret_count])
			return -1;
		++*ret_count;
	}
	return 0;
}

int conda_parse(struct jw_error *err, const void *data, size_t size,
				struct conda_package *ret_package)
{
	struct conda_package package = {0};
	cJSON *root = json_parse(err, data, size);
	int result = -1;

	if (root && !cJSON_IsObject(root)) {
		error_set(err, JW_ERR_FORMAT, "no JSON object");
	} else if (root && !copy_conda_text(err, root, "name", &package.name) &&
			   !copy_conda_text(err, root, "version", &package.version) &&
			   !copy_list(err, root, "files", "", &package.files, &package.file_count) &&
			   !copy_list(err, root, "depends", " <>=!~[:", &package.depends,
						  &package.depend_count)) {
		*ret_package = package;
		result = 0;
	}
	if (result)
		conda_free(&package);
	cJSON_Delete(root);
	return result;
}

int conda_read(struct jw_error *err, const char *path, struct conda_package *ret_package)
{
	struct buf text = {0};
	int result;

	if (os_read_file(err, path, CONDA_MOST_BYTES, &text))
		return -1;
	result = conda_parse(err, buf_text(&text), text.size, ret_package);
	buf_free(&text);
	return result ? error_prefix(err, "%s", path) : 0;
}

void conda_free(struct conda_package *package)
{
	mem_free(package->name);
	mem_free(package->version);
	jw_lines_free(package->files, package->file_count);
	jw_lines_free(package->depends, package->depend_count);
	*package = (struct conda_package){0};
}
