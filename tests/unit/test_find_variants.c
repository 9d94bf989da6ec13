#include "check.h"

#include <string.h>

#include "find/variants.h"

static void names_tell_a_version(void **state)
{
	static const struct {
		const char *name, *shape; /* NULL: no version */
		unsigned major, minor;
		bool has_minor;
	} cases[] = {
		{"libbitsandbytes_cuda118.so", "libbitsandbytes_*.so", 11, 8, true},
		{"libbitsandbytes_cuda128_nocublaslt.so", "libbitsandbytes_*_nocublaslt.so", 12, 8, true},
		{"libx-cu12.so", "libx-*.so", 12, 0, false},
		{"x_cu92.dll", "x_*.dll", 9, 2, true},
		{"x_CUDA_12_4.dll", "x_*.dll", 12, 4, true},
		{"cuda12.4.pyd", "*.pyd", 12, 4, true},
		{"cuda-12.so.1", "*.so.1", 12, 0, false},
		{"libcudart.so.11.0", NULL, 0, 0, false},
		{"libcuda.so.550.163.01", NULL, 0, 0, false},
		{"libcublas.so.12", NULL, 0, 0, false},
		{"flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so", NULL, 0, 0, false},
		{"x_cu11x.so", NULL, 0, 0, false},
		{"x_cuda1.so", NULL, 0, 0, false},
		{"x_cuda12040.so", NULL, 0, 0, false},
		{"x_cu", NULL, 0, 0, false},
		{"x_cuda_", NULL, 0, 0, false},
		{"", NULL, 0, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct variant_name variant = {0};
		const char *star = cases[i].shape ? strchr(cases[i].shape, '*') : NULL;

		assert_int_equal(variant_of_name(cases[i].name, &variant), cases[i].shape != NULL);
		if (!star)
			continue;
		assert_int_equal(variant.start, star - cases[i].shape);
		assert_string_equal(cases[i].name + variant.end, star + 1);
		assert_int_equal(variant.major, cases[i].major);
		assert_int_equal(variant.minor, cases[i].minor);
		assert_int_equal(variant.has_minor, cases[i].has_minor);
	}
}

static void torch_tells_its_cuda(void **state)
{
	static const struct {
		const char *text;
		unsigned major, minor; /* 0: none */
	} cases[] = {
		{"cuda: Optional[str] = '12.4'\n", 12, 4},
		{"__version__ = '1.4.0'\ncuda = \"10.1\"\nhip = None\n", 10, 1},
		{"debug = False\ncuda = None\n", 0, 0},
		{"cuda_x = '12.4'\ncudart = '1.2'\n", 0, 0},
		{"cuda = '", 0, 0},
		{"cuda =", 0, 0},
		{"cuda = '12.4.1.99999999999999999'", 0, 0},
		{"cuda", 0, 0},
		{"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned major = 0, minor = 0;

		assert_int_equal(variant_torch_cuda(cases[i].text, &major, &minor), cases[i].major != 0);
		assert_int_equal(major, cases[i].major);
		assert_int_equal(minor, cases[i].minor);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_a_version),
		cmocka_unit_test(torch_tells_its_cuda),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
