/* Used and refused modules are noted in a ledger, whose file is written only if something is new.
 */
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

/* Makes the plan's first modules used. */
static void use(size_t count)
{
	plan.module_count = count;
	for (size_t i = 0; i < count; i++)
		modules[i].used = true;
}

static size_t used_again(void)
{
	struct ledger ledger;
	size_t count;

	for (size_t i = 0; i < plan.module_count; i++)
		modules[i].used = false;
	begin(&ledger);
	count = ledger_find_used(&ledger, &plan);
	ledger_close(&ledger);
	return count;
}

TEST_WITH(without_a_place_nothing_is_noted, start, NULL)
{
	struct ledger ledger;

	use(1);
	begin(&ledger);
	ledger_note_used(&ledger, NULL);
	ledger_close(&ledger);
	assert_false(os_exists(path));
	assert_null(ledger_file(NULL, NULL, cache));
	assert_null(ledger_file(NULL, state_dir, NULL));
}

/* Modules are told apart by file, member, place, architecture and form. */
TEST_WITH(used_modules_are_found_again, start, NULL)
{
	struct ledger ledger;

	modules[1].file = 1;
	modules[2].file = 2;
	modules[3].target = 1;
	modules[4].container_offset = 64;
	modules[5].form = modules[0].form + 1;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(os_exists(path) ? os_remove(why, path) : 0, 0);
		plan.module_count = 6;
		for (size_t k = 0; k < 6; k++)
			modules[k].used = k == i;
		begin(&ledger);
		ledger_note_used(&ledger, state_dir);
		ledger_close(&ledger);
		assert_int_equal(used_again(), 1);
		assert_true(modules[i].used);
	}
}

/* Known notes are not written again. */
TEST_WITH(news_alone_are_written, start, NULL)
{
	struct ledger ledger;
	uint64_t first;

	use(1);
	begin(&ledger);
	ledger_note_used(&ledger, state_dir);
	first = inode_of(path);
	assert_true(first != 0);
	/* another entry of the same place, such as another driver's */
	modules[0].key++;
	ledger_note_used(&ledger, state_dir);
	assert_int_equal(inode_of(path), first);
	modules[1].file = 1;
	use(2);
	ledger_note_used(&ledger, state_dir);
	assert_true(inode_of(path) != first);
	ledger_close(&ledger);
	assert_int_equal(used_again(), 2);
}

/* ---- files */

/* A process that read the file before another process noted something loses nothing of it. */
TEST_WITH(marks_of_another_process_stay, start, NULL)
{
	const struct ledger_new_mark refused = {.module = 1, .result = 218};
	const struct ledger_change what = {.marks = &refused, .mark_count = 1};
	struct ledger ledger;

	use(1);
	begin(&ledger);
	OK(ledger_change_marks(why, state_dir, cache, &what));
	ledger_note_used(&ledger, state_dir);
	ledger_close(&ledger);
	begin(&ledger);
	assert_int_equal(ledger_refused(&ledger, 1), 218);
	assert_int_equal(ledger_find_used(&ledger, &plan), 1);
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

TEST_WITH(the_ledger_is_where_the_run_is, start, NULL)
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
