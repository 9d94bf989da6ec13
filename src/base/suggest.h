/* "Did you mean ...?": the name nearest to the typed one. */
#pragma once

#include <stddef.h>

struct suggest {
	const char *typed;
	size_t length;
	size_t distance;  /* of `best`; more distant candidates are ignored */
	const char *best; /* NULL while none is near enough */
};

/* `typed` need not end in NUL and must outlive the result. */
struct suggest suggest_for(const char *typed, size_t length);
void suggest_offer(struct suggest *suggest, const char *candidate);
