/* What an image handed to the driver is, and which entry of a fat binary is taken: a cubin that
 * runs beats PTX, the nearest architecture wins, among equal cubins the first, among equal PTX the
 * last. Layout as in docs/fatbin.md. */
#include "sim.h"

#include <lz4.h>
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

bool ptx_runs(int sm, char variant, int gpu)
{
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
	return variant != 'a' && sm / 10 == gpu / 10 && sm <= gpu && is_tegra(sm) == is_tegra(gpu);
}

/* The entry at `at`; false where the container does not hold one there. */
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
	/* The driver reads up to a NUL, whatever length the header gives. */
	if (text && text < header && memchr(at + text, 0, header - text))
		ret->options = (const char *)at + text;
	*ret_size = header + (size_t)size;
	return true;
}

static bool better_cubin(const struct entry *entry, const struct entry *best, int gpu)
{
	return entry->kind == KIND_CUBIN && cubin_runs(entry->sm, entry->form, gpu) &&
		   (!best->payload || entry->sm > best->sm);
}

static bool better_ptx(const struct entry *entry, const struct entry *best, int gpu)
{
	return (entry->kind == KIND_PTX || entry->kind == KIND_RELOCATABLE_PTX) &&
		   ptx_runs(entry->sm, entry->form, gpu) && (!best->payload || entry->sm >= best->sm);
}

/* The payload as the compiler or loader gets it. */
static int unpack(const struct entry *entry, struct bytes *ret_payload)
{
	struct bytes plain = {NULL, 0};
	size_t got = 0;

	if (!entry->compressed_size || (entry->flags & FLAG_ZSTD && !config_reads_zstd())) {
		/* An older driver takes a zstd frame for text. */
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
	*ret_payload = plain;
	return CU_OK;
}

/* A payload stored raw is padded to 8; a text ends at its first NUL and keeps the one behind it,
 * or all that its header promises. */
static void trim_text(const struct entry *entry, struct bytes *payload)
{
	const uint8_t *end;

	if (entry->compressed_size)
		return;
	if (entry->uncompressed_size && entry->uncompressed_size <= payload->size) {
		payload->size = entry->uncompressed_size;
		return;
	}
	end = memchr(payload->data, 0, payload->size);
	if (end)
		payload->size = (size_t)(end - payload->data) + 1;
}

static int container_choose(struct image *ret_image, const uint8_t *data, int gpu)
{
	uint64_t left = get_u64(data + 8);
	struct entry entry, cubin = {0}, ptx = {0};
	const struct entry *taken;
	size_t size = 0;
	int bad;

	data += get_u32(data + 4) >> 16;
	for (; left > 0 && entry_read(&entry, data, (size_t)left, &size); data += size, left -= size) {
		if (better_cubin(&entry, &cubin, gpu))
			cubin = entry;
		if (better_ptx(&entry, &ptx, gpu))
			ptx = entry;
	}
	taken = cubin.payload && !sim.force_jit ? &cubin : ptx.payload ? &ptx : &cubin;
	if (!taken->payload || (taken == &cubin && sim.force_ptx))
		return CU_NO_BINARY_FOR_GPU;
	bad = unpack(taken, &ret_image->payload);
	if (bad)
		return bad;
	ret_image->form = taken == &cubin ? IMAGE_CUBIN : IMAGE_PTX;
	ret_image->options = taken->options;
	if (taken == &ptx)
		trim_text(taken, &ret_image->payload);
	return CU_OK;
}

/* The container that a wrapper of the CUDA runtime points to. */
static const uint8_t *wrapped(const uint8_t *data)
{
	const uint8_t *container;

	memcpy(&container, data + 8, sizeof container);
	return container;
}

int image_choose(struct image *ret_image, const void *data, size_t size, int sm)
{
	const uint8_t *start = data;
	struct image image = {IMAGE_PTX, {NULL, 0}, ""};
	uint32_t magic;
	int bad = CU_OK;

	if (size && size < 4)
		return CU_INVALID_IMAGE;
	magic = start[0] ? get_u32(start) : 0;
	if (magic == WRAPPER_MAGIC) {
		start = wrapped(start);
		magic = get_u32(start);
	}
	if (magic == CONTAINER_MAGIC) {
		bad = container_choose(&image, start, sm);
	} else if (magic == ELF_MAGIC) {
		image.form = IMAGE_CUBIN;
		bytes_add(&image.payload, start, size ? size : cubin_size(start));
	} else {
		/* Text: up to its NUL, which is not part of the key. */
		size_t length = size ? strnlen((const char *)start, size) : strlen((const char *)start);

		bytes_add(&image.payload, start, length);
	}
	if (bad == CU_OK)
		*ret_image = image;
	else
		bytes_free(&image.payload);
	return bad;
}
