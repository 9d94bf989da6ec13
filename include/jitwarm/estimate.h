/* How long work takes on several cores.
 *
 * Threads: any number of threads may call these functions at the same time. */
#ifndef JITWARM_ESTIMATE_H
#define JITWARM_ESTIMATE_H

#include <jitwarm/api.h>

JW_BEGIN_DECLS

/* How many times as long compiles take on a machine as the model says (docs/estimates.md), for
 * ordinary modules and for inputs of run-time linking; 0: not known, then what is usual stands in.
 */
struct jw_speed {
	double load, link;
};

/* How much so many workers do together on this machine, in what one alone does there: hardware
 * threads that share a core do little more than one of them, and more workers than threads no more
 * than these (docs/estimates.md). 0 counts as 1. */
double jw_workers_capacity(unsigned workers);

/* Wall time of `total` seconds of work, the longest piece of it `longest`, by workers of this
 * capacity (0 counts as 1). */
double jw_makespan_seconds(double total, double longest, double capacity);

JW_END_DECLS

#endif
