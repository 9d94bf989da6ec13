/* The containers of an image, judged as they are read. They are kept until the image is complete:
 * only then is each one's section known, and whether it is a container at all. analyse.c fills
 * these, pieces.c groups them. */
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
	uint8_t verdict, reason; /* enum plan_verdict, enum plan_reason */
	bool tile;
	uint32_t kind;
	struct jw_driver needs; /* these as in plan_judgement */
	uint32_t pick;          /* its number in struct picks; JUDGED_NO_PICK: nothing to compile */
	bool code;              /* there is something that a program could miss */
};
#define JUDGED_NO_PICK UINT32_MAX

struct judged_entry {
	uint32_t kind;
	struct jw_target target; /* the text's, if it names a narrower one than the header */
	uint64_t size_bytes, offset;
	uint64_t stored_bytes; /* compressed, as it is in the file */
};

struct judged_container {
	uint32_t first_entry, entry_count; /* in judged.entries */
	bool code;                         /* contains something that a driver may load */
	bool special;                      /* and that is for GPUs of a family alone ('a', 'f') */
	bool empty;                        /* no program can use it */
	uint32_t form;                     /* number in judged.forms */
	bool several;                      /* for several architectures */
	uint16_t sm;                       /* the first of them; 0: none */
	bool lto;                          /* contains LTO-IR */
	uint64_t kernels;                  /* of a text: ptx_text_kernels; else 0 */
	/* The newest CUDA version that wrote some of it, except bake's; 0: unknown */
	uint32_t compiler;
	/* Its verdicts: a row of all GPUs for each different outcome, and the row that holds with the
	 * question's driver (0), and with those of gpu_releases */
	size_t first_verdict;
	uint8_t rows[1 + GPU_MAX_RELEASES];
};

/* What verdicts depend on, once for all containers that have it (analyse_image.pieces). */
struct judged_form {
	struct jw_piece_entry *entries;
	size_t entry_count;
	bool empty;
	unsigned named; /* containers whose kernels are in: */
	char kernels[KERNELS_TEXT];
};

struct judged {
	struct judged_container *containers;
	size_t count, capacity;
	struct judged_verdict *verdicts;
	size_t verdict_count, verdict_capacity;
	struct judged_entry *entries;
	size_t entry_count, entry_capacity;
	struct judged_form *forms;
	size_t form_count, form_capacity, form_entries;
	struct set by_form; /* hash of a form → its number */
};
