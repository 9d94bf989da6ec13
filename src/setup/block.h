/* A marked block in another program's or person's text file.
 *
 *     # >>> jitwarm tune (made 1) >>>
 *     export CUDA_CACHE_MAXSIZE=2147483648
 *     # <<< jitwarm tune <<<
 *
 * The first line holds what undoing it needs: "joined": the text before had no final line feed;
 * "made N": the file was not there, nor N-1 folders above it. No other record is needed: block_take
 * after block_put gives the former text to the byte */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Profiles are smaller. */
enum { BLOCK_MOST_FILE = 1 << 20, BLOCK_MOST_MADE = 16 };

struct block_found {
	size_t start, end; /* of the block, its last line feed included */
	bool joined;
	unsigned made; /* 0: the file existed before */
};

/* Looks for the first block. False if there is none. One without an end, or in which another
 * begins, is JW_ERR_FORMAT. */
int block_find(struct jw_error *err, const char *text, size_t size, bool *ret_there,
			   struct block_found *ret_found);

/* The text with a block that holds `body` (whole lines): it replaces the existing block, or blocks,
 * else it is appended. `made`: as above, for a new file. */
int block_put(struct jw_error *err, const char *text, size_t size, const char *body, unsigned made,
			  struct buf *ret_text);

/* The text without its block, or blocks: files of two machines may have been joined. *ret_found is
 * the last one; if there is none, *ret_there is false and the text is unchanged. */
int block_take(struct jw_error *err, const char *text, size_t size, struct buf *ret_text,
			   bool *ret_there, struct block_found *ret_found);
