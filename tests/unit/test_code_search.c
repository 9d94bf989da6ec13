/* A container may begin at any byte of a section, since drivers load it from any address. What only
 * begins like one counts nowhere. */
#include "make_archive.h"

#include "code/container.h"

enum { BLOCK = 512, WINDOW = 1 << 18 };

/* Makes a library whose .rodata has `bytes` at the file's offset `at`, and whose wrapper points to
 * them. Returns in *ret_at where they are: `at`, or the first place of the section. */
static void make_rodata(struct buf *file, const struct buf *bytes, size_t at, size_t *ret_at)
{
	enum { RODATA = 0x1000000, WRAPPERS = 0x2000000, START = 64 };
	const size_t lead = at > START ? at - START : 0;
	static const char other[] = "Other data follows.";
	struct buf data = make_buf();
	uint8_t wrapper[24] = {0};

	make_zeros(&data, lead);
	make_bytes(&data, bytes->data, bytes->size);
	make_bytes(&data, other, sizeof other - 1);
	store_u32(wrapper, 0x466243B1);
	store_u32(wrapper + 4, 2);
	store_u64(wrapper + 8, RODATA + lead);
	make_elf(file, MAKE_ELF_X86_64,
			 (struct make_section[]){
				 {.name = ".rodata", .data = data.data, .size = data.size, .address = RODATA},
				 {".nvFatBinSegment", wrapper, sizeof wrapper, 1, 3, WRAPPERS},
			 },
			 2);
	*ret_at = START + lead;
	buf_free(&data);
}

static void read_library(const struct buf *library, bool in_wheel, struct make_seen *seen)
{
	struct buf wheel = make_buf();

	*seen = (struct make_seen){0};
	if (in_wheel)
		make_archive(&wheel, false, "zip:compression=deflate",
					 &(struct packed_file){"x/a.so", library}, 1);
	assert_int_equal(make_read(in_wheel ? &wheel : library, seen), 0);
	assert_int_equal(seen->troubles, 0);
	buf_free(&wheel);
}

/* The places are around an address that is a multiple of eight, around the end of a block that is
 * compared at once, and around the end of a stream's window. */
TEST(a_container_begins_at_any_byte)
{
	static const size_t ends[] = {64, 64 + BLOCK, WINDOW};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		for (size_t at = ends[i] - (i ? 30 : 0); at < ends[i] + 17; at++) {
			struct buf container = make_buf(), library = make_buf();
			size_t offset;

			make_container(&container, DEVCODE_LZ4, "");
			make_empty_container(&container); /* directly behind the first one */
			make_rodata(&library, &container, at, &offset);
			for (unsigned in_wheel = 0; in_wheel < 2; in_wheel++) {
				struct make_seen seen;

				read_library(&library, in_wheel, &seen);
				assert_int_equal(seen.listed, 2);
				assert_int_equal(seen.damaged, 0);
				assert_int_equal(seen.offset, offset + container.size - CONTAINER_HEADER);
				assert_string_equal(seen.section, ".rodata");
				assert_string_equal(seen.payload, MAKE_PTX);
				assert_int_equal(seen.linked, 1);
				assert_true(seen.wrappers_known);
			}
			buf_free(&container);
			buf_free(&library);
		}
	}
}

/* Compilers put the first eight bytes into code and data of programs that write containers. */
TEST(the_first_bytes_of_a_container_are_none)
{
	for (size_t at = 64; at < 64 + 9; at++) {
		for (size_t size = 8; size < 28; size += 4) {
			struct buf container = make_buf(), library = make_buf();
			size_t offset;

			make_container(&container, DEVCODE_LZ4, "");
			container.size = size;
			make_rodata(&library, &container, at, &offset);
			for (unsigned in_wheel = 0; in_wheel < 2; in_wheel++) {
				struct make_seen seen;

				read_library(&library, in_wheel, &seen);
				assert_int_equal(seen.containers, 0);
				assert_int_equal(seen.images, 0);
			}
			buf_free(&container);
			buf_free(&library);
		}
	}
}

/* UPX compresses what it packs. Its trailer is at the very end; its programs have no dynamic
 * segment. */
TEST(a_packed_library_is_reported)
{
	enum { HEADER = 64, SEGMENT = 56, PACKED = 9000, PHOFF_AT = 32, PHENTSIZE_AT = 54 };

	for (unsigned i = 0; i < 8; i++) {
		const bool library = i & 1, trailer = i & 2, in_wheel = i & 4;
		struct buf file = make_buf(), wheel = make_buf();
		struct make_seen seen = {0};

		make_zeros(&file, HEADER + 2 * SEGMENT + PACKED);
		memcpy(file.data,
			   "\x7f"
			   "ELF\2\1\1",
			   7);
		store_u16(file.data + 16, 3);
		store_u16(file.data + 18, MAKE_ELF_X86_64);
		store_u64(file.data + PHOFF_AT, HEADER);
		store_u16(file.data + PHENTSIZE_AT, SEGMENT);
		store_u16(file.data + PHENTSIZE_AT + 2, 2);
		store_u32(file.data + HEADER, 1);
		store_u32(file.data + HEADER + SEGMENT, library ? 2 : 1);
		if (trailer)
			memcpy(file.data + file.size - 36, "UPX!", 4);
		make_archive(&wheel, false, "zip:compression=deflate",
					 &(struct packed_file){"x/a.so", &file}, 1);
		assert_int_equal(make_read(in_wheel ? &wheel : &file, &seen), 0);
		assert_int_equal(seen.images, 0);
		assert_int_equal(seen.troubles, library && trailer);
		buf_free(&file);
		buf_free(&wheel);
	}
}

RUN_TESTS(make_folder, remove_folder)
