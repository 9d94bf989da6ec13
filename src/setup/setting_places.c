#include "setup/setting_places.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

char *place_system_path(const char *path)
{
	char *root = os_env("JITWARM_SYSTEM_ROOT"), *whole = mem_printf("%s%s", root ? root : "", path);

	mem_free(root);
	return whole;
}

static char *place_home_path(struct jw_error *err, const char *rest)
{
	char *home = NULL, *path;

	if (os_home_dir(err, &home))
		return NULL;
	path = os_join(home, rest);
	mem_free(home);
	return path;
}

char *place_config_path(struct jw_error *err, const char *rest)
{
	char *base = os_env("XDG_CONFIG_HOME"), *path;

	if (!base || !os_is_absolute(base)) {
		mem_free(base);
		base = place_home_path(err, ".config");
	}
	path = base ? os_join(base, rest) : NULL;
	mem_free(base);
	return path;
}

/* Adds a place and takes ownership of `path` and `loader`. */
static int add_setting_place(struct setting_places *places, enum jw_scope scope, char *path,
							 enum place_form form, char *loader)
{
	if (!path) {
		mem_free(loader);
		return -1;
	}
	places->items[places->count++] = (struct setting_place){path, form, scope, loader};
	return 0;
}

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELL_OTHER };

static enum shell shell_of_account(void)
{
	char *path = os_env("SHELL");
	const char *name = path ? os_base_name(path) : "";
	const enum shell shell = !strcmp(name, "bash")   ? SHELL_BASH
							 : !strcmp(name, "zsh")  ? SHELL_ZSH
							 : !strcmp(name, "fish") ? SHELL_FISH
													 : SHELL_OTHER;

	mem_free(path);
	return shell;
}

/* bash reads the first of these that exists. Source: bash(1), INVOCATION. */
static char *bash_login_profile(struct jw_error *err)
{
	static const char *const names[] = {".bash_profile", ".bash_login"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = place_home_path(err, names[i]);
		bool there = false;
		const int result = path ? os_check_exists(err, path, &there) : -1;

		if (!result && there)
			return path;
		mem_free(path);
		if (result)
			return NULL;
	}
	return place_home_path(err, ".profile");
}

static char *zsh_path(struct jw_error *err, const char *name)
{
	char *folder = os_env("ZDOTDIR");
	char *path = folder && *folder ? os_join(folder, name) : place_home_path(err, name);

	mem_free(folder);
	return path;
}

static char *profile_of(struct jw_error *err, enum shell shell, bool login)
{
	switch (shell) {
	case SHELL_ZSH: return zsh_path(err, login ? ".zprofile" : ".zshenv");
	case SHELL_BASH: return login ? bash_login_profile(err) : place_home_path(err, ".bashrc");
	case SHELL_FISH:
	case SHELL_OTHER: break;
	}
	return place_home_path(err, ".profile");
}

/* Adds the places of a scope. Login shells load the file that systemd reads; fish loads files by
 * their folder, and has no profile for login shells. */
static int add_places(struct jw_error *err, enum jw_scope scope, enum shell shell,
					  struct setting_places *places)
{
	const bool login = scope == JW_SCOPE_USER;
	char *loader = NULL;

	if (scope == JW_SCOPE_SYSTEM)
		return add_setting_place(places, scope, place_system_path("/etc/environment"), PLACE_SHARED,
								 NULL);
	if (shell != SHELL_FISH && !(loader = profile_of(err, shell, login)))
		return -1;
	if (login || shell != SHELL_FISH) {
		if (add_setting_place(places, scope,
							  place_config_path(err, login ? "environment.d/60-jitwarm.conf"
														   : "jitwarm/shell.conf"),
							  PLACE_LIST, loader))
			return -1;
	}
	return shell != SHELL_FISH
			   ? 0
			   : add_setting_place(places, scope,
								   place_config_path(err, login ? "fish/conf.d/jitwarm-login.fish"
																: "fish/conf.d/jitwarm.fish"),
								   login ? PLACE_FISH_LOGIN : PLACE_FISH, NULL);
}

int places_of(struct jw_error *err, enum jw_scope scope, struct setting_places *ret_places)
{
	struct setting_places places = {0};

	if (os_variables_kept()) {
		if (scope == JW_SCOPE_SHELL)
			return error_set(err, JW_ERR_UNSUPPORTED,
							 "--scope %s: not available on Windows; use user or system",
							 jw_scope_name(scope));
	} else if (add_places(err, scope, shell_of_account(), &places)) {
		places_free(&places);
		return -1;
	}
	*ret_places = places;
	return 0;
}

int places_of_all(struct jw_error *err, enum jw_scope scope, struct setting_places *ret_places)
{
	/* all three profiles of bash, since another one may exist now */
	static const char *const profiles[] = {".profile", ".bash_profile", ".bash_login"};
	struct setting_places places = {0};
	int result = 0;

	if (scope == JW_SCOPE_SYSTEM || os_variables_kept())
		return places_of(err, scope, ret_places);
	for (int shell = SHELL_BASH; !result && shell <= SHELL_OTHER; shell++)
		result = add_places(err, scope, (enum shell)shell, &places);
	for (size_t i = 0; !result && i < sizeof profiles / sizeof *profiles; i++) {
		char *loader = place_home_path(err, profiles[i]);

		result = loader ? add_setting_place(&places, scope, mem_string(places.items[0].path),
											PLACE_LIST, loader)
						: -1;
	}
	if (result) {
		places_free(&places);
		return -1;
	}
	*ret_places = places;
	return 0;
}

void places_free(struct setting_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		mem_free(places->items[i].path);
		mem_free(places->items[i].loader);
	}
	*places = (struct setting_places){0};
}

static bool can_write(const char *path)
{
	char *nearest = path ? os_nearest(path) : NULL;
	const bool can = !nearest || !os_may_write(NULL, nearest);

	mem_free(nearest);
	return can;
}

bool jw_tune_can_apply(enum jw_scope scope)
{
	struct setting_places places = {0};
	bool can = !places_of(NULL, scope, &places);

	for (size_t i = 0; can && i < places.count; i++)
		can = can_write(places.items[i].path) && can_write(places.items[i].loader);
	places_free(&places);
	return can;
}

/* Returns the files that the account's shell reads at a login. */
static const char *profiles_of(enum shell shell)
{
	switch (shell) {
	case SHELL_BASH: return "/etc/bash.bashrc ~/.bash_profile ~/.bash_login ~/.profile ~/.bashrc";
	case SHELL_ZSH: return "/etc/zsh ~/.zshenv ~/.zprofile ~/.zshrc ~/.zlogin";
	case SHELL_FISH: return "/etc/fish ~/.config/fish";
	case SHELL_OTHER: break;
	}
	return "~/.profile";
}

char *jw_tune_grep(const char *name)
{
	if (os_variables_kept())
		return mem_printf("reg query HKCU\\Environment /v %s", name);
	return mem_printf("grep -rns %s /etc/environment /etc/profile /etc/profile.d "
					  "~/.config/environment.d %s",
					  name, profiles_of(shell_of_account()));
}

const char *jw_scope_name(enum jw_scope scope)
{
	static const char *const names[JW_SCOPES] = {
		[JW_SCOPE_USER] = "user",
		[JW_SCOPE_SYSTEM] = "system",
		[JW_SCOPE_SHELL] = "shell",
	};

	return names[scope];
}
