/* The main job: has the driver compile in advance the modules that it would compile at an
 * application's first start. Earlier results of this machine come from the store, results of other
 * drivers of its CUDA minor version are carried over, and new results are stored.
 *
 * Threads: in a process, one call of jw_prime at a time per cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/carry.h>
#include <jitwarm/compiler.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/nvrtc.h>
#include <jitwarm/pack.h>
#include <jitwarm/recording.h>
#include <jitwarm/startup.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

/* The part of the work for one GPU architecture. */
struct jw_prime_gpu {
	struct jw_target target;
	size_t cold, restored;       /* as in jw_prime_plan */
	struct jw_forecast forecast; /* its `prime` assumes that this GPU has the workers to itself */
};

/* The first step: the work, as known before compiling. */
struct jw_prime_plan {
	struct jw_prime_gpu *gpus; /* one for each architecture of this machine */
	size_t gpu_count;
	size_t images;         /* files and members of archives with device code that were read */
	size_t sources_failed; /* the number of CUDA C sources that were not compiled, for each
							  architecture */
	size_t modules;        /* modules that the driver would compile for these GPUs: warm, cold,
							  over_budget, unused, and with dry_run restored */
	size_t warm;           /* the part of `modules` that is already in the cache */
	size_t cold;
	size_t restored; /* cold modules that are not compiled, since an earlier result takes their
						place: now warm, or with dry_run neither warm nor cold */
	size_t damaged;  /* cold modules with a damaged entry, which is replaced */
	size_t refused;  /* modules that the driver has refused before, which are not tried again */
	struct jw_unplanned unplanned;
	size_t hopeless;     /* GPU architectures on which a program fails (jw_check_failing) */
	size_t link;         /* cold modules that are inputs of run-time linking */
	size_t left_out;     /* modules outside the registered sections that --all would include */
	uint64_t cold_bytes; /* the size of the cold modules' PTX */
	struct jw_forecast forecast; /* the time and cost of compiling the cold modules */
	char why[1024]; /* why modules are cold, in one line: "8 modules: never primed; 2 modules: the
					   driver has changed from … to …"; "" if none is cold */
	/* With a recording: */
	size_t recorded;               /* its modules that come from files */
	size_t recorded_missing;       /* those of them whose files are not in the paths */
	size_t recorded_texts;         /* its modules whose PTX is in the recording */
	size_t recorded_unfiled;       /* its modules that are in no file and whose PTX it lacks */
	struct jw_cache_outlook cache; /* the cache before the run */
	uint64_t limit_bytes;          /* the limit of the cache */
	uint64_t used_bytes;           /* the size of its entries, including those of other programs */
	uint64_t warm_bytes;           /* the size of the warm modules' entries in it */
	size_t used;                   /* cold modules that commands of jw_record had compiled here */
	size_t unused;              /* cold modules that `used_only` leaves out; not counted in cold */
	size_t over_budget;         /* cold modules that a budget leaves out; not counted in cold */
	uint64_t over_budget_bytes; /* their predicted bytes in the cache */
	double over_budget_seconds; /* their predicted time on one core */
	bool too_much; /* more than the cache can hold: compiles nothing (jw_prime_compiled.stopped) */
};

/* The phases of a run. A phase without work is skipped. */
enum jw_prime_phase {
	JW_PRIME_COMPILING,
	JW_PRIME_CARRYING, /* adapting results of other drivers: done and total count these */
	JW_PRIME_KEEPING,  /* storing new results; reported once, at the start, with all of them done */
};

struct jw_prime_progress {
	enum jw_prime_phase phase;
	size_t done, total; /* modules; total is fixed for the whole phase */
	size_t failed;
	/* jw_prime_plan.used, and those of them that are done; they come first. */
	size_t used, used_done;
	uint64_t done_bytes, total_bytes; /* bytes of PTX */
	/* Predicted time of compiling, for a progress bar. done_weight_ms begins at 0, includes the
	 * elapsed part of running compiles, and never decreases. */
	double done_weight_ms, total_weight_ms;
	double seconds_left; /* predicted from the run so far; 0 if unknown */
	/* A file being worked on, never NULL. Valid only during the call, so copy what you need
	 * later. */
	const char *current;
};

/* The second step: earlier results. A failure here does not fail the run: modules that cannot be
 * reused are compiled. */
struct jw_prime_reuse {
	bool store; /* the store is used (see jw_prime_reuse_options.no_store) */
	/* The entries restored from it; in a dry run, those that would be. */
	struct jw_store_refilled refilled;
	struct jw_error not_refilled; /* why the store was skipped; JW_OK if it was not */
	/* The entries that the packs of jw_prime_reuse_options.folder gave, and what became of the
	 * folder, also in the fourth step. */
	struct jw_store_refilled from_folder;
	struct jw_store_traffic folder;
	/* NULL if the cache lacked nothing, or carrying over failed: */
	struct jw_carry_result *carried;
	struct jw_error not_carried;
};

/* A CUDA C source among the paths, compiled by NVRTC for one architecture. */
struct jw_prime_source {
	const char *path;             /* NULL if no source was compiled, since no NVRTC was found */
	const struct jw_nvrtc *nvrtc; /* NULL if `path` is; `made`, too */
	const struct jw_nvrtc_result *made;
	struct jw_error failed; /* JW_OK if its PTX is primed like a file's */
};

struct jw_prime_failure {
	char *path, *member; /* member NULL for a file */
	uint64_t offset;     /* the place of the container in the file */
	struct jw_target target;
	char *reason; /* one line */
	char *log;    /* the driver's log; "" if it wrote none */
};

/* The third step: compiling. */
struct jw_prime_compiled {
	size_t compiled; /* modules compiled here, and in the cache now */
	size_t failed;
	size_t refused; /* those of the failed modules that the driver refused because of their content;
					   this is remembered */
	size_t unchanged; /* modules that the driver loaded without leaving an entry, since there was
						 nothing to compile */
	size_t misjudged; /* compiled modules with other names than predicted */
	size_t met;       /* modules that another run inserted in the meantime */
	/* Inserted entries that were gone at the end of the run; they also count as undone. */
	size_t lost;
	/* Modules that were not compiled because the run was interrupted or had to stop. */
	size_t undone;
	uint64_t added_bytes; /* the growth of the cache, without entries that replaced others */
	bool repaired;        /* the cache's index was unsound, or lacked rows (plan.cache) */
	size_t evicted; /* the oldest entries of others, evicted to stay within the cache's limit */
	double seconds; /* the wall time of compiling */
	double compile_seconds;     /* the sum of the modules' times in their workers */
	double longest_seconds;     /* the longest of these times */
	double compile_cpu_seconds; /* compile_seconds in processor time, which is less on a busy
								   machine */
	bool interrupted;
	bool out_of_time;        /* the time budget ended before the work was done */
	struct jw_error stopped; /* why the run had to stop early (the cache or the disk is full, no
								worker stays alive), or did not begin (JW_ERR_UNSUPPORTED: more than
								the cache can hold); JW_OK if it ended normally */
	bool opaque; /* the form of the driver's cache is unknown, so the driver's own entries were
					counted */
	uint64_t peak_worker_bytes;
	struct jw_prime_failure *failures;
	size_t failure_count;
	char inexact[1024]; /* one line on how the code of this ptxas differs from the driver's own; ""
						   if it does not */
};

/* The fourth step: storing. A failure here does not fail the run. */
struct jw_prime_kept {
	size_t kept; /* entries that are new in the store */
	struct jw_error not_kept;
	/* Why jw_prime_keep_options.run was not remembered, although requested. */
	struct jw_error not_remembered;
	/* The pack of jw_prime_keep_options.pack, if written; else NULL. */
	struct jw_export_result *pack;
	struct jw_error not_packed; /* why the pack was not written, although requested */
};

struct jw_prime_result {
	enum jw_verdict verdict; /* about all modules before the run, whatever the store has of them */
	struct jw_prime_plan plan;
	struct jw_prime_reuse reuse;
	struct jw_prime_compiled compile;
	struct jw_prime_kept keep;
	/* Entries of the driver that uses the cache (of any driver for another machine's cache) that
	 * were evicted, in the second step for carrying over and in the third. They were warm and are
	 * cold now. */
	size_t evicted_in_use;
	/* One line each, about files that could not be read; the last `assumptions` of them are about
	 * modules that were left out, and how others are assumed to be loaded. */
	char **notes;
	size_t note_count, assumptions;
	size_t troubles; /* the number of notes about files that could not be read */
};

/* The modules to compile. */
struct jw_prime_plan_options {
	/* Files; directories, which are searched as by jw_find; CUDA C sources (*.cu), which `nvrtc`
	 * compiles first, for each GPU architecture. */
	const char *const *paths;
	size_t path_count;
	/* In place of paths, the files of this search, which knows their packages; its notes are the
	 * caller's. NULL for the paths. */
	const struct jw_found *found;
	/* The files, of these, whose modules are tried even if the driver has refused them before, or
	 * they lie below a package's tests folder. */
	const char *const *retried;
	size_t retried_count;
	bool everything; /* include modules outside the registered sections */
	bool used_only;  /* only modules that commands of jw_record had compiled here */
	/* Only its modules, and its texts; NULL for all modules. */
	const struct jw_recording *recording;
	/* For the sources among the paths: `where`, `options` and `name` as in the program. The other
	 * members come from the system. NULL stands for zeros. */
	const struct jw_nvrtc_options *nvrtc;
	uint64_t budget_bytes; /* the most bytes of warm and new modules in the cache; 0 for the cache's
							  limit */
	uint64_t budget_ms;    /* the wall time after which no module begins; 0 for no limit */
};

struct jw_prime_reuse_options {
	/* Does not use the store. It is never used for a named directory (jw_system_options.cache_dir),
	 * or for a directory of this run only. */
	bool no_store;
	/* Also takes entries from the packs in this folder before compiling, and afterwards puts a pack
	 * with the compiled ones there. Not for another machine. JW_ERR_NOT_FOUND if it is required and
	 * missing; whatever else fails in it is a line. */
	struct jw_store_folder folder;
};

struct jw_prime_compile_options {
	unsigned jobs;             /* the number of workers; 0 for as many as cores */
	uint64_t max_memory_bytes; /* for all workers together; 0 for three quarters of the available
								  memory */
	bool low_priority;
	/* The time after which a module counts as hung; 0 for forty times the prediction, at least ten
	 * minutes. */
	uint64_t module_timeout_ms;
	/* Compiles with this program (a ptxas) instead of the driver. NULL to use the driver,
	 * or, for another machine (jw_system.elsewhere), the ptxas of its driver's version. */
	const char *ptxas;
	/* Fetches the ptxas for another machine if it is missing.
	 * NULL to fetch nothing. */
	const struct jw_compiler_fetch_options *fetch;
};

/* The output in addition to the cache and the store. */
struct jw_prime_keep_options {
	/* The state that jw_run_compare saw before this run: remembered at its end if nothing was left
	 * (jw_run_left_nothing). NULL for none. */
	const struct jw_run_state *run;
	/* Writes a pack of the system's cache at the end of the run: `output`, and how it is made and
	 * signed. The other members come from the system. NULL for no pack. */
	const struct jw_export_options *pack;
};

struct jw_prime_options {
	struct jw_prime_plan_options plan;
	struct jw_prime_reuse_options reuse;
	struct jw_prime_compile_options compile;
	struct jw_prime_keep_options keep;
	bool dry_run; /* only report which modules would be restored, carried over and compiled */
	struct jw_cancel cancel;
	void *context; /* passed to the functions below */
	/* Called with a result that has plan and reuse; false stops the run before compiling. All
	 * callbacks may be NULL. */
	bool (*planned)(void *context, const struct jw_prime_result *result);
	void (*progress)(void *context, const struct jw_prime_progress *progress);
	void (*message)(void *context, const char *line);
	/* Called for each source when it is compiled. If NULL, failures are in the notes. */
	void (*source)(void *context, const struct jw_prime_source *source);
};

/* Primes the live cache of `system` for its GPUs, with workers that `system->worker` starts.
 * Returns 0 if the run ended, with the outcome in *ret_result; the reason of an early end is in
 * jw_prime_compiled.stopped. The caller frees the result with jw_result_free. If the run is
 * interrupted or killed, the cache is sound, and the next run continues from there.
 *
 * Fails if the run could not begin. JW_ERR_USAGE: `system` names no worker (and this is not a dry
 * run), the caller is a worker, the options contradict each other, or there are more than 32 GPU
 * architectures. JW_ERR_NOT_FOUND: there is no GPU; with `used_only`, no run has noted a module.
 * JW_ERR_UNSUPPORTED: the driver does not write its cache, does not read it, or stores nothing
 * (CUDA_CACHE_MAXSIZE=0); the index is of another version. JW_ERR_LIMIT: more files or modules than
 * a plan may have. JW_ERR_IO: a folder of the run, or the cache, cannot be written. JW_ERR_BUSY:
 * the lock is held while an unsound index is repaired. JW_ERR_INTERRUPTED: cancelled while files
 * were read. Otherwise an error of jw_compiler_fetch or jw_key_check, or a compiler is
 * missing. */
int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result);
