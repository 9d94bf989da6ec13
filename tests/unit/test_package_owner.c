/* Whose a library is: rows of RECORD, dpkg's lists, conda's records, signatures. */
#include "files.h"
/* Behind those that have parameters of its names */
#include "folder.h"
#include "lacking.h"

#include <uv.h>

#include "bake/library_owner.h"
#include "bake/package_row.h"
#include "base/cursor.h"
#include "base/text.h"
#include "os/platform.h"

static const uint8_t other_hash[32] = {1, 2, 3};
static const char other_row[] = "sha256=AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,5000000000";

static char *real_folder(void)
{
	char *real;

	assert_int_equal(os_real_path(NULL, folder, &real), 0);
	return real;
}

/* The row of site/NAME in that RECORD, or "none". */
static void check_row(const char *record, const char *name, const char *wanted)
{
	char *real = real_folder(), *library = mem_printf(NULL, "%s/site/%s", real, name);
	struct package_row row;

	files_put_text(folder, "site/pkg-1.0.dist-info/RECORD", record);
	assert_int_equal(package_row_find(NULL, library, &row), 0);
	assert_string_equal(row.row ? row.row : "none", wanted);
	if (row.row)
		assert_true(text_ends(row.record, "RECORD") && text_ends(row.folder, ".dist-info"));
	package_row_free(&row);
	mem_free(library);
	mem_free(real);
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

static int find_row(struct jw_error *err, void *context)
{
	const struct lookup *lookup = context;
	struct package_row row;

	if (package_row_find(err, lookup->library, &row))
		return -1;
	mem_fail_after(0);
	assert_string_equal(row.row ? row.row : "none", lookup->wanted);
	package_row_free(&row);
	return 0;
}

/* It would stay as it is when the library is changed. */
TEST(no_lack_of_memory_hides_a_row)
{
	char *real = real_folder(), *library = mem_printf(NULL, "%s/site/lib/x.so", real);
	struct lookup lookup = {library, "\"lib/x.so\",sha256=abc,5"};

	files_put_text(folder, "site/pkg-1.0.dist-info/RECORD",
				   "a/x.so,,\n\"lib/x.so\",sha256=abc,5\n");
	each_allocation_lacks(find_row, &lookup);
	mem_free(library);
	mem_free(real);
}

TEST(a_row_gets_another_hash)
{
	char *row = package_row_with(NULL, "\"a,b\",sha256=abc,5,more", other_hash, 5000000000);
	char *wanted = mem_printf(NULL, "\"a,b\",%s", other_row);

	assert_string_equal(row, wanted);
	assert_true(package_row_is(row, other_hash));
	assert_false(
		package_row_is("x.so,sha256=AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB,5", other_hash));
	assert_false(package_row_is("x.so,md5=AQID,5", other_hash));
	assert_false(package_row_is("x.so,,", other_hash));
	assert_false(package_row_is("x.so", other_hash));
	mem_free(row);
	mem_free(wanted);
}

/* All other bytes stay, with any line endings. */
TEST(only_its_row_is_replaced)
{
	char *path = os_join(NULL, folder, "RECORD");
	struct buf text;

	files_put_text(folder, "RECORD", "x.so.1,,\r\nx.so,sha256=a,1\r\n\xff\"x,,\nx.so2,,");
	assert_int_equal(package_row_replace(NULL, path, "x.so,sha256=b,22"), 0);
	assert_int_equal(os_read_file(NULL, path, 1000, &text), 0);
	assert_string_equal(buf_text(&text), "x.so.1,,\r\nx.so,sha256=b,22\r\n\xff\"x,,\nx.so2,,");
	buf_free(&text);
	assert_int_equal(package_row_replace(NULL, path, "y.so,sha256=b,22"), 0);
	assert_int_equal(os_read_file(NULL, path, 1000, &text), 0);
	assert_string_equal(buf_text(&text), "x.so.1,,\r\nx.so,sha256=b,22\r\n\xff\"x,,\nx.so2,,");
	buf_free(&text);
	assert_int_equal(os_remove(NULL, path), 0);
	assert_int_equal(package_row_replace(NULL, path, "x.so,,"), 0);
	assert_false(os_exists(path));
	mem_free(path);
}

static void check_change(const char *path, const char *wanted)
{
	char *dpkg = os_join(NULL, folder, "dpkg");
	struct jw_error why = {0};
	int result = library_owner_allows_change(&why, path, dpkg);

	assert_int_equal(result, *wanted ? -1 : 0);
	assert_non_null(strstr(why.message, wanted));
	if (*wanted)
		assert_int_equal(why.code, JW_ERR_UNSUPPORTED);
	mem_free(dpkg);
}

TEST(package_managers_keep_their_files)
{
	char *real = real_folder(), *conda = mem_printf(NULL, "%s/env/lib/libx.so", real),
		 *beside = mem_printf(NULL, "%s/env/lib/liby.so", real),
		 *dpkg = mem_printf(NULL, "%s/dpkg", real), *on_drive = strpbrk(dpkg, "/\\");

	files_put_text(folder, "dpkg/libmagma.list",
				   "/.\n/usr\n/usr/lib/libmagma.so.2\n/lib/libold.so\n");
	files_put_text(folder, "dpkg/libmagma.md5sums", "\n/usr/lib/libsums.so\n");
	check_change("/usr/lib/libmagma.so.2", "Debian package libmagma");
	check_change("/usr/lib/libold.so", "Debian package libmagma");
	check_change("/usr/lib/libmagma.so", "");
	check_change("/usr/lib/libsums.so", "");
	check_change("/lib/libmagma.so.2", "");
	/* On Windows anyone may make such a folder on the current drive. */
	assert_int_equal(uv_chdir(real), 0);
	assert_int_equal(library_owner_allows_change(NULL, "/usr/lib/libold.so", on_drive),
					 strcmp(os_name, "windows") != 0 ? -1 : 0);
	assert_int_equal(uv_chdir(".."), 0);
	files_put_text(folder, "env/conda-meta/magma-2.7-0.json", "{\"files\": [\"lib/libx.so\"]}");
	check_change(conda, "conda package magma-2.7-0");
	check_change(beside, "");
	mem_free(real);
	mem_free(conda);
	mem_free(beside);
	mem_free(dpkg);
}

static void check_copy(const char *package, const char *name, const char *wanted)
{
	char *path = mem_printf(NULL, "%s/site/%s", folder, name);
	const struct jw_found_file file = {.path = path, .package = package};
	struct jw_error why = {0};

	assert_int_equal(library_owner_allows_copy(&why, &file), *wanted ? -1 : 0);
	assert_non_null(strstr(why.message, wanted));
	mem_free(path);
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
	check_copy("nvidia-cublas-cu12", "x.so", "NVIDIA's");
	check_copy(NULL, "libcublasLt.so.12", "NVIDIA's");
	for (size_t i = 0; i < sizeof licences / sizeof *licences; i++) {
		files_put_text(folder, "site/pkg-1.0.dist-info/METADATA", licences[i]);
		check_copy(NULL, "x.so", "NVIDIA's");
	}
	files_put_text(folder, "site/pkg-1.0.dist-info/METADATA", "License: MIT\n");
	check_copy(NULL, "x.so", "");
}

/* The header of a PE file whose table of certificates has so many bytes. */
static size_t put_pe(uint8_t bytes[512], bool plus, uint32_t certificates)
{
	memset(bytes, 0, 512);
	memcpy(bytes, "MZ", 2);
	store_u32(bytes + 60, 64);
	memcpy(bytes + 64, "PE\0\0", 4);
	store_u16(bytes + 64 + 24, plus ? 0x20b : 0x10b);
	store_u32(bytes + 64 + 24 + (plus ? 112 : 96) + 32 + 4, certificates);
	return 512;
}

TEST(signed_files_are_recognised)
{
	enum { LATE = 5000 };
	uint8_t bytes[512], large[LATE + 512] = {0};

	for (int plus = 0; plus < 2; plus++) {
		files_put(folder, "site/x.dll", bytes, put_pe(bytes, plus, 0));
		check_copy(NULL, "x.dll", "");
		files_put(folder, "site/x.dll", bytes, put_pe(bytes, plus, 8));
		check_copy(NULL, "x.dll", "is signed");
		/* Its headers may be anywhere. */
		memcpy(large, bytes, 64);
		memcpy(large + LATE, bytes + 64, sizeof bytes - 64);
		store_u32(large + 60, LATE);
		files_put(folder, "site/x.dll", large, sizeof large);
		check_copy(NULL, "x.dll", "is signed");
	}
	for (size_t cut = 0; cut < 232; cut += 3) {
		files_put(folder, "site/x.dll", bytes, cut);
		check_copy(NULL, "x.dll", "");
	}
}

/* Only memory keeps the answer from being “no”. */
static int refused(struct jw_error *err, int result)
{
	mem_fail_after(0);
	assert_int_equal(result, -1);
	if (err->code != JW_ERR_UNSUPPORTED)
		return -1;
	*err = (struct jw_error){0};
	return 0;
}

static int refuse_conda(struct jw_error *err, void *path)
{
	return refused(err, library_owner_allows_change(err, path, "/nonexistent"));
}

static int refuse_nvidia(struct jw_error *err, void *path)
{
	const struct jw_found_file file = {.path = path};

	return refused(err, library_owner_allows_copy(err, &file));
}

TEST(no_lack_of_memory_hides_an_owner)
{
	char *real = real_folder(), *conda = mem_printf(NULL, "%s/env/lib/libx.so", real),
		 *nvidia = mem_printf(NULL, "%s/site/x.so", real);

	files_put_text(folder, "env/conda-meta/magma-2.7-0.json", "{\"files\": [\"lib/libx.so\"]}");
	each_allocation_lacks(refuse_conda, conda);
	files_put_text(folder, "site/x.so", "x");
	files_put_text(folder, "site/pkg-1.0.dist-info/RECORD", "x.so,,\n");
	files_put_text(folder, "site/pkg-1.0.dist-info/METADATA", "License: NVIDIA\n");
	each_allocation_lacks(refuse_nvidia, nvidia);
	mem_free(real);
	mem_free(conda);
	mem_free(nvidia);
}

RUN_TESTS(make_folder, remove_folder)
