#include "code/elf64.h"

#include <string.h>

#include "base/cursor.h"

bool elf64_header_read(const uint8_t *bytes, size_t size, struct elf64_header *ret_header)
{
	struct cursor cursor = cursor_of(bytes, size);
	const uint8_t *ident = cursor_take(&cursor, 16);
	struct elf64_header header = {0};

	if (size < ELF64_EHDR_SIZE || !ident ||
		memcmp(ident,
			   "\x7f"
			   "ELF",
			   4) != 0)
		return false;
	header.class = ident[4];
	header.order = ident[5];
	header.osabi = ident[7];
	header.abi_version = ident[8];
	header.type = cursor_u16(&cursor);
	header.machine = cursor_u16(&cursor);
	(void)cursor_take(&cursor, 4 + 8); /* e_version, e_entry */
	header.phoff = cursor_u64(&cursor);
	header.shoff = cursor_u64(&cursor);
	header.flags = cursor_u32(&cursor);
	(void)cursor_u16(&cursor); /* e_ehsize */
	header.phentsize = cursor_u16(&cursor);
	header.phnum = cursor_u16(&cursor);
	header.shentsize = cursor_u16(&cursor);
	header.shnum = cursor_u16(&cursor);
	header.shstrndx = cursor_u16(&cursor);
	*ret_header = header;
	return true;
}

void elf64_section_read(const uint8_t *bytes, struct elf64_section *ret_section)
{
	struct cursor cursor = cursor_of(bytes, ELF64_SHDR_SIZE);

	ret_section->name = cursor_u32(&cursor);
	ret_section->type = cursor_u32(&cursor);
	ret_section->flags = cursor_u64(&cursor);
	ret_section->address = cursor_u64(&cursor);
	ret_section->offset = cursor_u64(&cursor);
	ret_section->size_bytes = cursor_u64(&cursor);
	ret_section->link = cursor_u32(&cursor);
	ret_section->info = cursor_u32(&cursor);
	(void)cursor_u64(&cursor); /* sh_addralign */
	ret_section->entry_size = cursor_u64(&cursor);
}

void elf64_segment_read(const uint8_t *bytes, struct elf64_segment *ret_segment)
{
	struct cursor cursor = cursor_of(bytes, ELF64_PHDR_SIZE);

	ret_segment->type = cursor_u32(&cursor);
	ret_segment->flags = cursor_u32(&cursor);
	ret_segment->offset = cursor_u64(&cursor);
	ret_segment->address = cursor_u64(&cursor);
	(void)cursor_u64(&cursor); /* p_paddr */
	ret_segment->file_bytes = cursor_u64(&cursor);
	ret_segment->memory_bytes = cursor_u64(&cursor);
	ret_segment->align = cursor_u64(&cursor);
}
