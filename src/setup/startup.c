#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/startup.h>

#include "base/arena.h"
#include "base/text.h"
#include "find/found.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/library.h"
#include "os/platform.h"
#include "os/private.h"
#include "setup/logon_task.h"
#include "setup/setting_places.h"
#include "setup/startup_command.h"
#include "setup/unit_text.h"

/* Writes tasks and units, and registers them with the system. */

enum { MAX_ITEMS = 6 }; /* units, and links to units */

/* Adds an item and takes ownership of `where`. */
static int add_item(struct jw_error *err, struct jw_startup *startup, char *where,
					enum startup_form form, const struct startup_facts *facts)
{
	struct buf text = BUF_MAX(STARTUP_MAX_TEXT);
	const int result = startup_text(err, form, facts, &text);

	startup->items[startup->count++] = (struct jw_startup_item){
		.where = arena_keep(startup, where), .text = arena_string(startup, buf_text(&text))};
	buf_free(&text);
	return result;
}

/* Reads the content of an existing file. */
static int read_startup_item(struct jw_error *err, struct jw_startup_item *item)
{
	struct jw_error why = {0};
	struct buf text = {0};

	if (os_read_file(&why, item->where, STARTUP_MAX_TEXT, &text))
		return os_ignore_unreadable(err, item->where, &why);
	item->there = true;
	item->ours = strstr(buf_text(&text), startup_mark) != NULL;
	buf_free(&text);
	return 0;
}

static bool is_service_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
								  ":_.-";

	return *name && *name != '.' && strlen(name) < 100 && strspn(name, allowed) == strlen(name) &&
		   !text_ends(name, ".service");
}

/* Adds the units of the system for one service, of everyone's manager, or of this account's. */
static int add_units(struct jw_error *err, struct jw_startup *startup,
					 const struct startup_facts *facts)
{
	static const struct {
		const char *name;
		enum startup_form form;
	} units[] = {{"jitwarm.service", STARTUP_SERVICE},
				 {"jitwarm.timer", STARTUP_TIMER},
				 {"jitwarm.path", STARTUP_PATH}};
	const char *service = facts->options->service;
	char *folder;
	int result = 0;

	if (service) {
		if (!is_service_name(service))
			return error_set(err, JW_ERR_USAGE,
							 "--service %.100s: name the service without “.service”", service);
		folder = place_system_path(startup, "/etc/systemd/system");
		return add_item(err, startup, os_join(folder, "jitwarm@.service"), STARTUP_TEMPLATE,
						facts) ||
					   add_item(
						   err, startup,
						   mem_printf("%s/jitwarm@%s.service.d/60-jitwarm.conf", folder, service),
						   STARTUP_INSTANCE, facts)
				   ? -1
				   : 0;
	}
	folder = facts->options->everyone ? place_system_path(startup, "/etc/systemd/user")
									  : place_config_path(err, startup, "systemd/user");
	if (!folder)
		return -1;
	for (size_t i = 0; !result && i < sizeof units / sizeof *units; i++)
		result = add_item(err, startup, os_join(folder, units[i].name), units[i].form, facts);
	return result;
}

/* Finds the folder that changes when packages are installed; NULL if no environment has one. */
static int packages_folder(struct jw_error *err, char **ret_path)
{
	struct found_list list = {0};
	struct sites *sites = NULL;
	struct jw_error why = {0};
	int result = 0;

	*ret_path = NULL;
	found_open(&list);
	if (sites_find(&why, &list, &sites))
		result = error_unless_missing(err, &why);
	else if (sites->count)
		*ret_path = mem_string(sites->items[0].path);
	jw_result_free(sites);
	found_close(&list);
	jw_result_free(list.found);
	return result;
}

/* Returns the path of jitwarmw.exe beside jitwarm.exe, which opens no console window. */
static int program_path(struct jw_error *err, const char *given, char **ret_path)
{
	char *self = given ? mem_string(given) : NULL, *folder, *quiet;

	if (!self && os_self_path(err, &self))
		return -1;
	*ret_path = self;
	if (!os_is_windows)
		return 0;
	folder = os_dir_name(self);
	quiet = os_join(folder, "jitwarmw.exe");
	mem_free(folder);
	if (os_exists(quiet)) {
		*ret_path = quiet;
		quiet = self;
	}
	mem_free(quiet);
	return 0;
}

static char *absolute_variable(const char *name)
{
	char *value = os_env(name);

	if (value && os_is_absolute(value))
		return value;
	mem_free(value);
	return NULL;
}

/* Finds what exists, and what would be written. The command will run elsewhere, so paths become
 * absolute, and the active environment is named. With `removing`, an item that cannot be examined
 * does not prevent removing the others. */
static int look(struct jw_error *err, const struct jw_startup_options *given, bool removing,
				struct jw_startup **ret_startup)
{
	struct jw_startup_options options = *given;
	struct jw_startup *startup = arena_open(sizeof *startup);
	struct startup_facts facts = {.options = &options};
	struct os_account runs_as = {0};
	char **names = arena_alloc(startup, options.name_count * sizeof *names);
	char *account = NULL, *driver = NULL, *packages = NULL;
	int result = -1;

	startup->items = arena_alloc(startup, MAX_ITEMS * sizeof *startup->items);
	for (size_t i = 0; i < options.name_count; i++)
		if (jw_find_path(err, options.names[i], &names[i]))
			goto done;
		else if (!arena_keep(startup, names[i]))
			names[i] = arena_string(startup, options.names[i]);
	options.names = (const char *const *)names;
	if (!options.environment)
		options.environment = arena_keep(startup, absolute_variable("VIRTUAL_ENV"));
	if (!options.environment)
		options.environment = arena_keep(startup, absolute_variable("CONDA_PREFIX"));
	if (program_path(err, options.program, &startup->program))
		goto done;
	facts.program = arena_keep(startup, startup->program);
	if (os_account_id(err, &account))
		goto done;
	if (!os_is_windows) {
		/* Uses the name that survives an update, after which this version's file is gone. */
		if (!os_find_driver(NULL, &driver)) {
			char *folder = os_dir_name(driver), *lasting = os_join(folder, "libcuda.so.1");

			if (os_exists(lasting)) {
				mem_free(driver);
				driver = lasting;
			} else {
				mem_free(lasting);
			}
			mem_free(folder);
		}
		if (packages_folder(err, &packages) && !removing)
			goto done;
		(void)os_find_account(NULL, options.account ? options.account : "root", 0, &runs_as);
	}
	facts.account = account;
	facts.home = runs_as.home;
	facts.driver = driver;
	facts.packages = packages;
	if (options.service && options.everyone)
		error_set(err, JW_ERR_USAGE,
				  "--service and --all-users exclude each other: a service runs in one account");
	else if (os_is_windows && options.service)
		error_set(err, JW_ERR_UNSUPPORTED, "--service: Windows has no systemd services");
	else if (os_is_windows)
		result = add_item(err, startup, task_name(&options, account), STARTUP_TASK, &facts) ||
						 task_find(err, &startup->items[0])
					 ? -1
					 : 0;
	else
		result = add_units(err, startup, &facts);
	for (size_t i = 0; !result && !os_is_windows && i < startup->count; i++)
		result = read_startup_item(err, &startup->items[i]);
done:
	mem_free(account);
	mem_free(driver);
	mem_free(packages);
	os_account_free(&runs_as);
	if (result) {
		jw_result_free(startup);
		return -1;
	}
	*ret_startup = startup;
	return 0;
}

int jw_startup_find(struct jw_error *err, const struct jw_startup_options *options,
					struct jw_startup **ret_startup)
{
	return look(err, options, false, ret_startup);
}

/* Checks that systemd starts the program: it takes no path with these characters, however they are
 * written in the unit. Source: systemd 252, config_parse_exec. */
static int check_startable(struct jw_error *err, const struct jw_startup_options *options)
{
	char *program;
	int result = 0;

	if (os_is_windows)
		return 0;
	if (program_path(err, options->program, &program))
		return -1;
	for (const char *c = program; *c && !result; c++)
		if (strchr("\"'\\\x7f", *c) || (*c > 0 && *c < ' '))
			result =
				error_set(err, JW_ERR_UNSUPPORTED,
						  "%s: systemd starts no program whose path has a quote, a backslash or "
						  "a control character: move the program to another folder",
						  program);
	mem_free(program);
	return result;
}

/* Checks a program that runs as another account, or for it: a third account must not control it.
 * Only an administrator can register it. */
static int check_program(struct jw_error *err, const struct jw_startup_options *options)
{
	char *program;
	int result;

	if ((!options->service && !options->everyone) || !jw_is_administrator())
		return 0;
	if (program_path(err, options->program, &program))
		return -1;
	result = os_guard_for_all(err, program);
	if (result)
		(void)error_prefix(err,
						   "%s is not safe to run for other accounts; install it where only "
						   "administrators may write",
						   program);
	mem_free(program);
	return result;
}

/* Checks the typed names. Those of another account are resolved in its environment, which is
 * unknown here. */
static int check_named(struct jw_error *err, const struct jw_startup_options *options)
{
	int result = 0;

	if (options->service || options->everyone || options->environment)
		return 0;
	for (size_t i = 0; !result && i < options->name_count; i++) {
		const struct jw_find_options one = {.names = &options->names[i], .name_count = 1};
		struct jw_found *found = NULL;

		if (!os_exists(options->names[i]))
			result = jw_find(err, &one, &found);
		jw_result_free(found);
	}
	return result;
}

int jw_startup_preview(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup **ret_startup)
{
	return check_startable(err, options) || check_named(err, options)
			   ? -1
			   : jw_startup_find(err, options, ret_startup);
}

int jw_startup_enable(struct jw_error *err, const struct jw_startup_options *options,
					  struct jw_startup **ret_startup)
{
	struct jw_startup *startup;
	int result = 0;

	if (jw_startup_find(err, options, &startup))
		return -1;
	result =
		check_startable(err, options) || check_program(err, options) || check_named(err, options)
			? -1
			: 0;
	for (size_t i = 0; !result && i < startup->count; i++)
		if (startup->items[i].there && !startup->items[i].ours && !options->replace)
			result = error_set(err, JW_ERR_BUSY,
							   "%s: exists and was not made by jitwarm; --replace overwrites it",
							   startup->items[i].where);
	if (!result)
		result = os_is_windows ? task_register(err, startup) : units_enable(err, options, startup);
	if (result)
		jw_result_free(startup);
	else
		*ret_startup = startup;
	return result;
}

int jw_startup_disable(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup **ret_startup)
{
	struct jw_startup *startup;
	int result = 0;

	if (look(err, options, true, &startup))
		return -1;
	if (!os_is_windows)
		units_add_links(options, startup);
	if (options->dry_run) {
		*ret_startup = startup;
		return 0;
	}
	for (size_t i = 0; i < startup->count; i++)
		startup->items[i].removed = startup->items[i].ours;
	if (!os_is_windows)
		result = units_disable(err, options, startup);
	else if (startup->items[0].ours)
		result = task_remove(err, startup);
	else if (!startup->items[0].there)
		result = task_forget(err, &startup->items[0]);
	for (size_t i = 0; i < startup->count; i++)
		startup->items[i].removed = startup->items[i].removed && !startup->items[i].there;
	if (result)
		jw_result_free(startup);
	else
		*ret_startup = startup;
	return result;
}
