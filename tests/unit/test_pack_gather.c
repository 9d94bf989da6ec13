/* An export gathers entries that change meanwhile, and packs them in order. */
#include "folder.h"

#include "cache/sound.h"
#include "pack/gather.h"
#include "packs.h"
#include <unistd.h> /* not on Windows: POSIX's rules make what replaces an entry */

static char *cache;

static void put_with(unsigned n, const char *payload)
{
	uint8_t bytes[512], *value;
	char key[256];
	int length = snprintf(key, sizeof key, "Jun 25 202401:14:48HOST64sm_86%s%c ", payload, 0);

	value = bytes + CACHE_ENTRY_HEADER + length;
	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(value, 86, false);
	value[ENTRIES_CUBIN - 1] = (uint8_t)n;
	cache_entry_header(bytes, (uint64_t)length, ENTRIES_CUBIN,
					   fnv_update(FNV_START, value, ENTRIES_CUBIN));
	packs_put(cache, fnv_update(FNV_START, key, (size_t)length), bytes,
			  CACHE_ENTRY_HEADER + (size_t)length + ENTRIES_CUBIN);
}

static void empty_cache(void)
{
	if (os_exists(cache))
		OK(os_remove_tree(why, cache));
}

/* A lead is the name of the first kernel, which ends at a space, a parenthesis or after 63 bytes.
 * */
TEST(leads)
{
#define LONG "l23456789012345678901234567890123456789012345678901234567890123"
	static const struct {
		const char *payload, *lead;
	} cases[] = {
		{"// none", ""},
		{"// . none .entr y", ""},
		{"// .visible .entry a", "a"},
		{"// .entry b c(", "b"},
		{"// .entry c(int d) .entry x", "c"},
		{"// .entry d\n(", "d"},
		{"// .entry " LONG "(", LONG},
		{"// .entry " LONG "456(", LONG},
		{"// .entry ", ""},
		{"//.entry z", "z"},
		{".entry zz", "zz"},
	};
	const struct jw_export_options options = {0};
	struct jw_export_result result = {0};
	struct gather gather;
	size_t found = 0;

	empty_cache();
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		put_with(i, cases[i].payload);
	OK(gather_cache(why, &options, cache, &gather, &result));
	assert_int_equal(gather.count, sizeof cases / sizeof *cases);
	for (size_t i = 0; i < gather.count; i++) {
		const struct gathered *item = &gather.items[i];

		for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
			if (item->payload_bytes == strlen(cases[k].payload)) {
				struct digest digest;

				digest_of(&digest, cases[k].payload, strlen(cases[k].payload));
				if (!digest_equal(&digest, &item->payload))
					continue;
				assert_string_equal(item->lead, cases[k].lead);
				found++;
			}
		if (i)
			assert_true(strcmp(item[-1].lead, item->lead) <= 0);
	}
	assert_int_equal(found, gather.count);
	gather_free(&gather);
}

/* ---- changes of an entry between its listing and its reading */

enum change { NO_CHANGE, GONE, A_FOLDER, TOO_LARGE };

struct changing {
	enum change change;
	uint64_t key;
};

static bool changes(void *context, uint64_t key, const struct jw_identity *identity)
{
	const struct changing *changing = context;
	char *path = keep(cache_entry_path(cache, key));
	struct os_file *file;

	if (key == changing->key && !identity) {
		if (changing->change == GONE || changing->change == A_FOLDER)
			OK(os_remove(why, path));
		if (changing->change == A_FOLDER)
			OK(os_make_dirs(why, path, 0700));
		if (changing->change == TOO_LARGE) {
			OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
			OK(os_file_truncate(why, file, (UINT64_C(1) << 30) + 1));
			os_file_close(file);
		}
	}
	return true;
}

TEST(entries_that_change)
{
	static const struct {
		enum change change;
		size_t entries, damaged, unreadable;
	} cases[] = {{NO_CHANGE, 2, 0, 0}, {GONE, 1, 0, 0}, {A_FOLDER, 1, 0, 1}, {TOO_LARGE, 1, 1, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct changing changing = {.change = cases[i].change};
		const struct jw_export_options options = {.context = &changing, .wanted = changes};
		struct jw_export_result result = {0};
		struct gather gather;
		struct entries_entry entry;

		empty_cache();
		for (unsigned n = 0; n < 2; n++) {
			entries_make(&entry, n, n);
			packs_put(cache, entry.key, entry.bytes, entry.size);
		}
		changing.key = entry.key;
		OK(gather_cache(why, &options, cache, &gather, &result));
		assert_int_equal(gather.count, cases[i].entries);
		assert_int_equal(result.damaged, cases[i].damaged);
		assert_int_equal(result.unreadable, cases[i].unreadable);
		gather_free(&gather);
	}
}

/* The entry changes between its gathering and its packing. */
TEST(entries_that_change_later)
{
	const struct jw_export_options options = {0};
	struct jw_export_result result = {0};
	struct entries_entry entry, other;
	struct gather_parts parts;
	struct buf bytes = {0};
	struct gather gather;
	struct gathered item;

	empty_cache();
	entries_make(&entry, 1, 10);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	OK(gather_cache(why, &options, cache, &gather, &result));
	OK(gather_read(why, cache, gather.items, &bytes, &parts));
	assert_memory_equal(parts.payload, "// 00001", 8);
	assert_int_equal(parts.cubin[0], 0x7f);
	for (int field = 0; field < 4; field++) {
		item = *gather.items;
		item.mtime_ns -= field == 0;
		item.file_bytes += field == 1;
		item.payload_bytes += field == 2;
		item.cubin_bytes += field == 3;
		*why = (struct jw_error){0};
		GIVES(JW_ERR_BUSY, gather_read(why, cache, &item, &bytes, &parts));
	}
	/* The file has the same size and time, and is no longer an entry. */
	other = entry;
	memset(other.bytes, 0, CACHE_ENTRY_HEADER);
	packs_put(cache, entry.key, other.bytes, other.size);
	{
		char *path = keep(cache_entry_path(cache, entry.key));

		check_set_mtime(path, gather.items->mtime_ns);
		GIVES(JW_ERR_BUSY, gather_read(why, cache, gather.items, &bytes, &parts));
		OK(os_remove(why, path));
	}
	GIVES(JW_ERR_BUSY, gather_read(why, cache, gather.items, &bytes, &parts));
	buf_free(&bytes);
	gather_free(&gather);
}

static bool is_cancelled(void *context)
{
	(void)context;
	return true;
}

TEST(it_ends_when_it_is_cancelled)
{
	const struct jw_export_options options = {.cancel = {NULL, is_cancelled}};
	struct jw_export_result result = {0};
	struct gather gather;

	empty_cache();
	put_with(1, "// 1");
	GIVES(JW_ERR_INTERRUPTED, gather_cache(why, &options, cache, &gather, &result));
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = keep(os_join(folder, "cache"));
	return 0;
}

RUN_TESTS(set_up, remove_folder)
