#include "setup/setting_places.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

char *place_system_path(const char *path)
{
	char *root = os_env("JITWARM_SYSTEM_ROOT"), *whole = mem_printf("%s%s", root ? root : "", path);

	mem_free(root);
	return whole;
}

char *place_home_path(struct jw_error *err, const char *rest)
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

/* Takes `path` over. */
static int add_setting_place(struct setting_places *places, char *path, enum place_form form)
{
	if (!path)
		return -1;
	places->items[places->count++] = (struct setting_place){path, form};
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
		const int result = path ? os_look(err, path, &there) : -1;

		if (!result && there)
			return path;
		mem_free(path);
		if (result)
			return NULL;
	}
	return place_home_path(err, ".profile");
}

char *place_zsh_path(struct jw_error *err, const char *name)
{
	char *folder = os_env("ZDOTDIR");
	char *path = folder && *folder ? os_join(folder, name) : place_home_path(err, name);

	mem_free(folder);
	return path;
}

static int add_shell(struct jw_error *err, bool login, struct setting_places *places)
{
	switch (shell_of_account()) {
	/* fish has no profile for login shells, and reads these two in this order. Each scope has its
	 * own file; otherwise reverting one scope would revert the other. */
	case SHELL_FISH:
		return login ? add_setting_place(places,
										 place_config_path(err, "fish/conf.d/jitwarm-login.fish"),
										 PLACE_FISH_LOGIN)
					 : add_setting_place(places, place_config_path(err, "fish/conf.d/jitwarm.fish"),
										 PLACE_FISH);
	case SHELL_ZSH:
		return add_setting_place(places, place_zsh_path(err, login ? ".zprofile" : ".zshenv"),
								 PLACE_SH);
	case SHELL_BASH:
		return add_setting_place(
			places, login ? bash_login_profile(err) : place_home_path(err, ".bashrc"), PLACE_SH);
	case SHELL_OTHER: break;
	}
	return add_setting_place(places, place_home_path(err, ".profile"), PLACE_SH);
}

int places_of(struct jw_error *err, const struct jw_tune_request *request,
			  struct setting_places *ret_places)
{
	struct setting_places places = {0};
	bool registry = os_variables_kept();
	int result = 0;

	if (registry && request->scope == JW_SCOPE_SHELL)
		return error_set(err, JW_ERR_UNSUPPORTED, "--scope %s: not on Windows; user or system",
						 jw_scope_name(request->scope));
	switch (request->scope) {
	case JW_SCOPE_USER:
		if (!registry)
			result =
				add_setting_place(&places, place_config_path(err, "environment.d/60-jitwarm.conf"),
								  PLACE_LIST) ||
				add_shell(err, true, &places);
		break;
	case JW_SCOPE_SYSTEM:
		if (!registry)
			result = add_setting_place(&places, place_system_path("/etc/environment"), PLACE_LIST);
		break;
	case JW_SCOPE_SHELL: result = add_shell(err, false, &places); break;
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
	for (size_t i = 0; i < places->count; i++)
		mem_free(places->items[i].path);
	*places = (struct setting_places){0};
}

bool jw_tune_can_apply(enum jw_scope scope)
{
	const struct jw_tune_request request = {.scope = scope};
	struct setting_places places = {0};
	bool can = !places_of(NULL, &request, &places);

	for (size_t i = 0; can && i < places.count; i++) {
		char *nearest = os_nearest(places.items[i].path);

		can = !os_may_write(NULL, nearest);
		mem_free(nearest);
	}
	places_free(&places);
	return can;
}

/* Users' own lines that win over what is written. */

/* Whether a place that --apply writes to has the setting above our block. */
static bool is_above_ours(const struct jw_settings *settings, const struct jw_setting *setting,
						  const struct setting_places *places)
{
	bool above = false;

	for (size_t i = 0; i < places->count; i++)
		above = above || !strcmp(places->items[i].path, setting->where);
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].ours && !strcmp(settings->items[i].where, setting->where) &&
			settings->items[i].line < setting->line)
			above = false;
	return above;
}

static bool is_switch(const char *name)
{
	static const char *const names[] = {"CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
										"CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT",
										"CUDA_DISABLE_JIT"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A shell's own variable may be anything. */
static bool may_be_on(const char *value)
{
	return cache_switch_is_on(value) || strpbrk(value, "$`");
}

static bool wins(const struct jw_settings *settings, const struct jw_setting *setting,
				 const struct jw_tune_request *request, const struct setting_places *places)
{
	uint64_t number;

	if (setting->ours)
		return false;
	if (is_switch(setting->name))
		return !setting->unset && may_be_on(setting->value);
	/* /etc/profile is read before the account's. */
	if (strcmp(setting->source, "shell profile") != 0 ||
		text_ends(setting->where, "/etc/profile") || is_above_ours(settings, setting, places))
		return false;
	if (!strcmp(setting->name, "CUDA_CACHE_MAXSIZE"))
		return request->limit_bytes &&
			   (setting->unset || !text_number(setting->value, UINT64_MAX, &number) ||
				number < request->limit_bytes);
	return !strcmp(setting->name, "CUDA_CACHE_PATH") && request->path &&
		   (setting->unset || strcmp(setting->value, request->path) != 0);
}

void jw_tune_overrides(const struct jw_settings *settings, const struct jw_tune_request *request,
					   bool *ret_wins)
{
	struct setting_places places = {0};
	struct jw_error why = {0};

	/* A scope that this system does not have, or no home: nothing is written there. */
	if (places_of(&why, request, &places))
		places = (struct setting_places){0};
	for (size_t i = 0; i < settings->count; i++)
		ret_wins[i] = wins(settings, &settings->items[i], request, &places);
	places_free(&places);
}

const struct jw_setting *jw_tune_pending(const struct jw_settings *settings, uint64_t limit_bytes)
{
	const struct jw_setting *last = NULL;
	bool less = false;
	uint64_t number;

	for (size_t i = 0; i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];
		const bool enough =
			text_number(setting->value, UINT64_MAX, &number) && number >= limit_bytes;

		if (strcmp(setting->name, "CUDA_CACHE_MAXSIZE") != 0)
			continue;
		if (!strcmp(setting->source, "process"))
			less = !enough;
		else if (strcmp(setting->source, "systemd unit") != 0)
			last = setting->ours && enough ? setting : NULL;
	}
	return less ? last : NULL;
}
