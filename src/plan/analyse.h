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
	const struct cache_profile *profile; /* for keys; NULL: keys are not computed */
	enum loading_setting setting;        /* of the programs */
	bool verdicts_only;                  /* skips modules */
	bool releases; /* judges for the drivers of gpu_releases, too (analyse_image.releases) */
	bool pieces;   /* groups the containers (analyse_image.pieces) */
	bool kernels;  /* names kernels of all pieces, not only of those that a target cannot use */
};

/* Whether the CUDA runtime links the image's relocatable code when a program starts on a GPU. */
enum analyse_need { NEED_NO, NEED_YES, NEED_UNKNOWN };

struct analyse_target {
	struct decided is;              /* of the code that counts */
	char kernels[KERNELS_TEXT];     /* names of some that the target cannot use */
	size_t verdicts[VERDICT_COUNT]; /* containers */
	size_t reasons[REASON_COUNT];   /* of the `cannot` verdicts */
	/* For each reason the first driver that is new enough; zeros: its age is not why */
	struct jw_driver needs[REASON_COUNT];
	/* Containers with Tile IR that the driver compiles; of VERDICT_UNKNOWN */
	size_t tile, unknown;
	uint32_t kind;       /* of an entry of the latter, or of one that the driver does not know */
	size_t jit_modules;  /* distinct pairs of payload and option string */
	uint64_t jit_bytes;  /* decompressed */
	size_t link_modules; /* the same for the inputs of run-time linking, needed or not */
	uint64_t link_bytes;
	uint64_t loose_bytes; /* the part of jit_bytes outside registered sections */
	size_t unreadable;    /* modules that cannot be decompressed; in neither count */
	enum analyse_need link_needed;
};

/* The first driver that is new enough for all of it; zeros: its age is not why. */
struct jw_driver analyse_needs(const struct analyse_target *target);

enum plan_state {
	PLAN_COLD,     /* no entry that a driver uses in the live cache */
	PLAN_WARM,     /* its entry exists */
	PLAN_LEFT_OUT, /* outside the registered sections of a library with more than 32 MB of such PTX,
					  without --all */
	PLAN_REFUSED,  /* the driver has refused it before (pack/ledger.h) */
	PLAN_RESTORED, /* cold, and an earlier result would take its place: of a dry run */
	PLAN_OVER_BUDGET, /* cold, and excluded by a budget of this run (prime/budget.h) */
};

/* One module for one architecture: each distinct (payload, options, form, architecture) once in an
 * image, and then once in the plan. */
struct plan_module {
	uint32_t target;                            /* index in the question's and the plan's targets */
	uint64_t container_offset, container_bytes; /* in the image */
	uint64_t entry_offset;                      /* of the PTX that the driver will take */
	uint64_t payload_bytes;
	enum devcode_role role;
	enum cache_key_form form;
	bool superseded;    /* a text in a program's data, whose kernels another text has for a newer
						   target */
	uint64_t key;       /* the entry's name; 0 if the profile has no stamp */
	uint64_t key_bytes; /* length of the key */
	uint64_t identity;  /* hash of payload and option string; 0 if there are keys */
	struct plan_features
		features; /* of the PTX: inputs of the cost model (docs/internals/estimates.md) */

	/* What the plan adds: */
	uint32_t file; /* index in plan.files: the first file with it */
	enum plan_state state;
	enum cache_damage damage; /* of the existing entry */
	/* A start may do without it: it is in no registered section of its library, which loads it when
	 * it is needed, or most containers of the library have code that runs as it is; or it is a
	 * package's loose file. */
	bool on_demand;
	bool restored;  /* it was cold, and an earlier result takes its place (prime/planning.h) */
	bool keyed;     /* a key of the request's `next_key`, or of its cache, names it */
	double cost_ms; /* predicted wall time on one core of this machine */
	uint64_t entry_bytes;  /* the bytes of its entry that count against the cache's limit; predicted
							  unless warm */
	uint64_t memory_bytes; /* predicted peak memory of the compile, doubled for admission; the
							  driver's context comes on top */
};

/* Those with the same name may be the same: module_find. */
static inline uint64_t module_name(const struct plan_module *module)
{
	return module->key ? module->key : module->identity;
}
/* The one of `modules` which the driver compiles once with `like`, or NULL. `known`: their places
 * by name, of the same target. */
struct plan_module *module_find(struct plan_module *modules, const struct set *known,
								const struct plan_module *like);

/* The number of entries of one kind and target. */
struct analyse_count {
	uint32_t kind;
	struct jw_target target;
	size_t entries;
	uint64_t stored_bytes; /* compressed, as they are in the file */
};

/* An image, read from its file or known from the inventory. Valid during the call that hands it
 * over. */
struct analyse_image {
	const char *path, *member;
	bool library;                         /* ELF or PE, rather than a loose file */
	enum loading loading;                 /* of what is registered in it */
	bool keyed;                           /* as in plan_module */
	const struct analyse_target *targets; /* as many as requested */
	const struct plan_module *modules;
	size_t module_count;

	/* Of one that is read from its file: */
	const struct devcode_image *image;
	bool asked;                         /* with the question's driver */
	uint32_t releases;                  /* and with these of gpu_releases, a bit for each */
	const struct analyse_count *counts; /* by kind, target */
	size_t count_count;
	uint64_t ptx_bytes; /* of all PTX entries, decompressed */
	/* The CUDA version of its CUDA runtime (12040), which is in the library itself unless
	 * image->runtime_cuda is set; 0: none, or unknown. */
	uint32_t runtime_cuda;
	const struct jw_piece *pieces; /* if the question asks for them */
	size_t piece_count;
};

struct analyse_sink {
	void *context;
	/* If the question asks for releases, again for those with which the image is another. */
	int (*image)(struct jw_error *err, void *context, const struct analyse_image *image);
	void (*trouble)(void *context, const char *path, const char *member,
					const struct jw_error *why);
	struct jw_cancel cancel; /* polled often */
};

/* Reads one path. A file that cannot be read is a trouble; -1: the sink's, too many targets, or
 * JW_ERR_INTERRUPTED. */
int analyse_path(struct jw_error *err, const char *path, const struct analyse_question *question,
				 const struct analyse_sink *sink);
