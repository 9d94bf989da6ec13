/* The worker process: the only one that loads NVIDIA's driver.
 *
 * Threads: jw_worker_main needs a separate process without other threads. */
#ifndef JITWARM_WORKER_H
#define JITWARM_WORKER_H

#include <jitwarm/error.h>

/* Serves jobs from stdin until its end, answers on the original stdout (one JSON object per line,
 * src/driver/protocol.h), and returns the exit status. A program that names itself as
 * jw_system_options.worker calls this before anything else, if it is started with those arguments:
 *
 *     if (argc == 2 && !strcmp(argv[1], "--jitwarm-worker"))
 *         return jw_worker_main();
 *
 * The call takes over the whole process: it changes signals, priorities and standard output. */
int jw_worker_main(void);

/* The absolute path of the running program, for naming itself. The caller frees it with
 * jw_text_free. */
int jw_program_path(struct jw_error *err, char **ret_path);

#endif
