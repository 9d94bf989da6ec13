/* What an entry repeats of a cubin for sm_100 and newer. Source: docs/fatbin.md, "Container". */
#include "base/cursor.h"
#include "devcode/cubin.h"
#include "devcode/elf64.h"

enum { SHT_COMPAT = ELF64_SHT_LOPROC + 0x86 }; /* .nv.compat */

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
		if (section.type == SHT_COMPAT && section.size_bytes <= CUBIN_MOST_COMPAT &&
			range_fits(section.offset, section.size_bytes, cubin.size))
			return (struct devcode_view){cubin.data + section.offset, (size_t)section.size_bytes};
	}
	return (struct devcode_view){0};
}
