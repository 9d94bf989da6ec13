/* What is read of cubins: kernels, symbols, and what their entries repeat. */
#include "check.h"

#include <string.h>

#include "base/cursor.h"
#include "devcode/cubin.h"
#include "devcode/write.h"

/* Header, names, a symbol table, and the headers of three sections: none, names, symbols. */
enum { NAMES_AT = 64, NAMES = 32, SYMBOLS_AT = 96, SYMBOL = 24, MOST = 1024 };

struct made {
	uint8_t bytes[MOST];
	size_t symbols, size;
};

static void begin(struct made *made, const char *names, size_t size)
{
	memset(made, 0, sizeof *made);
	memcpy(made->bytes,
		   "\x7f"
		   "ELF\2\1\1\x33\7",
		   9);
	store_u16(made->bytes + 16, 2);
	store_u16(made->bytes + 18, CUBIN_MACHINE);
	store_u32(made->bytes + 48, 86);
	memcpy(made->bytes + NAMES_AT, names, size);
	made->symbols = 1;
}

static void add(struct made *made, uint32_t name, uint8_t info, uint8_t other)
{
	uint8_t *symbol = made->bytes + SYMBOLS_AT + SYMBOL * made->symbols++;

	store_u32(symbol, name);
	symbol[4] = info;
	symbol[5] = other;
}

static struct devcode_view end(struct made *made)
{
	const size_t at = SYMBOLS_AT + SYMBOL * made->symbols;
	uint8_t *table = made->bytes + at;

	store_u64(made->bytes + 40, at);
	store_u16(made->bytes + 52, 64);
	store_u16(made->bytes + 58, 64);
	store_u16(made->bytes + 60, 3);
	store_u32(table + 64 + 4, 3);
	store_u64(table + 64 + 24, NAMES_AT);
	store_u64(table + 64 + 32, NAMES);
	store_u32(table + 128 + 4, 2);
	store_u64(table + 128 + 24, SYMBOLS_AT);
	store_u64(table + 128 + 32, SYMBOL * made->symbols);
	store_u32(table + 128 + 40, 1);
	made->size = at + 3 * 64;
	return (struct devcode_view){made->bytes, made->size};
}

static const char names[] = "\0one\0two";

/* As ptxas of CUDA 13.0 writes .nv.compat, here in the place of the symbols */
static const uint8_t compat[36] = {2, 9, 0, 0, 2, 2, 1, 0,  2, 5, 5, 0, 3, 7, 1, 1, 2, 3,
								   0, 0, 2, 6, 1, 0, 4, 11, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0};

static struct devcode_view end_with_compat(struct made *made, uint16_t sm)
{
	struct devcode_view view;
	uint8_t *section;

	made->symbols = 2;
	view = end(made);
	section = made->bytes + view.size - 64;
	memcpy(made->bytes + SYMBOLS_AT, compat, sizeof compat);
	store_u32(section + 4, 0x70000086);
	store_u64(section + 32, sizeof compat);
	made->bytes[7] = 0x41;
	made->bytes[8] = 8;
	store_u32(made->bytes + 48, (uint32_t)sm << 8 | 2);
	return view;
}
enum { ONE = 1, TWO = 5 };

static bool has(struct made *a, struct made *b)
{
	struct cubin_symbols symbols, wanted;
	bool all;

	assert_int_equal(cubin_symbols_read(NULL, end(a), &symbols), 0);
	assert_int_equal(cubin_symbols_read(NULL, end(b), &wanted), 0);
	all = cubin_symbols_hold(&symbols, &wanted);
	cubin_symbols_free(&symbols);
	cubin_symbols_free(&wanted);
	return all;
}

TEST(kernels_are_compared_by_name)
{
	static struct made a, b;

	begin(&a, names, sizeof names);
	begin(&b, names, sizeof names);
	assert_true(has(&a, &b));
	add(&a, ONE, 0x12, 0x10);
	assert_true(has(&a, &b));
	assert_false(has(&b, &a));
	add(&b, TWO, 0x12, 0x10);
	assert_false(has(&a, &b));
	assert_false(has(&b, &a));
	add(&a, TWO, 0x12, 0x10);
	assert_true(has(&a, &b));
	assert_false(has(&b, &a));
	/* A function that is no kernel, and a variable */
	add(&b, ONE, 0x12, 0);
	add(&b, ONE, 0x11, 0x10);
	assert_false(has(&b, &a));
	/* In another order */
	add(&b, ONE, 0x12, 0x10);
	assert_true(has(&b, &a));
}

TEST(symbols_of_sections_are_none)
{
	static struct made made;
	struct cubin_symbols symbols;

	begin(&made, names, sizeof names);
	add(&made, ONE, 3, 0);
	assert_int_equal(cubin_symbols_read(NULL, end(&made), &symbols), 0);
	assert_false(symbols.any);
	cubin_symbols_free(&symbols);
	add(&made, ONE, 0x11, 0);
	assert_int_equal(cubin_symbols_read(NULL, end(&made), &symbols), 0);
	assert_true(symbols.any);
	cubin_symbols_free(&symbols);
}

TEST(damaged_tables_are_refused)
{
	static struct made made;
	struct devcode_view view;
	struct cubin_symbols symbols;

	begin(&made, names, sizeof names);
	add(&made, NAMES + 1, 0x12, 0x10);
	assert_int_equal(cubin_symbols_read(NULL, end(&made), &symbols), -1);
	begin(&made, names, sizeof names);
	memset(made.bytes + NAMES_AT, 'x', NAMES);
	add(&made, ONE, 0x12, 0x10);
	assert_int_equal(cubin_symbols_read(NULL, end(&made), &symbols), -1);
	begin(&made, names, sizeof names);
	add(&made, ONE, 0x12, 0x10);
	view = end(&made);
	store_u32(made.bytes + view.size - 64 + 40, 3);
	assert_int_equal(cubin_symbols_read(NULL, view, &symbols), -1);
	assert_int_equal(cubin_symbols_read(NULL, (struct devcode_view){made.bytes, 20}, &symbols), -1);
}

/* Each kernel has the same name, which is as long as the file. */
TEST(names_of_kernels_are_limited)
{
	enum {
		LONG = 1 << 20,
		COUNT = 300,
		TABLE_AT = 64 + LONG,
		HEADERS_AT = TABLE_AT + COUNT * SYMBOL
	};
	static uint8_t bytes[HEADERS_AT + 3 * 64];
	static struct made made;
	struct cubin_symbols symbols;
	struct jw_error err = {0};
	struct devcode_view view;

	begin(&made, names, sizeof names);
	view = end(&made);
	memcpy(bytes, view.data, 64);
	memcpy(bytes + HEADERS_AT, view.data + view.size - 3 * 64, 3 * 64);
	memset(bytes + 64, 'x', LONG - 1);
	store_u64(bytes + 40, HEADERS_AT);
	store_u64(bytes + HEADERS_AT + 64 + 32, LONG);
	store_u64(bytes + HEADERS_AT + 128 + 24, TABLE_AT);
	store_u64(bytes + HEADERS_AT + 128 + 32, COUNT * SYMBOL);
	for (size_t i = 0; i < COUNT; i++) {
		bytes[TABLE_AT + i * SYMBOL + 4] = 0x12;
		bytes[TABLE_AT + i * SYMBOL + 5] = 0x10;
	}
	view = (struct devcode_view){bytes, sizeof bytes};
	assert_int_equal(cubin_symbols_read(&err, view, &symbols), -1);
	assert_int_equal(err.code, JW_ERR_LIMIT);
}

TEST(compat_outside_of_the_cubin_is_none)
{
	static struct made made;
	struct devcode_view view;

	begin(&made, names, sizeof names);
	view = end_with_compat(&made, 100);
	store_u64(made.bytes + view.size - 64 + 32, CUBIN_MOST_COMPAT + 1);
	assert_int_equal(cubin_compat(view).size, 0);
	store_u64(made.bytes + view.size - 64 + 32, 36);
	store_u64(made.bytes + view.size - 64 + 24, view.size - 35);
	assert_int_equal(cubin_compat(view).size, 0);
	assert_int_equal(cubin_compat((struct devcode_view){made.bytes, 8}).size, 0);
}

RUN_TESTS(NULL, NULL)
