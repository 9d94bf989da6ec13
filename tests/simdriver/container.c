/* Recognises images, and chooses an entry of a fat binary. Measured on 535, 550 and 555: a cubin
 * that runs beats PTX; the newest architecture wins. Of several for one architecture the last wins
 * if it is the GPU's own, else the first. ISA version, compression and damage do not influence the
 * choice, and there is no second choice. Layout: docs/internals/fatbin.md. */
#include "sim.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTAINER_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC   0x466243b1u
#define ELF_MAGIC       0x464c457fu
#define FLAG_LZ4        0x2000u
#define FLAG_ZSTD       0x8000u
#define FLAG_A          0x100000u
#define FLAG_F          0x200000u

struct entry {
	int kind;
	int sm;
	char form;
	uint64_t flags;
	const uint8_t *payload;
	size_t payload_size;
	size_t compressed_size;
	size_t uncompressed_size;
	const char *options;
};

static bool is_tegra(int sm)
{
	return sm == 53 || sm == 62 || sm == 72 || sm == 87 || sm == 101 || sm == 110;
}

/* Says whether an architecture below 100 is known; code for others is passed over. */
static bool is_architecture(int sm)
{
	static const char known[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53,
								 60, 61, 62, 69, 70, 72, 75, 80, 86, 87, 89, 90};

	return sm >= 100 || memchr(known, sm, sizeof known);
}

bool ptx_runs(int sm, char variant, int gpu)
{
	if (!is_architecture(sm))
		return false;
	if (variant == 'a')
		return sm == gpu;
	if (variant == 'f')
		return sm / 10 == gpu / 10 && sm <= gpu;
	return sm <= gpu;
}

bool cubin_runs(int sm, char variant, int gpu)
{
	if (sm == gpu)
		return true;
	if (!is_architecture(sm))
		return false;
	return variant != 'a' && sm / 10 == gpu / 10 && sm <= gpu && is_tegra(sm) == is_tegra(gpu);
}

/* Reads the entry at `at`; false if the container does not hold one there. */
static bool entry_read(struct entry *ret, const uint8_t *at, size_t left, size_t *ret_size)
{
	uint32_t header, options, text;
	uint64_t size;

	if (left < 64)
		return false;
	header = get_u32(at + 4);
	size = get_u64(at + 8);
	if (header < 64 || header > left || size > left - header)
		return false;
	*ret = (struct entry){
		.kind = (int)(get_u32(at) & 0xffff),
		.compressed_size = get_u32(at + 16),
		.sm = (int)get_u32(at + 28),
		.flags = get_u64(at + 40),
		.uncompressed_size = (size_t)get_u64(at + 56),
		.payload = at + header,
		.payload_size = (size_t)size,
		.options = "",
	};
	ret->form = ret->flags & FLAG_A ? 'a' : ret->flags & FLAG_F ? 'f' : 0;
	options = get_u32(at + 20);
	text = options && options + 8 <= header ? get_u32(at + options) : 0;
	/* The driver reads up to a NUL and ignores the length in the header. */
	if (text && text < header && memchr(at + text, 0, header - text))
		ret->options = (const char *)at + text;
	/* Also where it reads its own first bytes as the text's place, mostly not in the container. */
	if (!options && ret->kind == KIND_PTX)
		ret->options = (const char *)at + get_u32(at);
	*ret_size = header + (size_t)size;
	return true;
}

/* An architecture that no GPU can have makes the container invalid. */
static bool is_fatal(const struct entry *entry)
{
	int end = sim.cuda_version < 12000 ? 256 : 1000;
	bool is_read = sim.cuda_version < 12050 || entry->kind == KIND_PTX ||
				   entry->kind == KIND_CUBIN || entry->kind == KIND_LTOIR;

	return is_read && (entry->sm <= 0 || entry->sm >= end);
}

static bool better(const struct entry *entry, const struct entry *best, int gpu)
{
	return !best->payload || entry->sm > best->sm || entry->sm == gpu;
}

/* 12.5 and newer load relocatable PTX; a module prefers any other entry. */
static bool is_ptx(const struct entry *entry, const struct entry *best)
{
	return entry->kind == KIND_PTX ||
		   (entry->kind == KIND_RELOCATABLE_PTX && sim.cuda_version >= 12050 &&
			(!best->payload || best->kind == KIND_RELOCATABLE_PTX));
}

/* Unpacks the payload for the compiler or loader. */
static int unpack(const struct entry *entry, struct bytes *ret_payload)
{
	struct bytes plain = {NULL, 0};
	size_t got = 0;

	if (!entry->compressed_size || (entry->flags & FLAG_ZSTD && !config_reads_zstd())) {
		/* An older driver reads a zstd frame as text. */
		bytes_add(ret_payload, entry->payload, entry->payload_size);
		return CU_OK;
	}
	if (entry->compressed_size > entry->payload_size || entry->uncompressed_size > INT32_MAX)
		return CU_INVALID_IMAGE;
	bytes_add(&plain, NULL, entry->uncompressed_size);
	if (entry->flags & FLAG_ZSTD) {
		got = ZSTD_decompress(plain.data, plain.size, entry->payload, entry->compressed_size);
	} else if (entry->flags & FLAG_LZ4) {
		int size = LZ4_decompress_safe((const char *)entry->payload, (char *)plain.data,
									   (int)entry->compressed_size, (int)plain.size);
		got = size < 0 ? 0 : (size_t)size;
	}
	if (got != plain.size) {
		bytes_free(&plain);
		return CU_INVALID_IMAGE;
	}
	/* Unpacked text gets one more NUL, which is part of the key; raw text is used unchanged, with
	 * its padding. */
	if (entry->kind != KIND_CUBIN)
		bytes_add(&plain, NULL, 1);
	*ret_payload = plain;
	return CU_OK;
}

/* Drivers before 12.5 take unknown kinds, such as 0x40, for a cubin if a cubin of that architecture
 * would run. On 550, a load ends the process, and a link does not. */
static int spoil(bool link)
{
	if (sim.cuda_version >= 12040 && !link)
		abort();
	return CU_INVALID_IMAGE;
}

static int container_choose(struct image *ret_image, const uint8_t *data, int gpu, bool link)
{
	bool spoiled = false;
	uint64_t left = get_u64(data + 8);
	struct entry entry, cubin = {0}, ptx = {0};
	const struct entry *taken;
	size_t size = 0;
	int bad;

	data += get_u32(data + 4) >> 16;
	for (; left > 0 && entry_read(&entry, data, (size_t)left, &size); data += size, left -= size) {
		if (is_fatal(&entry))
			return CU_UNKNOWN;
		if (entry.kind == KIND_CUBIN && cubin_runs(entry.sm, entry.form, gpu) &&
			better(&entry, &cubin, gpu))
			cubin = entry;
		if (is_ptx(&entry, &ptx) && ptx_runs(entry.sm, entry.form, gpu) &&
			((ptx.kind == KIND_RELOCATABLE_PTX && entry.kind == KIND_PTX) ||
			 better(&entry, &ptx, gpu)))
			ptx = entry;
		if (entry.kind != KIND_PTX && entry.kind != KIND_CUBIN && entry.kind != KIND_LTOIR &&
			sim.cuda_version < 12050) {
			ret_image->passed_over |= entry.kind == KIND_RELOCATABLE_PTX;
			spoiled |= cubin_runs(entry.sm, entry.form, gpu);
		}
	}
	if (!cubin.payload && spoiled)
		return spoil(link);
	taken = cubin.payload && !sim.force_jit ? &cubin : &ptx;
	if (!taken->payload)
		return CU_NO_BINARY_FOR_GPU;
	bad = unpack(taken, &ret_image->payload);
	if (bad)
		return bad;
	ret_image->form = taken == &cubin ? IMAGE_CUBIN : IMAGE_PTX;
	ret_image->options = taken->options;
	if (taken->kind == KIND_RELOCATABLE_PTX) {
		/* The payload is a C string without options. */
		bytes_add(&ret_image->payload, NULL, 1);
		ret_image->payload.size = strlen((const char *)ret_image->payload.data) + 1;
		ret_image->options = "";
		ret_image->relocatable = true;
	}
	return CU_OK;
}

const void *image_unwrap(const void *image)
{
	const uint8_t *start = image;

	if (get_u32(start) == WRAPPER_MAGIC)
		memcpy(&image, start + 8, sizeof image);
	return image;
}

/* PTX text is recognised by ".version" after blanks and comments. */
static bool is_text(const uint8_t *start, size_t size)
{
	const char *at = (const char *)start;

	/* A caller that gives no size ends the text with a NUL. */
	if (size && !memchr(start, 0, size) && start[size - 1] != '\n')
		return false;
	for (;;) {
		const char *end;

		at += strspn(at, " \t\r\n");
		if (strncmp(at, "//", 2) == 0)
			end = strchr(at, '\n');
		else if (strncmp(at, "/*", 2) == 0)
			end = strstr(at, "*/") ? strstr(at, "*/") + 1 : NULL;
		else
			return strncmp(at, ".version", 8) == 0;
		if (!end)
			return false;
		at = end + 1;
	}
}

int image_choose(struct image *ret_image, const void *data, size_t size, int sm, bool link)
{
	const uint8_t *start = data;
	struct image image = {.form = IMAGE_PTX, .options = ""};
	uint32_t magic;
	int bad = CU_OK;

	if (size && size < 4)
		return CU_INVALID_IMAGE;
	magic = start[0] ? get_u32(start) : 0;
	if (magic == WRAPPER_MAGIC) {
		bad = CU_INVALID_IMAGE;
	} else if (magic == CONTAINER_MAGIC) {
		bad = container_choose(&image, start, sm, link);
	} else if (magic == ELF_MAGIC) {
		image.form = IMAGE_CUBIN;
		bytes_add(&image.payload, start, size ? size : cubin_size(start));
	} else if (!is_text(start, size)) {
		bad = CU_INVALID_IMAGE;
	} else {
		/* The text goes up to and including its NUL, which is part of the key. */
		size_t length = size ? strnlen((const char *)start, size) : strlen((const char *)start);

		bytes_add(&image.payload, start, length);
		bytes_add(&image.payload, NULL, 1);
	}
	if (bad)
		bytes_free(&image.payload);
	*ret_image = image;
	return bad;
}
