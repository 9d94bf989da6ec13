/* Versions of Python packages, in the order of PEP 440. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

enum { PEP440_MOST_LOCAL = 64 };

struct pep440 {
	uint64_t epoch;
	struct version release;
	char phase; /* 'a', 'b' or 'r' for a pre-release; 0 for none */
	bool is_post, is_dev;
	uint64_t pre, post, dev;
	char local[PEP440_MOST_LOCAL]; /* "cu126"; "" for none */
};

/* Reads a version in any of PEP 440's spellings; false if it is none, or too long. */
bool pep440_read(const char *text, struct pep440 *ret_version);
/* Returns a negative number, 0 or a positive one. */
int pep440_order(const struct pep440 *a, const struct pep440 *b);
/* Returns whether a version agrees with one clause of a specifier: "==2.1.*", ">= 3.9". A clause
 * that PEP 440 does not allow agrees with nothing, and *ret_valid is false. */
bool pep440_agrees(const struct pep440 *version, const char *clause, bool *ret_valid);
/* Returns whether a version agrees with each clause of a specifier (">=2,<2.3"; "" has none).
 * Otherwise false; *ret_valid is false if a clause is none. */
bool pep440_fits(const char *version, const char *specifier, bool *ret_valid);
/* Compare two texts; one that is no version is older than each version. */
bool version_is_newer(const char *a, const char *b);
bool version_is_same(const char *a, const char *b);
/* Returns whether a version is the other one with a local label: "1.1+cu121" of "1.1". pip takes it
 * for "==1.1", but not for "===1.1". */
bool version_is_build_of(const char *labelled, const char *version);
