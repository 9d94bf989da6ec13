/* A plan and changed marks are noted in a ledger, whose file is written only at certain moments. */
#include "folder.h"

#include <string.h>
#include <unistd.h>

#include "entries.h"
#include "pack/ledger.h"
#include "packs.h"

/* A real sync takes a moment on a busy disk. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

static const char stamp[] = "Apr  8 202512:10:18";

static char *cache, *state_dir, *path;
static char no_such[] = "/no/such", first_member[] = "a", second_member[] = "b";
static struct plan_file files[] = {{.path = no_such},
								   {.path = no_such, .member = first_member},
								   {.path = no_such, .member = second_member}};
static struct plan_target targets[] = {{.device.sm = 86}, {.device.sm = 89}};
static struct plan_module modules[8];
static struct plan plan;

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = keep(os_join(folder, "cache"));
	state_dir = keep(os_join(folder, "state"));
	path = keep(ledger_file(NULL, state_dir, cache));
	return path ? 0 : -1;
}

static void put_entry(unsigned n, struct entries_entry *entry)
{
	entries_make(entry, n, 0);
	packs_put(cache, entry->key, entry->bytes, entry->size);
}

/* Starts without state, with a cache with one entry and a plan with so many warm modules in
 * different places. */
static int start(void **state)
{
	struct entries_entry entry;

	(void)state;
	if (os_remove_tree(why, state_dir) || os_remove_tree(why, cache))
		return -1;
	put_entry(1, &entry);
	plan = (struct plan){.files = files,
						 .file_count = 3,
						 .targets = targets,
						 .target_count = 2,
						 .modules = modules,
						 .cache_dir = cache};
	memcpy(plan.profile.stamp, stamp, sizeof stamp);
	for (size_t i = 0; i < 8; i++)
		modules[i] = (struct plan_module){.state = PLAN_WARM, .key = 10 + i};
	return 0;
}

static void begin(struct ledger *ledger)
{
	ledger_open(ledger, state_dir, cache);
	ledger_begin(ledger, &plan);
}

static uint64_t inode_of(const char *file)
{
	struct os_stat stat = {.inode = 0};

	return os_stat(NULL, file, &stat) ? 0 : stat.inode;
}

TEST(without_a_place_or_a_driver_nothing_is_noted)
{
	struct ledger ledger;

	plan.module_count = 1;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(start(state), 0);
		plan.cache_dir = i == 1 ? NULL : cache;
		plan.profile.stamp[0] = (char)(i == 2 ? 0 : 'A');
		begin(&ledger);
		ledger_note(&ledger, i == 0 ? NULL : state_dir, false);
		assert_int_equal(ledger.records.count, 0);
		assert_false(os_exists(path));
		ledger_close(&ledger);
	}
	assert_null(ledger_file(NULL, NULL, cache));
	assert_null(ledger_file(NULL, state_dir, NULL));
}

/* Warm modules are noted, and so are modules whose entry exists by now, if they are requested
 * again. */
TEST(what_has_its_entry_is_noted)
{
	struct entries_entry entry;
	const struct {
		enum plan_state state;
		uint64_t key, more;
		bool again, noted;
	} cases[] = {{PLAN_WARM, 5, 0, false, true},     {PLAN_WARM, 5, 0, true, true},
				 {PLAN_COLD, 0, 0, true, false},     {PLAN_COLD, 1, 0, false, false},
				 {PLAN_COLD, 1, 0, true, true},      {PLAN_COLD, 1, 1, true, false},
				 {PLAN_COLD, 2, 0, true, false},     {PLAN_LEFT_OUT, 1, 0, true, false},
				 {PLAN_LEFT_OUT, 1, 0, false, false}};

	entries_make(&entry, 1, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ledger ledger;

		assert_int_equal(start(state), 0);
		plan.module_count = 1;
		modules[0].state = cases[i].state;
		modules[0].key = cases[i].key == 1 ? entry.key : cases[i].key;
		modules[0].identity = entry.identity;
		modules[0].identity.bytes[0] += (uint8_t)cases[i].more;
		begin(&ledger);
		ledger_note(&ledger, state_dir, cases[i].again);
		if ((ledger_find(&ledger, &modules[0]) != NULL) != cases[i].noted)
			fail_msg("%zu", i);
		ledger_close(&ledger);
	}
}

/* Known notes are not written again. */
TEST_WITH(news_alone_are_written, start, NULL)
{
	struct ledger ledger;
	uint64_t first, second;

	plan.module_count = 1;
	begin(&ledger);
	ledger_note(&ledger, state_dir, false);
	first = inode_of(path);
	assert_true(first != 0);
	ledger_note(&ledger, state_dir, false);
	assert_int_equal(inode_of(path), first);
	/* another entry, another driver */
	for (unsigned i = 0; i < 2; i++) {
		modules[0].key += i == 0;
		plan.profile.stamp[18] = (char)(i == 1 ? '9' : plan.profile.stamp[18]);
		first = inode_of(path);
		ledger_note(&ledger, state_dir, false);
		second = inode_of(path);
		assert_true(second && second != first);
		assert_int_equal(ledger.records.count, 1);
		assert_int_equal(ledger_find(&ledger, &modules[0])->value, 11);
		assert_int_equal(ledger_find(&ledger, &modules[0])->stamp, i ? 1 : 0);
		ledger_note(&ledger, state_dir, false);
		assert_int_equal(inode_of(path), second);
	}
	ledger_close(&ledger);
}

/* A driver of another machine stays marked as different from those that were here. */
TEST_WITH(what_is_made_for_elsewhere_is_told_apart, start, NULL)
{
	static const bool elsewhere[] = {true, true, false, true};
	struct ledger ledger;

	plan.module_count = 1;
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		begin(&ledger);
		ledger.elsewhere = elsewhere[i];
		ledger_note(&ledger, state_dir, true);
		ledger_close(&ledger);
		ledger_open(&ledger, state_dir, cache);
		assert_int_equal(ledger.stamp_count, 1);
		assert_string_equal(ledger.stamps[0], stamp);
		assert_int_equal(ledger.ahead[0], i < 2);
		assert_int_equal(ledger.records.count, 1);
		ledger_close(&ledger);
	}
}

TEST_WITH(the_older_half_makes_room, start, NULL)
{
	static struct ledger ledger, again;
	struct buf bytes = BUF_MAX(LEDGER_MAX_BYTES);

	begin(&ledger);
	for (size_t i = 0; i < LEDGER_MAX_RECORDS; i++) {
		const struct ledger_item record = {.name = i + 1, .value = i};

		OK(ledger_put(why, &ledger.records, LEDGER_MAX_RECORDS, &record));
	}
	assert_int_equal(
		ledger_put(NULL, &ledger.records, LEDGER_MAX_RECORDS, &(struct ledger_item){.name = 0}),
		-1);
	assert_int_equal(ledger_stamp_number(&ledger, stamp), 0);
	OK(ledger_format(why, &ledger, &bytes));
	ledger_parse(&again, bytes.data, bytes.size);
	assert_int_equal(again.records.count, LEDGER_MAX_RECORDS);
	ledger_close(&again);
	buf_free(&bytes);
	plan.module_count = 1;
	ledger_note(&ledger, NULL, false);
	assert_int_equal(ledger.records.count, LEDGER_MAX_RECORDS);
	ledger_note(&ledger, state_dir, false);
	assert_int_equal(ledger.records.count, LEDGER_MAX_RECORDS / 2 + 1);
	assert_null(ledger_item(&ledger.records, LEDGER_MAX_RECORDS / 2));
	assert_int_equal(ledger_item(&ledger.records, LEDGER_MAX_RECORDS / 2 + 1)->value,
					 LEDGER_MAX_RECORDS / 2);
	assert_int_equal(ledger_item(&ledger.records, LEDGER_MAX_RECORDS)->value,
					 LEDGER_MAX_RECORDS - 1);
	assert_int_equal(ledger_find(&ledger, &modules[0])->value, 10);
	ledger_close(&ledger);
}

/* ---- files */

/* A process that read the file before another process noted something, under different numbers of
 * stamps, loses nothing of it. */
TEST_WITH(records_of_another_process_stay, start, NULL)
{
	const struct ledger_new_mark refused = {.module = 1, .result = 218};
	const struct ledger_change what = {.marks = &refused, .mark_count = 1};
	struct ledger ledger, other;

	plan.module_count = 1;
	memcpy(plan.profile.stamp, "Jan  1 200000:00:00", sizeof stamp);
	begin(&other);
	ledger_note(&other, state_dir, false);
	ledger_close(&other);
	memcpy(plan.profile.stamp, stamp, sizeof stamp);
	begin(&ledger);
	OK(ledger_change_marks(why, state_dir, cache, &what));
	modules[0].file = 1;
	begin(&other);
	ledger_note(&other, state_dir, false);
	ledger_close(&other);
	modules[0].file = 0;
	ledger_note(&ledger, state_dir, false);
	ledger_close(&ledger);
	begin(&ledger);
	assert_int_equal(ledger.records.count, 2);
	assert_int_equal(ledger_find(&ledger, &modules[0])->stamp, 1);
	assert_int_equal(ledger_refused(&ledger, 1), 218);
	ledger_close(&ledger);
}

/* The oldest marks are removed for new ones, and none more than necessary. */
TEST(marks_make_room_for_others)
{
	enum { MOST = LEDGER_MAX_MARKS };
	static const struct {
		size_t coming, left;
	} cases[] = {{10, 10}, {11, 9}, {MOST - 1, 1}, {MOST, 0}};
	struct ledger_new_mark *many = keep(mem_array(MOST, sizeof *many));

	for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
		struct ledger_change what = {.marks = many, .mark_count = MOST - 10};
		struct ledger ledger;

		/* so many that ten more fit */
		assert_int_equal(start(state), 0);
		for (size_t i = 0; i < MOST; i++)
			many[i] = (struct ledger_new_mark){.module = i + 1, .result = 218};
		OK(ledger_change_marks(why, state_dir, cache, &what));
		for (size_t i = 0; i < MOST; i++)
			many[i].module = MOST + 1 + i;
		what.mark_count = cases[n].coming;
		OK(ledger_change_marks(why, state_dir, cache, &what));
		ledger_open(&ledger, state_dir, cache);
		assert_int_equal(ledger.marks.count,
						 cases[n].coming == 10 ? MOST : cases[n].coming + MOST - cases[n].coming);
		assert_true((ledger_item(&ledger.marks, 1) != NULL) == (cases[n].coming == 10));
		ledger_close(&ledger);
	}
}

TEST_WITH(the_history_is_where_the_run_is, start, NULL)
{
	struct jw_system system = {.state_dir = state_dir};
	struct os_file *lock = NULL;
	char *file = keep(os_join(folder, "file"));
	const struct ledger_new_mark one = {.module = 1, .result = 218};
	const struct ledger_change what = {.marks = &one, .mark_count = 1};

	assert_ptr_equal(ledger_home(&system), state_dir);
	/* the folder is a file, or missing */
	OK(os_write_atomic(why, file, "x", 1));
	assert_int_equal(ledger_lock(why, file, &lock), -1);
	assert_int_equal(ledger_change_marks(why, file, cache, &what), -1);
	assert_true(why->code != JW_OK && why->code != JW_ERR_BUSY);
	assert_null(lock);
	OK(ledger_lock(why, folder, &lock));
	assert_non_null(lock);
	os_file_close(lock);
}

RUN_TESTS(set_up, remove_folder)
