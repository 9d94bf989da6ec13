/* Entries that were found sound are remembered, together with the facts that show a change. */
#include "folder.h"

#include <stdatomic.h>

#include <uv.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "cache/verified.h"
#include "entries.h"
#include "files.h"
#include "os/platform.h"

enum { ENTRIES = 3, HEAD = 20, RECORD = 16, WAIT_MS = 3100, LARGE = 9 << 20 };
#define BOOT UINT64_C(1700000000)

static const struct jw_cancel never;

static void put(const char *dir, const struct entries_entry *entry)
{
	char name[CACHE_NAME_SIZE];

	files_put(dir, cache_entry_name(name, entry->key), entry->bytes, entry->size);
}

static void look(const char *dir, struct cache_candidate candidates[ENTRIES])
{
	for (unsigned n = 0; n < ENTRIES; n++)
		assert_int_equal(cache_presence(dir, candidates[n].key, 0, &candidates[n].probed),
						 CACHE_PRESENT);
}

static void judge(const char *kept, const char *dir, struct cache_candidate candidates[ENTRIES])
{
	OK(cache_verified_judge(why, kept, dir, (struct sound_driver){0}, &never, candidates, ENTRIES));
}

static void bend_in_place(const char *dir, const struct cache_candidate *candidate)
{
	char *path = keep(cache_entry_path(dir, candidate->key));
	struct os_file *file;

	OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
	OK(os_file_write(why, file, candidate->probed.stat.size_bytes - 1, "x", 1));
	os_file_close(file);
	check_set_mtime(path, candidate->probed.stat.mtime_ns);
}

/* Counts the entries that the only file in `kept` remembers. */
static size_t count_remembered(const char *kept)
{
	struct os_names names;
	struct os_stat stat;
	char *path;

	OK(os_list(why, kept, &names));
	assert_int_equal(names.count, 1);
	path = keep(os_join(kept, names.items[0]));
	OK(os_stat(why, path, &stat));
	os_names_free(&names);
	return ((size_t)stat.size_bytes - HEAD - sizeof(uint64_t)) / RECORD;
}

TEST(damage_is_found_and_sound_entries_are_remembered)
{
	char *dir = keep(os_join(folder, "cache")), *kept = keep(os_join(folder, "state"));
	struct cache_candidate candidates[ENTRIES] = {0};
	struct entries_entry entries[ENTRIES];

	for (unsigned n = 0; n < ENTRIES; n++) {
		entries_make(&entries[n], n, 100);
		put(dir, &entries[n]);
		candidates[n].key = entries[n].key;
	}
	uv_sleep(WAIT_MS);
	look(dir, candidates);
	judge(kept, dir, candidates);
	for (unsigned n = 0; n < ENTRIES; n++)
		assert_int_equal(candidates[n].damage, CACHE_SOUND);
	assert_int_equal(count_remembered(kept), ENTRIES);

	/* The entry is damaged without a change of its size; with its old times restored it is not
	 * read. */
	entries[1].bytes[entries[1].size - 1] ^= 1;
	put(dir, &entries[1]);
	judge(kept, dir, candidates);
	assert_int_equal(candidates[1].damage, CACHE_SOUND);
	judge(NULL, dir, candidates);
	assert_int_equal(candidates[1].damage, CACHE_DAMAGE_VALUE);
	look(dir, candidates);
	judge(kept, dir, candidates);
	assert_int_equal(candidates[0].damage, CACHE_SOUND);
	assert_int_equal(candidates[1].damage, CACHE_DAMAGE_VALUE);
	assert_int_equal(candidates[2].damage, CACHE_SOUND);
	/* The former knowledge of it is forgotten. */
	assert_int_equal(count_remembered(kept), ENTRIES - 1);

	/* The entry is damaged in place, with its old write time restored. */
	bend_in_place(dir, &candidates[2]);
	look(dir, candidates);
	judge(kept, dir, candidates);
	assert_int_equal(candidates[2].damage, CACHE_DAMAGE_VALUE);

	/* Entries that were just written are sound, but not remembered. */
	entries[1].bytes[entries[1].size - 1] ^= 1;
	put(dir, &entries[1]);
	look(dir, candidates);
	judge(kept, dir, candidates);
	assert_int_equal(candidates[1].damage, CACHE_SOUND);
	entries[1].bytes[60] ^= 1;
	put(dir, &entries[1]);
	judge(kept, dir, candidates);
	assert_int_equal(candidates[1].damage, CACHE_DAMAGE_NAME);
}

static uv_thread_t first;
static atomic_bool another;

/* Cancels the reading of another thread, which the first one waits for. */
static bool cancels_another(void *context)
{
	const uv_thread_t self = uv_thread_self();

	(void)context;
	if (!uv_thread_equal(&self, &first))
		atomic_store(&another, true);
	else
		for (int tries = 0; tries < 1000 && !atomic_load(&another); tries++)
			uv_sleep(10);
	return !uv_thread_equal(&self, &first);
}

/* An entry that one of several threads did not read is not judged. */
TEST(a_thread_that_fails_fails_all)
{
	const struct jw_cancel cancel = {NULL, cancels_another};
	struct cache_candidate candidates[ENTRIES] = {0};
	char *dir = keep(os_join(folder, "large"));

	if (os_cores() < 2)
		skip();
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;
		struct os_file *file;
		char *path;

		entries_make(&entry, n, 100);
		put(dir, &entry);
		candidates[n].key = entry.key;
		path = keep(cache_entry_path(dir, entry.key));
		OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
		OK(os_file_truncate(why, file, LARGE));
		os_file_close(file);
	}
	look(dir, candidates);
	first = uv_thread_self();
	GIVES(JW_ERR_INTERRUPTED, cache_verified_judge(why, NULL, dir, (struct sound_driver){0},
												   &cancel, candidates, ENTRIES));
	assert_true(atomic_load(&another));
	/* If no thread fails, all succeed. */
	OK(cache_verified_judge(why, NULL, dir, (struct sound_driver){0}, &(struct jw_cancel){0},
							candidates, ENTRIES));
}

static const uint64_t in_order[ENTRIES] = {1, 2, 3};

/* Parses marks, in which bit 0 means settled; returns the number of remembered entries. */
static size_t count_parsed(const uint64_t *keys, const uint64_t *marks, size_t count, uint64_t boot,
						   size_t bent)
{
	uint8_t bytes[HEAD + RECORD * ENTRIES + 8] = {'J', 'W', 'V', 'E', 'R', 0, 2, 0};
	const size_t size = HEAD + RECORD * count;
	struct cache_verified verified;

	store_u64(bytes + 8, BOOT);
	store_u32(bytes + 16, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		store_u64(bytes + HEAD + RECORD * i, keys[i]);
		store_u64(bytes + HEAD + RECORD * i + 8, marks[i]);
	}
	store_u64(bytes + size, fnv_update(FNV_START, bytes, size));
	if (bent)
		bytes[bent] ^= 1;
	cache_verified_parse(bytes, size + 8, boot, &verified);
	count = verified.count;
	cache_verified_free(&verified);
	return count;
}

/* After a power loss, entries that had not reached the disk may have other contents. */
TEST(unsettled_entries_are_forgotten_at_a_restart)
{
	static const uint64_t marks[ENTRIES] = {0x10, 0x21, 0x30};

	assert_int_equal(count_parsed(in_order, marks, ENTRIES, BOOT, 0), 3);
	assert_int_equal(count_parsed(in_order, marks, ENTRIES, BOOT + 5, 0), 3);
	assert_int_equal(count_parsed(in_order, marks, ENTRIES, BOOT + 60, 0), 1);
	assert_int_equal(count_parsed(in_order, marks, ENTRIES, BOOT - 60, 0), 1);
	for (size_t i = 1; i < HEAD + RECORD * ENTRIES + 8; i++)
		assert_int_equal(count_parsed(in_order, marks, ENTRIES, BOOT, i), 0);
	assert_int_equal(count_parsed(in_order, marks, 0, BOOT, 0), 0);
}

RUN_TESTS(make_folder, remove_folder)
