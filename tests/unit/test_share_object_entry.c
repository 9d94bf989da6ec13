/* The worker's threads add and take entries in a shared folder, respect claims, and take no entry
 * that is not trusted. */
#include "folder.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "entries.h"
#include "packs.h"
#include "renames.h"
#include "share/object_entry.h"

enum { ENTRIES = 3, SM = 86, MOST = 1 << 20 };

static const char stamp[] = "Jun 25 202401:14:48";
static char *where, *cache, *run;
static uint64_t keys[ENTRIES];
static struct jw_identity identities[ENTRIES];
static struct jw_system machine;
static struct jw_share_options options = {.allow_unsigned = true};
static struct object_setup setup;
static struct object_context context = {.setup = &setup};
static struct object_thread thread = {.context = &context};

/* Begins with an empty place, and a run that has taken nothing yet. */
static void begin(void)
{
	OK(os_remove_tree(why, where));
	OK(os_remove_tree(why, run));
	OK(os_make_dirs(why, where, 0700));
	OK(os_make_dirs(why, run, 0700));
	options.allow_unsigned = true;
	OK(object_directory_open(why, where, &thread.directory));
}

static void end(void)
{
	struct os_names names;

	/* Files in transfer leave no part here. */
	OK(os_list(why, run, &names));
	for (size_t i = 0; i < names.count; i++)
		assert_int_equal(names.kinds[i], OS_DIRECTORY);
	os_names_free(&names);
}

static struct object_answer does(enum object_what what, uint64_t key, uint64_t most, uint64_t dead)
{
	struct object_job job = {7, what, key, SM, most, dead, ""};
	struct object_answer answer = {0};
	size_t at = 0;

	while (at < ENTRIES - 1 && keys[at] != key)
		at++;
	(void)cache_identity_text(job.identity, &identities[at]);

	object_do(&thread, &job, &answer);
	assert_int_equal(answer.id, 7);
	assert_int_equal(answer.what, what);
	return answer;
}

/* Returns the path of an object, which the caller frees. */
static char *object_path(uint64_t key, const char *ending)
{
	char *name = object_name(stamp, SM, key);
	char *path = mem_printf("%s/%s%s", where, name, ending);

	mem_free(name);
	return path;
}

static void put_object(uint64_t key, const char *ending, const char *text)
{
	files_put_at(object_path(key, ending), text, strlen(text));
}

static bool is_there(uint64_t key, const char *ending)
{
	char *path = object_path(key, ending);
	const bool is = os_exists(path);

	mem_free(path);
	return is;
}

static void copy_file(char *from, char *to)
{
	struct buf bytes;

	OK(os_read_file(why, from, MOST, &bytes));
	files_put_at(to, bytes.data, bytes.size);
	mem_free(from);
	buf_free(&bytes);
}

static bool is_taken(uint64_t key)
{
	char *dir = object_folder(run, key), *path = cache_entry_path(dir, key);
	const bool is = os_exists(path);

	mem_free(dir);
	mem_free(path);
	return is;
}

TEST(an_entry_is_put_and_taken)
{
	struct object_answer put, got;

	begin();
	put_object(keys[0], ".claim", "{}");
	put = does(OBJECT_PUT, keys[0], 0, 0);
	assert_int_equal(put.said, OBJECT_PLACED);
	assert_true(put.bytes > 0 && is_there(keys[0], ".jwpack"));
	assert_false(is_there(keys[0], ".claim"));
	assert_false(is_there(keys[0], ".jwpack.minisig"));
	assert_int_equal(does(OBJECT_FIND, keys[1], MOST, 0).said, OBJECT_MISSING);
	got = does(OBJECT_FIND, keys[0], put.bytes - 1, 0);
	assert_int_equal(got.said, OBJECT_MISSING);
	assert_non_null(strstr(got.why, "more than its entry can need"));
	got = does(OBJECT_FIND, keys[0], put.bytes, 0);
	if (got.said != OBJECT_HERE)
		fail_msg("%s", got.why);
	assert_int_equal(got.bytes, put.bytes);
	assert_true(is_taken(keys[0]));
	/* An existing object is not claimed. */
	OK(os_remove_tree(why, run));
	OK(os_make_dirs(why, run, 0700));
	assert_int_equal(does(OBJECT_CLAIM, keys[0], MOST, 0).said, OBJECT_HERE);
	assert_false(is_there(keys[0], ".claim"));
	/* The entry may have been evicted here. */
	got = does(OBJECT_PUT, keys[0] + 1, 0, 0);
	assert_int_equal(got.said, OBJECT_MISSING);
	assert_string_equal(got.why, "");
	end();
}

TEST(what_is_not_trusted_is_not_taken)
{
	static const struct {
		enum object_what what;
		bool unsigned_too;
		const char *why;
	} cases[] = {{OBJECT_FIND, false, "no trusted key has signed it"},
				 {OBJECT_CLAIM, false, "no trusted key has signed it"},
				 {OBJECT_FIND, true, "does not hold the entry that its name says"},
				 {OBJECT_CLAIM, true, "does not hold the entry that its name says"}};
	char *dir;

	begin();
	assert_int_equal(does(OBJECT_PUT, keys[0], 0, 0).said, OBJECT_PLACED);
	copy_file(object_path(keys[0], ".jwpack"), object_path(keys[1], ".jwpack"));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct object_answer got;
		const uint64_t key = keys[cases[i].unsigned_too];

		options.allow_unsigned = cases[i].unsigned_too;
		got = does(cases[i].what, key, MOST, 0);
		assert_int_equal(got.said, OBJECT_MISSING);
		if (!strstr(got.why, cases[i].why) ||
			!text_starts(got.why, "v1/Jun-25-202401-14-48/sm_86/"))
			fail_msg("%s", got.why);
		dir = object_folder(run, key);
		assert_false(os_exists(dir));
		mem_free(dir);
		assert_false(is_there(key, ".claim"));
	}
	/* A signature that cannot be read does not count as missing. */
	dir = object_path(keys[0], ".jwpack.minisig");
	OK(os_make_dirs(why, dir, 0700));
	mem_free(dir);
	options.allow_unsigned = false;
	assert_non_null(strstr(does(OBJECT_FIND, keys[0], MOST, 0).why, "is not a file"));
	end();
}

TEST(claims_are_made_and_respected)
{
	static const char *const none[] = {"", "nonsense", "{\"claim\": \"0\"}"};
	static const char claim[] = "{\"claim\": \"0000000000000005\", \"seconds\": 1}";
	struct object_answer first, second;
	char *blocked = object_path(keys[2], ".claim");
	char longer[300];

	begin();
	assert_int_equal(does(OBJECT_FIND, keys[0], MOST, 0).said, OBJECT_MISSING);
	assert_false(is_there(keys[0], ".claim"));
	assert_int_equal(does(OBJECT_CLAIM, keys[0], MOST, 0).said, OBJECT_OURS);
	assert_true(is_there(keys[0], ".claim"));
	first = does(OBJECT_CLAIM, keys[0], MOST, 0);
	assert_int_equal(first.said, OBJECT_THEIRS);
	assert_true(first.claim != 0);
	assert_int_equal(does(OBJECT_CLAIM, keys[0], MOST, first.claim + 1).said, OBJECT_THEIRS);
	assert_int_equal(does(OBJECT_CLAIM, keys[0], MOST, first.claim).said, OBJECT_OURS);
	second = does(OBJECT_CLAIM, keys[0], MOST, 0);
	assert_int_equal(second.said, OBJECT_THEIRS);
	assert_true(second.claim != first.claim);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		put_object(keys[1], ".claim", none[i]);
		assert_int_equal(does(OBJECT_CLAIM, keys[1], MOST, 0).said, OBJECT_OURS);
	}
	memset(longer, ' ', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	memcpy(longer, claim, strlen(claim));
	put_object(keys[1], ".claim", longer);
	assert_int_equal(does(OBJECT_CLAIM, keys[1], MOST, 0).said, OBJECT_OURS);
	longer[256] = '\0';
	put_object(keys[1], ".claim", longer);
	assert_int_equal(does(OBJECT_CLAIM, keys[1], MOST, 0).said, OBJECT_THEIRS);
	/* If no claim can be written, the module is compiled all the same. */
	OK(os_make_dirs(why, blocked, 0700));
	assert_int_equal(does(OBJECT_CLAIM, keys[2], MOST, 0).said, OBJECT_OURS);
	mem_free(blocked);
	end();
}

/* Another node's claim follows this one's at once. */
static unsigned another_claims;

static int renames(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	const int result = rename_really(from_dir, from, to_dir, to, flags);

	/* the first rename is that of this node's file */
	if (another_claims && text_ends(to, ".claim") && !--another_claims)
		put_object(keys[0], ".claim", "{\"claim\": \"0000000000000005\"}");
	return result;
}

TEST(of_two_claims_the_last_one_counts)
{
	struct object_answer answer;

	begin();
	another_claims = 2;
	answer = does(OBJECT_CLAIM, keys[0], MOST, 0);
	assert_int_equal(another_claims, 0);
	assert_int_equal(answer.said, OBJECT_THEIRS);
	assert_int_equal(answer.claim, 5);
	end();
}

TEST(failures_are_of_objects_or_the_folder)
{
	char *pack = mem_printf("%s/%016llx.jwpack", run, (unsigned long long)keys[0]);

	begin();
	/* A pack that cannot be made here does not count as evicted. */
	OK(os_make_dirs(why, pack, 0700));
	assert_string_not_equal(does(OBJECT_PUT, keys[0], 0, 0).why, "");
	mem_free(pack);
	/* The folder itself cannot be read any more. */
	OK(os_remove_tree(why, where));
	assert_int_equal(symlink("place", where), 0);
	assert_int_equal(does(OBJECT_FIND, keys[1], MOST, 0).said, OBJECT_GONE);
	OK(os_remove(why, where));
	end();
}

static int set_up(void **state)
{
	/* A job names its architecture, which need not be that of a GPU here. */
	static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = SM + 3}};

	if (make_folder(state))
		return -1;
	where = os_join(folder, "place");
	cache = os_join(folder, "cache");
	run = os_join(folder, "run");
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 100 * n);
		packs_put(cache, entry.key, entry.bytes, entry.size);
		keys[n] = entry.key;
		identities[n] = entry.identity;
	}
	machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = folder};
	machine.cache.path = cache;
	TEXT_COPY(machine.driver.stamp, stamp);
	machine.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	machine.driver.trust = JW_TRUST_CONFIRMED;
	options.folder = where;
	options.state_dir = folder;
	setup = (struct object_setup){run, &machine, &options};
	return 0;
}

static int tear_down(void **state)
{
	mem_free(where);
	mem_free(cache);
	mem_free(run);
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
