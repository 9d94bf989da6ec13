/* The way in which jw_find determines the active environment: conda, the Python on PATH, virtual
 * environments, or scripts in Python's place. */
#include "environments_posix.h"

#include <sys/syscall.h>

#include <jitwarm/places.h>

#include "base/text.h"
#include "os/env.h"
#include "os/private.h"

CASE(conda_environment_is_read)
{
	struct jw_found *found;

	put("conda/conda-meta/pytorch-2.1-py311_0.json",
		"{\"name\": \"pytorch\", \"version\": \"2.1\", \"depends\": [\"cudatoolkit 11\"],"
		"\"files\": [\"lib/python3.11/site-packages/torch/t.so\", \"../out.so\"]}");
	put("conda/conda-meta/cudatoolkit-11.8-h1_2.json",
		"{\"name\": \"cudatoolkit\", \"version\": \"11.8\", \"files\": [\"lib/libcufft.so.10\"]}");
	put("conda/conda-meta/broken-1-0.json", "{");
	put("conda/conda-meta/history", "");
	put("conda/lib/python3.11/site-packages/torch/t.so", "x");
	put("conda/lib/libcufft.so.10", "x");
	set("CONDA_PREFIX", "conda");
	found = find_one("pytorch");
	assert_int_equal(found->file_count, 2);
	expect_file(found, "conda/lib/libcufft.so.10", "cudatoolkit", "11.8");
	assert_true(has_note(found, "out.so"));
	assert_true(strstr(found->environment, "conda environment") != NULL);
	jw_result_free(found);
	found = find_one(NULL);
	assert_int_equal(found->file_count, 2);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "broken-1-0.json"));
	jw_result_free(found);
}

CASE(python_on_path_is_followed)
{
	struct jw_found *found;

	put_program("opt/bin/python3.9", "\x7f"
									 "ELF");
	link_to("bin/python3", "../opt/bin/python3.9");
	put("opt/lib/python3.9/site-packages/a.so", "x");
	put("opt/lib/python3.8/site-packages/b.so", "x");
	put("home/.local/lib/python3.9/site-packages/u.so", "x");
	put("home/.local/lib/python3.8/site-packages/v.so", "x");
	set("PATH", "bin");
	found = find_one(NULL);
	assert_int_equal(found->file_count, 2);
	expect_file(found, "opt/lib/python3.9/site-packages/a.so", NULL, NULL);
	expect_file(found, "home/.local/lib/python3.9/site-packages/u.so", NULL, NULL);
	jw_result_free(found);
	for (int none = 0; none < 2; none++) {
		OK(os_env_set(why, "PYTHONNOUSERSITE", none ? "1" : ""));
		found = find_one(NULL);
		assert_int_equal(found->file_count, none ? 1 : 2);
		jw_result_free(found);
	}
}

/* In /tmp, anybody may make an environment. */
CASE(a_projects_environment_is_used_if_it_is_ours)
{
	enum { NOBODY = 65534, OTHER = 12345 };
	static const struct {
		const char *sudo_user;
		uid_t account, owner;
		bool used;
	} cases[] = {
		{NULL, 0, 0, true},           {NULL, 0, NOBODY, false},
		{"nobody", 0, NOBODY, false}, {"nobody", 0, OTHER, false},
		{NULL, NOBODY, 0, true},      {NULL, NOBODY, NOBODY, true},
		{NULL, NOBODY, OTHER, false}, {"nobody", NOBODY, OTHER, false},
	};
	char *venv = keep(at(".venv")), *before = NULL;

	if (geteuid() != 0)
		skip();
	put(".venv/pyvenv.cfg", "home = /nowhere\n");
	put(".venv/lib/python3.9/site-packages/own.so", "x");
	OK(os_real_path(why, ".", &before));
	assert_int_equal(chmod(root, 0755) || chdir(root), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_found *found = NULL;
		bool used;

		assert_int_equal(chown(venv, cases[i].owner, (gid_t)-1) || chmod(venv, 0755), 0);
		OK(os_env_set(why, "SUDO_USER", cases[i].sudo_user));
		assert_int_equal(seteuid(cases[i].account), 0);
		used = !jw_find(NULL, &(struct jw_find_options){0}, &found);
		assert_int_equal(seteuid(0), 0);
		if (used != cases[i].used)
			fail_msg("case %zu: %d", i, used);
		jw_result_free(found);
	}
	OK(os_env_set(why, "SUDO_USER", NULL) || chdir(before));
	assert_int_equal(chown(venv, 0, (gid_t)-1), 0);
	mem_free(before);
}

/* The link's maker could change its target after the check. */
CASE(a_projects_environment_is_what_its_link_leads_to)
{
	char *link = keep(at("project/.venv")), *before = NULL, *folder = NULL;
	struct jw_found *found = NULL;

	put("elsewhere/pyvenv.cfg", "home = /nowhere\n");
	put("elsewhere/lib/python3.9/site-packages/own.so", "x");
	put("project/file", "x");
	assert_int_equal(symlink("../elsewhere", link), 0);
	OK(os_real_path(why, ".", &before));
	folder = keep(os_dir_name(link));
	assert_int_equal(chdir(folder), 0);
	OK(jw_find(why, &(struct jw_find_options){0}, &found));
	assert_non_null(strstr(found->environment, "/elsewhere"));
	assert_int_equal(found->file_count, 1);
	assert_non_null(strstr(found->files[0].path, "/elsewhere/"));
	jw_result_free(found);
	assert_int_equal(chdir(before), 0);
	mem_free(before);
}

/* Microsoft's Store has an empty file in Python's place. */
CASE(what_cannot_be_started_is_passed_over)
{
	static const char *const contents[] = {"", "\x7f"
											   "ELF"};

	set("PATH", "stubs");
	for (int i = 0; i < 2; i++) {
		put_program("stubs/python3", contents[i]);
		if (i) {
			char *stub = keep(at("stubs/python3"));

			assert_int_equal(chmod(stub, 0644), 0);
		}
		find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	}
}

CASE(python_of_a_virtual_environment_is_noticed)
{
	struct jw_found *found;

	put_program("opt/bin/python3.9", "\x7f"
									 "ELF");
	put("opt/lib/python3.9/site-packages/a.so", "x");
	put("v/pyvenv.cfg", "home = /nowhere\ninclude-system-site-packages = false\n");
	link_to("v/bin/python3", "../../opt/bin/python3.9");
	put("v/lib/python3.9/site-packages/own.so", "x");
	set("PATH", "v/bin");
	found = find_one(NULL);
	assert_int_equal(found->file_count, 1);
	expect_file(found, "v/lib/python3.9/site-packages/own.so", NULL, NULL);
	jw_result_free(found);
}

CASE(virtual_environment_may_share_its_base)
{
	struct jw_found *found;
	char *base = keep(at("opt/bin")), *text;

	text = keep(mem_printf("home = %s\ninclude-system-site-packages = True\n", base));
	put("v/pyvenv.cfg", text);
	put("v/lib/python3.9/site-packages/x-2.dist-info/METADATA", "Name: x\nVersion: 2\n");
	put("v/lib/python3.9/site-packages/x-2.dist-info/RECORD", "x/new.so,,\n");
	put("v/lib/python3.9/site-packages/x/new.so", "x");
	put("opt/lib/python3.9/site-packages/x-1.dist-info/METADATA", "Name: x\nVersion: 1\n");
	put("opt/lib/python3.9/site-packages/x-1.dist-info/RECORD", "x/old.so,,\n");
	put("opt/lib/python3.9/site-packages/x/old.so", "x");
	put("opt/lib/python3.9/site-packages/y.so", "x");
	put("home/.local/lib/python3.9/site-packages/u.so", "x");
	set("VIRTUAL_ENV", "v");
	/* The environment's own x hides that of the base. */
	found = find_one("x");
	assert_int_equal(found->file_count, 1);
	expect_file(found, "v/lib/python3.9/site-packages/x/new.so", "x", "2");
	jw_result_free(found);
	found = find_one(NULL);
	expect_file(found, "opt/lib/python3.9/site-packages/y.so", NULL, NULL);
	expect_file(found, "home/.local/lib/python3.9/site-packages/u.so", NULL, NULL);
	jw_result_free(found);
}

/* Puts a script in Python's place, which prints a line, and leaves a file in its current folder. */
static void put_script(const char *relative, const char *line)
{
	char *ran = keep(at("ran")),
		 *text = keep(mem_printf("#!/bin/sh\npwd >'%s'\n[ \"$1 $2 $3\" = "
								 "\"-I -c print(__import__('sys').executable)\" ] && %s\n",
								 ran, line));

	put_program(relative, text);
}

/* Returns the folder in which the script has run; "": it has not. */
static const char *ran_in(void)
{
	static char folder[4096];
	char *ran = keep(at("ran"));
	const size_t size = os_exists(ran) ? os_read_head(ran, folder, sizeof folder - 1) : 0;

	folder[size ? size - 1 : 0] = '\0';
	return folder;
}

/* Acts as an account that may run scripts, in a folder of its own. */
static int set_up_account(void **state)
{
	const uid_t nobody = 65534;

	if (set_up(state))
		return -1;
	return geteuid() == 0 && (chown(root, nobody, (gid_t)-1) || seteuid(nobody));
}

static int tear_down_account(void **state)
{
	return seteuid(getuid()) || tear_down(state);
}

static bool always(void *context)
{
	(void)context;
	return true;
}

/* Lets the script continue as soon as somebody asks whether to cancel. */
static bool let_go(void *context)
{
	(void)context;
	put("go", "");
	return false;
}

static int refuse(struct jw_error *err, const char *path, bool for_all)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: refused%s", path, for_all ? " for all" : "");
}

/* pyenv's python3 is a script that selects a version at each start. */
TEST_WITH(a_script_is_asked_what_it_starts, set_up_account, tear_down_account)
{
	char *python = keep(at("versions/3.11.7/bin/python3")),
		 *line = keep(mem_printf("echo '%s'", python)),
		 *failing = keep(mem_printf("%s && exit 1", line)), *before = NULL, *go = keep(at("go")),
		 *waiting = keep(mem_printf("until [ -e '%s' ]; do :; done && %s", go, line));
	struct jw_found *found;

	put_program("versions/3.11.7/bin/python3", "\x7f"
											   "ELF");
	put("versions/3.11.7/lib/python3.11/site-packages/eleven.so", "x");
	put_script("shims/python3", line);
	set("PATH", "shims");
	os_set_guard(refuse);
	find_fails(NULL, JW_ERR_NOT_FOUND, "shims/python3: refused");
	find_fails("torch", JW_ERR_NOT_FOUND, "name its environment: --environment DIR");
	assert_string_equal(ran_in(), "");
	os_set_guard(NULL);
	found = find_one(NULL);
	assert_int_equal(found->file_count, 1);
	expect_file(found, "versions/3.11.7/lib/python3.11/site-packages/eleven.so", NULL, NULL);
	jw_result_free(found);
	assert_string_not_equal(ran_in(), "");
	put_script("shims/python3", "echo no/such/python");
	find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	put_script("shims/python3", failing);
	find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	OK(os_real_path(why, ".", &before) || chdir(root));
	put_script("shims/python3", "echo versions/3.11.7/bin/python3");
	find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	assert_int_equal(chdir(before), 0);
	put_script("shims/python3", "echo $0"); /* itself a script */
	find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	put_script("shims/python3", "while :; do echo python; done");
	find_fails(NULL, JW_ERR_LIMIT, "");
	put_script("shims/python3", waiting);
	OK(jw_find(why, &(struct jw_find_options){.cancel = {NULL, let_go}}, &found));
	jw_result_free(found);
	put_script("shims/python3", "while :; do :; done");
	GIVES(JW_ERR_INTERRUPTED,
		  jw_find(why, &(struct jw_find_options){.cancel = {.is_cancelled = always}}, &found));
	mem_free(before);
}

static int refuse_here(struct jw_error *err, const char *path, bool for_all)
{
	return strcmp(path, ".") != 0 || for_all ? 0 : error_set(err, JW_ERR_UNSUPPORTED, "refused");
}

/* A script runs in no current folder that the guard refuses. */
CASE(a_script_is_asked_elsewhere)
{
	struct jw_found *found;
	char *python = keep(at("bin/python")), *line = keep(mem_printf("echo '%s'", python));

	put_program("bin/python", "\x7f"
							  "ELF");
	put("lib/python3.11/site-packages/own.so", "x");
	put_script("shims/python3", line);
	set("PATH", "shims");
	os_set_guard(refuse_here);
	found = find_one(NULL);
	os_set_guard(NULL);
	assert_int_equal(found->file_count, 1);
	jw_result_free(found);
	assert_string_equal(ran_in(), "/");
}

/* The folder is on another file system, if it is examined by its name. */
int fstatat(int folder, const char *name, struct stat *stat, int flags)
{
	const int result = (int)syscall(SYS_newfstatat, folder, name, stat, flags);

	if (!result && !strcmp(name, "mounted"))
		stat->st_dev++;
	return result;
}

static bool has_place(const char *folder, const char *end)
{
	const struct jw_places_options options = {.folders = &folder, .folder_count = folder ? 1 : 0};
	struct jw_places *places;
	bool has = false;

	OK(jw_places_find(why, &options, &places));
	for (size_t i = 0; i < places->count; i++)
		has = has || text_ends(places->items[i].name, end);
	jw_result_free(places);
	return has;
}

/* Nothing on another file system is examined unless it was named: it may not answer. A relative
 * folder could be anybody's. */
CASE(places_are_near_and_whole)
{
	struct jw_places_options options = {.cancel = {NULL, always}};
	struct jw_places *places;
	char *home = at("home"), *before = NULL;

	put("home/near/venv1/pyvenv.cfg", "");
	put("home/mounted/venv2/pyvenv.cfg", "");
	put("hooks/venv3/pyvenv.cfg", "");
	assert_true(has_place(NULL, "/venv1") && has_place(home, "/venv1"));
	assert_true(!has_place(NULL, "/venv2") && has_place(home, "/venv2"));
	OK(os_real_path(why, ".", &before) || chdir(root));
	OK(os_env_set(why, "WORKON_HOME", "hooks"));
	assert_false(has_place(NULL, "/venv3"));
	set("WORKON_HOME", "hooks");
	assert_true(has_place(NULL, "/venv3"));
	OK(os_env_set(why, "WORKON_HOME", NULL) || chdir(before));
	options.folders = (const char *const *)&home;
	options.folder_count = 1;
	GIVES(JW_ERR_INTERRUPTED, jw_places_find(why, &options, &places));
	mem_free(before);
	mem_free(home);
}

RUN_TESTS(NULL, NULL)
