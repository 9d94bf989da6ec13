/* The manifest of an opaque pack. */
#include "pack/opaque_manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

enum { MOST_PARTS = 8, MOST_PART = 64, MOST_TARGETS = 64 };

static int fold_leaf_character(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (unsigned char)c;
}

int opaque_path_compare(const char *a, const char *b)
{
	while (*a && fold_leaf_character(*a) == fold_leaf_character(*b)) {
		a++;
		b++;
	}
	return fold_leaf_character(*a) - fold_leaf_character(*b);
}

static int compare_leaf_path(const void *path, const void *leaf)
{
	return opaque_path_compare(path, ((const struct pack_leaf *)leaf)->path);
}

const char *opaque_file_and_folder(const struct pack_leaf *tree, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *path = tree[i].path;

		for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
			const size_t length = (size_t)(at - path);
			char folder[MOST_PARTS * (MOST_PART + 1)];
			const struct pack_leaf *file;

			if (length >= sizeof folder)
				break;
			memcpy(folder, path, length);
			folder[length] = '\0';
			file = bsearch(folder, tree, count, sizeof *tree, compare_leaf_path);
			if (file)
				return file->path;
		}
	}
	return NULL;
}

/* Names of devices on Windows, with any suffix after a dot. */
static bool is_device(const char *part, size_t length)
{
	static const char *const names[] = {"con", "prn", "aux", "nul", "com", "lpt"};
	size_t stem = 0;

	while (stem < length && part[stem] != '.')
		stem++;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool same = stem >= 3;

		for (size_t k = 0; same && k < 3; k++)
			same = fold_leaf_character(part[k]) == names[i][k];
		if (same && (i < 4 ? stem == 3 : stem == 4 && part[3] >= '0' && part[3] <= '9'))
			return true;
	}
	return false;
}

bool opaque_path_is_sound(const char *path)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (int parts = 0; parts < MOST_PARTS; parts++) {
		size_t length = strspn(path, allowed);

		if (!length || length > MOST_PART || *path == '.' || path[length - 1] == '.' ||
			is_device(path, length) || (path[length] && path[length] != '/'))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
	return false;
}

bool opaque_write(cJSON *document, const struct pack_manifest *manifest)
{
	cJSON *targets = cJSON_AddArrayToObject(document, "targets");
	cJSON *tree = targets ? cJSON_AddArrayToObject(document, "tree") : NULL;
	bool complete = tree != NULL;
	char text[JW_TARGET_TEXT];

	for (size_t i = 0; complete && i < manifest->target_count; i++)
		complete = cJSON_AddItemToArray(
			targets, cJSON_CreateString(jw_target_sm(text, manifest->targets[i])));
	for (size_t i = 0; complete && i < manifest->tree_count; i++) {
		const struct pack_leaf *leaf = &manifest->tree[i];
		cJSON *object = cJSON_CreateObject();

		complete =
			cJSON_AddItemToArray(tree, object) &&
			cJSON_AddStringToObject(object, "path", leaf->path) &&
			(leaf->member == PACK_EMPTY || cJSON_AddNumberToObject(object, "member", leaf->member));
	}
	return complete;
}

static int read_manifest_target(struct jw_error *err, void *context, const cJSON *item,
								void *element)
{
	(void)context;
	return cJSON_IsString(item) && jw_target_parse(item->valuestring, element)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "not a GPU such as sm_86");
}

static int read_manifest_leaf(struct jw_error *err, void *context, const cJSON *object,
							  void *element)
{
	const struct pack_manifest *manifest = context;
	const char *path = json_text(object, "path", "");
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "member");
	struct pack_leaf *leaf = element;
	double member = json_number(object, "member", -1);

	leaf->member = PACK_EMPTY;
	if (!opaque_path_is_sound(path) ||
		(item && (!(member >= 0) || member >= (double)manifest->member_count ||
				  member != (double)(uint32_t)member)) ||
		(manifest->tree_count > 1 && opaque_path_compare(leaf[-1].path, path) >= 0))
		return error_set(err, JW_ERR_FORMAT, "malformed");
	if (item)
		leaf->member = (uint32_t)member;
	leaf->path = mem_string(err, path);
	return leaf->path ? 0 : -1;
}

int opaque_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest)
{
	static const struct json_list targets = {.name = "targets",
											 .most = MOST_TARGETS,
											 .size = sizeof(struct jw_target),
											 .read = read_manifest_target};
	const struct json_list tree = {.name = "tree",
								   .most = PACK_MOST_MEMBERS,
								   .size = sizeof *manifest->tree,
								   .read = read_manifest_leaf,
								   .context = manifest};

	if (manifest->driver_count != 1)
		return error_set(err, JW_ERR_FORMAT, "an opaque pack of %zu drivers",
						 manifest->driver_count);
	if (json_list_read(err, document, &targets, (void **)&manifest->targets,
					   &manifest->target_count) ||
		json_list_read(err, document, &tree, (void **)&manifest->tree, &manifest->tree_count))
		return -1;
	return opaque_file_and_folder(manifest->tree, manifest->tree_count)
			   ? error_set(err, JW_ERR_FORMAT, "a file of its tree is a folder too")
			   : 0;
}

void opaque_free(struct pack_manifest *manifest)
{
	for (size_t i = 0; i < manifest->tree_count; i++)
		mem_free(manifest->tree[i].path);
	mem_free(manifest->tree);
	mem_free(manifest->targets);
}
