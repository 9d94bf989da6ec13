/* Under sudo: the account whose cache is meant. Needs root, and somebody whom getpwnam(3) knows. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/error.h>

#include "folder.h"
#include "os/env.h"
#include "packs.h"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

/* An account of another person or service than root. */
static const struct passwd *somebody(void)
{
	const struct passwd *account = geteuid() ? NULL : getpwnam("nobody");

	if (!account)
		skip();
	return account;
}

TEST(sudo_s_caller_is_named)
{
	const struct passwd *account = somebody();
	char *line = NULL;

	OK(os_env_set(why, "SUDO_USER", account->pw_name));
	OK(jw_account_doubt(why, &line));
	assert_non_null(strstr(line, account->pw_name));
	jw_text_free(line);
	OK(os_env_set(why, "SUDO_USER", "root"));
	OK(jw_account_doubt(why, &line));
	assert_null(line);
}

TEST(other_caches_are_those_of_services)
{
	static const char *const made[] = {"one/.nv/ComputeCache", "two/.nv/ComputeCache", "three",
									   "person/.nv/ComputeCache"};
	struct jw_other_cache *caches = NULL;
	struct jw_accounts people = {0};
	struct entries_entry entry;
	char *root = os_join(folder, "root"), *cache = os_join(folder, made[0]), *text;
	size_t count = 0;

	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		char *path = os_join(folder, made[i]);

		OK(os_make_dirs(why, path, 0700));
		mem_free(path);
	}
	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n, 0);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	text = mem_printf("one:x:200:1::%s/one:/\ntwo:x:201:1::%s/two:/\nthree:x:202:1::%s/three:/\n"
					  "twin:x:203:1::%s/two:/\nperson:x:1000:1::%s/person:/\n",
					  folder, folder, folder, folder, folder);
	files_put_text(root, "etc/passwd", text);
	OK(os_env_set(why, "JITWARM_SYSTEM_ROOT", root));
	OK(jw_other_caches(why, NULL, &caches, &count));
	assert_int_equal(count, 2);
	assert_string_equal(caches[0].account, "one");
	assert_string_equal(caches[0].path, cache);
	assert_int_equal(caches[0].entries, 2);
	assert_string_equal(caches[1].account, "two");
	assert_int_equal(caches[1].entries, 0);
	jw_other_caches_free(caches, count);
	OK(jw_other_caches(why, cache, &caches, &count));
	assert_int_equal(count, 1);
	assert_string_equal(caches[0].account, "two");
	jw_other_caches_free(caches, count);
	OK(jw_accounts_people(why, &people));
	assert_int_equal(people.count, 1);
	assert_int_equal(people.items[0].owner, 1000);
	assert_int_equal(people.items[0].group, 1);
	jw_accounts_free(&people);
	OK(os_env_set(why, "JITWARM_SYSTEM_ROOT", NULL));
	mem_free(root);
	mem_free(cache);
	mem_free(text);
}

RUN_TESTS(make_folder, remove_folder)
