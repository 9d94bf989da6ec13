/* The journal of a library that was baked in its place: the original comes back, or nothing does.
 */
#include "files.h"
#include "make_devcode.h"
/* Behind those that have parameters of its names */
#include "folder.h"

#include <zstd.h>

#include "bake/journal.h"
#include "base/cursor.h"
#include "base/mem.h"

enum { SIZE = 3 * JOURNAL_PIECE + 777, TRAILER = 24 };

static uint8_t was[SIZE], now[SIZE + 5000];

static char *at(const char *name)
{
	return os_join(NULL, folder, name);
}

/* Writes the journal of `size` bytes of `now`, and gives its path. */
static char *write_one(size_t was_size, size_t now_size, const struct journal *former)
{
	char *old = at("old"), *new = at("new"), *file = at("a.journal");
	struct os_map from, to;
	struct original *original;
	struct journal journal = {.path = at("library.so"), .when_s = 1700000000};

	files_put(folder, "old", was, was_size);
	files_put(folder, "new", now, now_size);
	assert_int_equal(os_map_open(NULL, old, &from), 0);
	assert_int_equal(os_map_open(NULL, new, &to), 0);
	assert_int_equal(original_open(NULL, &from, former, &original), 0);
	assert_int_equal(journal_write(NULL, file, original, &to, &journal), 0);
	original_close(original);
	assert_int_equal(journal_prove(NULL, file, &to), 0);
	assert_int_equal(journal_prove(NULL, old, &to), -1); /* no journal */
	os_map_close(&from);
	os_map_close(&to);
	journal_free(&journal);
	mem_free(old);
	mem_free(new);
	return file;
}

/* -1: the journal cannot be used. */
static int restore(const char *file, uint8_t *bytes, size_t *ret_size)
{
	char *new = at("new");
	struct journal journal;
	struct original *original;
	struct os_map map;
	const uint8_t *piece;
	size_t size = 1;
	int result = journal_read(NULL, file, &journal);

	*ret_size = 0;
	if (result) {
		mem_free(new);
		return -1;
	}
	assert_int_equal(os_map_open(NULL, new, &map), 0);
	result = original_open(NULL, &map, &journal, &original);
	while (!result && size) {
		result = original_next(NULL, original, &piece, &size);
		assert_true(result || *ret_size + size <= SIZE);
		if (!result)
			memcpy(bytes + *ret_size, piece, size);
		*ret_size += result ? 0 : size;
	}
	original_close(original);
	os_map_close(&map);
	journal_free(&journal);
	mem_free(new);
	return result;
}

static void fill(void)
{
	for (size_t i = 0; i < SIZE; i++)
		now[i] = was[i] = (uint8_t)(i * 2654435761U >> 13);
}

static void check_restored(size_t was_size, size_t now_size)
{
	char *file = write_one(was_size, now_size, NULL);
	uint8_t *bytes = mem_alloc(NULL, SIZE);
	size_t size;

	assert_int_equal(restore(file, bytes, &size), 0);
	assert_int_equal(size, was_size);
	assert_memory_equal(bytes, was, was_size);
	mem_free(bytes);
	mem_free(file);
}

static void changed_ranges_come_back(void **state)
{
	(void)state;
	fill();
	check_restored(SIZE, SIZE); /* nothing changed */
	now[0] ^= 1;
	now[SIZE - 1] ^= 1;
	memset(now + JOURNAL_PIECE - 300, 7, 600); /* across two pieces */
	check_restored(SIZE, SIZE);
	memset(now, 9, sizeof now);
	check_restored(SIZE, SIZE);
	check_restored(1, 1);
}

static void a_file_that_grew_or_shrank_comes_back(void **state)
{
	(void)state;
	fill();
	now[5] ^= 1;
	check_restored(SIZE, sizeof now);
	check_restored(SIZE, SIZE - 5000);
	check_restored(SIZE, JOURNAL_PIECE);
}

/* Baked a second time: the way back leads to the first original. */
static void a_second_journal_leads_to_the_first_original(void **state)
{
	struct journal former;
	struct os_map from, to;
	struct original *original;
	struct journal journal = {.path = at("library.so")};
	char *file, *new = at("new"), *newer = at("newer"), *second = at("b.journal");

	(void)state;
	fill();
	memset(now + 1000, 1, 2000);
	file = write_one(SIZE, SIZE, NULL);
	assert_int_equal(journal_read(NULL, file, &former), 0);
	memset(now + 2000, 2, 3000);
	files_put(folder, "newer", now, SIZE);
	assert_int_equal(os_map_open(NULL, new, &from), 0);
	assert_int_equal(os_map_open(NULL, newer, &to), 0);
	assert_int_equal(original_open(NULL, &from, &former, &original), 0);
	assert_int_equal(journal_write(NULL, second, original, &to, &journal), 0);
	original_close(original);
	assert_true(digest_equal(&journal.before, &former.before));
	assert_int_equal(journal_prove(NULL, second, &to), 0);
	/* The first journal is no longer one of this file. */
	assert_int_equal(journal_prove(NULL, file, &to), -1);
	os_map_close(&from);
	os_map_close(&to);
	journal_free(&former);
	journal_free(&journal);
	mem_free(file);
	mem_free(new);
	mem_free(newer);
	mem_free(second);
}

static void a_damaged_journal_is_refused(void **state)
{
	uint8_t *bytes = mem_alloc(NULL, SIZE);
	struct buf sound;
	struct os_map map;
	char *file, *new = at("new"), *bad = at("bad.journal");
	size_t size;

	(void)state;
	fill();
	memset(now + 1000, 1, 70000);
	file = write_one(SIZE, SIZE, NULL);
	assert_int_equal(os_read_file(NULL, file, 1 << 24, &sound), 0);
	assert_int_equal(os_map_open(NULL, new, &map), 0);
	for (size_t i = 0; i < sound.size; i += i < 64 || i + 900 > sound.size ? 1 : 2999) {
		const uint8_t kept = sound.data[i];

		sound.data[i] ^= 0x10;
		files_put(folder, "bad.journal", sound.data, sound.size);
		/* Either it is refused, or what it says of the original does not matter for its bytes. */
		if (!journal_prove(NULL, bad, &map)) {
			assert_int_equal(restore(bad, bytes, &size), 0);
			assert_int_equal(size, SIZE);
			assert_memory_equal(bytes, was, SIZE);
		}
		sound.data[i] = kept;
	}
	for (size_t cut = 0; cut < sound.size; cut += cut < 64 || cut + 300 > sound.size ? 1 : 2999) {
		files_put(folder, "bad.journal", sound.data, cut);
		assert_int_equal(restore(bad, bytes, &size), -1);
	}
	os_map_close(&map);
	buf_free(&sound);
	mem_free(bytes);
	mem_free(file);
	mem_free(new);
	mem_free(bad);
}

/* Sizes that a hostile trailer names */
static void a_hostile_trailer_is_refused(void **state)
{
	static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_MAX - 23, 1 << 20, (1 << 20) + 1};
	struct journal journal;
	char *file, *bad = at("bad.journal");
	struct buf sound;

	(void)state;
	fill();
	file = write_one(SIZE, SIZE, NULL);
	assert_int_equal(os_read_file(NULL, file, 1 << 24, &sound), 0);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		for (size_t j = 0; j < sizeof odd / sizeof *odd; j++) {
			store_u64(sound.data + sound.size - TRAILER, odd[i]);
			store_u64(sound.data + sound.size - TRAILER + 8, odd[j]);
			files_put(folder, "bad.journal", sound.data, sound.size);
			assert_int_equal(journal_read(NULL, bad, &journal), -1);
		}
	buf_free(&sound);
	mem_free(file);
	mem_free(bad);
}

/* The journal with other ranges, and with another text in its document */
static void put_journal(const struct buf *sound, const uint64_t (*ranges)[2], size_t count,
						const char *from, const char *into)
{
	const uint64_t frame = load_u64(sound->data + sound->size - TRAILER + 8);
	const char *document = (const char *)sound->data + frame;
	struct buf plain = make_buf(), file = make_buf();
	uint8_t number[16], zeros[64] = {0};
	char *text = mem_string_n(NULL, document, sound->size - TRAILER - (size_t)frame), *found;

	for (size_t i = 0; i < count; i++) {
		store_u64(number, ranges[i][0]);
		store_u64(number + 8, ranges[i][1]);
		make_bytes(&plain, number, sizeof number);
		make_bytes(&plain, zeros, ranges[i][0] == UINT64_MAX ? 0 : (size_t)ranges[i][1]);
	}
	if (count) {
		uint8_t packed[4096];
		const size_t size = ZSTD_compress(packed, sizeof packed, plain.data, plain.size, 1);

		assert_false(ZSTD_isError(size));
		make_bytes(&file, packed, size);
	} else {
		make_bytes(&file, sound->data, (size_t)frame);
	}
	store_u64(number + 8, file.size);
	found = from ? strstr(text, from) : text + strlen(text);
	assert_non_null(found);
	store_u64(number, strlen(text) + (from ? strlen(into) - strlen(from) : 0));
	make_bytes(&file, text, (size_t)(found - text));
	if (from)
		make_bytes(&file, into, strlen(into));
	make_bytes(&file, found + (from ? strlen(from) : 0), strlen(found) - (from ? strlen(from) : 0));
	make_bytes(&file, number, sizeof number);
	make_bytes(&file, sound->data + sound->size - 8, 8);
	files_put(folder, "bad.journal", file.data, file.size);
	mem_free(text);
	buf_free(&plain);
	buf_free(&file);
}

/* Right in all but one thing */
static void each_thing_is_checked(void **state)
{
	static const uint64_t right[][2] = {{8, 8}, {JOURNAL_PIECE + 8, 8}, {UINT64_MAX, 0}};
	static const uint64_t wrong[][3][2] = {
		{{8, 8}, {JOURNAL_PIECE + 8, 0}, {UINT64_MAX, 0}},
		{{JOURNAL_PIECE + 8, 8}, {8, 8}, {UINT64_MAX, 0}},
		{{8, 8}, {15, 8}, {UINT64_MAX, 0}},
		{{8, 8}, {SIZE - 1, 8}, {UINT64_MAX, 0}},
		{{8, 8}, {SIZE, 8}, {UINT64_MAX, 0}},
	};
	static const struct {
		const char *from, *into;
		int result;
	} documents[] = {
		{"\"row_before\"", "\"row_before\":\"a,,\",\"other\"", 0},
		{"\"row_before\"", "\"row_before\":\"a,,\\nc,,\",\"other\"", -1},
		{"\"row_after\"", "\"row_after\":\"a,,\",\"other\"", 0},
		{"\"row_after\"", "\"row_after\":\"a,,\\nc,,\",\"other\"", -1},
		{"\"row_after\"", "\"row_after\":\"a,,\\r\",\"other\"", -1},
		{"\"path\"", "\"path\":\"library.so\",\"other\"", -1},
		{"\"size_before\"", "\"size_before\":0,\"other\"", -1},
		{"\"size_after\"", "\"size_after\":0,\"other\"", -1},
		{"\"hash_before\"", "\"other\"", -1},
		{"\"hash_after\"", "\"other\"", -1},
		{"\"mtime_ns\"", "\"other\"", -1},
	};
	uint8_t *bytes = mem_alloc(NULL, SIZE);
	char *file, *bad = at("bad.journal");
	struct buf sound;
	size_t size;

	(void)state;
	fill();
	file = write_one(SIZE, SIZE, NULL);
	assert_int_equal(os_read_file(NULL, file, 1 << 24, &sound), 0);
	put_journal(&sound, right, 3, NULL, NULL);
	assert_int_equal(restore(bad, bytes, &size), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		put_journal(&sound, wrong[i], 3, NULL, NULL);
		assert_int_equal(restore(bad, bytes, &size), -1);
	}
	for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
		put_journal(&sound, NULL, 0, documents[i].from, documents[i].into);
		assert_int_equal(restore(bad, bytes, &size), documents[i].result);
	}
	buf_free(&sound);
	mem_free(bytes);
	mem_free(file);
	mem_free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_ranges_come_back),
		cmocka_unit_test(a_file_that_grew_or_shrank_comes_back),
		cmocka_unit_test(a_second_journal_leads_to_the_first_original),
		cmocka_unit_test(a_damaged_journal_is_refused),
		cmocka_unit_test(a_hostile_trailer_is_refused),
		cmocka_unit_test(each_thing_is_checked),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
