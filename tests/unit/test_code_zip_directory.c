/* A zip file whose end claims a directory of more than is ever read: one file ends no process. */
#include "check.h"

#include <string.h>
#include <sys/mman.h>

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

RUN_TESTS(NULL, NULL)
