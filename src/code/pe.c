#include "code/sections.h"

#include <string.h>

#include "base/cursor.h"
#include "base/text.h"
#include "code/reread.h"

enum {
	DOS_SIZE = 64,
	DOS_NEW_AT = 0x3c, /* e_lfanew */
	COFF_SIZE = 20,
	SECTION_SIZE = 40,
	NAME_SIZE = 8,
	OPTIONAL_BASE_AT = 24, /* ImageBase in a PE32+ optional header */
	OPTIONAL_MAGIC_64 = 0x20b,
	SYMBOL_SIZE = 18,
	MAX_NAMES = 1 << 28,
};

enum {
	SECTION_CODE = 0x20,
	SECTION_INITIALISED = 0x40,
	SECTION_REMOVED = 0x800,
	SECTION_DISCARDABLE = 0x02000000,
	SECTION_EXECUTE = 0x20000000,
};

struct coff {
	uint16_t sections, optional_size;
	uint32_t symbols_at, symbols;
	uint64_t sections_at;
	uint64_t base;
};

static int read_coff(struct jw_error *err, struct bytes *bytes, uint64_t at, struct coff *ret_coff)
{
	struct coff coff = {0};
	struct cursor cursor;
	const uint8_t *data;

	if (bytes_get(err, bytes, at, COFF_SIZE, &data))
		return -1;
	cursor = cursor_of(data, COFF_SIZE);
	(void)cursor_u16(&cursor); /* Machine */
	coff.sections = cursor_u16(&cursor);
	(void)cursor_u32(&cursor); /* TimeDateStamp */
	coff.symbols_at = cursor_u32(&cursor);
	coff.symbols = cursor_u32(&cursor);
	coff.optional_size = cursor_u16(&cursor);
	coff.sections_at = at + COFF_SIZE + coff.optional_size;
	*ret_coff = coff;
	return 0;
}

/* Reads from "MZ" to the header with which objects begin. */
static int read_image(struct jw_error *err, struct bytes *bytes, struct coff *ret_coff)
{
	const uint8_t *data;
	uint32_t at;

	if (bytes_get(err, bytes, DOS_NEW_AT, 4, &data))
		return -1;
	at = load_u32(data);
	if (!range_fits(at, 4 + COFF_SIZE, bytes->size_bytes))
		return error_set(err, JW_ERR_UNSUPPORTED, "MS-DOS program");
	if (bytes_get(err, bytes, at, 4, &data))
		return -1;
	if (memcmp(data, "PE\0\0", 4) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "MS-DOS program");
	if (read_coff(err, bytes, (uint64_t)at + 4, ret_coff))
		return -1;
	if (ret_coff->optional_size < OPTIONAL_BASE_AT + 8)
		return error_set(err, JW_ERR_FORMAT, "PE file without an optional header");
	if (bytes_get(err, bytes, (uint64_t)at + 4 + COFF_SIZE, OPTIONAL_BASE_AT + 8, &data))
		return -1;
	if ((data[0] | data[1] << 8) != OPTIONAL_MAGIC_64)
		return error_set(err, JW_ERR_UNSUPPORTED, "32-bit PE: only 64-bit files are read");
	ret_coff->base = load_u64(data + OPTIONAL_BASE_AT);
	return 0;
}

/* Finds the name of "/123", which stands for more than eight characters in the string table after
 * the symbols. Only objects have such names. */
static int find_long_name(struct jw_error *err, struct bytes *bytes, const struct coff *coff,
						  const char *name, const char **ret_name, size_t *ret_size)
{
	uint64_t strings = (uint64_t)coff->symbols_at + (uint64_t)coff->symbols * SYMBOL_SIZE, at;
	const uint8_t *data;
	size_t size = sizeof((struct section *)NULL)->name;

	if (name[0] != '/' || !coff->symbols_at || !text_number(name + 1, MAX_NAMES, &at) ||
		strings + at >= bytes->size_bytes)
		return 0;
	if (size > bytes->size_bytes - strings - at)
		size = (size_t)(bytes->size_bytes - strings - at);
	if (bytes_get(err, bytes, strings + at, size, &data))
		return -1;
	*ret_size = size;
	*ret_name = (const char *)data;
	return 0;
}

static int add_pe_sections(struct jw_error *err, struct bytes *bytes, const struct coff *coff,
						   struct section_table *table)
{
	for (size_t i = 0; i < coff->sections; i++) {
		uint32_t address, size, offset, flags;
		char name[NAME_SIZE + 1] = {0};
		const char *shown = name;
		size_t shown_size = NAME_SIZE;
		const uint8_t *header;

		if (bytes_get(err, bytes, coff->sections_at + i * SECTION_SIZE, SECTION_SIZE, &header))
			return -1;
		memcpy(name, header, NAME_SIZE);
		address = load_u32(header + 12);
		size = load_u32(header + 16);
		offset = load_u32(header + 20);
		flags = load_u32(header + 36);
		if (!(flags & SECTION_INITIALISED) || !size || !offset ||
			(flags & (SECTION_CODE | SECTION_EXECUTE | SECTION_DISCARDABLE | SECTION_REMOVED)))
			continue;
		if (!range_fits(offset, size, bytes->size_bytes))
			return error_set(err, JW_ERR_FORMAT,
							 "the file is cut off before the end of section %.8s", name);
		if (find_long_name(err, bytes, coff, name, &shown, &shown_size))
			return -1;
		sections_add(table, shown, shown_size, offset, size, coff->base + address);
	}
	sections_sort(table);
	return 0;
}

int pe_sections(struct jw_error *err, struct bytes *bytes, struct section_table *ret_table)
{
	struct section_table table = {0};
	struct coff coff;
	const uint8_t *data;

	if (bytes_get(err, bytes, 0, 2, &data))
		return -1;
	table.object = data[0] != 'M' || data[1] != 'Z';
	if (table.object ? read_coff(err, bytes, 0, &coff) : read_image(err, bytes, &coff))
		return -1;
	if (add_pe_sections(err, bytes, &coff, &table)) {
		sections_free(&table);
		return -1;
	}
	*ret_table = table;
	return 0;
}

/* The two kinds of import descriptors: their size, the offset of the name's address (relative to
 * the image's) in one, and the place in the optional header of the first one's address. */
static const struct pe_imports_form {
	uint32_t directory_at, size, name_at;
} forms[] = {
	{120, 20, 12}, /* imports */
	{216, 32, 4},  /* delayed imports */
};

enum { MAX_IMPORTS = 4096, MAX_IMPORT_NAME = 260 };

/* Finds the bytes at an address that is relative to the image's base. */
static bool at_address(const struct bytes *bytes, const struct section_table *table, uint64_t base,
					   uint32_t address, uint64_t size, const uint8_t **ret_data)
{
	uint64_t offset;

	return address && sections_offset(table, base + address, &offset) &&
		   bytes_in_memory(bytes, offset, size, ret_data);
}

void pe_imports(const struct bytes *bytes, const struct section_table *table,
				void (*take)(void *context, const char *name), void *context)
{
	const uint8_t *data;
	uint64_t optional, base;

	if (table->object || !bytes_in_memory(bytes, DOS_NEW_AT, 4, &data))
		return;
	optional = (uint64_t)load_u32(data) + 4 + COFF_SIZE;
	if (!bytes_in_memory(bytes, optional, OPTIONAL_BASE_AT + 8, &data))
		return;
	base = load_u64(data + OPTIONAL_BASE_AT);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		uint32_t directory;

		if (!bytes_in_memory(bytes, optional + forms[i].directory_at, 4, &data))
			continue;
		directory = load_u32(data);
		for (uint32_t k = 0; directory && k < MAX_IMPORTS; k++) {
			char name[MAX_IMPORT_NAME];
			size_t length = 0;
			uint32_t address;

			if (!at_address(bytes, table, base, directory + k * forms[i].size, forms[i].size,
							&data) ||
				!(address = load_u32(data + forms[i].name_at)))
				break;
			while (length + 1 < sizeof name &&
				   at_address(bytes, table, base, address + (uint32_t)length, 1, &data) && *data)
				name[length++] = (char)*data;
			name[length] = '\0';
			take(context, name);
		}
	}
}
