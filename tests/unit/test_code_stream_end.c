/* Bytes after the end of a stream are not read: the next page cannot be read. */
#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
#include "code/search.h"

/* The container is too large to be held as a whole, and is cut in the head of its entry. */
TEST(a_cut_head_is_no_entry)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t whole[CONTAINER_HEADER + CONTAINER_ENTRY] = {0};

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	store_u64(whole, CONTAINER_START);
	store_u64(whole + 8, CONTAINER_ENTRY + (8 << 20));
	store_u32(whole + CONTAINER_HEADER, DEVCODE_KIND_CUBIN | 0x01010000);
	store_u32(whole + CONTAINER_HEADER + 4, CONTAINER_ENTRY);
	store_u64(whole + CONTAINER_HEADER + 8, 8 << 20);
	for (size_t size = CONTAINER_HEADER; size <= sizeof whole; size++) {
		uint8_t *at = pages + page - size;
		struct image image = {.format = DEVCODE_FATBIN};
		struct stream stream;
		struct stream_search search = {.image = &image, .stream = &stream, .tail_from = UINT64_MAX};

		memcpy(at, whole, size);
		stream_of_memory(&stream, at, size, NULL);
		OK(search_stream_next(why, &search));
		assert_int_equal(image.count, 0);
		assert_int_equal(image.damaged_count, 1);
		/* Only a whole head gives one more step of the search. */
		assert_int_equal(image.wasted_steps, size == sizeof whole);
		image_free(&image);
		search_stream_free(&search);
	}
	assert_int_equal(munmap(pages, 2 * page), 0);
}

RUN_TESTS(NULL, NULL)
