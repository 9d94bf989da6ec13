/* jitwarm's own folder and the driver's cache, computed a second time as plainly as possible,
 * without code of src, for every combination of the variables that name them. */
#include "check.h"

#include <stdio.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "base/mem.h"
#include "os/env.h"
#include "os/folders.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const values[] = {NULL, "", "relative", "./here", "/", "/abs", "/a b"};

/* An empty variable is none. Another folder than jitwarm's own variable names has to be absolute.
 */
TEST(folders_follow_from_the_variables)
{
	for (size_t i = 0; i < COUNT(values); i++)
		for (size_t k = 0; k < COUNT(values); k++)
			for (size_t m = 2; m < COUNT(values); m++) {
				const char *own = values[i], *base = values[k], *home = values[m];
				char wanted[200], cache[200], *own_folder, *driver;

				OK(os_env_set(why, "JITWARM_STATE", own));
				OK(os_env_set(why, "XDG_STATE_HOME", base));
				OK(os_env_set(why, "HOME", home));
				home += !strcmp(home, "/"); /* “/” and a name are joined by one separator */
				(void)snprintf(cache, sizeof cache, "%s/.nv/ComputeCache", home);
				if (own && *own)
					(void)snprintf(wanted, sizeof wanted, "%s", own);
				else if (base && *base == '/')
					(void)snprintf(wanted, sizeof wanted, "%s/jitwarm", base + !strcmp(base, "/"));
				else
					(void)snprintf(wanted, sizeof wanted, "%s/.local/state/jitwarm", home);
				OK(os_state_dir(why, &own_folder));
				OK(os_driver_cache_dir(why, &driver));
				assert_string_equal(own_folder, wanted);
				assert_string_equal(driver, cache);
				mem_free(own_folder);
				mem_free(driver);
			}
}

RUN_TESTS(NULL, NULL)
