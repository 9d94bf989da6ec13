/* The protocol between supervisor and worker: one JSON object per line, jobs on the worker's stdin,
 * answers on its original stdout. A worker runs foreign code that may do anything, so its answers
 * are read as hostile input (tests/fuzz/fuzz_protocol.c).
 *
 * The first answer, "hello", comes without a job when the driver has started; then one answer for
 * each job, in order. The worker ends with its parent, at the end of stdin, and after an answer
 * that reports the loss of its context. It redirects stdout to stderr before it loads the driver,
 * which prints at any time; the supervisor shows the worker's stderr when it dies.
 *
 * The supervisor sets a private CUDA_CACHE_PATH, CUDA_MODULE_LOADING=EAGER, none of the variables
 * that force or forbid compiling (driver/child.c), JITWARM_WORKER=1, by which a worker refuses to
 * start others, and for the lowest priority JITWARM_BACKGROUND=1. JITWARM_WORKER_TASK names a file
 * that replaces the driver by ptxas or NVRTC (driver/task.h). By hand:
 *
 *     echo '{"job":1,"device":0,"form":"load","path":"/x.fatbin","offset":0,"size_bytes":344}' |
 *         CUDA_CACHE_PATH=/tmp/cache scripts/with-driver.sh sm_86 -- jitwarm worker */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"
#include "cache/key.h"

#define WORKER_MARKER     "JITWARM_WORKER"
#define WORKER_TASK       "JITWARM_WORKER_TASK"
#define WORKER_BACKGROUND "JITWARM_BACKGROUND"

enum {
	PROTOCOL_MAX_LINE = 1 << 20,
	PROTOCOL_MAX_DEVICES = 64,
	PROTOCOL_MAX_LOG = 16 << 10, /* the most bytes of the compiler's log in an answer */
};

/* One GPU, as the driver describes it. */
struct protocol_device {
	int ordinal;
	struct jw_target target;
	char name[128];
	char bus[32];  /* "0000:01:00.0", lower case */
	char uuid[48]; /* "GPU-..." as nvidia-smi prints it, "" if unknown */
	uint64_t memory_bytes;
	int compute_mode; /* CUcomputemode: 0 default, 2 prohibited, 3 exclusive process */
};

/* The "hello" about the driver in this worker. */
struct protocol_hello {
	int result; /* the result of cuInit; after a failure the other members may be incomplete */
	char error[512];
	char library[1024]; /* the file that was actually loaded */
	uint32_t cuda;      /* cuDriverGetVersion */
	struct protocol_device devices[PROTOCOL_MAX_DEVICES];
	size_t device_count;
};

/* A module to load, and the file that holds its container. */
struct protocol_job {
	uint64_t id;
	int device;
	enum cache_key_form form;
	char path[4096];
	uint64_t offset, size_bytes;
	uint64_t spare_bytes;  /* GPU memory that must be free when the worker has a context, otherwise
							  the job counts as one without context; 0 for no such check */
	uint64_t entry_offset; /* the place of the requested PTX in the container, for compilers that do
							  not choose by themselves */
	/* If not "", the bytes are containers, one after the other, which the worker links as the CUDA
	 * runtime does at a start; the linked machine code goes to this file. */
	char output[4096];
};

struct protocol_answer {
	uint64_t id;
	int result;      /* CUresult, or -1 if the job was not tried (`error` is the reason) */
	bool sticky;     /* the context is lost, and the worker ends itself after this answer */
	bool no_context; /* the device gave no context, so the job was not tried, and the worker ends */
	double wall_ms;
	double cpu_ms;       /* processor time of the compile alone; 0 if unknown */
	uint64_t peak_bytes; /* peak resident memory of the worker so far */
	char error[128];     /* "CUDA_ERROR_INVALID_PTX" */
	char log[PROTOCOL_MAX_LOG];
};

/* Each appends one line, with its line feed, to `line`. */
int protocol_put_job(struct jw_error *err, struct buf *line, const struct protocol_job *job);
int protocol_put_hello(struct jw_error *err, struct buf *line, const struct protocol_hello *hello);
int protocol_put_answer(struct jw_error *err, struct buf *line,
						const struct protocol_answer *answer);

/* Each reads one line, without its line feed. JW_ERR_FORMAT for any other line. */
int protocol_get_job(struct jw_error *err, const char *line, size_t size,
					 struct protocol_job *ret_job);
int protocol_get_hello(struct jw_error *err, const char *line, size_t size,
					   struct protocol_hello *ret_hello);
int protocol_get_answer(struct jw_error *err, const char *line, size_t size,
						struct protocol_answer *ret_answer);

/* The driver's library, its CUDA version and its devices, also for the state directory; and the
 * checks to make after reading them. */
struct json_table;
extern const struct json_table protocol_driver;
int protocol_check_devices(struct jw_error *err, struct protocol_hello *hello);
