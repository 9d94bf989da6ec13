/* The number of workers for which memory has room, from the prediction for each and from the
 * machine's reports. Uses neither clock nor system calls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* A worker's own memory beside its compile: the driver's context. Source: driver-cache.md,
	 * "The compiler's twin" (80 to 100 MiB more than ptxas). */
	MEMORY_WORKER_MIB = 128,
	/* GPU memory that is left for other programs beside the second worker's context and each
	 * further one. */
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
	uint64_t changed_ns, strained_ns; /* when `allowed` last fell; when memory was last short */
};

/* `max_bytes`: the user's limit; 0: three quarters of the available memory. */
void memory_budget_begin(struct memory_budget *memory, unsigned workers, uint64_t max_bytes,
						 uint64_t available_bytes);

/* The maximum that a worker is expected to need while it compiles a module with this prediction; 0:
 * while it waits. */
uint64_t memory_budget_need(const struct memory_budget *memory, uint64_t predicted_bytes);
/* Whether a worker that needs so much may begin beside others that have or need `others_bytes`. A
 * worker alone always may. */
bool memory_budget_admits(const struct memory_budget *memory, uint64_t others_bytes,
						  uint64_t need_bytes);
/* A worker's peak rose to this during a compile with this prediction. */
void memory_budget_measured(struct memory_budget *memory, uint64_t predicted_bytes,
							uint64_t peak_bytes);

enum memory_verdict {
	MEMORY_AS_IT_IS,
	MEMORY_FEWER,   /* `allowed` has decreased */
	MEMORY_AT_ONCE, /* the same, and a working one must end, or the system will kill a process */
};
/* The machine's report at `now_ns`: the share of time spent waiting for memory (percent), and the
 * available memory. `busy`: workers that have work. */
enum memory_verdict memory_budget_judge(struct memory_budget *memory, uint64_t now_ns,
										unsigned busy, double pressure, uint64_t total_bytes,
										uint64_t available_bytes);
