/* The containers of an image in groups that every GPU and driver judges alike
 * (jw_scan_image.pieces). Few containers of a library differ.
 *
 *     pieces_form_of   for each container: the number of its form, which is what verdicts depend on
 *     pieces_make      for the complete image: its containers by form and section */
#pragma once

#include "plan/analyse.h"
#include "plan/judged.h"

#define PIECES_NO_FORM UINT32_MAX

/* Returns the form's number, and adds the form if it is new. `texts` has for each entry the target
 * that its PTX text names, if it was read. PIECES_NO_FORM if there are too many, which only hostile
 * files have. */
uint32_t pieces_form_of(struct judged *judged, const struct devcode_container *container,
						const struct jw_target *texts, bool empty, bool kernelless);
/* Forgets the forms, but keeps the memory of their list. */
void pieces_forms_clear(struct judged *judged);

struct pieces {
	struct jw_piece *items;
	struct piece_entries {
		struct jw_piece_entry *items;
	} * entries; /* the entries of each piece, to add costs to */
	size_t count, capacity, entries_capacity;
	uint32_t *of_container; /* for each container of the image, its piece */
};

/* Makes the pieces. False if not all containers have a form. In any case the caller frees them. */
bool pieces_make(struct pieces *pieces, const struct judged *judged,
				 const struct devcode_image *image, const struct plan_module *modules,
				 size_t module_count);
void pieces_free(struct pieces *pieces);
