/* The containers of an image as they are read, and then in groups that every GPU and driver judges
 * alike (jw_scan_image.pieces). They are noted until the image is complete: only then is each one's
 * section known, and whether it is a container at all.
 *
 *     pieces_form_of   for each container: the number of its form, which is what verdicts depend on
 *     pieces_make      for the complete image: its containers by form and section */
#pragma once

#include <jitwarm/scan.h>

#include "base/set.h"
#include "code/kernel_names.h"
#include "code/release.h"
#include "plan/module.h"

/* The number in struct picks of the PTX that a driver would compile of a container for one GPU;
 * NOTED_NO_PICK if it compiles nothing. */
struct noted_choice {
	uint32_t pick;
	bool link; /* as an input of a link */
};
#define NOTED_NO_PICK UINT32_MAX

struct noted_entry {
	uint32_t kind;
	struct jw_target target; /* the text's target, if it is narrower than the header's */
	uint64_t size_bytes, offset;
	uint64_t stored_bytes; /* the compressed size, as it is in the file */
};

struct noted_container {
	uint32_t first_entry, entry_count; /* a range of noted.entries */
	uint32_t form;                     /* a number in noted.forms */
	bool empty;                        /* no program can use it */
	bool edited;                       /* a text that programs edit before the driver compiles it */
	uint64_t kernels;                  /* for a text, ptx_text_kernels; else 0 */
	/* The newest CUDA version that wrote some of it; 0 if unknown. */
	uint32_t compiler;
	/* The choices: a row of all GPUs for each different outcome, and the number of the row for the
	 * question's driver (0), and for those of gpu_releases. */
	size_t first_choice;
	uint8_t rows[1 + GPU_MAX_RELEASES];
};

/* The facts that verdicts depend on, once for all containers that share them. */
struct noted_form {
	struct jw_piece_entry *entries;
	size_t entry_count;
	bool empty, edited;
	char kernels[KERNELS_TEXT];
	unsigned named; /* the number of containers whose kernels are in `kernels` */
};

struct noted {
	struct noted_container *containers;
	size_t count, capacity;
	struct noted_choice *choices;
	size_t choice_count, choice_capacity;
	struct noted_entry *entries;
	size_t entry_count, entry_capacity;
	struct noted_form *forms;
	size_t form_count, form_capacity, form_entries;
	struct set by_form; /* the number of each form, by its hash */
};

/* Sets the container's form, and adds the form if it is new. `texts` has for each entry the target
 * that its PTX text names, if it was read. JW_ERR_LIMIT if there are too many, which only hostile
 * files have. */
int pieces_form_of(struct jw_error *err, struct noted *noted,
				   const struct devcode_container *container, const struct jw_target *texts,
				   struct noted_container *of);
/* Forgets the forms, but keeps the memory of their list. */
void pieces_forms_clear(struct noted *noted);

struct pieces {
	struct jw_piece *items;
	struct piece_entries {
		struct jw_piece_entry *items;
	} * entries; /* the entries of each piece, to add costs to */
	size_t count, capacity, entries_capacity;
	uint32_t *of_container; /* for each container of the image, its piece */
};

/* Makes the pieces; the caller frees them. `known` has the modules of the archive's images so far,
 * and gets those of this one: a module that stands in several libraries is work for the first of
 * them, but for each of its variants, of which a program loads one. */
void pieces_make(struct pieces *pieces, const struct noted *noted,
				 const struct devcode_image *image, const struct plan_module *modules,
				 size_t module_count, struct set *known);
void pieces_free(struct pieces *pieces);
