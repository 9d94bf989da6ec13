/* The containers of an image, judged as they are read. They are kept until the image is complete:
 * only then is each one's section known, and whether it is a container at all. analyse.c fills
 * these, and pieces.c groups them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/scan.h>
#include <jitwarm/target.h>

#include "base/set.h"
#include "code/devcode.h"
#include "code/kernel_names.h"
#include "code/release.h"

/* The verdict on one container for one GPU, without regard to its section. */
struct judged_verdict {
	/* As in plan_judgement, smaller: enum plan_verdict, enum plan_reason, … */
	uint8_t verdict, reason;
	uint16_t error;
	bool tile;
	uint32_t kind;
	struct jw_driver needs;
	/* The number in struct picks of the PTX that the driver would compile; JUDGED_NO_PICK if there
	 * is nothing to compile. */
	uint32_t pick;
	bool code;   /* there is something that a program could miss */
	bool hollow; /* as in plan_judgement */
	bool family; /* as in plan_judgement */
};
#define JUDGED_NO_PICK UINT32_MAX

struct judged_entry {
	uint32_t kind;
	struct jw_target target; /* the text's target, if it is narrower than the header's */
	uint64_t size_bytes, offset;
	uint64_t stored_bytes; /* the compressed size, as it is in the file */
};

struct judged_container {
	uint32_t first_entry, entry_count; /* a range of judged.entries */
	bool code;                         /* contains something that a driver may load */
	bool special;                      /* it is only for GPUs of a family ('a', 'f') */
	bool empty;                        /* no program can use it */
	bool kernelless;                   /* has no kernel, but perhaps variables or functions */
	bool hollow;                       /* machine code alone, and for some of its GPUs none */
	uint32_t form;                     /* a number in judged.forms */
	uint64_t sms;                      /* a bit for each architecture (decide_sm_bit) */
	bool lto;                          /* contains LTO-IR */
	bool machine;                      /* contains machine code, for whatever GPU */
	uint64_t kernels;                  /* for a text, ptx_text_kernels; else 0 */
	/* The newest CUDA version that wrote some of it, without bake; 0 if unknown. */
	uint32_t compiler;
	/* The verdicts: a row of all GPUs for each different outcome, and the number of the row for the
	 * question's driver (0), and for those of gpu_releases. */
	size_t first_verdict;
	uint8_t rows[1 + GPU_MAX_RELEASES];
};

/* The facts that verdicts depend on, once for all containers that share them
 * (jw_scan_image.pieces). */
struct judged_form {
	struct jw_piece_entry *entries;
	size_t entry_count;
	bool empty, kernelless;
	char kernels[KERNELS_TEXT];
	unsigned named; /* the number of containers whose kernels are in `kernels` */
};

/* Returns whether a container counts as one that declares nothing. Without a kernel, no program
 * uses what is registered alone: variables are for kernels, which have them in the same container.
 */
static inline bool judged_is_empty(bool empty, bool kernelless, enum devcode_role role, bool linked)
{
	return empty || (kernelless && role == DEVCODE_REGISTERED && !linked);
}

struct judged {
	struct judged_container *containers;
	size_t count, capacity;
	struct judged_verdict *verdicts;
	size_t verdict_count, verdict_capacity;
	struct judged_entry *entries;
	size_t entry_count, entry_capacity;
	struct judged_form *forms;
	size_t form_count, form_capacity, form_entries;
	struct set by_form; /* the number of each form, by its hash */
};
