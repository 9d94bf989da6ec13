#include "pack/manifest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/entry.h"

static const char *const kind_names[] = {[PACK_PTX] = "ptx", [PACK_CUBIN] = "cubin"};
static const char *const pack_form_names[] = {
	[PACK_LOAD] = "load", [PACK_LINK] = "link", [PACK_BARE] = "bare"};
/* Hashes that begin alike are rare; each is compared with those that do. */
enum { KINDS = 2, FORMS = 3, MAX_ALIKE = 32 };

const char *pack_member_name(char name[TAR_MAX_NAME + 1], const struct pack_member *member)
{
	char digest[DIGEST_TEXT_SIZE];

	digest_text(digest, &member->digest);
	(void)snprintf(name, TAR_MAX_NAME + 1, "%s/%s", kind_names[member->kind], digest);
	return name;
}

uint64_t manifest_content(const struct pack_manifest *manifest)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < manifest->member_count; i++)
		sum += manifest->members[i].size_bytes;
	return sum;
}

uint64_t manifest_extent(const struct pack_manifest *manifest)
{
	uint64_t size = TAR_END;

	for (size_t i = 0; i < manifest->member_count; i++)
		size += tar_extent(manifest->members[i].size_bytes);
	return size;
}

int manifest_add_member(struct jw_error *err, struct pack_manifest *manifest, struct set *leads,
						const struct pack_member *member, uint32_t *ret_at)
{
	size_t cursor = 0, at, others = 0;
	uint64_t lead;

	memcpy(&lead, member->digest.bytes, sizeof lead);
	while ((at = set_find(leads, lead, &cursor)) != SET_NONE &&
		   (manifest->members[at].kind != member->kind ||
			!digest_equal(&manifest->members[at].digest, &member->digest)))
		if (++others == MAX_ALIKE)
			return error_set(err, JW_ERR_FORMAT, "its hashes begin alike, as only chosen ones do");
	if (at == SET_NONE) {
		at = manifest->member_count;
		if (at == PACK_MAX_MEMBERS)
			return error_set(err, JW_ERR_LIMIT,
							 "a pack holds at most %d modules and pieces of machine code: export "
							 "fewer packages at once",
							 PACK_MAX_MEMBERS);
		set_add(leads, lead, at);
		manifest->members[manifest->member_count++] = *member;
	}
	*ret_at = (uint32_t)at;
	return 0;
}

void manifest_free(struct pack_manifest *manifest)
{
	for (size_t i = 0; i < manifest->entry_count; i++)
		mem_free(manifest->entries[i].options);
	mem_free(manifest->entries);
	mem_free(manifest->members);
	mem_free(manifest->drivers);
	*manifest = (struct pack_manifest){0};
}

bool pack_entry_is_jitlink(const struct pack_entry *entry)
{
	return entry->form == PACK_LOAD && cache_key_is_jitlink(entry->options, strlen(entry->options));
}

bool pack_entry_is_relocatable(const struct pack_entry *entry)
{
	return entry->form == PACK_LINK || pack_entry_is_jitlink(entry);
}

size_t pack_key_tail(char tail[CACHE_KEY_MAX_TAIL], const struct pack_entry *entry)
{
	return entry->form == PACK_BARE
			   ? 0
			   : cache_key_tail(tail, entry->form == PACK_LINK ? CACHE_KEY_LINK : CACHE_KEY_LOAD,
								entry->options, strlen(entry->options));
}

void pack_entry_identity(struct jw_identity *ret_identity, const struct pack_manifest *manifest,
						 const struct pack_entry *entry)
{
	char tail[CACHE_KEY_MAX_TAIL];

	cache_key_identity(ret_identity, &manifest->members[entry->ptx].digest, tail,
					   pack_key_tail(tail, entry));
}

uint64_t pack_key_bytes(const struct pack_manifest *manifest, const struct pack_entry *entry)
{
	char start[CACHE_KEY_MAX_START + 1], tail[CACHE_KEY_MAX_TAIL];
	const char *stamp = manifest->drivers[entry->driver].stamp;

	return cache_key_write_start(start, stamp, entry->target) +
		   manifest->members[entry->ptx].size_bytes + pack_key_tail(tail, entry);
}

static int malformed(struct jw_error *err)
{
	return error_set(err, JW_ERR_FORMAT, "malformed");
}

/* Reads a whole number from 0 to `most`; false if the member is missing or anything else. */
static bool read_count(const cJSON *object, const char *name, uint64_t most, uint64_t *ret_value)
{
	double value = json_number(object, name, -1);

	if (!(value >= 0) || value > (double)most || value != (double)(uint64_t)value)
		return false;
	*ret_value = (uint64_t)value;
	return true;
}

static bool read_index(const cJSON *object, const char *name, size_t count, uint32_t *ret_index)
{
	uint64_t value;

	if (!count || !read_count(object, name, count - 1, &value))
		return false;
	*ret_index = (uint32_t)value;
	return true;
}

/* Reads a text, "" if it is missing; false if the member is anything else. */
static bool read_manifest_word(const cJSON *object, const char *name, const char **ret_text)
{
	*ret_text = json_text(object, name, "");
	return !cJSON_GetObjectItemCaseSensitive(object, name) || json_text(object, name, NULL);
}

static int read_manifest_driver(struct jw_error *err, void *context, const cJSON *object,
								void *element)
{
	struct pack_driver *driver = element;
	const char *stamp, *release;
	uint64_t cuda = 0;

	(void)context;
	if (!read_manifest_word(object, "stamp", &stamp) ||
		!read_manifest_word(object, "release", &release) ||
		(cJSON_GetObjectItemCaseSensitive(object, "cuda") &&
		 !read_count(object, "cuda", 1000000, &cuda)) ||
		!jw_stamp_is(stamp) || strlen(release) >= sizeof driver->release ||
		strspn(release, "0123456789.") != strlen(release))
		return malformed(err);
	TEXT_COPY(driver->stamp, stamp);
	TEXT_COPY(driver->release, release);
	driver->cuda = (uint32_t)cuda;
	return 0;
}

static bool read_hex(const char *text, struct digest *digest)
{
	if (strlen(text) != DIGEST_TEXT_SIZE - 1)
		return false;
	for (size_t i = 0; text[i]; i++) {
		const char *digits = "0123456789abcdef", *digit = strchr(digits, text[i]);

		if (!digit)
			return false;
		digest->bytes[i / 2] =
			(uint8_t)((unsigned)digest->bytes[i / 2] << 4 | (unsigned)(digit - digits));
	}
	return true;
}

static bool parse_member(const cJSON *object, struct pack_member *member)
{
	const char *name = json_text(object, "name", "");

	for (size_t kind = 0; kind < KINDS; kind++) {
		size_t length = strlen(kind_names[kind]);

		if (text_starts(name, kind_names[kind]) && name[length] == '/' &&
			read_hex(name + length + 1, &member->digest)) {
			member->kind = (enum pack_kind)kind;
			return read_count(object, "bytes", CACHE_MAX_ENTRY, &member->size_bytes) &&
				   member->size_bytes > 0;
		}
	}
	return false;
}

static int read_manifest_entry(struct jw_error *err, void *context, const cJSON *object,
							   void *element)
{
	const struct pack_manifest *manifest = context;
	struct pack_entry *entry = element;
	const char *options = json_text(object, "options", NULL);
	size_t form = 0;

	while (form < FORMS && strcmp(json_text(object, "form", ""), pack_form_names[form]) != 0)
		form++;
	if (form == FORMS || !options || strlen(options) > PACK_MAX_OPTIONS ||
		(form == PACK_BARE && *options) || !json_hex64(object, "key", &entry->key) ||
		!jw_target_parse(json_text(object, "target", ""), &entry->target) ||
		!read_index(object, "driver", manifest->driver_count, &entry->driver) ||
		!read_index(object, "ptx", manifest->member_count, &entry->ptx) ||
		!read_index(object, "cubin", manifest->member_count, &entry->cubin) ||
		manifest->members[entry->ptx].kind != PACK_PTX ||
		manifest->members[entry->cubin].kind != PACK_CUBIN)
		return malformed(err);
	entry->form = (enum pack_form)form;
	entry->options = mem_string(options);
	return 0;
}

/* Refuses a member that no entry needs, because it could hold anything. */
static int refuse_unused_members(struct jw_error *err, const struct pack_manifest *manifest)
{
	uint8_t *used = mem_alloc(manifest->member_count);
	int result = 0;

	for (size_t i = 0; i < manifest->entry_count; i++)
		used[manifest->entries[i].ptx] = used[manifest->entries[i].cubin] = 1;
	for (size_t i = 0; !result && i < manifest->member_count; i++)
		if (!used[i])
			result = error_set(err, JW_ERR_FORMAT, "no entry needs member %zu", i);
	mem_free(used);
	return result;
}

struct reading_members {
	struct pack_manifest *manifest;
	struct set seen;
	uint64_t total;
};

/* Reads a member, which is compared with the earlier members of the array. */
static int read_manifest_member(struct jw_error *err, void *context, const cJSON *object,
								void *element)
{
	struct reading_members *reading = context;
	struct pack_member *member = element;
	uint32_t at;

	if (!parse_member(object, member))
		return malformed(err);
	reading->total += member->size_bytes;
	if (reading->total > PACK_MAX_TOTAL)
		return error_set(err, JW_ERR_LIMIT, "more than %llu GiB of content",
						 (unsigned long long)(PACK_MAX_TOTAL >> 30));
	reading->manifest->member_count--;
	if (manifest_add_member(err, reading->manifest, &reading->seen, member, &at))
		return -1;
	if (&reading->manifest->members[at] == member)
		return 0;
	reading->manifest->member_count++;
	return error_set(err, JW_ERR_FORMAT, "is there twice");
}

static int read_content(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest)
{
	struct reading_members reading = {.manifest = manifest};
	const struct json_list drivers = {.name = "drivers",
									  .most = PACK_MAX_DRIVERS,
									  .size = sizeof *manifest->drivers,
									  .read = read_manifest_driver,
									  .context = manifest};
	const struct json_list members = {.name = "members",
									  .most = PACK_MAX_MEMBERS,
									  .size = sizeof *manifest->members,
									  .read = read_manifest_member,
									  .context = &reading};
	const struct json_list entries = {.name = "entries",
									  .most = PACK_MAX_ENTRIES,
									  .size = sizeof *manifest->entries,
									  .read = read_manifest_entry,
									  .context = manifest};
	int result = json_list_read(err, document, &drivers, (void **)&manifest->drivers,
								&manifest->driver_count) ||
						 json_list_read(err, document, &members, (void **)&manifest->members,
										&manifest->member_count) ||
						 json_list_read(err, document, &entries, (void **)&manifest->entries,
										&manifest->entry_count) ||
						 refuse_unused_members(err, manifest)
					 ? -1
					 : 0;

	set_free(&reading.seen);
	return result ? error_prefix(err, "manifest") : 0;
}

static int read_head(struct jw_error *err, const cJSON *document, struct pack_manifest *manifest)
{
	const char *format = json_text(document, "format", ""), *os = json_text(document, "os", "");
	const cJSON *features = cJSON_GetObjectItemCaseSensitive(document, "requires");
	uint64_t bits;

	if (!text_starts(format, "jitwarm.pack/"))
		return error_set(err, JW_ERR_FORMAT, "manifest: names no pack format");
	if (strcmp(format, PACK_FORMAT) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "its format is %.40s, this jitwarm reads %s: a newer jitwarm is needed",
						 format, PACK_FORMAT);
	if (!cJSON_IsArray(features))
		return error_set(err, JW_ERR_FORMAT, "manifest: no list “requires”");
	/* No feature is known now. */
	if (features->child)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "the pack needs “%.40s”, which this version of jitwarm does not know: "
						 "install a newer one",
						 cJSON_IsString(features->child) ? features->child->valuestring : "?");
	if (!read_count(document, "pointer_bits", 1024, &bits))
		return error_set(err, JW_ERR_FORMAT, "manifest: no pointer size");
	if (bits != 64)
		return error_set(err, JW_ERR_UNSUPPORTED, "pointer size: %u bits, drivers here have 64",
						 (unsigned)bits);
	if (!*os || strlen(os) >= sizeof manifest->os)
		return error_set(err, JW_ERR_FORMAT, "manifest: no name of an operating system");
	TEXT_COPY(manifest->os, os);
	return 0;
}

int manifest_parse(struct jw_error *err, const char *text, size_t size,
				   struct pack_manifest *ret_manifest)
{
	struct pack_manifest manifest = {0};
	cJSON *document;

	if (size > PACK_MAX_MANIFEST)
		return error_set(err, JW_ERR_LIMIT, "manifest: larger than %d MiB",
						 PACK_MAX_MANIFEST >> 20);
	document = json_parse(err, text, size);
	if (!document)
		return error_prefix(err, "manifest");
	if (read_head(err, document, &manifest) || read_content(err, document, &manifest)) {
		cJSON_Delete(document);
		manifest_free(&manifest);
		return -1;
	}
	cJSON_Delete(document);
	*ret_manifest = manifest;
	return 0;
}

/* ---- the manifest as text, by tables; docs/internals/formats.md describes the members */

struct head {
	const char *format;
	char features[1][8];
	size_t feature_count;
	const struct pack_manifest *manifest;
};

static const char *format_name(char room[JSON_ROOM], const void *member)
{
	return pack_member_name(room, member);
}

static const char *format_key(char room[JSON_ROOM], const void *key)
{
	(void)snprintf(room, JSON_ROOM, "%016llx", (unsigned long long)*(const uint64_t *)key);
	return room;
}

static const char *format_target(char room[JSON_ROOM], const void *target)
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
	JSON_FORMATTED_OF("name", format_name, NULL),
	JSON_AS("bytes", struct pack_member, size_bytes, NULL),
	{0},
};

static const struct json_field entry_fields[] = {
	JSON_FORMATTED("key", struct pack_entry, key, format_key, NULL),
	JSON(struct pack_entry, driver, NULL),
	JSON_FORMATTED("target", struct pack_entry, target, format_target, NULL),
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
	cJSON *document = json_object(JSON_TABLE(struct head, head_fields), &head);
	char *line = json_line(document);
	int result;

	buf_clear(text);
	text->most = PACK_MAX_MANIFEST;
	result = buf_append(err, text, line, strlen(line));
	cJSON_free(line);
	cJSON_Delete(document);
	return result;
}
