#pragma once

#include "base/hash.h"

/* The same for texts of the same words: times, sizes and process numbers differ from run to run,
 * and so does the order in which two threads speak. */
static inline uint64_t words_of(const char *text)
{
	uint64_t sum = 0, word = FNV_START;

	for (; *text; text++)
		if (*text == ' ' || *text == '\n') {
			sum += word;
			word = FNV_START;
		} else if (*text < '0' || *text > '9') {
			word = fnv_update(word, text, 1);
		}
	return sum + word;
}
