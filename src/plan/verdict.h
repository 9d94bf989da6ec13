/* The verdict on one container for one GPU, and the entry that the driver chooses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/target.h>

#include "code/devcode.h"

/* The verdicts; the first one that applies, in this order, counts. */
enum plan_verdict {
	VERDICT_NATIVE,     /* a cubin of exactly this capability */
	VERDICT_COMPATIBLE, /* another cubin that runs on the GPU */
	VERDICT_LINK,       /* relocatable code with usable PTX */
	VERDICT_JIT,        /* usable PTX */
	VERDICT_TILE,       /* Tile IR, which the driver compiles */
	VERDICT_UNKNOWN,    /* a kind of entry whose treatment by drivers is unknown, or, with the kind
						   of PTX, a PTX source that a program edits before the driver compiles it */
	VERDICT_CANNOT,     /* the code that the driver chooses is unusable */
	VERDICT_NOTHING,    /* only code for other or newer capabilities, or no code */
	VERDICT_COUNT
};

/* Why code that fits the GPU is unusable. */
enum plan_reason {
	REASON_NONE,
	REASON_EXCLUSIVE, /* an 'a' or 'f' target that does not include this GPU */
	REASON_TOO_NEW,   /* a newer PTX ISA than the driver compiles */
	REASON_KIND,      /* a kind of entry that the driver does not know */
	REASON_TILE,      /* Tile IR, and the driver is older than 580 */
	REASON_ZSTD,      /* compressed with zstd, and the driver is older than 550.54.14 */
	REASON_DAMAGED,   /* its payload cannot be decoded, or is for an architecture that no GPU has */
	REASON_NEWER_CODE, /* a cubin of a newer CUDA than the driver's */
	REASON_RUNTIME,    /* its CUDA runtime is newer than the driver's */
	REASON_UNLINKED,   /* it has to be linked for the GPU, and cannot be (plan/judging.h) */
	REASON_NEEDS, /* it needs a library of NVIDIA's that has no code for the GPU (plan/judging.h) */
	REASON_REQUIRES, /* a package that its wheel requires fails (plan/plan.h) */
	REASON_EARLY,    /* PTX that is older than the first version for the target that it names */
	REASON_COUNT
};

/* The errors (CUDA_ERROR_…) with which a driver or the CUDA runtime refuses code: measured by
 * tests/conformance and tests/driver/loading.sh. */
enum {
	PLAN_ERROR_OLD_DRIVER = 35,
	PLAN_ERROR_IMAGE = 200,
	PLAN_ERROR_NO_BINARY = 209,
	PLAN_ERROR_PTX = 218,
	PLAN_ERROR_PTX_VERSION = 222,
	PLAN_ERROR_SOURCE = 300,
	PLAN_ERROR_UNKNOWN = 999,
};

struct plan_judgement {
	enum plan_verdict verdict;
	enum plan_reason reason; /* with VERDICT_CANNOT: why the chosen entry is unusable */
	uint16_t error;          /* with VERDICT_CANNOT: the driver's error, CUDA_ERROR_… */
	uint32_t kind; /* with VERDICT_UNKNOWN and REASON_KIND: the kind of the entry that decides */
	struct jw_target early; /* with REASON_EARLY: that target */
	bool tile; /* the driver compiles the container's Tile IR, or may do so instead of its PTX */
	struct jw_driver needs; /* the first driver that is new enough; zeros if its age is not the
							   reason, or no known driver is new enough */
	size_t entry; /* with VERDICT_LINK and VERDICT_JIT: the PTX that the driver chooses; else
					 SIZE_MAX */
};

/* Judges one container. `texts` has for each entry the target that its PTX text names, if it was
 * read (else sm is 0); NULL if no text was read. The driver chooses by the entries' headers, but
 * compiles the text. `relocatable` means that the container is in a section of relocatable code. */
struct plan_judgement plan_judge(const struct devcode_container *container,
								 const struct jw_target *texts, bool relocatable,
								 struct jw_target device, const struct jw_driver *driver);

/* Returns whether an entry has to be linked before it can be loaded, according to its kind or its
 * option string. (Entries in `__nv_relfatbin` are relocatable without either; the section decides.)
 */
bool plan_entry_relocatable(const struct devcode_container *container,
							const struct devcode_entry *entry);

/* Reads the target that the text of a PTX entry names, unless it was read before (text->sm is not
 * 0), and corrects the entry. An entry whose text cannot be read is damaged; entries that are not
 * PTX stay as they are. */
void plan_read_text(const struct devcode_container *container, struct devcode_entry *entry,
					struct jw_target *text);
