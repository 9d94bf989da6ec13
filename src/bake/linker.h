/* What links: the driver, in a worker that stays until the end, or for another machine NVIDIA's
 * nvJitLink, in a worker for each link. */
#pragma once

#include <jitwarm/compiler.h>
#include <jitwarm/system.h>

#include "base/cancel.h"
#include "driver/driver_session.h"
#include "driver/run_folder.h"

/* The driver may take two minutes to start (work/run.h); a link takes 6 ms for each MB
 * (docs/internals/estimates.md). */
enum { LINKER_MAX = 64, LINKER_LIMIT_S = 300 };

struct linker_library {
	char *path;
	uint32_t cuda; /* 1000 * major + 10 * minor */
};

struct driver_session;

/* {0} with the name that the user gave, or NULL, is valid. */
struct linker {
	/* Of the driver's worker */
	struct run_folder folder;
	struct driver_session *driver;
	char *cache_dir;
	struct jw_cancel cancel;
	/* Those at hand */
	const char *named;
	uint32_t most;                                 /* the driver's version; 0: not named */
	const struct jw_compiler_fetch_options *fetch; /* NULL: nothing is fetched */
	bool looked;
	struct linker_library items[LINKER_MAX]; /* the oldest first */
	size_t count;
	uint32_t used;       /* the newest version that has linked */
	struct jw_error why; /* why the first one that cannot be used is not */
};

/* Whether what the user named leads to a library: JW_ERR_NOT_FOUND. */
int linker_named(struct jw_error *err, const char *name);
/* Looks for them once: the named one alone; else those of the environment, of toolkits, and fetched
 * ones. Asks each for its version. -1: the named one is of no use, or JW_ERR_INTERRUPTED */
int linker_search(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const struct jw_cancel *cancel);
/* Where none at hand is of a version from `least` to `most`, fetches the first if that is asked
 * for, and looks again. */
int linker_fetch(struct jw_error *err, struct linker *linker, uint32_t least, uint32_t most,
				 const struct jw_system *system, const struct jw_cancel *cancel);
void linker_free(struct linker *linker);

/* The folder of this run for what is linked. */
int linker_folder(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const char **ret_folder);
/* Has the driver do what `what` says, which lies in that folder. The answer's failures are the
 * driver's, as is JW_ERR_DRIVER. */
int linker_ask_driver(struct jw_error *err, struct linker *linker, const struct jw_system *system,
					  const struct jw_cancel *cancel, const struct protocol_job *what,
					  struct protocol_answer *ret_answer);
/* Has one of them do what `ask` says, in `folder`, and tell its version, if `ret_cuda` is not NULL.
 * The answer's failures are the linker's. */
int linker_ask(struct jw_error *err, const char *library, struct jw_target target,
			   const char *folder, struct driver_query ask, uint32_t *ret_cuda,
			   struct protocol_answer *ret_answer);
