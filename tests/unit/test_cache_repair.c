/* A repair removes entries whose damage is understood, keeps all others, and rebuilds the index. */
#include "folder.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jitwarm/cache.h>

#include "cache/index.h"
#include "cache/remove.h"
#include "cache/view.h"
#include "entries.h"
#include "index_bytes.h"

enum { LIMIT = 1 << 30 };

static char *dir;

/* The disk is bad: no file returns more than a header. libuv calls this. */
static bool disk_is_bad;

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
	if (disk_is_bad && size > CACHE_ENTRY_HEADER) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, data, size, at);
}

/* Writes without os_write_atomic, since thousands of files need not be synced to disk. */
static void put(const char *name, const void *bytes, size_t size)
{
	char *path = keep(os_join(dir, name)), *parent = keep(os_dir_name(path));
	struct os_file *file = NULL;

	OK(os_make_dirs(why, parent, 0700));
	OK(os_file_open(why, path, OS_OPEN_CREATE, &file));
	OK(os_file_truncate(why, file, 0));
	OK(os_file_write(why, file, 0, bytes, size));
	os_file_close(file);
}

static bool is_there(const char *name)
{
	bool there = os_exists(keep(os_join(dir, name)));

	return there;
}

/* Makes entries 1 … count with their rows, in a directory of this name. */
static void make_cache(const char *name, unsigned count)
{
	struct cache_index index = {.rows = mem_array(count, sizeof *index.rows)};
	struct buf bytes = {0};

	dir = keep(os_join(folder, name));
	OK(os_remove_tree(why, dir));
	for (unsigned n = 1; n <= count; n++) {
		struct entries_entry entry;
		char file[CACHE_NAME_SIZE];

		entries_make(&entry, n, 0);
		put(cache_entry_name(file, entry.key), entry.bytes, entry.size);
		index.rows[index.count++] = (struct cache_row){entry.key, entry.row_bytes};
	}
	bytes = index_bytes(&index);
	put("index", bytes.data, bytes.size);
	cache_index_free(&index);
	buf_free(&bytes);
}

static int repair(struct jw_error *err, struct jw_cache_repaired *ret_repaired)
{
	struct jw_cache_options options = {.path = dir, .limit_bytes = LIMIT};

	return jw_cache_repair(err, &options, ret_repaired);
}

/* Asserts that there are this many sound entries, each with its row, and the right total. */
static void assert_sound(size_t entries)
{
	struct jw_cache_options options = {.path = dir, .limit_bytes = LIMIT};
	struct jw_cache_report *report = NULL;

	OK(jw_cache_verify(why, &options, &report));
	assert_int_equal(report->sound, entries);
	assert_int_equal(report->rows, entries);
	assert_int_equal(report->rows_without_file + report->files_without_row, 0);
	assert_int_equal(report->index_bytes, report->rows_bytes);
	assert_int_equal(report->outlook.bytes, report->rows_bytes);
	assert_string_equal(report->outlook.next_insert, "adds");
	jw_result_free(report);
}

TEST(understood_damage_is_removed)
{
	static const char blank[200];
	struct entries_entry entry;
	struct jw_cache_repaired repaired = {0};
	char name[CACHE_NAME_SIZE];

	make_cache("understood", 5);
	entries_make(&entry, 1, 0);
	entry.bytes[entry.size - 1] ^= 1;
	put(cache_entry_name(name, entry.key), entry.bytes, entry.size);
	entries_make(&entry, 2, 0);
	put(cache_entry_name(name, entry.key), entry.bytes, entry.size - 1);
	entries_make(&entry, 3, 0);
	put("0/0/00000000000000", "torn", 4);
	put("0/0/00000000000001", "", 0);
	put("0/0/00000000000002", entry.bytes, entry.size); /* its key belongs to another name */
	put("0/0/00000000000003", blank, sizeof blank);
	OK(repair(why, &repaired));
	assert_int_equal(repaired.removed, 6);
	assert_sound(3);
	OK(repair(why, &repaired));
	assert_int_equal(repaired.removed + repaired.counted + repaired.dropped, 0);
}

TEST(unknown_formats_stay)
{
	struct entries_entry entry;
	struct jw_cache_repaired repaired = {0};
	char name[CACHE_NAME_SIZE];

	make_cache("foreign", 3);
	entries_make(&entry, 1, 0);
	entry.bytes[0] = 0x42;
	put(cache_entry_name(name, entry.key), entry.bytes, entry.size);
	put("0/0/00000000000000/inside", "x", 1);
	put("0/0/README", "x", 1);
	put("0/z/00000000000000", "x", 1);
	put("notes.txt", "x", 1);
	put("0/0/00000000000001", "torn", 4);
	OK(repair(why, &repaired));
	assert_int_equal(repaired.removed, 1);
	assert_true(is_there(name));
	assert_true(is_there("0/0/00000000000000/inside"));
	assert_true(is_there("0/0/README"));
	assert_true(is_there("0/z/00000000000000"));
	assert_true(is_there("notes.txt"));
	assert_false(is_there("0/0/00000000000001"));
}

TEST(what_cannot_be_read_stays)
{
	struct entries_entry entry;
	struct cache_removal removal;
	bool may[2];
	char name[CACHE_NAME_SIZE];

	make_cache("unread", 2);
	entries_make(&entry, 1, 0);
	put(cache_entry_name(name, entry.key), entry.bytes, 50);
	for (unsigned n = 1; n <= 2; n++) {
		entries_make(&entry, n, 0);
		disk_is_bad = n == 2;
		may[n - 1] = repair_may_remove(dir, (struct sound_driver){0}, entry.key, &removal);
	}
	disk_is_bad = false;
	assert_true(may[0]);
	assert_false(may[1]);
}

TEST(an_index_is_rebuilt)
{
	static const struct {
		const char *what, *bytes;
		size_t size;
	} cases[] = {
		{"empty", "", 0},
		{"cut header", "\x41\0\0\0\3", 5},
		{"more rows than there are", "\x41\0\0\0\7\0\0\0\0\0\0\0\0\0\0", 16},
		{"no rows", "\x41\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16},
		{"a wrong total", "\x41\0\0\0\0\0\0\0\0\0\0\xff\0\0\0", 16},
		{"garbage", "\xde\xad\xbe\xef garbage of any kind", 24},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_repaired repaired = {0};

		make_cache("index", 4);
		put("index", cases[i].bytes, cases[i].size);
		OK(repair(why, &repaired));
		assert_int_equal(repaired.removed, 0);
		assert_int_equal(repaired.counted, 4);
		assert_sound(4);
	}
	make_cache("index", 4);
	{
		struct jw_cache_repaired repaired = {0};

		OK(os_remove(why, keep(os_join(dir, "index"))));
		OK(repair(why, &repaired));
		assert_sound(4);
	}
}

TEST(an_index_of_another_version_stops_it)
{
	static const uint8_t other[24] = {0x42, 0, 0, 0, 1};
	struct jw_cache_repaired repaired = {0};

	make_cache("version", 2);
	put("index", other, sizeof other);
	put("0/0/00000000000000", "torn", 4);
	GIVES(JW_ERR_UNSUPPORTED, repair(why, &repaired));
	assert_true(is_there("0/0/00000000000000"));
}

/* Called between the entries: an entry is torn when it is first read and complete when it is
 * judged, as if a driver had just compiled it again. */
static bool heal(void *context)
{
	struct entries_entry entry;
	char name[CACHE_NAME_SIZE];

	if (++*(int *)context == 3) {
		entries_make(&entry, 1, 0);
		put(cache_entry_name(name, entry.key), entry.bytes, entry.size);
	}
	return false;
}

TEST(a_repaired_entry_stays)
{
	int asked = 0;
	struct jw_cache_options options = {.limit_bytes = LIMIT, .cancel = {&asked, heal}};
	struct jw_cache_repaired repaired = {0};
	struct entries_entry entry;
	char name[CACHE_NAME_SIZE];

	make_cache("healed", 2);
	options.path = dir;
	entries_make(&entry, 1, 0);
	put(cache_entry_name(name, entry.key), entry.bytes, 50);
	OK(jw_cache_repair(why, &options, &repaired));
	assert_int_equal(asked, 3);
	assert_int_equal(repaired.removed, 0);
	assert_sound(2);
}

/* A file that has changed since it was judged stays, and so does its row. */
TEST(an_entry_changed_under_the_lock_stays)
{
	struct cache_live_options how = {.limit_bytes = LIMIT};
	struct cache_removal removals[2] = {{0}};
	struct cache_live *live = NULL;
	struct cache_index index;
	struct entries_entry entry;

	make_cache("changed", 2);
	for (unsigned n = 1; n <= 2; n++) {
		entries_make(&entry, n, 0);
		removals[n - 1].key = entry.key;
		(void)cache_presence(dir, entry.key, 0, &removals[n - 1].probed);
	}
	removals[0].probed.stat.mtime_ns--;
	OK(cache_live_open(why, dir, &how, &live));
	OK(cache_remove(why, live, removals, 2));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, 1);
	assert_int_equal(index.rows[0].key, removals[0].key);
	cache_index_free(&index);
	OK(cache_remove_settle(why, live));
	OK(cache_live_close(why, live));
	assert_int_equal(removals[0].removed, CACHE_REMOVED_CHANGED);
	assert_int_equal(removals[1].removed, CACHE_REMOVED);
	assert_sound(1);
}

/* The driver adds up the rows, so each has the size of its file. */
TEST(a_row_gets_the_size_of_its_file)
{
	struct jw_cache_options options = {.limit_bytes = LIMIT};
	struct jw_cache_report *report = NULL;
	struct cache_index index = {0};
	struct jw_cache_repaired repaired = {0};
	struct entries_entry entry;
	struct buf bytes = {0};

	make_cache("sizes", 2);
	options.path = dir;
	OK(cache_index_load(why, dir, &index));
	index.rows[1].size_bytes++;
	bytes = index_bytes(&index);
	put("index", bytes.data, bytes.size);
	buf_free(&bytes);
	cache_index_free(&index);
	OK(jw_cache_verify(why, &options, &report));
	assert_int_equal(report->rows_of_other_size, 1);
	jw_result_free(report);
	OK(repair(why, &repaired));
	assert_true(repaired.mended);
	OK(cache_index_load(why, dir, &index));
	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n + 1, 0);
		assert_int_equal(index.rows[n].key, entry.key);
		assert_int_equal(index.rows[n].size_bytes, entry.row_bytes);
	}
	assert_int_equal(index.total_bytes, cache_index_rows_total(&index));
	cache_index_free(&index);
	repaired = (struct jw_cache_repaired){0};
	OK(repair(why, &repaired));
	assert_false(repaired.mended);
}

/* One hold of the lock removes as many files as its time allows. */
TEST(many_removals_share_a_hold)
{
	enum { ENTRIES = 100 };
	struct cache_live_options how = {.limit_bytes = LIMIT};
	struct cache_removal removals[ENTRIES] = {{0}};
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	struct entries_entry entry;

	make_cache("holds", ENTRIES);
	for (unsigned n = 1; n <= ENTRIES; n++) {
		entries_make(&entry, n, 0);
		removals[n - 1].key = entry.key;
		(void)cache_presence(dir, entry.key, 0, &removals[n - 1].probed);
	}
	OK(cache_live_open(why, dir, &how, &live));
	OK(cache_remove(why, live, removals, ENTRIES));
	cache_live_counts(live, &counts);
	assert_true(counts.holds < ENTRIES);
	OK(cache_live_close(why, live));
	assert_sound(0);
}

RUN_TESTS(make_folder, remove_folder)
