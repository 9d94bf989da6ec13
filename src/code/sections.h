#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/devcode.h"

struct bytes;

/* The sections of initialised data of one image, for searching and for addresses.
 *
 * elf_sections or pe_sections fills the table. It omits code, debug data and sections without bytes
 * in the file. */
enum { SECTIONS_MAX = 1 << 18 };

struct section {
	char name[32];
	enum devcode_role role;
	bool wrappers; /* .nvFatBinSegment, .nvFatBi */
	uint64_t offset, size_bytes;
	uint64_t address; /* the address of its first byte, if the image is at its preferred address */
};

struct section_table {
	struct section *items; /* by offset, without overlaps, after sections_sort */
	size_t count, capacity;
	bool absent; /* the image has no section headers: all of it is searched, and its places have no
					names */
	bool object; /* the image is not linked yet: addresses have no meaning */
};

/* Adds a section; its role follows from `name`, which need not end in a NUL. Skips a section of
 * size 0. */
void sections_add(struct section_table *table, const char *name, size_t name_size, uint64_t offset,
				  uint64_t size_bytes, uint64_t address);
/* Sorts the sections by offset. If two overlap, which linkers do not produce, the later one is
 * cut. */
void sections_sort(struct section_table *table);
/* Returns the section that holds the whole range, or NULL. */
const struct section *sections_holding(const struct section_table *table, uint64_t offset,
									   uint64_t size_bytes);
/* Converts an address to its offset in the file; false if no section contains it. */
bool sections_offset(const struct section_table *table, uint64_t address, uint64_t *ret_offset);
void sections_free(struct section_table *table);

/* ELF host files: their sections, and the relocations of fat binary wrappers. */

/* Fills in the sections of initialised data, sorted. JW_ERR_UNSUPPORTED for 32-bit and big-endian
 * files, JW_ERR_FORMAT if headers or sections are outside the file, as in a truncated one. */
int elf_sections(struct jw_error *err, struct bytes *bytes, struct section_table *ret_table);

/* One pointer that the dynamic linker writes. */
struct elf_pointer {
	uint64_t address; /* where the pointer is */
	uint64_t value;   /* its value in the file, or after relocation */
};

/* Applies R_X86_64_RELATIVE and R_AARCH64_RELATIVE of .rela.dyn to `count` pointers, which are
 * sorted by address. A pointer without such a relocation keeps its value in the file (a program at
 * a fixed address, RELR). */
int elf_relocate(struct jw_error *err, struct bytes *bytes, const struct section_table *table,
				 struct elf_pointer *pointers, size_t count);

/* Windows programs, libraries and objects (PE32+, COFF): their sections. Source: Microsoft's PE
 * format specification. */

/* Fills in the sections of initialised data, sorted, with the addresses that the image prefers, so
 * that its pointers can be followed unchanged. JW_ERR_UNSUPPORTED for 32-bit images and plain
 * MS-DOS programs, JW_ERR_FORMAT if headers or sections are outside the file. */
int pe_sections(struct jw_error *err, struct bytes *bytes, struct section_table *ret_table);

/* Calls `take` with the name of each library that a program or library imports, at its start or at
 * a first use, as far as its headers and the names are in memory. */
void pe_imports(const struct bytes *bytes, const struct section_table *table,
				void (*take)(void *context, const char *name), void *context);
