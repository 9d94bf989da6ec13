/* jw_find returns the files of packages and paths in a virtual environment, and reports everything
 * that it could not examine. */
#include "environments_posix.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

#define SITE "venv/lib/python3.11/site-packages/"

/* Makes a virtual environment with frame 2.0, which requires core and has optional parts. */
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

/* Python imports the first package that it meets: if a package is in two folders, only the first
 * one's files count. */
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
	jw_result_free(found);
	/* The folder has a hidden file, which belongs to no package. */
	found = find_one(NULL);
	expect_file(found, "first/frame/new.so", "frame", "3");
	expect_file(found, SITE "frame/lib.so.1", NULL, NULL);
	jw_result_free(found);
}

/* Python's record and conda's record describe one package. */
CASE(all_records_of_a_package_count)
{
	struct jw_found *found;

	make_environment();
	OK(os_env_set(why, "VIRTUAL_ENV", NULL));
	put("venv/conda-meta/frame-2.0-0.json",
		"{\"name\": \"frame\", \"version\": \"2.0\", \"files\": [\"lib/c.so\"]}");
	put("venv/lib/c.so", "x");
	set("CONDA_PREFIX", "venv");
	found = find_one("frame");
	expect_file(found, SITE "frame/lib.so.1", "Frame", "2.0");
	expect_file(found, "venv/lib/c.so", "frame", "2.0");
	jw_result_free(found);
}

CASE(extras_may_be_named)
{
	struct jw_found *found;

	make_environment();
	found = find_one("frame[dev]");
	expect_file(found, SITE "tester.so", "tester", "1");
	jw_result_free(found);
	/* so also if the package was named without them before */
	OK(find_named(why, (const char *[]){"frame", "frame[dev]"}, 2, &found));
	expect_file(found, SITE "tester.so", "tester", "1");
	jw_result_free(found);
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
	jw_result_free(found);
	found = find_one("cv9==4");
	expect_file(found, SITE "cv9/cv9.abi3.so", "opencv-x", "4");
	jw_result_free(found);
	find_fails("cv9==5", JW_ERR_NOT_FOUND, "cv9==5: version 4 is installed in");
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
	put(SITE "flat-3.10.egg-info", "Name: flat\nVersion: 3.10\n");
	put(SITE "flat/f.so", "x");
	found = find_one("old.pack==1.0");
	assert_int_equal(found->file_count, 2);
	expect_file(found, SITE "oldpack/k.so", "Old-Pack", "1.0");
	jw_result_free(found);
	found = find_one("eggy");
	assert_int_equal(found->file_count, 1);
	expect_file(found, SITE "eggy/e.so", "eggy", "2");
	assert_true(has_note(found, "outside of"));
	jw_result_free(found);
	/* Debian leaves out “-py3.11”. */
	find_fails("flat==3.1", JW_ERR_NOT_FOUND, "flat==3.1: version 3.10 is installed in");
	found = find_one("flat==3.10");
	assert_int_equal(found->file_count, 1);
	expect_file(found, SITE "flat/f.so", "flat", "3.10");
	jw_result_free(found);
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
	jw_result_free(found);
}

/* A bad disk does not list the folder whose path ends with this, after so many times. */
static const char *unlisted;
static int lists;

static bool is_unlisted(int folder)
{
	char link[64], path[4096];
	ssize_t length;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
	length = unlisted ? readlink(link, path, sizeof path - 1) : 0;
	path[length > 0 ? length : 0] = '\0';
	return unlisted && text_ends(path, unlisted) && lists-- <= 0;
}

struct dirent *readdir(DIR *folder)
{
	static struct dirent *(*next)(DIR * folder);
	void *found = next ? NULL : dlsym(RTLD_NEXT, "readdir64");

	if (!next && !found)
		found = dlsym(RTLD_NEXT, "readdir");
	if (found)
		memcpy(&next, &found, sizeof next);
	if (!is_unlisted(dirfd(folder)))
		return next(folder);
	errno = EIO;
	return NULL;
}

/* If a file that may hold code, or that says where code is, cannot be examined, it does not count
 * as missing. */
CASE(what_cannot_be_looked_at_is_said)
{
	static const struct {
		const char *looped, *unlisted, *part; /* the part of the path in the message */
		const char *name;                     /* NULL: the environment */
		int lists;
		bool fails; /* no other file is found */
	} cases[] = {
		{.looped = SITE "frame/gone.so", .part = "gone.so", .name = "frame"},
		{.looped = SITE "frame-2.0.dist-info/METADATA", .part = "METADATA", .name = "frame"},
		{.looped = "venv/conda-meta/x-1-0.json", .part = "x-1-0.json"},
		{.looped = SITE "flat", .part = "/flat", .name = "flat", .fails = true},
		{.looped = "venv/lib", .part = "venv/lib", .fails = true},
		{.looped = "venv/conda-meta", .part = "conda-meta", .fails = true},
		{.looped = "venv/pyvenv.cfg", .part = "pyvenv.cfg", .fails = true},
		{.looped = "venv", .part = "venv", .fails = true},
		{.unlisted = "/stray", .part = "stray"},
		{.unlisted = "/venv/lib", .part = "venv/lib", .fails = true},
		{.unlisted = "/venv/conda-meta", .part = "conda-meta", .fails = true},
		{.unlisted = "/site-packages", .part = "site-packages", .fails = true},
		{.unlisted = "/site-packages",
		 .part = "site-packages",
		 .name = "flat",
		 .lists = 1,
		 .fails = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const bool conda = strstr(cases[i].part, "json") || strstr(cases[i].part, "conda");
		char *looped = keep(at(cases[i].looped ? cases[i].looped : "none"));
		struct jw_found *found = NULL;

		make_environment();
		put(SITE "flat-3.egg-info", "Name: flat\nVersion: 3\n");
		OK(os_env_set(why, conda ? "VIRTUAL_ENV" : "CONDA_PREFIX", NULL));
		if (conda) {
			put("venv/conda-meta/history", "");
			set("CONDA_PREFIX", "venv");
		}
		if (os_exists(looped))
			OK(os_remove_tree(why, looped));
		if (cases[i].looped)
			link_to(cases[i].looped, os_base_name(looped));
		unlisted = cases[i].unlisted;
		lists = cases[i].lists;
		if (find_named(why, &cases[i].name, cases[i].name ? 1 : 0, &found)) {
			if (!cases[i].fails || why->code != JW_ERR_IO || !strstr(why->message, cases[i].part))
				fail_msg("case %zu: %s", i, why->message);
		} else if (cases[i].fails || !found->trouble_count || !has_note(found, cases[i].part)) {
			fail_msg("case %zu: nothing is said of %s", i, cases[i].part);
		}
		unlisted = NULL;
		jw_result_free(found);
		OK(os_remove_tree(why, root));
		OK(os_make_dirs(why, root, 0700));
	}
}

/* folders that this account may not enter, and pseudo file systems */
CASE(what_is_not_searched_is_said)
{
	const uid_t own = geteuid();
	char *path = keep(at("d")), *closed = keep(at("d/closed")), *secret = keep(at("d/a"));
	struct jw_found *found;

	put("d/a.so", "x");
	put("d/closed/b.so", "x");
	put("d/a", "x");
	assert_int_equal(chmod(root, 0755) || chmod(path, 0755) || chmod(closed, 0) || chmod(secret, 0),
					 0);
	assert_int_equal(own == 0 && seteuid(65534), 0);
	found = find_one(secret); /* and not reported as empty, a text or of unknown kind */
	assert_int_equal(found->file_count, 1);
	jw_result_free(found);
	found = find_one(path);
	assert_int_equal(seteuid(own), 0);
	assert_int_equal(found->trouble_count, 1);
	assert_true(has_note(found, "d/closed"));
	jw_result_free(found);
	assert_int_equal(chmod(closed, 0700), 0);
	find_fails("/proc/self", JW_ERR_UNSUPPORTED, "a pseudo file system");
}

static int take_any(struct jw_error *err, void *context, const char *name,
					const struct os_stat *stat)
{
	(void)err;
	(void)context;
	(void)name;
	(void)stat;
	return 0;
}

CASE(a_folder_that_breaks_off_is_said)
{
	char *path = keep(at("d"));

	put("d/a", "x");
	unlisted = "/d";
	lists = 1;
	GIVES(JW_ERR_IO, os_each(why, path, take_any, NULL));
	unlisted = NULL;
}

CASE(a_folder_is_read_once_however_many_links_lead_to_it)
{
	char *path = keep(at("d"));
	struct jw_found *found;

	put("d/e/a.so", "x");
	link_to("d/link", "e");
	link_to("d/other", "e");
	unlisted = "/d/e";
	lists = 4; /* the file, its folder, the one above, and the end */
	found = find_one(path);
	unlisted = NULL;
	assert_int_equal(found->file_count, 1);
	assert_int_equal(found->trouble_count, 0);
	jw_result_free(found);
}

static bool at_once(void *context)
{
	(void)context;
	return true;
}

/* folders without files, and a package that has only files */
CASE(search_is_cancelled_whatever_it_comes_to)
{
	char *folders = keep(at("d")), *below = keep(at("d/e/f"));
	const char *const names[] = {folders, "frame"};

	make_environment();
	OK(os_make_dirs(why, below, 0700));
	for (size_t i = 0; i < 2; i++) {
		const struct jw_find_options options = {
			.names = &names[i], .name_count = 1, .cancel = {NULL, at_once}};
		struct jw_found *found;

		GIVES(JW_ERR_INTERRUPTED, jw_find(why, &options, &found));
	}
}

/* An environment can be made the active one, whichever kind was active before. */
CASE(an_environment_can_be_made_the_active_one)
{
	static const struct {
		const char *dir, *name, *other;
	} cases[] = {{"venv", "VIRTUAL_ENV", "CONDA_PREFIX"}, {"conda", "CONDA_PREFIX", "VIRTUAL_ENV"}};
	char *before = NULL;

	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put("conda/conda-meta/history", "");
	set("VIRTUAL_ENV", "other");
	set("CONDA_PREFIX", "another");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = at(cases[i].dir), *active, *rest;

		OK(jw_use_environment(why, dir));
		active = keep(os_env(cases[i].name));
		rest = os_env(cases[i].other);
		assert_string_equal(active, dir);
		assert_null(rest);
		mem_free(dir);
	}
	assert_int_equal(jw_use_environment(NULL, "no/such/environment"), -1);
	/* conda's list has the environment's whole path, and its name is used. */
	put("sub/named/conda-meta/history", "");
	OK(os_real_path(why, ".", &before) || chdir(root));
	for (int whole = 0; whole < 2; whole++) {
		char *dir = whole ? at("sub/named") : mem_string("sub/named");

		put("home/.conda/environments.txt", dir);
		assert_int_equal(jw_use_environment(NULL, "named"), whole ? 0 : -1);
		mem_free(dir);
	}
	assert_int_equal(chdir(before), 0);
	mem_free(before);
}

RUN_TESTS(NULL, NULL)
