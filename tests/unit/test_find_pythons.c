/* How jw_find determines the active environment: conda, the Python on PATH, virtual environments,
 * pyenv. */
#include "environments_posix.h"

#include "os/env.h"

static void conda_environment_is_read(void **state)
{
	struct jw_found *found;
	(void)state;

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
	jw_found_free(found);
	found = find_one(NULL);
	assert_int_equal(found->file_count, 2);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "broken-1-0.json"));
	jw_found_free(found);
}

static void python_on_path_is_followed(void **state)
{
	struct jw_found *found;
	(void)state;

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
	jw_found_free(found);
}

static void python_of_a_virtual_environment_is_noticed(void **state)
{
	struct jw_found *found;
	(void)state;

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
	jw_found_free(found);
}

static void virtual_environment_may_share_its_base(void **state)
{
	struct jw_found *found;
	char *base = at("opt/bin"), *text;
	(void)state;

	text = mem_printf(NULL, "home = %s\ninclude-system-site-packages = True\n", base);
	put("v/pyvenv.cfg", text);
	put("v/lib/python3.9/site-packages/x-2.dist-info/METADATA", "Name: x\nVersion: 2\n");
	put("v/lib/python3.9/site-packages/x-2.dist-info/RECORD", "x/new.so,,\n");
	put("v/lib/python3.9/site-packages/x/new.so", "x");
	put("opt/lib/python3.9/site-packages/x-1.dist-info/METADATA", "Name: x\nVersion: 1\n");
	put("opt/lib/python3.9/site-packages/x-1.dist-info/RECORD", "x/old.so,,\n");
	put("opt/lib/python3.9/site-packages/x/old.so", "x");
	put("opt/lib/python3.9/site-packages/y.so", "x");
	set("VIRTUAL_ENV", "v");
	/* The environment's own x hides that of the base. */
	found = find_one("x");
	assert_int_equal(found->file_count, 1);
	expect_file(found, "v/lib/python3.9/site-packages/x/new.so", "x", "2");
	jw_found_free(found);
	found = find_one(NULL);
	expect_file(found, "opt/lib/python3.9/site-packages/y.so", NULL, NULL);
	jw_found_free(found);
	mem_free(text);
	mem_free(base);
}

/* A shim as pyenv writes it. */
static void make_pyenv(void)
{
	char *pyenv = at("pyenv");
	char *shim = mem_printf(NULL,
							"#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT=\"%s\"\n"
							"exec \"%s/libexec/pyenv\" exec \"$program\" \"$@\"\n",
							pyenv, pyenv);

	put_program("pyenv/shims/python3", shim);
	put("pyenv/version", "# a remark\n3.11.7\n3.9.1\n");
	put_program("pyenv/versions/3.11.7/bin/python3.11", "\x7f"
														"ELF");
	link_to("pyenv/versions/3.11.7/bin/python3", "python3.11");
	put("pyenv/versions/3.11.7/lib/python3.11/site-packages/eleven.so", "x");
	put_program("pyenv/versions/3.9.10/bin/python3.9", "\x7f"
													   "ELF");
	link_to("pyenv/versions/3.9.10/bin/python3", "python3.9");
	put("pyenv/versions/3.9.10/lib/python3.9/site-packages/nine.so", "x");
	put("pyenv/versions/3.9.9/bin/python3", "x");
	set("PATH", "pyenv/shims");
	mem_free(shim);
	mem_free(pyenv);
}

static void pyenv_shims_are_followed(void **state)
{
	struct jw_found *found;
	(void)state;

	make_pyenv();
	found = find_one(NULL);
	assert_int_equal(found->file_count, 1);
	expect_file(found, "pyenv/versions/3.11.7/lib/python3.11/site-packages/eleven.so", NULL, NULL);
	jw_found_free(found);
	/* "3.9" is the newest 3.9.x. */
	assert_int_equal(os_env_set(NULL, "PYENV_VERSION", "missing:3.9"), 0);
	found = find_one(NULL);
	assert_int_equal(found->file_count, 1);
	expect_file(found, "pyenv/versions/3.9.10/lib/python3.9/site-packages/nine.so", NULL, NULL);
	jw_found_free(found);
	assert_int_equal(os_env_set(NULL, "PYENV_VERSION", "../../elsewhere:system"), 0);
	find_fails(NULL, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(conda_environment_is_read),
		TEST(python_on_path_is_followed),
		TEST(python_of_a_virtual_environment_is_noticed),
		TEST(virtual_environment_may_share_its_base),
		TEST(pyenv_shims_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
