/* The number of workers that memory has room for, from the prediction for each and from the
 * machine's reports. No clock and no system calls in here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	/* A worker's own need beside that of its compile: the driver's context. Source:
	   driver-cache.md, "Values" (80 to 100 MiB more than ptxas). */
	MEMORY_WORKER_MIB = 128,
	/* So much of a GPU's memory is left for others beside the second worker's context, and those of
	   the ones after it. */
	MEMORY_GPU_SPARE_MIB = 256,
};

#define MEMORY_WORKER_BYTES ((uint64_t)MEMORY_WORKER_MIB << 20)

struct memory_budget {
	uint64_t budget_bytes; /* for all workers together; 0: unknown */
	/* Measured, never less than expected: a worker without work, and the factor of a compile over
	 * its prediction. */
	uint64_t worker_bytes;
	double factor;
	unsigned allowed; /* workers that may have work, at least 1 */
	unsigned most;
	uint64_t changed_ns, strained_ns; /* when `allowed` last went down; when things were not well */
};

/* `max_bytes`: the user's bound; 0: three quarters of the available memory. */
void memory_budget_begin(struct memory_budget *memory, unsigned workers, uint64_t max_bytes,
						 uint64_t available_bytes);

/* The most memory that a worker is expected to need while it compiles a module with this
 * prediction; 0: while it waits. */
uint64_t memory_budget_need(const struct memory_budget *memory, uint64_t predicted_bytes);
/* Whether a worker that needs so much may begin beside others that have or need `others_bytes`.
 * Alone it always may. */
bool memory_budget_admits(const struct memory_budget *memory, uint64_t others_bytes,
						  uint64_t need_bytes);
/* A worker's peak rose to this during a compile for which so much was predicted. */
void memory_budget_measured(struct memory_budget *memory, uint64_t predicted_bytes,
							uint64_t peak_bytes);

enum memory_verdict {
	MEMORY_AS_IT_IS,
	MEMORY_FEWER,   /* `allowed` is less now */
	MEMORY_AT_ONCE, /* and a working one must be ended, or the system will kill a process */
};
/* The machine's report at `now_ns`: the share of time spent waiting for memory (percent), and the
 * available memory. `busy`: workers that have work. */
enum memory_verdict memory_budget_look(struct memory_budget *memory, uint64_t now_ns, unsigned busy,
									   double pressure, uint64_t total_bytes,
									   uint64_t available_bytes);
