/* jw_uninstall: what it removes, in which order, and the state after a failure, for the next call.
 * */
#include "root.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jitwarm/accounts.h>
#include <jitwarm/startup.h>
#include <jitwarm/tune.h>
#include <jitwarm/uninstall.h>

/* A real sync takes a moment on a busy disk. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

struct seen {
	char text[4096]; /* the steps, each "what where" below the test's folder, or "failed" */
	size_t failed;
};

static void note_step(void *context, const struct jw_uninstall_step *step)
{
	struct seen *seen = context;
	const char *inner = step->where ? strstr(step->where, root) : NULL;
	char line[1024];

	(void)snprintf(line, sizeof line, "%s%s%s%s\n",
				   step->failed.code ? "failed"
				   : step->where     ? step->what
									 : "said",
				   inner ? " " : "", inner ? inner + strlen(root) : "",
				   step->keys_stay ? ", keys stay" : "");
	assert_true(strlen(seen->text) + strlen(line) < sizeof seen->text);
	strcat(seen->text, line);
	seen->failed += step->failed.code != JW_OK;
}

static char *inside(const char *name)
{
	char *path = os_join(root, name);

	assert_non_null(path);
	return path;
}

static void set(const char *name, const char *inner)
{
	char *path = keep(inside(inner));

	OK(os_env_set(why, name, path));
}

static bool is_there(const char *name)
{
	char *path = keep(inside(name));
	const bool there = !access(path, F_OK);

	return there;
}

static void take_away(const char *name)
{
	char *path = keep(inside(name));

	assert_int_equal(remove(path), 0);
}

static void make_dir(const char *name)
{
	char *path = keep(inside(name));

	OK(os_make_dirs(why, path, 0700));
}

/* Sets up settings that name a cache, a key, and the state. */
static void set_things_up(void)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME",     "XDG_RUNTIME_DIR",
										 "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CONDA_PREFIX"};
	char *cache = keep(inside("tuned/cache"));
	const struct jw_tune_request request = {.scope = JW_SCOPE_SHELL, .path = cache};
	struct jw_tune_result *result;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		OK(os_env_set(why, others[i], NULL));
	set("HOME", "home");
	set("JITWARM_STATE", "state");
	OK(os_env_set(why, "SHELL", "/bin/bash"));
	/* If Python were a script there, jitwarm would run it each time to learn which Python it
	 * starts. */
	OK(os_env_set(why, "PATH", "/usr/bin:/bin"));
	make_dir("tuned/cache");
	files_put_text(root, "state/keys/a.key", "untrusted comment: x");
	files_put_text(root, "state/state.json", "{}");
	OK(jw_tune_apply(why, &request, &result));
	jw_result_free(result);
	assert_true(is_there("home/.bashrc"));
}

/* Makes a dry run, and then the run, which must do what the dry run reported. */
static struct seen uninstall(bool with_keys)
{
	struct seen would = {0}, seen = {0};
	struct jw_uninstall_options options = {
		.with_keys = with_keys, .dry_run = true, .context = &would, .step = note_step};
	size_t failed = jw_uninstall(&options);

	assert_int_equal(failed, would.failed);
	options.dry_run = false;
	options.context = &seen;
	failed = jw_uninstall(&options);
	assert_int_equal(failed, seen.failed);
	assert_string_equal(would.text, seen.text);
	return seen;
}

TEST_WITH(settings_and_state_go_and_the_cache_stays, root_empty, NULL)
{
	struct seen seen;

	set_things_up();
	seen = uninstall(false);
	assert_string_equal(seen.text, "removed /home/.bashrc\n"
								   "removed /home/.config/jitwarm/shell.conf\n"
								   "removed /state, keys stay\n");
	assert_true(is_there("state/keys/a.key"));
	assert_true(is_there("tuned/cache"));
	seen = uninstall(true);
	assert_string_equal(seen.text, "removed /state\n");
	assert_false(is_there("state"));
}

/* The next try continues. */
TEST_WITH(a_failure_keeps_the_state_and_nothing_else, root_empty, NULL)
{
	struct seen seen;

	set_things_up();
	take_away("home/.bashrc");
	make_dir("home/.bashrc");
	seen = uninstall(true);
	assert_string_equal(seen.text, "failed\n");
	assert_true(is_there("state/keys/a.key") && is_there("home/.bashrc"));
	take_away("home/.bashrc");
	seen = uninstall(true);
	assert_string_equal(seen.text, "removed /state\n");
}

static void enable(const char *service, bool everyone)
{
	const struct jw_startup_options options = {
		.program = "/bin/true", .service = service, .everyone = everyone};
	struct jw_startup *startup;

	OK(jw_startup_enable(why, &options, &startup));
	assert_null(startup->failed);
	jw_result_free(startup);
}

/* The units of the account, of services and, for an administrator, of everyone are removed. If
 * those of services cannot be listed, that is reported, and the state stays. */
TEST_WITH(units_go_too, root_empty, NULL)
{
	static const char *const units[] = {
		"home/.config/systemd/user/jitwarm.timer", "etc/systemd/system/jitwarm@a.service.d",
		"etc/systemd/system/jitwarm@b.service.d", "etc/systemd/system/jitwarm@.service",
		"etc/systemd/user/jitwarm.timer"};
	char *tool = keep(inside("bin/systemctl")),
		 *path = keep(mem_printf("%s/bin:/usr/bin:/bin", root));
	char *system = keep(inside("etc/systemd/system"));
	struct seen seen;

	set_things_up();
	files_put_text(root, "bin/systemctl", "#!/bin/sh\n");
	assert_int_equal(chmod(tool, 0755), 0);
	OK(os_env_set(why, "PATH", path));
	enable(NULL, false);
	enable("a", false);
	enable("b", false);
	enable(NULL, true);
	seen = uninstall(true);
	assert_int_equal(seen.failed, 0);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (is_there(units[i]) != (i == 4 && !jw_is_administrator()))
			fail_msg("%s: %s", units[i], seen.text);
	set_things_up();
	OK(os_env_set(why, "PATH", path));
	OK(os_remove_tree(why, system));
	assert_int_equal(symlink("system", system), 0);
	seen = uninstall(true);
	assert_int_equal(seen.failed, 1);
	assert_true(is_there("state") && !is_there("home/.bashrc"));
}

RUN_TESTS(root_make, root_remove)
