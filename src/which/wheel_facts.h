/* The facts about one wheel in a list of wheels (which/wheel_list.h), as text: its lines after the
 * one that begins with “wheel”. Written from a scan of the wheel, by the rules of
 * scripts/list-wheels.py, and found again by the wheel's SHA-256. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/scan.h>

#include "base/buf.h"
#include "base/error.h"

/* The form of the facts, which “which --ask” keeps beside them: raise it with each change of the
 * rules by which a scan becomes lines (tests/data/wheel-facts). */
#define WHEEL_FACTS_FORM 10

/* The libraries of a wheel, in the order of a scan. */
struct wheel_facts {
	struct wheel_facts_library {
		char *name;
		struct buf lines;
	} * items;
	size_t count, capacity;
};

int wheel_facts_add(struct jw_error *err, struct wheel_facts *facts,
					const struct jw_scan_image *image);
void wheel_facts_free(struct wheel_facts *facts);

/* Writes the lines of a wheel: its requirements of packages that `list` has, or all of them if no
 * library has code, and these libraries. The caller frees the text. */
int wheel_facts_text(struct jw_error *err, struct wheel_facts *facts, const char *package,
					 char *const *required, size_t required_count, const char *list,
					 char **ret_text);
/* Appends the lines for the requirements of packages that `list` (NULL: any) has. */
int wheel_facts_requires(struct jw_error *err, const char *package, char *const *required,
						 size_t required_count, const char *list, struct buf *lines);

/* Returns the lines that a list has for the wheel with this SHA-256; NULL if there are none. The
 * caller frees them. */
char *wheel_facts_find(const char *list, const char *sha256);
/* Returns whether two wheels' libraries have code for the same architectures, from the same
 * compilers and for the same runtimes; numbers of modules may differ. */
bool wheel_facts_alike(const char *a, const char *b);
