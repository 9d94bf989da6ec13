#include "code/cubin.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "code/elf64.h"

enum {
	OSABI_7 = 0x33,
	OSABI_8 = 0x41,
	VERSION_7 = 7,
	VERSION_8 = 8,
	ABI_AT = 8,
	MACHINE_AT = 18,     /* e_machine */
	TOOLKIT_AT = 20,     /* e_version */
	FIRST_SM_OF_8 = 100, /* from this GPU on the ABI is always 8; CUDA 12.8 introduced both */
	FIRST_OF_12 = 122,   /* drivers of CUDA 11 load the code of 12.0 and 12.1 */
	EXCLUSIVE_7 = 0x800, /* `a` in e_flags, for ABI 7 */
	EXCLUSIVE_8 = 0x8,   /* `a` in e_flags of CUDA 12.8 and 12.9; CUDA 13 has it in .nv.compat */
};

bool cubin_is(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	return size >= MACHINE_AT + 2 && load_u32(bytes) == 0x464c457f && bytes[4] == ELF64_CLASS &&
		   bytes[5] == ELF64_LITTLE &&
		   (bytes[MACHINE_AT] | bytes[MACHINE_AT + 1] << 8) == CUBIN_MACHINE;
}

uint32_t cubin_cuda(const void *head, size_t size, unsigned abi, uint16_t sm)
{
	const uint8_t *bytes = head;
	const bool whole = size >= CUBIN_HEAD && cubin_is(head, size);
	/* e_version is the toolkit's version in tenths (122: 12.2). Toolkits that write ABI 8 write
	 * 1. */
	const uint32_t toolkit = whole ? load_u32(bytes + TOOLKIT_AT) : 0;

	if (whole)
		abi = bytes[ABI_AT];
	if (abi >= VERSION_8)
		return sm < FIRST_SM_OF_8 || cubin_scope(cubin_compat((struct devcode_view){head, size}))
				   ? 13000
				   : 12080;
	return toolkit >= FIRST_OF_12 && toolkit < 130 ? 12000 : 0;
}

uint32_t cubin_compiler(struct devcode_view cubin, uint16_t sm)
{
	const uint8_t *bytes = cubin.data;
	uint32_t tenths;

	if (cubin.size < CUBIN_HEAD || !cubin_is(bytes, cubin.size))
		return 0;
	if (bytes[ABI_AT] >= VERSION_8)
		return cubin_cuda(bytes, cubin.size, 0, sm);
	tenths = load_u32(bytes + TOOLKIT_AT);
	return tenths < 1000 ? tenths / 10 * 1000 + tenths % 10 * 10 : 0;
}

/* Extends `header` to the end of a table or section; false if that is outside the file. */
static bool cover(struct cubin_header *header, uint64_t offset, uint64_t size, uint64_t total)
{
	if (!range_fits(offset, size, total))
		return false;
	if (offset + size > header->size_bytes)
		header->size_bytes = offset + size;
	return true;
}

enum { SHT_COMPAT = ELF64_SHT_LOPROC + 0x86 }; /* .nv.compat */

/* Reads the attributes: a format, a number, and depending on the format nothing (1), one byte (2)
 * or two (3) in two bytes, or a size in two bytes and so many bytes. CUDA 13 introduced number
 * 9. */
enum cubin_scope cubin_scope(struct devcode_view compat)
{
	enum { ATTRIBUTE = 4, FORMAT_BYTE = 2, FORMAT_SIZE = 4, SCOPE = 9 };
	size_t at = 0;

	while (compat.size - at >= ATTRIBUTE) {
		const uint8_t *attribute = compat.data + at;
		const size_t size =
			ATTRIBUTE + (attribute[0] == FORMAT_SIZE ? load_u32(attribute) >> 16 : 0);

		if (attribute[0] == FORMAT_BYTE && attribute[1] == SCOPE)
			return attribute[2] ? CUBIN_SCOPE_ONE : CUBIN_SCOPE_MANY;
		if (size > compat.size - at)
			break;
		at += size;
	}
	return CUBIN_SCOPE_UNSTATED;
}

struct cubin_source {
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

static int read_cubin_sections(struct jw_error *err, const struct cubin_source *source,
							   const struct elf64_header *elf, struct cubin_header *header)
{
	enum { AT_A_TIME = 32 };
	uint8_t table[AT_A_TIME * ELF64_SHDR_SIZE];

	for (size_t i = 0; i < elf->shnum; i++) {
		size_t left = elf->shnum - i, in_table = i % AT_A_TIME;
		struct elf64_section section;

		if (!in_table && source->read(err, source->context, elf->shoff + i * ELF64_SHDR_SIZE, table,
									  (left < AT_A_TIME ? left : AT_A_TIME) * ELF64_SHDR_SIZE))
			return -1;
		elf64_section_read(table + in_table * ELF64_SHDR_SIZE, &section);
		/* Sections of shared, local and uninitialised global memory have a size and no bytes in
		 * the file, with processor-specific types (0x7000000a for .nv.shared was seen at the end
		 * of a relocatable cubin of ptxas 12.4). Those types are not documented, so they may lie
		 * outside. */
		if (i && section.type && section.type != ELF64_SHT_NOBITS &&
			!cover(header, section.offset, section.size_bytes, source->size) &&
			section.type < ELF64_SHT_LOPROC)
			return error_set(err, JW_ERR_FORMAT, "a cubin with section %zu outside of it", i);
		if (i && section.type == SHT_COMPAT && section.size_bytes <= CUBIN_MAX_COMPAT &&
			range_fits(section.offset, section.size_bytes, source->size)) {
			uint8_t compat[CUBIN_MAX_COMPAT];
			enum cubin_scope scope;

			if (source->read(err, source->context, section.offset, compat,
							 (size_t)section.size_bytes))
				return -1;
			scope = cubin_scope((struct devcode_view){compat, (size_t)section.size_bytes});
			header->cuda_13 = header->cuda_13 || scope != CUBIN_SCOPE_UNSTATED;
			header->exclusive = header->exclusive || scope == CUBIN_SCOPE_ONE;
		}
	}
	return 0;
}

int cubin_read_by(struct jw_error *err, cubin_read_fn read, void *context, uint64_t size,
				  struct cubin_header *ret_header)
{
	const struct cubin_source source = {read, context, size};
	size_t lead_size = size < ELF64_EHDR_SIZE ? (size_t)size : ELF64_EHDR_SIZE;
	uint8_t lead[ELF64_EHDR_SIZE];
	struct cubin_header header = {0};
	struct elf64_header elf;

	if (lead_size && read(err, context, 0, lead, lead_size))
		return -1;
	if (!cubin_is(lead, lead_size) || !elf64_header_read(lead, lead_size, &elf))
		return error_set(err, JW_ERR_FORMAT, "not a cubin: not an ELF file for CUDA");
	if (elf.type != ELF64_EXEC && elf.type != ELF64_REL)
		return error_set(err, JW_ERR_FORMAT, "cubin of ELF type %u", elf.type);
	header.relocatable = elf.type == ELF64_REL;
	if (elf.osabi == OSABI_7 && elf.abi_version == VERSION_7) {
		header.abi = CUBIN_ABI_7;
		header.sm = elf.flags & 0xff;
		header.exclusive = elf.flags & EXCLUSIVE_7;
	} else if (elf.osabi == OSABI_8 && elf.abi_version == VERSION_8) {
		header.abi = CUBIN_ABI_8;
		header.sm = (elf.flags >> 8) & 0xff;
		header.exclusive = elf.flags & EXCLUSIVE_8;
	} else {
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "cubin of an unknown ABI (OSABI 0x%x, version %u)", elf.osabi,
						 elf.abi_version);
	}
	if (!header.sm)
		return error_set(err, JW_ERR_FORMAT, "cubin without an architecture in its flags (0x%x)",
						 elf.flags);
	header.size_bytes = ELF64_EHDR_SIZE;
	if ((elf.phnum && elf.phentsize != ELF64_PHDR_SIZE) ||
		!cover(&header, elf.phnum ? elf.phoff : 0, (uint64_t)elf.phnum * ELF64_PHDR_SIZE, size))
		return error_set(err, JW_ERR_FORMAT, "a cubin with program headers outside of it");
	if ((elf.shnum && elf.shentsize != ELF64_SHDR_SIZE) ||
		!cover(&header, elf.shnum ? elf.shoff : 0, (uint64_t)elf.shnum * ELF64_SHDR_SIZE, size))
		return error_set(err, JW_ERR_FORMAT, "a cubin with section headers outside of it");
	if (read_cubin_sections(err, &source, &elf, &header))
		return -1;
	*ret_header = header;
	return 0;
}

static int read_cubin_memory(struct jw_error *err, void *context, uint64_t offset, void *data,
							 size_t size)
{
	const uint8_t *const *bytes = context;

	(void)err;
	memcpy(data, *bytes + offset, size);
	return 0;
}

int cubin_read(struct jw_error *err, const void *data, size_t size, struct cubin_header *ret_header)
{
	const uint8_t *bytes = data;

	return cubin_read_by(err, read_cubin_memory, &bytes, size, ret_header);
}

/* Source: docs/internals/fatbin.md, "Container". */
struct devcode_view cubin_compat(struct devcode_view cubin)
{
	struct cubin_header header;
	struct elf64_header elf;

	if (cubin_read(NULL, cubin.data, cubin.size, &header) ||
		!elf64_header_read(cubin.data, cubin.size, &elf))
		return (struct devcode_view){0};
	for (size_t i = 0; i < elf.shnum; i++) {
		struct elf64_section section;

		elf64_section_read(cubin.data + elf.shoff + i * ELF64_SHDR_SIZE, &section);
		if (section.type == SHT_COMPAT && section.size_bytes <= CUBIN_MAX_COMPAT &&
			range_fits(section.offset, section.size_bytes, cubin.size))
			return (struct devcode_view){cubin.data + section.offset, (size_t)section.size_bytes};
	}
	return (struct devcode_view){0};
}

/* The symbols of a cubin; those that are kernels can be launched. */

enum {
	SYMBOL = 24,
	SHT_SYMTAB = 2,
	SYMBOL_FUNCTION = 2,
	SYMBOL_SECTION = 3,
	SYMBOL_KERNEL = 0x10, /* in st_other */
	MAX_KERNELS = 1 << 20,
	MAX_READ = 1 << 28, /* bytes of symbols and names: hostile kernels share a long one */
};

/* Returns whether a program could use the symbol: it is one of a section. From sm_90 on, each cubin
 * has symbols of the compiler's own for the shared memory that the driver reserves. */
static bool is_declared(const uint8_t *symbol, const char *names, size_t names_size)
{
	static const char reserved[] = "__nv_reservedSMEM_";
	const uint32_t name = load_u32(symbol);

	return name && (symbol[4] & 15) != SYMBOL_SECTION && (symbol[6] || symbol[7]) &&
		   !(range_fits(name, sizeof reserved - 1, names_size) &&
			 !memcmp(names + name, reserved, sizeof reserved - 1));
}

/* Adds a symbol's kernel, if it is one, within the limits of symbols and bytes. */
static int take_symbol(struct jw_error *err, struct cubin_symbols *symbols, const uint8_t *symbol,
					   const char *names, size_t names_size)
{
	const uint8_t type = symbol[4] & 15;
	const uint32_t name = load_u32(symbol);
	const bool kernel = type == SYMBOL_FUNCTION && symbol[5] & SYMBOL_KERNEL;

	symbols->any = symbols->any || is_declared(symbol, names, names_size);
	if (kernel && (name >= names_size || !memchr(names + name, 0, names_size - name)))
		return error_set(err, JW_ERR_FORMAT, "a cubin with a kernel without a name");
	symbols->read_bytes += SYMBOL + (kernel ? strlen(names + name) : 0);
	if (symbols->read_bytes > MAX_READ)
		return error_set(err, JW_ERR_LIMIT, "a cubin with too many symbols");
	if (!kernel)
		return 0;
	if (VEC_ROOM(err, symbols->kernels, symbols->capacity, symbols->count, MAX_KERNELS))
		return -1;
	if (symbols->count < CUBIN_NAMES)
		symbols->names[symbols->count] = names + name;
	symbols->kernels[symbols->count++] = fnv_update(FNV_START, names + name, strlen(names + name));
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
		if (!range_fits(section.offset, section.size_bytes, cubin.size) ||
			!range_fits(names.offset, names.size_bytes, cubin.size))
			return error_set(err, JW_ERR_FORMAT, "a cubin with symbols outside of it");
		for (uint64_t at = 0; at + SYMBOL <= section.size_bytes; at += SYMBOL)
			if (take_symbol(err, symbols, cubin.data + section.offset + at,
							(const char *)cubin.data + names.offset, (size_t)names.size_bytes))
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

void cubin_symbols_free(struct cubin_symbols *symbols)
{
	mem_free(symbols->kernels);
	*symbols = (struct cubin_symbols){0};
}
