/* Names, requirements, METADATA, RECORD and conda-meta are parsed as Python and conda do, and no
 * path leaves its root. */
#include "check.h"

#include <string.h>

#include "find/package_files.h"
#include "find/requirement.h"

TEST(names_are_normalised)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"torch", "torch"}, {"Tensor_Flow", "tensor-flow"},
		{"a.-_b", "a-b"},   {"nvidia-cudnn-cu12", "nvidia-cudnn-cu12"},
		{"", NULL},         {"-a", NULL},
		{"a-", NULL},       {"a b", NULL},
		{"a/b", NULL},      {"..", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[PACKAGE_MAX_NAME];
		bool ok = package_normalise(cases[i].text, strlen(cases[i].text), name);

		assert_int_equal(ok, cases[i].name != NULL);
		if (ok)
			assert_string_equal(name, cases[i].name);
	}
}

TEST(requirements_are_read)
{
	static const struct {
		const char *text, *name, *extras, *when;
	} cases[] = {
		{.text = "numpy", .name = "numpy", .extras = "", .when = ""},
		{.text = "numpy (>=1.2)", .name = "numpy", .extras = "", .when = ""},
		{.text = "numpy<2,>=1.23.5; python_version <= \"3.11\"",
		 .name = "numpy",
		 .extras = "",
		 .when = ""},
		{.text = "nvidia-cudnn-cu12 (==9.3.0.75) ; extra == 'and-cuda'",
		 .name = "nvidia-cudnn-cu12",
		 .extras = "",
		 .when = "and-cuda"},
		{.text = "jax-cuda12-plugin[with_cuda]<=0.5; extra == \"cuda12\"",
		 .name = "jax-cuda12-plugin",
		 .extras = "with-cuda",
		 .when = "cuda12"},
		{.text = "A [x, Y ]>1", .name = "a", .extras = "x,y", .when = ""},
		{.text = "a; (extra==\"x\" or extra == 'y') and os_name == 'nt'",
		 .name = "a",
		 .extras = "",
		 .when = "x,y"},
		{.text = "a; my_extra == 'x'", .name = "a", .extras = "", .when = ""},
		{.text = "a @ https://example.org/a.whl ; extra == 'z'",
		 .name = "a",
		 .extras = "",
		 .when = "z"},
		{.text = "[x]"},
		{.text = ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct requirement found;
		bool ok = requirement_parse(cases[i].text, &found);

		assert_int_equal(ok, cases[i].name != NULL);
		if (!ok)
			continue;
		assert_string_equal(found.name, cases[i].name);
		assert_string_equal(found.extras, cases[i].extras);
		assert_string_equal(found.when, cases[i].when);
	}
}

TEST(extras_decide_which_requirements_apply)
{
	static const struct {
		const char *text, *extras;
		bool applies;
	} cases[] = {
		{"a", "", true},
		{"a; extra == 'dev'", "", false},
		{"a; extra == 'dev'", "dev", true},
		{"a; extra == 'dev'", "test,dev", true},
		{"a; extra == 'dev'", "development", false},
		{"a; extra == 'and-cuda'", "", true},
		{"a; extra == 'gpu'", "", true},
		{"a; sys_platform == 'win32'", "", true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct requirement requirement;

		assert_true(requirement_parse(cases[i].text, &requirement));
		assert_int_equal(requirement_applies(&requirement, cases[i].extras), cases[i].applies);
	}
}

TEST(metadata_header_alone_counts)
{
	static const char text[] = "Metadata-Version: 2.1\r\nName: tensorflow-gpu\r\n"
							   "version: 2.10.0\r\nRequires-Dist: numpy\n\t(>=1)\n"
							   "Requires-Dist: ???\nRequires-Dist: b; extra == 'x'\n\n"
							   "Name: other\nRequires-Dist: c\n";
	struct metadata metadata;

	OK(metadata_parse(why, text, strlen(text), &metadata));
	assert_string_equal(metadata.name, "tensorflow-gpu");
	assert_string_equal(metadata.version, "2.10.0");
	assert_int_equal(metadata.require_count, 2);
	assert_string_equal(metadata.requires[0].name, "numpy");
	assert_string_equal(metadata.requires[1].when, "x");
	metadata_free(&metadata);
}

TEST(record_rows_are_read)
{
	static const char text[] = "torch/lib/a.so,sha256=x,123\r\n"
							   "\"with,comma \"\"q\"\".so\",,\n"
							   ",,\n"
							   "alone\r\n"
							   "last.so,sha256=y,1";
	static const char *const wanted[] = {"torch/lib/a.so", "with,comma \"q\".so", "alone",
										 "last.so"};
	struct cursor cursor = cursor_of(text, strlen(text));
	struct buf path = BUF_MAX(RECORD_MAX_PATH + 1);

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		assert_true(wheel_record_next(&cursor, &path));
		assert_string_equal(buf_text(&path), wanted[i]);
	}
	assert_false(wheel_record_next(&cursor, &path));
	buf_free(&path);
}

TEST(paths_stay_in_their_root)
{
	static const struct {
		const char *path, *full; /* NULL: refused */
	} cases[] = {
		{"a/b.so", "/env/lib/site/a/b.so"},
		{"./a//b.so", "/env/lib/site/a/b.so"},
		{"../../bin/x", "/env/bin/x"},
		{"a/../b", "/env/lib/site/b"},
		{"../../..", NULL},
		{"../../../etc/passwd", NULL},
		{"../../../env2/x", NULL},
		{"../../../../../../../../x", NULL},
		{"/env/x.so", "/env/x.so"},
		{"/environment/x.so", NULL},
		{"/etc/passwd", NULL},
		{"/env/../etc/passwd", NULL},
		{"../../../env/x.so", "/env/x.so"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *full = keep(wheel_record_resolve(why, "/env/", "/env/lib/site", cases[i].path));

		assert_int_equal(full != NULL, cases[i].full != NULL);
		if (full)
			assert_string_equal(full, cases[i].full);
		else
			assert_int_equal(why->code, JW_ERR_FORMAT);
	}
}

TEST(odd_conda_files_are_refused)
{
	static const char *const cases[] = {
		"", "[]", "{", "{}", "{\"name\": 1, \"version\": \"1\"}", "{\"name\": \"a\"}",
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct conda_package *package;

		GIVES(JW_ERR_FORMAT, conda_parse(why, cases[i], strlen(cases[i]), &package));
	}
}

RUN_TESTS(NULL, NULL)
