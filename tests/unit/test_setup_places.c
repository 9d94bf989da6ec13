/* Each scope's settings go to the files that the account's shell reads. */
#include "root.h"

#include <stdio.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "setup/setting_places.h"

/* Sets a variable; NULL unsets it. A value that begins with "./" is inside the test's folder. */
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

/* Returns "form path < loader" for each place, below the test's folder. */
static char *places_text(enum jw_scope scope, bool all)
{
	static char text[4096];
	struct setting_places *places = NULL;

	text[0] = '\0';
	if (all)
		OK(places_of_all(why, scope, &places));
	else
		OK(places_of(why, scope, &places));
	for (size_t i = 0; i < places->count; i++) {
		const struct setting_place *place = &places->items[i];
		const char *inner = strstr(place->path, root),
				   *loader = place->loader ? strstr(place->loader, root) : NULL;

		assert_int_equal(place->scope, scope);
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%d %s%s%s\n",
					   (int)place->form, inner ? inner + strlen(root) : place->path,
					   loader ? " < " : "", loader ? loader + strlen(root) : "");
	}
	jw_result_free(places);
	return text;
}

#define SHELL_FILE(loader) "0 /home/.config/jitwarm/shell.conf < " loader "\n"
#define USER_FILE(loader)  "0 /home/.config/environment.d/60-jitwarm.conf < " loader "\n"

TEST_WITH(each_shell_has_its_files, usual, NULL)
{
	static const struct {
		const char *shell, *zdotdir, *config, *there;
		enum jw_scope scope;
		const char *wanted;
	} cases[] = {
		{NULL, NULL, NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/home/.profile")},
		{"/bin/dash", NULL, NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/home/.profile")},
		{"/bin/dash", NULL, NULL, NULL, JW_SCOPE_USER, USER_FILE("/home/.profile")},
		{"/bin/bash", NULL, NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/home/.bashrc")},
		{"/bin/bash", NULL, NULL, NULL, JW_SCOPE_USER, USER_FILE("/home/.profile")},
		{"bash", NULL, "./conf", "home/.bash_login", JW_SCOPE_USER,
		 "0 /conf/environment.d/60-jitwarm.conf < /home/.bash_login\n"},
		{"bash", NULL, "conf", "home/.bash_profile", JW_SCOPE_USER,
		 USER_FILE("/home/.bash_profile")},
		{"zsh", NULL, NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/home/.zshenv")},
		{"zsh", "", NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/home/.zshenv")},
		{"zsh", "./z", NULL, NULL, JW_SCOPE_SHELL, SHELL_FILE("/z/.zshenv")},
		{"zsh", NULL, NULL, NULL, JW_SCOPE_USER, USER_FILE("/home/.zprofile")},
		{"/usr/bin/fish", NULL, NULL, NULL, JW_SCOPE_SHELL,
		 "1 /home/.config/fish/conf.d/jitwarm.fish\n"},
		{"fish", NULL, NULL, NULL, JW_SCOPE_USER,
		 "0 /home/.config/environment.d/60-jitwarm.conf\n"
		 "2 /home/.config/fish/conf.d/jitwarm-login.fish\n"},
		{"fish", NULL, NULL, NULL, JW_SCOPE_SYSTEM, "3 /etc/environment\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(usual(state), 0);
		set("SHELL", cases[i].shell);
		set("ZDOTDIR", cases[i].zdotdir);
		set("XDG_CONFIG_HOME", cases[i].config);
		if (cases[i].there)
			root_put(cases[i].there, "");
		assert_string_equal(places_text(cases[i].scope, false), cases[i].wanted);
	}
}

/* Undoing searches each place to which any shell's lines would have been written. */
TEST_WITH(all_shells_have_these, usual, NULL)
{
	set("SHELL", "/bin/dash");
	assert_string_equal(
		places_text(JW_SCOPE_USER, true),
		USER_FILE("/home/.profile") USER_FILE(
			"/home/.zprofile") "0 /home/.config/environment.d/60-jitwarm.conf\n"
							   "2 /home/.config/fish/conf.d/jitwarm-login.fish\n" USER_FILE(
								   "/home/.profile") USER_FILE("/home/.profile")
								   USER_FILE("/home/.bash_profile") USER_FILE("/home/.bash_login"));
	assert_string_equal(places_text(JW_SCOPE_SYSTEM, true), "3 /etc/environment\n");
}

RUN_TESTS(root_make, root_remove)
