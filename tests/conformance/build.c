/* PTX modules and fat binary containers, as docs/internals/fatbin.md describes them. */
#include "suite.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

void blob_free(struct blob *blob)
{
	free(blob->data);
	*blob = (struct blob){NULL, 0};
}

void blob_add(struct blob *blob, const void *data, size_t size)
{
	uint8_t *larger = realloc(blob->data, blob->size + size + 1);

	if (!larger)
		abort();
	blob->data = larger;
	if (data)
		memcpy(larger + blob->size, data, size);
	else
		memset(larger + blob->size, 0, size);
	blob->size += size;
	larger[blob->size] = 0;
}

struct blob blob_copy(const void *data, size_t size)
{
	struct blob blob = {NULL, 0};

	blob_add(&blob, data, size);
	return blob;
}

struct blob part_text(const struct part *part)
{
	struct blob text = {NULL, 0};
	char line[1024];

	if (part->text)
		return blob_copy(part->text, strlen(part->text));
	snprintf(
		line, sizeof line,
		".version %s\n.target %s\n.address_size 64\n.visible .entry %s(.param .u64 p)\n{\n"
		"\t.reg .b32 %%r<3>;\n\t.reg .b64 %%d<4>;\n"
		"\tld.param.u64 %%d1, [p];\n\tcvta.to.global.u64 %%d2, %%d1;\n\tmov.u32 %%r1, %%tid.x;\n",
		part->version ? part->version : "6.3", part->target ? part->target : "sm_52",
		part->kernel ? part->kernel : "k");
	blob_add(&text, line, strlen(line));
	for (unsigned i = 0; i < part->statements; i++) {
		snprintf(line, sizeof line, "\txor.b32 %%r1, %%r1, %u;\n\tadd.s32 %%r1, %%r1, %u;\n",
				 i * 7919u, i);
		blob_add(&text, line, strlen(line));
	}
	snprintf(line, sizeof line,
			 "\tadd.s32 %%r2, %%r1, %u;\n\tst.global.u32 [%%d2], %%r2;\n\tret;\n}\n",
			 part->variant);
	blob_add(&text, line, strlen(line));
	return text;
}

static void put(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static struct blob compress(const struct blob *plain, int compression)
{
	struct blob packed = {NULL, 0};
	size_t size = compression == 4 ? (size_t)LZ4_compressBound((int)plain->size)
								   : ZSTD_compressBound(plain->size);

	blob_add(&packed, NULL, size);
	if (compression == 4)
		packed.size = (size_t)LZ4_compress_default((const char *)plain->data, (char *)packed.data,
												   (int)plain->size, (int)size);
	else
		packed.size = ZSTD_compress(packed.data, size, plain->data, plain->size, 3);
	return packed;
}

static struct blob part_payload(const struct part *part)
{
	struct blob payload;

	if (part->kind == 2)
		return blob_copy(part->data, part->size);
	payload = part_text(part);
	blob_add(&payload, NULL, (size_t)part->nuls);
	return payload;
}

/* "8.4" as two numbers. */
static void put_version(uint8_t *minor_major, const char *text)
{
	char *end;

	put(minor_major + 2, strtoul(text, &end, 10), 2);
	put(minor_major, strtoul(*end ? end + 1 : end, NULL, 10), 2);
}

static void add_part(struct blob *out, const struct part *part)
{
	static const uint64_t flag[] = {[4] = 0x2000, [8] = 0x8000};
	struct blob payload = part_payload(part);
	struct blob packed = part->compression ? compress(&payload, part->compression)
										   : blob_copy(payload.data, payload.size);
	size_t options = part->options ? strlen(part->options) : 0;
	size_t header = 72 + (options ? (options + 8) / 8 * 8 : 0);
	size_t padding = (8 - packed.size % 8) % 8;
	uint8_t *at;

	blob_add(out, NULL, header);
	at = out->data + out->size - header;
	put(at, part->kind ? (uint64_t)part->kind : 1, 2);
	put(at + 2, 0x101, 2);
	put(at + 4, header, 4);
	put(at + 8, packed.size + padding, 8);
	put(at + 16, part->compression ? packed.size : 0, 4);
	put(at + 20, part->kind == 2 ? 0 : 64, 4);
	put_version(at + 24, part->version ? part->version : "6.3");
	put(at + 28, part->arch ? (uint64_t)part->arch : 52, 4);
	put(at + 40, 0x11 | part->flags | (part->compression ? flag[part->compression] : 0), 8);
	put(at + 56, part->compression || part->header_size ? payload.size : 0, 8);
	if (options) {
		put(at + 64, 72, 4);
		put(at + 68, options, 4);
		memcpy(at + 72, part->options, options);
	}
	blob_add(out, packed.data, packed.size);
	blob_add(out, NULL, padding);
	blob_free(&packed);
	blob_free(&payload);
}

const char *raw_file(const void *data, size_t size)
{
	static char paths[16][320];
	static unsigned next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof *paths, "%s/image-%u", suite.scratch, next);
	if (!write_file(path, data, size))
		abort();
	return path;
}

const char *container(const struct part *parts, size_t count)
{
	struct blob out = {NULL, 0};
	const char *path;

	blob_add(&out, NULL, 16);
	for (size_t i = 0; i < count; i++)
		add_part(&out, &parts[i]);
	put(out.data, 0xba55ed50, 4);
	put(out.data + 4, 1, 2);
	put(out.data + 6, 16, 2);
	put(out.data + 8, out.size - 16, 8);
	path = raw_file(out.data, out.size);
	blob_free(&out);
	return path;
}

const char *module(unsigned variant)
{
	return CONTAINER({.variant = variant, .nuls = 1});
}
