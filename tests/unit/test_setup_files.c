/* jw_tune_apply and jw_tune_undo with files: the written lines and reports, the files' rights, and
 * the state after undoing. */
#include "gates_posix.h"
#include "root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jitwarm/tune.h>

#include "os/env.h"
#include "os/file.h"

static int usual(void **state)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "ZDOTDIR", "CUDA_CACHE_PATH",
										 "CUDA_CACHE_MAXSIZE"};
	char *home = keep(os_join(root, "home")), *inner = keep(os_join(root, "state"));
	int result = root_empty(state) || os_env_set(why, "HOME", home) ||
				 os_env_set(why, "JITWARM_STATE", inner) || os_env_set(why, "SHELL", "/bin/bash");

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	(void)umask(022);
	return result;
}

static const char *inside(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static bool is_there(const char *name)
{
	return !access(inside(name), F_OK);
}

static const char *content_of(const char *name)
{
	static char content[4096];
	struct buf text = {0};

	if (os_read_file(NULL, inside(name), sizeof content - 1, &text))
		return "(none)";
	(void)snprintf(content, sizeof content, "%s", buf_text(&text));
	buf_free(&text);
	return content;
}

/* Checks the changes, as "what where" below the test's folder. */
static void expect(bool undo, const struct jw_tune_request *request, const char *wanted)
{
	struct jw_tune_result *result;
	char text[2048] = "";

	OK(undo ? jw_tune_undo(why, request, &result) : jw_tune_apply(why, request, &result));
	for (size_t i = 0; i < result->count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s|",
					   result->changes[i].what, result->changes[i].where + strlen(root));
	assert_string_equal(text, wanted);
	jw_result_free(result);
}

static void expect_failure(bool undo, const struct jw_tune_request *request, enum jw_code code,
						   const char *said)
{
	struct jw_tune_result *result = NULL;

	GIVES(code, undo ? jw_tune_undo(why, request, &result) : jw_tune_apply(why, request, &result));
	if (!strstr(why->message, said))
		fail_msg("%s", why->message);
	assert_null(result);
}

#define OWN     "# jitwarm tune wrote this file, and jitwarm tune --undo removes it.\n"
#define BASHRC  "written /home/.config/jitwarm/shell.conf|written /home/.bashrc|"
#define UNDONE  "removed /home/.bashrc|removed /home/.config/jitwarm/shell.conf|"
#define PROFILE "written /home/.config/environment.d/60-jitwarm.conf|written /home/.profile|"
#define SYSTEM  "# jitwarm tune --scope system\nCUDA_CACHE_MAXSIZE=7\nJITWARM_TUNED=7:\n"

static const struct jw_tune_request shell = {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
									user = {.scope = JW_SCOPE_USER, .limit_bytes = 7},
									system_wide = {.scope = JW_SCOPE_SYSTEM, .limit_bytes = 7};

TEST_WITH(a_file_and_a_line_are_made_and_go, usual, NULL)
{
	struct jw_tune_request more = shell;
	char line[4096];

	expect(false, &shell, BASHRC);
	assert_string_equal(content_of("home/.config/jitwarm/shell.conf"),
						OWN "CUDA_CACHE_MAXSIZE=\"7\"\nJITWARM_TUNED=\"7:\"\n");
	(void)snprintf(line, sizeof line,
				   "if [ -r '%s/home/.config/jitwarm/shell.conf' ]; then set -a; . "
				   "'%s/home/.config/jitwarm/shell.conf'; set +a; fi # jitwarm tune --scope "
				   "shell\n",
				   root, root);
	assert_string_equal(content_of("home/.bashrc"), line);
	expect(false, &shell, "unchanged /home/.config/jitwarm/shell.conf|unchanged /home/.bashrc|");
	/* Writes different bytes of the same number. */
	more.limit_bytes = 8;
	expect(false, &more, "written /home/.config/jitwarm/shell.conf|unchanged /home/.bashrc|");
	assert_non_null(strstr(content_of("home/.config/jitwarm/shell.conf"), "MAXSIZE=\"8\""));
	expect(true, &system_wide, "");
	expect(true, &user, "");
	gate_removal_fails = true;
	expect_failure(true, &shell, JW_ERR_IO, ".bashrc");
	gate_removal_fails = false;
	expect(true, &shell, UNDONE);
	assert_false(is_there("home/.config/jitwarm") || is_there("home/.bashrc") || is_there("state"));
	expect(true, &shell, "");
	expect(true, NULL, "");
}

/* A limit without a path keeps the path that jitwarm has set, and the other way round. */
TEST_WITH(what_is_not_asked_for_stays, usual, NULL)
{
	const struct jw_tune_request path = {.scope = JW_SCOPE_SHELL, .path = "/my cache"};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(usual(state), 0);
		expect(false, i ? &shell : &path, BASHRC);
		expect(false, i ? &path : &shell,
			   "written /home/.config/jitwarm/shell.conf|unchanged /home/.bashrc|");
		assert_string_equal(content_of("home/.config/jitwarm/shell.conf"),
							OWN "CUDA_CACHE_MAXSIZE=\"7\"\nCUDA_CACHE_PATH=\"/my cache\"\n"
								"JITWARM_TUNED=\"7:/my cache\"\n");
	}
}

/* Two scopes share a profile: each takes back its own line. */
TEST_WITH(each_scope_has_its_own_line, usual, NULL)
{
	OK(os_env_set(why, "SHELL", "/bin/dash"));
	root_put("home/.profile", "mine\n");
	expect(false, &user, PROFILE);
	expect(false, &shell, "written /home/.config/jitwarm/shell.conf|written /home/.profile|");
	expect(true, &user,
		   "restored /home/.profile|removed /home/.config/environment.d/60-jitwarm.conf|");
	assert_non_null(strstr(content_of("home/.profile"), "--scope shell"));
	assert_null(strstr(content_of("home/.profile"), "--scope user"));
	expect(true, NULL, "restored /home/.profile|removed /home/.config/jitwarm/shell.conf|");
	assert_string_equal(content_of("home/.profile"), "mine\n");
}

/* The profile is reached through a symlink and keeps its rights; one has 5 MB. */
TEST_WITH(profiles_of_all_kinds_keep_their_bytes, usual, NULL)
{
	enum { LARGE = 5 << 20 };
	char *large = calloc(1, LARGE + 1), *whole = NULL;
	struct buf after = {0};
	struct stat stat_of;

	memset(large, '#', LARGE);
	for (int read_only = 0; read_only < 2; read_only++)
		for (int link = 0; link < 2; link++) {
			assert_int_equal(usual(state), 0);
			root_put(link ? "home/real" : "home/.bashrc", large);
			if (link)
				assert_int_equal(symlink("real", inside("home/.bashrc")), 0);
			assert_int_equal(chmod(inside("home/.bashrc"), read_only ? 0440 : 0640), 0);
			expect(false, &shell, BASHRC);
			assert_int_equal(lstat(inside("home/.bashrc"), &stat_of), 0);
			assert_int_equal(S_ISLNK(stat_of.st_mode), link);
			expect(true, &shell,
				   "restored /home/.bashrc|removed /home/.config/jitwarm/shell.conf|");
			OK(os_read_file(why, inside("home/.bashrc"), LARGE + 2, &after));
			whole = keep(mem_printf("%s\n", large));
			assert_int_equal(after.size, LARGE + 1);
			assert_string_equal(buf_text(&after), whole);
			assert_int_equal(stat(inside("home/.bashrc"), &stat_of), 0);
			assert_int_equal(stat_of.st_mode & 0777, read_only ? 0440 : 0640);
			buf_free(&after);
		}
	free(large);
}

TEST_WITH(what_else_is_there_stays, usual, NULL)
{
	expect(false, &shell, BASHRC);
	root_put("home/.config/jitwarm/config", "x");
	expect(true, NULL, UNDONE);
	assert_true(is_there("home/.config/jitwarm/config") && !is_there("home/.bashrc"));
	/* A line below the mark that jitwarm did not write is not jitwarm's. */
	root_put("etc/environment", "A=1\n" SYSTEM "CUDA_CACHE_PATH=/x\nB=1\nCUDA_CACHE_MAXSIZE=9\n");
	if (!geteuid())
		expect(true, &system_wide, "restored /etc/environment|");
	else
		return;
	assert_string_equal(content_of("etc/environment"), "A=1\nB=1\nCUDA_CACHE_MAXSIZE=9\n");
}

/* A profile that is not read whole keeps its contents. */
TEST_WITH(what_cannot_be_read_stays, usual, NULL)
{
	enum { MAX_FILE = 16 << 20 };
	char *longer = calloc(1, MAX_FILE + 2);
	struct os_stat stat;

	memset(longer, '#', MAX_FILE + 1);
	root_put("home/.bashrc", longer);
	expect_failure(false, &shell, JW_ERR_LIMIT, ".bashrc");
	expect_failure(true, &shell, JW_ERR_LIMIT, ".bashrc");
	OK(os_stat(why, inside("home/.bashrc"), &stat));
	assert_int_equal(stat.size_bytes, MAX_FILE + 1);
	free(longer);
	/* A missing profile is not made either. */
	OK(os_remove(why, inside("home/.bashrc")));
	assert_int_equal(symlink(".bashrc", inside("home/.bashrc")), 0);
	expect_failure(false, &shell, JW_ERR_IO, ".bashrc");
}

/* Every account may read the system's files, whatever the umask is; a person's own files keep their
 * rights. */
TEST_WITH(the_systems_files_are_for_all_to_read, usual, NULL)
{
	struct stat stat_of;

	if (geteuid() != 0)
		skip();
	(void)umask(077);
	expect(false, &system_wide, "written /etc/environment|");
	expect(false, &shell, BASHRC);
	(void)umask(022);
	assert_int_equal(stat(inside("etc/environment"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0644);
	assert_string_equal(content_of("etc/environment"), SYSTEM);
	assert_int_equal(stat(inside("home/.bashrc"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0077, 0);
	expect(true, NULL, UNDONE "removed /etc/environment|");
}

TEST_WITH(what_cannot_be_written_is_said, usual, NULL)
{
	static const struct {
		enum jw_scope scope;
		const char *file, *said;
	} cases[] = {
		{JW_SCOPE_SHELL, "home", ": not changed: "},
		{JW_SCOPE_USER, "home", ": not changed: "},
		{JW_SCOPE_SYSTEM, "etc", ": not changed: "},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_tune_request request = {.scope = cases[i].scope, .limit_bytes = 7};
		struct jw_tune_result *result;

		assert_int_equal(usual(state), 0);
		/* a file in the place of a folder */
		root_put(cases[i].file, "x");
		assert_int_equal(jw_tune_apply(why, &request, &result), -1);
		assert_non_null(strstr(why->message, cases[i].said));
		assert_string_equal(content_of(cases[i].file), "x");
	}
}

TEST_WITH(what_is_asked_for_wrongly_changes_nothing, usual, NULL)
{
	struct jw_tune_request request = shell;

	request.path = "relative";
	expect_failure(false, &request, JW_ERR_USAGE, "relative: ");
	request = shell;
	request.path = "/a\nb";
	expect_failure(false, &request, JW_ERR_USAGE, "cannot be written");
	assert_false(is_there("home") || is_there("state"));
}

/* Applies settings in all scopes, and for each shell; zsh has its own folder. */
static void apply_everywhere(void)
{
	root_put("home/z/.zshrc", "");
	OK(os_env_set(why, "ZDOTDIR", inside("home/z")));
	expect(false, &shell, BASHRC);
	expect(false, &user, PROFILE);
	/* The shell reads another profile at the login from then on. */
	root_put("home/.bash_profile", "mine\n");
	expect(false, &user,
		   "unchanged /home/.config/environment.d/60-jitwarm.conf|written /home/.bash_profile|");
	OK(os_env_set(why, "SHELL", "zsh"));
	expect(false, &shell, "unchanged /home/.config/jitwarm/shell.conf|written /home/z/.zshenv|");
	OK(os_env_set(why, "SHELL", "fish"));
	expect(false, &shell, "written /home/.config/fish/conf.d/jitwarm.fish|");
	expect(false, &system_wide, "written /etc/environment|");
}

/* The lines of every shell are removed, even if zsh has its own folder; the system's too, if the
 * account may write there. A failure does not prevent the rest. */
TEST_WITH(without_a_scope_all_is_undone, usual, NULL)
{
	static const char home[] = "removed /home/.bashrc|removed /home/z/.zshenv|"
							   "removed /home/.config/jitwarm/shell.conf|"
							   "removed /home/.config/fish/conf.d/jitwarm.fish|"
							   "restored /home/.bash_profile|removed /home/.profile|"
							   "removed /home/.config/environment.d/60-jitwarm.conf|";
	char wanted[1024];

	if (geteuid() != 0)
		skip();
	apply_everywhere();
	if (geteuid())
		assert_int_equal(chmod(inside("etc"), 0500), 0);
	root_put("home/z/.zprofile/x", "");
	expect_failure(true, NULL, JW_ERR_UNSUPPORTED, ".zprofile");
	assert_false(is_there("home/.bashrc"));
	assert_int_equal(usual(state), 0);
	apply_everywhere();
	(void)snprintf(wanted, sizeof wanted, "%s%s", home,
				   geteuid() ? "" : "removed /etc/environment|");
	expect(true, NULL, wanted);
	assert_false(is_there("home/.config"));
	assert_string_equal(content_of("home/.bash_profile"), "mine\n");
}

RUN_TESTS(root_make, root_remove)
