/* The GPUs that a run's workers see, and the choice of one for a module. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "plan/plan.h"
#include "worker/protocol.h"

struct device_pool {
	struct protocol_device devices[PROTOCOL_MOST_DEVICES];
	bool works[PROTOCOL_MOST_DEVICES];  /* a worker has had a context there */
	bool barred[PROTOCOL_MOST_DEVICES]; /* it gives no context */
	char why[128];                      /* reason for the last one that was barred */
	size_t count;
};

#define DEVICE_NONE SIZE_MAX

/* Fills the pool from the report of the run's first worker. Devices whose compute mode forbids
 * contexts are barred. So are exclusive-process devices, if others of the same architecture serve
 * all workers. */
void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello);
/* Why a device in this mode gives no context, for people; "" if the mode is not the reason. */
const char *device_pool_mode_text(int compute_mode);
/* How many workers can have a context at the same time for modules of these architectures:
 * UINT_MAX, or few if one of them has only devices in exclusive mode. */
unsigned device_pool_most_workers(const struct device_pool *pool, const struct plan_target *targets,
								  size_t count);
/* Whether there is a device of this architecture, barred or not. */
bool device_pool_has(const struct device_pool *pool, struct jw_target target);
/* An index in pool.devices, DEVICE_NONE if no device is left. Devices of the same architecture
 * share the workers by `turn`. */
size_t device_pool_choose(const struct device_pool *pool, struct jw_target target, size_t turn);
/* False if no device is left; then err says so. */
bool device_pool_bar(struct jw_error *err, struct device_pool *pool, size_t device,
					 const char *why);
