/* Inflates raw deflated data (RFC 1951) that lies in memory as a whole, and gives it out in pieces.
 * zlib does the same in about twice the time, and reading a wheel is hardly anything else. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct inflate;

int inflate_open(struct jw_error *err, struct inflate **ret_inflate);
void inflate_close(struct inflate *inflate);
/* Begins with `data`, which stays where it is; what was begun before is forgotten. */
void inflate_begin(struct inflate *inflate, const uint8_t *data, size_t size);
/* Fills `to`; *ret_got is less than `size` only at the end. JW_ERR_FORMAT: damaged or cut off. */
int inflate_read(struct jw_error *err, struct inflate *inflate, uint8_t *to, size_t size,
				 size_t *ret_got);
/* Bytes of the deflated data that were read. At the end: all of it, without what lies behind. */
size_t inflate_taken(const struct inflate *inflate);
