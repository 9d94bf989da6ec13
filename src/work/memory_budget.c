#include "work/memory_budget.h"

#include "base/smaller.h"

static const uint64_t SMALL_BYTES = UINT64_C(256) << 20;
/* Below SHORT_BYTES, workers become fewer; below DIRE_BYTES, one of them ends at once. Each is the
 * smaller of a fixed size and a share of the machine. */
static const uint64_t SHORT_BYTES = UINT64_C(512) << 20, DIRE_BYTES = UINT64_C(192) << 20;
enum { SHORT_PART = 16, DIRE_PART = 40 };
/* The percentage of the last ten seconds in which a process waited for memory: at the first the
 * desktop stutters, at the second it hardly responds. */
static const double SHORT_PRESSURE = 10, DIRE_PRESSURE = 40, CALM_PRESSURE = 1;
/* A change takes effect only after a delay. */
static const uint64_t SETTLE_NS = 2000000000, CALM_NS = 10000000000;

void memory_budget_begin(struct memory_budget *memory, unsigned workers, uint64_t max_bytes,
						 uint64_t available_bytes)
{
	*memory = (struct memory_budget){
		.budget_bytes = max_bytes ? max_bytes : available_bytes / 4 * 3,
		.worker_bytes = MEMORY_WORKER_BYTES,
		.factor = 1,
		.allowed = workers,
		.most = workers,
	};
}

uint64_t memory_budget_need(const struct memory_budget *memory, uint64_t predicted_bytes)
{
	return memory->worker_bytes + (uint64_t)((double)predicted_bytes * memory->factor);
}

bool memory_budget_admits(const struct memory_budget *memory, uint64_t others_bytes,
						  uint64_t need_bytes)
{
	return !others_bytes || !memory->budget_bytes ||
		   (others_bytes <= memory->budget_bytes &&
			need_bytes <= memory->budget_bytes - others_bytes);
}

void memory_budget_measured(struct memory_budget *memory, uint64_t predicted_bytes,
							uint64_t peak_bytes)
{
	/* A worker's answer may contain any number, so the measurements are bounded. */
	const double most_factor = 8;
	const uint64_t most_bytes = UINT64_C(8) << 30;
	double factor;

	if (peak_bytes <= memory_budget_need(memory, predicted_bytes) || peak_bytes > most_bytes)
		return;
	/* A small module needs little of the compiler, so the unexpected memory is the driver's. */
	if (predicted_bytes < SMALL_BYTES) {
		memory->worker_bytes += peak_bytes - memory_budget_need(memory, predicted_bytes);
		return;
	}
	factor = (double)(peak_bytes - memory->worker_bytes) / (double)predicted_bytes;
	memory->factor = factor < most_factor ? factor : most_factor;
}

enum memory_verdict memory_budget_judge(struct memory_budget *memory, uint64_t now_ns,
										unsigned busy, double pressure, uint64_t total_bytes,
										uint64_t available_bytes)
{
	bool dire =
		pressure >= DIRE_PRESSURE || available_bytes < smaller(DIRE_BYTES, total_bytes / DIRE_PART);
	bool is_short = dire || pressure >= SHORT_PRESSURE ||
					available_bytes < smaller(SHORT_BYTES, total_bytes / SHORT_PART);

	if (is_short || pressure > CALM_PRESSURE)
		memory->strained_ns = now_ns;
	if (is_short && (!memory->changed_ns || now_ns - memory->changed_ns > SETTLE_NS)) {
		const unsigned before = memory->allowed, from = busy < before ? busy : before;

		if (before < 2)
			return MEMORY_AS_IT_IS;
		memory->allowed = from < 2 ? 1 : from - 1;
		memory->changed_ns = now_ns;
		return dire && from > 1 ? MEMORY_AT_ONCE : MEMORY_FEWER;
	}
	if (memory->allowed < memory->most && now_ns - memory->strained_ns > CALM_NS &&
		now_ns - memory->changed_ns > CALM_NS) {
		memory->allowed++;
		memory->changed_ns = now_ns;
	}
	return MEMORY_AS_IT_IS;
}
