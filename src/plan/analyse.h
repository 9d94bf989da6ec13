/* Judges the device code of one file for the requested GPUs. Reads the file once, container after
 * container. For each image the caller gets one account: its content, the verdicts per target, and
 * the modules that the driver would compile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/set.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/profile.h"
#include "code/devcode.h"
#include "code/kernel_names.h"
#include "plan/decide.h"
#include "plan/estimate.h"
#include "plan/loading.h"
#include "plan/verdict.h"

enum { ANALYSE_MAX_TARGETS = 32 };

struct analyse_question {
	const struct jw_target *targets; /* devices; at most ANALYSE_MAX_TARGETS */
	size_t target_count;
	struct jw_driver driver;
	const struct cache_profile *profile; /* for keys; NULL if keys are not computed */
	enum loading_setting setting;        /* CUDA_MODULE_LOADING of the programs */
	bool verdicts_only;                  /* leave out modules */
	bool releases; /* judge for the drivers of gpu_releases, too (analyse_image.releases) */
	bool pieces;   /* group the containers (jw_scan_image.pieces) */
	bool kernels;  /* name the kernels of all pieces, not only of those that a target cannot use */
	/* The platform whose libraries a wheel for every system counts for (code_leave_foreign); NULL:
	 * all of them. */
	const char *platform;
};

/* The need to link the image's relocatable code when a program starts on a GPU, as the CUDA runtime
 * does. */
enum analyse_need { NEED_NO, NEED_YES, NEED_UNKNOWN };

/* Why code does not run on a target, as far as its architectures tell. */
struct analyse_cause {
	struct jw_target newest, oldest; /* of all machine code and PTX; sm 0: none */
	struct jw_target exclusive;      /* PTX for some GPUs alone (compute_90a) that is not newer than
										the target, if there is no other PTX; sm 0: none */
	uint32_t toolkit;                /* the CUDA version of the compiler; 0: unknown */
	uint16_t error;                  /* the driver's error, for the decision about the target */
};

struct analyse_target {
	struct analyse_cause cause;
	struct decided is;              /* the decision about registered code */
	char kernels[KERNELS_TEXT];     /* names of some kernels that the target cannot use */
	size_t verdicts[VERDICT_COUNT]; /* the number of containers for each verdict */
	size_t reasons[REASON_COUNT];   /* the number of `cannot` verdicts for each reason */
	/* For each reason the first driver that is new enough; zeros if the driver's age is not the
	 * reason. */
	struct jw_driver needs[REASON_COUNT];
	size_t tile;         /* containers with Tile IR that the driver compiles */
	size_t unknown;      /* containers with VERDICT_UNKNOWN */
	uint32_t kind;       /* the kind of an unknown entry, or of one that the driver does not know */
	size_t jit_modules;  /* distinct pairs of payload and option string */
	uint64_t jit_bytes;  /* decompressed size */
	size_t link_modules; /* jit_modules of the inputs of run-time linking, needed or not */
	uint64_t link_bytes; /* their decompressed size */
	uint64_t loose_bytes; /* the part of jit_bytes outside registered sections */
	size_t unreadable;    /* modules that cannot be decompressed, which count in neither sum */
	enum analyse_need link_needed;
};

/* Returns the first driver that is new enough for all of it; zeros if the driver's age is not the
 * reason. */
struct jw_driver analyse_needs(const struct analyse_target *target);

enum plan_state {
	PLAN_COLD,     /* the live cache has no entry that a driver uses */
	PLAN_WARM,     /* its entry exists */
	PLAN_LEFT_OUT, /* outside the registered sections of a library with more than 32 MB of such PTX,
					  without --all */
	PLAN_REFUSED,  /* the driver has refused it before (pack/ledger.h) */
	PLAN_RESTORED, /* in a dry run: cold, and an earlier result would take its place */
	PLAN_OVER_BUDGET, /* cold, and excluded by a budget of this run (prime/budget.h), or not used */
};

/* One module for one architecture: each distinct (payload, options, form, architecture) once in an
 * image, and then once in the plan. */
struct plan_module {
	uint32_t target; /* an index into the question's and the plan's targets */
	uint64_t container_offset, container_bytes; /* the place in the image */
	uint64_t entry_offset;                      /* the place of the PTX that the driver will take */
	uint64_t payload_bytes;
	enum devcode_role role;
	enum cache_key_form form;
	bool superseded;    /* a text in a program's data, while another text has the same kernels for a
						   newer target */
	uint64_t key;       /* the entry's name; 0 if the profile has no stamp */
	uint64_t key_bytes; /* the length of the key */
	struct jw_identity identity; /* of the key, or of that which it would be but for the start */
	/* Features of the PTX: inputs of the cost model (docs/internals/estimates.md). */
	struct plan_features features;

	/* Set by the plan: */
	uint32_t file; /* an index into plan.files: the first file that contains it */
	enum plan_state state;
	enum cache_damage damage; /* the damage of the existing entry */
	/* A start may not need it: it is in no registered section of its library, which loads it when
	 * it is needed, or most containers of the library have code that runs as it is, or it is a
	 * package's loose file. */
	bool on_demand;
	bool used;      /* a command of “jitwarm run” had it compiled (pack/ledger.h) */
	bool restored;  /* it was cold, and an earlier result takes its place (prime/planning.h) */
	bool keyed;     /* named by a key of the request's `next_key`, or of its cache */
	double cost_ms; /* the predicted wall time on one core of this machine */
	uint64_t entry_bytes;  /* the bytes of its entry that count against the cache's limit; predicted
							  unless warm */
	uint64_t memory_bytes; /* the predicted peak memory of the compile, doubled for admission,
							  without the driver's context */
};

/* Returns a hash; only modules with the same hash may be the same (module_find). */
static inline uint64_t module_name(const struct plan_module *module)
{
	return cache_identity_hash(&module->identity);
}
/* Returns the one of `modules` that the driver compiles once with `like`, or NULL. `known` has
 * their places by hash, for the same target. */
struct plan_module *module_find(struct plan_module *modules, const struct set *known,
								const struct plan_module *like);

/* An image, read from its file or known from the inventory. Valid during the call that passes it
 * on. */
struct analyse_image {
	struct jw_scan_image scan; /* all but its verdicts; pieces if the question asks for them */
	enum loading loading;      /* when registered code is loaded */
	bool keyed;                /* as in plan_module */
	const struct analyse_target *targets; /* as many as requested */
	const struct plan_module *modules;
	size_t module_count;
	bool asked;        /* judged with the question's driver */
	uint32_t releases; /* judged with these drivers of gpu_releases, a bit for each */
	/* The libraries of its package or archive, if they were counted (build_siblings); else 0. */
	size_t siblings;
};

/* Divides counts, sorted by kind, into the lists of an image. */
void analyse_divide_counts(struct jw_scan_image *image, const struct jw_scan_count *counts,
						   size_t count);

struct analyse_sink {
	void *context;
	/* Called for each image. If the question asks for releases, called again for those with which
	 * the image differs. */
	int (*image)(struct jw_error *err, void *context, const struct analyse_image *image);
	void (*trouble)(void *context, const char *path, const char *member,
					const struct jw_error *why);
	struct jw_cancel cancel; /* polled often */
};

/* Reads one path. A file that cannot be read is a trouble. -1 if the sink fails, there are too many
 * targets, or JW_ERR_INTERRUPTED. */
int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink);
