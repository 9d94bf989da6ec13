/* How entries disappeared: each kind of loss leaves other traces. */
#include "explaining.h"

#include <uv.h>

#include "cache/index.h"
#include "prime/explain.h"

static char *cache, *state, *library;

static char *inside(const char *name)
{
	char *path = os_join(NULL, cache, name);

	assert_non_null(path);
	return path;
}

/* Two inodes that differ only by their births need births that the clock distinguishes. */
static void let_time_pass(void)
{
	uv_sleep(20);
}

/* ---- changes of a cache */

/* An index that counts modules `first` to 7, written into the existing file. */
static void write_index(unsigned first)
{
	char *path = inside("index");
	struct cache_row rows[MODULES];
	struct cache_index index = {.rows = rows};
	struct buf bytes = {0};
	struct os_file *file;

	for (unsigned i = first; i < MODULES; i++)
		rows[index.count++] = (struct cache_row){key_of(i, profile.stamp), 1000};
	assert_int_equal(cache_index_format(NULL, &index, &bytes), 0);
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(os_file_write(NULL, file, 0, bytes.data, bytes.size), 0);
	os_file_close(file);
	buf_free(&bytes);
	mem_free(path);
}

static void fill(void)
{
	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	for (unsigned i = 0; i < MODULES; i++)
		put_entry(cache, i, profile.stamp, 86, "", 0);
	write_index(0);
}

static void remove_inside(const char *name)
{
	char *path = inside(name);

	assert_int_equal(os_remove_tree(NULL, path), 0);
	mem_free(path);
}

static void remove_parts(void)
{
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		remove_inside((const char[]){"0123456789abcdef"[i], 0});
}

/* The entries alone; their folders stay. */
static void remove_files(void)
{
	for (unsigned i = 0; i < MODULES; i++) {
		char *path = cache_entry_path(NULL, cache, key_of(i, profile.stamp));

		assert_int_equal(os_remove(NULL, path), 0);
		mem_free(path);
	}
}

/* The content of a folder that is used again: another program's entry. */
static void used_again(void)
{
	let_time_pass();
	put_entry(cache, 100, profile.stamp, 86, "", 0);
	write_index(MODULES);
}

static void by_look_up(void)
{
	remove_parts();
	remove_inside("index");
}

static void by_look_up_and_used(void)
{
	by_look_up();
	used_again();
}

static void by_insert(void)
{
	remove_parts();
	used_again();
}

static void emptied(void)
{
	by_look_up();
	remove_inside(CACHE_WITNESS);
}

static void emptied_and_used(void)
{
	emptied();
	used_again();
}

static void emptied_and_primed(void)
{
	emptied_and_used();
	cache_shape_leave_witness(cache, 0);
}

static void removed(void)
{
	assert_int_equal(os_remove_tree(NULL, cache), 0);
}

static void removed_and_used(void)
{
	removed();
	let_time_pass();
	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	used_again();
}

static void evicted(void)
{
	remove_files();
	write_index(MODULES);
}

static void remember(void);

/* jitwarm has looked while the index was missing. */
static void by_insert_without_index(void)
{
	remove_inside("index");
	remember();
	let_time_pass();
	by_insert();
}

static void taken_out(void)
{
	struct set keys = {0};

	evicted();
	for (unsigned i = 0; i < MODULES; i++)
		assert_int_equal(set_add(NULL, &keys, key_of(i, profile.stamp), i), 0);
	ledger_note_taken_out(state, cache, &keys);
	set_free(&keys);
}

static void nothing(void)
{
}

/* ---- */

static struct plan *make_plan(void)
{
	struct library_request request;

	library_request(&request, library, cache);
	return plan_for(&request.plan, profile.stamp);
}

/* As at the end of a run. */
static void remember(void)
{
	struct plan *plan = make_plan();
	struct ledger ledger;

	ledger_open(&ledger, state, cache);
	assert_int_equal(ledger_begin(NULL, &ledger, plan), 0);
	ledger_note(&ledger, state, false);
	ledger_close(&ledger);
	plan_free(plan);
}

/* Of all modules alike; their text in `text`. */
static enum jw_cold_reason reason_now(uint64_t limit_bytes, char text[EXPLAIN_TEXT])
{
	struct plan *plan = make_plan();
	struct ledger ledger;
	const struct explain_request why = {
		.plan = plan, .ledger = &ledger, .limit_bytes = limit_bytes};
	struct explanation *explanations;
	enum jw_cold_reason reason;

	assert_int_equal(plan->module_count, MODULES);
	ledger_open(&ledger, state, cache);
	assert_int_equal(ledger_begin(NULL, &ledger, plan), 0);
	assert_int_equal(explain_plan(NULL, &why, &explanations), 0);
	reason = explanations[0].reason;
	for (size_t i = 1; i < plan->module_count; i++)
		if (!explain_same(&explanations[0], &explanations[i]))
			return JW_COLD_UNKNOWN;
	(void)explain_text(text, &why, &explanations[0]);
	mem_free(explanations);
	ledger_close(&ledger);
	plan_free(plan);
	return reason;
}

struct loss {
	const char *name;
	void (*happens)(void);
	bool unwitnessed; /* jitwarm could not leave its folder there */
	bool crowded;     /* the limit is a small one */
	enum jw_cold_reason reason;
	const char *phrase;
};

static const struct loss losses[] = {
	{.name = "nothing", .happens = nothing, .reason = JW_COLD_NOT, .phrase = ""},
	{.name = "wiped by a look-up",
	 .happens = by_look_up,
	 .reason = JW_COLD_WIPED,
	 .phrase = "wiped by the driver"},
	{.name = "and used",
	 .happens = by_look_up_and_used,
	 .reason = JW_COLD_WIPED,
	 .phrase = "wiped by the driver"},
	{.name = "even if crowded",
	 .happens = by_look_up,
	 .crowded = true,
	 .reason = JW_COLD_WIPED,
	 .phrase = "wiped by the driver"},
	{.name = "no witness",
	 .happens = by_look_up_and_used,
	 .unwitnessed = true,
	 .reason = JW_COLD_GONE,
	 .phrase = "deleted, or wiped"},
	{.name = "wiped by an insert",
	 .happens = by_insert,
	 .reason = JW_COLD_WIPED,
	 .phrase = "index was missing or damaged"},
	{.name = "even if unwitnessed",
	 .happens = by_insert,
	 .unwitnessed = true,
	 .crowded = true,
	 .reason = JW_COLD_WIPED,
	 .phrase = "index was missing or damaged"},
	{.name = "without an index",
	 .happens = by_insert_without_index,
	 .reason = JW_COLD_WIPED,
	 .phrase = "index was missing or damaged"},
	{.name = "emptied", .happens = emptied, .reason = JW_COLD_DELETED, .phrase = "emptied by hand"},
	{.name = "emptied and used",
	 .happens = emptied_and_used,
	 .reason = JW_COLD_DELETED,
	 .phrase = "emptied by hand"},
	{.name = "and primed",
	 .happens = emptied_and_primed,
	 .reason = JW_COLD_DELETED,
	 .phrase = "emptied by hand"},
	{.name = "removed",
	 .happens = removed,
	 .reason = JW_COLD_DELETED,
	 .phrase = "removed or replaced"},
	{.name = "removed and used",
	 .happens = removed_and_used,
	 .reason = JW_COLD_DELETED,
	 .phrase = "removed or replaced"},
	{.name = "parts",
	 .happens = remove_parts,
	 .reason = JW_COLD_DELETED,
	 .phrase = "still counts it"},
	{.name = "parts of a crowded one",
	 .happens = remove_parts,
	 .crowded = true,
	 .reason = JW_COLD_DELETED,
	 .phrase = "still counts it"},
	{.name = "files",
	 .happens = remove_files,
	 .reason = JW_COLD_DELETED,
	 .phrase = "still counts it"},
	{.name = "pruned",
	 .happens = taken_out,
	 .crowded = true,
	 .reason = JW_COLD_DELETED,
	 .phrase = "cache prune"},
	{.name = "evicted",
	 .happens = evicted,
	 .crowded = true,
	 .reason = JW_COLD_EVICTED,
	 .phrase = "keeps no more than"},
	{.name = "under another limit",
	 .happens = evicted,
	 .reason = JW_COLD_GONE,
	 .phrase = "deleted, or evicted"},
};

/* Whether a folder keeps its identity while its content changes: Wine reports the last change as
 * the birth, and some file systems record none. */
static bool can_tell(void)
{
	const uint64_t before = os_identity(folder);
	char *inner = os_join(NULL, folder, "inner");

	let_time_pass();
	assert_int_equal(os_make_dirs(NULL, inner, 0700), 0);
	mem_free(inner);
	return before != OS_UNIDENTIFIED && os_identity(folder) == before;
}

/* Also if another run has recorded the state meanwhile. */
static void each_loss_is_explained(void **unused)
{
	(void)unused;
	if (!can_tell())
		skip();
	for (size_t i = 0; i < 2 * sizeof losses / sizeof *losses; i++) {
		const struct loss *loss = &losses[i / 2];
		char text[EXPLAIN_TEXT];
		enum jw_cold_reason reason;

		fill();
		if (!loss->unwitnessed)
			cache_shape_leave_witness(cache, 0);
		remember();
		let_time_pass();
		loss->happens();
		if (i % 2)
			remember();
		reason = reason_now(loss->crowded ? 100 : 1 << 30, text);
		if (reason != loss->reason || !strstr(text, loss->phrase))
			fail_msg("%s: %s, “%s”", loss->name, jw_cold_reason_name(reason), text);
		assert_int_equal(os_remove_tree(NULL, cache), 0);
		assert_int_equal(os_remove_tree(NULL, state), 0);
	}
}

/* Entries restored after one loss are reported after the next one. */
static void each_entry_has_its_own_loss(void **unused)
{
	char text[EXPLAIN_TEXT];

	(void)unused;
	if (!can_tell())
		skip();
	for (unsigned round = 0; round < 2 * LEDGER_MOST_EPOCHS; round++) {
		fill();
		cache_shape_leave_witness(cache, 0);
		remember();
		let_time_pass();
		if (round % 2)
			removed();
		else
			by_look_up_and_used();
	}
	assert_int_equal(reason_now(1 << 30, text), JW_COLD_DELETED);
	assert_non_null(strstr(text, "removed or replaced"));
	/* Epochs whose end is no longer stored: without the entries, as runs of other modules see them.
	 */
	for (unsigned round = 0; round <= LEDGER_MOST_EPOCHS; round++) {
		let_time_pass();
		removed();
		used_again();
		remember();
	}
	assert_int_equal(reason_now(1 << 30, text), JW_COLD_GONE);
}

static int make_paths(void **unused)
{
	if (make_folder(unused))
		return -1;
	cache = os_join(NULL, folder, "cache");
	state = os_join(NULL, folder, "state");
	library = write_library();
	return 0;
}

static int remove_paths(void **unused)
{
	mem_free(cache);
	mem_free(state);
	mem_free(library);
	return remove_folder(unused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_loss_is_explained),
		cmocka_unit_test(each_entry_has_its_own_loss),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
