/* The kernel or function that identifies a module's machine code: in PTX, and in a cubin. */
#include "check.h"

#include <string.h>

#include "base/cursor.h"
#include "devcode/cubin.h"
#include "devcode/elf64.h"
#include "devcode/ptx.h"

struct text_case {
	const char *text, *name; /* NULL: none */
};
typedef size_t first_fn(const char *text, size_t size, const char **ret_name);

static void expect_names(first_fn *first, const struct text_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = NULL;
		size_t length = first(cases[i].text, strlen(cases[i].text), &name);

		assert_int_equal(length, cases[i].name ? strlen(cases[i].name) : 0);
		if (length)
			assert_memory_equal(name, cases[i].name, length);
	}
}

TEST(the_first_kernel_of_a_text_is_found)
{
	static const struct text_case cases[] = {
		{".version 7.0\n.target sm_50\n.visible .entry one(.param .u64 a)\n{\n}\n", "one"},
		{".visible\t.entry  two ()\r\n.maxntid 4\r\n{ ret; }", "two"},
		{"  .weak .entry _Z5threev\n(\n)\n{\n", "_Z5threev"},
		{".visible .func (.reg .u32 a) f()\n{\n}\n.visible .entry four$x(){", "four$x"},
		{".visible .entry declared();\n.visible .entry five(){}", "five"},
		{"// .visible .entry no(){\n.visible .entry six() // {\n{", "six"},
		{".entry local(){}\n", NULL},
		{".visible .entry seven(.param .u64 a)\n", NULL}, /* the text goes on */
		{"/* \n.visible .entry eight(){\n*/\n.visible .entry nine(){}", NULL},
		{".global .u32 a; .visible .entry behind(){}", NULL},
		{".visible .entry ", NULL},
		{"", NULL},
	};

	expect_names(ptx_first_kernel, cases, sizeof cases / sizeof *cases);
}

enum { NAMES = 40000, SIZE = ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + NAMES };

struct source {
	uint8_t bytes[SIZE];
};

static int read_source(struct jw_error *err, void *context, uint64_t offset, void *data,
					   size_t size)
{
	const struct source *source = context;

	(void)err;
	assert_true(offset + size <= SIZE);
	memcpy(data, source->bytes + offset, size);
	return 0;
}

static bool names(struct source *source, const char *name)
{
	bool found = false;

	assert_int_equal(cubin_names(NULL, read_source, source, SIZE, name, strlen(name), &found), 0);
	return found;
}

static void put(struct source *source, size_t at, const char *name)
{
	memcpy(source->bytes + ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + at, name, strlen(name) + 1);
}

TEST(a_name_is_found_wherever_it_lies)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};
	static struct source source;
	uint8_t *section = source.bytes + ELF64_EHDR_SIZE + ELF64_SHDR_SIZE;

	memcpy(source.bytes, ident, sizeof ident);
	store_u64(source.bytes + 40, ELF64_EHDR_SIZE);
	store_u16(source.bytes + 58, ELF64_SHDR_SIZE);
	store_u16(source.bytes + 60, 2);
	assert_true(names(&source, "kernel")); /* no table that could hold it */
	store_u32(section + 4, 3);
	store_u64(section + 24, ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE);
	store_u64(section + 32, NAMES);
	assert_false(names(&source, "kernel"));
	put(&source, 10, "other_kernel");
	put(&source, 30, "kernels");
	assert_false(names(&source, "kernel"));
	for (size_t at = 50; at < NAMES - 20; at += 1111) {
		memset(source.bytes + ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + 50, 0, NAMES - 50);
		put(&source, at, at % 2 ? "kernel" : ".text.kernel");
		assert_true(names(&source, "kernel"));
	}
	/* On each side of where one piece ends and the next begins */
	for (size_t at = 16300; at < 16400; at++) {
		memset(source.bytes + ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + 50, 'x', NAMES - 50);
		source.bytes[ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + at - 1] = 0;
		put(&source, at, "kernel");
		assert_true(names(&source, "kernel"));
		source.bytes[ELF64_EHDR_SIZE + 2 * ELF64_SHDR_SIZE + at - 1] = 'x';
		assert_false(names(&source, "kernel"));
	}
}

RUN_TESTS(NULL, NULL)
