/* Which files hold the settings of each scope, by the shell and the folders of an account. */
#include "root.h"

#include <stdio.h>
#include <unistd.h>

#include "setup/setting_places.h"

/* NULL unsets it; what begins with "./" is inside the test's folder. */
static void set(const char *name, const char *value)
{
	char *path = value && !strncmp(value, "./", 2) ? os_join(root, value + 2) : NULL;

	OK(os_env_set(why, name, path ? path : value));
	mem_free(path);
}

static int usual(void **state)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "ZDOTDIR", "SHELL"};

	if (root_empty(state))
		return -1;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		set(others[i], NULL);
	set("HOME", "./home");
	return 0;
}

/* "form path" of each place, below the test's folder. */
static char *places_text(const struct jw_tune_request *request)
{
	static char text[2048];
	struct setting_places places;

	text[0] = '\0';
	OK(places_of(why, request, &places));
	for (size_t i = 0; i < places.count; i++) {
		const char *inner = strstr(places.items[i].path, root);

		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%d %s\n",
					   (int)places.items[i].form,
					   inner ? inner + strlen(root) : places.items[i].path);
	}
	places_free(&places);
	assert_int_equal(places.count, 0);
	return text;
}

TEST_WITH(each_shell_has_its_files, usual, NULL)
{
	static const struct {
		const char *shell, *zdotdir, *config, *there;
		enum jw_scope scope;
		const char *wanted;
	} cases[] = {
		{NULL, NULL, NULL, NULL, JW_SCOPE_SHELL, "0 /home/.profile\n"},
		{"/bin/dash", NULL, NULL, NULL, JW_SCOPE_SHELL, "0 /home/.profile\n"},
		{"/bin/bash", NULL, NULL, NULL, JW_SCOPE_SHELL, "0 /home/.bashrc\n"},
		{"/bin/bash", NULL, NULL, NULL, JW_SCOPE_USER,
		 "3 /home/.config/environment.d/60-jitwarm.conf\n0 /home/.profile\n"},
		{"bash", NULL, "./conf", "home/.bash_login", JW_SCOPE_USER,
		 "3 /conf/environment.d/60-jitwarm.conf\n0 /home/.bash_login\n"},
		{"bash", NULL, "conf", "home/.bash_profile", JW_SCOPE_USER,
		 "3 /home/.config/environment.d/60-jitwarm.conf\n0 /home/.bash_profile\n"},
		{"zsh", NULL, NULL, NULL, JW_SCOPE_SHELL, "0 /home/.zshenv\n"},
		{"zsh", "", NULL, NULL, JW_SCOPE_SHELL, "0 /home/.zshenv\n"},
		{"zsh", "./z", NULL, NULL, JW_SCOPE_SHELL, "0 /z/.zshenv\n"},
		{"zsh", NULL, NULL, NULL, JW_SCOPE_USER,
		 "3 /home/.config/environment.d/60-jitwarm.conf\n0 /home/.zprofile\n"},
		{"/usr/bin/fish", NULL, NULL, NULL, JW_SCOPE_SHELL,
		 "1 /home/.config/fish/conf.d/jitwarm.fish\n"},
		{"fish", NULL, NULL, NULL, JW_SCOPE_USER,
		 "3 /home/.config/environment.d/60-jitwarm.conf\n"
		 "2 /home/.config/fish/conf.d/jitwarm-login.fish\n"},
		{"fish", NULL, NULL, NULL, JW_SCOPE_SYSTEM, "3 /etc/environment\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_tune_request request = {.scope = cases[i].scope};

		assert_int_equal(usual(state), 0);
		set("SHELL", cases[i].shell);
		set("ZDOTDIR", cases[i].zdotdir);
		set("XDG_CONFIG_HOME", cases[i].config);
		if (cases[i].there)
			root_put(cases[i].there, "");
		assert_string_equal(places_text(&request), cases[i].wanted);
	}
}

RUN_TESTS(root_make, root_remove)
