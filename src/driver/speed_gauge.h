/* The gauge: modules whose compile time shows how fast a driver's compiler is on this machine,
 * before it has compiled any other (docs/estimates.md).
 *
 * A worker gets them one by one; a driver's after another job, which has loaded the compiler. No
 * further one is sent if all together would take longer than 0.3 s. Large and small modules by
 * turns tell the compiler's speed from what it takes for any module. */
#pragma once

#include <stdint.h>

#include <jitwarm/system.h>

#include "base/cancel.h"
#include "base/error.h"
#include "driver/protocol.h"
#include "driver/speed_model.h"

enum { GAUGE_MODULES = 8, GAUGE_LIMIT_MS = 300 };

struct speed_gauge {
	struct protocol_job job;          /* the next one */
	uint64_t ends[GAUGE_MODULES + 1]; /* of the containers in the file; the first is 0 */
	struct plan_module modules[2];    /* as the model sees them: large and small ones by turns */
	unsigned sent;
	double longest_ms;
	struct speed_sizes taken;
};

/* Writes the modules to a file at `path`, for a device of a worker. */
int speed_gauge_make(struct jw_error *err, const char *path, int device,
					 struct speed_gauge *ret_gauge);
/* The first job after the answer to another one, and each later job; NULL: enough. `context` is a
 * speed_gauge. A failed job ends it, and earlier measurements count. */
const struct protocol_job *speed_gauge_next(void *context, const struct protocol_answer *answer);

/* The gauge for ptxas: priming for another machine compiles here (docs/estimates.md). */

/* Measures this ptxas, and remembers the result, unless the speed of its CUDA version is known. A
 * failure is not reported, and not tried again: the predictions are slightly worse. */
void compiler_gauge(const struct jw_system *system, const char *ptxas,
					const struct jw_cancel *cancel);
