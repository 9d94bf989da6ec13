/* jw_find over environments that the tests make in a temporary folder. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "files.h"
#include "os/file.h"
#include "os/system.h"

/* Variables that decide which environment is active. */
static const char *const variables[] = {
	"VIRTUAL_ENV",    "CONDA_PREFIX",     "PATH",       "HOME",          "PYTHONPATH",
	"PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYENV_ROOT", "PYENV_VERSION", NULL};

static char *root; /* the test's own folder */

static char *at(const char *relative)
{
	char *path = os_join(NULL, root, relative);

	assert_non_null(path);
	return path;
}

static void put(const char *relative, const char *content)
{
	files_put_text(root, relative, content);
}

static void put_program(const char *relative, const char *content)
{
	char *path = at(relative);

	put(relative, content);
	assert_int_equal(chmod(path, 0755), 0);
	mem_free(path);
}

static void link_to(const char *relative, const char *target)
{
	char *path = at(relative), *folder = os_dir_name(NULL, path);

	assert_int_equal(os_make_dirs(NULL, folder, 0755), 0);
	assert_int_equal(symlink(target, path), 0);
	mem_free(folder);
	mem_free(path);
}

static void set(const char *name, const char *relative)
{
	char *path = at(relative);

	assert_int_equal(os_env_set(NULL, name, path), 0);
	mem_free(path);
}

static int set_up(void **state)
{
	char *made, *real;
	(void)state;

	assert_int_equal(os_make_temp_dir(NULL, "jitwarm-find", &made), 0);
	assert_int_equal(os_real_path(NULL, made, &real), 0);
	mem_free(made);
	root = real;
	for (size_t i = 0; variables[i]; i++)
		assert_int_equal(os_env_set(NULL, variables[i], NULL), 0);
	set("HOME", "home");
	set("PATH", "nothing");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;

	assert_int_equal(os_remove_tree(NULL, root), 0);
	mem_free(root);
	root = NULL;
	return 0;
}

static const struct jw_found_file *file_in(const struct jw_found *found, const char *relative)
{
	char *path = at(relative);
	const struct jw_found_file *file = NULL;

	for (size_t i = 0; i < found->file_count; i++)
		if (!strcmp(found->files[i].path, path))
			file = &found->files[i];
	mem_free(path);
	return file;
}

static void expect_file(const struct jw_found *found, const char *relative, const char *package,
						const char *version)
{
	const struct jw_found_file *file = file_in(found, relative);

	if (!file) {
		fail_msg("%s was not found", relative);
		return;
	}
	assert_int_equal(file->package != NULL, package != NULL);
	if (package)
		assert_string_equal(file->package, package);
	if (version)
		assert_string_equal(file->version, version);
}

static bool has_note(const struct jw_found *found, const char *part)
{
	for (size_t i = 0; i < found->note_count; i++)
		if (strstr(found->notes[i].text, part))
			return true;
	return false;
}

static struct jw_found *find_one(const char *name)
{
	struct jw_found *found = NULL;
	struct jw_error err;

	if (jw_find(&err, &name, name ? 1 : 0, &found))
		fail_msg("%s", err.message);
	return found;
}

static void find_fails(const char *name, enum jw_code code, const char *part)
{
	struct jw_found *found = NULL;
	struct jw_error err;

	assert_int_equal(jw_find(&err, &name, name ? 1 : 0, &found), -1);
	assert_null(found);
	assert_int_equal(err.code, code);
	if (!strstr(err.message, part))
		fail_msg("“%s” does not say “%s”", err.message, part);
}

#define SITE "venv/lib/python3.11/site-packages/"

/* A virtual environment with frame 2.0, which requires core and has optional parts. */
static void make_environment(void)
{
	put("venv/pyvenv.cfg", "home = /nowhere/bin\ninclude-system-site-packages = false\n");
	put(SITE "frame-2.0.dist-info/METADATA",
		"Name: Frame\nVersion: 2.0\nRequires-Dist: my_core (>=1)\nRequires-Dist: absent\n"
		"Requires-Dist: tester; extra == 'dev'\nRequires-Dist: parts-cu12; extra == 'and-cuda'\n");
	put(SITE "frame-2.0.dist-info/RECORD",
		"frame/__init__.py,,\nframe/lib.so.1,,\nframe/gone.so,,\n../../../bin/tool,,\n"
		"../../../../outside.so,,\n");
	put(SITE "frame/__init__.py", "");
	put(SITE "frame/lib.so.1", "x");
	put_program("venv/bin/tool", "\x7f"
								 "ELFx");
	put("outside.so", "x");
	put(SITE "my_core-1.1.dist-info/METADATA",
		"Name: my-core\nVersion: 1.1\nRequires-Dist: frame\n");
	put(SITE "my_core-1.1.dist-info/RECORD", "core/core.so,,\ncore.libs/dep.so,,\n");
	put(SITE "core/core.so", "x");
	put(SITE "core.libs/dep.so", "x");
	put(SITE "tester-1.dist-info/METADATA", "Name: tester\nVersion: 1\n");
	put(SITE "tester-1.dist-info/RECORD", "tester.so,,\n");
	put(SITE "tester.so", "x");
	put(SITE "parts_cu12-3.dist-info/METADATA", "Name: parts-cu12\nVersion: 3\n");
	put(SITE "parts_cu12-3.dist-info/RECORD", "parts/p.so,,\n");
	put(SITE "parts/p.so", "x");
	put(SITE "stray/own.so", "x");
	set("VIRTUAL_ENV", "venv");
}

static void package_brings_what_it_requires(void **state)
{
	struct jw_found *found;
	(void)state;

	make_environment();
	found = find_one("FRAME");
	assert_int_equal(found->file_count, 5);
	expect_file(found, SITE "frame/lib.so.1", "Frame", "2.0");
	expect_file(found, "venv/bin/tool", "Frame", "2.0");
	expect_file(found, SITE "core/core.so", "my-core", "1.1");
	expect_file(found, SITE "core.libs/dep.so", "my-core", "1.1");
	expect_file(found, SITE "parts/p.so", "parts-cu12", "3");
	assert_true(has_note(found, "outside.so"));
	assert_int_equal(found->trouble_count, 0);
	assert_true(strstr(found->environment, "virtual environment") != NULL);
	jw_found_free(found);
}

static void extras_may_be_named(void **state)
{
	struct jw_found *found;
	(void)state;

	make_environment();
	found = find_one("frame[dev]");
	expect_file(found, SITE "tester.so", "tester", "1");
	jw_found_free(found);
}

static void environment_is_the_default(void **state)
{
	struct jw_found *found;
	(void)state;

	make_environment();
	found = find_one(NULL);
	assert_int_equal(found->file_count, 7);
	expect_file(found, SITE "tester.so", "tester", "1");
	expect_file(found, SITE "stray/own.so", NULL, NULL);
	jw_found_free(found);
}

static void module_leads_to_its_package(void **state)
{
	struct jw_found *found;
	(void)state;

	make_environment();
	put(SITE "opencv_x-4.dist-info/METADATA", "Name: opencv-x\nVersion: 4\n");
	put(SITE "opencv_x-4.dist-info/RECORD", "cv9/__init__.py,,\ncv9/cv9.abi3.so,,\n");
	put(SITE "cv9/cv9.abi3.so", "x");
	found = find_one("cv9");
	expect_file(found, SITE "cv9/cv9.abi3.so", "opencv-x", "4");
	assert_true(has_note(found, "module of the package opencv-x"));
	jw_found_free(found);
}

static void missing_package_has_one_message(void **state)
{
	(void)state;

	make_environment();
	find_fails("fraem", JW_ERR_NOT_FOUND, "did you mean frame?");
	find_fails("frame==2.0", JW_ERR_NOT_FOUND, "frame==2.0");
	find_fails("./frame", JW_ERR_NOT_FOUND, "./frame");
	find_fails("", JW_ERR_USAGE, "empty name");
}

static void without_environment_that_is_said(void **state)
{
	(void)state;

	find_fails("torch", JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	find_fails(NULL, JW_ERR_NOT_FOUND, "VIRTUAL_ENV");
}

static void others_go_on_where_one_is_missing(void **state)
{
	const char *names[] = {"frame", "nothing-there"};
	struct jw_found *found;
	(void)state;

	make_environment();
	assert_int_equal(jw_find(NULL, names, 2, &found), 0);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "nothing-there"));
	assert_true(found->file_count > 0);
	jw_found_free(found);
}

static void existing_path_beats_a_package(void **state)
{
	char *before = NULL;
	struct jw_found *found;
	(void)state;

	make_environment();
	put("work/frame/own.so", "x");
	put("work/frame/readme.txt", "x");
	assert_int_equal(os_real_path(NULL, ".", &before), 0);
	assert_int_equal(chdir(root) || chdir("work"), 0);
	found = find_one("frame");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(found->file_count, 1);
	assert_string_equal(found->files[0].path, "frame/own.so");
	assert_null(found->environment);
	jw_found_free(found);
	mem_free(before);
}

static void files_come_once(void **state)
{
	char *folder, *loose;
	const char *names[3];
	struct jw_found *found;
	(void)state;

	put("d/a.so", "x");
	put("d/odd-name", "x");
	link_to("d/b.so", "a.so");
	link_to("d/loop", ".");
	link_to("d/dead.so", "gone");
	assert_int_equal(link((folder = at("d/a.so")), (loose = at("d/hard.so"))), 0);
	mem_free(folder);
	mem_free(loose);
	folder = at("d");
	loose = at("d/odd-name");
	names[0] = names[1] = folder;
	names[2] = loose;
	assert_int_equal(jw_find(NULL, names, 3, &found), 0);
	/* A file that is named counts whatever its name. */
	assert_int_equal(found->file_count, 2);
	jw_found_free(found);
	mem_free(folder);
	mem_free(loose);
}

static void devices_are_refused(void **state)
{
	(void)state;

	find_fails("/dev/null", JW_ERR_UNSUPPORTED, "neither a file nor a folder");
}

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

static void packages_without_record_are_found(void **state)
{
	struct jw_found *found;
	(void)state;

	make_environment();
	put(SITE "Old_Pack-1.0-py3.11.egg-info/PKG-INFO", "Name: Old-Pack\nVersion: 1.0\n");
	put(SITE "Old_Pack-1.0-py3.11.egg-info/top_level.txt", "oldpack\n_oldpack\n../core\n");
	put(SITE "oldpack/k.so", "x");
	put(SITE "_oldpack.abi3.so", "x");
	put(SITE "eggy-2.egg-info/PKG-INFO", "Name: eggy\nVersion: 2\n");
	put(SITE "eggy-2.egg-info/installed-files.txt", "../eggy/e.so\n../../../../../x.so\n");
	put(SITE "eggy/e.so", "x");
	put(SITE "flat-3.egg-info", "Name: flat\nVersion: 3\n");
	put(SITE "flat/f.so", "x");
	found = find_one("old.pack");
	assert_int_equal(found->file_count, 2);
	expect_file(found, SITE "oldpack/k.so", "Old-Pack", "1.0");
	jw_found_free(found);
	found = find_one("eggy");
	assert_int_equal(found->file_count, 1);
	expect_file(found, SITE "eggy/e.so", "eggy", "2");
	assert_true(has_note(found, "outside of"));
	jw_found_free(found);
	found = find_one("flat");
	assert_int_equal(found->file_count, 1);
	expect_file(found, SITE "flat/f.so", "flat", "3");
	jw_found_free(found);
}

static void out_of_memory_is_reported(void **state)
{
	(void)state;

	make_environment();
	for (size_t n = 1; n < 400; n++) {
		const char *name = "frame";
		struct jw_found *found = NULL;
		struct jw_error err = {0};

		mem_fail_after(n);
		if (!jw_find(&err, &name, 1, &found))
			jw_found_free(found);
		else
			assert_true(*err.message);
		mem_fail_after(0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(package_brings_what_it_requires),
		TEST(extras_may_be_named),
		TEST(environment_is_the_default),
		TEST(module_leads_to_its_package),
		TEST(missing_package_has_one_message),
		TEST(without_environment_that_is_said),
		TEST(others_go_on_where_one_is_missing),
		TEST(existing_path_beats_a_package),
		TEST(files_come_once),
		TEST(devices_are_refused),
		TEST(conda_environment_is_read),
		TEST(python_on_path_is_followed),
		TEST(python_of_a_virtual_environment_is_noticed),
		TEST(virtual_environment_may_share_its_base),
		TEST(pyenv_shims_are_followed),
		TEST(packages_without_record_are_found),
		TEST(out_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
