/* Names of packages and what they require (PEP 503, PEP 508). */
#ifndef JW_FIND_REQUIREMENT_H
#define JW_FIND_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { REQUIREMENT_MOST_NAME = 256 };

/* PEP 503: lower case, runs of '-', '_' and '.' become one '-'. False where `text` (its first
 * `length` bytes) is no package's name. */
bool requirement_normalise(const char *text, size_t length, char name[REQUIREMENT_MOST_NAME]);

/* "nvidia-cudnn-cu12 (==9.3.0.75) ; extra == 'and-cuda'" */
struct requirement {
	char name[REQUIREMENT_MOST_NAME];   /* normalised */
	char extras[REQUIREMENT_MOST_NAME]; /* those it asks for, normalised: "a,b"; "" for none */
	char when[REQUIREMENT_MOST_NAME];   /* the extras that its marker names: "a,b"; "" for none */
};

/* Reads the value of a Requires-Dist field, or what a user typed. Of the marker only what it says
 * about `extra` is read: a requirement that the environment has is taken whatever the platform. */
bool requirement_parse(const char *text, struct requirement *ret_requirement);

/* Whether the requirement counts for a package whose extras `extras` ("a,b") are wanted: it has no
 * extra in its marker, or one of these, or one that speaks of CUDA or a GPU (tensorflow[and-cuda],
 * jax[cuda12]): whoever has such a package beside the framework has it for the framework. */
bool requirement_applies(const struct requirement *requirement, const char *extras);

#endif
