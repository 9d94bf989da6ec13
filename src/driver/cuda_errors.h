/* Errors of CUDA and of programs that use it, about code, drivers and the start: data/errors.tsv.
 * docs/troubleshooting.md has the same table. */
#pragma once

#include <stddef.h>

struct cuda_error {
	int number;        /* of CUresult or cudaError_t; 0 for messages of other programs */
	const char *name;  /* "CUDA_ERROR_NO_DEVICE", or the program: "ptxas" */
	const char *words; /* patterns of its messages (driver/error_pattern.h), separated by “|” */
	const char *means; /* the kind of each “*”, separated by blanks; “-” for one without meaning */
	const char *cause;   /* a clause without a full stop */
	const char *windows; /* what to do on Windows, if it differs from `cure`, or "" */
	const char *cure;    /* what to do, with the command */
};

/* Returns the row of an error's number; NULL if there is none. */
const struct cuda_error *cuda_error_of(int number);

enum { CUDA_ERROR_MEANING = 512, CUDA_ERRORS_FOUND = 3 };

/* An error in a text. */
struct cuda_error_found {
	const struct cuda_error *error;
	const char *cure;                 /* for the system that the text comes from */
	char meaning[CUDA_ERROR_MEANING]; /* what the numbers in the message mean, or "" */
};

/* Finds the errors in a text that a program has printed: by their words, else one by its name, else
 * one by its number, as in “222” and “CUDA error: 222”. The order is that of the text; if messages
 * stand close together, the order is that of the table, which has special rows first. Returns how
 * many errors there are, at most CUDA_ERRORS_FOUND. */
size_t cuda_errors_find(const char *text, struct cuda_error_found ret_found[CUDA_ERRORS_FOUND]);
