/* An import into each person's account. All accounts have this program's own number, or under root
 * another, and their groups are this program's own, so that any account can run the test. */
#include "folder.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/env.h"
#include "packs.h"

enum { ENTRIES = 3, PEOPLE = 3 };

static const char *const people[PEOPLE] = {"alice", "bob", "carol"};
static char *pack, *homes[PEOPLE];

int initgroups(const char *name, gid_t group)
{
	(void)name;
	(void)group;
	return 0;
}

int setgroups(size_t count, const gid_t *groups)
{
	(void)count;
	(void)groups;
	return 0;
}

static void put_people(size_t count)
{
	const unsigned long owner = geteuid() ? geteuid() : 1234, group = getegid();
	char lines[1000] = "";

	for (size_t i = 0; i < count; i++) {
		const size_t used = strlen(lines);

		(void)snprintf(lines + used, sizeof lines - used, "%s:x:%lu:%lu::%s:/bin/sh\n", people[i],
					   owner, group, homes[i]);
		if (os_exists(homes[i]))
			OK(os_remove_tree(why, homes[i]));
		OK(os_make_dirs(why, homes[i], 0700));
		assert_int_equal(chown(homes[i], (uid_t)owner, (gid_t)group), 0);
	}
	files_put_text(folder, "etc/passwd", lines);
}

static int begin(void **state)
{
	char *cache;

	if (make_folder(state) || chmod(folder, 0755))
		return -1;
	cache = os_join(folder, "cache");
	pack = os_join(folder, "a.jwpack");
	for (size_t i = 0; i < PEOPLE; i++)
		homes[i] = os_join(folder, people[i]);
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 10);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	(void)packs_export(cache, pack);
	mem_free(cache);
	files_put_text(folder, "etc/login.defs", "UID_MIN 1\nUID_MAX 4294967294\n");
	put_people(PEOPLE);
	return os_env_set(why, "JITWARM_SYSTEM_ROOT", folder);
}

static int end(void **state)
{
	for (size_t i = 0; i < PEOPLE; i++)
		mem_free(homes[i]);
	mem_free(pack);
	(void)os_env_set(NULL, "JITWARM_SYSTEM_ROOT", NULL);
	return remove_folder(state);
}

static struct jw_import_options taking(void)
{
	return (struct jw_import_options){.path = pack, .limit_bytes = 1 << 30, .allow_unsigned = true};
}

static bool has_cache(size_t i)
{
	char *index = os_join(homes[i], ".nv/ComputeCache/index");
	const bool has = os_exists(index);

	mem_free(index);
	return has;
}

/* If the pack, the driver or the list of accounts fails, nothing is written anywhere. */
TEST(what_fails_for_all_fails_at_once)
{
	static const enum jw_code codes[] = {JW_ERR_NOT_FOUND, JW_ERR_FORMAT, JW_ERR_UNSUPPORTED,
										 JW_ERR_NOT_FOUND};
	const struct jw_system system_of = {0};

	put_people(PEOPLE);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		char *path = os_join(folder, i ? "broken.jwpack" : "missing.jwpack");
		struct jw_import_options how = taking();
		struct jw_import_all_result *all = NULL;

		if (i < 2)
			how.path = path;
		if (i == 1)
			files_put_text(folder, "broken.jwpack", "no pack");
		if (i == 2)
			how.system = &system_of;
		if (i == 3)
			put_people(0);
		GIVES(codes[i], jw_import_all(why, &how, &all));
		assert_null(all);
		for (size_t n = 0; n < PEOPLE; n++)
			assert_false(has_cache(n));
		put_people(PEOPLE);
		mem_free(path);
	}
}

static bool after_the_first(void *context)
{
	(void)context;
	return has_cache(0);
}

/* Ctrl-C does not count as the failure of one account. */
TEST(an_end_is_one_for_all)
{
	struct jw_import_options how = taking();
	struct jw_import_all_result *all = NULL;

	put_people(PEOPLE);
	how.cancel.is_cancelled = after_the_first;
	GIVES(JW_ERR_INTERRUPTED, jw_import_all(why, &how, &all));
	assert_null(all);
	assert_true(has_cache(0));
	assert_false(has_cache(PEOPLE - 1));
}

RUN_TESTS(begin, end)
