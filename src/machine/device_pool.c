#include "machine/device_pool.h"

#include <limits.h>
#include <string.h>

#include "base/text.h"

/* CUcomputemode; drivers before 2013 have the first one. Source: cuda.h */
enum { MODE_EXCLUSIVE_THREAD = 1, MODE_PROHIBITED = 2, MODE_EXCLUSIVE = 3 };

static bool is_exclusive(const struct protocol_device *device)
{
	return device->compute_mode == MODE_EXCLUSIVE || device->compute_mode == MODE_EXCLUSIVE_THREAD;
}

/* Whether another device of this architecture accepts any number of processes. */
static bool has_better(const struct device_pool *pool, size_t device)
{
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->devices[i].compute_mode &&
			jw_target_equal(pool->devices[i].target, pool->devices[device].target))
			return true;
	return false;
}

void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello)
{
	*pool = (struct device_pool){.count = hello->device_count};
	memcpy(pool->devices, hello->devices, sizeof pool->devices);
	for (size_t i = 0; i < pool->count; i++) {
		pool->barred[i] = pool->devices[i].compute_mode == MODE_PROHIBITED;
		if (pool->barred[i])
			TEXT_COPY(pool->why,
					  "its compute mode is “prohibited” (“nvidia-smi -c 0” changes that)");
		if (is_exclusive(&pool->devices[i]) && has_better(pool, i))
			pool->barred[i] = true;
	}
}

const char *device_pool_mode_text(int compute_mode)
{
	switch (compute_mode) {
	case MODE_PROHIBITED:
		return "; its compute mode is “prohibited” (“nvidia-smi -c 0” changes that)";
	case MODE_EXCLUSIVE:
	case MODE_EXCLUSIVE_THREAD: return "; it is in exclusive mode, and another process has it";
	default: return "";
	}
}

static unsigned most_for(const struct device_pool *pool, struct jw_target target)
{
	unsigned exclusive = 0;

	for (size_t i = 0; i < pool->count; i++) {
		if (pool->barred[i] || !jw_target_equal(pool->devices[i].target, target))
			continue;
		if (!is_exclusive(&pool->devices[i]))
			return UINT_MAX;
		exclusive++;
	}
	return exclusive ? exclusive : UINT_MAX;
}

unsigned device_pool_most_workers(const struct device_pool *pool, const struct plan_target *targets,
								  size_t count)
{
	unsigned most = UINT_MAX;

	for (size_t i = 0; i < count; i++) {
		unsigned some = most_for(pool, targets[i].device);

		/* With several architectures each worker uses all of them in turn: two workers could meet
		 * on one. */
		if (some != UINT_MAX && count > 1)
			some = 1;
		most = some < most ? some : most;
	}
	return most;
}

bool device_pool_has(const struct device_pool *pool, struct jw_target target)
{
	for (size_t i = 0; i < pool->count; i++)
		if (jw_target_equal(pool->devices[i].target, target))
			return true;
	return false;
}

size_t device_pool_choose(const struct device_pool *pool, struct jw_target target, size_t turn)
{
	size_t fitting = 0;

	for (size_t i = 0; i < pool->count; i++)
		fitting += !pool->barred[i] && jw_target_equal(pool->devices[i].target, target);
	if (!fitting)
		return DEVICE_NONE;
	turn %= fitting;
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->barred[i] && jw_target_equal(pool->devices[i].target, target) && !turn--)
			return i;
	return DEVICE_NONE;
}

bool device_pool_bar(struct jw_error *err, struct device_pool *pool, size_t device, const char *why)
{
	pool->barred[device] = true;
	TEXT_COPY(pool->why, why);
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->barred[i])
			return true;
	error_set(err, JW_ERR_DRIVER,
			  "GPU %d (%s) gives no context: %s; end what is using it, then run the same command "
			  "again",
			  pool->devices[device].ordinal, pool->devices[device].name, why);
	return false;
}
