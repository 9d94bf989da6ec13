#include "share/artifact.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/system.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "pack/judge.h"
#include "pack/minisign.h"
#include "pack/reader.h"
#include "share/oci_registry.h"

enum { MOST_CONFIG = 1 << 20 };

/* ---- what it is for */

static void add_list_word(char *list, size_t size, const char *word)
{
	const size_t used = strlen(list);

	if (*word && used + strlen(word) + 2 < size)
		(void)snprintf(list + used, size - used, "%s%s", used ? "," : "", word);
}

/* Whether a list with these separators has the word. */
static bool has_word(const char *list, const char *separators, const char *word)
{
	const size_t length = strlen(word);

	while (*list) {
		const size_t one = strcspn(list, separators);

		if (one == length && !memcmp(list, word, length))
			return true;
		list += one;
		list += strspn(list, separators);
	}
	return false;
}

static void cuda_text(char text[16], uint32_t cuda)
{
	(void)snprintf(text, 16, "%u.%u", cuda / 1000 % 1000, cuda % 1000 / 10);
}

void artifact_describe(struct artifact *artifact, const struct pack_manifest *manifest)
{
	char version[16];

	(void)pack_targets_text(artifact->targets, manifest);
	(void)pack_drivers_text(artifact->drivers, manifest);
	for (size_t i = 0; i < manifest->driver_count; i++) {
		add_list_word(artifact->stamps, sizeof artifact->stamps, manifest->drivers[i].stamp);
		cuda_text(version, manifest->drivers[i].cuda);
		if (manifest->drivers[i].cuda && !has_word(artifact->cuda, ",", version))
			add_list_word(artifact->cuda, sizeof artifact->cuda, version);
	}
	artifact->entries = manifest->entry_count;
	artifact->entry_bytes = manifest_content(manifest);
}

bool artifact_fits(const struct artifact *artifact, const struct jw_system *system)
{
	char version[16];
	bool target = !*artifact->targets;

	for (size_t i = 0; !target && i < system->gpu_count; i++) {
		char name[JW_TARGET_TEXT];

		target = has_word(artifact->targets, " ", jw_target_sm(name, system->gpus[i].target));
	}
	cuda_text(version, system->driver.version.cuda);
	return target && (!*artifact->stamps || has_word(artifact->stamps, ",", system->driver.stamp) ||
					  (system->driver.version.cuda && has_word(artifact->cuda, ",", version)));
}

bool artifact_same_kind(const struct artifact *a, const struct artifact *b)
{
	return !strcmp(a->targets, b->targets) && !strcmp(a->stamps, b->stamps);
}

/* ---- writing */

static void put_text(cJSON *object, const char *name, const char *text, bool *failed)
{
	if (json_add_text(NULL, object, name, text))
		*failed = true;
}

static void put_number(cJSON *object, const char *name, uint64_t value, bool *failed)
{
	if (!cJSON_AddNumberToObject(object, name, (double)value))
		*failed = true;
}

static cJSON *put_object(cJSON *object, const char *name, bool *failed)
{
	cJSON *member = cJSON_AddObjectToObject(object, name);

	if (!member)
		*failed = true;
	return member;
}

static cJSON *put_object_item(cJSON *list, bool *failed)
{
	cJSON *item = cJSON_CreateObject();

	if (!item || !cJSON_AddItemToArray(list, item)) {
		cJSON_Delete(item);
		*failed = true;
		return NULL;
	}
	return item;
}

/* Takes the document over. */
static int finish_document(struct jw_error *err, cJSON *document, bool failed, struct buf *text)
{
	char *line = failed || !document ? NULL : json_line(err, document);
	int result = -1;

	cJSON_Delete(document);
	*text = BUF_MAX(REGISTRY_MOST_MANIFEST);
	if (line)
		result = buf_append(err, text, line, strlen(line));
	else
		error_set(err, JW_ERR_MEMORY, "out of memory");
	cJSON_free(line);
	return result;
}

static void put_part(cJSON *object, const char *type, const struct artifact_part *part,
					 bool *failed)
{
	put_text(object, "mediaType", type, failed);
	put_text(object, "digest", part->digest, failed);
	put_number(object, "size", part->size_bytes, failed);
}

/* Annotations are texts, whatever they hold. */
static void put_annotations(cJSON *object, const struct artifact *artifact, bool *failed)
{
	cJSON *notes = put_object(object, "annotations", failed);
	char number[24];

	put_text(notes, "io.jitwarm.targets", artifact->targets, failed);
	put_text(notes, "io.jitwarm.driver", artifact->drivers, failed);
	put_text(notes, "io.jitwarm.stamp", artifact->stamps, failed);
	put_text(notes, "io.jitwarm.cuda", artifact->cuda, failed);
	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)artifact->entries);
	put_text(notes, "io.jitwarm.entries", number, failed);
	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)artifact->entry_bytes);
	put_text(notes, "io.jitwarm.bytes", number, failed);
	if (*artifact->plan)
		put_text(notes, "io.jitwarm.plan", artifact->plan, failed);
}

int artifact_write_config(struct jw_error *err, const struct artifact *artifact, struct buf *text)
{
	cJSON *document = cJSON_CreateObject();
	bool failed = !document;

	put_text(document, "schema", "jitwarm.pack.config/1", &failed);
	put_text(document, "targets", artifact->targets, &failed);
	put_text(document, "driver", artifact->drivers, &failed);
	put_text(document, "stamp", artifact->stamps, &failed);
	put_text(document, "cuda", artifact->cuda, &failed);
	put_number(document, "entries", artifact->entries, &failed);
	put_number(document, "bytes", artifact->entry_bytes, &failed);
	return finish_document(err, document, failed, text);
}

static void put_layer(cJSON *layers, const char *type, const struct artifact_part *part,
					  const char *title, const char *ending, bool *failed)
{
	char name[ARTIFACT_TITLE + 16];
	cJSON *layer = put_object_item(layers, failed), *notes;

	put_part(layer, type, part, failed);
	notes = put_object(layer, "annotations", failed);
	(void)snprintf(name, sizeof name, "%s%s", title, ending);
	put_text(notes, "org.opencontainers.image.title", name, failed);
}

int artifact_write(struct jw_error *err, const struct artifact *artifact, struct buf *text)
{
	cJSON *document = cJSON_CreateObject(), *config, *layers;
	bool failed = !document;

	put_number(document, "schemaVersion", 2, &failed);
	put_text(document, "mediaType", REGISTRY_MANIFEST, &failed);
	put_text(document, "artifactType", ARTIFACT_TYPE, &failed);
	config = put_object(document, "config", &failed);
	put_part(config, ARTIFACT_CONFIG_TYPE, &artifact->config, &failed);
	layers = cJSON_AddArrayToObject(document, "layers");
	failed = failed || !layers;
	put_layer(layers, ARTIFACT_PACK_TYPE, &artifact->pack, artifact->title, "", &failed);
	if (*artifact->signature.digest)
		put_layer(layers, ARTIFACT_SIGNATURE_TYPE, &artifact->signature, artifact->title,
				  ".minisig", &failed);
	put_annotations(document, artifact, &failed);
	return finish_document(err, document, failed, text);
}

int artifact_write_index(struct jw_error *err, const struct artifact *items, size_t count,
						 struct buf *text)
{
	cJSON *document = cJSON_CreateObject(), *list;
	bool failed = !document;

	put_number(document, "schemaVersion", 2, &failed);
	put_text(document, "mediaType", REGISTRY_INDEX, &failed);
	put_text(document, "artifactType", ARTIFACT_TYPE, &failed);
	list = cJSON_AddArrayToObject(document, "manifests");
	failed = failed || !list;
	for (size_t i = 0; !failed && i < count; i++) {
		cJSON *item = put_object_item(list, &failed);

		put_part(item, REGISTRY_MANIFEST, &items[i].manifest, &failed);
		put_text(item, "artifactType", ARTIFACT_TYPE, &failed);
		put_annotations(item, &items[i], &failed);
	}
	return finish_document(err, document, failed, text);
}

/* ---- reading */

static void read_note(const cJSON *notes, const char *name, char *room, size_t size)
{
	const char *text = json_text(notes, name, "");

	if (strlen(text) < size && text_is_utf8(text, strlen(text)) && !strpbrk(text, "\r\n\t"))
		text_copy(room, size, text);
}

static void read_annotations(const cJSON *object, struct artifact *artifact)
{
	const cJSON *notes = cJSON_GetObjectItemCaseSensitive(object, "annotations");

	read_note(notes, "io.jitwarm.targets", artifact->targets, sizeof artifact->targets);
	read_note(notes, "io.jitwarm.driver", artifact->drivers, sizeof artifact->drivers);
	read_note(notes, "io.jitwarm.stamp", artifact->stamps, sizeof artifact->stamps);
	read_note(notes, "io.jitwarm.cuda", artifact->cuda, sizeof artifact->cuda);
	read_note(notes, "io.jitwarm.plan", artifact->plan, sizeof artifact->plan);
	if (strlen(artifact->plan) != JW_PLAN_TAG - 1 || !reference_is_tag(artifact->plan) ||
		!text_starts(artifact->plan, "p-"))
		*artifact->plan = '\0';
	(void)text_number(json_text(notes, "io.jitwarm.entries", ""), PACK_MOST_ENTRIES,
					  &artifact->entries);
	(void)text_number(json_text(notes, "io.jitwarm.bytes", ""), UINT64_C(1) << 50,
					  &artifact->entry_bytes);
}

static int read_descriptor(struct jw_error *err, const cJSON *object, uint64_t most,
						   struct artifact_part *part)
{
	const char *digest = json_text(object, "digest", "");

	if (!reference_is_digest(digest))
		return error_set(err, JW_ERR_FORMAT, "names a part without a SHA-256 digest");
	TEXT_COPY(part->digest, digest);
	part->size_bytes = json_count(object, "size");
	return part->size_bytes <= most
			   ? 0
			   : error_set(err, JW_ERR_LIMIT,
						   "names a part of %llu bytes, more than the %llu "
						   "that it can have",
						   (unsigned long long)part->size_bytes, (unsigned long long)most);
}

/* Whether Windows takes a file's name for a device: "con.jwpack", "LPT1.x". */
static bool is_device_name(const char *name)
{
	static const char *const devices[] = {"con.", "prn.", "aux.", "nul."};

	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (text_starts_fold(name, devices[i]))
			return true;
	return (text_starts_fold(name, "com") || text_starts_fold(name, "lpt")) &&
		   text_is_digit(name[3]) && name[4] == '.';
}

/* A name for a file in a folder of ours: nothing that a system takes for a device or a path. */
static void read_title(const cJSON *layer, char title[ARTIFACT_TITLE])
{
	const char *name = json_text(cJSON_GetObjectItemCaseSensitive(layer, "annotations"),
								 "org.opencontainers.image.title", "");

	if (strlen(name) < ARTIFACT_TITLE && reference_is_tag(name) && !is_device_name(name) &&
		text_ends(name, ".jwpack"))
		text_copy(title, ARTIFACT_TITLE, name);
}

static int read_layers(struct jw_error *err, const cJSON *layers, struct artifact *artifact)
{
	const cJSON *layer;

	if (cJSON_GetArraySize(layers) > ARTIFACT_MOST)
		return error_set(err, JW_ERR_LIMIT, "names more than %d layers", ARTIFACT_MOST);
	cJSON_ArrayForEach(layer, layers)
	{
		const char *type = json_text(layer, "mediaType", "");
		const bool pack = !strcmp(type, ARTIFACT_PACK_TYPE),
				   signature = !strcmp(type, ARTIFACT_SIGNATURE_TYPE);
		struct artifact_part *part = pack ? &artifact->pack : &artifact->signature;

		if (!pack && !signature)
			continue;
		if (*part->digest)
			return error_set(err, JW_ERR_FORMAT, "names two packs or two signatures");
		if (read_descriptor(err, layer, pack ? PACK_MOST_SIZE : MINISIGN_MOST_FILE, part))
			return -1;
		if (pack)
			read_title(layer, artifact->title);
	}
	return *artifact->pack.digest ? 0 : error_set(err, JW_ERR_FORMAT, "is no pack of jitwarm's");
}

static int read_manifest_document(struct jw_error *err, const cJSON *document,
								  struct artifact *artifact)
{
	const cJSON *config = cJSON_GetObjectItemCaseSensitive(document, "config");

	if (strcmp(json_text(config, "mediaType", ""), ARTIFACT_CONFIG_TYPE) != 0)
		return error_set(err, JW_ERR_FORMAT, "is no pack of jitwarm's");
	read_annotations(document, artifact);
	return read_descriptor(err, config, MOST_CONFIG, &artifact->config) ||
				   read_layers(err, cJSON_GetObjectItemCaseSensitive(document, "layers"), artifact)
			   ? -1
			   : 0;
}

static int read_index_item(struct jw_error *err, void *context, const cJSON *item, void *element)
{
	struct artifact *artifact = element;

	(void)context;
	if (strcmp(json_text(item, "mediaType", ""), REGISTRY_MANIFEST) != 0 ||
		!*json_text(cJSON_GetObjectItemCaseSensitive(item, "annotations"), "io.jitwarm.entries",
					""))
		return error_set(err, JW_ERR_FORMAT, "holds something else than packs of jitwarm's");
	read_annotations(item, artifact);
	return read_descriptor(err, item, REGISTRY_MOST_MANIFEST, &artifact->manifest);
}

int artifact_read(struct jw_error *err, const char *text, size_t size,
				  struct artifact_list *ret_list)
{
	const struct json_list manifests = {.name = "manifests",
										.most = ARTIFACT_MOST,
										.size = sizeof(struct artifact),
										.read = read_index_item};
	struct artifact_list list = {0};
	cJSON *document = json_parse(err, text, size);
	void *items = NULL;
	int result;

	if (!document)
		return -1;
	list.index = cJSON_GetObjectItemCaseSensitive(document, "manifests") != NULL;
	if (list.index) {
		result = json_list_read(err, document, &manifests, &items, &list.count);
		list.items = items;
	} else {
		list.items = mem_array(err, 1, sizeof *list.items);
		list.count = 1;
		result = list.items ? read_manifest_document(err, document, list.items) : -1;
	}
	cJSON_Delete(document);
	if (result)
		artifact_list_free(&list);
	else
		*ret_list = list;
	return result;
}

int artifact_fetch(struct jw_error *err, struct registry *registry, const char *name,
				   struct artifact_list *ret_list)
{
	char digest[REFERENCE_DIGEST];
	struct buf text;
	int result;

	if (registry_manifest(err, registry, name, &text, digest))
		return -1;
	result = artifact_read(err, buf_text(&text), text.size, ret_list);
	if (result) {
		error_prefix(err, "%s: %s", registry_place(registry), name);
	} else if (!ret_list->index) {
		TEXT_COPY(ret_list->items[0].manifest.digest, digest);
		ret_list->items[0].manifest.size_bytes = text.size;
	}
	buf_free(&text);
	return result;
}

void artifact_list_free(struct artifact_list *list)
{
	mem_free(list->items);
	*list = (struct artifact_list){0};
}
