/* How long work takes on several cores. */
#ifndef JITWARM_ESTIMATE_H
#define JITWARM_ESTIMATE_H

/* Wall time of `total` seconds of work, the longest piece of it `longest`, on `workers` cores (0
 * counts as 1). */
double jw_makespan_seconds(double total, double longest, unsigned workers);

#endif
