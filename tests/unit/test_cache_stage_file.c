/* Entries larger than the piece in which they are copied arrive whole. */

#include "made_entries.h"

enum { PIECE = 1 << 20 };

/* Inserts the file `made` into the test's cache. */
static struct cache_addition insert(const struct entry *entry, const char *made)
{
	const struct cache_live_options options = {.limit_bytes = UINT64_C(1) << 30};
	struct cache_addition addition = {.path = made,
									  .key = entry->key,
									  .key_bytes = entry->key_bytes,
									  .sm = 86,
									  .form = CACHE_KEY_LOAD};
	struct cache_live *live = NULL;

	OK(cache_live_open(why, keep(os_join(folder, "cache")), &options, &live));
	OK(cache_insert(why, live, &addition, 1));
	OK(cache_live_close(why, live));
	return addition;
}

static void assert_in_place(const struct entry *entry)
{
	char *dir = keep(os_join(folder, "cache")), *path = keep(cache_entry_path(dir, entry->key));
	struct buf content = {0};

	OK(os_read_file(why, path, CACHE_MAX_ENTRY, &content));
	assert_int_equal(content.size, entry->bytes.size);
	assert_memory_equal(content.data, entry->bytes.data, content.size);
	buf_free(&content);
}

TEST(pieces_make_the_whole)
{
	/* The seam between two pieces lies in the key, at its end, in the value, or at the file's end.
	 * */
	static const struct {
		uint64_t key_bytes, value_bytes;
	} cases[] = {
		{100, 500},
		{PIECE - CACHE_ENTRY_HEADER, 1000},
		{PIECE - CACHE_ENTRY_HEADER - 1, PIECE + 1},
		{PIECE + 77, PIECE + 99},
		{500, 2 * PIECE - 500 - CACHE_ENTRY_HEADER},
	};
	char *made = keep(os_join(folder, "made"));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct entry entry;
		size_t size;

		make_entry(&entry, cases[i].key_bytes, cases[i].value_bytes);
		size = entry.bytes.size;
		put(made, entry.bytes.data, size + 10); /* drivers ignore bytes after the value */
		assert_int_equal(insert(&entry, made).added, CACHE_ADDED_NEW);
		assert_in_place(&entry);
		assert_int_equal(insert(&entry, made).added, CACHE_ADDED_SAME);
		{
			/* The existing entry is damaged in its last byte, or truncated. */
			char *path = keep(cache_entry_path(keep(os_join(folder, "cache")), entry.key));

			entry.bytes.data[size - 1] ^= 1;
			put(path, entry.bytes.data, size);
			entry.bytes.data[size - 1] ^= 1;
			assert_int_equal(insert(&entry, made).added, CACHE_ADDED_REPLACED);
			assert_in_place(&entry);
			put(path, entry.bytes.data, size / 2);
			assert_int_equal(insert(&entry, made).added, CACHE_ADDED_REPLACED);
			assert_in_place(&entry);
		}
		buf_free(&entry.bytes);
	}
}

/* The memory of entries that wait beside the tree is bounded: a large entry is put into its place
 * before the next one is read, here from that place. */
TEST(a_large_entry_does_not_wait_for_the_next)
{
	enum { LARGE = 257 << 20 };
	const struct cache_live_options options = {.limit_bytes = UINT64_C(1) << 30};
	char *dir = keep(os_join(folder, "large")), *made = keep(os_join(folder, "made")), *place;
	uint8_t bytes[CACHE_ENTRY_HEADER + 8] = {0};
	const uint64_t key = fnv_update(FNV_START, bytes + CACHE_ENTRY_HEADER, 8);
	struct cache_live *live = NULL;
	struct os_file *file;

	place = keep(cache_entry_path(dir, key));
	cache_entry_header(bytes, 8, LARGE, 0);
	put(made, bytes, sizeof bytes);
	OK(os_file_open(why, made, OS_OPEN_UPDATE, &file));
	OK(os_file_truncate(why, file, sizeof bytes + LARGE));
	os_file_close(file);
	{
		struct cache_addition additions[] = {
			{.path = made, .key = key, .key_bytes = 8, .verified = true},
			{.path = place, .key = key, .key_bytes = 8, .verified = true},
		};

		OK(cache_live_open(why, dir, &options, &live));
		OK(cache_insert(why, live, additions, 2));
		OK(cache_live_close(why, live));
		assert_int_equal(additions[0].added, CACHE_ADDED_NEW);
		assert_int_equal(additions[1].added, CACHE_ADDED_SAME);
	}
}

RUN_TESTS(make_folder, remove_folder)
