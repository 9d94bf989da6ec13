/* `scan` for people: a line per library and GPU. */
#pragma once

#include <jitwarm/scan.h>

#include "cli/output.h"

/* The work of all images for one GPU. */
struct scan_total {
	struct jw_scan_work work;
	size_t images, left_out; /* modules */
};

/* The machine that would compile. */
struct scan_machine {
	unsigned cores;
	double capacity;
};

/* Prints an image with a line for each GPU (without any: with the code that it holds), and adds to
 * the totals, one for each GPU. */
void scan_text_image(const struct output *output, const struct jw_scan_image *image,
					 const struct scan_machine *machine, struct scan_total *totals);
void scan_text_total(const struct output *output, struct jw_target target,
					 const struct scan_total *total, const struct scan_machine *machine);
