/* Libraries that a package ships once per CUDA version, side by side (libx_cuda118.so,
 * libx_cuda124.so). A program loads one of them: the one for its PyTorch, or the one that
 * BNB_CUDA_VERSION names (bitsandbytes). */
#pragma once

#include "find/found.h"

/* The CUDA version in a file's name: "_cuda118", "-cu12", "_cu12.4". */
struct variant_name {
	size_t start, end;     /* of that part of the name */
	unsigned major, minor; /* minor 0 if there is none */
	bool has_minor;
};
bool variant_of_name(const char *name, struct variant_name *ret_variant);

/* The CUDA version in the text of torch/version.py; false if it has none (a build for CPUs). */
bool variant_torch_cuda(const char *text, unsigned *ret_major, unsigned *ret_minor);

/* After the search: leaves out the variants that no program here loads, except those that `names`
 * contains, and adds a note; if the version is unknown, notes that all count. */
int variants_settle(struct jw_error *err, struct found_list *list, const char *const *names,
					size_t count);
