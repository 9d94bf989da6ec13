/* Names of packages and libraries, and what is known of each: data/packages.tsv, and nothing else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PACKAGE_VALUES = 6 };
/* The values of a row “index”. */
enum { ELSEWHERE_WHOSE, ELSEWHERE_OPTIONS, ELSEWHERE_PAGE };

/* A row: its kind, a name, and values that are NULL if the row has fewer (data/README.md). */
struct package_fact {
	const char *kind, *name;
	const char *values[PACKAGE_VALUES];
};

/* Returns the next row of a kind; NULL after the last one. `at` is 0 at first. */
const struct package_fact *package_fact_next(const char *kind, size_t *at);
/* Returns the first row of a kind whose name is that one. */
const struct package_fact *package_fact_of(const char *kind, const char *name);
/* Returns the first row of a kind with whose name a library's file begins, after “lib”, in any
 * case: cublas for libcublas.so.12 and cublas64_12.dll. */
const struct package_fact *package_fact_library(const char *kind, const char *path);
/* Returns the first row of a kind with whose name a text begins; letter case does not count. */
const struct package_fact *package_fact_begins(const char *kind, const char *text);
/* Returns the first row of a kind whose name is part of a path; letter case does not count. */
const struct package_fact *package_fact_inside(const char *kind, const char *path);
/* Returns the row of a kind for a release of a package; values[0] is the first release. Rows of
 * newer releases come first. NULL if there is none. */
const struct package_fact *package_fact_release(const char *kind, const char *package,
												const char *version);
/* Returns a bit for the row of a kind with that name, by its place; 0 if there is none. */
uint32_t package_fact_bit(const char *kind, const char *name);
/* Returns a value; NULL if the row has none there, or “-”. */
const char *package_fact_value(const struct package_fact *fact, size_t at);
/* Returns the number that a value is; 0 if it is none. */
unsigned package_fact_number(const char *value);
