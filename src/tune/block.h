/* A marked block in a text file that somebody else owns.
 *
 *     # >>> jitwarm tune (made 1) >>>
 *     export CUDA_CACHE_MAXSIZE=2147483648
 *     # <<< jitwarm tune <<<
 *
 * The first line says what taking it back needs: "joined": the text before had no final line feed;
 * "made N": the file was not there, nor N-1 folders above it. So nothing else has to be remembered,
 * and block_take after block_put gives the text of before to the byte.
 */
#ifndef JW_TUNE_BLOCK_H
#define JW_TUNE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* No profile is larger. */
enum { BLOCK_MOST_FILE = 1 << 20, BLOCK_MOST_MADE = 16 };

struct block_found {
	size_t start, end; /* of the block, its last line feed included */
	bool joined;
	unsigned made; /* 0: the file was there before */
};

/* Looks for a block. False where there is none. A block without an end is JW_ERR_FORMAT. `comment`:
 * what begins a comment ("# ", "rem "). */
int block_find(struct jw_error *err, const char *comment, const char *text, size_t size,
			   bool *ret_there, struct block_found *ret_found);

/* The text with a block that holds `body` (whole lines): in place of the one that is there, else at
 * its end. `made`: as above, for a new file. */
int block_put(struct jw_error *err, const char *comment, const char *text, size_t size,
			  const char *body, unsigned made, struct buf *ret_text);

/* The text without its block. *ret_found is that block; where there is none, *ret_there is false
 * and the text is what it was. */
int block_take(struct jw_error *err, const char *comment, const char *text, size_t size,
			   struct buf *ret_text, bool *ret_there, struct block_found *ret_found);

#endif
