/* PTX text: its first lines, and the cost of its compilation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/devcode.h"

/* Returns whether the text begins as PTX does: a `.version` after only white space and comments. */
bool ptx_is(const void *text, size_t size);

/* Reads `.version` and `.target` from the beginning of the text: a kilobyte suffices for all PTX
 * seen. JW_ERR_FORMAT if one of them is missing or malformed. `size` may end anywhere. */
int ptx_header_read(struct jw_error *err, const void *text, size_t size,
					struct devcode_ptx_header *ret_header);

/* Inputs of the cost model (docs/internals/estimates.md). */
struct ptx_features {
	uint64_t statements; /* lines that end in `;`, with CR LF (Windows' nvcc) or LF */
	/* `rem.`, `div.s64`, `div.u64`, `div.rn.f64`: each becomes a loop or a call. */
	uint64_t divisions;
	uint64_t entries; /* `.entry`s */
	uint64_t optix; /* those of `entries` that are programs of OptiX, which compiles them itself */
	bool code;      /* it has other entries: kernels that the driver compiles */
	/* It has entries of both kinds. The driver would refuse the calls of OptiX's functions: a
	 * program passes this text to OptiX, and an edited one to the driver (OWL, the OptiX Wrapper
	 * Library). */
	bool edited;
};

/* Counts the features at several GB/s. It matches text, not grammar, like the measurements to which
 * the model was fitted. */
void ptx_count(const void *text, size_t size, struct ptx_features *ret_features);
