#include "code/sections.h"

#include <assert.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "code/elf64.h"
#include "code/reread.h"

enum {
	MANY = 0xffff,       /* e_shstrndx: see section 0 */
	MAX_NAMES = 1 << 28, /* bytes of section names; clang's objects keep symbols' names there */
	RELA_SIZE = 24,
	MACHINE_X86_64 = 62,
	MACHINE_AARCH64 = 183,
	X86_64_RELATIVE = 8,
	AARCH64_RELATIVE = 1027,
};

/* Section headers: their place and number, with the escape for more than 16 bits. */
struct headers {
	uint64_t offset, count;
	uint32_t names; /* index of the section with the names */
};

/* Adds the sections of initialised data. */
static int add_elf_sections(struct jw_error *err, struct bytes *bytes,
							const struct headers *headers, struct section_table *table)
{
	struct elf64_section *sections = mem_array((size_t)headers->count, sizeof *sections),
						 names = {0};
	const uint8_t *data = NULL, *text = NULL;
	int result = -1;

	if (headers->count &&
		bytes_get(err, bytes, headers->offset, headers->count * ELF64_SHDR_SIZE, &data))
		goto done;
	for (size_t i = 0; i < headers->count; i++)
		elf64_section_read(data + i * ELF64_SHDR_SIZE, &sections[i]);
	if (headers->names < headers->count)
		names = sections[headers->names];
	if (names.size_bytes > MAX_NAMES ||
		!range_fits(names.offset, names.size_bytes, bytes->size_bytes)) {
		error_set(err, JW_ERR_FORMAT, "the names of the sections are outside of the file");
		goto done;
	}
	if (names.size_bytes && bytes_get(err, bytes, names.offset, names.size_bytes, &text))
		goto done;
	for (size_t i = 0; i < headers->count; i++) {
		const struct elf64_section *section = &sections[i];
		const bool named = text && section->name < names.size_bytes;

		if (!section->type || section->type == ELF64_SHT_NOBITS ||
			!(section->flags & ELF64_SHF_ALLOC) || (section->flags & ELF64_SHF_EXECINSTR) ||
			(section->flags & ELF64_SHF_COMPRESSED))
			continue;
		if (!range_fits(section->offset, section->size_bytes, bytes->size_bytes)) {
			error_set(err, JW_ERR_FORMAT, "the file is cut off before the end of section %zu", i);
			goto done;
		}
		sections_add(table, named ? (const char *)text + section->name : "",
					 named ? (size_t)(names.size_bytes - section->name) : 0, section->offset,
					 section->size_bytes, section->address);
	}
	result = 0;
done:
	mem_free(sections);
	return result;
}

static int read_elf_header(struct jw_error *err, struct bytes *bytes, struct elf64_header *ret_elf)
{
	const uint8_t *data;

	if (bytes->size_bytes < ELF64_EHDR_SIZE)
		return error_set(err, JW_ERR_FORMAT, "ELF file of less than a header");
	if (bytes_get(err, bytes, 0, ELF64_EHDR_SIZE, &data))
		return -1;
	if (!elf64_header_read(data, ELF64_EHDR_SIZE, ret_elf))
		return error_set(err, JW_ERR_FORMAT, "not an ELF file");
	if (ret_elf->class != ELF64_CLASS || ret_elf->order != ELF64_LITTLE)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "32-bit or big-endian ELF: only 64-bit little-endian files are read");
	return 0;
}

int elf_sections(struct jw_error *err, struct bytes *bytes, struct section_table *ret_table)
{
	struct section_table table = {0};
	struct elf64_header elf;
	struct elf64_section first;
	struct headers headers;
	const uint8_t *data;

	if (read_elf_header(err, bytes, &elf))
		return -1;
	table.object = elf.type == ELF64_REL;
	table.absent = !elf.shoff;
	if (table.absent) {
		*ret_table = table;
		return 0;
	}
	headers = (struct headers){elf.shoff, elf.shnum, elf.shstrndx};
	if (elf.shentsize != ELF64_SHDR_SIZE)
		return error_set(err, JW_ERR_FORMAT,
						 "damaged: its section headers have %u bytes instead of 64", elf.shentsize);
	if (!range_fits(headers.offset, ELF64_SHDR_SIZE, bytes->size_bytes))
		return error_set(err, JW_ERR_FORMAT, "the file is cut off before its section headers");
	if (!headers.count || headers.names == MANY) {
		if (bytes_get(err, bytes, headers.offset, ELF64_SHDR_SIZE, &data))
			return -1;
		elf64_section_read(data, &first);
		headers.count = headers.count ? headers.count : first.size_bytes;
		headers.names = headers.names == MANY ? first.link : headers.names;
	}
	if (headers.count > SECTIONS_MAX)
		return error_set(err, JW_ERR_LIMIT, "%llu sections", (unsigned long long)headers.count);
	if (!range_fits(headers.offset, headers.count * ELF64_SHDR_SIZE, bytes->size_bytes))
		return error_set(err, JW_ERR_FORMAT, "the file is cut off before its section headers");
	if (add_elf_sections(err, bytes, &headers, &table)) {
		sections_free(&table);
		return -1;
	}
	sections_sort(&table);
	*ret_table = table;
	return 0;
}

static struct elf_pointer *find_pointer(struct elf_pointer *pointers, size_t count,
										uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pointers[middle].address == address)
			return &pointers[middle];
		if (pointers[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static_assert(DEVCODE_PIECE % RELA_SIZE == 0, "pieces hold whole relocations");

/* Applies the relocations of the `wanted` type and symbol. */
static void apply_relocations(const uint8_t *rela, size_t size, uint64_t wanted,
							  struct elf_pointer *pointers, size_t count)
{
	const uint64_t first = pointers[0].address, last = pointers[count - 1].address;

	for (; size >= RELA_SIZE; size -= RELA_SIZE, rela += RELA_SIZE) {
		uint64_t address = load_u64(rela);
		struct elf_pointer *pointer;

		if (address < first || address > last || load_u64(rela + 8) != wanted)
			continue;
		pointer = find_pointer(pointers, count, address);
		if (pointer)
			pointer->value = load_u64(rela + 16);
	}
}

int elf_relocate(struct jw_error *err, struct bytes *bytes, const struct section_table *table,
				 struct elf_pointer *pointers, size_t count)
{
	struct elf64_header elf;
	uint64_t wanted;

	if (!count)
		return 0;
	if (read_elf_header(err, bytes, &elf))
		return -1;
	wanted = elf.machine == MACHINE_AARCH64 ? AARCH64_RELATIVE : X86_64_RELATIVE;
	if (elf.machine != MACHINE_AARCH64 && elf.machine != MACHINE_X86_64)
		return error_set(err, JW_ERR_UNSUPPORTED, "relocations of ELF machine %u", elf.machine);
	for (size_t i = 0; i < table->count; i++) {
		const struct section *section = &table->items[i];
		const uint64_t size = section->size_bytes / RELA_SIZE * RELA_SIZE;
		struct devcode_part part;
		struct code_copy copy;
		const uint8_t *rela;
		int step;

		if (strcmp(section->name, ".rela.dyn") != 0)
			continue;
		if (bytes_in_memory(bytes, section->offset, size, &rela)) {
			apply_relocations(rela, (size_t)size, wanted, pointers, count);
			continue;
		}
		/* The relocations have tens of megabytes, for which the member is decompressed a second
		 * time. */
		part = (struct devcode_part){
			.member = bytes->origin->member, .offset = section->offset, .size_bytes = size};
		copy = copy_of(bytes->origin, &part);
		while ((step = code_copy_next(err, &copy)) > 0)
			apply_relocations(copy.data, copy.size, wanted, pointers, count);
		code_copy_close(&copy);
		if (step)
			return -1;
	}
	return 0;
}
