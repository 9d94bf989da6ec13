/* PE and COFF: sections by their table, eight-character names, image addresses in wrappers. */
#include "make_devcode.h"

enum { INITIALISED = 0x40, CODE = 0x60000020, DISCARDABLE = 0x02000040 };
#define BASE UINT64_C(0x140000000)
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

static void make_pe(struct buf *file, const struct pe_section *sections, size_t count)
{
	make_zeros(file, FIRST_SECTION);
	memcpy(file->data, "MZ", 2);
	store_u32(file->data + 0x3c, HEADERS_AT);
	memcpy(file->data + HEADERS_AT, "PE\0\0", 4);
	store_u16(file->data + HEADERS_AT + 4, 0x8664);
	store_u16(file->data + HEADERS_AT + 6, (uint16_t)count);
	store_u16(file->data + HEADERS_AT + 20, OPTIONAL_SIZE);
	store_u16(file->data + HEADERS_AT + 24, 0x20b);
	store_u64(file->data + HEADERS_AT + 48, BASE);
	add_sections(file, FIRST_SECTION, sections, count);
}

TEST(a_container_counts_where_data_is_initialised)
{
	static const struct {
		const char *name;
		uint32_t flags;
		size_t listed;
		enum devcode_role role;
	} cases[] = {
		{.name = ".nv_fatb", .flags = INITIALISED, .listed = 1, .role = DEVCODE_REGISTERED},
		{.name = "__nv_rel", .flags = INITIALISED, .listed = 1, .role = DEVCODE_RELOCATABLE},
		{.name = ".rdata", .flags = INITIALISED, .listed = 1, .role = DEVCODE_LOOSE},
		{.name = ".text", .flags = CODE, .role = DEVCODE_LOOSE},
		{.name = ".text2", .flags = CODE | INITIALISED, .role = DEVCODE_LOOSE},
		{.name = ".debug", .flags = DISCARDABLE, .role = DEVCODE_LOOSE},
		{.name = ".bss", .flags = 0x80, .role = DEVCODE_LOOSE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf(), data = make_buf();
		struct pe_section section = {.name = cases[i].name, .flags = cases[i].flags};

		make_container(&data, DEVCODE_ZSTD, "");
		section.data = data.data;
		section.size = data.size;
		make_pe(&file, &section, 1);
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.troubles, 0);
		assert_int_equal(seen.images, cases[i].listed);
		assert_int_equal(seen.listed, cases[i].listed);
		if (cases[i].listed) {
			assert_int_equal(seen.format, DEVCODE_PE);
			assert_string_equal(seen.section, cases[i].name);
			assert_int_equal(seen.role, cases[i].role);
		}
		buf_free(&file);
		buf_free(&data);
	}
}

TEST(wrappers_point_by_image_address)
{
	static const struct {
		uint32_t version;
		uint64_t address;
		size_t linked;
		bool known;
	} cases[] = {{.version = 2, .address = BASE + 0x1000, .linked = 1, .known = true},
				 {.version = 1, .address = BASE + 0x1000, .known = true},
				 {.version = 2, .address = BASE + 0x1008}, /* into the middle of it */
				 {.version = 2, .address = 0x1000}};       /* no address of this image */

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf(), data = make_buf();
		uint8_t wrapper[24] = {0};

		make_container(&data, DEVCODE_ZSTD, "");
		store_u32(wrapper, 0x466243B1);
		store_u32(wrapper + 4, cases[i].version);
		store_u64(wrapper + 8, cases[i].address);
		{
			const struct pe_section sections[] = {{.name = ".nv_fatb",
												   .data = data.data,
												   .size = data.size,
												   .flags = INITIALISED,
												   .address = 0x1000},
												  {.name = "__nv_rel",
												   .data = data.data,
												   .size = data.size,
												   .flags = INITIALISED,
												   .address = 0x2000},
												  {.name = ".nvFatBi",
												   .data = wrapper,
												   .size = sizeof wrapper,
												   .flags = INITIALISED,
												   .address = 0x3000}};

			make_pe(&file, sections, 3);
		}
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.listed, 2);
		assert_int_equal(seen.linked, cases[i].linked);
		assert_int_equal(seen.wrappers_known, cases[i].known);
		buf_free(&file);
		buf_free(&data);
	}
}

/* An object's long name is in the string table behind its symbols. */
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

/* Foreign files are skipped silently, unless they seem to hold device code. */
TEST(foreign_and_broken_files_are_distinguished)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum jw_code with, without; /* a container in it */
	} cases[] = {
		{.at = HEADERS_AT, .value = 'N', .with = JW_ERR_UNSUPPORTED, .without = JW_OK}, /* MS-DOS */
		{.at = 0x3f, .value = 0x7f, .with = JW_ERR_UNSUPPORTED, .without = JW_OK}, /* likewise */
		{.at = HEADERS_AT + 25,
		 .value = 1,
		 .with = JW_ERR_UNSUPPORTED,
		 .without = JW_OK}, /* 32 bits */
		{.at = HEADERS_AT + 20,
		 .value = 8,
		 .with = JW_ERR_FORMAT,
		 .without = JW_ERR_FORMAT}, /* cut optional header */
		{.at = HEADERS_AT + 7,
		 .value = 0x40,
		 .with = JW_ERR_FORMAT,
		 .without = JW_ERR_FORMAT}, /* too many sections */
		{.at = FIRST_SECTION + 23,
		 .value = 0x40,
		 .with = JW_ERR_FORMAT,
		 .without = JW_ERR_FORMAT}, /* data behind the end */
	};

	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		bool holds = i % 2;
		struct make_seen seen = {0};
		struct buf file = make_buf(), data = make_buf();
		enum jw_code expected = holds ? cases[i / 2].with : cases[i / 2].without;
		struct pe_section section = {".nv_fatb", NULL, 64, INITIALISED, 0x1000};

		if (holds)
			make_container(&data, DEVCODE_ZSTD, "");
		else
			make_zeros(&data, 64);
		section.data = data.data;
		section.size = data.size;
		make_pe(&file, &section, 1);
		file.data[cases[i / 2].at] = cases[i / 2].value;
		if (cases[i / 2].at == HEADERS_AT + 20)
			file.data[HEADERS_AT + 21] = 0;
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.images, 0);
		assert_int_equal(seen.code, expected);
		assert_int_equal(seen.troubles, expected != JW_OK);
		buf_free(&file);
		buf_free(&data);
	}
}

RUN_TESTS(NULL, NULL)
