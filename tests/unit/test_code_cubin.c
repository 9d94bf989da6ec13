/* Cubin headers of both ABIs are read, and other or truncated files are refused. */
#include "check.h"

#include <string.h>

#include "base/cursor.h"
#include "code/cubin.h"
#include "code/elf64.h"

enum { SIZE = 256 };

/* Makes a cubin with one section of 64 bytes after its header, and two section headers after that.
 * */
static void make_cubin(uint8_t bytes[SIZE], enum cubin_abi abi, uint16_t sm, uint16_t type)
{
	memset(bytes, 0, SIZE);
	memcpy(bytes,
		   "\x7f"
		   "ELF\2\1\1",
		   7);
	bytes[7] = abi == CUBIN_ABI_8 ? 0x41 : 0x33;
	bytes[8] = abi == CUBIN_ABI_8 ? 8 : 7;
	store_u16(bytes + 16, type);
	store_u16(bytes + 18, CUBIN_MACHINE);
	store_u64(bytes + 40, 128);
	store_u32(bytes + 48, abi == CUBIN_ABI_8 ? (sm & 0xffU) << 8 | 5U : (sm & 0xffU) | 0x500U);
	store_u16(bytes + 58, ELF64_SHDR_SIZE);
	store_u16(bytes + 60, 2);
	store_u32(bytes + 192 + 4, 1);
	store_u64(bytes + 192 + 24, 64);
	store_u64(bytes + 192 + 32, 64);
}

TEST(files_that_are_not_cubins_are_refused)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum jw_code code;
	} cases[] = {{0, 'M', JW_ERR_FORMAT},       /* no ELF */
				 {4, 1, JW_ERR_FORMAT},         /* 32 bits */
				 {5, 2, JW_ERR_FORMAT},         /* big endian */
				 {18, 62, JW_ERR_FORMAT},       /* for an x86 processor */
				 {16, 3, JW_ERR_FORMAT},        /* a shared object */
				 {7, 0x42, JW_ERR_UNSUPPORTED}, /* an ABI to come */
				 {8, 9, JW_ERR_UNSUPPORTED},    /* likewise */
				 {48, 0, JW_ERR_FORMAT},        /* no architecture */
				 {41, 0xff, JW_ERR_FORMAT},     /* section headers elsewhere */
				 {47, 0xff, JW_ERR_FORMAT},     /* and so far that sums overflow */
				 {60, 3, JW_ERR_FORMAT},        /* one section more than fits */
				 {58, 63, JW_ERR_FORMAT},       /* section headers of another size */
				 {192 + 31, 0xff, JW_ERR_FORMAT}, {192 + 39, 0xff, JW_ERR_FORMAT}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t bytes[SIZE];
		struct cubin_header header;

		make_cubin(bytes, CUBIN_ABI_7, 86, 2);
		bytes[cases[i].at] = cases[i].value;
		GIVES(cases[i].code, cubin_read(why, bytes, SIZE, &header));
		assert_string_not_equal(why->message, "");
	}
}

TEST(every_truncation_is_refused)
{
	uint8_t bytes[SIZE];
	struct cubin_header header;

	make_cubin(bytes, CUBIN_ABI_8, 100, 2);
	for (size_t size = 0; size < SIZE; size++)
		assert_int_equal(cubin_read(NULL, bytes, size, &header), -1);
}

RUN_TESTS(NULL, NULL)
