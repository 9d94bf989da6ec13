/* Host files in ELF: their sections, and what relocations do to the fat binary wrappers. */
#ifndef JW_DEVCODE_ELF_H
#define JW_DEVCODE_ELF_H

#include "devcode/bytes.h"
#include "devcode/sections.h"

/* Sections of initialised data, sorted. JW_ERR_UNSUPPORTED for 32-bit and big-endian files,
 * JW_ERR_FORMAT where headers or sections leave the file, as in one that was cut off. */
int elf_sections(struct jw_error *err, const struct bytes *bytes, struct section_table *ret_table);

/* One pointer that the dynamic linker writes. */
struct elf_pointer {
	uint64_t address; /* where it stands */
	uint64_t value; /* what stands there in the file; replaced where a relocation says otherwise */
};

/* Applies R_X86_64_RELATIVE and R_AARCH64_RELATIVE of .rela.dyn to `count` pointers, which have to
 * be sorted by address. Where there is no .rela.dyn, or it has nothing for a pointer (a program at
 * a fixed address, RELR), the value in the file stands. */
int elf_relocate(struct jw_error *err, const struct bytes *bytes, const struct section_table *table,
				 struct elf_pointer *pointers, size_t count);

#endif
