/* Connects cache/live.h's lock with its rows. */
#pragma once

#include "cache/live.h"

/* Reads the file under the lock. If the bytes differ from those of the last hold, the rows become
 * unknown. */
int live_rows_read(struct jw_error *err, struct cache_live *live);
/* Parses what was read. JW_ERR_UNSUPPORTED: an index of another version. */
int live_rows_parse(struct jw_error *err, struct cache_live *live);
/* Finds each key's position, which takes milliseconds for a large index and needs no lock; from
 * then on the rows are known. */
int live_rows_map(struct jw_error *err, struct cache_live *live);
/* At the beginning of a hold: decides whether all rows have to be written. */
void live_rows_adopt(struct cache_live *live);
/* Writes what has changed. */
int live_rows_write(struct jw_error *err, struct cache_live *live);
/* After a failed write: the file's content is unknown. */
void live_rows_forget(struct cache_live *live);
void live_rows_free(struct cache_live *live);
