/* The task of a worker that runs another compiler than the driver's, in a file of the run's folder.
 * The worker's environment names that file in JITWARM_WORKER_TASK.
 *
 *     {"compiler": "nvrtc", "library": "/…/libnvrtc.so.12", "name": "kernels.cu",
 *      "options": ["-DN=4"], "output": "/…/kernels.ptx"} */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "driver/protocol.h"
#include "plan/plan.h"

/* Another compiler in a worker. */
struct task {
	void *state;
	/* Fills in a hello like the driver's: `result` 0, the loaded file, its architectures. */
	void (*greet)(void *state, struct protocol_hello *hello);
	/* Does a job. `image` has the job's bytes, followed by a NUL. Sets result, error and log. */
	void (*work)(void *state, const struct protocol_job *job, struct buf *image,
				 struct protocol_answer *answer);
	void (*close)(void *state);
};

/* Opens the task that the environment names; *ret_task is untouched if there is none. */
int task_open(struct jw_error *err, struct task *ret_task);

/* The compilers: each reads its own document. */
int task_nvrtc(struct jw_error *err, const cJSON *document, struct task *ret_task);
int task_ptxas(struct jw_error *err, const cJSON *document, struct task *ret_task);

/* Writes such a document to FOLDER/task.json and deletes `document`. The caller frees the path. */
int task_write(struct jw_error *err, const char *folder, cJSON *document, char **ret_path);
/* Writes the document for ptxas, which compiles the plan for another machine
 * (docs/elsewhere.md). */
int task_write_ptxas(struct jw_error *err, const struct plan *plan, const char *ptxas,
					 const char *folder, char **ret_task);
