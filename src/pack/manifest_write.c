/* The manifest as text, by tables: docs/pack-format.md says what the members mean. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "base/text.h"
#include "pack/opaque_manifest.h"

struct head {
	const char *format;
	char features[1][8];
	size_t feature_count;
	const struct pack_manifest *manifest;
};

static const char *say_name(char room[JSON_ROOM], const void *member)
{
	return pack_member_name(room, member);
}

static const char *manifest_key_text(char room[JSON_ROOM], const void *key)
{
	(void)snprintf(room, JSON_ROOM, "%016llx", (unsigned long long)*(const uint64_t *)key);
	return room;
}

static const char *say_target(char room[JSON_ROOM], const void *target)
{
	return jw_target_sm(room, *(const struct jw_target *)target);
}

static double pointer_bits(const void *manifest)
{
	(void)manifest;
	return 64;
}

static const struct json_field driver_fields[] = {
	JSON(struct pack_driver, stamp, NULL),
	JSON(struct pack_driver, release, NULL, .presence = JSON_IF_SET),
	JSON(struct pack_driver, cuda, NULL, .presence = JSON_IF_SET),
	{0},
};

static const struct json_field member_fields[] = {
	JSON_SAID_OF("name", say_name, NULL),
	JSON_AS("bytes", struct pack_member, size_bytes, NULL),
	{0},
};

static const struct json_field entry_fields[] = {
	JSON_SAID("key", struct pack_entry, key, manifest_key_text, NULL),
	JSON(struct pack_entry, driver, NULL),
	JSON_SAID("target", struct pack_entry, target, say_target, NULL),
	JSON(struct pack_entry, form, NULL, .names = pack_form_names),
	JSON(struct pack_entry, options, NULL),
	JSON(struct pack_entry, ptx, NULL),
	JSON(struct pack_entry, cubin, NULL),
	{0},
};

static const struct json_field manifest_fields[] = {
	JSON(struct pack_manifest, os, NULL),
	JSON_NUMBER_OF("pointer_bits", pointer_bits, NULL),
	JSON_LIST_OF("drivers", struct pack_manifest, drivers, driver_count,
				 JSON_TABLE(struct pack_driver, driver_fields), NULL),
	JSON_LIST_OF("members", struct pack_manifest, members, member_count,
				 JSON_TABLE(struct pack_member, member_fields), NULL),
	JSON_LIST_OF("entries", struct pack_manifest, entries, entry_count,
				 JSON_TABLE(struct pack_entry, entry_fields), NULL),
	{0},
};

static const struct json_field head_fields[] = {
	JSON(struct head, format, NULL),
	JSON_INSIDE_OF("requires", struct head, features, feature_count, NULL),
	JSON_ROW("", JSON_MEMBERS, .offset = offsetof(struct head, manifest),
			 .table = JSON_TABLE(struct pack_manifest, manifest_fields), .pointer = true),
	{0},
};

int manifest_format(struct jw_error *err, const struct pack_manifest *manifest, struct buf *text)
{
	struct head head = {.format = PACK_FORMAT, .manifest = manifest};
	cJSON *document;
	char *line = NULL;
	int result;

	head.feature_count = manifest->opaque;
	if (head.feature_count)
		TEXT_COPY(head.features[0], PACK_OPAQUE);
	document = json_object(err, JSON_TABLE(struct head, head_fields), &head);
	if (!document)
		return -1;
	if (manifest->opaque && !opaque_write(document, manifest))
		error_set(err, JW_ERR_MEMORY, "out of memory");
	else
		line = json_line(err, document);
	buf_clear(text);
	text->most = PACK_MOST_MANIFEST;
	result = line && !buf_append(err, text, line, strlen(line)) ? 0 : -1;
	cJSON_free(line);
	cJSON_Delete(document);
	return result;
}
