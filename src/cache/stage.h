/* Between cache/stage.c and cache/stage_file.c: additions in memory, and in files. */
#ifndef JW_CACHE_STAGE_H
#define JW_CACHE_STAGE_H

#include "cache/live.h"
#include "devcode/cubin.h"

/* Names the staged file, and makes the folders for it and for its target. */
int stage_begin(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
				size_t number);
/* Undoes it; an addition's own file goes back to where it was. */
void stage_give_back(struct live_staged *staged);
/* What the directory's readers need. */
int stage_share(struct jw_error *err, const struct cache_live *live,
				const struct live_staged *staged);

/* Whether the cubin is the one that was wanted. */
int stage_check_cubin(struct jw_error *err, const struct cache_addition *addition,
					  const struct cubin_header *cubin);
void stage_refuse(struct cache_addition *addition);

/* live_stage of an addition that lies in a file, a piece of which is in memory at a time. */
int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged);

#endif
