/* The interface between a fuzz target and its driver. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_CORPUS
extern const char *fuzz_input; /* the input's file (regression_driver.c) */
#else
#define fuzz_input "this input"
#endif

/* An invariant for every input; if it fails, the input is a finding. */
#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition)) {                                                                        \
			(void)fprintf(stderr, "%s:%d: %s does not hold of %s\n", __FILE__, __LINE__,           \
						  #condition, fuzz_input);                                                 \
			abort();                                                                               \
		}                                                                                          \
	} while (0)
