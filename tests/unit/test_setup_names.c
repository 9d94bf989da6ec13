/* A task or unit names absolute paths and packages, since it runs in another directory without this
 * process's environment. */
#include <stdio.h>
#include <unistd.h>

#include "environments.h"

#include <jitwarm/startup.h>

static bool names_it(const char *const *names, size_t count, const char *wanted)
{
	const struct jw_startup_options options = {.names = names, .name_count = count};
	struct jw_startup *startup = NULL;
	bool found = false;

	OK(jw_startup_find(why, &options, &startup));
	for (size_t i = 0; i < startup->count; i++)
		found = found || strstr(startup->items[i].text, wanted);
	jw_result_free(startup);
	return found;
}

CASE(paths_become_absolute_and_packages_stay)
{
	static const char *const names[] = {"lib.so", "torch"};
	char wanted[4096];

	put("lib.so", "x");
	assert_int_equal(chdir(root), 0);
	(void)snprintf(wanted, sizeof wanted, "\"%s/lib.so\" \"torch\"", root);
	assert_true(names_it(names, 2, wanted));
	assert_false(names_it(names, 2, "--environment"));
}

CASE(the_active_environment_is_named)
{
	char wanted[4096];

	set("VIRTUAL_ENV", "venv");
	(void)snprintf(wanted, sizeof wanted, "--environment \"%s/venv\"", root);
	assert_true(names_it(NULL, 0, wanted));
	OK(os_env_set(why, "VIRTUAL_ENV", NULL));
	set("CONDA_PREFIX", "conda");
	(void)snprintf(wanted, sizeof wanted, "--environment \"%s/conda\"", root);
	assert_true(names_it(NULL, 0, wanted));
}

RUN_TESTS(NULL, NULL)
