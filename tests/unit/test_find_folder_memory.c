/* What is remembered of folders: an unchanged one is not read again, and any change is seen. */
#include "environments_posix.h"

#include <stdio.h>

#include "find/folder_memory.h"
#include "os/clock.h"

#define SITE "venv/lib/python3.11/site-packages/"

static struct os_stat folder_of(uint64_t inode, int64_t age_s)
{
	return (struct os_stat){.kind = OS_DIRECTORY,
							.device = 7,
							.inode = inode,
							.changed_ns = (os_now_s() - age_s) * 1000000000 + 5};
}

static struct os_names names_of(size_t count, char **items, enum os_kind *kinds)
{
	return (struct os_names){.items = items, .kinds = kinds, .count = count};
}

static void note(struct folder_memory *memory, const struct os_stat *stat, const char *name)
{
	char *items[] = {mem_string(NULL, "below"), mem_string(NULL, name)};
	enum os_kind kinds[] = {OS_DIRECTORY, OS_REGULAR};
	const struct os_names names = names_of(2, items, kinds);

	folder_memory_note(memory, stat, os_now_s(), &names);
	mem_free(items[0]);
	mem_free(items[1]);
}

/* Whether they are known, and are "below" and this. */
static bool knows(struct folder_memory *memory, const struct os_stat *stat, const char *name)
{
	struct os_names names;
	bool known, same;

	assert_int_equal(folder_memory_names(NULL, memory, stat, &names, &known), 0);
	if (!known)
		return false;
	same = names.count == 2 && !strcmp(names.items[0], "below") && !strcmp(names.items[1], name) &&
		   names.kinds[0] == OS_DIRECTORY && names.kinds[1] == OS_REGULAR;
	os_names_free(&names);
	return same;
}

static struct folder_memory *opened(void)
{
	char *state = at("state");
	struct folder_memory *memory = NULL;

	assert_int_equal(folder_memory_open(NULL, state, &memory), 0);
	mem_free(state);
	return memory;
}

static void only_settled_folders_are_known_until_they_change(void **unused)
{
	const struct os_stat old = folder_of(1, 60), recent = folder_of(2, 1),
						 future = folder_of(3, -60);
	struct os_stat other = old, untold = folder_of(4, 60);
	struct folder_memory *memory = opened();

	(void)unused;
	assert_false(folder_memory_knows(memory));
	untold.changed_ns = 0;
	note(memory, &old, "a.so");
	note(memory, &recent, "a.so");
	note(memory, &future, "a.so");
	note(memory, &untold, "a.so");
	folder_memory_close(memory);
	memory = opened();
	assert_true(folder_memory_knows(memory));
	assert_true(knows(memory, &old, "a.so"));
	assert_false(knows(memory, &recent, "a.so"));
	assert_false(knows(memory, &future, "a.so"));
	assert_false(knows(memory, &untold, "a.so"));
	other.changed_ns++;
	assert_false(knows(memory, &other, "a.so"));
	other = old;
	other.device++;
	assert_false(knows(memory, &other, "a.so"));
	/* It has changed, and is known as it is now; so is one that was not looked at. */
	other = old;
	other.changed_ns += 1000;
	note(memory, &other, "b.so");
	note(memory, &(struct os_stat){.device = 7, .inode = 9, .changed_ns = 1}, "c.so");
	folder_memory_close(memory);
	memory = opened();
	assert_true(knows(memory, &other, "b.so"));
	assert_false(knows(memory, &old, "a.so"));
	assert_true(knows(memory, &(struct os_stat){.device = 7, .inode = 9, .changed_ns = 1}, "c.so"));
	folder_memory_close(memory);
}

static void a_damaged_file_is_none(void **unused)
{
	const struct os_stat old = folder_of(1, 60);
	struct folder_memory *memory = opened();
	char *path = at("state/folders");
	struct buf file = {0};

	(void)unused;
	note(memory, &old, "a.so");
	folder_memory_close(memory);
	assert_int_equal(os_read_file(NULL, path, 1 << 20, &file), 0);
	for (size_t i = 0; i < file.size; i++) {
		file.data[i] ^= 1;
		assert_int_equal(folder_memory_parse(NULL, file.data, file.size, &memory), 0);
		assert_false(folder_memory_knows(memory));
		folder_memory_close(memory);
		assert_int_equal(folder_memory_parse(NULL, file.data, i, &memory), 0);
		assert_false(folder_memory_knows(memory));
		folder_memory_close(memory);
		file.data[i] ^= 1;
	}
	buf_free(&file);
	/* What another account may write decides nothing for root. */
	assert_int_equal(chmod(path, 0666), 0);
	memory = opened();
	assert_int_equal(folder_memory_knows(memory), geteuid() != 0);
	folder_memory_close(memory);
	mem_free(path);
}

/* ---- an environment */

static struct jw_found *found_with_memory(void)
{
	char *state = at("state");
	struct jw_find_options options = {.size = sizeof options, .state_dir = state};
	struct jw_found *found = NULL;

	assert_int_equal(jw_find(NULL, &options, &found), 0);
	mem_free(state);
	return found;
}

/* Exactly these, with a memory and without one. */
static void expect_files(size_t count, const char *const *files)
{
	struct jw_find_options options = {.size = sizeof options};
	struct jw_found *found = found_with_memory(), *plain = NULL;

	for (size_t i = 0; i < count; i++)
		if (!file_in(found, files[i]))
			fail_msg("%s was not found", files[i]);
	assert_int_equal(found->file_count, count);
	assert_int_equal(jw_find(NULL, &options, &plain), 0);
	assert_int_equal(plain->file_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(found->files[i].path, plain->files[i].path);
		assert_int_equal(found->files[i].size_bytes, plain->files[i].size_bytes);
		assert_int_equal(found->files[i].inode, plain->files[i].inode);
	}
	jw_found_free(found);
	jw_found_free(plain);
}

#define EXPECT(...)                                                                                \
	do {                                                                                           \
		const char *const expected[] = {__VA_ARGS__};                                              \
                                                                                                   \
		expect_files(sizeof expected / sizeof *expected, expected);                                \
	} while (0)

/* Until what the folders hold may be remembered. */
static void settle(void)
{
	sleep(4);
	jw_found_free(found_with_memory());
}

static void move(const char *from, const char *to)
{
	char *old = at(from), *new = at(to);

	assert_int_equal(rename(old, new), 0);
	mem_free(old);
	mem_free(new);
}

static void every_change_of_an_environment_is_seen(void **unused)
{
	char *path;

	(void)unused;
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put(SITE "a/b/c/deep.so", "x");
	put(SITE "a/none/readme.txt", "x");
	put_program("venv/bin/tool", "x");
	put(SITE "z/last.so", "x");
	put("elsewhere/other.so", "x");
	set("VIRTUAL_ENV", "venv");
	settle();
	EXPECT(SITE "a/b/c/deep.so", SITE "z/last.so");
	/* One comes, into a folder that had none, and into one that is new */
	put(SITE "a/none/new.so", "x");
	put(SITE "a/b/made/new.so", "x");
	EXPECT(SITE "a/b/c/deep.so", SITE "a/b/made/new.so", SITE "a/none/new.so", SITE "z/last.so");
	settle();
	/* One changes in its place, one goes, and one is replaced */
	put(SITE "a/b/c/deep.so", "longer");
	path = at(SITE "z/last.so");
	assert_int_equal(unlink(path), 0);
	mem_free(path);
	put(SITE "a/none/other", "y");
	move(SITE "a/none/other", SITE "a/none/new.so");
	EXPECT(SITE "a/b/c/deep.so", SITE "a/b/made/new.so", SITE "a/none/new.so");
	settle();
	/* A folder is replaced by another one, one by a link, and one comes back */
	move(SITE "a/b/c", "away");
	put(SITE "a/b/c/deeper.so", "x");
	move(SITE "a/none", "none");
	link_to(SITE "a/none", "../../../../../elsewhere");
	EXPECT(SITE "a/b/c/deeper.so", SITE "a/b/made/new.so", SITE "a/none/other.so");
	settle();
	/* Behind a link nothing of the folder with the link changes */
	put("elsewhere/more.so", "x");
	EXPECT(SITE "a/b/c/deeper.so", SITE "a/b/made/new.so", SITE "a/none/more.so",
		   SITE "a/none/other.so");
	move(SITE "a/b/c", "again");
	move("away", SITE "a/b/c");
	EXPECT(SITE "a/b/c/deep.so", SITE "a/b/made/new.so", SITE "a/none/more.so",
		   SITE "a/none/other.so");
}

/* It is asked: what it says wrongly is believed. */
static void an_unchanged_folder_is_not_read(void **unused)
{
	char *state = at("state"), *path = at(SITE "a");
	struct folder_memory *memory = NULL;
	struct jw_found *found;
	struct os_stat stat;

	(void)unused;
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put(SITE "a/lib.so", "x");
	put(SITE "b/lib.so", "x");
	set("VIRTUAL_ENV", "venv");
	settle();
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(folder_memory_open(NULL, state, &memory), 0);
	if (!folder_memory_knows(memory)) { /* this file system's times do not tell */
		folder_memory_close(memory);
		mem_free(state);
		mem_free(path);
		skip();
	}
	folder_memory_note(memory, &stat, os_now_s(), &(struct os_names){0});
	folder_memory_close(memory);
	found = found_with_memory();
	assert_int_equal(found->file_count, 1);
	assert_non_null(file_in(found, SITE "b/lib.so"));
	jw_found_free(found);
	mem_free(state);
	mem_free(path);
}

static void expect_owner(const char *file, const char *owner)
{
	struct jw_found *found = found_with_memory();
	const struct jw_found_file *at = file_in(found, file);

	assert_non_null(at);
	if (owner)
		assert_string_equal(at->package, owner);
	else
		assert_null(at->package);
	jw_found_free(found);
}

/* What a record says when it has changed, and what becomes of the files that it names. */
static void a_record_without_code_is_read_again_where_that_may_change(void **unused)
{
	struct jw_found *found;

	(void)unused;
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put(SITE "plain-1.dist-info/RECORD", "plain/a.py,,\nplain-1.dist-info/RECORD,,\n");
	put(SITE "later-1.dist-info/RECORD", "later/x.so,,\nlater-1.dist-info/RECORD,,\n");
	put(SITE "tool-1.dist-info/RECORD", "../../../share/tool/x.so,,\n");
	put(SITE "leaves-1.dist-info/RECORD", "../../../../away/x.so,,\n");
	put(SITE "some.so", "x");
	set("VIRTUAL_ENV", "venv");
	settle();
	expect_owner(SITE "some.so", NULL);
	found = found_with_memory();
	assert_int_equal(found->note_count, 2); /* what leaves is said each time */
	jw_found_free(found);
	put(SITE "later/x.so", "x");
	put("venv/share/tool/x.so", "x");
	put(SITE "plain/x.so", "x");
	expect_owner(SITE "later/x.so", "later");
	expect_owner("venv/share/tool/x.so", "tool");
	expect_owner(SITE "plain/x.so", NULL);
	put(SITE "plain-1.dist-info/RECORD", "plain/x.so,,\n");
	expect_owner(SITE "plain/x.so", "plain");
	put(SITE "plain-1.dist-info/METADATA", "Name: Plain\nVersion: 1\n");
	expect_owner(SITE "plain/x.so", "Plain");
}

/* As above: what the memory says wrongly is believed. */
static void a_record_without_code_is_not_read(void **unused)
{
	char *state = at("state"), *path = at(SITE "a-1.dist-info/RECORD");
	struct folder_memory *memory = NULL;
	struct os_stat stat;

	(void)unused;
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put(SITE "a/lib.so", "x");
	put(SITE "a-1.dist-info/RECORD", "a/lib.so,,\n");
	put(SITE "b-1.dist-info/RECORD", "b/b.py,,\nb-1.dist-info/RECORD,,\n");
	set("VIRTUAL_ENV", "venv");
	settle();
	expect_owner(SITE "a/lib.so", "a");
	assert_int_equal(folder_memory_open(NULL, state, &memory), 0);
	if (folder_memory_knows(memory)) {
		struct os_names names;
		bool known;

		assert_int_equal(os_stat(NULL, path, &stat), 0);
		folder_memory_note(memory, &stat, os_now_s(), &(struct os_names){0});
		mem_free(path);
		path = at(SITE "b-1.dist-info/RECORD");
		assert_int_equal(os_stat(NULL, path, &stat), 0);
		assert_int_equal(folder_memory_names(NULL, memory, &stat, &names, &known), 0);
		assert_true(known);
		os_names_free(&names);
		folder_memory_close(memory);
		expect_owner(SITE "a/lib.so", NULL);
	} else {
		folder_memory_close(memory);
	}
	mem_free(state);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_settled_folders_are_known_until_they_change, set_up,
										tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_change_of_an_environment_is_seen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_unchanged_folder_is_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_without_code_is_read_again_where_that_may_change,
										set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_without_code_is_not_read, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
