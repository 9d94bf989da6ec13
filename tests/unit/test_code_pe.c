/* Sections of PE and COFF files are found by their tables, and a packed file is unpacked again only
 * a few times. */
#include "make_archive.h"

enum { INITIALISED = 0x40, CODE = 0x60000020, DISCARDABLE = 0x02000040 };
enum { HEADERS_AT = 0x80, OPTIONAL_SIZE = 240, FIRST_SECTION = HEADERS_AT + 24 + OPTIONAL_SIZE };

struct pe_section {
	const char *name;
	const void *data;
	size_t size;
	uint32_t flags, address;
};

static void add_sections(struct buf *file, size_t table_at, const struct pe_section *sections,
						 size_t count)
{
	make_zeros(file, table_at + 40 * count - file->size);
	for (size_t i = 0; i < count; i++) {
		uint8_t *header;

		make_pad(file, table_at == 20 ? 4 : 16); /* objects align nothing */
		header = file->data + table_at + 40 * i;
		memcpy(header, sections[i].name, strlen(sections[i].name));
		store_u32(header + 8, (uint32_t)sections[i].size);
		store_u32(header + 12, sections[i].address);
		store_u32(header + 16, (uint32_t)sections[i].size);
		store_u32(header + 20, (uint32_t)file->size);
		store_u32(header + 36, sections[i].flags);
		make_bytes(file, sections[i].data, sections[i].size);
	}
}

/* An object's long name is in the string table after its symbols. */
TEST(an_object_may_have_long_names)
{
	struct make_seen seen = {0};
	struct buf file = make_buf(), data = make_buf();

	make_container(&data, DEVCODE_ZSTD, "");
	make_zeros(&file, 20);
	store_u16(file.data, 0x8664);
	store_u16(file.data + 2, 1);
	{
		const struct pe_section section = {"/4", data.data, data.size, INITIALISED, 0};

		add_sections(&file, 20, &section, 1);
	}
	store_u32(file.data + 8, (uint32_t)file.size);
	make_bytes(&file, "\x14\0\0\0__nv_relfatbin", 19);
	assert_int_equal(make_read(&file, &seen), 0);
	assert_int_equal(seen.listed, 1);
	assert_string_equal(seen.section, "__nv_relfatbin");
	assert_int_equal(seen.role, DEVCODE_RELOCATABLE);
	assert_false(seen.wrappers_known && seen.linked);
	buf_free(&file);
	buf_free(&data);
}

/* Reading each name would unpack the member once more, with everything before it. */
TEST(a_packed_file_is_read_again_only_so_often)
{
	enum { SECTIONS = 4000, NAMES_AT = 2 << 20 };
	struct make_seen seen = {0};
	struct buf file = make_buf(), packed = make_buf();
	size_t container;

	make_zeros(&file, FIRST_SECTION + 40 * SECTIONS);
	container = file.size;
	make_container(&file, DEVCODE_ZSTD, "");
	for (size_t i = 0; i < SECTIONS; i++) {
		uint8_t *header = file.data + FIRST_SECTION + 40 * i;

		memcpy(header, "/4", 2);
		store_u32(header + 16, (uint32_t)(file.size - container));
		store_u32(header + 20, (uint32_t)container);
		store_u32(header + 36, INITIALISED);
	}
	memcpy(file.data, "MZ", 2);
	store_u32(file.data + 0x3c, HEADERS_AT);
	memcpy(file.data + HEADERS_AT, "PE\0\0", 4);
	store_u16(file.data + HEADERS_AT + 6, SECTIONS);
	store_u32(file.data + HEADERS_AT + 12, NAMES_AT);
	store_u16(file.data + HEADERS_AT + 20, OPTIONAL_SIZE);
	store_u16(file.data + HEADERS_AT + 24, 0x20b);
	make_zeros(&file, NAMES_AT + 64 - file.size);
	make_zstd(&packed, &file);
	assert_int_equal(make_read(&packed, &seen), 0);
	assert_int_equal(seen.containers, 1);
	assert_int_equal(seen.images, 0);
	assert_int_equal(seen.code, JW_ERR_LIMIT);
	buf_free(&file);
	buf_free(&packed);
}

RUN_TESTS(NULL, NULL)
