#include "cli/root_places.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/process.h"
#include "os/shell.h"

enum place_use {
	PLACE_STATE,  /* every command writes there; those that only read continue without it */
	PLACE_CACHE,  /* commands that do not only read write there */
	PLACE_SETUP,  /* of those commands, the ones that set up logins and units write there */
	PLACE_FILE,   /* a file that is written, or a folder for such files */
	PLACE_STARTS, /* programs or libraries are loaded from there */
	PLACE_PYTHON, /* commands that start Python load programs from there */
	PLACE_READ    /* only read; a program is checked when it is started */
};

/* All variables and options that name a place. tests/attack/cases/table.sh compares the rows with
 * the manual page and with the options of all commands. */
static const struct place_row {
	const char *name;
	enum place_use use;
	const char *below;  /* the path below it that counts */
	const char *unless; /* counts only if this variable is not set */
} rows[] = {
	{"HOME", PLACE_STATE, "", ""},
	{"HOME", PLACE_CACHE, ".nv/ComputeCache", "CUDA_CACHE_PATH"},
	{"HOME", PLACE_STATE, ".local/state/jitwarm", "XDG_STATE_HOME"},
	{"HOME", PLACE_STATE, ".config/jitwarm/config", "XDG_CONFIG_HOME"},
	{"HOME", PLACE_STATE, ".config/environment.d", "XDG_CONFIG_HOME"},
	{"HOME", PLACE_STATE, ".cache/jitwarm/ptxas", "XDG_CACHE_HOME"},
	{"HOME", PLACE_SETUP, ".config/systemd/user", "XDG_CONFIG_HOME"},
	{"HOME", PLACE_SETUP, ".config/fish/conf.d", "XDG_CONFIG_HOME"},
	{"HOME", PLACE_PYTHON, ".local/lib", "PYTHONUSERBASE"},
	{"HOME", PLACE_PYTHON, ".config/pip/pip.conf", ""},
	{"HOME", PLACE_PYTHON, ".pip/pip.conf", ""},
	{"CUDA_CACHE_PATH", PLACE_CACHE, "", ""},
	{"JITWARM_STATE", PLACE_STATE, "", ""},
	{"JITWARM_PTXAS", PLACE_STATE, "", ""},
	{"JITWARM_TRUSTED_KEYS", PLACE_STATE, "", ""},
	{"XDG_STATE_HOME", PLACE_STATE, "jitwarm", ""},
	{"XDG_CONFIG_HOME", PLACE_STATE, "jitwarm/config", ""},
	{"XDG_CONFIG_HOME", PLACE_STATE, "environment.d", ""},
	{"XDG_CONFIG_HOME", PLACE_SETUP, "systemd/user", ""},
	{"XDG_CONFIG_HOME", PLACE_SETUP, "fish/conf.d", ""},
	{"JITWARM_SYSTEM_ROOT", PLACE_STATE, "", ""}, /* only for tests (docs/files.md) */
	{"XDG_CACHE_HOME", PLACE_STATE, "jitwarm/ptxas", ""},
	{"ZDOTDIR", PLACE_STATE, "", ""},
	{"TMPDIR", PLACE_STATE, "", ""},
	{"PYTHONPATH", PLACE_PYTHON, "", ""},
	{"PYTHONUSERBASE", PLACE_PYTHON, "", ""},
	{"PYTHONHOME", PLACE_PYTHON, "", ""},
	{"PATH", PLACE_READ, "", ""},
	{"PYENV_ROOT", PLACE_READ, "", ""},
	{"CUDA_HOME", PLACE_READ, "", ""},
	{"CUDA_PATH", PLACE_READ, "", ""},
	{"LD_LIBRARY_PATH", PLACE_READ, "", ""},
	{"VIRTUAL_ENV", PLACE_READ, "", ""},
	{"CONDA_PREFIX", PLACE_READ, "", ""},
	{"--all-caches", PLACE_READ, "", ""}, /* only printed */
	{"--cache", PLACE_CACHE, "", ""},
	{"--path", PLACE_CACHE, "", ""}, /* the driver's cache from now on */
	{"--output", PLACE_FILE, "", ""},
	{"--json-log", PLACE_FILE, "", ""},
	{"--record", PLACE_FILE, "", ""},
	{"--driver-profile", PLACE_FILE, "", ""},
	{"--ptxas", PLACE_STARTS, "", ""},
	{"--nvrtc", PLACE_STARTS, "", ""},
	{"--nvjitlink", PLACE_STARTS, "", ""},
	{"--driver", PLACE_READ, "", ""},
	{"--environment", PLACE_READ, "", ""},
	{"--key", PLACE_READ, "", ""},
	{"--recording", PLACE_READ, "", ""},
	{"--requirements", PLACE_READ, "", ""},
	{"--store", PLACE_READ, "", ""},
};

struct refusal {
	const struct place_row *row;
	char *given; /* the value that names the place */
	struct os_stranger stranger;
	bool everyones; /* the place is a folder such as /tmp */
};

/* Returns the value of a variable or an option; NULL if there is none. The caller frees it. */
static char *value_of(const struct cli *cli, const struct place_row *row)
{
	const struct options *options = &cli->options;
	char *value = NULL;

	if (!strcmp(row->name, "HOME")) {
		(void)os_home_dir(NULL, &value);
	} else if (!strcmp(row->name, "JITWARM_PTXAS") || !strcmp(row->name, "JITWARM_TRUSTED_KEYS")) {
		const bool keys = !strcmp(row->name, "JITWARM_TRUSTED_KEYS");
		const struct config_value *setting =
			config_find(&cli->config, keys ? "trusted-keys" : "compilers");

		value = setting ? mem_string(setting->value) : NULL;
	} else if (*row->name != '-') {
		value = os_env(row->name);
	} else if (options_has(options, row->name + 2) && !options_is_flag(options, row->name + 2)) {
		const char *given = options_value(options, row->name + 2);

		/* Without -o the output is a file in this folder. */
		if (!given && !strcmp(row->name, "--output"))
			given = ".";
		value = given ? mem_string(given) : NULL;
	}
	if (value && !*value) {
		mem_free(value);
		value = NULL;
	}
	return value;
}

/* Returns whether the command, with its options, changes only jitwarm's state and its outputs. */
static bool only_reads(const struct cli *cli)
{
	static const char *const writing[] = {"apply", "undo", "repair", "unset"};
	const struct options *options = &cli->options;

	if (options_has_given(options, "dry-run"))
		return true;
	for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
		if (options_has_given(options, writing[i]))
			return false;
	return cli->command->reads && (!cli->command->sets_values || options->operand_count < 2);
}

/* Returns whether the command starts pip, whose settings and modules come from HOME. */
static bool starts_python(const struct cli *cli)
{
	static const char *const starting[] = {"index", "requirements", "ask", "fetch"};

	for (size_t i = 0; i < sizeof starting / sizeof *starting; i++)
		if (options_has_given(&cli->options, starting[i]))
			return true;
	return !strcmp(cli->command->name, "compiler fetch");
}

/* Returns whether the command changes what an account's logins start or set. */
static bool sets_up(const struct cli *cli)
{
	const char *name = cli->command->name;

	return !strcmp(name, "tune") || !strcmp(name, "uninstall") || text_starts(name, "startup ");
}

/* Returns whether the command works for other accounts, so that root has to run it. */
static bool is_for_others(const struct options *options)
{
	return options_has_given(options, "all-users") || options_has_given(options, "service") ||
		   (options_has_given(options, "scope") &&
			!strcmp(options_value(options, "scope"), "system"));
}

/* Returns whether the command only removes settings, whatever they name. */
static bool removes_settings(const struct cli *cli)
{
	return options_has_given(&cli->options, "undo") || options_has_given(&cli->options, "unset");
}

/* Returns whether a setting names the place, not the folder in which settings are written. */
static bool is_setting(const struct place_row *row)
{
	return row->use == PLACE_CACHE || !strcmp(row->name, "JITWARM_PTXAS") ||
		   !strcmp(row->name, "JITWARM_TRUSTED_KEYS");
}

static bool counts(const struct cli *cli, const struct place_row *row)
{
	char *instead = *row->unless ? os_env(row->unless) : NULL;
	/* A relative path in XDG_CONFIG_HOME and the like does not count. */
	const bool replaced =
		(instead && *instead && (os_is_absolute(instead) || !text_starts(row->unless, "XDG_"))) ||
		(options_has_given(&cli->options, "cache") &&
		 (!strcmp(row->unless, "CUDA_CACHE_PATH") || !strcmp(row->name, "CUDA_CACHE_PATH")));

	mem_free(instead);
	/* A cache for all accounts belongs to all of them. */
	if (!strcmp(row->name, "--path") && is_for_others(&cli->options))
		return false;
	return !replaced && !(removes_settings(cli) && is_setting(row)) && row->use != PLACE_READ &&
		   (row->use != PLACE_CACHE || !only_reads(cli)) &&
		   (row->use != PLACE_SETUP || (sets_up(cli) && !only_reads(cli))) &&
		   (row->use != PLACE_PYTHON || starts_python(cli));
}

/* Returns whether jitwarm writes whole folders there, whose names are known: root makes them in no
 * folder for everyone, since another account may have made them before. “make” may fill a cache;
 * the folders that “bake” makes hold nothing that jitwarm reads. */
static bool is_tree(const struct cli *cli, const struct place_row *row, const char *path)
{
	if (row->use == PLACE_FILE)
		return !strcmp(cli->command->name, "make") &&
			   options_fill_folder(&cli->options, row->name + 2, path);
	return row->use == PLACE_CACHE || row->use == PLACE_SETUP ||
		   (row->use == PLACE_STATE && (*row->below || text_starts(row->name, "JITWARM_")));
}

/* Returns whether root must stay out of a place. A new name in a folder for everyone becomes root's
 * before another account can take it: a folder, also that of an output, is made at once. */
static bool is_refused(const struct cli *cli, const struct place_row *row, const char *path,
					   struct refusal *refusal)
{
	struct os_stranger *stranger = &refusal->stranger;
	const bool named = *row->name == '-', output = row->use == PLACE_FILE,
			   tree = is_tree(cli, row, path);
	char *folder;

	if (os_find_stranger_before(path, stranger))
		return true;
	if (output && options_has_given(&cli->options, "dry-run"))
		return false;
	if (!stranger->missing && stranger->open && tree) {
		text_copy(stranger->part, sizeof stranger->part, path);
		return refusal->everyones = true;
	}
	if (!stranger->missing || !stranger->open)
		return false;
	if (!output && row->use != PLACE_STATE && !tree)
		return true;
	folder = output ? options_output_folder(&cli->options, row->name + 2, path) : mem_string(path);
	if (!os_find_stranger_before(folder, stranger) && stranger->missing)
		(void)os_make_dirs(NULL, stranger->part, named ? 0755 : 0700);
	/* An account that took the name from root, and gave it back, can take it again. */
	refusal->everyones =
		!os_find_stranger_before(folder, stranger) && stranger->missing && stranger->open;
	mem_free(folder);
	return refusal->everyones || os_find_stranger_before(path, stranger);
}

/* Finds the first place of that row that is refused; some variables name several. */
static bool find_refusal(const struct cli *cli, const struct place_row *row,
						 struct refusal *ret_refusal)
{
	char *value = counts(cli, row) ? value_of(cli, row) : NULL;
	bool found = false;

	for (char *at = value, *next; at && !found; at = next) {
		char *path;

		next = row->use == PLACE_PYTHON ? strchr(at, ':') : NULL;
		if (next)
			*next++ = '\0';
		path = *row->below ? os_join(at, row->below) : mem_string(*at ? at : ".");
		*ret_refusal = (struct refusal){.row = row};
		found = is_refused(cli, row, path, ret_refusal);
		if (found)
			ret_refusal->given = mem_string(at);
		mem_free(path);
	}
	mem_free(value);
	return found;
}

/* ---- the line to type */

/* The most characters that fit into a message. */
enum { MAX_LINE = 520 };

static void add_command(struct buf *line, const struct cli *cli)
{
	struct buf words = BUF_MAX(1 << 20);

	buf_add(line, " jitwarm %s", cli->command->name);
	shell_add_words(&words, (const char *const *)cli->argv, (size_t)cli->argc);
	buf_add(line, "%s", line->size + words.size > MAX_LINE ? " …" : buf_text(&words));
	buf_free(&words);
}

/* The variables that say which driver, GPUs and packages the command is about. */
static const char *const kept_variables[] = {"LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
											 "CUDA_VISIBLE_DEVICES"};

/* Appends the variables that the account's process gets: the refused ones, and kept_variables. */
static void add_variables(struct buf *line)
{
	for (size_t i = 0; i < sizeof kept_variables / sizeof *kept_variables; i++) {
		char *value = os_env(kept_variables[i]);

		if (value && *value)
			buf_add(line, " %s=\"$%s\"", kept_variables[i], kept_variables[i]);
		mem_free(value);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct place_row *row = &rows[i];
		char *value =
			*row->name == '-' || row->use == PLACE_READ || *row->below || !strcmp(row->name, "HOME")
				? NULL
				: os_env(row->name);
		struct os_stranger stranger;

		if (value && os_find_stranger_before(value, &stranger)) {
			char *pair = mem_printf("%s=%s", row->name, value);

			shell_add_word(line, pair);
			mem_free(pair);
		}
		mem_free(value);
	}
}

static bool has_program(const char *name)
{
	char *path = os_program_on_path(name);
	const bool has = path;

	mem_free(path);
	return has;
}

static bool is_closed(const char *folder, uint32_t account)
{
	char *real = NULL;
	const bool closed = os_real_path(NULL, folder, &real) || !os_may_enter(account, real);

	mem_free(real);
	return closed;
}

/* Appends the line for the account with that number; `home` is NULL for the account's own, `group`
 * as well. */
static void add_line(struct buf *line, const struct cli *cli, const struct os_stranger *stranger,
					 const char *home, const uint32_t *group)
{
	struct jw_account account = {0};
	char *pair;
	/* The account's process, which keeps the current folder open, would give the account what lies
	 * below. */
	const bool leaves = is_closed(".", stranger->owner);
	bool logs_in, needs_pipes = false;

	if (os_find_account(NULL, NULL, stranger->owner, &account))
		account = (struct jw_account){.home = mem_string(stranger->part),
									  .owner = stranger->owner,
									  .group = stranger->group ? stranger->group : stranger->owner};
	logs_in = account.name && (!group || *group == account.group);
	pair = mem_printf("HOME=%s", home ? home : account.home);
	if (leaves)
		buf_add(line, " (cd / &&");
	if (logs_in && has_program("sudo")) {
		shell_add_words(line, (const char *const[]){"sudo", "-u", account.name}, 3);
	} else {
		/* Root's environment stays with root; sudo removes it. */
		buf_add(line, " env -i PATH=\"$PATH\" TERM=\"$TERM\" LANG=\"$LANG\"");
		/* The account cannot type into root's terminal (TIOCSTI): it has another one, or none. */
		needs_pipes = !logs_in || !has_program("runuser");
		if (!needs_pipes)
			shell_add_words(line,
							(const char *const[]){"runuser", "--pty", "-u", account.name, "--"}, 5);
		else
			buf_add(line, " setsid -w setpriv --reuid=%lu --regid=%lu %s",
					(unsigned long)account.owner, (unsigned long)(group ? *group : account.group),
					account.name ? "--init-groups" : "--clear-groups");
	}
	buf_add(line, " env");
	shell_add_word(line, pair);
	add_variables(line);
	add_command(line, cli);
	/* The account can take a process's descriptors, and with a terminal's read what root types. */
	if (needs_pipes)
		buf_add(line, " </dev/null 2>&1 | cat");
	if (leaves)
		buf_add(line, ")");
	mem_free(pair);
	os_found_free(&account);
}

/* Writes "HOME=/home/ann belongs to ann" or "--output=ann/x: /home/ann belongs to ann". */
static const char *what_is_wrong(char text[2 * OS_STRANGER_TEXT], const struct refusal *refusal)
{
	char why[OS_STRANGER_TEXT], given[OS_STRANGER_TEXT];
	const bool whole = refusal->stranger.owner && !strcmp(refusal->stranger.part, refusal->given);

	(void)os_stranger_text(why, &refusal->stranger);
	(void)text_format(text, 2 * OS_STRANGER_TEXT, whole ? "%s=%.0s%s" : "%s=%.300s: %s",
					  refusal->row->name, text_unquoted(given, sizeof given, refusal->given), why);
	return text;
}

/* Returns whether the command writes an output into a folder in which only root can write: another
 * account cannot run it. */
static bool writes_for_root(const struct cli *cli)
{
	bool found = false;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !found; i++) {
		char *value = rows[i].use == PLACE_FILE ? value_of(cli, &rows[i]) : NULL;
		char *folder = value ? options_output_folder(&cli->options, rows[i].name + 2, value) : NULL;
		struct os_stranger stranger;

		found = folder && !os_find_stranger_before(folder, &stranger) && !stranger.open;
		mem_free(folder);
		mem_free(value);
	}
	return found;
}

/* Appends the line that root types: with root's HOME, and without the variables that are refused.
 */
static void add_roots_line(struct buf *line, const struct cli *cli)
{
	struct jw_account root = {0};
	const char *last = "HOME";

	(void)os_find_account(NULL, NULL, 0, &root);
	buf_add(line, " env");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct refusal refusal;

		if (*rows[i].name == '-' || !strcmp(rows[i].name, last) ||
			!find_refusal(cli, &rows[i], &refusal))
			continue;
		last = rows[i].name;
		shell_add_words(line, (const char *const[]){"-u", last}, 2);
		mem_free(refusal.given);
	}
	buf_add(line, " HOME=%s", root.home ? root.home : "/");
	add_command(line, cli);
	os_found_free(&root);
}

static int refuse(struct jw_error *err, struct cli *cli, const struct refusal *refusal)
{
	const struct os_stranger *stranger = &refusal->stranger;
	const bool home = !strcmp(refusal->row->name, "HOME"), named = *refusal->row->name == '-',
			   for_root = refusal->everyones || is_for_others(&cli->options) ||
						  (stranger->owner && writes_for_root(cli));
	char text[2 * OS_STRANGER_TEXT], account[16] = "'*'";
	struct buf line = BUF_MAX(1 << 20);

	if (stranger->owner)
		(void)snprintf(account, sizeof account, "%lu", (unsigned long)stranger->owner);
	cli->failure = EXIT_CANNOT;
	/* A folder such as /tmp stays open to all. */
	if (stranger->unknown || (refusal->everyones && named))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%.300s; root changes nothing there: name another file or folder",
						 what_is_wrong(text, refusal));
	/* The account cannot use a folder in root's closed HOME itself: a container's volume. */
	if (home && stranger->owner && !for_root && is_closed(refusal->given, stranger->owner)) {
		add_command(&line, cli);
		error_set(err, JW_ERR_UNSUPPORTED,
				  "%.300s; root changes nothing there. If that account may act as root, as in a "
				  "container, type “JITWARM_TRUST_ACCOUNTS=%s%s”",
				  what_is_wrong(text, refusal), account, buf_text(&line));
		buf_free(&line);
		return -1;
	}
	if (for_root && !named)
		add_roots_line(&line, cli);
	else if (stranger->owner)
		add_line(&line, cli, stranger, home ? refusal->given : NULL, NULL);
	else
		shell_add_words(&line, (const char *const[]){"chmod", "go-w", stranger->part}, 3);
	error_set(err, JW_ERR_UNSUPPORTED,
			  "%.300s; root changes nothing there. %sType “%s”, or, if those accounts may act as "
			  "root, as in a container, set JITWARM_TRUST_ACCOUNTS=%s",
			  what_is_wrong(text, refusal),
			  refusal->row->use == PLACE_FILE || (for_root && named)
				  ? "Name another file or folder. "
				  : "",
			  buf_text(&line) + 1, account);
	buf_free(&line);
	return -1;
}

int root_need_account(struct jw_error *err, struct cli *cli, uint32_t owner, uint32_t group)
{
	struct os_stranger stranger = {.owner = owner, .group = owner, .part = "/"};
	struct buf line = BUF_MAX(1 << 20);

	if (os_own_account() == owner)
		return 0;
	add_line(&line, cli, &stranger, NULL, &group);
	cli->failure = EXIT_CANNOT;
	error_set(err, JW_ERR_UNSUPPORTED,
			  "jitwarm looks only at programs of its own account; for these programs, type “%s”",
			  buf_text(&line) + 1);
	buf_free(&line);
	return -1;
}

/* ---- the check */

static void follow_none(const char *place, enum os_below below)
{
	char *whole = NULL;

	if (place && *place && !os_absolute(NULL, place, &whole))
		(void)os_follow_none_below(whole, below);
	mem_free(whole);
}

/* Makes root follow no links below its own cache and state, and below a folder that it fills: a
 * link that was put there before a chmod stays. In a cache that another account can change, which
 * root may read, root does not read through links either: they could lead to files that only root
 * may read. */
static void follow_no_links(const struct cli *cli)
{
	const struct options *options = &cli->options;
	const char *output =
		options_has_given(options, "output") ? options_value(options, "output") : NULL;
	char *places[2] = {options_has_given(options, "cache")
						   ? mem_string(options_value(options, "cache"))
						   : os_env("CUDA_CACHE_PATH")};

	if (!places[0])
		(void)os_driver_cache_dir(NULL, NULL, &places[0]);
	(void)os_state_dir(NULL, &places[1]);
	for (size_t i = 0; i < 2; i++) {
		struct os_stranger stranger;
		const bool shared =
			places[i] && (os_find_stranger_before(places[i], &stranger) || stranger.open);

		follow_none(places[i], shared ? OS_BELOW_SHARED : OS_BELOW_OWN);
		mem_free(places[i]);
	}
	if (output && options_fill_folder(options, "output", output))
		follow_none(output, !strcmp(cli->command->name, "make") ? OS_BELOW_OWN : OS_BELOW_OUTPUT);
}

int root_check_places(struct jw_error *err, struct cli *cli)
{
	if (!os_is_superuser() || cli->command->needs_no_place)
		return 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct refusal refusal;
		char text[2 * OS_STRANGER_TEXT];
		bool goes_on;

		if (!find_refusal(cli, &rows[i], &refusal))
			continue;
		/* A user who asks for a recording wants no run without one. */
		goes_on = (cli->command->runs_anyway && !options_has_given(&cli->options, "record")) ||
				  (only_reads(cli) && rows[i].use == PLACE_STATE && !starts_python(cli));
		if (!goes_on)
			(void)refuse(err, cli, &refusal);
		else
			cli_forget(cli, what_is_wrong(text, &refusal), false);
		mem_free(refusal.given);
		if (!goes_on)
			return -1;
	}
	os_keep_no_state(cli->stateless);
	follow_no_links(cli);
	return 0;
}
