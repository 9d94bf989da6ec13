#include "base/suggest.h"

#include <string.h>

#include "base/smaller.h"

enum { LONGEST = 64 };

/* Edit distance (insert, delete, replace, swap of neighbours), one row at a time. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *free_row = before;

		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			now[j] = smaller(smaller(last[j], now[j - 1]) + 1,
							 last[j - 1] + (size_t)(a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_length];
}

struct suggest suggest_for(const char *typed, size_t length)
{
	/* Up to a quarter of the letters may differ, and always at least one. */
	return (struct suggest){.typed = typed, .length = length, .distance = length / 4 + 1};
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
	size_t length = strlen(candidate), distance;

	if (suggest->length > LONGEST || length > LONGEST)
		return;
	/* The beginning of a name is a good match, however much is missing. */
	if (suggest->length >= 3 && length > suggest->length &&
		!memcmp(candidate, suggest->typed, suggest->length))
		distance = 1;
	else
		distance = distance_of(suggest->typed, suggest->length, candidate, length);
	if (distance < suggest->distance || (!suggest->best && distance == suggest->distance)) {
		suggest->distance = distance;
		suggest->best = candidate;
	}
}
