/* Compiles a plan with several workers: an event loop in the supervisor. */
#pragma once

#include <jitwarm/prime.h>

#include "driver/speed_model.h"
#include "plan/plan.h"
#include "work/spool.h"

struct run_setup {
	const struct plan *plan;
	const struct spool *spool;
	const struct jw_system *system;
	const struct jw_prime_options *options;
	const char *const *worker; /* the command that starts a worker */
	/* The file that names another compiler (driver/task.h); NULL for the driver's. */
	const char *task;
	const char *folder; /* for the workers' private directories */
	unsigned workers;
	struct speed_time *learnt; /* adds the times of the compiles; may be NULL */
	/* The time that a driver may take to start and to end; 0 stands for two minutes and half a
	 * minute. */
	unsigned start_ms, end_ms;
	/* NULL if the driver's form is unknown; then the one worker uses the live cache itself. */
	struct cache_live *live;
	/* The driver's names of entries are known to be those of the plan: an entry with another name
	 * does not end the run. */
	bool form_known;
	/* For each module of the plan: the result with which the driver has refused it. May be NULL. */
	unsigned *refused;
	bool *inserted; /* for each module of the plan: set when its entry is in place. May be NULL */
};

/* Compiles every cold module once, and adds the outcome of each to *result, an arena (compiled,
 * failed, failures, undone ...). -1 if no worker stays alive or the live cache cannot be written;
 * then the modules compiled so far stay. */
int run_plan(struct jw_error *err, const struct run_setup *setup, struct jw_prime_result *result);

/* Adds a line to the notes of the result, an arena (base/arena.h); beyond a limit it is left out.
 */
void run_add_note(struct jw_prime_result *result, const char *format, ...) JW_PRINTF(2, 3);
