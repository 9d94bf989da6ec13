/* The package of a library is found by the rows of RECORD, and NVIDIA's libraries are recognised.
 * */
#include "files.h"
/* This header must follow those that have parameters with its names. */
#include "folder.h"

#include "bake/library_owner.h"
#include "bake/package_row.h"
#include "base/text.h"

static const uint8_t other_hash[32] = {1, 2, 3};
static const char other_row[] = "sha256=AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,5000000000";

static char *real_folder(void)
{
	char *real;

	OK(os_real_path(why, folder, &real));
	return real;
}

/* Checks the row of site/NAME in that RECORD, or "none". */
static void check_row(const char *record, const char *name, const char *wanted)
{
	char *real = keep(real_folder()), *library = keep(mem_printf("%s/site/%s", real, name));
	struct package_row row;

	files_put_text(folder, "site/pkg-1.0.dist-info/RECORD", record);
	OK(package_row_find(why, library, &row));
	assert_string_equal(row.row ? row.row : "none", wanted);
	if (row.row)
		assert_true(text_ends(row.record, "RECORD") && text_ends(row.folder, ".dist-info"));
	package_row_free(&row);
}

TEST(rows_are_found)
{
	check_row("a/b.py,,\r\nlib/x.so,sha256=abc,5\r\n", "lib/x.so", "lib/x.so,sha256=abc,5");
	check_row("\"lib/x.so\",sha256=abc,5", "lib/x.so", "\"lib/x.so\",sha256=abc,5");
	check_row("\"lib/a,b\"\"c.so\",,\n", "lib/a,b\"c.so", "\"lib/a,b\"\"c.so\",,");
	check_row("./lib/../lib/x.so,,\n", "lib/x.so", "./lib/../lib/x.so,,");
	check_row("lib/x.so.1,,\nother/x.so,,\n", "lib/x.so", "none");
	check_row("../lib/x.so,,\n", "lib/x.so", "none");
	check_row("lib/x.so", "lib/x.so", "none");
	check_row("", "x.so", "none");
}

struct lookup {
	const char *library, *wanted;
};

TEST(a_row_gets_another_hash)
{
	char *row = keep(package_row_with("\"a,b\",sha256=abc,5,more", other_hash, 5000000000));

	assert_string_equal(row, keep(mem_printf("\"a,b\",%s", other_row)));
	assert_true(package_row_is(row, other_hash));
	assert_false(
		package_row_is("x.so,sha256=AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB,5", other_hash));
	assert_false(package_row_is("x.so,md5=AQID,5", other_hash));
	assert_false(package_row_is("x.so,,", other_hash));
	assert_false(package_row_is("x.so", other_hash));
}

static void check_copy(const char *package, const char *name, const char *wanted)
{
	char *path = keep(mem_printf("%s/site/%s", folder, name));
	const struct jw_found_file file = {.path = path, .package = package};

	assert_int_equal(library_allows_copy(why, &file, false), *wanted ? -1 : 0);
	assert_non_null(strstr(why->message, wanted));
}

TEST(nvidias_are_recognised)
{
	static const char *const licences[] = {"License: NVIDIA Proprietary Software",
										   "License-Expression: LicenseRef-NVIDIA-Proprietary",
										   "license: Nvidia"};

	files_put_text(folder, "site/x.so", "x");
	files_put_text(folder, "site/libcublasLt.so.12", "x");
	files_put_text(folder, "site/pkg-1.0.dist-info/RECORD", "x.so,,\n");
	files_put_text(folder, "site/pkg-1.0.dist-info/METADATA",
				   "Name: pkg\nLicense: MIT\nAuthor: NVIDIA\n\nLicense: NVIDIA\n");
	check_copy("pkg", "x.so", "");
	check_copy("nvidia-cublas-cu12", "x.so", "belongs to NVIDIA");
	check_copy(NULL, "libcublasLt.so.12", "belongs to NVIDIA");
	for (size_t i = 0; i < sizeof licences / sizeof *licences; i++) {
		files_put_text(folder, "site/pkg-1.0.dist-info/METADATA", licences[i]);
		check_copy(NULL, "x.so", "belongs to NVIDIA");
	}
	files_put_text(folder, "site/pkg-1.0.dist-info/METADATA", "License: MIT\n");
	check_copy(NULL, "x.so", "");
}

TEST(windows_libraries_are_not_copied)
{
	files_put_text(folder, "site/x.dll", "MZ");
	check_copy(NULL, "x.dll", "a Windows library");
	files_put_text(folder, "site/x.dll", "M");
	check_copy(NULL, "x.dll", "");
}

RUN_TESTS(make_folder, remove_folder)
