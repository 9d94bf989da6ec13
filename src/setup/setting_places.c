#include "setup/setting_places.h"

#include <string.h>

#include "base/arena.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

char *place_system_path(void *owner, const char *path)
{
	const char *root = arena_keep(owner, os_env("JITWARM_SYSTEM_ROOT"));

	return arena_printf(owner, "%s%s", root ? root : "", path);
}

static char *place_home_path(struct jw_error *err, void *owner, const char *rest)
{
	char *home;

	return os_home_dir(err, &home) ? NULL
								   : arena_keep(owner, os_join(arena_keep(owner, home), rest));
}

char *place_config_path(struct jw_error *err, void *owner, const char *rest)
{
	const char *base = arena_keep(owner, os_env("XDG_CONFIG_HOME"));

	if (!base || !os_is_absolute(base))
		base = place_home_path(err, owner, ".config");
	return base ? arena_keep(owner, os_join(base, rest)) : NULL;
}

/* Adds a place; -1 if its path is NULL. */
static int add_setting_place(struct setting_places *places, enum jw_scope scope, char *path,
							 enum place_form form, char *loader)
{
	if (!path)
		return -1;
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
static char *bash_login_profile(struct jw_error *err, void *owner)
{
	static const char *const names[] = {".bash_profile", ".bash_login"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = place_home_path(err, owner, names[i]);
		bool there;

		if (!path || os_check_exists(err, path, &there))
			return NULL;
		if (there)
			return path;
	}
	return place_home_path(err, owner, ".profile");
}

static char *zsh_path(struct jw_error *err, void *owner, const char *name)
{
	const char *folder = arena_keep(owner, os_env("ZDOTDIR"));

	return folder && *folder ? arena_keep(owner, os_join(folder, name))
							 : place_home_path(err, owner, name);
}

static char *profile_of(struct jw_error *err, void *owner, enum shell shell, bool login)
{
	if (shell == SHELL_ZSH)
		return zsh_path(err, owner, login ? ".zprofile" : ".zshenv");
	if (shell == SHELL_BASH && login)
		return bash_login_profile(err, owner);
	return place_home_path(err, owner, shell == SHELL_BASH ? ".bashrc" : ".profile");
}

/* Adds the places of a scope. Login shells load the file that systemd reads; fish loads files by
 * their folder, and has no profile for login shells. */
static int add_places(struct jw_error *err, enum jw_scope scope, enum shell shell,
					  struct setting_places *places)
{
	const bool login = scope == JW_SCOPE_USER;
	char *loader = NULL;

	if (scope == JW_SCOPE_SYSTEM)
		return add_setting_place(places, scope, place_system_path(places, "/etc/environment"),
								 PLACE_SHARED, NULL);
	if (shell != SHELL_FISH && !(loader = profile_of(err, places, shell, login)))
		return -1;
	if (login || shell != SHELL_FISH) {
		if (add_setting_place(
				places, scope,
				place_config_path(err, places,
								  login ? "environment.d/60-jitwarm.conf" : "jitwarm/shell.conf"),
				PLACE_LIST, loader))
			return -1;
	}
	return shell != SHELL_FISH
			   ? 0
			   : add_setting_place(places, scope,
								   place_config_path(err, places,
													 login ? "fish/conf.d/jitwarm-login.fish"
														   : "fish/conf.d/jitwarm.fish"),
								   login ? PLACE_FISH_LOGIN : PLACE_FISH, NULL);
}

int places_of(struct jw_error *err, enum jw_scope scope, struct setting_places **ret_places)
{
	struct setting_places *places;

	if (os_variables_kept() && scope == JW_SCOPE_SHELL)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "--scope %s: not available on Windows; use user or system",
						 jw_scope_name(scope));
	places = arena_open(sizeof *places);
	if (!os_variables_kept() && add_places(err, scope, shell_of_account(), places)) {
		jw_result_free(places);
		return -1;
	}
	*ret_places = places;
	return 0;
}

int places_of_all(struct jw_error *err, enum jw_scope scope, struct setting_places **ret_places)
{
	/* all three profiles of bash, since another one may exist now */
	static const char *const profiles[] = {".profile", ".bash_profile", ".bash_login"};
	struct setting_places *places;
	int result = 0;

	if (scope == JW_SCOPE_SYSTEM || os_variables_kept())
		return places_of(err, scope, ret_places);
	places = arena_open(sizeof *places);
	for (int shell = SHELL_BASH; !result && shell <= SHELL_OTHER; shell++)
		result = add_places(err, scope, (enum shell)shell, places);
	for (size_t i = 0; !result && i < sizeof profiles / sizeof *profiles; i++) {
		char *loader = place_home_path(err, places, profiles[i]);

		result = loader
					 ? add_setting_place(places, scope, places->items[0].path, PLACE_LIST, loader)
					 : -1;
	}
	if (result) {
		jw_result_free(places);
		return -1;
	}
	*ret_places = places;
	return 0;
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
	struct setting_places *places = NULL;
	bool can = !places_of(NULL, scope, &places);

	for (size_t i = 0; can && i < places->count; i++)
		can = can_write(places->items[i].path) && can_write(places->items[i].loader);
	jw_result_free(places);
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
