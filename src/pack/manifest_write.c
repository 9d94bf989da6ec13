/* The manifest as text. */
#include <string.h>

#include "base/json.h"
#include "pack/file_list.h"
#include "pack/opaque_manifest.h"

static bool add_driver(cJSON *array, const struct pack_driver *driver)
{
	cJSON *object = cJSON_CreateObject();

	return cJSON_AddItemToArray(array, object) &&
		   cJSON_AddStringToObject(object, "stamp", driver->stamp) &&
		   (!driver->release[0] || cJSON_AddStringToObject(object, "release", driver->release)) &&
		   (!driver->cuda || cJSON_AddNumberToObject(object, "cuda", driver->cuda));
}

static bool add_member(cJSON *array, const struct pack_member *member)
{
	cJSON *object = cJSON_CreateObject();
	char name[TAR_MOST_NAME + 1];

	return cJSON_AddItemToArray(array, object) &&
		   cJSON_AddStringToObject(object, "name", pack_member_name(name, member)) &&
		   cJSON_AddNumberToObject(object, "bytes", (double)member->size_bytes) &&
		   (!member->thin || (cJSON_AddNumberToObject(object, "file", member->file) &&
							  cJSON_AddNumberToObject(object, "offset", (double)member->offset)));
}

static bool add_entry(cJSON *array, const struct pack_entry *entry)
{
	cJSON *object = cJSON_CreateObject();
	char target[JW_TARGET_TEXT];

	return cJSON_AddItemToArray(array, object) &&
		   !json_add_hex64(NULL, object, "key", entry->key) &&
		   cJSON_AddNumberToObject(object, "driver", entry->driver) &&
		   cJSON_AddStringToObject(object, "target", jw_target_sm(target, entry->target)) &&
		   cJSON_AddStringToObject(object, "form", pack_form_name(entry->form)) &&
		   cJSON_AddStringToObject(object, "options", entry->options) &&
		   cJSON_AddNumberToObject(object, "ptx", entry->ptx) &&
		   cJSON_AddNumberToObject(object, "cubin", entry->cubin) &&
		   (!entry->split || cJSON_AddTrueToObject(object, "split"));
}

static bool add_head(cJSON *document, const struct pack_manifest *manifest)
{
	cJSON *features;

	if (!cJSON_AddStringToObject(document, "format", PACK_FORMAT))
		return false;
	features = cJSON_AddArrayToObject(document, "requires");
	return features &&
		   (!manifest->thin || cJSON_AddItemToArray(features, cJSON_CreateString(PACK_THIN))) &&
		   (!manifest->opaque || cJSON_AddItemToArray(features, cJSON_CreateString(PACK_OPAQUE))) &&
		   cJSON_AddStringToObject(document, "os", manifest->os) &&
		   cJSON_AddNumberToObject(document, "pointer_bits", 64);
}

int manifest_format(struct jw_error *err, const struct pack_manifest *manifest, struct buf *text)
{
	cJSON *document = cJSON_CreateObject(), *drivers, *members, *entries;
	char *line = NULL;
	bool complete = add_head(document, manifest);
	int result = -1;

	drivers = cJSON_AddArrayToObject(document, "drivers");
	for (size_t i = 0; complete && i < manifest->driver_count; i++)
		complete = add_driver(drivers, &manifest->drivers[i]);
	complete = complete && (!manifest->file_count || file_list_write(document, manifest));
	members = cJSON_AddArrayToObject(document, "members");
	for (size_t i = 0; complete && i < manifest->member_count; i++)
		complete = add_member(members, &manifest->members[i]);
	entries = cJSON_AddArrayToObject(document, "entries");
	for (size_t i = 0; complete && i < manifest->entry_count; i++)
		complete = add_entry(entries, &manifest->entries[i]);
	complete = complete && (!manifest->opaque || opaque_write(document, manifest));
	if (!complete || !drivers || !members || !entries) {
		error_set(err, JW_ERR_MEMORY, "out of memory");
		goto done;
	}
	line = json_line(err, document);
	buf_clear(text);
	text->most = PACK_MOST_MANIFEST;
	result = line && !buf_append(err, text, line, strlen(line)) ? 0 : -1;
done:
	cJSON_free(line);
	cJSON_Delete(document);
	return result;
}
