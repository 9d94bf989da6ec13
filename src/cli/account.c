/* The account that this process works for, decided once, before any file of an account is read.
 * Whoever owns the way to a place could lead root elsewhere: root becomes that account for good. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/account.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/shell.h"

enum { MOST_PLACES = 32, OWNER_NAME = 64 };

struct place {
	char name[40]; /* what names it: "--cache", "HOME" */
	char *path;
	bool own; /* root's HOME, which nobody has named: it gives way to another account's */
	struct os_way way;
};

struct places {
	struct place items[MOST_PLACES];
	size_t count;
};

/* Takes `path` over; NULL or "": there is none. */
static int add_place(struct jw_error *err, struct places *places, const char *name, char *path)
{
	struct place *place = &places->items[places->count];

	if (!path || !*path || places->count == MOST_PLACES) {
		mem_free(path);
		return 0;
	}
	*place = (struct place){.path = path};
	(void)snprintf(place->name, sizeof place->name, "%s%s", *name >= 'a' ? "--" : "", name);
	places->count++;
	return os_find_way(err, path, &place->way);
}

/* What is done for others, or as another, is root's. */
static bool is_for_others(const struct options *options)
{
	static const char *const names[] = {"all-users", "service", "user", "pid"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (options_has(options, names[i]) && options_given(options, names[i]))
			return true;
	return options_has(options, "scope") && options_given(options, "scope") &&
		   !strcmp(options_value(options, "scope"), "system");
}

/* Where sudo -E kept the caller's: for others, root's own count. */
static int take_own_home(struct jw_error *err)
{
	static const char *const names[] = {"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"};
	struct jw_account root = {0};
	int result = 0;

	(void)os_find_account(NULL, NULL, 0, &root);
	for (size_t i = 0; !result && i < sizeof names / sizeof *names; i++) {
		char *path = os_env(names[i]);
		struct os_way way;

		if (path && (os_find_way(NULL, path, &way) || way.owner))
			result = os_env_set(err, names[i], i ? NULL : root.home);
		mem_free(path);
	}
	os_found_free(&root);
	return result;
}

/* All that jitwarm keeps and writes something in. For others it is the state directory alone. */
static int find_places(struct jw_error *err, const struct options *options, bool for_others,
					   struct places *places)
{
	static const char *const variables[] = {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"};
	static const enum option_names written[] = {NAMES_FOLDER, NAMES_OUTPUT, NAMES_LOG,
												NAMES_OUTPUT_OR_FOLDER};
	const struct cli_option *option;
	char *home = NULL;

	if (!os_home_dir(NULL, &home) && add_place(err, places, "HOME", home))
		return -1;
	if (places->count)
		places->items[0].own = !places->items[0].way.owner;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (add_place(err, places, variables[i], os_env(variables[i])))
			return -1;
	if (add_place(err, places, "JITWARM_STATE", os_env("JITWARM_STATE")))
		return -1;
	if (for_others)
		return 0;
	if ((!options_has(options, "cache") || !options_given(options, "cache")) &&
		add_place(err, places, "CUDA_CACHE_PATH", os_env("CUDA_CACHE_PATH")))
		return -1;
	for (option = options->table; option && option->name; option++)
		for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
			const char *value = option->names == written[i] && !option->title
									? options_value(options, option->name)
									: NULL;

			/* Without -o it is a file of this folder. */
			if (!value && option->names == written[i] && !strcmp(option->name, "output"))
				value = ".";
			if (value && add_place(err, places, option->name, mem_string(value)))
				return -1;
		}
	return 0;
}

/* Root's own cache and state: others may write to them (a volume of a container), and put links
 * there. */
static int refuse_links(struct jw_error *err, const struct options *options)
{
	const bool named = options_has(options, "cache") && options_given(options, "cache");
	char *places[2] = {named ? mem_string(options_value(options, "cache"))
							 : os_env("CUDA_CACHE_PATH")};
	int result = 0;

	if (!places[0] || !*places[0]) {
		mem_free(places[0]);
		places[0] = NULL;
		(void)os_driver_cache_dir(NULL, NULL, &places[0]);
	}
	(void)os_state_dir(NULL, &places[1]);
	for (size_t i = 0; i < 2; i++) {
		char *path = places[i], *here = NULL;

		if (path && *path && !os_is_absolute(path)) {
			if (os_real_path(err, ".", &here))
				result = -1;
			else
				path = os_join(here, path);
		}
		if (!result && path && *path)
			os_follow_none_below(path, false);
		if (path != places[i])
			mem_free(path);
		mem_free(places[i]);
		mem_free(here);
	}
	return result;
}

static const char *owner_name(char text[OWNER_NAME], uint32_t owner)
{
	struct jw_account account = {0};

	if (!owner)
		return "root";
	if (os_find_account(NULL, NULL, owner, &account))
		(void)snprintf(text, OWNER_NAME, "#%lu", (unsigned long)owner);
	else
		text_copy(text, OWNER_NAME, account.name);
	os_found_free(&account);
	return text;
}

/* Names how the command is had that one of them means. */
static int refuse_two(struct jw_error *err, struct cli *cli, const struct place *one,
					  const struct place *other, int argc, char **argv)
{
	char names[2][OWNER_NAME];
	const char *const first = owner_name(names[0], one->way.owner);
	struct buf line = BUF_MAX(1 << 20);

	shell_add_words(&line, (const char *const[]){"sudo", "-u", first, "jitwarm"}, 4);
	if (cli->command)
		buf_say(&line, " %s", cli->command->name);
	shell_add_words(&line, (const char *const *)argv, (size_t)argc);
	cli->failure = EXIT_CANNOT;
	error_set(err, JW_ERR_UNSUPPORTED,
			  "%s=%.200s belongs to %s, and %s=%.200s to %s; jitwarm works for one account: %.200s",
			  one->name, one->path, first, other->name, other->path,
			  owner_name(names[1], other->way.owner), line.size ? buf_text(&line) + 1 : "");
	buf_free(&line);
	return -1;
}

static int become(struct jw_error *err, const struct cli *cli, const struct place *place,
				  bool keeps_home)
{
	char name[OWNER_NAME];

	(void)owner_name(name, place->way.owner);
	if (os_become_owner(err, &place->way, keeps_home))
		return error_prefix(err, "%s", place->path);
	output_note(&cli->out, "%s=%s belongs to %s: working as that account, without root's rights",
				place->name, place->path, name);
	return 0;
}

int account_decide(struct jw_error *err, struct cli *cli, int argc, char **argv)
{
	struct places places = {0};
	const struct place *foreign = NULL, *other = NULL;
	struct options options = {0};
	struct jw_error wrong;
	bool for_others;
	int result;

	/* A worker has its supervisor's. */
	if (!os_is_superuser() || (cli->command && !strcmp(cli->command->name, "worker")))
		return 0;
	/* What is wrong with the command line is said later. */
	if (cli->command && (cli->command->takes_command ? options_read_command : options_read)(
							&wrong, cli->command->options, argc, argv, &options))
		options = (struct options){0};
	/* Help needs none of them. */
	if (options_given(&options, "help"))
		options_free(&options);
	for_others = is_for_others(&options);
	result = for_others ? take_own_home(err) : 0;
	if (!result)
		result = find_places(err, &options, for_others, &places);
	for (size_t i = 0; i < places.count; i++)
		if (places.items[i].way.owner && !foreign)
			foreign = &places.items[i];
	for (size_t i = 0; foreign && i < places.count; i++)
		if (places.items[i].way.owner != foreign->way.owner && !places.items[i].way.shared &&
			(!places.items[i].own || for_others))
			other = &places.items[i];
	if (!result && other)
		result = refuse_two(err, cli, foreign, other, argc, argv);
	else if (!result && foreign)
		result = become(err, cli, foreign, places.items[0].way.owner == foreign->way.owner);
	else if (!result)
		result = refuse_links(err, &options);
	for (size_t i = 0; i < places.count; i++)
		mem_free(places.items[i].path);
	options_free(&options);
	return result;
}
