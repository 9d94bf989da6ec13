/* Both ends of an entry's key and the beginning of its value are enough to list the entry, and a
 * truncated file is noticed. */
#include "folder.h"

#include <string.h>

#include <jitwarm/cache.h>

#include "base/hash.h"
#include "cache/sound.h"
#include "files.h"

enum { END = CACHE_BRIEF_END, VALUE = CACHE_BRIEF_VALUE, HEADER = CACHE_ENTRY_HEADER };

/* Returns a byte that depends on its position. */
static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 7 + (i >> 8) * 3 + (i >> 16));
}

static struct os_file *open_entry(uint64_t key_bytes, uint64_t value_bytes, size_t less)
{
	const size_t size = HEADER + (size_t)(key_bytes + value_bytes);
	uint8_t *bytes = test_calloc(1, size);
	char *path = keep(os_join(folder, "entry"));
	struct os_file *file;

	for (size_t i = HEADER; i < size; i++)
		bytes[i] = byte_at(i);
	cache_entry_header(bytes, key_bytes, value_bytes, 5);
	OK(os_write_atomic(why, path, bytes, size - less));
	OK(os_file_open(why, path, OS_OPEN_READ, &file));
	test_free(bytes);
	return file;
}

static void assert_bytes(const uint8_t *bytes, size_t from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != byte_at(from + i))
			fail_msg("byte %zu of those from %zu", i, from);
}

TEST(both_ends_of_a_key_are_read)
{
	static const struct {
		uint64_t key, value;
	} cases[] = {
		{1, 1},
		{40, VALUE - 1},
		{100, VALUE},
		{100, VALUE + 1},
		{END - 1, 9},
		{END, 9},
		{END + 1, 9},
		{2 * END - 1, 9},
		{2 * END, VALUE},
		{2 * END + 1, VALUE},
		{5 * END, 3 * VALUE},
		{4096 - HEADER - 8, 8},
		{3000, 1096},
		{4096 - HEADER, 4},
	};
	static struct cache_brief brief, opened;
	struct cache_key_parts parts;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t key = (size_t)cases[i].key,
					 kept = key < (size_t)2 * END ? key : (size_t)2 * END;
		const size_t first = kept < END ? kept : END;
		const size_t value = cases[i].value < VALUE ? (size_t)cases[i].value : VALUE;
		struct os_file *file = open_entry(key, cases[i].value, 0);
		struct cache_entry entry;

		assert_int_equal(cache_entry_open(file, &entry), CACHE_SOUND);
		memset(brief.bytes, 0xee, sizeof brief.bytes);
		assert_int_equal(cache_brief_read(file, &entry, &brief), CACHE_SOUND);
		assert_int_equal(brief.key_bytes, key);
		assert_int_equal(brief.value_bytes, cases[i].value);
		assert_int_equal(brief.entry.key_bytes, kept);
		assert_int_equal(brief.entry.value_bytes, value);
		assert_bytes(brief.entry.key, HEADER, first);
		assert_bytes(brief.entry.key + first, HEADER + key - (kept - first), kept - first);
		assert_bytes(brief.entry.value, HEADER + key, value);
		memset(opened.bytes, 0xee, sizeof opened.bytes);
		assert_int_equal(cache_brief_open(file, &opened), CACHE_SOUND);
		assert_int_equal(opened.entry.key_bytes, kept);
		assert_int_equal(opened.entry.value_bytes, value);
		assert_memory_equal(opened.entry.key, brief.entry.key, kept + value);
		/* The key is not a driver's. */
		assert_false(cache_brief_split(&brief, &parts));
		os_file_close(file);
	}
}

/* The file is cut after its header was read: in either end of its key, or in its value. */
TEST(a_part_that_is_gone_is_told)
{
	static const struct {
		uint64_t key, value;
		size_t less;
	} cases[] = {
		{100, 10, 1}, {100, 10, 11}, {100, 10, 110}, {5 * END, 10, 11}, {5 * END, 10, 5 * END}};
	static struct cache_brief brief;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cache_entry entry = {.key_bytes = cases[i].key, .value_bytes = cases[i].value};
		struct os_file *file = open_entry(cases[i].key, cases[i].value, cases[i].less);
		struct cache_entry opened;

		assert_int_equal(cache_brief_read(file, &entry, &brief), CACHE_DAMAGE_TRUNCATED);
		assert_int_equal(cache_brief_open(file, &brief), CACHE_DAMAGE_TRUNCATED);
		assert_int_equal(cache_entry_open(file, &opened), CACHE_DAMAGE_TRUNCATED);
		os_file_close(file);
	}
}

/* Makes an entry with these options in its key. */
static uint64_t put_options(const char *dir, const char *lead, const char *options, size_t length,
							size_t payload)
{
	static uint8_t bytes[1 << 17];
	uint8_t *at = bytes + HEADER;
	size_t size;
	uint64_t key;

	memcpy(at, "Jun 25 202401:14:48HOST64sm_86", 30);
	memset(at + 30, 'p', payload);
	size = 30 + payload;
	at[size++] = '\0';
	memcpy(at + size, lead, strlen(lead));
	size += strlen(lead);
	memcpy(at + size, options, length);
	size += length;
	key = fnv_update(FNV_START, at, size);
	memset(at + size, 'v', 8);
	cache_entry_header(bytes, size, 8, fnv_update(FNV_START, at + size, 8));
	files_put_at(cache_entry_path(dir, key), bytes, HEADER + size + 8);
	return key;
}

TEST(a_listing_shows_options)
{
	enum { MOST = sizeof((struct jw_cache_entry *)NULL)->options };
	static const struct {
		const char *lead;
		size_t length, payload;
		char last, shown;
		enum jw_cache_form form;
	} cases[] = {
		{" ", 10, 8, '~', '~', JW_CACHE_LOAD},       {" ", 10, 8, ' ', ' ', JW_CACHE_LOAD},
		{" ", 10, 8, 0x7f, '?', JW_CACHE_LOAD},      {" ", 10, 8, 0x1f, '?', JW_CACHE_LOAD},
		{" ", 1, 8, 'x', 'x', JW_CACHE_LOAD},        {" -c", 10, 8, 'x', 'x', JW_CACHE_LINK},
		{" ", MOST - 1, 8, 'x', 'x', JW_CACHE_LOAD}, {" ", MOST, 8, 'x', 'o', JW_CACHE_LOAD},
		{" ", MOST + 1, 8, 'x', 'o', JW_CACHE_LOAD}, {" ", 10, 3 * END, 'x', 'x', JW_CACHE_LOAD},
	};
	char *dir = keep(os_join(folder, "cache"));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_cache_options options = {.path = dir, .limit_bytes = 1 << 30};
		const size_t shown = cases[i].length < MOST ? cases[i].length : MOST - 1;
		struct jw_cache_listing *list;
		char text[2 * MOST];
		uint64_t key;

		OK(os_remove_tree(why, dir));
		memset(text, 'o', sizeof text);
		text[cases[i].length - 1] = cases[i].last;
		key = put_options(dir, cases[i].lead, text, cases[i].length, cases[i].payload);
		OK(jw_cache_list(why, &options, &list));
		assert_int_equal(list->count, 1);
		assert_int_equal(list->entries[0].key, key);
		assert_false(list->entries[0].damaged || list->entries[0].in_index);
		assert_int_equal(list->entries[0].form, cases[i].form);
		assert_int_equal(list->entries[0].payload_bytes, cases[i].payload);
		assert_int_equal(list->entries[0].value_bytes, 8);
		assert_int_equal(strlen(list->entries[0].options), shown);
		assert_int_equal(list->entries[0].options[shown - 1], cases[i].shown);
		jw_result_free(list);
	}
	jw_result_free(NULL);
}

RUN_TESTS(make_folder, remove_folder)
