/* ELF host files: their sections, and the relocations of fat binary wrappers. */
#pragma once

#include "devcode/bytes.h"
#include "devcode/sections.h"

/* Sections of initialised data, sorted. JW_ERR_UNSUPPORTED for 32-bit and big-endian files,
 * JW_ERR_FORMAT if headers or sections leave the file, as in a truncated one. */
int elf_sections(struct jw_error *err, const struct bytes *bytes, struct section_table *ret_table);

/* One pointer that the dynamic linker writes. */
struct elf_pointer {
	uint64_t address; /* its address */
	uint64_t value;   /* its value in the file, or the one from a relocation */
};

/* Applies R_X86_64_RELATIVE and R_AARCH64_RELATIVE of .rela.dyn to `count` pointers, which are
 * sorted by address. A pointer without such a relocation keeps its value in the file (a program at
 * a fixed address, RELR). */
int elf_relocate(struct jw_error *err, const struct bytes *bytes, const struct section_table *table,
				 struct elf_pointer *pointers, size_t count);
