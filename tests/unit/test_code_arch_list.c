/* The notations of TORCH_CUDA_ARCH_LIST, CMake and nvcc mean the right code, and lists that depend
 * on the machine are refused. */
#include "check.h"

#include <stdio.h>

#include <jitwarm/target.h>

static const char *names_of(const struct jw_arch_list *list, char text[512])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->count; i++) {
		char name[JW_TARGET_TEXT];

		used += (size_t)snprintf(text + used, 512 - used, "%s%s", i ? " " : "",
								 jw_arch_name(name, list->items[i]));
	}
	return text;
}

TEST(each_notation_means_its_code)
{
	static const char *const cases[][2] = {
		{"7.5;8.0;8.6;9.0;12.0+PTX", "sm_75 sm_80 sm_86 sm_90 sm_120 compute_120"},
		{"8.6 9.0a", "sm_86 sm_90a"},
		{"Turing;Ampere", "sm_75 compute_75 sm_80 sm_86 compute_86"},
		{"75-real;80;90a-real;90-virtual", "sm_75 sm_80 compute_80 sm_90a compute_90"},
		{"100f", "sm_100f compute_100f"},
		{"86;86-real", "sm_86 compute_86"},
		{"-gencode arch=compute_80,code=sm_80", "sm_80"},
		{"-gencode=arch=compute_90a,code=[sm_90a,compute_90a]", "sm_90a compute_90a"},
		{"--generate-code arch=compute_120,code=\"sm_120,compute_120\"", "sm_120 compute_120"},
		{"arch=compute_70,code=sm_70;arch=compute_75,code=compute_75", "sm_70 compute_75"},
		{"-O3 -std=c++17 -arch=sm_86", "sm_86 compute_86"},
		{"-arch compute_80 -code sm_80,sm_86 -lineinfo", "sm_80 sm_86"},
		{"-gencode arch=compute_80,code=lto_80 -gencode arch=compute_80,code=sm_80", "sm_80"},
		{"sm_90,compute_90", "sm_90 compute_90"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_arch_list list = {.count = 0};
		char text[512];

		OK(jw_arch_list_read(why, cases[i][0], &list));
		assert_string_equal(names_of(&list, text), cases[i][1]);
	}
}

TEST(lists_are_added_up)
{
	struct jw_arch_list list = {.count = 0};
	char text[512];

	OK(jw_arch_list_read(why, "80-real", &list));
	OK(jw_arch_list_read(why, "80;90-real", &list));
	assert_string_equal(names_of(&list, text), "sm_80 compute_80 sm_90");
}

TEST(what_depends_on_the_machine_is_refused)
{
	static const char *const cases[][2] = {
		{"native", "the GPU of the machine that builds"},
		{"80;native", "the GPU of the machine that builds"},
		{"-arch=native", "the GPU of the machine that builds"},
		{"all-major", "depends on the version of nvcc"},
		{"OFF", "is no architecture"},
		{"8.6-real", "is no architecture"},
		{"86+PTX", "is no architecture"},
		{"sm_9.0", "is no architecture"},
		{"rtx4090", "is no architecture"},
		{"", "names no architecture"},
		{"-gencode arch=compute_80", "names no architecture"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_arch_list list = {.count = 0};

		GIVES(JW_ERR_USAGE, jw_arch_list_read(why, cases[i][0], &list));
		if (!strstr(why->message, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], why->message);
		assert_int_equal(list.count, 0);
	}
}

RUN_TESTS(NULL, NULL)
