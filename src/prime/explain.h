/* Why a module is cold, from what is on disk: its entry, the cache's other entries and index, and
 * what the cache has held before (ledger.h). */
#pragma once

#include <jitwarm/check.h>

#include "history/ledger.h"
#include "plan/plan.h"

/* Of one module. Phrases are constants. Members that do not belong to the reason are empty. */
struct explanation {
	enum jw_cold_reason reason;
	const char *damage;               /* a phrase */
	const char *how;                  /* it went, where it was deleted or is gone: a phrase */
	char stamp[CACHE_STAMP_SIZE + 1]; /* the driver's that has compiled it */
	char options[80];                 /* with which it was compiled */
	uint16_t sm;                      /* for which it was compiled */
};

struct explain_request {
	const struct plan *plan;
	const struct ledger *ledger; /* begun with this plan */
	uint64_t limit_bytes;        /* of the cache; 0 where unknown */
	/* For reading the cache's other entries, and the files through the eyes of other drivers; NULL:
	 * what the ledger and the entries' own places tell is enough. */
	const struct plan_request *again;
};

/* One for each of the plan's modules; those that are not cold have JW_COLD_NOT. The caller frees
 * *ret_explanations with mem_free. */
int explain_plan(struct jw_error *err, const struct explain_request *request,
				 struct explanation **ret_explanations);

/* A sentence without its full stop, that begins in lower case: "the driver has changed from
 * 535.309.01 to 550.163.01". Returns `text`. */
enum { EXPLAIN_TEXT = 320 };
const char *explain_text(char text[EXPLAIN_TEXT], const struct explain_request *request,
						 const struct explanation *explanation);

/* All reasons of a plan in one line, the most frequent first: "8 modules were never primed; 2:
 * ...". Empty where nothing is cold. */
enum { EXPLAIN_LINE = 1024 };
void explain_line(char line[EXPLAIN_LINE], const struct explain_request *request,
				  const struct explanation *explanations);
/* Whether two modules have one reason. */
bool explain_same(const struct explanation *a, const struct explanation *b);
