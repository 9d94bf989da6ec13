/* The simulated compiler's cubins are valid ELF files with a symbol for each kernel and function,
 * the name of a section for each, and bytes that depend only on the module, the options and the
 * architecture. */
#include "sim.h"

#include <string.h>

#define ELF_HEADER   64
#define ELF_SECTION  64
#define ELF_SYMBOL   24
#define MACHINE_CUDA 190
#define SECTIONS     5 /* null, .shstrtab, .strtab, .symtab, .text; from sm_100 on .nv.compat too */
#define COMPAT_TYPE  0x70000086u

/* CUDA 13 uses ABI 8, with the SM one byte higher; 12.8 uses it for 10.0 and newer. */
static bool new_abi(int sm)
{
	return sim.cuda_version >= 13000 || (sm >= 100 && sim.cuda_version >= 12080);
}

static unsigned section_count(const struct cubin_wish *wish)
{
	return SECTIONS + (wish->sm >= 100 && new_abi(wish->sm) ? 1u : 0u);
}

static void put_header(uint8_t *elf, const struct cubin_wish *wish, uint64_t sections)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	bool fresh = new_abi(wish->sm);
	unsigned sm = (unsigned)wish->sm;

	memcpy(elf, magic, sizeof magic);
	elf[7] = fresh ? 0x41 : 0x33;
	elf[8] = fresh ? 8 : 7;
	put_u16(elf + 16, wish->relocatable ? 1 : 2);
	put_u16(elf + 18, MACHINE_CUDA);
	put_u32(elf + 20,
			fresh ? 1 : (uint32_t)(sim.cuda_version / 1000 * 10 + sim.cuda_version % 1000 / 10));
	put_u64(elf + 40, sections);
	put_u32(elf + 48, fresh ? 0x06000004 | sm << 8 : sm << 16 | 0x500 | sm);
	put_u16(elf + 52, ELF_HEADER);
	put_u16(elf + 54, 56);
	put_u16(elf + 58, ELF_SECTION);
	put_u16(elf + 60, (uint16_t)section_count(wish));
	put_u16(elf + 62, 1);
}

static void put_section(uint8_t *at, uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
	put_u32(at, name);
	put_u32(at + 4, type);
	put_u64(at + 24, offset);
	put_u64(at + 32, size);
	put_u64(at + 48, 8);
	if (type == 2) { /* the symbols: names in section 2, all of them global */
		put_u32(at + 40, 2);
		put_u32(at + 44, 1);
		put_u64(at + 56, ELF_SYMBOL);
	}
	if (type == 1) /* code: allocated, executable */
		put_u64(at + 8, 6);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 16-byte instructions from a small set with a few free bits, so that cubins compress about as well
 * as machine code. */
static void add_code(struct bytes *elf, uint64_t seed, size_t size)
{
	uint64_t state = seed;

	for (size_t done = 0; done < size || done == 0; done += 16) {
		uint64_t random = next_random(&state);
		uint64_t set = random & 63;
		uint8_t instruction[16];

		put_u64(instruction, next_random(&set) ^ (random >> 8 & 0xff00));
		put_u64(instruction + 8, random >> 32 & 0xffff);
		bytes_add(elf, instruction, sizeof instruction);
	}
}

static uint64_t add_symbols(struct bytes *elf, const struct cubin_wish *wish)
{
	uint64_t start = elf->size;
	const uint8_t *name = wish->names;

	bytes_add(elf, NULL, ELF_SYMBOL);
	for (size_t i = 0; i < wish->entries; i++) {
		uint8_t symbol[ELF_SYMBOL] = {0};

		put_u32(symbol, (uint32_t)(name - wish->names) + 1);
		symbol[4] = 0x12; /* a global function */
		symbol[5] = 0x10; /* a kernel */
		put_u16(symbol + 6, SECTIONS - 1);
		bytes_add(elf, symbol, sizeof symbol);
		name += strlen((const char *)name) + 1;
	}
	return start;
}

/* A compiler gives each its own section; here they share the first. */
static void add_section_names(struct bytes *elf, const struct cubin_wish *wish)
{
	static const char names[] = "\0.shstrtab\0.strtab\0.symtab";
	const char *name = (const char *)wish->names;

	bytes_add(elf, names, sizeof names);
	for (size_t i = 0; i < wish->entries; i++) {
		bytes_add(elf, ".text.", 6);
		bytes_add(elf, name, strlen(name) + 1);
		name += strlen(name) + 1;
	}
	if (!wish->entries)
		bytes_add(elf, ".text", 6);
}

void cubin_make(struct bytes *ret_cubin, const struct cubin_wish *wish)
{
	struct bytes elf = {NULL, 0};
	uint64_t strings, symbols, compat, code, sections;
	const unsigned count = section_count(wish);
	size_t rest;

	bytes_add(&elf, NULL, ELF_HEADER);
	add_section_names(&elf, wish);
	strings = elf.size;
	bytes_add(&elf, NULL, 1);
	bytes_add(&elf, wish->names, wish->names_size);
	bytes_add(&elf, NULL, (8 - elf.size % 8) % 8);
	symbols = add_symbols(&elf, wish);
	compat = elf.size;
	if (count > SECTIONS) {
		static const char attributes[] = "\2\11\0\0\2\2\1\0\2\5\5\0\2\6\1\0";
		const size_t first = sim.cuda_version >= 13000 ? 0 : 4; /* attribute 9 is new in CUDA 13 */

		bytes_add(&elf, attributes + first, 16 - first);
	}
	code = elf.size;
	rest = code + count * ELF_SECTION;
	add_code(&elf, wish->seed, wish->size > rest ? wish->size - rest : 128);
	sections = elf.size;
	bytes_add(&elf, NULL, (size_t)count * ELF_SECTION);
	put_header(elf.data, wish, sections);
	put_section(elf.data + sections + 64, 1, 3, ELF_HEADER, strings - ELF_HEADER);
	put_section(elf.data + sections + 128, 11, 3, strings, 1 + wish->names_size);
	put_section(elf.data + sections + 192, 19, 2, symbols, compat - symbols);
	put_section(elf.data + sections + 256, 27, 1, code, sections - code);
	if (count > SECTIONS)
		put_section(elf.data + sections + 320, 0, COMPAT_TYPE, compat, code - compat);
	*ret_cubin = elf;
}

size_t cubin_size(const uint8_t *data)
{
	return (size_t)(get_u64(data + 40) + 64ull * (get_u32(data + 60) & 0xffff));
}

/* Loaders up to 12.5 check neither type nor ABI: flags of ABI 8 begin with no architecture. */
static int loader_check(const uint8_t *data, int sm)
{
	uint32_t flags = get_u32(data + 48);
	bool knows_8 = sim.cuda_version >= 12080;
	int made_for = (int)(knows_8 && data[8] > 7 ? flags >> 8 & 0xff : flags & 0xff);

	if (data[5] != 1 || (get_u32(data + 16) >> 16) != MACHINE_CUDA)
		return CU_INVALID_IMAGE;
	if (cubin_runs(made_for, 0, sm))
		return CU_OK;
	return made_for < 10 ? CU_INVALID_IMAGE : CU_INVALID_SOURCE;
}

/* Linkers check neither byte order nor machine, but the versions of the ABI and the toolkit. 12.5's
 * linker takes ABI 8. */
static int linker_check(const uint8_t *data, int sm)
{
	uint32_t flags = get_u32(data + 48), type = get_u32(data + 16) & 0xffff;
	bool is_8 = sim.cuda_version >= 12050 && data[7] == 0x41;
	int own = sim.cuda_version / 1000 * 10 + sim.cuda_version % 1000 / 10;

	if (sim.cuda_version >= 12040 ? type == 2 : type != 1)
		return CU_NO_BINARY_FOR_GPU;
	if (data[8] != (is_8 ? 8 : 7) || get_u32(data + 20) > (uint32_t)own)
		return CU_NO_BINARY_FOR_GPU;
	return cubin_runs((int)(is_8 ? flags >> 8 & 0xff : flags & 0xff), 0, sm) ? CU_OK
																			 : CU_NO_BINARY_FOR_GPU;
}

int cubin_check(const uint8_t *data, size_t size, int sm, bool relocatable)
{
	if (size < ELF_HEADER || get_u32(data) != 0x464c457f)
		return CU_INVALID_IMAGE;
	if (data[4] != 2)
		return relocatable ? CU_NO_BINARY_FOR_GPU : CU_INVALID_IMAGE;
	if (get_u64(data + 40) > size || cubin_size(data) > size)
		return CU_INVALID_IMAGE;
	return relocatable ? linker_check(data, sm) : loader_check(data, sm);
}

/* Reads the offset and size of the section at `at`; false if the file does not hold it. */
static bool section_read(const uint8_t *data, size_t size, uint64_t at, uint64_t *ret_offset,
						 uint64_t *ret_size)
{
	const uint8_t *header = data + get_u64(data + 40) + at * ELF_SECTION;

	*ret_offset = get_u64(header + 24);
	*ret_size = get_u64(header + 32);
	return *ret_offset <= size && *ret_size <= size - *ret_offset;
}

/* Adds the names of the functions among the symbols. */
static size_t add_names(const uint8_t *symbols, uint64_t size, const uint8_t *strings,
						uint64_t strings_size, struct bytes *names)
{
	size_t count = 0;

	for (uint64_t at = 0; at + ELF_SYMBOL <= size; at += ELF_SYMBOL) {
		uint32_t offset = get_u32(symbols + at);
		const uint8_t *end;

		if ((symbols[at + 4] & 15) != 2 || offset >= strings_size)
			continue;
		end = memchr(strings + offset, 0, strings_size - offset);
		if (!end)
			continue;
		bytes_add(names, strings + offset, (size_t)(end - strings) - offset + 1);
		count++;
	}
	return count;
}

size_t cubin_functions(const uint8_t *data, size_t size, struct bytes *names)
{
	unsigned sections = get_u32(data + 60) & 0xffff;
	size_t count = 0;

	for (unsigned i = 0; i < sections; i++) {
		const uint8_t *header = data + get_u64(data + 40) + (uint64_t)i * ELF_SECTION;
		uint64_t symbols, symbols_size, strings, strings_size;

		if (get_u32(header + 4) == 2 && get_u32(header + 40) < sections &&
			section_read(data, size, i, &symbols, &symbols_size) &&
			section_read(data, size, get_u32(header + 40), &strings, &strings_size))
			count += add_names(data + symbols, symbols_size, data + strings, strings_size, names);
	}
	return count;
}

bool cubin_has_function(const uint8_t *data, size_t size, const char *name)
{
	struct bytes names = {NULL, 0};
	size_t count = cubin_functions(data, size, &names);
	const char *at = (const char *)names.data;
	bool found = false;

	for (size_t i = 0; i < count && !found; i++, at += strlen(at) + 1)
		found = strcmp(at, name) == 0;
	bytes_free(&names);
	return found;
}
