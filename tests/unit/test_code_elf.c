/* Sections and linked containers of ELF files are found, and wrong or truncated headers are
 * reported and lead nowhere. */
#include "make_devcode.h"

static void add_container_section(struct buf *data)
{
	make_container(data, DEVCODE_LZ4, "");
}

/* Makes a library whose wrappers have the given version, with or without a relocation for each. */
static void make_linked(struct buf *file, uint16_t machine, uint32_t version, uint64_t type,
						bool in_place)
{
	enum { FATBIN = 0x1000, WRAPPERS = 0x5000 };
	struct buf fatbin = make_buf(), wrappers = make_buf(), relocations = make_buf();

	make_empty_container(&fatbin);
	make_container(&fatbin, DEVCODE_LZ4, "");
	make_zeros(&wrappers, 48);
	for (size_t i = 0; i < 2; i++) {
		uint8_t *wrapper = wrappers.data + 24 * i, relocation[24];
		uint64_t target = FATBIN + 16 * i;

		store_u32(wrapper, 0x466243B1);
		store_u32(wrapper + 4, i ? version : 1);
		store_u64(wrapper + 8, in_place ? target : 0);
		store_u64(relocation, WRAPPERS + 24 * i + 8);
		store_u64(relocation + 8, type);
		store_u64(relocation + 16, target);
		if (!in_place)
			make_bytes(&relocations, relocation, 24);
	}
	{
		const struct make_section sections[] = {
			{".rela.dyn", relocations.data, relocations.size, 4, 2, 0x200},
			{".nv_fatbin", fatbin.data, fatbin.size, 1, 2, FATBIN},
			{"__nv_relfatbin", fatbin.data, 16, 1, 2, 0x3000},
			{".nvFatBinSegment", wrappers.data, wrappers.size, 1, 3, WRAPPERS},
		};

		make_elf(file, machine, sections, 4);
	}
	buf_free(&fatbin);
	buf_free(&wrappers);
	buf_free(&relocations);
}

TEST(version_2_wrappers_mark_linked_containers)
{
	static const struct {
		uint16_t machine;
		uint32_t version;
		uint64_t relocation;
		bool in_place;
		size_t linked;
		bool known;
	} cases[] = {
		{.machine = MAKE_ELF_X86_64, .version = 2, .relocation = 8, .linked = 1, .known = true},
		{.machine = MAKE_ELF_AARCH64, .version = 2, .relocation = 1027, .linked = 1, .known = true},
		{.machine = MAKE_ELF_X86_64, .version = 1, .relocation = 8, .known = true},
		{.machine = MAKE_ELF_X86_64,
		 .version = 2,
		 .in_place = true,
		 .linked = 1,
		 .known = true}, /* a program at a fixed address */
		{.machine = MAKE_ELF_X86_64,
		 .version = 2,
		 .relocation = 1}, /* a relocation that jitwarm does not follow */
		{.machine = 3, .version = 2, .relocation = 8}, /* another processor */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf();

		make_linked(&file, cases[i].machine, cases[i].version, cases[i].relocation,
					cases[i].in_place);
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.listed, 3);
		assert_int_equal(seen.linked, cases[i].linked);
		assert_int_equal(seen.wrappers_known, cases[i].known);
		buf_free(&file);
	}
}

TEST(wrong_headers_are_reported_only)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum jw_code code; /* JW_OK: no message */
	} cases[] = {
		{4, 1, JW_ERR_UNSUPPORTED}, /* 32 bits */
		{5, 2, JW_ERR_UNSUPPORTED}, /* big endian */
		{43, 0x40, JW_ERR_FORMAT},  /* section headers after the end */
		{58, 40, JW_ERR_FORMAT},    /* of another size */
		{61, 0x40, JW_ERR_FORMAT},  /* more than there are */
		{62, 0x7f, JW_OK},          /* no names: still searched */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf(), data = make_buf();
		struct make_section section = {.name = ".nv_fatbin"};

		add_container_section(&data);
		section.data = data.data;
		section.size = data.size;
		make_elf(&file, MAKE_ELF_X86_64, &section, 1);
		file.data[cases[i].at] = cases[i].value;
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.troubles, cases[i].code != JW_OK);
		assert_int_equal(seen.code, cases[i].code);
		assert_int_equal(seen.images, cases[i].code == JW_OK);
		buf_free(&file);
		buf_free(&data);
	}
}

TEST(every_truncation_ends_well)
{
	struct buf file = make_buf();
	size_t whole;

	make_linked(&file, MAKE_ELF_X86_64, 2, 8, false);
	whole = file.size;
	for (file.size = 0; file.size < whole; file.size += 7) {
		struct make_seen seen = {0};

		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.images, 0);
		assert_int_equal(seen.troubles, file.size >= 4); /* the magic makes it ELF */
	}
	buf_free(&file);
}

RUN_TESTS(NULL, NULL)
