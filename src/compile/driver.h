/* The default back end: NVIDIA's driver compiles a module as it would for the application.
 *
 * What is loaded are the container's original bytes, with log options only: then the driver makes
 * the entry that the CUDA runtime would have made (measured on 535, 550, 555;
 * docs/driver-cache.md). Workers only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cache/key.h"
#include "gpu/cuda.h"

enum { DRIVER_MOST_DEVICES = 64, DRIVER_LOG_BYTES = 16 << 10 };

struct driver {
	struct cuda cuda;
	void
		*contexts[DRIVER_MOST_DEVICES]; /* the primary context of each device, once it was needed */
};

struct driver_outcome {
	int result;      /* CUresult */
	bool sticky;     /* the context does not work any more: this process can do nothing further */
	bool no_context; /* the device gave none (result says why): full, or another process' own; or
						it left less than was to be spared (result is 0) */
	uint64_t free_bytes; /* then: of its memory */
	double cpu_ms; /* processor time of the compile alone: a device's first job makes its context */
	char log[DRIVER_LOG_BYTES]; /* the compiler's messages, "" where it has none */
};

struct driver_input {
	int device;
	uint64_t spare_bytes; /* of its memory, free beside a context that is made for this; 0: any */
	enum cache_key_form form;
	void *image; /* a container, or PTX text with a NUL behind it */
	size_t size;
};

/* Has the driver load (or, for CACHE_KEY_LINK, take as input of a link) one module, and lets go of
 * it again. -1 where it could not be tried; what the driver says is in *ret_outcome. */
int driver_compile(struct jw_error *err, struct driver *driver, const struct driver_input *input,
				   struct driver_outcome *ret_outcome);
