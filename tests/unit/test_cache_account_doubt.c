/* Under sudo, jitwarm asks whose cache is meant. Needs root, and an account that getpwnam(3) knows.
 * */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/error.h>

#include "folder.h"
#include "os/env.h"
#include "packs.h"

#include <pwd.h>
#include <unistd.h>

/* Returns an account of a person or service other than root. */
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
	/* Root may have become another account by sudo, which is not root. */
	OK(os_env_set(why, "SUDO_USER", account->pw_name));
	assert_int_equal(seteuid(account->pw_uid), 0);
	OK(jw_account_doubt(why, &line));
	assert_int_equal(seteuid(0), 0);
	assert_null(line);
}

RUN_TESTS(make_folder, remove_folder)
