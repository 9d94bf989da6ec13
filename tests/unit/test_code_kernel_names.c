/* Kernels are shown under their source names, each once, in limited space. */
#include "check.h"

#include <stdio.h>

#include "code/kernel_names.h"

/* Adds the names of a container whose only entry is a PTX text. */
static void add_text(char text[KERNELS_TEXT], const char *ptx)
{
	const struct devcode_entry entry = {
		.kind = DEVCODE_KIND_PTX, .stored_bytes = strlen(ptx), .size_bytes = strlen(ptx)};
	const struct devcode_container container = {.bytes = (const uint8_t *)ptx,
												.size_bytes = strlen(ptx),
												.entries = &entry,
												.entry_count = 1};
	struct buf scratch = {0};

	kernels_add(text, &container, &scratch);
	buf_free(&scratch);
}

TEST(names_are_as_their_source_has_them)
{
	static const char *const cases[][2] = {
		{".visible .entry gemm(\n.param .u64 a)", "gemm"},
		{".entry\tgemm ()", "gemm"},
		{".entry _Z4axpyfPf()", "axpy"},
		{".entry _ZN2at6native4copyIfEEvPT_()", "at::native::copy"},
		{".entry _ZN2at44_GLOBAL__N__0f2a1e6b_6_Copy_cu_c2a93a9f_41234copyEv()", "at::copy"},
		{".entry _ZL3foov()", "foo"},
		{".entry _Z99foo()", "_Z99foo"},
		{".entry $odd%name()", "$odd?name"},
		{".entry a() .entry b() .entry a()", "a, b"},
		{".entry a() .entry b() .entry c() .entry d() .entry e()", "a, b, c, …"},
		{".entry ()", ""},
		{".entry a23456789_b23456789_c23456789_d23456789_e23456789_12()",
		 "a23456789_b23456789_c23456789_d23456789_e23456789_12"},
		{".entry a23456789_b23456789_c23456789_d23456789_e23456789_123() .entry b()",
		 "a23456789_b23456789_c23456789_d23456789_e23456789_12…, b"},
		{"// .entries of nothing\n.func f()", ""},
		{".entry a", "a"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[KERNELS_TEXT] = "";

		add_text(text, cases[i][0]);
		assert_string_equal(text, cases[i][1]);
	}
}

TEST(names_of_several_texts_are_joined_once)
{
	char text[KERNELS_TEXT] = "a, b";

	kernels_join(text, "b, c");
	assert_string_equal(text, "a, b, c");
	assert_false(kernels_full(text));
	kernels_join(text, "d, e, …");
	assert_string_equal(text, "a, b, c, …");
	assert_true(kernels_full(text));
}

TEST(a_long_name_is_truncated)
{
	char ptx[600], text[KERNELS_TEXT] = "";

	(void)snprintf(ptx, sizeof ptx, ".entry %0500d()", 7);
	add_text(text, ptx);
	assert_int_equal(strlen(text), 55);
}

RUN_TESTS(NULL, NULL)
