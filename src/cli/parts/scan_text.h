/* Text output of `scan`: a line per library and GPU. */
#pragma once

#include <jitwarm/scan.h>

#include "cli/output.h"

/* Prints an image with a line for each GPU, or without GPUs the code that it contains. */
void scan_text_image(const struct output *output, const struct jw_scan_image *image);
/* All images together on one GPU. */
void scan_text_total(const struct output *output, const struct jw_scan_total *total);
