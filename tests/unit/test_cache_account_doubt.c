/* Under sudo: the account whose cache is meant. Needs root, and somebody whom getpwnam(3) knows. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/error.h>

#include "os/env.h"

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

static void sudo_s_caller_is_named_unless_its_home_is_ours(void **state)
{
	const struct passwd *account = somebody();
	char *line = NULL;

	(void)state;
	assert_int_equal(os_env_set(NULL, "SUDO_USER", account->pw_name), 0);
	assert_int_equal(os_env_set(NULL, "HOME", "/root"), 0);
	assert_int_equal(jw_account_doubt(NULL, &line), 0);
	assert_non_null(strstr(line, account->pw_name));
	jw_text_free(line);
	assert_int_equal(os_env_set(NULL, "HOME", account->pw_dir), 0);
	assert_int_equal(jw_account_doubt(NULL, &line), 0);
	assert_null(line);
	assert_int_equal(os_env_set(NULL, "SUDO_USER", "root"), 0);
	assert_int_equal(os_env_set(NULL, "HOME", "/root"), 0);
	assert_int_equal(jw_account_doubt(NULL, &line), 0);
	assert_null(line);
}

static void without_sudo_the_account_stays(void **state)
{
	struct jw_error err = {0};
	const uid_t before = geteuid();

	(void)state;
	assert_int_equal(os_env_set(NULL, "SUDO_USER", NULL), 0);
	assert_int_equal(jw_become_sudo_user(&err), -1);
	assert_int_equal(err.code, JW_ERR_USAGE);
	assert_int_equal(geteuid(), before);
}

/* In a child, since there is no way back. */
static void the_caller_is_become_for_good(void **state)
{
	const struct passwd *account = somebody();
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(os_env_set(NULL, "SUDO_USER", account->pw_name), 0);
	child = fork();
	if (!child) {
		const char *home;

		if (jw_become_sudo_user(NULL))
			_exit(1);
		home = getenv("HOME");
		_exit(getuid() != account->pw_uid || geteuid() != account->pw_uid || !setuid(0) || !home ||
			  strcmp(home, account->pw_dir) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sudo_s_caller_is_named_unless_its_home_is_ours),
		cmocka_unit_test(without_sudo_the_account_stays),
		cmocka_unit_test(the_caller_is_become_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
