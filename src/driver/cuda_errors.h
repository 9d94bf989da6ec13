/* Errors of CUDA and of programs that use it, about code, drivers and the start: data/errors.tsv.
 * docs/troubleshooting.md has the same table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cuda_error {
	int number;       /* of CUresult or cudaError_t; 0 for messages of other programs */
	const char *name; /* "CUDA_ERROR_NO_DEVICE", or the program: "ptxas" */
	const char *words; /* patterns of its messages, separated by “|”; “*” is a word or number */
	const char *means; /* the kind of each “*”, separated by blanks; “-” for one without meaning */
	const char *cause; /* a clause without a full stop */
	const char *cure;  /* what to do, with the command */
};

/* Returns the row of an error's number; NULL if there is none. */
const struct cuda_error *cuda_error_of(int number);

/* Finds the error in a text that a program has printed: by its words or name, in the order of the
 * table, else by its number, as in “222” and “CUDA error: 222”. Writes what the numbers in the
 * message mean, or "". NULL if the text has no known error. */
enum { CUDA_ERROR_MEANING = 512 };
const struct cuda_error *cuda_error_find(const char *text, char ret_meaning[CUDA_ERROR_MEANING]);
