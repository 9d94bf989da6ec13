/* The worker process: the only one that loads NVIDIA's driver.
 *
 * Threads: jw_worker_main needs a separate process without other threads. */
#pragma once

/* Runs “jitwarm worker”, the command of jw_system_options.worker: serves jobs from stdin until its
 * end, answers on the original stdout (one JSON object per line, src/driver/protocol.h), and
 * returns the exit status. Takes over the whole process: changes signals, priorities and standard
 * output. */
int jw_worker_main(void);
