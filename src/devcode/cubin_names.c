/* Whether a cubin has a name. */
#include <string.h>

#include "devcode/cubin.h"
#include "devcode/elf64.h"

enum { PIECE = 16 << 10, SHT_STRTAB = 3 };

struct name_sought {
	cubin_read_fn read;
	void *context;
	const char *name;
	size_t length; /* at most CUBIN_MOST_NAME */
};

/* Matches “NAME” and “.text.NAME”, with their NUL. `whole`: the first byte begins a string. */
static bool has_name(const char *bytes, size_t size, bool whole, const struct name_sought *wanted)
{
	const char *end = bytes + size, *stop;

	for (const char *at = bytes; (stop = memchr(at, 0, (size_t)(end - at))); at = stop + 1) {
		const size_t length = (size_t)(stop - at);
		const char *name = stop - wanted->length;

		if (length >= wanted->length && !memcmp(name, wanted->name, wanted->length) &&
			(name == bytes ? whole : name == at || name[-1] == '.'))
			return true;
	}
	return false;
}

/* Pieces overlap by a name, its NUL and the byte before it. */
static int search_table(struct jw_error *err, const struct name_sought *wanted, uint64_t offset,
						uint64_t size, bool *ret_found)
{
	char piece[PIECE];
	bool found = false;

	for (uint64_t at = 0; !found && at < size; at += PIECE - wanted->length - 2) {
		size_t got = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (wanted->read(err, wanted->context, offset + at, piece, got))
			return -1;
		found = has_name(piece, got, !at, wanted);
	}
	*ret_found = found;
	return 0;
}

int cubin_names(struct jw_error *err, cubin_read_fn read, void *context, uint64_t size,
				const char *name, size_t length, bool *ret_found)
{
	const struct name_sought wanted = {read, context, name, length};
	uint8_t bytes[ELF64_EHDR_SIZE];
	struct elf64_header elf;
	bool found = false, tables = false;

	if (read(err, context, 0, bytes, sizeof bytes))
		return -1;
	if (!elf64_header_read(bytes, sizeof bytes, &elf))
		return error_set(err, JW_ERR_FORMAT, "not a cubin");
	for (size_t i = 0; !found && i < elf.shnum; i++) {
		struct elf64_section section;

		if (read(err, context, elf.shoff + i * ELF64_SHDR_SIZE, bytes, ELF64_SHDR_SIZE))
			return -1;
		elf64_section_read(bytes, &section);
		if (section.type != SHT_STRTAB || section.offset > size ||
			section.size_bytes > size - section.offset)
			continue;
		tables = true;
		if (search_table(err, &wanted, section.offset, section.size_bytes, &found))
			return -1;
	}
	*ret_found = found || !tables;
	return 0;
}
