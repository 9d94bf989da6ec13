#include "share/layout.h"

#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

#define MANIFEST_TYPE  "application/vnd.oci.image.manifest.v1+json"
#define PACK_TYPE      "application/vnd.jitwarm.pack.v1"
#define CONFIG_TYPE    "application/vnd.oci.empty.v1+json"
#define LAYER_TYPE     "application/vnd.jitwarm.pack.v1.tar+zstd"
#define SIGNATURE_TYPE "application/vnd.jitwarm.pack.minisig.v1"

enum { MAX_MANIFEST = 1 << 20 };

/* ---- writing */

static int add_text(struct jw_error *err, const char *folder, const char *name, const char *text)
{
	char *path = os_join(folder, name);
	const int result = os_write_atomic(err, path, text, strlen(text));

	mem_free(path);
	return result;
}

static void hash_of(char ret_hex[LAYOUT_HEX], const void *data, size_t size)
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256(hash, data, size);
	sodium_bin2hex(ret_hex, LAYOUT_HEX, hash, sizeof hash);
}

/* Appends a part; `title` is a file's name for other tools (“oras pull” writes it), or NULL. */
static void add_part(struct buf *list, const char *type, const char *hex, uint64_t size_bytes,
					 const char *title)
{
	buf_add(list, "{\"mediaType\":\"%s\",\"digest\":\"sha256:%s\",\"size\":%llu%s%s%s}", type, hex,
			(unsigned long long)size_bytes,
			title ? ",\"annotations\":{\"org.opencontainers.image.title\":\"" : "",
			title ? title : "", title ? "\"}" : "");
}

/* Renames the file by the hash of its bytes. */
static int add_blob(struct jw_error *err, const char *blobs, const char *path, const char *type,
					const char *title, struct buf *list)
{
	char hex[LAYOUT_HEX], *name;
	struct os_map map;
	int result;

	if (os_map_open(err, path, &map))
		return -1;
	hash_of(hex, map.data, map.size);
	add_part(list, type, hex, map.size, title);
	os_map_close(&map);
	name = os_join(blobs, hex);
	result = os_rename(err, path, name);
	mem_free(name);
	return result;
}

int layout_write(struct jw_error *err, const char *folder, const char *pack, const char *signature)
{
	char *blobs = mem_printf("%s/blobs/sha256", folder);
	struct buf manifest = BUF_MAX(MAX_MANIFEST), index = BUF_MAX(MAX_MANIFEST);
	char hex[LAYOUT_HEX];
	int result = -1;

	hash_of(hex, "{}", 2);
	if (os_make_dirs(err, blobs, 0700) ||
		add_text(err, folder, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}") ||
		add_text(err, blobs, hex, "{}"))
		goto done;
	buf_add(&manifest,
			"{\"schemaVersion\":2,\"mediaType\":\"%s\",\"artifactType\":\"%s\",\"config\":",
			MANIFEST_TYPE, PACK_TYPE);
	add_part(&manifest, CONFIG_TYPE, hex, 2, NULL);
	buf_add(&manifest, ",\"layers\":[");
	if (add_blob(err, blobs, pack, LAYER_TYPE, "pack.jwpack", &manifest))
		goto done;
	if (signature) {
		buf_add(&manifest, ",");
		if (add_blob(err, blobs, signature, SIGNATURE_TYPE, "pack.jwpack.minisig", &manifest))
			goto done;
	}
	buf_add(&manifest, "]}");
	hash_of(hex, manifest.data, manifest.size);
	if (add_text(err, blobs, hex, buf_text(&manifest)))
		goto done;
	buf_add(&index,
			"{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"%s\",\"digest\":\"sha256:%s\","
			"\"size\":%zu,\"annotations\":{\"org.opencontainers.image.ref.name\":\"%s\"}}]}",
			MANIFEST_TYPE, hex, manifest.size, LAYOUT_NAME);
	result = add_text(err, folder, "index.json", buf_text(&index));
done:
	buf_free(&manifest);
	buf_free(&index);
	mem_free(blobs);
	return result;
}

/* ---- reading */

static bool read_digest(const cJSON *object, char ret_hex[LAYOUT_HEX])
{
	const char *digest = json_text(object, "digest", "");

	if (!text_starts(digest, "sha256:") || strlen(digest) != 7 + LAYOUT_HEX - 1 ||
		strspn(digest + 7, "0123456789abcdef") != LAYOUT_HEX - 1)
		return false;
	memcpy(ret_hex, digest + 7, LAYOUT_HEX);
	return true;
}

int layout_parts_read(struct jw_error *err, const char *text, size_t size,
					  struct layout_parts *ret_parts)
{
	cJSON *document = json_parse(err, text, size);
	const cJSON *layers = cJSON_GetObjectItemCaseSensitive(document, "layers"), *layer;
	struct layout_parts parts = {{0}, {0}};
	bool sound = true;

	if (!document)
		return -1;
	cJSON_ArrayForEach(layer, layers)
	{
		const char *type = json_text(layer, "mediaType", "");
		char *hex = !strcmp(type, LAYER_TYPE)       ? parts.pack
					: !strcmp(type, SIGNATURE_TYPE) ? parts.signature
													: NULL;

		sound = sound && hex && !*hex && read_digest(layer, hex);
	}
	cJSON_Delete(document);
	if (!sound || !*parts.pack || !strcmp(parts.pack, parts.signature))
		return error_set(err, JW_ERR_FORMAT, "holds something other than a jitwarm pack");
	*ret_parts = parts;
	return 0;
}

/* Reads the only manifest that the index names. */
static int read_manifest(struct jw_error *err, const char *folder, const char *blobs,
						 struct layout_parts *ret_parts)
{
	char *path = os_join(folder, "index.json"), hex[LAYOUT_HEX] = "";
	struct buf text = {0};
	cJSON *index = NULL;
	const cJSON *list;
	int result = -1;

	if (os_read_file(err, path, MAX_MANIFEST, &text) ||
		!(index = json_parse(err, buf_text(&text), text.size)))
		goto done;
	list = cJSON_GetObjectItemCaseSensitive(index, "manifests");
	if (cJSON_GetArraySize(list) != 1 || !read_digest(list->child, hex)) {
		error_set(err, JW_ERR_FORMAT, "holds something other than one pack");
		goto done;
	}
	buf_free(&text);
	mem_free(path);
	path = os_join(blobs, hex);
	result = os_read_file(err, path, MAX_MANIFEST, &text);
	if (!result)
		result = layout_parts_read(err, buf_text(&text), text.size, ret_parts);
done:
	cJSON_Delete(index);
	buf_free(&text);
	mem_free(path);
	return result;
}

static int take_blob(struct jw_error *err, const char *blobs, const char *hex, const char *to)
{
	char *path = os_join(blobs, hex);
	const int result = os_rename(err, path, to);

	mem_free(path);
	return result;
}

int layout_read(struct jw_error *err, const char *folder, const char *path)
{
	char *blobs = mem_printf("%s/blobs/sha256", folder),
		 *signature = mem_printf("%s.minisig", path);
	struct layout_parts parts;
	int result = read_manifest(err, folder, blobs, &parts);

	if (!result)
		result = take_blob(err, blobs, parts.pack, path);
	if (!result && *parts.signature)
		result = take_blob(err, blobs, parts.signature, signature);
	mem_free(signature);
	mem_free(blobs);
	return result;
}
