/* How long work takes on several cores.
 *
 * Threads: any number of threads may call these functions at the same time. */
#ifndef JITWARM_ESTIMATE_H
#define JITWARM_ESTIMATE_H

#include <jitwarm/api.h>

JW_BEGIN_DECLS

/* The ratio of compile times on a machine to the model (docs/estimates.md), for ordinary modules
 * and for inputs of run-time linking. 0: not known, the usual ratio is used.
 */
struct jw_speed {
	double load, link;
};

/* The throughput of this many workers on this machine; 1 is that of one worker alone. Two hardware
 * threads that share a core do little more than one, and more workers than threads do no more than
 * the threads (docs/estimates.md). 0 counts as 1. */
double jw_workers_capacity(unsigned workers);

/* Wall time of `total` seconds of work, the longest piece of it `longest`, by workers of this
 * capacity (0 counts as 1). */
double jw_makespan_seconds(double total, double longest, double capacity);

JW_END_DECLS

#endif
