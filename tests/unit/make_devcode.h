/* Building blocks for tests of src/code: containers, ELF and PE files, archives, made in memory,
 * with only the parts that a case needs. */
#pragma once

#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "code/cubin.h"
#include "code/devcode.h"
#include "code/write.h"
#include "os/file.h"
#include "os/folders.h"

#define MAKE_PTX                                                                                   \
	"//\n// a comment\n//\n\n.version 7.8\n.target sm_80\n.address_size 64\n\n.visible .entry "    \
	"k()\n{\n\tret;\n}\n"

static inline struct buf make_buf(void)
{
	return BUF_MAX((size_t)1 << 28);
}

static inline void make_zeros(struct buf *buf, size_t size)
{
	OK(buf_reserve(why, buf, size));
	memset(buf->data + buf->size, 0, size);
	buf->size += size;
}

static inline void make_bytes(struct buf *buf, const void *data, size_t size)
{
	OK(buf_append(why, buf, data, size));
}

/* Appends an entry of machine code, raw, which repeats .nv.compat in its header (from CUDA 12.8 on:
 * docs/internals/fatbin.md, "Container"). */
static inline void make_cubin_entry(struct buf *buf, struct devcode_view cubin, uint32_t sm)
{
	const struct devcode_view compat = cubin_compat(cubin);
	uint8_t header[256] = {2, 0, 1, 1};
	const uint32_t size = (uint32_t)(80 + 1 + compat.size + 7) / 8 * 8;

	assert_true(size <= sizeof header);
	store_u32(header + 4, size);
	store_u64(header + 8, (cubin.size + 7) / 8 * 8);
	store_u32(header + 20, 72);
	store_u16(header + 24, 8);
	store_u16(header + 26, 1);
	store_u32(header + 28, sm);
	store_u64(header + 40, 0x11 | 0x1000000);
	store_u32(header + 72, 80);
	store_u32(header + 76, (uint32_t)compat.size);
	memcpy(header + 80 + 1, compat.data, compat.size);
	OK(buf_append(why, buf, header, size));
	OK(buf_append(why, buf, cubin.data, cubin.size));
	OK(buf_append(why, buf, "\0\0\0\0\0\0\0", (8 - cubin.size % 8) % 8));
}

static inline void make_pad(struct buf *buf, size_t multiple)
{
	make_zeros(buf, (multiple - buf->size % multiple) % multiple);
}

/* Makes a container with one PTX entry for sm_80. */
static inline void make_container(struct buf *buf, enum devcode_compression compression,
								  const char *options)
{
	const struct write_ptx ptx = {
		.payload = MAKE_PTX,
		.payload_size = sizeof MAKE_PTX,
		.isa_major = 7,
		.isa_minor = 8,
		.target = {.sm = 80},
		.options = options,
		.compression = compression,
	};

	OK(write_container(why, &ptx, buf));
}

/* Makes a container without entries. */
static inline void make_empty_container(struct buf *buf)
{
	make_bytes(buf, "\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0\0", 16);
}

struct make_section {
	const char *name;
	const void *data;
	size_t size;
	uint32_t type;  /* 0: PROGBITS */
	uint64_t flags; /* 0: alloc */
	uint64_t address;
};

enum { MAKE_ELF_X86_64 = 62, MAKE_ELF_AARCH64 = 183, MAKE_EXEC = 6 /* alloc and executable */ };

static inline void make_section_header(struct buf *buf, const uint64_t fields[10])
{
	uint8_t header[64] = {0};

	store_u32(header, (uint32_t)fields[0]);
	store_u32(header + 4, (uint32_t)fields[1]);
	store_u64(header + 8, fields[2]);
	store_u64(header + 16, fields[3]);
	store_u64(header + 24, fields[4]);
	store_u64(header + 32, fields[5]);
	make_bytes(buf, header, sizeof header);
}

/* Makes a shared library: header, the sections one after the other at multiples of eight, their
 * names, their headers. */
static inline void make_elf(struct buf *buf, uint16_t machine, const struct make_section *sections,
							size_t count)
{
	struct buf names = make_buf();
	uint64_t offsets[64], name_at[64], strings_at, headers_at, own_name;

	make_zeros(buf, 64);
	make_zeros(&names, 1);
	for (size_t i = 0; i < count; i++) {
		make_pad(buf, 8);
		offsets[i] = buf->size;
		if (sections[i].type != 8)
			make_bytes(buf, sections[i].data, sections[i].size);
		name_at[i] = names.size;
		make_bytes(&names, sections[i].name, strlen(sections[i].name) + 1);
	}
	own_name = names.size;
	make_bytes(&names, ".shstrtab", 10);
	strings_at = buf->size;
	make_bytes(buf, names.data, names.size);
	make_pad(buf, 8);
	headers_at = buf->size;
	make_zeros(buf, 64);
	for (size_t i = 0; i < count; i++)
		make_section_header(buf, (uint64_t[10]){name_at[i], sections[i].type ? sections[i].type : 1,
												sections[i].flags ? sections[i].flags : 2,
												sections[i].address, offsets[i], sections[i].size});
	make_section_header(buf, (uint64_t[10]){own_name, 3, 0, 0, strings_at, names.size});
	memcpy(buf->data,
		   "\x7f"
		   "ELF\2\1\1",
		   7);
	store_u16(buf->data + 16, 3);
	store_u16(buf->data + 18, machine);
	store_u64(buf->data + 40, headers_at);
	store_u16(buf->data + 58, 64);
	store_u16(buf->data + 60, (uint16_t)(count + 2));
	store_u16(buf->data + 62, (uint16_t)(count + 1));
	buf_free(&names);
}

/* Everything that a reader returned, for comparing. */
struct make_seen {
	struct buf log; /* a line for each container, image and trouble */
	size_t containers, images, troubles;
	enum jw_code code; /* the code of the last trouble */
	/* facts of the last image */
	enum devcode_format format;
	size_t listed, damaged, linked, sections;
	bool wrappers_known;
	char section[32], member[64];
	enum devcode_role role;
	uint64_t offset; /* the offset of its last container */
	uint64_t size_bytes;
	/* facts of the last entry */
	struct devcode_entry entry;
	char options[256];
	char payload[512]; /* the beginning of the decompressed payload; "" if decompressing fails */
	size_t payload_size;
	enum jw_code payload_code;
};

static inline void make_see_container(struct make_seen *seen,
									  const struct devcode_container *container)
{
	seen->containers++;
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
		struct devcode_view view;

		seen->entry = *entry;
		assert_true(entry->options_length < sizeof seen->options);
		memcpy(seen->options, container->bytes + entry->options_offset, entry->options_length);
		seen->options[entry->options_length] = 0;
		seen->payload[0] = 0;
		seen->payload_size = 0;
		if (!devcode_payload(why, container, entry, &scratch, &view)) {
			size_t shown = view.size < sizeof seen->payload ? view.size : sizeof seen->payload - 1;

			memcpy(seen->payload, view.data, shown);
			seen->payload[shown] = 0;
			seen->payload_size = view.size;
		}
		seen->payload_code = why->code;
		buf_free(&scratch);
	}
}

static inline void make_see_image(struct make_seen *seen, const struct devcode_image *image)
{
	seen->images++;
	seen->format = image->format;
	seen->listed = image->container_count;
	seen->damaged = image->damaged;
	seen->sections = image->section_count;
	seen->wrappers_known = image->wrappers_known;
	seen->size_bytes = image->size_bytes;
	seen->linked = 0;
	seen->member[0] = seen->section[0] = 0;
	for (size_t i = 0; image->member && image->member[i] && i + 1 < sizeof seen->member; i++) {
		seen->member[i] = image->member[i];
		seen->member[i + 1] = 0;
	}
	for (size_t i = 0; i < image->container_count; i++) {
		seen->linked += image->containers[i].linked;
		seen->offset = image->containers[i].offset;
		if (image->containers[i].section != DEVCODE_NO_SECTION) {
			assert_true(image->containers[i].section < image->section_count);
			memcpy(seen->section, image->sections[image->containers[i].section].name,
				   sizeof seen->section);
			seen->role = image->sections[image->containers[i].section].role;
		}
	}
}

/* Reads a file to its end. */
static inline int make_read_path(struct jw_error *err, const char *path,
								 const struct jw_cancel *cancel, struct make_seen *seen)
{
	struct code_reader *reader;
	struct code_found found;
	int step;

	if (code_open(err, path, cancel, &reader))
		return -1;
	while ((step = code_next(err, reader, &found)) > CODE_END) {
		if (step == CODE_CONTAINER)
			make_see_container(seen, found.container);
		if (step == CODE_IMAGE)
			make_see_image(seen, found.image);
		if (step == CODE_TROUBLE) {
			assert_string_not_equal(found.why.message, "");
			seen->troubles++;
			seen->code = found.why.code;
		}
	}
	code_close(reader);
	return step;
}

/* Writes the bytes to a file, reads it, removes it, and returns the result */
static inline int make_read(const struct buf *bytes, struct make_seen *seen)
{
	char *folder, *path;
	int result;

	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	path = keep(os_join(folder, "file"));
	OK(os_write_atomic(why, path, bytes->data, bytes->size));
	result = make_read_path(why, path, NULL, seen);
	OK(os_remove_tree(why, folder));
	mem_free(folder);
	return result;
}
