#include "cli/places.h"

#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/doctor.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/language.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/private.h"
#include "os/processes.h"
#include "os/shell.h"

enum place_when {
	WHEN_CACHE,  /* the command writes to the cache */
	WHEN_STATE,  /* always; a command that only reads continues without it */
	WHEN_FETCH,  /* the command fetches or removes compilers */
	WHEN_SETUP,  /* the command changes logins, units or settings */
	WHEN_PYTHON, /* the command starts pip */
	WHEN_START,  /* the option's value is a path, not the name of a package */
	WHEN_OUTPUT, /* always; in a folder such as /tmp, only a new file or folder */
	WHEN_PACKS,  /* the command writes to a folder of packs, in which all files are new */
	WHEN_HINT    /* always; the variable is ignored, not the command refused */
};

/* ---- the paths; NULL if the command has none. The caller frees them. */

static char *of_cache(const struct cli *cli, const char *name)
{
	char *path = options_has_given(&cli->options, name)
					 ? mem_string(options_value(&cli->options, name))
					 : os_env("CUDA_CACHE_PATH");

	if (!path)
		(void)os_driver_cache_dir(NULL, &path);
	return path;
}

static char *of_state(const struct cli *cli, const char *name)
{
	char *path = NULL;

	(void)cli;
	(void)name;
	os_keep_no_state(false);
	(void)os_state_dir(NULL, &path);
	return path;
}

static char *of_compilers(const struct cli *cli, const char *name)
{
	char *path = NULL;

	(void)cli;
	(void)name;
	(void)jw_compiler_store(NULL, &path);
	return path;
}

static char *of_setting(const struct cli *cli, const char *name)
{
	const struct config_value *setting = config_find(&cli->config, name);

	return setting ? mem_string(setting->value) : NULL;
}

static char *of_home(const struct cli *cli, const char *below)
{
	char *home = NULL, *path = NULL;

	(void)cli;
	if (!os_home_dir(NULL, &home))
		path = os_join(home, below);
	mem_free(home);
	return path;
}

/* A relative path in XDG_CONFIG_HOME does not count. */
static char *of_config(const struct cli *cli, const char *below)
{
	char *base = os_env("XDG_CONFIG_HOME"), *config, *path;

	config = base && os_is_absolute(base) ? mem_string(base) : of_home(cli, ".config");
	path = config ? os_join(config, below) : NULL;
	mem_free(config);
	mem_free(base);
	return path;
}

static char *of_variable(const struct cli *cli, const char *name)
{
	(void)cli;
	return os_env(name);
}

static char *of_temporary(const struct cli *cli, const char *name)
{
	char *value = os_env(name), *path = value ? os_join(value, "jitwarm") : NULL;

	(void)cli;
	mem_free(value);
	return path;
}

/* pyenv starts the Python of this version, a name, or a path that begins with enough “..” to leave
 * pyenv's folder: then it is the same from the root folder. */
static char *of_pyenv(const struct cli *cli, const char *name)
{
	char *value = os_env(name), *base = os_env("PYENV_ROOT"), *path;

	base = base ? base : of_home(cli, ".pyenv");
	path = value && strchr(value, '/') ? mem_printf("/%s", value)
		   : value && base             ? mem_printf("%s/versions/%s", base, value)
									   : NULL;
	mem_free(value);
	mem_free(base);
	return path;
}

static char *of_option(const struct cli *cli, const char *name)
{
	const struct options *options = &cli->options;

	return options_has_given(options, name) && !options_is_flag(options, name)
			   ? mem_string(options_value(options, name))
			   : NULL;
}

/* A folder of packs is judged as the folder of a file that is not there yet: it may be one such as
 * /tmp. */
static char *of_packs(const struct cli *cli, const char *name)
{
	const char *folder = options_has_given(&cli->options, name) ? options_value(&cli->options, name)
																: config_store_folder(&cli->config);

	return folder ? os_join(folder, "any.jwpack") : NULL;
}

static const struct place {
	const char *what;
	char *(*path)(const struct cli *cli, const char *name);
	const char *name;
	enum place_when when;
} places[] = {
	{"the cache", of_cache, "cache", WHEN_CACHE},
	{"--path", of_option, "path", WHEN_CACHE}, /* the cache from now on */
	{"jitwarm's state", of_state, "", WHEN_STATE},
	{"trusted-keys", of_setting, "trusted-keys", WHEN_STATE},
	{"the compilers", of_compilers, "", WHEN_FETCH},
	{"the settings", of_config, "jitwarm/config", WHEN_SETUP},
	{"the settings of logins", of_config, "environment.d", WHEN_SETUP},
	{"the settings of logins", of_config, "fish/conf.d", WHEN_SETUP},
	{"the settings of logins", of_home, "", WHEN_SETUP},
	{"ZDOTDIR", of_variable, "ZDOTDIR", WHEN_SETUP},
	{"the units", of_config, "systemd/user", WHEN_SETUP},
	{"JITWARM_SYSTEM_ROOT", of_variable, "JITWARM_SYSTEM_ROOT", WHEN_SETUP},
	{"--ptxas", of_option, "ptxas", WHEN_START},
	{"--nvrtc", of_option, "nvrtc", WHEN_START},
	{"--output", of_option, "output", WHEN_OUTPUT},
	{"--record", of_option, "record", WHEN_OUTPUT},
	{"--json-log", of_option, "json-log", WHEN_OUTPUT},
	{"--driver-profile", of_option, "driver-profile", WHEN_OUTPUT},
	{"the folder of packs", of_packs, "store", WHEN_PACKS},
	{"Python", of_home, ".local/lib", WHEN_PYTHON},
	{"Python", of_variable, "PYTHONPATH", WHEN_PYTHON},
	{"Python", of_variable, "PYTHONUSERBASE", WHEN_PYTHON},
	{"Python", of_variable, "PYTHONHOME", WHEN_PYTHON},
	{"pip's settings", of_config, "pip/pip.conf", WHEN_PYTHON},
	{"pip's settings", of_variable, "XDG_CONFIG_HOME", WHEN_PYTHON}, /* a relative one counts */
	{"pip's settings", of_home, ".pip/pip.conf", WHEN_PYTHON},
	{"pip's settings", of_home, ".netrc", WHEN_PYTHON},
	{"pip's settings", of_variable, "NETRC", WHEN_PYTHON},
	{"pip's settings", of_variable, "PIP_CONFIG_FILE", WHEN_PYTHON},
	{"pip's settings", of_variable, "PIP_CERT", WHEN_PYTHON},
	{"pip's settings", of_variable, "REQUESTS_CA_BUNDLE", WHEN_PYTHON},
	{"pip's settings", of_variable, "SSL_CERT_DIR", WHEN_PYTHON},
	{"pip's settings", of_variable, "SSL_CERT_FILE", WHEN_PYTHON},
	{"pip's indexes", of_variable, "PIP_INDEX_URL", WHEN_PYTHON},
	{"pip's indexes", of_variable, "PIP_EXTRA_INDEX_URL", WHEN_PYTHON},
	{"pip's indexes", of_variable, "PIP_FIND_LINKS", WHEN_PYTHON},
	{"JITWARM_SYSTEM_ROOT", of_variable, "JITWARM_SYSTEM_ROOT", WHEN_HINT},
	{"TMPDIR", of_temporary, "TMPDIR", WHEN_HINT},
	{"CUDA_HOME", of_variable, "CUDA_HOME", WHEN_HINT},
	{"CUDA_PATH", of_variable, "CUDA_PATH", WHEN_HINT},
	{"PYENV_ROOT", of_variable, "PYENV_ROOT", WHEN_HINT},
	{"PYENV_VERSION", of_pyenv, "PYENV_VERSION", WHEN_HINT},
	{"XDG_RUNTIME_DIR", of_variable, "XDG_RUNTIME_DIR", WHEN_HINT},
};

/* ---- when they count */

static bool has_any(const struct cli *cli, const char *const *names)
{
	for (; *names; names++)
		if (options_has_given(&cli->options, *names))
			return true;
	return false;
}

/* Returns whether the command, with its options, changes only jitwarm's state and its outputs. */
static bool only_reads(const struct cli *cli)
{
	static const char *const writing[] = {"apply", "undo", "repair", "unset", NULL};

	return options_has_given(&cli->options, "dry-run") ||
		   (!has_any(cli, writing) && cli->command->reads &&
			(!cli->command->sets_values || cli->options.operand_count < 2));
}

static bool starts_python(const struct cli *cli)
{
	static const char *const starting[] = {"index", "requirements", "ask", "fetch", NULL};

	return has_any(cli, starting) || !strcmp(cli->command->name, "compiler fetch");
}

/* Returns whether the command works for other accounts, so that root has to run it. */
static bool is_place_for_others(const struct cli *cli)
{
	static const char *const others[] = {"all-users", "service", NULL};

	return has_any(cli, others) || (options_has_given(&cli->options, "scope") &&
									!strcmp(options_value(&cli->options, "scope"), "system"));
}

static bool counts_for_root(const struct cli *cli, const struct place *place)
{
	static const char *const removing[] = {"undo", "unset", NULL};
	const char *name = cli->command->name;
	const bool removes = has_any(cli, removing);

	switch (place->when) {
	case WHEN_CACHE:
		/* A cache for all accounts belongs to all of them. */
		return (!only_reads(cli) || cli->command->probes) && !removes &&
			   !(is_place_for_others(cli) && !strcmp(place->name, "path"));
	case WHEN_FETCH:
		return options_has_given(&cli->options, "fetch") || !strcmp(name, "compiler fetch") ||
			   !strcmp(name, "uninstall");
	case WHEN_SETUP:
		return !only_reads(cli) &&
			   (!is_place_for_others(cli) || !strcmp(place->name, "JITWARM_SYSTEM_ROOT")) &&
			   (!strcmp(name, "tune") || !strcmp(name, "uninstall") || !strcmp(name, "config") ||
				options_has_given(&cli->options, "tune") || text_starts(name, "startup "));
	case WHEN_PYTHON: return starts_python(cli);
	case WHEN_STATE: return !removes || place->path != of_setting;
	case WHEN_PACKS: return !only_reads(cli);
	case WHEN_OUTPUT:
		/* A dry run fills no folder. */
		return !options_has_given(&cli->options, "dry-run") ||
			   !options_has_given(&cli->options, place->name) ||
			   !options_fill_folder(&cli->options, place->name,
									options_value(&cli->options, place->name));
	case WHEN_START:
	case WHEN_HINT: break;
	}
	return true;
}

/* ---- the check */

static bool lifted;
static struct cli *asking;
static char *made_output; /* an output that was made in advance */

void places_lift(bool lift)
{
	lifted = lift;
}

/* Makes the part that is missing in a folder such as /tmp, so that no other account can take its
 * name; what is below is then missing in a folder of root's. */
static bool take_name(const struct cli *cli, const struct place *place, bool folder,
					  const struct os_part *part)
{
	switch (place->when) {
	case WHEN_CACHE:
	case WHEN_STATE:
	case WHEN_FETCH:
		return !options_has_given(&cli->options, "dry-run") &&
			   !os_make_dirs(NULL, part->path, 0700);
	case WHEN_OUTPUT:
		if (folder)
			return !os_make_dirs(NULL, part->path, 0755);
		if (part->missing > 1 || os_make_new(NULL, part->path))
			return false;
		mem_free(made_output);
		made_output = mem_string(part->path);
		return true;
	case WHEN_SETUP:
	case WHEN_PYTHON:
	case WHEN_START:
	case WHEN_PACKS:
	case WHEN_HINT: break;
	}
	return false;
}

/* Checks a path; the caller frees the part. */
static int check_place_path(struct jw_error *err, const struct cli *cli, const struct place *place,
							const char *path, struct os_part *ret_part)
{
	const bool output = place->when == WHEN_OUTPUT,
			   folder = output && options_fill_folder(&cli->options, place->name, path),
			   holds_new = place->when == WHEN_PACKS || place->path == of_temporary;
	int result = os_check_private(err, path, ret_part);

	if (!result && output && !folder && ret_part->sticky) {
		ret_part->path = mem_string(path);
		return error_set(err, JW_ERR_IO,
						 "%.700s exists, and other accounts may make files in its folder", path);
	}
	if (result && ((holds_new && ret_part->missing == 1) ||
				   (ret_part->missing && take_name(cli, place, folder, ret_part)))) {
		mem_free(ret_part->path);
		ret_part->path = NULL;
		/* Another account may have been faster. */
		result = holds_new ? 0 : os_check_private(err, path, ret_part);
	}
	return result;
}

static bool is_path_list(const struct place *place)
{
	static const char *const lists[] = {"PYTHONPATH", "PYTHONHOME", "SSL_CERT_DIR"};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!strcmp(place->name, lists[i]))
			return true;
	return false;
}

/* Returns whether a text has only printable ASCII and the blanks at which check_place splits it.
 * pip splits a list of indexes at all that Python takes for white space (str.split: U+00A0, U+3000,
 * a vertical tab), so what follows another such character would pass unchecked. */
static bool is_plain_list(const char *text)
{
	for (; *text; text++)
		if ((*text < ' ' && !strchr("\t\r\n", *text)) || *text > '~')
			return false;
	return true;
}

/* Checks each path of the place: a variable may have several, and package indexes are addresses,
 * too. *ret_path is the refused one. */
static int check_place(struct jw_error *err, const struct cli *cli, const struct place *place,
					   char **ret_path, struct os_part *ret_part)
{
	const bool indexes = !strcmp(place->what, "pip's indexes"),
			   of_pip = place->path == of_variable && text_starts(place->what, "pip's");
	const char *const between = indexes ? " \t\r\n" : is_path_list(place) ? ":" : NULL;
	char *all = place->path(cli, place->name);
	int result = 0;

	for (char *at = all, *next; at && !result; at = next) {
		next = between ? strpbrk(at, between) : NULL;
		if (next)
			*next++ = '\0';
		if (!*at ||
			(indexes && is_plain_list(at) &&
			 (text_starts_fold(at, "http://") || text_starts_fold(at, "https://"))) ||
			(place->when == WHEN_START && !strchr(at, '/') && !os_exists(at)))
			continue;
		if (indexes && text_starts_fold(at, "file:///"))
			at += strlen("file://");
		/* pip decodes “%”, and knows “~” and other forms of “file:”. */
		if (indexes && !is_plain_list(at))
			result =
				error_set(err, JW_ERR_UNSUPPORTED, "has characters other than printable ASCII");
		else
			result = of_pip && (*at == '~' || (indexes && strpbrk(at, "%:")))
						 ? error_set(err, JW_ERR_UNSUPPORTED,
									 "neither a path nor an address of http or https")
						 : check_place_path(err, cli, place, at, ret_part);
		if (result)
			*ret_path = mem_string(at);
	}
	mem_free(all);
	return result;
}

/* ---- the line to type */

/* The most characters that fit into a message. */
enum { MAX_LINE = 400 };

static void add_command(struct buf *line, const struct cli *cli)
{
	struct buf words = BUF_MAX(1 << 20);

	buf_add(line, " jitwarm %s", cli->command->name);
	shell_add_words(&words, (const char *const *)cli->argv, (size_t)cli->argc);
	buf_add(line, "%s", line->size + words.size > MAX_LINE ? " …" : buf_text(&words));
	buf_free(&words);
}

static void add_sudo(struct buf *line, const struct cli *cli, unsigned owner)
{
	struct os_account account = {0};
	char *number = mem_printf("#%u", owner);

	(void)os_find_account(NULL, NULL, owner, &account);
	shell_add_words(line, (const char *const[]){"sudo", "-u", account.name ? account.name : number},
					3);
	add_command(line, cli);
	os_account_free(&account);
	mem_free(number);
}

/* `place` is the path, after the name of its row if it has one. */
static int refuse_place(struct jw_error *err, struct cli *cli, const char *place,
						const struct jw_error *why, const struct os_part *part)
{
	struct buf words = BUF_MAX(1 << 20);

	if (err)
		cli->failure = EXIT_CANNOT;
	/* Nobody types the command of a worker. */
	if (part->sticky || !part->path || !strcmp(cli->command->name, "worker")) {
		error_set(err, JW_ERR_UNSUPPORTED,
				  "%.300s: %s, so root does not use it: name another file or folder", place,
				  why->message);
	} else if (is_place_for_others(cli) && part->owner) {
		shell_add_words(&words, (const char *const[]){"sudo", "-H"}, 2);
		add_command(&words, cli);
		error_set(err, JW_ERR_UNSUPPORTED, "%.300s: %s, so root does not use it: type “%s”", place,
				  why->message, buf_text(&words) + 1);
	} else {
		if (part->owner)
			add_sudo(&words, cli, part->owner);
		else
			shell_add_words(&words, (const char *const[]){"chmod", "go-w", part->path}, 3);
		error_set(err, JW_ERR_UNSUPPORTED,
				  "%.300s: %s, so root does not use it: type “%s”, or in a container set "
				  "JITWARM_TRUST_ACCOUNTS=1",
				  place, why->message, buf_text(&words) + 1);
	}
	buf_free(&words);
	return -1;
}

/* ---- the door */

/* Answers for the rooms (os_guard). On Windows, every account is asked about what is for all. */
static int guard(struct jw_error *err, const char *path, bool for_all)
{
	struct jw_error why = {0};
	struct os_part part;
	int result;

	if (lifted || !(os_is_machine_root() || (for_all && os_is_windows)))
		return 0;
	result = os_check_private(&why, path, &part);
	if (result && !os_is_windows && asking && asking->command)
		result = refuse_place(err, asking, os_base_name(path), &why, &part);
	else if (result)
		result = error_copy(err, &why);
	mem_free(part.path);
	return result;
}

void places_open(struct cli *cli)
{
	asking = cli;
	os_set_guard(guard);
}

int places_check(struct jw_error *err, struct cli *cli)
{
	/* A user who asks for a recording wants no run without one. */
	const bool runs = cli->command->runs_anyway && !options_has_given(&cli->options, "record");
	int result = 0;

	os_keep_no_state(false);
	if (lifted || cli->command->needs_no_place || !os_is_machine_root())
		return 0;
	for (size_t i = 0; !result && i < sizeof places / sizeof *places; i++) {
		const struct place *place = &places[i];
		struct jw_error why = {0};
		struct os_part part = {0};
		char *path = NULL;

		if (!counts_for_root(cli, place) || !check_place(&why, cli, place, &path, &part))
			continue;
		if (place->when == WHEN_HINT)
			result = os_env_set(err, place->name, NULL);
		else if (runs || (only_reads(cli) && !starts_python(cli) &&
						  (place->when == WHEN_STATE || place->when == WHEN_CACHE)))
			cli_forget(cli, why.message, false);
		else {
			const bool whole = part.path && !strcmp(part.path, path);
			char *named = mem_printf("%s%s%s", language_text(place->what), whole ? "" : " ",
									 whole ? "" : path);

			result = refuse_place(err, cli, named, &why, &part);
			mem_free(named);
		}
		mem_free(part.path);
		mem_free(path);
	}
	os_keep_no_state(cli->stateless);
	return result;
}

void places_close(void)
{
	struct os_stat stat;

	if (made_output && !os_stat(NULL, made_output, &stat) && !stat.size_bytes)
		(void)os_remove(NULL, made_output);
	mem_free(made_output);
	made_output = NULL;
}

int places_enter_process(struct jw_error *err, struct cli *cli, int pid)
{
	struct buf line = BUF_MAX(1 << 20);
	uint32_t owner;

	if (os_process_owner(err, pid, &owner))
		return -1;
	if (os_own_account() == owner)
		return jw_examine_process(err, pid) || places_check(err, cli) ? -1 : 0;
	add_sudo(&line, cli, owner);
	cli->failure = EXIT_CANNOT;
	error_set(err, JW_ERR_UNSUPPORTED, "the process belongs to another account: type “%s”",
			  buf_text(&line) + 1);
	buf_free(&line);
	return -1;
}
