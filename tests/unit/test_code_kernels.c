/* Kernels, symbols and the repeated facts of entries are read from cubins, and damaged tables are
 * refused. */
#include "make_devcode.h"

#include <string.h>

#include "base/cursor.h"
#include "code/container.h"
#include "code/cubin.h"
#include "code/write.h"

/* The file has a header, names, a symbol table, and the headers of three sections: none, names,
 * symbols. */
enum { NAMES_AT = 64, NAMES = 64, SYMBOLS_AT = 128, SYMBOL = 24, MOST = 1024 };

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

enum { NO_SECTION = 0, SOME_SECTION = 1 };

static void add_in(struct made *made, uint32_t name, uint8_t info, uint8_t other, uint16_t section)
{
	uint8_t *symbol = made->bytes + SYMBOLS_AT + SYMBOL * made->symbols++;

	store_u32(symbol, name);
	symbol[4] = info;
	symbol[5] = other;
	store_u16(symbol + 6, section);
}

static void add(struct made *made, uint32_t name, uint8_t info, uint8_t other)
{
	add_in(made, name, info, other, SOME_SECTION);
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

/* This is .nv.compat as ptxas of CUDA 13.0 writes it, here in the place of the symbols. */
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
	bool all = true;

	OK(cubin_symbols_read(why, end(a), &symbols));
	OK(cubin_symbols_read(why, end(b), &wanted));
	for (size_t i = 0; all && i < wanted.count; i++) {
		bool found = false;

		for (size_t k = 0; !found && k < symbols.count; k++)
			found = symbols.kernels[k] == wanted.kernels[i];
		all = found;
	}
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
	/* a function that is not a kernel, and a variable */
	add(&b, ONE, 0x12, 0);
	add(&b, ONE, 0x11, 0x10);
	assert_false(has(&b, &a));
	/* the symbols in another order */
	add(&b, ONE, 0x12, 0x10);
	assert_true(has(&b, &a));
}

TEST(symbols_of_sections_are_none)
{
	static struct made made;
	struct cubin_symbols symbols;

	begin(&made, names, sizeof names);
	add(&made, ONE, 3, 0);
	OK(cubin_symbols_read(why, end(&made), &symbols));
	assert_false(symbols.any);
	cubin_symbols_free(&symbols);
	add(&made, ONE, 0x11, 0);
	OK(cubin_symbols_read(why, end(&made), &symbols));
	assert_true(symbols.any);
	cubin_symbols_free(&symbols);
}

/* As in the cubins of ptxas 13.0 for files without kernels, for sm_90 and with -rdc=true. */
TEST(symbols_of_the_compilers_own_declare_nothing)
{
	enum { ALIAS = 1, OFFSET = 34, PREFIX = 38 };
	static const char own[] = "\0__nv_reservedSMEM_offset_0_alias\0.nv.reservedSmem.offset0";
	static const struct {
		uint32_t name;
		uint8_t info;
		uint16_t section;
		bool any;
	} rows[] = {
		{ALIAS, 0x20, SOME_SECTION, false},    {OFFSET, 0x21, NO_SECTION, false},
		{PREFIX, 0x11, SOME_SECTION, true},    {PREFIX, 0x11, NO_SECTION, false},
		{NAMES - 1, 0x11, SOME_SECTION, true}, {NAMES + 9, 0x11, SOME_SECTION, true},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static struct made made;
		struct cubin_symbols symbols;

		begin(&made, own, sizeof own);
		add_in(&made, rows[i].name, rows[i].info, 0, rows[i].section);
		OK(cubin_symbols_read(why, end(&made), &symbols));
		if (symbols.any != rows[i].any)
			fail_msg("row %zu", i);
		assert_int_equal(symbols.count, 0);
		cubin_symbols_free(&symbols);
	}
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

/* All kernels have one name, which is as long as the file. */
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
	GIVES(JW_ERR_LIMIT, cubin_symbols_read(why, view, &symbols));
}

TEST(compat_outside_of_the_cubin_is_none)
{
	static struct made made;
	struct devcode_view view;

	begin(&made, names, sizeof names);
	view = end_with_compat(&made, 100);
	store_u64(made.bytes + view.size - 64 + 32, CUBIN_MAX_COMPAT + 1);
	assert_int_equal(cubin_compat(view).size, 0);
	store_u64(made.bytes + view.size - 64 + 32, 36);
	store_u64(made.bytes + view.size - 64 + 24, view.size - 35);
	assert_int_equal(cubin_compat(view).size, 0);
	assert_int_equal(cubin_compat((struct devcode_view){made.bytes, 8}).size, 0);
}

/* ptxas 12.4 (sm_90), 12.9 and 13.2 write these; a target with 'f' is as without. */
TEST(code_for_one_capability_says_so)
{
	static const struct {
		const char *name;
		uint8_t abi;
		uint32_t flags;
		uint8_t compat[8]; /* its first two attributes */
		bool exclusive, cuda_13;
	} cases[] = {
		{"12.4 sm_90", 7, 0x005a055a, {0}, false, false},
		{"12.4 sm_90a", 7, 0x005a0d5a, {0}, true, false},
		{"12.9 sm_100", 8, 0x06006402, {2, 2, 1, 0, 2, 5, 5, 0}, false, false},
		{"12.9 sm_100a", 8, 0x0600640a, {2, 2, 1, 0, 2, 5, 5, 0}, true, false},
		{"13.2 sm_120", 8, 0x06007802, {2, 9, 0, 0, 2, 2, 1, 0}, false, true},
		{"13.2 sm_120a", 8, 0x06007802, {2, 9, 1, 0, 2, 2, 1, 0}, true, true},
		{"behind another", 8, 0x06007802, {2, 2, 1, 0, 2, 9, 1, 0}, true, true},
		{"in another's bytes", 8, 0x06007802, {4, 2, 4, 0, 2, 9, 1, 0}, false, false},
		{"another format", 8, 0x06007802, {3, 9, 1, 0, 2, 2, 1, 0}, false, false},
		{"longer than all", 8, 0x06007802, {4, 2, 255, 255, 2, 9, 1, 0}, false, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static struct made made;
		struct buf file = BUF_MAX(4096);
		struct devcode_entry entry;
		struct devcode_view view;
		struct cubin_header header;
		size_t at;

		begin(&made, names, sizeof names);
		view = end_with_compat(&made, 120);
		made.bytes[7] = cases[i].abi == 8 ? 0x41 : 0x33;
		made.bytes[8] = cases[i].abi;
		store_u32(made.bytes + 48, cases[i].flags);
		memcpy(made.bytes + SYMBOLS_AT, cases[i].compat, 8);
		memset(made.bytes + SYMBOLS_AT + 8, 0, sizeof compat - 8);
		OK(cubin_read(why, view.data, view.size, &header));
		if (header.exclusive != cases[i].exclusive || header.cuda_13 != cases[i].cuda_13)
			fail_msg("%s: %d %d", cases[i].name, header.exclusive, header.cuda_13);
		if (cases[i].abi == 7)
			continue;
		assert_int_equal(cubin_cuda(view.data, view.size, 0, 120),
						 cases[i].cuda_13 ? 13000 : 12080);
		/* A container's entry repeats .nv.compat, which counts if the entry's own flag is
		 * missing. */
		make_cubin_entry(&file, view, 120);
		container_entry(file.data, file.size, 0, 0, &entry);
		assert_int_equal(entry.cuda_13, cases[i].cuda_13);
		assert_int_equal(entry.target.suffix, cases[i].cuda_13 && cases[i].exclusive ? 'a' : 0);
		/* These are hostile: the place, and the size after it. */
		at = load_u32(file.data + 20);
		for (size_t k = 0; k < 8; k++) {
			const uint8_t kept = file.data[at + k];

			file.data[at + k] = 0xff;
			container_entry(file.data, file.size, 0, 0, &entry);
			assert_int_equal(entry.target.sm, 120);
			file.data[at + k] = kept;
		}
		buf_free(&file);
	}
}

RUN_TESTS(NULL, NULL)
