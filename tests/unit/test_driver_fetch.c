/* Which compilers are fetched, and the versions that they report. */
#include <stdlib.h>
#include <string.h>

#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "check.h"
#include "driver/compiler_fetch.h"
#include "driver/ptxas.h"
#include "os/file.h"
#include "os/folders.h"

TEST(other_texts_are_no_versions_of_cuda)
{
	static const char *const wrong[] = {"", "12.", ".4", "12..4", "12.4rc1", "12.4 ", "12", "10.2"};
	char *path;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		GIVES(JW_ERR_USAGE, jw_compiler_fetch(why, wrong[i], NULL, &path));
	}
}

TEST(versions_without_a_wheel_have_a_successor)
{
	static const uint32_t firsts[][2] = {{9000, 11070},  {11070, 11070}, {11080, 11080},
										 {11090, 12000}, {12000, 12000}, {12060, 12060},
										 {12070, 12080}, {12080, 12080}, {13000, 13000}};

	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		assert_int_equal(compiler_fetch_first(firsts[i][0]), firsts[i][1]);
}

#ifndef _WIN32
TEST(a_question_leaves_nothing)
{
	static const char text[] = "#!/bin/sh\necho ptxas, release 12.4, V12.4.131\n";
	char *folder, *program, *temporary;
	struct os_names names;
	uint32_t cuda = 0;

	OK(os_make_temp_dir(why, "jitwarm-asked", &folder));
	program = keep(os_join(folder, "ptxas"));
	temporary = keep(os_join(folder, "temporary"));
	OK(os_make_dirs(why, temporary, 0700));
	OK(os_write_mode(why, program, text, sizeof text - 1, 0700));
	assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
	OK(ptxas_version(why, program, &cuda));
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(cuda, 12040);
	OK(os_list(why, temporary, &names));
	assert_int_equal(names.count, 0);
	os_names_free(&names);
	OK(os_remove_tree(why, folder));
	mem_free(folder);
}
#endif

RUN_TESTS(NULL, NULL)
