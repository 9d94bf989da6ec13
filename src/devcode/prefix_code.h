/* Tables for the prefix codes of deflated data (inflate.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CODE_LONGEST = 15,
	/* An entry: what the symbol means, with the bits of its code added in two places */
	CODE_ALL_BITS = 0x3f, /* of the code and its extra bits; the code's own are in the next byte */
	CODE_END = 1 << 13,
	CODE_MORE = 1 << 14,    /* with CODE_SPECIAL: goes on in the table that begins at the value */
	CODE_SPECIAL = 1 << 15, /* else, and without CODE_END: no symbol has such a code */
	CODE_VALUE = 0x7fff,    /* in bits 16 to 30 */
};
#define CODE_LITERAL (UINT32_C(1) << 31)

struct code_table {
	uint32_t *entries;
	size_t room;
	unsigned bits;                      /* of the first table's index */
	uint32_t (*meaning)(size_t symbol); /* value and extra bits, or special */
};

/* From the lengths of all symbols' codes; 0: the symbol does not occur. At most 288 symbols. False:
 * no code has these lengths. Codes may be missing only where there are none, or one of one bit: as
 * zlib has it. */
bool code_table_build(const struct code_table *table, const uint8_t *lengths, size_t count);
