/* The members of a pack's tar. All ustar headers have one form, so a reader need not parse any: it
 * makes the expected header and compares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_END = 2 * TAR_BLOCK, TAR_MAX_NAME = 99 };

/* Writes the header of a regular file: mode 0644, owner and group 0 without names, time 0. `name`
 * has at most TAR_MAX_NAME bytes, `size_bytes` is below 8 GiB. */
void tar_header(uint8_t header[TAR_BLOCK], const char *name, uint64_t size_bytes);
/* Returns the number of zeros that follow a member. */
size_t tar_padding(uint64_t size_bytes);
/* Returns the size of header, content and padding. */
uint64_t tar_extent(uint64_t size_bytes);
/* Reads the size from a header; false unless the header is exactly the one that tar_header makes
 * for `name`. */
bool tar_read(const uint8_t header[TAR_BLOCK], const char *name, uint64_t *ret_size_bytes);
