/* jw_find for packages and paths, in a virtual environment. */
#include "environments_posix.h"

#include <unistd.h>

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

CASE(a_package_brings_its_requirements)
{
	struct jw_found *found;

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

/* Python imports what it meets first: of a package in two folders only the first one's files. */
CASE(a_package_hides_its_namesake_in_a_later_folder)
{
	struct jw_found *found;

	make_environment();
	set("PYTHONPATH", "first");
	put("first/frame-3.dist-info/METADATA", "Name: frame\nVersion: 3\n");
	put("first/frame-3.dist-info/RECORD", "frame/new.so,,\n");
	put("first/frame/new.so", "x");
	found = find_one("frame");
	assert_int_equal(found->file_count, 1);
	expect_file(found, "first/frame/new.so", "frame", "3");
	jw_found_free(found);
}

CASE(extras_may_be_named)
{
	struct jw_found *found;

	make_environment();
	found = find_one("frame[dev]");
	expect_file(found, SITE "tester.so", "tester", "1");
	jw_found_free(found);
}

CASE(environment_is_the_default)
{
	struct jw_found *found;

	make_environment();
	found = find_one(NULL);
	assert_int_equal(found->file_count, 7);
	expect_file(found, SITE "tester.so", "tester", "1");
	expect_file(found, SITE "stray/own.so", NULL, NULL);
	jw_found_free(found);
}

CASE(module_leads_to_its_package)
{
	struct jw_found *found;

	make_environment();
	put(SITE "opencv_x-4.dist-info/METADATA", "Name: opencv-x\nVersion: 4\n");
	put(SITE "opencv_x-4.dist-info/RECORD", "cv9/__init__.py,,\ncv9/cv9.abi3.so,,\n");
	put(SITE "cv9/cv9.abi3.so", "x");
	found = find_one("cv9");
	expect_file(found, SITE "cv9/cv9.abi3.so", "opencv-x", "4");
	assert_true(has_note(found, "module of the package opencv-x"));
	jw_found_free(found);
	found = find_one("cv9>=4,<5");
	expect_file(found, SITE "cv9/cv9.abi3.so", "opencv-x", "4");
	jw_found_free(found);
	find_fails("cv9>=5", JW_ERR_NOT_FOUND, "cv9>=5: version 4 is installed in");
}

CASE(missing_package_has_one_message)
{
	make_environment();
	find_fails("fraem", JW_ERR_NOT_FOUND, "did you mean frame?");
	find_fails("frame==2.1", JW_ERR_NOT_FOUND, "frame==2.1: version 2.0 is installed in");
	find_fails("frame==2.0.1", JW_ERR_NOT_FOUND, "version 2.0 is");
	find_fails("frame==20.*", JW_ERR_NOT_FOUND, "version 2.0 is");
	find_fails("frame>=2.1", JW_ERR_NOT_FOUND, "frame>=2.1: version 2.0 is installed in");
	find_fails("frame>=2 x", JW_ERR_NOT_FOUND, "frame>=2 x: No such file");
	find_fails("frame,core", JW_ERR_NOT_FOUND, "frame,core: No such file");
	find_fails("./frame", JW_ERR_NOT_FOUND, "./frame");
	find_fails("", JW_ERR_USAGE, "empty name");
}

CASE(a_missing_environment_is_reported)
{
	find_fails("torch", JW_ERR_NOT_FOUND, "no python3 or python on PATH");
	find_fails(NULL, JW_ERR_NOT_FOUND, "VIRTUAL_ENV");
}

CASE(others_go_on_where_one_is_missing)
{
	const char *names[] = {"frame", "nothing-there"};
	struct jw_found *found;

	make_environment();
	assert_int_equal(jw_find(NULL,
							 &(struct jw_find_options){.size = sizeof(struct jw_find_options),
													   .names = names,
													   .name_count = 2},
							 &found),
					 0);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "nothing-there"));
	assert_true(found->file_count > 0);
	jw_found_free(found);
}

CASE(existing_path_beats_a_package)
{
	char *before = NULL;
	struct jw_found *found;

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

CASE(files_come_once)
{
	char *folder, *loose;
	const char *names[3];
	struct jw_found *found;

	put("d/a.so", "x");
	put("d/odd-name", "\x7f"
					  "ELF");
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
	assert_int_equal(jw_find(NULL,
							 &(struct jw_find_options){.size = sizeof(struct jw_find_options),
													   .names = names,
													   .name_count = 3},
							 &found),
					 0);
	/* A named file counts, whatever its name, where its content may. */
	assert_int_equal(found->file_count, 2);
	jw_found_free(found);
	mem_free(folder);
	mem_free(loose);
}

CASE(devices_are_refused)
{
	find_fails("/dev/null", JW_ERR_UNSUPPORTED, "neither a file nor a folder");
}

CASE(packages_without_record_are_found)
{
	struct jw_found *found;

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

/* As one to a file server that is away: a library may be there */
CASE(a_link_that_cannot_be_followed_is_said)
{
	struct jw_found *found;
	char *path;

	put("d/a.so", "x");
	link_to("d/self.so", "self.so");
	link_to("d/dead.so", "gone");
	link_to("d/text.txt", "text.txt");
	found = find_one((path = at("d")));
	mem_free(path);
	assert_int_equal(found->file_count, 1);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "self.so"));
	jw_found_free(found);
}

/* It may name what nothing else does */
CASE(an_unreadable_record_is_said)
{
	struct jw_found *found;

	make_environment();
	put(SITE "lost-1.dist-info/METADATA", "Name: lost\nVersion: 1\n");
	link_to(SITE "lost-1.dist-info/RECORD", "RECORD");
	put(SITE "lost/l.so", "x");
	put(SITE "old-2.egg-info/PKG-INFO", "Name: old\nVersion: 2\n");
	link_to(SITE "old-2.egg-info/top_level.txt", "top_level.txt");
	put(SITE "old/o.so", "x");
	found = find_one("lost");
	assert_int_equal(found->file_count, 1);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "RECORD"));
	jw_found_free(found);
	found = find_one("old");
	assert_int_equal(found->file_count, 1);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "top_level.txt"));
	jw_found_free(found);
}

/* A record may name any file: a pipe must not block the reader. */
CASE(package_of_pipes_and_programs)
{
	struct jw_found *found;
	char *pipe;

	make_environment();
	put(SITE "odd-1.dist-info/METADATA", "Name: odd\nVersion: 1\n");
	put(SITE "odd-1.dist-info/RECORD", "odd/bin/pipe,,\nodd/pipe.so,,\nodd/tool,,\nodd/text,,\n"
									   "odd/UPPER.PTX,,\nodd/p.whl,,\nodd/.git/k.ptx,,\n");
	put(SITE "odd/bin/x", "");
	put(SITE "odd/UPPER.PTX", "x");
	put(SITE "odd/p.whl", "x");
	put(SITE "odd/text", "x");
	put_program(SITE "odd/tool", "\x7f"
								 "ELFx");
	assert_int_equal(mkfifo((pipe = at(SITE "odd/bin/pipe")), 0755), 0);
	mem_free(pipe);
	assert_int_equal(mkfifo((pipe = at(SITE "odd/pipe.so")), 0755), 0);
	mem_free(pipe);
	(void)alarm(60);
	found = find_one("odd");
	(void)alarm(0);
	assert_int_equal(found->file_count, 3);
	expect_file(found, SITE "odd/tool", "odd", "1");
	expect_file(found, SITE "odd/UPPER.PTX", "odd", "1");
	expect_file(found, SITE "odd/p.whl", "odd", "1");
	jw_found_free(found);
}

CASE(out_of_memory_is_reported)
{
	make_environment();
	for (size_t n = 1; n < 400; n++) {
		const char *name = "frame";
		struct jw_found *found = NULL;
		struct jw_error err = {0};

		mem_fail_after(n);
		if (!jw_find(&err,
					 &(struct jw_find_options){
						 .size = sizeof(struct jw_find_options), .names = &name, .name_count = 1},
					 &found))
			jw_found_free(found);
		else
			assert_true(*err.message);
		mem_fail_after(0);
	}
}

static bool count_down(void *context)
{
	unsigned *left = context;

	return !*left || !--*left;
}

/* At any moment: the rest of the environment is not searched. */
CASE(search_that_is_cancelled)
{
	struct jw_found *found = NULL;
	unsigned most = 1, left;
	int result;

	make_environment();
	do {
		const struct jw_find_options options = {.size = sizeof options,
												.cancel = {&left, count_down}};
		struct jw_error err = {0};

		left = most++;
		result = jw_find(&err, &options, &found);
		assert_int_equal(err.code, result ? JW_ERR_INTERRUPTED : JW_OK);
	} while (result);
	assert_true(most > 3);
	jw_found_free(found);
}

/* Whichever kind of environment was active before. */
CASE(an_environment_can_be_made_the_active_one)
{
	static const struct {
		const char *dir, *name, *other;
	} cases[] = {{"venv", "VIRTUAL_ENV", "CONDA_PREFIX"}, {"conda", "CONDA_PREFIX", "VIRTUAL_ENV"}};

	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put("conda/conda-meta/history", "");
	set("VIRTUAL_ENV", "other");
	set("CONDA_PREFIX", "another");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = at(cases[i].dir), *active, *rest;

		assert_int_equal(jw_use_environment(NULL, dir), 0);
		active = os_env(cases[i].name);
		rest = os_env(cases[i].other);
		assert_string_equal(active, dir);
		assert_null(rest);
		mem_free(active);
		mem_free(dir);
	}
	assert_int_equal(jw_use_environment(NULL, "no/such/environment"), -1);
}

RUN_TESTS(NULL, NULL)
