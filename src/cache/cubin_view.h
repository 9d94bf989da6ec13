/* The machine code of an entry as its driver reads it: what the driver does not look at in the ELF
 * header is what it must be. Source: docs/driver-cache.md, "What counts in a cubin's header". */
#pragma once

#include "cache/entry.h"
#include "cache/key_parts.h"
#include "devcode/cubin.h"
#include "devcode/elf64.h"

/* An entry's value, and the facts in its key. */
struct cache_code {
	const struct cache_key_parts *parts;
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

struct cubin_view {
	const struct cache_code *code;
	uint8_t header[ELF64_EHDR_SIZE];
};

/* `cuda`: the driver's version; one that is 0 or newer than those that were measured is taken to
 * look at everything. Not CACHE_SOUND: why the driver loads nothing of the code. */
enum cache_damage cubin_view_open(struct cubin_view *view, const struct cache_code *code,
								  uint32_t cuda);

/* Of type cubin_read_fn; `context` is a view. */
int cubin_view_read(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size);

/* Whether drivers load machine code whose flags say `sm`. */
bool cubin_sm_loads(uint16_t sm, struct jw_target device);
