/* What a PTX text costs to compile, as far as it can be counted. Source: docs/estimates.md (fits to
 * the compile times of four frameworks' modules). */
#ifndef JW_PLAN_FEATURES_H
#define JW_PLAN_FEATURES_H

#include <stddef.h>
#include <stdint.h>

struct plan_features {
	uint32_t statements; /* lines that end in ';' */
	uint32_t branches;   /* occurrences of "bra" */
	uint32_t entries;    /* occurrences of ".entry": kernels */
};

/* Counts over `size` bytes. Several GB/s. */
void plan_features_count(struct plan_features *ret_features, const void *text, size_t size);

#endif
