/* The number of workers that fit into memory, from the prediction for each and from the machine's
 * reports. Uses neither clock nor system calls. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	/* The memory of a worker without its compile: the driver's context. Source: driver-cache.md,
	 * "The compiler's twin" (80 to 100 MiB more than ptxas). */
	MEMORY_WORKER_MIB = 128,
	/* GPU memory that is left for other programs, besides the context of the second worker and each
	 * further one. */
	MEMORY_GPU_SPARE_MIB = 256,
};

#define MEMORY_WORKER_BYTES ((uint64_t)MEMORY_WORKER_MIB << 20)

struct memory_budget {
	uint64_t budget_bytes; /* for all workers together; 0 if unknown */
	/* Measured, and never less than expected: the memory of a worker without work, and the factor
	 * by which compiles exceed their predictions. */
	uint64_t worker_bytes;
	double factor;
	unsigned allowed; /* the number of workers that may have work, at least 1 */
	unsigned most;
	uint64_t changed_ns, strained_ns; /* when `allowed` last fell, and when memory was last short */
};

/* Begins with `max_bytes`, the user's limit; 0 stands for three quarters of the available
 * memory. */
void memory_budget_begin(struct memory_budget *memory, unsigned workers, uint64_t max_bytes,
						 uint64_t available_bytes);

/* Returns the most memory that a worker is expected to need while it compiles a module with this
 * prediction; 0 bytes stands for a waiting worker. */
uint64_t memory_budget_need(const struct memory_budget *memory, uint64_t predicted_bytes);
/* Returns whether a worker that needs this much may begin beside others that have or need
 * `others_bytes`. A worker alone always may. */
bool memory_budget_admits(const struct memory_budget *memory, uint64_t others_bytes,
						  uint64_t need_bytes);
/* Records the peak that a worker reached during a compile with this prediction. */
void memory_budget_measured(struct memory_budget *memory, uint64_t predicted_bytes,
							uint64_t peak_bytes);

enum memory_verdict {
	MEMORY_AS_IT_IS,
	MEMORY_FEWER,   /* `allowed` has decreased */
	MEMORY_AT_ONCE, /* `allowed` has decreased, and a busy worker must end, or the system will kill
					   a process */
};
/* Judges the machine's report at `now_ns`: the percentage of time spent waiting for memory, and the
 * available memory. `busy` is the number of workers that have work. */
enum memory_verdict memory_budget_judge(struct memory_budget *memory, uint64_t now_ns,
										unsigned busy, double pressure, uint64_t total_bytes,
										uint64_t available_bytes);
