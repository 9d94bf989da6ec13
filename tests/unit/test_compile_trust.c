/* Which libraries the superuser opens by their names: NVRTC in a folder of LD_LIBRARY_PATH. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "compile/installed_compilers.h"
#include "os/file.h"
#include "os/folders.h"

enum { OTHER_ACCOUNT = 64321 };

TEST(the_first_folder_with_the_library_decides)
{
	char *folder, *path, *places;
	struct jw_error err = {0};

	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_temp_dir(NULL, "jitwarm-trust", &folder), 0);
	path = os_join(NULL, folder, "libx.so.1");
	places = mem_printf(NULL, "/nonexistent:%s:/usr/lib", folder);
	assert_true(path && places);
	assert_int_equal(setenv("LD_LIBRARY_PATH", places, 1), 0);
	assert_int_equal(compiler_check_name(NULL, "libx.so.1"), 0); /* in none of them */
	assert_int_equal(os_write_atomic(NULL, path, "x", 1), 0);
	assert_int_equal(compiler_check_name(NULL, "libx.so.1"), 0);
	assert_int_equal(chown(path, OTHER_ACCOUNT, OTHER_ACCOUNT), 0);
	assert_int_equal(compiler_check_name(&err, "libx.so.1"), -1);
	assert_int_equal(err.code, JW_ERR_IO);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "is not run as root"));
	assert_int_equal(compiler_check_name(NULL, "liby.so.1"), 0);
	assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
	assert_int_equal(compiler_check_name(NULL, "libx.so.1"), 0);
	assert_int_equal(os_remove_tree(NULL, folder), 0);
	mem_free(places);
	mem_free(path);
	mem_free(folder);
}

RUN_TESTS(NULL, NULL)
