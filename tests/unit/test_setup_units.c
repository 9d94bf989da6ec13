/* systemd's units: which files are written, which commands are called, which files stay, and what a
 * failure reports. The systemctl is the test's own. */
#include "root.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jitwarm/startup.h>

#include "base/arena.h"
#include "os/private.h"
#include "setup/startup_command.h"
#include "setup/unit_text.h"

static const char *inside(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static bool is_there(const char *name)
{
	struct stat stat_of;

	return !lstat(inside(name), &stat_of);
}

/* Writes a systemctl that succeeds, or that prints a line that ends in blanks, and fails. */
static void put_systemctl(bool good)
{
	root_put("bin/systemctl",
			 good ? "#!/bin/sh\necho fine\n" : "#!/bin/sh\necho 'no bus  ' >&2\nexit 1\n");
	assert_int_equal(chmod(inside("bin/systemctl"), 0755), 0);
}

static int usual(void **state)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "VIRTUAL_ENV", "CONDA_PREFIX",
										 "XDG_RUNTIME_DIR"};
	char *path = keep(mem_printf("%s/bin:/usr/bin:/bin", root));
	int result = root_empty(state) || os_env_set(why, "PATH", path) ||
				 os_env_set(why, "HOME", inside("home")) ||
				 os_env_set(why, "JITWARM_STATE", inside("state")) ||
				 os_make_dirs(why, inside("tmp"), 0700) || os_env_set(why, "TMPDIR", inside("tmp"));

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	put_systemctl(true);
	return result;
}

static const struct jw_startup_options own = {.program = "/bin/true"},
									   service = {.program = "/bin/true", .service = "a"},
									   everyone = {.program = "/bin/true", .everyone = true};

/* Returns "c COMMAND" for each called command, "i FLAGS FILE" for each item (o: jitwarm's, t: it
 * exists), and "f WORDS" for a failure. */
static char *text_of(const struct jw_startup *startup)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = 0; i < startup->count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "i %s%s %s\n",
					   startup->items[i].ours ? "o" : "-", startup->items[i].there ? "t" : "-",
					   startup->items[i].where + strlen(root));
	for (size_t i = 0; i < startup->command_count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "c %s\n",
					   startup->commands[i]);
	if (startup->failed)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "f %s\n", startup->failed);
	return text;
}

typedef int (*call_fn)(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup **ret_startup);

static void expect(call_fn call, const struct jw_startup_options *options, const char *wanted)
{
	struct jw_startup *startup;
	struct os_names names;

	OK(call(why, options, &startup));
	assert_string_equal(text_of(startup), wanted);
	jw_result_free(startup);
	/* No output of a command is left. */
	OK(os_list(why, inside("tmp"), &names));
	assert_int_equal(names.count, 0);
	os_names_free(&names);
}

static void expect_failure(call_fn call, const struct jw_startup_options *options,
						   enum jw_code code, const char *said)
{
	struct jw_startup *startup = NULL;

	GIVES(code, call(why, options, &startup));
	if (!strstr(why->message, said))
		fail_msg("%s", why->message);
	assert_null(startup);
}

#define OWN(flags)                                                                                 \
	"i " flags " /home/.config/systemd/user/jitwarm.service\n"                                     \
	"i " flags " /home/.config/systemd/user/jitwarm.timer\n"                                       \
	"i " flags " /home/.config/systemd/user/jitwarm.path\n"
#define LINK(name) "i -- /home/.config/systemd/user/" name "\n"
#define RELOAD     "c systemctl --user daemon-reload\n"

TEST_WITH(an_accounts_units_come_and_go, usual, NULL)
{
	expect(jw_startup_find, &own, OWN("--"));
	assert_false(is_there("home"));
	expect(jw_startup_disable, &own, OWN("--"));
	expect(jw_startup_enable, &own,
		   OWN("ot") RELOAD "c systemctl --user enable --now jitwarm.timer jitwarm.path\n");
	expect(jw_startup_find, &own, OWN("ot"));
	expect(jw_startup_disable, &own,
		   OWN("--") "c systemctl --user disable --now jitwarm.timer jitwarm.path\n" RELOAD);
	assert_false(is_there("home/.config/systemd"));
	assert_true(is_there("home/.config"));
}

/* Other files beside them stay, and so do folders that hold some. */
TEST_WITH(links_go_with_their_units, usual, NULL)
{
	char text[20];

	expect(jw_startup_enable, &own,
		   OWN("ot") RELOAD "c systemctl --user enable --now jitwarm.timer jitwarm.path\n");
	OK(os_make_dirs(why, inside("home/.config/systemd/user/timers.target.wants"), 0700));
	OK(os_make_dirs(why, inside("home/.config/systemd/user/default.target.wants"), 0700));
	assert_int_equal(symlink("../jitwarm.timer",
							 inside("home/.config/systemd/user/timers.target.wants/jitwarm.timer")),
					 0);
	assert_int_equal(symlink("../other.path",
							 inside("home/.config/systemd/user/default.target.wants/other.path")),
					 0);
	expect(jw_startup_disable, &own,
		   OWN("--")
			   LINK("timers.target.wants/jitwarm.timer") "c systemctl --user disable --now "
														 "jitwarm.timer jitwarm.path\n" RELOAD);
	assert_false(is_there("home/.config/systemd/user/timers.target.wants"));
	assert_int_equal(
		readlink(inside("home/.config/systemd/user/default.target.wants/other.path"), text, 20),
		13);
}

TEST_WITH(others_units_stay, usual, NULL)
{
	static const char timer[] = "home/.config/systemd/user/jitwarm.timer";
	struct jw_startup_options replace = own;
	struct buf text = {0};

	root_put(timer, "[Timer]\n");
	expect_failure(jw_startup_enable, &own, JW_ERR_BUSY,
				   "jitwarm.timer: exists and was not made by jitwarm");
	assert_false(is_there("home/.config/systemd/user/jitwarm.service"));
	expect(jw_startup_disable, &own,
		   "i -- /home/.config/systemd/user/jitwarm.service\n"
		   "i -t /home/.config/systemd/user/jitwarm.timer\n"
		   "i -- /home/.config/systemd/user/jitwarm.path\n");
	OK(os_read_file(why, inside(timer), 100, &text));
	assert_string_equal(buf_text(&text), "[Timer]\n");
	buf_free(&text);
	replace.replace = true;
	expect(jw_startup_enable, &replace,
		   OWN("ot") RELOAD "c systemctl --user enable --now jitwarm.timer jitwarm.path\n");
	root_put(timer, "[Timer]\n");
	expect(jw_startup_disable, &own,
		   "i -- /home/.config/systemd/user/jitwarm.service\n"
		   "i -t /home/.config/systemd/user/jitwarm.timer\n"
		   "i -- /home/.config/systemd/user/jitwarm.path\n"
		   "c systemctl --user disable --now jitwarm.timer jitwarm.path\n" RELOAD);
	assert_true(is_there(timer));
}

#define TEMPLATE "/etc/systemd/system/jitwarm@.service\n"
#define INSTANCE "/etc/systemd/system/jitwarm@a.service.d/60-jitwarm.conf\n"

/* The template is removed with the last of its services. */
TEST_WITH(a_services_unit_has_a_template, usual, NULL)
{
	struct jw_startup_options second = service;
	struct stat stat_of;

	second.service = "b";
	(void)umask(077);
	expect(jw_startup_enable, &service,
		   "i ot " TEMPLATE "i ot " INSTANCE
		   "c systemctl daemon-reload\nc systemctl enable jitwarm@a.service\n");
	(void)umask(022);
	assert_int_equal(stat(inside("etc/systemd/system/jitwarm@.service"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0644);
	assert_int_equal(stat(inside("etc/systemd/system/jitwarm@a.service.d"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0755);
	{
		struct jw_startup *startup;

		OK(jw_startup_enable(why, &second, &startup));
		jw_result_free(startup);
	}
	expect(jw_startup_disable, &service,
		   "i ot " TEMPLATE "i -- " INSTANCE
		   "c systemctl disable jitwarm@a.service\nc systemctl daemon-reload\n");
	assert_false(is_there("etc/systemd/system/jitwarm@a.service.d"));
	assert_true(is_there("etc/systemd/system/jitwarm@b.service.d"));
	expect(jw_startup_disable, &second,
		   "i -- " TEMPLATE "i -- /etc/systemd/system/jitwarm@b.service.d/60-jitwarm.conf\n"
		   "c systemctl disable jitwarm@b.service\nc systemctl daemon-reload\n");
	assert_false(is_there("etc/systemd/system/jitwarm@.service"));
	/* A template that is not jitwarm's stays. */
	root_put("etc/systemd/system/jitwarm@.service", "x");
	root_put("etc/systemd/system/jitwarm@a.service.d/other.conf", "x");
	expect(jw_startup_disable, &service, "i -t " TEMPLATE "i -- " INSTANCE);
	assert_true(is_there("etc/systemd/system/jitwarm@a.service.d/other.conf"));
	OK(os_remove_tree(why, inside("etc/systemd/system/jitwarm@a.service.d")));
	expect(jw_startup_disable, &service, "i -t " TEMPLATE "i -- " INSTANCE);
	assert_true(is_there("etc/systemd/system/jitwarm@.service"));
}

static bool says_removed(const struct jw_startup_options *options, size_t item)
{
	struct jw_startup *startup;
	bool removed;

	OK(jw_startup_disable(why, options, &startup));
	removed = startup->items[item].removed;
	jw_result_free(startup);
	return removed;
}

TEST_WITH(a_template_in_use_is_not_said_to_be_removed, usual, NULL)
{
	enum { OF_BOTH, OF_ONE };
	struct jw_startup_options second = service, dry = service;
	struct jw_startup *startup;

	second.service = "b";
	dry.dry_run = true;
	for (int i = 0; i < 2; i++) {
		OK(jw_startup_enable(why, i ? &second : &service, &startup));
		jw_result_free(startup);
	}
	assert_false(says_removed(&dry, OF_ONE));
	assert_true(is_there("etc/systemd/system/jitwarm@a.service.d/60-jitwarm.conf"));
	assert_false(says_removed(&service, OF_BOTH));
	assert_true(is_there("etc/systemd/system/jitwarm@.service"));
	OK(jw_startup_enable(why, &service, &startup));
	jw_result_free(startup);
	assert_true(says_removed(&service, OF_ONE));
	assert_true(says_removed(&second, OF_BOTH));
	assert_false(is_there("etc/systemd/system/jitwarm@.service"));
}

TEST_WITH(those_of_everyone_wait_for_a_logon, usual, NULL)
{
	static const char items[] = "i %s /etc/systemd/user/jitwarm.service\n"
								"i %s /etc/systemd/user/jitwarm.timer\n"
								"i %s /etc/systemd/user/jitwarm.path\n"
								"c systemctl --global %s jitwarm.timer jitwarm.path\n";
	char text[1024];
	struct stat stat_of;

	(void)umask(077);
	(void)snprintf(text, sizeof text, items, "ot", "ot", "ot", "enable");
	expect(jw_startup_enable, &everyone, text);
	(void)umask(022);
	assert_int_equal(stat(inside("etc/systemd/user/jitwarm.path"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0644);
	(void)snprintf(text, sizeof text, items, "--", "--", "--", "disable");
	expect(jw_startup_disable, &everyone, text);
	assert_true(is_there("etc/systemd/user"));
}

TEST_WITH(a_manager_that_fails_is_quoted, usual, NULL)
{
	struct jw_startup_options replace = own;
	char former[200];

	put_systemctl(false);
	expect(jw_startup_enable, &own, OWN("--") RELOAD "f systemctl: no bus\n");
	put_systemctl(true);
	expect(jw_startup_enable, &own,
		   OWN("ot") RELOAD "c systemctl --user enable --now jitwarm.timer jitwarm.path\n");
	/* The former file is restored, whether it is jitwarm's or not. */
	(void)snprintf(former, sizeof former, "# %s, before", startup_mark);
	root_put("home/.config/systemd/user/jitwarm.service", former);
	root_put("home/.config/systemd/user/jitwarm.timer", "theirs");
	put_systemctl(false);
	replace.replace = true;
	expect(jw_startup_enable, &replace,
		   "i ot /home/.config/systemd/user/jitwarm.service\n"
		   "i -t /home/.config/systemd/user/jitwarm.timer\n"
		   "i ot /home/.config/systemd/user/jitwarm.path\n" RELOAD "f systemctl: no bus\n");
	for (int i = 0; i < 2; i++) {
		struct buf text;

		OK(os_read_file(why,
						inside(i ? "home/.config/systemd/user/jitwarm.timer"
								 : "home/.config/systemd/user/jitwarm.service"),
						1000, &text));
		assert_string_equal(buf_text(&text), i ? "theirs" : former);
		buf_free(&text);
	}
	put_systemctl(true);
	OK(os_remove(why, inside("bin/systemctl")));
	OK(os_env_set(why, "PATH", inside("bin")));
	{
		struct jw_startup *startup;

		OK(jw_startup_disable(why, &own, &startup));
		assert_non_null(startup->failed);
		assert_int_equal(startup->command_count, 2);
		jw_result_free(startup);
	}
}

/* Without a place for its output, no command is started, and no part of the units is left. */
TEST_WITH(units_are_taken_back_where_no_command_can_start, usual, NULL)
{
	struct jw_startup *startup;

	OK(os_env_set(why, "TMPDIR", inside("bin/systemctl")));
	assert_int_equal(jw_startup_enable(why, &own, &startup), -1);
	assert_false(is_there("home/.config/systemd/user/jitwarm.service"));
}

TEST_WITH(commands_are_noted_as_they_would_be_typed, usual, NULL)
{
	struct jw_startup *startup = arena_open(sizeof *startup);
	struct buf output = {0};
	bool good = false;

	OK(startup_command(why, startup, "sh", STARTUP_WORDS("-c", "echo a; exit 0", "b\\", "c\"", "d"),
					   &output, &good));
	assert_true(good);
	assert_string_equal(buf_text(&output), "a\n");
	assert_string_equal(startup->commands[0], "sh -c \"echo a; exit 0\" \"b\\\\\" \"c\\\"\" d");
	assert_null(startup->failed);
	buf_free(&output);
	/* Without a place to note it, the command is run all the same. */
	OK(startup_command(why, NULL, "sh", STARTUP_WORDS("-c", "kill -9 $$"), NULL, &good));
	assert_false(good);
	for (int i = 0; i < STARTUP_MAX_COMMANDS + 1; i++)
		OK(startup_command(
			why, startup, "sh",
			STARTUP_WORDS("-c", i ? "exit 0" : "echo; echo first; echo second; exit 3"), NULL,
			&good));
	assert_true(good);
	assert_int_equal(startup->command_count, STARTUP_MAX_COMMANDS);
	assert_string_equal(startup->failed, "sh: first");
	jw_result_free(startup);
}

TEST_WITH(a_service_has_a_name, usual, NULL)
{
	static const char *const wrong[] = {"", ".a", "a/b", "a b", "a.service", "a@b"};
	char name[101] = {0};
	struct jw_startup_options options = service;
	struct jw_startup *startup;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		options.service = wrong[i];
		expect_failure(jw_startup_find, &options, JW_ERR_USAGE, "--service ");
	}
	memset(name, 'a', 100);
	options.service = name;
	expect_failure(jw_startup_find, &options, JW_ERR_USAGE, "--service ");
	name[99] = '\0';
	OK(jw_startup_find(why, &options, &startup));
	jw_result_free(startup);
	options.service = "A:b_.-9";
	OK(jw_startup_find(why, &options, &startup));
	jw_result_free(startup);
	options.everyone = true;
	expect_failure(jw_startup_find, &options, JW_ERR_USAGE, "in one account");
}

TEST_WITH(what_cannot_be_written_is_said, usual, NULL)
{
	root_put("etc/systemd", "x");
	root_put("home/.config", "x");
	expect_failure(jw_startup_enable, &service, JW_ERR_NOT_FOUND, "system units need sudo");
	expect_failure(jw_startup_enable, &everyone, JW_ERR_NOT_FOUND, "system units need sudo");
	expect_failure(jw_startup_enable, &own, JW_ERR_NOT_FOUND, "/home/.config");
}

static bool asked_for_all;

static int refuse(struct jw_error *err, const char *path, bool for_all)
{
	asked_for_all = for_all;
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: refused", path);
}

/* The guard decides about a program that runs for others, and about no other. */
TEST_WITH(programs_for_others_are_checked, usual, NULL)
{
	const struct jw_startup_options *cases[] = {&service, &everyone, &own};

	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_startup_options options = *cases[i];
		struct jw_startup *startup;
		int result;

		options.replace = true;
		asked_for_all = false;
		os_set_guard(refuse);
		result = jw_startup_enable(why, &options, &startup);
		os_set_guard(NULL);
		if (!result)
			jw_result_free(startup);
		else
			assert_non_null(strstr(why->message, "is not safe to run for other"));
		assert_int_equal(result, i < 2 ? -1 : 0);
		assert_int_equal(asked_for_all, i < 2);
	}
}

/* Names that nothing answers to are not installed; of environments, the one with an absolute path
 * counts. */
TEST_WITH(what_is_named_is_looked_for, usual, NULL)
{
	static const char *const names[] = {"no-such-package"};
	struct jw_startup_options options = own;
	struct jw_startup *startup;

	options.names = names;
	options.name_count = 1;
	assert_int_equal(jw_startup_enable(NULL, &options, &startup), -1);
	assert_false(is_there("home/.config/systemd"));
	/* Names in another account's command are resolved for that account. */
	options.service = "a";
	OK(jw_startup_enable(why, &options, &startup));
	jw_result_free(startup);
	OK(os_env_set(why, "VIRTUAL_ENV", "relative"));
	OK(os_env_set(why, "CONDA_PREFIX", "/absolute"));
	OK(jw_startup_find(why, &own, &startup));
	assert_non_null(strstr(startup->items[0].text, "--environment \"/absolute\""));
	jw_result_free(startup);
}

/* An environment that cannot be read does not count as missing; but installed units can be removed.
 * */
TEST_WITH(an_environment_that_cannot_be_read_is_told, usual, NULL)
{
	struct jw_startup *startup;

	root_put("venv/pyvenv.cfg", "");
	assert_int_equal(symlink("lib", inside("venv/lib")), 0);
	OK(os_env_set(why, "VIRTUAL_ENV", inside("venv")));
	assert_int_equal(jw_startup_enable(NULL, &own, &startup), -1);
	assert_false(is_there("home/.config/systemd"));
	OK(os_env_set(why, "VIRTUAL_ENV", NULL));
	OK(jw_startup_enable(why, &own, &startup));
	jw_result_free(startup);
	OK(os_env_set(why, "VIRTUAL_ENV", inside("venv")));
	expect(jw_startup_disable, &own,
		   OWN("--") "c systemctl --user disable --now jitwarm.timer jitwarm.path\n" RELOAD);
	/* A unit that cannot be read does not count as missing. */
	OK(os_env_set(why, "VIRTUAL_ENV", NULL));
	root_put("home/.config/systemd/user/other", "");
	assert_int_equal(
		symlink("jitwarm.service", inside("home/.config/systemd/user/jitwarm.service")), 0);
	assert_int_equal(jw_startup_find(NULL, &own, &startup), -1);
}

TEST_WITH(services_are_listed_by_their_folders, usual, NULL)
{
	static const char *const files[] = {
		"jitwarm@b.service.d/x",      "jitwarm@.service.d/x",
		"jitwarm@a-.service.d/x",     "jitwarm@.service",
		"jitwarm@c.service",          "x@d.service.d/x",
		"jitwarm@cccccccccc.service", "wwwwwww@dddddddddd.service.d/x",
	};
	char **names, *folder_of_units;
	size_t count;

	OK(jw_startup_services(why, &names, &count));
	assert_int_equal(count, 0);
	jw_result_free(names);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		root_put(keep(mem_printf("etc/systemd/system/%s", files[i])), "");
	}
	OK(jw_startup_services(why, &names, &count));
	jw_result_free(names);
	OK(jw_startup_services(why, &names, &count));
	assert_int_equal(count, 2);
	assert_true(!strcmp(names[0], "b") || !strcmp(names[1], "b"));
	assert_true(!strcmp(names[0], "a-") || !strcmp(names[1], "a-"));
	jw_result_free(names);
	/* A folder that cannot be listed is not empty. */
	OK(root_empty(NULL));
	root_put("etc/systemd/other", "");
	folder_of_units = keep(mem_printf("%s/etc/systemd/system", root));
	assert_int_equal(symlink("system", folder_of_units), 0);
	assert_int_equal(jw_startup_services(NULL, &names, &count), -1);
}

RUN_TESTS(root_make, root_remove)
