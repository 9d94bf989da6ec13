/* What the CUDA runtime links at each start, linked once. Source: docs/fatbin.md, "Who links, and
 * when". The driver does it in a worker; for another machine, nvJitLink. */
#pragma once

#include <jitwarm/system.h>

#include "bake/linker.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "devcode/cubin.h"

struct linked_job {
	const struct jw_system *system; /* worker, GPUs, folders */
	struct linker *linker;          /* which does it; NULL: none */
	struct jw_target device;
	/* Appends the container of an object, with machine code for the GPU. */
	int (*object)(struct jw_error *err, void *context, size_t index, struct buf *out);
	void *context;
	size_t object_count;
	struct jw_cancel cancel;
};

/* Links the objects, in this order, and reads the machine code into `cubin`. JW_ERR_UNSUPPORTED:
 * neither driver nor linker for this GPU is here; JW_ERR_DRIVER: it does not link them; or the
 * failure of `object`. */
int linked_make(struct jw_error *err, const struct linked_job *job, struct buf *cubin);

/* What a program can ask the linked container for, by its code for its newest other GPU. Without
 * any symbols no program can ask for anything: CMake links the device runtime alone into one. Then
 * linked_empty_object is what has to be linked for another GPU: the runtime's own result is larger,
 * and has nothing more that can be reached. The caller frees them. */
int linked_model(struct jw_error *err, const struct devcode_container *container,
				 struct cubin_symbols *ret_model);
int linked_empty_object(struct jw_error *err, void *context, size_t index, struct buf *out);

/* Whether `cubin` can take its place in the linked container: it is machine code for the GPU,
 * linked, and has the model's kernels. JW_ERR_FORMAT says why not. */
int linked_check(struct jw_error *err, struct devcode_view cubin, struct jw_target device,
				 const struct cubin_symbols *model);
