/* Windows programs, libraries and objects (PE32+, COFF): their sections. Source: Microsoft's PE
 * format specification. */
#pragma once

#include "devcode/bytes.h"
#include "devcode/sections.h"

/* Whether the bytes begin like a program or library. */
bool pe_is(const uint8_t *data, size_t size);
/* Whether they begin like a COFF object for x86-64 or arm64. */
bool pe_is_object(const uint8_t *data, size_t size);

/* Sections of initialised data, sorted, with the addresses that the image prefers, so that its
 * pointers can be followed unchanged. JW_ERR_UNSUPPORTED for 32-bit images and plain MS-DOS
 * programs, JW_ERR_FORMAT if headers or sections leave the file. */
int pe_sections(struct jw_error *err, const struct bytes *bytes, struct section_table *ret_table);
