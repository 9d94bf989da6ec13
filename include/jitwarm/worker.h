/* The worker process: the only one that loads NVIDIA's driver. */
#ifndef JITWARM_WORKER_H
#define JITWARM_WORKER_H

/* Serves jobs from stdin until its end, answers on what was stdout (one JSON object a line,
 * docs/worker.md), and returns the exit status. A program that embeds libjitwarm calls this where
 * it is started with the arguments that it gave as jw_prime_options.worker. */
int jw_worker_main(void);

#endif
