#include "pack/file_list.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

static bool is_line(const char *text)
{
	size_t length = strlen(text);

	return length && length <= PACK_MOST_PATH && text_is_utf8(text, length) &&
		   !strpbrk(text, "\t\n");
}

bool pack_path_is_sound(const char *path)
{
	if (!is_line(path) || strchr(path, '\\'))
		return false;
	for (;;) {
		size_t length = strcspn(path, "/");

		/* Rejects a leading or trailing '/', and "//". */
		if (!length || (length <= 2 && !strncmp(path, "..", length)))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

bool pack_word_is_sound(const char *word)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+!";
	size_t length = strlen(word);

	return length && length <= PACK_MOST_WORD && strspn(word, allowed) == length;
}

bool pack_member_is_sound(const char *member)
{
	return is_line(member);
}

/* Reads an optional text member; *ret is NULL where it is missing. False: the member is not valid.
 */
static int read_listed_text(struct jw_error *err, const cJSON *object, const char *name,
							bool (*is_sound)(const char *text), char **ret_text)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!item)
		return 0;
	if (!cJSON_IsString(item) || !is_sound(item->valuestring))
		return error_set(err, JW_ERR_FORMAT, "its %s is malformed", name);
	*ret_text = mem_string(err, item->valuestring);
	return *ret_text ? 0 : -1;
}

static int read_listed_file(struct jw_error *err, void *context, const cJSON *object, void *element)
{
	struct pack_file *file = element;

	(void)context;
	if (read_listed_text(err, object, "path", pack_path_is_sound, &file->path) ||
		read_listed_text(err, object, "package", pack_word_is_sound, &file->package) ||
		read_listed_text(err, object, "version", pack_word_is_sound, &file->version) ||
		read_listed_text(err, object, "member", pack_member_is_sound, &file->member))
		return -1;
	return file->path ? 0 : error_set(err, JW_ERR_FORMAT, "it has no path");
}

int file_list_read(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest)
{
	static const struct json_list files = {.name = "files",
										   .most = PACK_MOST_FILES,
										   .size = sizeof(struct pack_file),
										   .read = read_listed_file};

	if (!cJSON_GetObjectItemCaseSensitive(document, "files"))
		return 0;
	return json_list_read(err, document, &files, (void **)&manifest->files, &manifest->file_count);
}

void file_list_free(struct pack_manifest *manifest)
{
	for (size_t i = 0; i < manifest->file_count; i++) {
		mem_free(manifest->files[i].path);
		mem_free(manifest->files[i].package);
		mem_free(manifest->files[i].version);
		mem_free(manifest->files[i].member);
	}
	mem_free(manifest->files);
}
