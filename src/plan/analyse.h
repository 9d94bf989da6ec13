/* Reads the device code of one file, container after container. For each image the caller gets its
 * facts: what judging.h judges, and the modules that drivers would compile for the requested GPUs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/target.h>

#include "base/cancel.h"
#include "cache/profile.h"
#include "plan/judging.h"
#include "plan/loading.h"
#include "plan/module.h"

struct analyse_question {
	const struct jw_target *targets; /* devices; at most PLAN_MAX_TARGETS */
	size_t target_count;
	struct jw_driver driver;
	const struct cache_profile *profile; /* for keys; NULL if keys are not computed */
	bool verdicts_only;                  /* leave out modules */
	bool releases; /* find the modules of the drivers of gpu_releases, too (plan_module.drivers) */
	bool kernels;  /* name some kernels of each piece */
	/* The platform whose libraries a wheel for every system counts for (code_leave_foreign); NULL:
	 * all of them. */
	const char *platform;
};

/* An image, read from its file or known from the inventory: facts alone. Valid during the call that
 * passes it on. */
struct analyse_image {
	struct jw_scan_image scan; /* all but its verdicts */
	bool keyed;                /* as in plan_module */
	const struct plan_module *modules;
	size_t module_count;
	size_t unreadable; /* modules that cannot be decompressed, which are none of these */
};

/* Returns when a program loads the image's registered code. */
enum loading analyse_loading(const struct jw_scan_image *image, const struct jw_driver *driver,
							 enum loading_setting setting);

/* Divides counts, sorted by kind, into the lists of an image. */
void analyse_divide_counts(struct jw_scan_image *image, const struct jw_scan_count *counts,
						   size_t count);

struct analyse_sink {
	void *context;
	/* Called for each image. */
	int (*image)(struct jw_error *err, void *context, const struct analyse_image *image);
	void (*trouble)(void *context, const char *path, const char *member,
					const struct jw_error *why);
	struct jw_cancel cancel; /* polled often */
};

/* Reads one path. A file that cannot be read is a trouble. -1 if the sink fails, there are too many
 * targets, or JW_ERR_INTERRUPTED. */
int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink);
