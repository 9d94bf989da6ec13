/* A wheel's name is split into its parts, also in the examples of PEP 825. */
#include "check.h"

#include "base/wheel_name.h"

TEST(parts_of_names)
{
	static const struct {
		const char *file, *name, *version, *build, *python, *abi, *platform, *label;
	} cases[] = {
		{"numpy-2.3.2-cp313-cp313t-musllinux_1_2_x86_64.whl", "numpy", "2.3.2", "", "cp313",
		 "cp313t", "musllinux_1_2_x86_64", ""},
		{"a-1-2b-py3-none-any.whl", "a", "1", "2b", "py3", "none", "any", ""},
		/* PEP 825's examples */
		{"numpy-2.3.2-cp313-cp313t-musllinux_1_2_x86_64-x86_64_v3.whl", "numpy", "2.3.2", "",
		 "cp313", "cp313t", "musllinux_1_2_x86_64", "x86_64_v3"},
		{"numpy-2.3.2-cp313-cp313t-musllinux_1_2_x86_64-null.whl", "numpy", "2.3.2", "", "cp313",
		 "cp313t", "musllinux_1_2_x86_64", "null"},
		{"a-1+x.2-7-py2.py3-none-any-cu12.9_sm_90a.whl", "a", "1+x.2", "7", "py2.py3", "none",
		 "any", "cu12.9_sm_90a"},
	};
	static const char *const wrong[] = {
		"",
		".whl",
		"a-1-py3-none.whl",
		"a-1-x-py3-none-any.whl",
		"a-1-py3-none-any.zip",
		"a-1-py3-none-any-CU129.whl",
		"a-1-py3-none-any-.whl",
		"-1-py3-none-any.whl",
		"a-1--none-any.whl",
		"a-1-py3-none-any-cu129-sm_90.whl",
		"a-1-1-py3-none-any-cu129-sm_90.whl",
		"a-1-py3-none-any-x.whl.whl-",
	};
	struct wheel_name name;
	char text[64];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(wheel_name_read(cases[i].file, &name));
		assert_string_equal(wheel_part_text(text, sizeof text, name.name), cases[i].name);
		assert_string_equal(wheel_part_text(text, sizeof text, name.version), cases[i].version);
		assert_string_equal(wheel_part_text(text, sizeof text, name.build), cases[i].build);
		assert_string_equal(wheel_part_text(text, sizeof text, name.python), cases[i].python);
		assert_string_equal(wheel_part_text(text, sizeof text, name.abi), cases[i].abi);
		assert_string_equal(wheel_part_text(text, sizeof text, name.platform), cases[i].platform);
		assert_string_equal(wheel_part_text(text, sizeof text, name.label), cases[i].label);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(wheel_name_read(wrong[i], &name));
	assert_true(wheel_name_read(cases[0].file, &name));
	assert_string_equal(wheel_part_text(text, 4, name.version), "2.3");
}

RUN_TESTS(NULL, NULL)
