/* The protocol between supervisor and worker: one JSON object per line, jobs on the worker's stdin,
 * answers on its original stdout. A worker runs foreign code that may do anything, so its answers
 * are read as hostile input.
 *
 * The first answer, "hello", comes without a job when the driver is up; then one answer for each
 * job, in order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cache/key.h"

enum {
	PROTOCOL_MOST_LINE = 1 << 20,
	PROTOCOL_MOST_DEVICES = 64,
	PROTOCOL_MOST_LOG = 16 << 10, /* maximum size of the compiler's log in an answer */
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

/* The driver in this worker: "hello". */
struct protocol_hello {
	int result; /* of cuInit; after a failure the rest may be incomplete */
	char error[512];
	char library[1024]; /* the file that was actually loaded */
	uint32_t cuda;      /* cuDriverGetVersion */
	struct protocol_device devices[PROTOCOL_MOST_DEVICES];
	size_t device_count;
};

/* A module to load, and the file that holds its container. */
struct protocol_job {
	uint64_t id;
	int device;
	enum cache_key_form form;
	char path[4096];
	uint64_t offset, size_bytes;
	uint64_t spare_bytes;  /* GPU memory that must be free when the worker has a context, or the job
							  counts as one without context; 0: no such check */
	uint64_t entry_offset; /* of the requested PTX, in the container; for compilers that do not
							  choose by themselves */
	/* Not "": the bytes are containers, one behind the other, which the worker links as the CUDA
	 * runtime does at a start; the linked machine code goes to this file. */
	char output[4096];
};

struct protocol_answer {
	uint64_t id;
	int result;      /* CUresult, or -1: the job was not tried (why: `error`) */
	bool sticky;     /* the context is lost; the worker ends itself after this answer */
	bool no_context; /* the device gave no context, so the job was not tried; the worker ends itself
					  */
	double wall_ms;
	double cpu_ms;       /* processor time of only the compile; 0 if unknown */
	uint64_t peak_bytes; /* peak resident memory of the worker so far */
	char error[128];     /* "CUDA_ERROR_INVALID_PTX" */
	char log[PROTOCOL_MOST_LOG];
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

/* Devices as JSON, also for the state directory. */
cJSON *protocol_devices_to_json(struct jw_error *err, const struct protocol_device *devices,
								size_t count);
int protocol_devices_from_json(struct jw_error *err, const cJSON *array,
							   struct protocol_device *devices, size_t *ret_count);
