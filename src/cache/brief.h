/* Facts about an entry from its header, both ends of its key and the beginning of its value. An
 * entry may have 40 MB, and the rest contains no further facts. */
#pragma once

#include "cache/key_parts.h"
#include "os/file.h"

/* Bytes of each end of a key. The first 40 name driver and GPU, the last 100 hold the options.
 * OpenCL's facts follow the source. */
enum { CACHE_BRIEF_END = 16 << 10, CACHE_BRIEF_VALUE = 4 << 10 };

struct cache_brief {
	struct cache_entry entry; /* its key without the middle, its value's beginning: in `bytes` */
	uint64_t key_bytes, value_bytes; /* as the header says */
	uint8_t bytes[2 * CACHE_BRIEF_END + CACHE_BRIEF_VALUE];
};

/* Header and bounds, as cache_entry_parse; key and value of *ret_entry are NULL. */
enum cache_damage cache_entry_open(struct os_file *file, struct cache_entry *ret_entry);

/* Reads from an open file with this header (cache_entry_open). */
enum cache_damage cache_brief_read(struct os_file *file, const struct cache_entry *entry,
								   struct cache_brief *ret_brief);

/* Both, for a file that is opened only for this: a small entry takes one read. */
enum cache_damage cache_brief_open(struct os_file *file, struct cache_brief *ret_brief);

/* As cache_key_split, except parts->payload, which may lack its middle; payload_size is the size of
 * the whole. */
bool cache_brief_split(const struct cache_brief *brief, struct cache_key_parts *ret_parts);
