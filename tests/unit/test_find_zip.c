/* The wheels that bake writes get the right versions and names. */
#include "check.h"

#include "bake/wheel_edit.h"

static void check_version(const char *old, const char *wanted)
{
	static const struct jw_target gpus[] = {{.sm = 86}, {.sm = 90, .suffix = 'a'}};
	char *version = keep(wheel_edit_version(NULL, old, gpus, 2));

	assert_string_equal(version ? version : "none", wanted);
}

TEST(versions_get_a_label)
{
	check_version("1.0", "1.0+jitwarm.sm86.sm90a");
	check_version("1!2.0rc1.post2", "1!2.0rc1.post2+jitwarm.sm86.sm90a");
	check_version("1.0+CU12-1_x", "1.0+cu12.1.x.jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm86", "1.0+jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm86.sm90a", "1.0+jitwarm.sm86.sm90a");
	check_version("1.0+sm86", "1.0+sm86.jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm860", "1.0+jitwarm.sm860.sm86.sm90a");
	check_version("1.0+notjitwarm.sm90", "1.0+notjitwarm.sm90.jitwarm.sm86.sm90a");
	check_version("1.0+", "none");
	check_version("1.0+a..b", "none");
	check_version("1.0+a.", "none");
	check_version("1.0+a+b", "none");
	check_version("1.0/2", "none");
	check_version("", "none");
	check_version("x", "none");
}

static void check_file_name(const char *name, const char *wanted)
{
	char *got = keep(wheel_edit_file_name(NULL, name, "1.0-1", "1.0-1+jitwarm.sm86"));

	assert_string_equal(got ? got : "none", wanted);
}

TEST(file_names_get_the_version)
{
	check_file_name("a-1.0_1-py3-none-any.whl", "a-1.0_1+jitwarm.sm86-py3-none-any.whl");
	check_file_name("a-1.0_1-3x-py3-none-any.whl", "a-1.0_1+jitwarm.sm86-3x-py3-none-any.whl");
	check_file_name("a-1.0.post1-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-x3-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-none-any.whl", "none");
	check_file_name("a-1.0_1-1-2-py3-none-any.whl", "none");
	check_file_name("-1.0_1-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-py3-none-any.zip", "none");
}

RUN_TESTS(NULL, NULL)
