/* What a run says of itself, and what waits for the cache. */
#pragma once

#include <jitwarm/prime.h>

#include "base/error.h"
#include "plan/plan.h"
#include "worker/collect.h"

/* Clears the failures before another run. */
void prime_result_forget_failures(struct jw_prime_compiled *result);
int prime_result_add_note(struct jw_prime_result *result, const char *format, ...) JW_PRINTF(2, 3);

/* Compiled modules whose entries wait for the live cache's lock, which another process holds. */
struct insert_backlog {
	char *folder; /* the waiting entries, outside the workers' directories */
	size_t *modules;
	size_t count, capacity;
	uint64_t tried_ns, progress_ns; /* when the lock was last tried; when it was last taken */
	struct jw_error why;            /* the reason of the last refusal */
};

int insert_backlog_open(const char *folder, struct insert_backlog *ret_later);
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

/* What is said once, when the run itself shows that it takes `seconds`, while other programs take
 * this part of the processor. What was `said` before holds within its range: NULL. */
enum { NEW_TIME_TEXT = 160 };
const char *new_time_text(char text[NEW_TIME_TEXT], const struct jw_seconds *said, double seconds,
						  double others);
