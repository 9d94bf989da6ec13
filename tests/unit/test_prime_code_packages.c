/* The packages with device code are named as far as the time allows, and what was left out is said.
 */
#include "check.h"
#include "folder.h"

#include <jitwarm/find.h>
#include <jitwarm/scan.h>

static const char ptx[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
						  ".visible .entry k() { ret; }\n";

TEST(names_end_with_the_time)
{
	struct jw_found_file files[] = {{.path = os_join(folder, "a.ptx"), .package = "alpha"},
									{.path = os_join(folder, "b.ptx"), .package = "beta"},
									{.path = os_join(folder, "c.ptx"), .package = "alpha"},
									{.path = os_join(folder, "d.ptx")}};
	const struct jw_found found = {.files = files, .file_count = 4};
	struct jw_code_packages packages;

	for (size_t i = 0; i < found.file_count; i++)
		OK(os_write_atomic(why, files[i].path, ptx, sizeof ptx - 1));
	jw_code_packages(&found, 60000, (struct jw_cancel){0}, &packages);
	assert_int_equal(packages.count, 2);
	assert_string_equal(packages.names[0], "alpha");
	assert_string_equal(packages.names[1], "beta");
	assert_true(packages.any && !packages.cut);
	jw_code_packages(&found, 0, (struct jw_cancel){0}, &packages);
	assert_true(packages.cut && !packages.count);
	jw_code_packages(&(struct jw_found){.files = NULL}, 60000, (struct jw_cancel){0}, &packages);
	assert_true(!packages.any && !packages.cut);
	for (size_t i = 0; i < found.file_count; i++)
		mem_free(files[i].path);
}

RUN_TESTS(make_folder, remove_folder)
