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
 * that force or forbid compiling (driver/environment.c), JITWARM_WORKER=1, by which a worker
 * refuses to start others, and for the lowest priority JITWARM_BACKGROUND=1. JITWARM_WORKER_TASK
 * names a file that replaces the driver by ptxas, nvJitLink or NVRTC (driver/task.h). By hand:
 *
 *     echo '{"job":1,"device":0,"form":"load","path":"/x.fatbin","offset":0,"size_bytes":344}' |
 *         CUDA_CACHE_PATH=/tmp/cache scripts/with-driver.sh sm_86 -- jitwarm worker */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/share.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cache/key.h"

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

/* The protocol between supervisor and the worker that reads and writes a shared folder
 * (share/object_worker.c): one JSON object per line. The first line to the worker names the folder,
 * then come jobs; each is answered once, in any order. That worker reads files that strangers
 * wrote, so its answers are read as hostile input. */

/* The task's name, in place of the file that names another compiler (driver/task.h). */
#define OBJECT_TASK "share"

/* The settings of that worker. */
struct object_setup {
	const char *folder; /* the run's folder for its files */
	const struct jw_system *system;
	const struct jw_share_options *options;
};

enum object_what {
	OBJECT_FIND,  /* take the entry if it is in the shared folder */
	OBJECT_CLAIM, /* take the entry if it is in the shared folder; otherwise claim it */
	OBJECT_PUT,   /* put the entry into the shared folder */
	OBJECT_WHATS,
};

struct object_job {
	uint64_t id;
	enum object_what what;
	uint64_t key;
	uint16_t sm;
	uint64_t most_bytes; /* the most bytes of the entry's pack */
	uint64_t dead;       /* a claim that no longer counts; 0 if there is none */
	/* The module whose entry it must be (cache_identity_text): the name does not tell. */
	char identity[CACHE_IDENTITY_TEXT];
};

enum object_outcome {
	OBJECT_HERE,    /* the entry is now in the job's folder (object_folder) */
	OBJECT_MISSING, /* the entry is not in the shared folder, or must not be trusted (`why`) */
	OBJECT_OURS,    /* the entry is missing, and we have claimed it */
	OBJECT_THEIRS,  /* the entry is missing, and `claim` is another node's */
	OBJECT_PLACED,  /* the entry was put into the shared folder */
	OBJECT_GONE,    /* the shared folder does not work: `why` */
	OBJECT_OUTCOMES,
};

struct object_answer {
	uint64_t id;
	enum object_what what;
	enum object_outcome said;
	uint64_t claim;
	uint64_t bytes; /* the size of the pack */
	char why[512];
};

/* Each appends one line, with its line feed, to `line`. */
int object_put_setup(struct jw_error *err, struct buf *line, const struct object_setup *setup);
int object_put_job(struct jw_error *err, struct buf *line, const struct object_job *job);
int object_put_answer(struct jw_error *err, struct buf *line, const struct object_answer *answer);

/* The setup as it arrived; object_received_free frees it. */
struct object_received {
	struct object_setup setup;
	struct jw_system system;
	struct jw_share_options options;
};

/* Each reads one line, without its line feed. JW_ERR_FORMAT for any other line. */
int object_get_setup(struct jw_error *err, const char *line, size_t size,
					 struct object_received *ret_given);
void object_received_free(struct object_received *given);
int object_get_job(struct jw_error *err, const char *line, size_t size, struct object_job *ret_job);
int object_get_answer(struct jw_error *err, const char *line, size_t size,
					  struct object_answer *ret_answer);

/* Returns FOLDER/KEY, a cache with the one entry that was fetched. The caller frees it. */
char *object_folder(const char *folder, uint64_t key);
