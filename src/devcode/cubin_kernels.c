/* The symbols of a cubin, of which a program launches the kernels. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "devcode/cubin.h"
#include "devcode/elf64.h"

enum {
	SYMBOL = 24,
	SHT_SYMTAB = 2,
	SYMBOL_FUNCTION = 2,
	SYMBOL_SECTION = 3,
	SYMBOL_KERNEL = 0x10, /* in st_other */
	MOST_KERNELS = 1 << 20,
};

static int take_symbol(struct jw_error *err, struct cubin_symbols *symbols, const uint8_t *symbol,
					   const char *names, size_t names_size)
{
	const uint8_t type = symbol[4] & 15;
	const uint32_t name = load_u32(symbol);

	symbols->any = symbols->any || (name && type != SYMBOL_SECTION);
	if (type != SYMBOL_FUNCTION || !(symbol[5] & SYMBOL_KERNEL))
		return 0;
	if (name >= names_size || !memchr(names + name, 0, names_size - name))
		return error_set(err, JW_ERR_FORMAT, "a cubin with a kernel without a name");
	if (VEC_ROOM(err, symbols->kernels, symbols->capacity, symbols->count, MOST_KERNELS))
		return -1;
	symbols->kernels[symbols->count++] = fnv_update(FNV_START, names + name, strlen(names + name));
	return 0;
}

static int take_table(struct jw_error *err, struct cubin_symbols *symbols,
					  struct devcode_view cubin, const struct elf64_section *table,
					  const struct elf64_section *names)
{
	if (!range_fits(table->offset, table->size_bytes, cubin.size) ||
		!range_fits(names->offset, names->size_bytes, cubin.size))
		return error_set(err, JW_ERR_FORMAT, "a cubin with symbols outside of it");
	for (uint64_t at = 0; at + SYMBOL <= table->size_bytes; at += SYMBOL)
		if (take_symbol(err, symbols, cubin.data + table->offset + at,
						(const char *)cubin.data + names->offset, (size_t)names->size_bytes))
			return -1;
	return 0;
}

static int by_name_hash(const void *a, const void *b)
{
	const uint64_t *one = a, *two = b;

	return *one < *two ? -1 : *one > *two;
}

static int read_symbols(struct jw_error *err, struct devcode_view cubin,
						struct cubin_symbols *symbols)
{
	struct cubin_header header;
	struct elf64_header elf;

	if (cubin_read(err, cubin.data, cubin.size, &header))
		return -1;
	(void)elf64_header_read(cubin.data, cubin.size, &elf);
	for (size_t i = 0; i < elf.shnum; i++) {
		struct elf64_section section, names;

		elf64_section_read(cubin.data + elf.shoff + i * ELF64_SHDR_SIZE, &section);
		if (section.type != SHT_SYMTAB)
			continue;
		if (section.link >= elf.shnum)
			return error_set(err, JW_ERR_FORMAT, "a cubin with symbols without names");
		elf64_section_read(cubin.data + elf.shoff + section.link * ELF64_SHDR_SIZE, &names);
		if (take_table(err, symbols, cubin, &section, &names))
			return -1;
	}
	if (symbols->count)
		qsort(symbols->kernels, symbols->count, sizeof *symbols->kernels, by_name_hash);
	return 0;
}

int cubin_symbols_read(struct jw_error *err, struct devcode_view cubin,
					   struct cubin_symbols *ret_symbols)
{
	struct cubin_symbols symbols = {0};

	if (read_symbols(err, cubin, &symbols)) {
		cubin_symbols_free(&symbols);
		return -1;
	}
	*ret_symbols = symbols;
	return 0;
}

bool cubin_symbols_hold(const struct cubin_symbols *symbols, const struct cubin_symbols *wanted)
{
	size_t at = 0;

	for (size_t i = 0; i < wanted->count; i++) {
		while (at < symbols->count && symbols->kernels[at] < wanted->kernels[i])
			at++;
		if (at == symbols->count || symbols->kernels[at] != wanted->kernels[i])
			return false;
	}
	return true;
}

void cubin_symbols_free(struct cubin_symbols *symbols)
{
	mem_free(symbols->kernels);
	*symbols = (struct cubin_symbols){0};
}
