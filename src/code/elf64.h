/* ELF64, little endian: the two structures that host files and cubins share. Source: System V ABI,
 * chapter 4; e_shnum, e_shstrndx and e_phnum may overflow into section 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ELF64_EHDR_SIZE = 64,
	ELF64_SHDR_SIZE = 64,
	ELF64_PHDR_SIZE = 56,
	ELF64_CLASS = 2,
	ELF64_LITTLE = 1,
};

enum { ELF64_REL = 1, ELF64_EXEC = 2 };
enum { ELF64_SHT_RELA = 4, ELF64_SHT_NOBITS = 8, ELF64_SHT_LOPROC = 0x70000000 };
enum { ELF64_SHF_ALLOC = 2, ELF64_SHF_EXECINSTR = 4, ELF64_SHF_COMPRESSED = 0x800 };

struct elf64_header {
	uint8_t class, order, osabi, abi_version;
	uint16_t type, machine;
	uint32_t flags;
	uint64_t phoff, shoff;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf64_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size_bytes;
	uint32_t link, info;
	uint64_t entry_size;
};

enum { ELF64_PT_DYNAMIC = 2 };

struct elf64_segment {
	uint32_t type, flags;
	uint64_t offset, address, file_bytes, memory_bytes, align;
};

/* Reads the header. False if the bytes do not begin with "\x7f""ELF" or are fewer than a header.
 * For a 32-bit or big-endian file only `class` and `order` are valid. */
bool elf64_header_read(const uint8_t *bytes, size_t size, struct elf64_header *ret_header);
/* Reads a section header from ELF64_SHDR_SIZE bytes. */
void elf64_section_read(const uint8_t *bytes, struct elf64_section *ret_section);
/* Reads a program header from ELF64_PHDR_SIZE bytes; the physical address equals the address. */
void elf64_segment_read(const uint8_t *bytes, struct elf64_segment *ret_segment);
