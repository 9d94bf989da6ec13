/* Members of a pack's tar: all ustar headers have one form, so that a reader need not parse any: it
 * builds the expected header and compares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_END = 2 * TAR_BLOCK, TAR_MAX_NAME = 99 };

/* The header of a regular file: mode 0644, owner and group 0 without names, time 0. `name` has at
 * most TAR_MAX_NAME bytes, `size_bytes` is below 8 GiB. */
void tar_header(uint8_t header[TAR_BLOCK], const char *name, uint64_t size_bytes);
/* Zeros that follow a member. */
size_t tar_padding(uint64_t size_bytes);
/* Header, content and padding. */
uint64_t tar_extent(uint64_t size_bytes);
/* The size that a header states, if it is exactly the one that tar_header makes for `name`. */
bool tar_read(const uint8_t header[TAR_BLOCK], const char *name, uint64_t *ret_size_bytes);
