/* `scan` for people: a line per library and GPU. */
#pragma once

#include <jitwarm/scan.h>

#include "cli/output.h"

/* Prints an image with a line for each GPU; without any: with the code that it holds. */
void scan_text_image(const struct output *output, const struct jw_scan_image *image);
/* All images together on one GPU. */
void scan_text_total(const struct output *output, const struct jw_scan_total *total);
