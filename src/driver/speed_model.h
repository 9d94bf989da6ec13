/* How much longer this machine takes than the model says (docs/estimates.md). It is learnt from the
 * compiles of each run, and before any run from those of the gauge (driver/speed_gauge.h), and
 * kept in one file of the state directory:
 *
 *     {"schema":"jitwarm.speed/3","rows":[{"release":550,"cuda":12040,"slope":0.9,"module_ms":5.1,
 *      "model_ms":58312.8,"real_ms":81044.2,"program_bytes":28700000}, …]}
 *
 * A row for each driver branch's compiler, the latest last: what the gauge has measured, and the
 * runs. The file is read as hostile input.
 *
 * It learns processor time, not wall time, so other programs, pauses and a low priority do not
 * count. Beside other programs even processor time grows (shared caches and cores, a virtual
 * machine's stolen time), so a run counts less, the smaller its share of the wall time is */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "plan/plan.h"

enum { LEARN_MOST_ROWS = 32 };

struct speed_row {
	uint32_t release, cuda; /* the first number of a release, 0 if unknown; as in jw_driver */
	/* By the gauge: time relative to the model, and the time that each module takes besides. A
	 * slope of 0: it gave no result, and is not tried again. */
	double slope, module_ms;
	double model_ms, real_ms; /* of the runs, without module_ms; 0: none yet */
	uint64_t program_bytes;   /* of the last run that compiled most of a program */
};

struct speed_table {
	struct speed_row rows[LEARN_MOST_ROWS];
	size_t count;
};

/* The times of so many modules by the model, and as measured. */
struct speed_time {
	double model_ms, cpu_ms, wall_ms;
	double most_ms; /* the longest processor time */
	unsigned modules;
	uint64_t program_bytes; /* if they are most of a program: its PTX */
};
/* What the gauge has measured: its two sizes of modules. */
struct speed_sizes {
	struct speed_time small, large;
};

/* Adds the time of one compiled module. Skips impossible values. */
void speed_take(struct speed_time *time, const struct plan_module *module, double cpu_ms,
				double wall_ms);
/* That driver's speed on this machine: what the gauge says, and its runs; else the runs of another
 * compiler. plan_speed_for weighs them. Zeros if nothing is known. */
struct jw_speed speed_of(const struct speed_table *table, const struct jw_driver *driver);
/* Adds a run. Earlier runs count for at most two minutes of compiling, so that a change of the
 * machine shows soon. */
void speed_add(struct speed_table *table, const struct jw_driver *driver,
			   const struct speed_time *run);
/* Adds the gauge's modules; drops an earlier measurement. */
void speed_add_gauge(struct speed_table *table, const struct jw_driver *driver,
					 const struct speed_sizes *sizes);
/* Whether that driver's compiler was measured, by the gauge or by a run, or the gauge was tried. */
bool speed_is_known(const struct speed_table *table, const struct jw_driver *driver);

/* Parses such a file; any other text gives an empty table. */
void speed_parse(const char *text, size_t size, struct speed_table *ret_table);

/* The same with the file of the state directory; NULL: it is not kept. A failure is not reported:
 * the next prediction is slightly worse. */
struct jw_speed speed_recall(const char *state_dir, const struct jw_driver *driver);
void speed_remember(const char *state_dir, const struct jw_driver *driver,
					const struct speed_time *run);
/* The speed by the gauge is returned even where it cannot be kept. */
struct jw_speed speed_remember_gauge(const char *state_dir, const struct jw_driver *driver,
									 const struct speed_sizes *sizes);
bool speed_is_remembered(const char *state_dir, const struct jw_driver *driver);
