/* This machine's times relative to the model's predictions (docs/internals/estimates.md): one
 * factor for each driver branch's compiler, which each run's compiles improve. The state directory
 * keeps them in a file, which is read as hostile input:
 *
 *     {"schema":"jitwarm.speed/4","rows":[{"release":550,"cuda":12040,"model_ms":58312.8,
 *      "real_ms":81044.2}, …]}
 *
 * The latest row is the last. Times are of the processor, not of the clock, so other programs,
 * pauses and a low priority do not count. Beside other programs even processor time grows (shared
 * caches and cores, a virtual machine's stolen time), so a run counts less, the smaller its share
 * of the wall time is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/json.h"
#include "plan/plan.h"

enum { LEARN_MAX_ROWS = 32 };

struct speed_row {
	uint32_t release, cuda;   /* the first number of a release, 0 if unknown; as in jw_driver */
	double model_ms, real_ms; /* the sums of the runs */
};

struct speed_table {
	struct speed_row rows[LEARN_MAX_ROWS];
	size_t count;
};

/* The times of compiled modules: predicted by the model, and measured. */
struct speed_time {
	double model_ms, cpu_ms, wall_ms;
};

/* Adds the time of one compiled module. Skips impossible values. */
void speed_take(struct speed_time *time, const struct plan_module *module, double cpu_ms,
				double wall_ms);
/* Returns the speed of that driver on this machine; if unknown, that of the compiler that was used
 * last. Zeros if nothing is known. */
struct jw_speed speed_of(const struct speed_table *table, const struct jw_driver *driver);
/* Adds a run. Earlier runs count for at most two minutes of compiling, so that a change of the
 * machine shows soon. */
void speed_add(struct speed_table *table, const struct jw_driver *driver,
			   const struct speed_time *run);

/* Reads the member STATE_SPEED of the state file; anything else, and NULL, result in an empty
 * table. */
void speed_take_rows(const cJSON *kept, struct speed_table *ret_table);

/* Reads the speed from the state directory's file; it is not kept if `state_dir` is NULL. A failure
 * is not reported: the next prediction is slightly worse. */
struct jw_speed speed_recall(const char *state_dir, const struct jw_driver *driver);
void speed_remember(const char *state_dir, const struct jw_driver *driver,
					const struct speed_time *run);
