/* The identity of a key: two modules (data/same-name) whose entries have one name and keys of one
 * length are two modules all the same. */
#include "check.h"

#include "base/mem.h"
#include "cache/key.h"
#include "cache/sound.h"
#include "cache/verified.h"
#include "files.h"
#include "inserting.h"
#include "pack/ledger.h"

static const char stamp[] = "Feb 29 202423:59:58";
static struct entries_entry two_entries[2];

/* Makes the entry of one of the modules. */
static void make_of_text(struct entries_entry *entry, const char *name)
{
	char *path = keep(mem_printf(JITWARM_SOURCE_DIR "/tests/data/same-name/%s.ptx", name));
	uint8_t *at = entry->bytes;
	struct buf text = {0};
	size_t key;

	OK(os_read_file(why, path, 1000, &text));
	*entry = (struct entries_entry){0};
	key = (size_t)snprintf((char *)at + CACHE_ENTRY_HEADER, 200, "%sHOST64sm_86", stamp);
	memcpy(at + CACHE_ENTRY_HEADER + key, text.data, text.size);
	key += text.size;
	memcpy(at + CACHE_ENTRY_HEADER + key, "\0 ", 2);
	key += 2;
	entries_cubin(at + CACHE_ENTRY_HEADER + key, 86, false);
	cache_entry_header(at, key, ENTRIES_CUBIN,
					   fnv_update(FNV_START, at + CACHE_ENTRY_HEADER + key, ENTRIES_CUBIN));
	entry->key_bytes = key;
	entry->key = fnv_update(FNV_START, at + CACHE_ENTRY_HEADER, key);
	cache_key_identity_of(&entry->identity, at + CACHE_ENTRY_HEADER, key);
	entry->row_bytes = key + ENTRIES_CUBIN;
	entry->size = CACHE_ENTRY_HEADER + key + ENTRIES_CUBIN;
	buf_free(&text);
}

static void make_both(void)
{
	make_of_text(&two_entries[0], "one");
	make_of_text(&two_entries[1], "two");
}

static struct cache_addition in_memory(const struct entries_entry *entry)
{
	struct cache_addition addition = addition_of(entry);

	addition.identity = &entry->identity;
	return addition;
}

TEST(a_name_is_no_identity)
{
	const struct entries_entry *one = &two_entries[0], *two = &two_entries[1];
	struct plan_module modules[2] = {{.key = 1}, {.key = 1}};

	make_both();
	assert_int_equal(one->key, two->key);
	assert_int_equal(one->key_bytes, two->key_bytes);
	assert_false(cache_identity_equal(&one->identity, &two->identity));
	modules[0].identity = one->identity;
	modules[1].identity = two->identity;
	assert_int_not_equal(ledger_module(&modules[0]), ledger_module(&modules[1]));
}

/* The parts of a key give the identity of the whole, wherever it is cut into parts. */
TEST(it_is_made_of_the_payload_and_the_rest)
{
	static const struct {
		const char *body;
		size_t body_size;
		const char *tail;
		size_t tail_size;
	} cases[] = {{".version 8.0\n", 13, "\0 ", 2},     {".version 8.0\n\0\0", 15, "\0 -v", 4},
				 {".version 8.0\n", 13, "\0 -c-v", 6}, {".version 8.0\n", 13, " ", 1},
				 {".version\0 8.0\n", 14, " -v", 3},   {"", 0, "\0 ", 2}};
	struct jw_identity all[sizeof cases / sizeof *cases];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf key = BUF_MAX(1000);
		struct jw_identity whole;
		struct cache_key_parts parts;
		struct digest payload;

		OK(buf_append(why, &key, "Feb 29 202423:59:58HOST64sm_120", 31));
		OK(buf_append(why, &key, cases[i].body, cases[i].body_size));
		OK(buf_append(why, &key, cases[i].tail, cases[i].tail_size));
		cache_key_identity_of(&whole, key.data, key.size);
		cache_key_identity_of_rest(&all[i], cases[i].body, cases[i].body_size, cases[i].tail,
								   cases[i].tail_size);
		assert_true(cache_identity_equal(&whole, &all[i]));
		if (cache_key_split(key.data, key.size, &parts)) {
			const uint8_t *rest = parts.payload + parts.payload_size;

			digest_of(&payload, parts.payload, parts.payload_size);
			cache_key_identity(&whole, &payload, rest, (size_t)(key.data + key.size - rest));
			assert_true(cache_identity_equal(&whole, &all[i]));
		}
		for (size_t k = 0; k < i; k++)
			assert_false(cache_identity_equal(&all[k], &all[i]));
		buf_free(&key);
	}
}

TEST(a_key_of_any_length_is_read)
{
	enum { MOST = 100000 };
	struct buf key = BUF_MAX(MOST + 40);
	struct jw_identity is, wanted;
	char *path = keep(os_join(folder, "long"));
	struct os_file *file = NULL;
	struct cache_entry entry;

	for (size_t size = MOST - 3; size <= MOST; size++) {
		uint8_t header[CACHE_ENTRY_HEADER];

		buf_clear(&key);
		OK(buf_append(why, &key, "Feb 29 202423:59:58HOST64sm_86", 30));
		for (size_t i = 0; i < size; i++)
			OK(buf_append(why, &key, i == 10 ? "\0" : "x", 1));
		cache_entry_header(header, key.size, 0, FNV_START);
		OK(os_file_open(why, path, OS_OPEN_CREATE, &file));
		OK(os_file_write(why, file, 0, header, sizeof header));
		OK(os_file_write(why, file, sizeof header, key.data, key.size));
		os_file_close(file);
		OK(os_file_open(why, path, OS_OPEN_READ, &file));
		assert_int_equal(cache_entry_open(file, &entry), CACHE_SOUND);
		OK(cache_entry_identity(file, &entry, &is));
		os_file_close(file);
		cache_key_identity_of_rest(&wanted, key.data + 30, 10, key.data + 40, key.size - 40);
		assert_true(cache_identity_equal(&is, &wanted));
		OK(os_remove(why, path));
	}
	assert_int_equal(cache_entry_identity_at(folder, 1, &is), -1);
	buf_free(&key);
}

/* The entry of one is not that of the other, whether its key is read now or was remembered. */
TEST(an_entry_is_one_modules)
{
	const struct entries_entry *one = &two_entries[0], *two = &two_entries[1];
	struct cache_candidate candidates[2] = {{.key = 0}};
	struct cache_live *live;
	struct cache_addition addition;
	struct cache_probed probed;

	start_anew();
	make_both();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	addition = in_memory(one);
	OK(cache_insert(why, live, &addition, 1));
	OK(cache_live_close(why, live));
	assert_int_equal(cache_presence(dir, one->key, NULL, NULL), CACHE_PRESENT);
	assert_int_equal(cache_presence(dir, one->key, &one->identity, NULL), CACHE_PRESENT);
	assert_int_equal(cache_presence(dir, one->key, &two->identity, &probed), CACHE_UNUSABLE);
	assert_int_equal(probed.damage, CACHE_DAMAGE_OTHER);
	for (int time = 0; time < 3; time++) {
		for (size_t i = 0; i < 2; i++) {
			candidates[i].key = one->key;
			candidates[i].identity = &two_entries[i].identity;
			assert_int_equal(cache_presence(dir, one->key, NULL, &candidates[i].probed),
							 CACHE_PRESENT);
			/* Entries are remembered once they are some seconds old. */
			candidates[i].probed.stat.changed_ns = INT64_C(1700000000000000000);
		}
		OK(cache_verified_judge(why, folder, dir, (struct sound_driver){0}, &(struct jw_cancel){0},
								candidates, 2));
		assert_int_equal(candidates[0].damage, CACHE_SOUND);
		assert_int_equal(candidates[1].damage, CACHE_DAMAGE_OTHER);
	}
}

/* Neither the entry in the cache nor one of the same batch is replaced by that of another module; a
 * damaged one is. */
TEST(a_sound_entry_of_another_module_stays)
{
	enum { BEFORE, TOGETHER, FROM_A_FILE, DAMAGED, CASES };
	const struct entries_entry *one = &two_entries[0], *two = &two_entries[1];
	char *loose = keep(os_join(folder, "loose")), *place;

	make_both();
	place = keep(cache_entry_path(dir, one->key));
	for (int i = BEFORE; i < CASES; i++) {
		struct cache_addition additions[2] = {in_memory(one), in_memory(two)};
		struct cache_live_counts counts;
		struct cache_live *live;
		struct buf file = {0};

		start_anew();
		OK(os_write_atomic(why, loose, two->bytes, two->size));
		if (i == FROM_A_FILE)
			additions[1].path = loose;
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		OK(cache_insert(why, live, additions, i == TOGETHER ? 2 : 1));
		if (i == DAMAGED)
			OK(os_write_atomic(why, place, one->bytes, one->size - 1));
		if (i != TOGETHER)
			OK(cache_insert(why, live, &additions[1], 1));
		cache_live_counts(live, &counts);
		OK(cache_live_close(why, live));
		assert_int_equal(additions[0].added, CACHE_ADDED_NEW);
		assert_int_equal(additions[1].added,
						 i == DAMAGED ? CACHE_ADDED_REPLACED : CACHE_ADDED_TAKEN);
		assert_int_equal(counts.refused, i != DAMAGED);
		if (i != DAMAGED)
			assert_non_null(strstr(additions[1].why.message, "has the same name, and stays"));
		OK(os_read_file(why, place, 10000, &file));
		assert_memory_equal(file.data, (i == DAMAGED ? two : one)->bytes, two->size);
		buf_free(&file);
	}
}

/* An entry that should be a module's is refused if it is another one's. */
TEST(an_addition_is_the_expected_modules)
{
	struct cache_addition addition;
	struct cache_live *live;

	start_anew();
	make_both();
	addition = in_memory(&two_entries[1]);
	addition.identity = &two_entries[0].identity;
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(cache_insert(why, live, &addition, 1));
	OK(cache_live_close(why, live));
	assert_int_equal(addition.added, CACHE_ADDED_REFUSED);
	assert_int_equal(cache_presence(dir, addition.key, NULL, NULL), CACHE_ABSENT);
}

RUN_TESTS(make_folder, remove_folder)
