/* The linker: the driver, in a worker that lives until the end, or, for another machine, NVIDIA's
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
	const char *path;
	uint32_t cuda; /* 1000 * major + 10 * minor */
};

struct driver_session;

/* Valid with an owner, and the name that the user gave, or NULL. */
struct linker {
	void *owner; /* of the paths (base/arena.h) */
	/* The driver's worker: */
	struct run_folder folder;
	struct driver_session *driver;
	struct jw_cancel cancel;
	/* The libraries that were found: */
	const char *named;
	uint32_t most; /* the newest allowed version, which is the driver's; 0 if no driver is named */
	const struct jw_compiler_fetch_options *fetch; /* NULL to fetch nothing */
	bool looked;
	struct linker_library items[LINKER_MAX]; /* the oldest first */
	size_t count;
	uint32_t used;       /* the newest version that has linked */
	struct jw_error why; /* why the first unusable library cannot be used */
};

/* JW_ERR_NOT_FOUND if the name that the user gave leads to no library. */
int linker_named(struct jw_error *err, const char *name);
/* Searches once: only for the named one; otherwise in the environment, toolkits, and fetched
 * compilers. Asks each for its version. -1 if the named one cannot be used, or
 * JW_ERR_INTERRUPTED. */
int linker_search(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const struct jw_cancel *cancel);
/* Fetches a linker, if the caller allows it, when none has a version from `least` to `most`, and
 * searches again. */
int linker_fetch(struct jw_error *err, struct linker *linker, uint32_t least, uint32_t most,
				 const struct jw_system *system, const struct jw_cancel *cancel);
void linker_free(struct linker *linker);

/* Makes the run's folder for the results of links. */
int linker_folder(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const char **ret_folder);
/* Has the driver do the job `what`, whose files are in that folder. Failures in the answer are the
 * driver's, as is JW_ERR_DRIVER. */
int linker_ask_driver(struct jw_error *err, struct linker *linker, const struct jw_system *system,
					  const struct jw_cancel *cancel, const struct protocol_job *what,
					  struct protocol_answer *ret_answer);
/* Has one of the libraries do the job of `ask`, in `folder`; `ret_cuda`, if not NULL, gets its
 * version. Failures in the answer are the linker's. */
int linker_ask(struct jw_error *err, const char *library, struct jw_target target,
			   const char *folder, struct driver_query ask, uint32_t *ret_cuda,
			   struct protocol_answer *ret_answer);
