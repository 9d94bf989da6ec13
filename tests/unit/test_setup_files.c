/* jw_tune_apply and jw_tune_undo in files: what is written and reported, with which rights, and
 * what undoing leaves. */
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
	char *home = os_join(root, "home"), *inner = os_join(root, "state");
	int result = root_empty(state) || os_env_set(why, "HOME", home) ||
				 os_env_set(why, "JITWARM_STATE", inner) || os_env_set(why, "SHELL", "/bin/bash");

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	mem_free(home);
	mem_free(inner);
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

/* The changes, "what where" below the test's folder. */
static void expect(bool undo, const struct jw_tune_request *request, const char *wanted)
{
	struct jw_tune_result *result;
	char text[2048] = "";

	OK(undo ? jw_tune_undo(why, request, &result) : jw_tune_apply(why, request, &result));
	for (size_t i = 0; i < result->count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s|",
					   result->changes[i].what, result->changes[i].where + strlen(root));
	assert_string_equal(text, wanted);
	jw_tune_result_free(result);
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

#define SET    "export CUDA_CACHE_MAXSIZE='7'\n"
#define BEGIN  "# >>> jitwarm tune"
#define FINISH SET "# <<< jitwarm tune <<<\n"

static const struct jw_tune_request shell = {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
									user = {.scope = JW_SCOPE_USER, .limit_bytes = 7},
									system_wide = {.scope = JW_SCOPE_SYSTEM, .limit_bytes = 7};

TEST_WITH(a_file_is_made_and_goes, usual, NULL)
{
	struct jw_tune_request more = shell;

	expect(false, &shell, "written /home/.bashrc|");
	assert_string_equal(content_of("home/.bashrc"), BEGIN " (made 2) >>>\n" FINISH);
	expect(false, &shell, "unchanged /home/.bashrc|");
	/* Other bytes, and as many */
	more.limit_bytes = 8;
	expect(false, &more, "written /home/.bashrc|");
	assert_non_null(strstr(content_of("home/.bashrc"), "MAXSIZE='8'"));
	expect(true, &system_wide, "");
	gate_removal_fails = true;
	expect_failure(true, &shell, JW_ERR_IO, ".bashrc");
	gate_removal_fails = false;
	expect(true, &shell, "removed /home/.bashrc|");
	assert_false(is_there("home") || is_there("state"));
	expect(true, &shell, "");
	expect(true, NULL, "");
}

TEST_WITH(what_else_is_there_stays, usual, NULL)
{
	expect(false, &shell, "written /home/.bashrc|");
	root_put("home/.vimrc", "x");
	expect(true, NULL, "removed /home/.bashrc|");
	assert_true(is_there("home/.vimrc") && !is_there("home/.bashrc"));
	/* A line that was added since is not ours. */
	expect(false, &shell, "written /home/.bashrc|");
	root_put("home/.bashrc", BEGIN " (made 1) >>>\n" FINISH "more\n");
	expect(true, &shell, "restored /home/.bashrc|");
	assert_string_equal(content_of("home/.bashrc"), "more\n");
	expect(false, &shell, "written /home/.bashrc|");
	expect(true, NULL, "restored /home/.bashrc|");
	assert_string_equal(content_of("home/.bashrc"), "more\n");
}

/* A profile that is not read whole keeps what it holds. */
TEST_WITH(what_cannot_be_read_stays, usual, NULL)
{
	enum { MOST_FILE = 1 << 20 };
	char *longer = calloc(1, MOST_FILE + 2);
	struct os_stat stat;

	memset(longer, '#', MOST_FILE + 1);
	root_put("home/.bashrc", longer);
	expect_failure(false, &shell, JW_ERR_LIMIT, ".bashrc");
	expect_failure(true, &shell, JW_ERR_LIMIT, ".bashrc");
	OK(os_stat(why, inside("home/.bashrc"), &stat));
	assert_int_equal(stat.size_bytes, MOST_FILE + 1);
	free(longer);
	/* Not one that is missing, either. */
	OK(os_remove(why, inside("home/.bashrc")));
	assert_int_equal(symlink(".bashrc", inside("home/.bashrc")), 0);
	expect_failure(false, &shell, JW_ERR_IO, ".bashrc");
}

/* Of folders that were made, as many go as the block's first line can say: fifteen and the file. */
TEST_WITH(of_deep_folders_some_stay, usual, NULL)
{
	char deep[64] = "", text[512];

	for (int i = 0; i < 20; i++)
		strcat(deep, i ? "/a" : "a");
	OK(os_env_set(why, "XDG_CONFIG_HOME", inside(deep)));
	(void)snprintf(text, sizeof text,
				   "written /%s/environment.d/60-jitwarm.conf|written /home/.profile|", deep);
	expect(false, &user, text);
	(void)snprintf(text, sizeof text,
				   "removed /home/.profile|removed /%s/environment.d/60-jitwarm.conf|", deep);
	expect(true, &user, text);
	assert_true(is_there("a/a/a/a/a/a"));
	assert_false(is_there("a/a/a/a/a/a/a"));
}

/* Whatever the umask, every account may read the system's; a person's own are their own matter. */
TEST_WITH(the_systems_files_are_for_all_to_read, usual, NULL)
{
	struct stat stat_of;

	(void)umask(077);
	expect(false, &system_wide, "written /etc/environment|");
	expect(false, &shell, "written /home/.bashrc|");
	(void)umask(022);
	assert_int_equal(stat(inside("etc/environment"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0644);
	assert_int_equal(stat(inside("home/.bashrc"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0077, 0);
	expect(true, NULL, "removed /home/.bashrc|removed /etc/environment|");
	assert_false(is_there("home"));
}

TEST_WITH(what_cannot_be_written_is_said, usual, NULL)
{
	static const struct {
		enum jw_scope scope;
		const char *file, *said;
	} cases[] = {
		{JW_SCOPE_SHELL, "home", "nothing was changed there: "},
		{JW_SCOPE_USER, "home", "nothing was changed there: "},
		{JW_SCOPE_SYSTEM, "etc", "nothing was changed there: "},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_tune_request request = {.scope = cases[i].scope, .limit_bytes = 7};
		struct jw_tune_result *result;

		assert_int_equal(usual(state), 0);
		/* A file in the place of a folder */
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

TEST_WITH(half_a_block_stays_as_it_is, usual, NULL)
{
	static const char half[] = BEGIN " >>>\n" SET;

	root_put("home/.bashrc", half);
	expect_failure(false, &shell, JW_ERR_FORMAT, "/home/.bashrc: the block");
	expect_failure(true, &shell, JW_ERR_FORMAT, "/home/.bashrc: the block");
	assert_string_equal(content_of("home/.bashrc"), half);
	/* What cannot be undone does not keep the rest. */
	OK(os_remove(why, inside("home/.bashrc")));
	expect(false, &shell, "written /home/.bashrc|");
	root_put("home/.zshenv", half); /* undone before the other */
	expect_failure(true, NULL, JW_ERR_FORMAT, "/home/.zshenv: the block");
	assert_false(is_there("home/.bashrc"));
	root_put("home/.zshenv", BEGIN " >>>\n" FINISH);
	expect(true, NULL, "restored /home/.zshenv|");
}

/* Wherever settings are looked for, whichever shell wrote them there: also where zsh has its own
 * folder, and in units of the account. Of the system, for who may write there. */
TEST_WITH(without_a_scope_all_is_undone, usual, NULL)
{
	root_put("home/z/.zshrc", "");
	OK(os_env_set(why, "ZDOTDIR", inside("home/z")));
	expect(false, &shell, "written /home/.bashrc|");
	OK(os_env_set(why, "SHELL", "zsh"));
	expect(false, &shell, "written /home/z/.zshenv|");
	OK(os_env_set(why, "SHELL", "fish"));
	expect(false, &shell, "written /home/.config/fish/conf.d/jitwarm.fish|");
	/* As versions before wrote it */
	root_put("home/.config/systemd/user/a.service.d/60-jitwarm.conf",
			 BEGIN " (made 4) >>>\n" FINISH);
	expect(false, &system_wide, "written /etc/environment|");
	if (geteuid())
		assert_int_equal(chmod(inside("etc"), 0500), 0);
	expect(true, NULL,
		   geteuid() ? "removed /home/.config/systemd/user/a.service.d/60-jitwarm.conf|removed "
					   "/home/.config/fish/conf.d/jitwarm.fish|removed /home/z/.zshenv|removed "
					   "/home/.bashrc|"
					 : "removed /home/.config/systemd/user/a.service.d/60-jitwarm.conf|removed "
					   "/home/.config/fish/conf.d/jitwarm.fish|removed /home/z/.zshenv|removed "
					   "/home/.bashrc|removed /etc/environment|");
	assert_false(is_there("home/.config"));
	if (geteuid())
		assert_int_equal(chmod(inside("etc"), 0700), 0);
}

RUN_TESTS(root_make, root_remove)
