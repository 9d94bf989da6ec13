/* If a worker's driver changes a file while it is copied, the inserted header is the one that was
 * judged. */
#include <sys/syscall.h>
#include <unistd.h>

#include "made_entries.h"

/* The header's checksum changes as soon as the header was read alone. libuv calls this. */
static bool header_was_read;

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
	const ssize_t got = syscall(SYS_pread64, fd, data, size, at);

	if (header_was_read && !at && got > CACHE_ENTRY_HEADER)
		((uint8_t *)data)[CACHE_ENTRY_HEADER - 1] ^= 1;
	header_was_read = header_was_read || (!at && got == CACHE_ENTRY_HEADER);
	return got;
}

TEST(the_header_that_was_judged_is_the_one_that_is_copied)
{
	char *dir = keep(os_join(folder, "cache")), *made = keep(os_join(folder, "made")), *place;
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct cache_live *live = NULL;
	struct cache_addition addition = {.path = made, .sm = 86, .form = CACHE_KEY_LOAD};
	struct entry entry;

	make_entry(&entry, 100, 500);
	put(made, entry.bytes.data, entry.bytes.size);
	addition.key = entry.key;
	place = keep(cache_entry_path(dir, entry.key));
	OK(cache_live_open(why, dir, &options, &live));
	OK(cache_insert(why, live, &addition, 1));
	assert_int_equal(addition.added, CACHE_ADDED_REFUSED);
	assert_false(os_exists(place));
	OK(cache_live_close(why, live));
	buf_free(&entry.bytes);
}

RUN_TESTS(make_folder, remove_folder)
