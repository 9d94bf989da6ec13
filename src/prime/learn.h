/* How much longer this machine takes than the model says (docs/estimates.md), learnt from what the
 * compiles of each run took and kept in the state directory, in one file:
 *
 *     {"schema":"jitwarm.speed/1","rows":[{"release":550,"cuda":12040,"form":"load",
 *      "model_ms":58312.8,"real_ms":81044.2}, …]}
 *
 * A row for each compiler, which is that of a driver's branch, and for ordinary modules and inputs
 * of run-time linking apart; what was learnt last stands last. The file is read as hostile input.
 *
 * Learnt is the processor time, not the wall time: neither other programs, nor a pause, nor a low
 * priority say anything about the next run. Beside other programs even that is longer (shared
 * caches and cores; time that a virtual machine was not given), so it counts the less, the less of
 * the wall time it is.
 */
#ifndef JW_PRIME_LEARN_H
#define JW_PRIME_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "plan/plan.h"

enum { LEARN_MOST_ROWS = 32 };

/* What modules should have taken by the model, and took. */
struct learn_sum {
	double model_ms, real_ms;
};

struct learn_row {
	uint32_t release, cuda; /* the first number of a release, 0 where unknown; as jw_driver's */
	bool link;              /* inputs of run-time linking */
	struct learn_sum sum;
};

struct learn_table {
	struct learn_row rows[LEARN_MOST_ROWS];
	size_t count;
};

/* Of one run: processor time and wall time beside the model's. */
struct learn_time {
	double model_ms, cpu_ms, wall_ms;
};
struct learn_run {
	struct learn_time load, link;
};

/* One module was compiled in so much time. What cannot be true is passed over. */
void learn_take(struct learn_run *run, const struct plan_module *module, double cpu_ms,
				double wall_ms);
/* What the table says of that driver on this machine. A compiler that was not measured yet is taken
 * to be as another one that was. 0 where nothing is known. */
struct plan_factors learn_factors(const struct learn_table *table, const struct jw_driver *driver);
/* Adds a run. What was learnt before counts for two minutes of compiling at most, so that a machine
 * that has changed is believed soon. */
void learn_add(struct learn_table *table, const struct jw_driver *driver,
			   const struct learn_run *run);

/* Parses such a file; an empty table where it is none. */
void learn_parse(const char *text, size_t size, struct learn_table *ret_table);

/* The same with the file of the state directory; NULL: none is kept. Failing to remember is no
 * failure: the next run predicts a little worse. */
struct plan_factors learn_recall(const char *state_dir, const struct jw_driver *driver);
void learn_remember(const char *state_dir, const struct jw_driver *driver,
					const struct learn_run *run);

#endif
