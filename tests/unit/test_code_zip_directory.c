/* Zip files whose end claims a larger directory than is ever read, which ends no process, and
 * members that contradict their headers. */
#include "check.h"

#include <string.h>
#include <sys/mman.h>

#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "code/zip_directory.h"

enum { SIZE = 257 << 20, END_64 = 56, LOCATOR = 20, END = 22 };

static void put_number(uint8_t *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

TEST(a_directory_without_bounds_is_refused)
{
	const size_t size = (size_t)SIZE + END_64 + LOCATOR + END;
	uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *end_64 = data + SIZE, *locator = end_64 + END_64, *end = locator + LOCATOR;
	const struct os_map map = {.data = data, .size = size};
	struct zip_directory directory = {0};

	assert_true(data != MAP_FAILED);
	memcpy(end_64, "PK\6\6", 4);
	put_number(end_64 + 4, END_64 - 12, 8);
	put_number(end_64 + 24, 1, 8);    /* members on this disk */
	put_number(end_64 + 32, 1, 8);    /* members */
	put_number(end_64 + 40, SIZE, 8); /* bytes of the directory, which begins at 0 */
	memcpy(locator, "PK\6\7", 4);
	put_number(locator + 8, SIZE, 8);
	put_number(locator + 16, 1, 4);
	memcpy(end, "PK\5\6", 4);
	memset(end + 8, 0xff, 12);
	GIVES(JW_ERR_LIMIT, zip_directory_read(why, &map, &directory));
	assert_non_null(strstr(why->message, "its directory claims 269484032 bytes"));
	assert_int_equal(munmap(data, size), 0);
}

TEST(a_name_that_leads_out_of_the_wheel_is_not_safe)
{
	static const char *const safe[] = {"a", "a/b.so", "a..b/..c/d..", ".a/b", "a/...", "a/"};
	static const char *const unsafe[] = {"",     "/a",   "a//b",       ".",     "..",
										 "../a", "a/..", "a/../../b",  "a/./b", "a\\b",
										 "c:a",  "c:/a", "\\\\host\\a"};

	for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
		assert_true(zip_name_is_safe(safe[i], strlen(safe[i])));
	for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
		if (zip_name_is_safe(unsafe[i], strlen(unsafe[i])))
			fail_msg("“%s” passes", unsafe[i]);
	assert_false(zip_name_is_safe("a\0b", 3));
}

enum { CONTENT = 3 << 20 };

/* Deflates in at least two blocks: the first half ends at a byte, *ret_half. */
static size_t deflate_content(const uint8_t *content, uint8_t *packed, size_t room,
							  size_t *ret_half)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (uint8_t *)(uintptr_t)content;
	z.avail_in = CONTENT / 2;
	z.next_out = packed;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_SYNC_FLUSH), Z_OK);
	*ret_half = (size_t)z.total_out;
	z.avail_in = CONTENT - CONTENT / 2;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	room = (size_t)z.total_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
	return room;
}

/* Makes a zip file with one member, "x". */
static void make_zip(struct buf *zip, const uint8_t *packed, size_t packed_bytes, size_t size,
					 uint32_t crc)
{
	uint8_t local[31] = "PK\3\4\24\0\0\0\10", central[47] = "PK\1\2\24\3\24\0\0\0\10",
			end[END] = "PK\5\6";

	local[30] = central[46] = 'x';
	put_number(local + 14, crc, 4);
	put_number(local + 18, packed_bytes, 4);
	put_number(local + 22, size, 4);
	put_number(local + 26, 1, 2);
	memcpy(central + 16, local + 14, 14);
	put_number(end + 8, 1, 2);
	put_number(end + 10, 1, 2);
	put_number(end + 12, sizeof central, 4);
	put_number(end + 16, sizeof local + packed_bytes, 4);
	OK(buf_append(why, zip, local, sizeof local));
	OK(buf_append(why, zip, packed, packed_bytes));
	OK(buf_append(why, zip, central, sizeof central));
	OK(buf_append(why, zip, end, sizeof end));
}

static int take(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	return buf_append(err, context, data, size);
}

/* Each library that inflates the member notices a false header; the bytes passed on before are
 * right, and come once. */
TEST(a_member_that_is_not_what_its_headers_say)
{
	static const struct {
		int packed, size; /* bytes more than there are */
		uint32_t crc;     /* another one */
		uint8_t half;     /* instead of the second half's first byte */
		size_t passed;    /* at least */
		const char *why;  /* NULL: it is sound */
	} cases[] = {
		{.passed = CONTENT},
		{.packed = 1, .passed = CONTENT, .why = "x: is not as long as its header says"},
		{.packed = 9, .passed = CONTENT, .why = "x: is not as long as its header says"},
		{.packed = -1, .passed = CONTENT / 2, .why = "x: its deflated data is cut off"},
		{.packed = -9, .passed = CONTENT / 2, .why = "x: its deflated data is cut off"},
		{.size = -1, .passed = CONTENT / 2, .why = "x: is longer than its header says"},
		{.size = 1, .passed = CONTENT, .why = "x: is not as long as its header says"},
		{.crc = 1, .passed = CONTENT, .why = "x: its checksum is wrong"},
		{.half = 7, .passed = CONTENT / 4, .why = "x: its deflated data is damaged"},
	};
	const size_t room = CONTENT + 100;
	uint8_t *content = keep(mem_alloc(CONTENT)), *packed = keep(mem_alloc(room));
	size_t half, size;

	for (uint32_t i = 0, random = 7; i < CONTENT; i++) {
		random = random * 1664525 + 1013904223;
		content[i] = (uint8_t)(random >> 28);
	}
	size = deflate_content(content, packed, room, &half);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint8_t kept = packed[half];
		struct buf zip = BUF_MAX(room + 200), got = BUF_MAX(room);
		struct zip_directory directory;
		struct jw_error err = {0};
		struct os_map map;

		packed[half] = cases[i].half ? cases[i].half : kept;
		make_zip(&zip, packed, size + (size_t)cases[i].packed, CONTENT + (size_t)cases[i].size,
				 (uint32_t)crc32(0, content, CONTENT) ^ cases[i].crc);
		packed[half] = kept;
		map = (struct os_map){.data = zip.data, .size = zip.size};
		OK(zip_directory_read(why, &map, &directory));
		assert_int_equal(zip_member_unpack(&err, &map, directory.members, NULL, take, &got),
						 cases[i].why ? -1 : 0);
		assert_string_equal(err.message, cases[i].why ? cases[i].why : "");
		assert_in_range(got.size, cases[i].passed, CONTENT);
		assert_memory_equal(got.data, content, got.size);
		zip_directory_free(&directory);
		buf_free(&zip);
		buf_free(&got);
	}
}

RUN_TESTS(NULL, NULL)
