/* Explains why a module is cold, from data on disk: its entry, the cache's index, and the ledger of
 * entries that it has held (ledger.h). */
#pragma once

#include <jitwarm/check.h>

#include "pack/ledger.h"
#include "plan/plan.h"

/* The explanation for one module. Phrases are constants. Members that the reason does not use are
 * empty. */
struct explanation {
	enum jw_cold_reason reason;
	const char *damage;               /* a phrase */
	const char *how;                  /* who deleted or evicted the entry, a phrase */
	bool crowded;                     /* if never seen: it may have been evicted before */
	char stamp[CACHE_STAMP_SIZE + 1]; /* the stamp of the driver that has compiled it */
};

struct explain_request {
	const struct plan *plan;
	const struct ledger *ledger; /* created for this plan */
	uint64_t limit_bytes;        /* the limit of the cache; 0 if unknown */
};

/* Explains each module of the plan; JW_COLD_NOT for those that are not cold. The caller frees
 * *ret_explanations with mem_free. */
int explain_plan(struct jw_error *err, const struct explain_request *request,
				 struct explanation **ret_explanations);

/* Writes a sentence without its full stop, beginning in lower case: "the driver has changed from
 * 535.309.01 to 550.163.01". Returns `text`. */
enum { EXPLAIN_TEXT = 320 };
const char *explain_text(char text[EXPLAIN_TEXT], const struct explain_request *request,
						 const struct explanation *explanation);

/* Writes all reasons of a plan in one line, the most frequent first: "8 modules were never primed;
 * 2: ...". Empty if nothing is cold. */
enum { EXPLAIN_LINE = 1024 };
void explain_line(char line[EXPLAIN_LINE], const struct explain_request *request,
				  const struct explanation *explanations);

/* Lists one cause for each library, architecture and reason, sorted by library and architecture,
 * the most frequent first, in a result that is an arena (base/arena.h). */
void explain_causes(const struct explain_request *request, const struct explanation *explanations,
					struct jw_check_result *result);
