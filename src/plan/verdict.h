/* The verdict on one container and GPU, and the entry that the driver takes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/target.h>

#include "devcode/devcode.h"
#include "gpu/release.h"

/* The first that holds, in this order. */
enum plan_verdict {
	VERDICT_NATIVE,     /* a cubin of exactly this capability */
	VERDICT_COMPATIBLE, /* another cubin that runs there */
	VERDICT_LINK,       /* relocatable, and its PTX is usable */
	VERDICT_JIT,        /* usable PTX */
	VERDICT_CANNOT,     /* the cubin or PTX that the driver takes is unusable */
	VERDICT_NOTHING,    /* only code for other or newer capabilities, or no code */
	VERDICT_COUNT
};

/* Why code that fits the GPU is unusable. */
enum plan_reason {
	REASON_NONE,
	REASON_EXCLUSIVE, /* an 'a' or 'f' target that this GPU is not */
	REASON_TOO_NEW, /* a newer PTX ISA than the driver compiles, or a kind of entry that it does not
					   know */
	REASON_ZSTD,    /* compressed with zstd, and the driver is older than 550.54.14 */
	REASON_DAMAGED, /* its payload cannot be decoded */
	REASON_NEWER_CODE, /* a cubin of a newer CUDA than the driver's */
	REASON_COUNT
};

struct plan_judgement {
	enum plan_verdict verdict;
	enum plan_reason reason; /* of VERDICT_CANNOT: why what the driver takes is unusable */
	struct gpu_isa isa;      /* of REASON_TOO_NEW where the ISA is why; else zeros */
	size_t
		entry; /* of VERDICT_LINK and VERDICT_JIT: the PTX that the driver takes; else SIZE_MAX */
};

/* Judges one container. `texts`: for each entry the target that its PTX text names, as far as it
 * was read (else sm is 0); NULL if no text was read. The driver chooses by the entries' headers,
 * but compiles the text. `relocatable`: the container is in a section of relocatable code. */
struct plan_judgement plan_judge(const struct devcode_container *container,
								 const struct jw_target *texts, bool relocatable,
								 struct jw_target device, const struct jw_driver *driver);
