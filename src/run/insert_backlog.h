/* Compiled modules whose entries wait for the live cache's lock, which another process holds. */
#pragma once

#include "worker/collect.h"

struct insert_backlog {
	char *folder; /* the waiting entries, outside the workers' directories */
	size_t *modules;
	size_t count, capacity;
	uint64_t tried_ns, progress_ns; /* when the lock was last tried; when it was last taken */
	struct jw_error why;            /* the reason of the last refusal */
};

int insert_backlog_open(struct jw_error *err, const char *folder, struct insert_backlog *ret_later);
void insert_backlog_close(struct insert_backlog *later);

/* Adds the entry of `module` (an index in the plan) at `path`. */
int insert_backlog_add(struct jw_error *err, struct insert_backlog *later, const struct plan *plan,
					   size_t module, const char *path, const struct jw_error *why);
/* Inserts waiting entries into the cache until the lock is refused again, which is not a failure.
 * `done` is called for each entry: `why` is NULL, or JW_ERR_FORMAT for a refused entry. -1: the
 * cache cannot be written. */
int insert_backlog_try(struct jw_error *err, struct insert_backlog *later, struct cache_live *live,
					   const struct plan *plan,
					   void (*done)(void *context, size_t module, int64_t grown_bytes,
									const struct jw_error *why),
					   void *context);
