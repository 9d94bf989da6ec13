/* The cache's limit, CUDA_CACHE_MAXSIZE: how the driver reads it, what a user meant by it, and the
 * limit that jitwarm advises. */
#pragma once

#include <stdint.h>

#define CACHE_MAX_LIMIT UINT64_C(4294967296)
/* A smaller limit is a mistake, no matter what is to be cached: "1G" is one byte. */
#define CACHE_LEAST_LIMIT (UINT64_C(1) << 20)

/* Returns the driver's interpretation of CUDA_CACHE_MAXSIZE: "1G" is 1, "" and "abc" are 0, more
 * than 4 GiB (and less than 0) is 4 GiB. */
uint64_t cache_parse_limit(const char *text);
/* Returns a line about a value of CUDA_CACHE_MAXSIZE that the driver interprets otherwise than a
 * user would; NULL if both agree. The caller frees it. */
char *cache_explain_limit(const char *text);
/* Returns the size that a user meant by a unit ("1G", "1 GiB"), at most what a driver keeps; 0 for
 * any other text. */
uint64_t cache_meant_limit(const char *text);
