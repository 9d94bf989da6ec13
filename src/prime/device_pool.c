#include "prime/device_pool.h"

#include <string.h>

#include "base/text.h"

enum { MODE_PROHIBITED = 2 }; /* CU_COMPUTEMODE_PROHIBITED; source: cuda.h */

void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello)
{
	*pool = (struct device_pool){.count = hello->device_count};
	memcpy(pool->devices, hello->devices, sizeof pool->devices);
	for (size_t i = 0; i < pool->count; i++) {
		pool->barred[i] = pool->devices[i].compute_mode == MODE_PROHIBITED;
		if (pool->barred[i])
			TEXT_COPY(pool->why, "its compute mode is “prohibited”");
	}
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
