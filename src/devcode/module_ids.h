/* Which objects the CUDA runtime links into which linked container. Source: docs/fatbin.md, "Who
 * links, and when". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MODULE_IDS_NONE UINT32_MAX

/* `bytes`: of the section __nv_module_id. `objects`: the number of containers in
 * __nv_relfatbin; `linked`: of linked containers; both in the order of their offsets. Fills in
 * `links[object]`: the number of the linked container that the object is part of, or
 * MODULE_IDS_NONE. False: the ids contradict these numbers, or each other; -1 is out of memory. */
int module_ids_read(struct jw_error *err, const uint8_t *bytes, size_t size, size_t objects,
					size_t linked, uint32_t *links, bool *ret_known);
