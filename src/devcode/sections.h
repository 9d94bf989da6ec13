/* The sections of initialised data of one image, for searching and for addresses.
 *
 * elf_sections or pe_sections fills the table. It omits code, debug data and sections without bytes
 * in the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devcode/devcode.h"

enum { SECTIONS_MOST = 1 << 18 };

struct section {
	char name[32];
	enum devcode_role role;
	bool wrappers; /* .nvFatBinSegment, .nvFatBi */
	uint64_t offset, size_bytes;
	uint64_t address; /* of its first byte, at the image's preferred address */
};

struct section_table {
	struct section *items; /* by offset, without overlaps, after sections_sort */
	size_t count, capacity;
	bool absent; /* the image has no section headers: all of it is searched, and places have no
					names */
	bool object; /* not linked yet: addresses have no meaning */
};

/* Adds one; `name` need not end in a NUL. The name determines its role. Skips a section of size 0.
 */
int sections_add(struct jw_error *err, struct section_table *table, const char *name,
				 size_t name_size, uint64_t offset, uint64_t size_bytes, uint64_t address);
/* Sorts them by offset. If two overlap, which linkers do not produce, the later one is cut. */
void sections_sort(struct section_table *table);
/* The section that holds the whole range, or NULL. */
const struct section *sections_holding(const struct section_table *table, uint64_t offset,
									   uint64_t size_bytes);
/* Converts an address to its offset in the file; false if no section contains it. */
bool sections_offset(const struct section_table *table, uint64_t address, uint64_t *ret_offset);
void sections_free(struct section_table *table);
