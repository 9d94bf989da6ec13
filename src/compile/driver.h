/* The default back end: NVIDIA's driver compiles a module as it would for the application.
 *
 * It loads the container's original bytes with log options only, so that the driver writes
 * the entry of the CUDA runtime (measured on 535, 550, 555;
 * docs/driver-cache.md). Workers only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "cache/key.h"
#include "gpu/cuda.h"

enum { DRIVER_MOST_DEVICES = 64, DRIVER_LOG_BYTES = 16 << 10 };

struct driver {
	struct cuda cuda;
	void *contexts[DRIVER_MOST_DEVICES]; /* the primary context of each used device */
};

struct driver_outcome {
	int result;      /* CUresult */
	bool sticky;     /* the context is unusable: this process cannot continue */
	bool no_context; /* no context: `result` is the reason (full, exclusive to another process); 0:
						less than spare_bytes was free */
	uint64_t free_bytes; /* then: of its memory */
	double cpu_ms; /* processor time of only the compile: a device's first job makes its context */
	char log[DRIVER_LOG_BYTES]; /* the compiler's messages or "" */
};

struct driver_input {
	int device;
	uint64_t spare_bytes; /* GPU memory that must be free beside a context made for this job; 0: any
						   */
	enum cache_key_form form;
	void *image; /* a container, or PTX text ending in a NUL; to be linked: containers, one behind
					the other */
	size_t size;
	/* Not NULL: links all of the containers, in their order and without options, as the CUDA
	 * runtime does at a start (docs/driver-cache.md, "Link-time"), and appends the linked machine
	 * code. `form` does not matter then. */
	struct buf *linked;
};

/* Loads one module (for CACHE_KEY_LINK: adds it to a link) and unloads it; or links. -1: not tried,
 * or out of memory; *ret_outcome has the driver's result. */
int driver_compile(struct jw_error *err, struct driver *driver, const struct driver_input *input,
				   struct driver_outcome *ret_outcome);
