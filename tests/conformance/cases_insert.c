/* An insert changes the index and the rest of the directory as docs/internals/driver-cache.md says.
 * */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t entry_hash(const char *path)
{
	struct entry before[16], after[17];
	size_t count = entries_read(suite.cache, before, 16), more;
	uint64_t hash = 0;

	if (load(path).result != 0)
		return 0;
	more = entries_read(suite.cache, after, 17);
	for (size_t i = 0; i < more && i < 17; i++) {
		bool old = false;

		for (size_t k = 0; k < count; k++)
			old = old || before[k].hash == after[i].hash;
		if (!old)
			hash = after[i].hash;
		entry_free(&after[i]);
	}
	for (size_t k = 0; k < count && k < 16; k++)
		entry_free(&before[k]);
	return hash;
}

static enum outcome appends_a_row(void)
{
	struct index index;
	struct entry entries[2];
	uint64_t first = entry_hash(module(1)), second = entry_hash(module(2));
	uint64_t total = 0;

	CHECK_IS(entries_read(suite.cache, entries, 2), 2);
	for (int i = 0; i < 2; i++) {
		total += entries[i].key_size + entries[i].value_size;
		entry_free(&entries[i]);
	}
	CHECK(index_read(&index));
	CHECK_IS(index.version, 0x41);
	CHECK_IS(index.count, 2);
	CHECK_IS(index.file_size, 48);
	CHECK(first && index.rows[0].hash == first);
	CHECK(second && index.rows[1].hash == second);
	CHECK_IS(index.total, total);
	CHECK_IS(index.rows[0].size + index.rows[1].size, total);
	return PASSED;
}

static ino_t number_of(const char *path)
{
	struct stat info;

	return stat(path, &info) ? 0 : info.st_ino;
}

/* Gives the index a second name, so that its inode number is not reused. */
static ino_t hold_index(void)
{
	char held[300];

	snprintf(held, sizeof held, "%s/held", suite.scratch);
	unlink(held);
	return link(cache_file("index"), held) ? 0 : number_of(held);
}

/* Makes two entries, replaces the index by these bytes (NULL: none), and inserts a third. Returns
 * the content. */
static enum outcome insert_over(const void *bytes, size_t size, size_t *ret_entries,
								struct index *ret_index)
{
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(load(module(2)).compiled, 1);
	if (bytes)
		CHECK(write_file(cache_file("index"), bytes, size));
	else
		unlink(cache_file("index"));
	CHECK_IS(load(module(3)).compiled, 1);
	CHECK_IS(load(module(3)).compiled, 0);
	CHECK(index_read(ret_index));
	*ret_entries = entries_count(suite.cache);
	return PASSED;
}

static enum outcome wipes(const void *bytes, size_t size)
{
	struct index index;
	size_t entries;
	enum outcome outcome = insert_over(bytes, size, &entries, &index);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(entries, 1);
	CHECK_IS(index.count, 1);
	CHECK_IS(index.total, index.rows[0].size);
	return PASSED;
}

static enum outcome wipes_without_index(void)
{
	return wipes(NULL, 0);
}

static enum outcome wipes_with_empty_index(void)
{
	return wipes("", 0);
}

static enum outcome wipes_with_short_header(void)
{
	return wipes("\x41\0\0\0\0\0\0\0\0\0\0", 12);
}

/* Another driver has inserted and not yet written the tail. */
static const uint32_t two_rows_less[] = {0x41, 3, 0, 0, 1, 2, 3, 0};

static enum outcome wipes_with_missing_rows(void)
{
	return wipes(two_rows_less, sizeof two_rows_less);
}

static enum outcome wipes_with_half_a_row(void)
{
	static const uint32_t half[] = {0x41, 1, 0, 0, 1, 2, 3};

	return wipes(half, sizeof half);
}

static enum outcome wipes_with_other_version(void)
{
	static const uint32_t other[] = {0x40, 0, 0, 0};

	return wipes(other, sizeof other);
}

static const char garbage[] = "no index, but forty bytes of other text..";

static enum outcome wipes_with_garbage(void)
{
	return wipes(garbage, 40);
}

/* If rows are missing, even a look-up wipes the cache and removes the index; the folder itself and
 * its other files stay. Everything else is new afterwards. */
static enum outcome look_up_wipes_with_index(void)
{
	ino_t index, folder = number_of(suite.cache);
	char beside[300];

	snprintf(beside, sizeof beside, "%s/beside", suite.cache);
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK_IS(mkdir(beside, 0700), 0);
	index = hold_index();
	CHECK(index && write_file(cache_file("index"), two_rows_less, sizeof two_rows_less));
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK(number_of(cache_file("index")) != index);
	CHECK(number_of(suite.cache) == folder);
	CHECK(exists(beside));
	CHECK_IS(rmdir(beside), 0);
	return PASSED;
}

/* Otherwise, an insert wipes the cache, and the index keeps its inode. */
static enum outcome insert_wipes_beside_index(void)
{
	ino_t index;

	CHECK_IS(load(module(1)).compiled, 1);
	index = hold_index();
	CHECK(index && write_file(cache_file("index"), garbage, sizeof garbage));
	CHECK_IS(load(module(1)).compiled, 0);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK(number_of(cache_file("index")) == index);
	return PASSED;
}

/* Makes two entries; `put` replaces the index. */
static enum outcome no_caching_with(int (*put)(const char *index))
{
	CHECK_IS(load(module(1)).compiled, 1);
	unlink(cache_file("index"));
	CHECK_IS(put(cache_file("index")), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_IS(load(module(1)).compiled, 1);
		CHECK_IS(load(module(2)).compiled, 1);
		CHECK_IS(entries_count(suite.cache), 1);
	}
	return PASSED;
}

static int put_folder(const char *index)
{
	return mkdir(index, 0700);
}

static enum outcome folder_in_its_place(void)
{
	enum outcome outcome = no_caching_with(put_folder);

	rmdir(cache_file("index"));
	return outcome;
}

static int put_link_to_nowhere(const char *index)
{
	return symlink("nowhere/at/all", index);
}

static enum outcome link_to_nowhere(void)
{
	return no_caching_with(put_link_to_nowhere);
}

/* Look-ups hit. Each insert deletes the previous entry, since its row is not stored. */
static enum outcome device_in_its_place(void)
{
	CHECK_IS(load(module(1)).compiled, 1);
	unlink(cache_file("index"));
	CHECK_IS(symlink("/dev/null", cache_file("index")), 0);
	CHECK_IS(load(module(1)).compiled, 0);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK_IS(load(module(2)).compiled, 0);
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

static enum outcome orphans_survive(void)
{
	static const uint32_t no_rows[] = {0x41, 0, 0, 0};
	struct index index;
	size_t entries;
	enum outcome outcome = insert_over(no_rows, sizeof no_rows, &entries, &index);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(entries, 3);
	CHECK_IS(index.count, 1);
	CHECK_IS(index.total, index.rows[0].size);
	CHECK_IS(load(module(1)).compiled, 0);
	return PASSED;
}

/* Rows beyond the header's count are ignored. */
static enum outcome longer_index(void)
{
	static const uint32_t longer[] = {0x41, 0, 0, 0, 1, 1, 1, 0, 2, 2, 2, 0};
	struct index index;
	size_t entries;
	enum outcome outcome = insert_over(longer, sizeof longer, &entries, &index);

	if (outcome != PASSED)
		return outcome;
	CHECK_IS(entries, 3);
	CHECK_IS(index.count, 1);
	/* Rewritten in place, never shortened. */
	CHECK_IS(index.file_size, 48);
	return PASSED;
}

/* A wipe removes the sixteen directories with all their content, and nothing else. */
static enum outcome wipe_takes_foreign_files(void)
{
	struct entry entry;
	char foreign[1024], *own = cache_file("README");
	char *slash;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	slash = strrchr(entry.path, '/');
	snprintf(foreign, sizeof foreign, "%.*s/notes", (int)(slash - entry.path), entry.path);
	CHECK(write_file(foreign, "x", 1) && write_file(own, "x", 1));
	CHECK(write_file(cache_file("index"), "", 0));
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK(!exists(foreign));
	CHECK(exists(own));
	return PASSED;
}

/* The same module is stored again: its row moves to the end, and its file is a new one. */
static enum outcome heals_to_the_end(void)
{
	struct index index;
	uint64_t first = entry_hash(module(1));
	struct entry entry;

	CHECK(first);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	CHECK(entry_hash(module(2)));
	CHECK(write_file(entry.path, "damaged", 7));
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 2);
	CHECK_IS(index.total, index.rows[0].size + index.rows[1].size);
	CHECK(index.rows[1].hash == first);
	return PASSED;
}

/* The index keeps its inode; a program that replaced the file would lock another one. */
static enum outcome index_is_written_in_place(void)
{
	struct stat before, after;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(stat(cache_file("index"), &before), 0);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK_IS(stat(cache_file("index"), &after), 0);
	CHECK(before.st_ino == after.st_ino && after.st_size > before.st_size);
	return PASSED;
}

/* 400 rows without files are carried along. */
static enum outcome keeps_many_rows(void)
{
	static struct index index;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(index_read(&index));
	for (index.count = 1; index.count < 400; index.count++) {
		index.rows[index.count] = (struct row){UINT64_C(0x1111) * index.count, 10};
		index.total += 10;
	}
	index_write(&index);
	CHECK_IS(load(module(2)).compiled, 1);
	CHECK(index_read(&index));
	CHECK_IS(index.count, 401);
	CHECK_IS(index.file_size, 16 + 16 * 401);
	CHECK(index.rows[399].hash == UINT64_C(0x1111) * 399);
	CHECK_IS(entries_count(suite.cache), 2);
	return PASSED;
}

/* One driver inserts the 256th row and waits between unlocking and writing the tail, while another
 * one inserts. *ret_wiped is also false if that took longer than the wait. */
static enum outcome insert_before_the_tail(unsigned wait_ms, bool *ret_wiped)
{
	char cache[320], wait[64];
	const char *settings[] = {cache, wait, NULL};
	struct client *slow;
	struct index index;
	pid_t inserting;

	cache_clear();
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(index_read(&index));
	for (index.count = 1; index.count < 255; index.count++) {
		index.rows[index.count] = (struct row){UINT64_C(0x1111) * index.count, 10};
		index.total += 10;
	}
	index_write(&index);
	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	snprintf(wait, sizeof wait, "SIMDRIVER_TAIL_DELAY_MS=%u", wait_ms);
	slow = client_start(settings);
	inserting = fork();
	if (inserting == 0) {
		client_load(slow, "dataex", module(2), NULL);
		_exit(0);
	}
	/* The 256th row is the first that does not fit into 4 KiB. */
	do {
		usleep(1000);
		CHECK(index_read(&index));
	} while (index.count == 255);
	CHECK_IS(index.count, 256);
	*ret_wiped = index.file_size == 4096;
	CHECK_IS(load(module(3)).compiled, 1);
	waitpid(inserting, NULL, 0);
	client_stop(slow);
	*ret_wiped = load(module(1)).compiled == 1 && *ret_wiped;
	return PASSED;
}

/* The driver releases the lock before it has written the last part of a long index. Another driver
 * that inserts in between finds the index truncated, and wipes. Only the simulated driver can be
 * made to wait there, longer on a slow machine. */
static enum outcome tail_after_the_lock(void)
{
	enum outcome outcome = PASSED;
	bool wiped = false;

	if (!getenv("SIMDRIVER_GPUS"))
		return case_skipped("for the simulated driver");
	for (unsigned wait_ms = 400; !wiped && outcome == PASSED && wait_ms <= 25600; wait_ms *= 4)
		outcome = insert_before_the_tail(wait_ms, &wiped);
	if (outcome == PASSED)
		CHECK(wiped);
	return outcome;
}

/* Directories 0700, files 0666, before the umask. */
static enum outcome modes(void)
{
	char cache[320], path[400];
	const char *settings[] = {cache, NULL};
	struct client *client;
	struct entry entry;
	struct stat info;
	int result;

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s/new/level", suite.scratch);
	client = client_start(settings);
	client_load(client, "umask", "-", NULL);
	result = client_load(client, "dataex", module(1), NULL).result;
	client_stop(client);
	CHECK_IS(result, 0);
	snprintf(path, sizeof path, "%s/new/level", suite.scratch);
	CHECK_IS(entries_read(path, &entry, 1), 1);
	entry_free(&entry);
	CHECK_IS(stat(entry.path, &info), 0);
	CHECK_IS(info.st_mode & 0777, 0666);
	*strrchr(entry.path, '/') = '\0';
	CHECK_IS(stat(entry.path, &info), 0);
	CHECK_IS(info.st_mode & 0777, 0700);
	CHECK_IS(stat(path, &info), 0);
	CHECK_IS(info.st_mode & 0777, 0700);
	snprintf(path, sizeof path, "%s/new/level/index", suite.scratch);
	CHECK_IS(stat(path, &info), 0);
	CHECK_IS(info.st_mode & 0777, 0666);
	return PASSED;
}

const struct test_case insert_cases[] = {
	{"insert/an insert appends a row", appends_a_row},
	{"insert/files and directories have the expected modes", modes},
	{"insert/an insert keeps the inode of the index", index_is_written_in_place},
	{"insert/the row of a repaired entry goes to the end", heals_to_the_end},
	{"insert/an insert keeps 400 rows", keeps_many_rows},
	{"insert/the rest of a long index is read after the lock is taken", tail_after_the_lock},
	{"insert/entries without a row survive if the index's header is sound", orphans_survive},
	{"insert/an insert never shortens the index", longer_index},
	{"wipe/a missing index", wipes_without_index},
	{"wipe/an empty index", wipes_with_empty_index},
	{"wipe/an index with half a header", wipes_with_short_header},
	{"wipe/an index with fewer rows than its header counts", wipes_with_missing_rows},
	{"wipe/an index with half a row", wipes_with_half_a_row},
	{"wipe/an index of another version", wipes_with_other_version},
	{"wipe/an index of garbage", wipes_with_garbage},
	{"wipe/if rows are missing, a look-up wipes the cache with its index",
	 look_up_wipes_with_index},
	{"wipe/otherwise an insert wipes the cache, and keeps the index", insert_wipes_beside_index},
	{"index/a folder as the index: no caching", folder_in_its_place},
	{"index/a dangling symlink as the index: no caching", link_to_nowhere},
	{"index/a device as the index: each insert wipes the cache", device_in_its_place},
	{"wipe/a wipe removes other programs' files inside the entries' folders, and leaves those "
	 "beside them",
	 wipe_takes_foreign_files},
	{NULL, NULL},
};
