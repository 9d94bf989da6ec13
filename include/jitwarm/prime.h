/* The main job: have the driver compile beforehand what it would compile at an application's first
 * start. What was compiled here before comes from the store, what other drivers have compiled is
 * carried over, and what is compiled now is kept in the store.
 *
 * Threads: any number of threads may call these functions at the same time. Of one cache, one call
 * of jw_prime at a time in a process. Callbacks come on the thread that called. */
#ifndef JITWARM_PRIME_H
#define JITWARM_PRIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/carry.h>
#include <jitwarm/error.h>
#include <jitwarm/recording.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>

JW_BEGIN_DECLS

/* What stands to be done, once it is known and before anything is compiled. */
struct jw_prime_plan {
	size_t modules; /* that the driver would compile for these GPUs: warm, cold and over_budget */
	size_t warm;    /* of them, already in the cache */
	size_t carried; /* of the warm ones, those that an older driver's compiler has made (carry.h) */
	size_t anew; /* with recompile_carried: of the cold ones, those; they are in the cache still */
	size_t cold;
	size_t cannot;          /* containers with PTX for a GPU which its driver cannot use */
	size_t hopeless;        /* GPU architectures for which there is nothing but those */
	size_t link;            /* of the cold ones, inputs of run-time linking */
	size_t left_out;        /* modules outside the registered sections that --all would include */
	uint64_t cold_bytes;    /* their PTX */
	uint64_t cache_bytes;   /* predicted growth of the cache */
	double cpu_seconds;     /* predicted, one core */
	double longest_seconds; /* of it, the longest module: no number of workers is faster */
	unsigned workers;
	char why[1024]; /* a line on why what is cold is so: "8 modules: never primed; 2 modules: the
					   driver has changed from … to …"; "" where nothing is */
	size_t recorded, recorded_missing; /* with a recording: its modules that come from files, and
										  those of them that are not in the paths */
	double wall_seconds;               /* predicted, with so many workers */
	uint64_t limit_bytes, used_bytes;  /* of the cache, and by what is in it, of whatever program */
	uint64_t warm_bytes;               /* what the warm ones take in it */
	size_t over_budget;                /* modules that are cold and left by a budget; not in cold */
	uint64_t over_budget_bytes;        /* predicted, as are */
	double over_budget_seconds;        /* on one core */
	bool too_much; /* more than the cache keeps: nothing is compiled, jw_prime_result.stopped */
};

/* A run carries over, compiles and keeps, as far as there is anything to do. */
enum jw_prime_phase {
	JW_PRIME_COMPILING,
	JW_PRIME_CARRYING, /* results of other drivers: done and total count these */
	JW_PRIME_KEEPING,  /* what was compiled goes into the store: told once, at the start */
};

struct jw_prime_progress {
	enum jw_prime_phase phase;
	size_t done, total; /* modules; total is fixed for the whole phase */
	size_t failed;
	uint64_t done_bytes, total_bytes; /* of PTX */
	/* predicted milliseconds, with what of those is past that are being compiled: what a bar should
	   show. May fall by a module that has to be tried once more */
	double done_weight, total_weight;
	const char *current; /* a file being worked on, never NULL */
};

/* What was compiled before, and what the store keeps of this run. None of the failures is one of
 * the run: what does not come so is compiled. */
struct jw_prime_reuse {
	bool store;                        /* the store is used: see jw_prime_options.no_store */
	struct jw_store_refilled refilled; /* what came back from it, or would */
	struct jw_error not_refilled;      /* why it was passed over, JW_OK where it was not */
	struct jw_carry_result *carried;   /* NULL: the cache lacked nothing, or it failed: */
	struct jw_error not_carried;
	size_t kept; /* entries that are new in the store */
	struct jw_error not_kept;
};

struct jw_prime_failure {
	char *path, *member; /* member NULL for a file */
	uint64_t offset;     /* of the container */
	struct jw_target target;
	char *reason; /* one line */
	char *log;    /* the driver's own, "" where it wrote none */
};

struct jw_prime_result {
	struct jw_prime_plan plan;
	struct jw_prime_reuse reuse;
	size_t compiled; /* and in the cache now */
	size_t split;    /* of them, compiled over several threads (jw_prime_options.split) */
	size_t failed;
	size_t unchanged; /* the driver loaded them without leaving an entry: nothing to compile after
						 all */
	size_t
		misjudged; /* of the compiled ones, those whose entries have other names than predicted */
	size_t met;    /* that another run has put into the cache meanwhile */
	size_t lost;   /* put into the cache and gone again at the end of the run; undone, too */
	size_t undone; /* left when the run was interrupted or had to stop */
	uint64_t added_bytes;
	size_t evicted;         /* the oldest entries of others, to keep to the cache's limit */
	double seconds;         /* of compiling, wall time */
	double compile_seconds; /* the sum of what each module took in its worker, and the longest of
							   them */
	double longest_seconds;
	double compile_cpu_seconds; /* the same sum in processor time: less where others were busy */
	bool interrupted;
	bool out_of_time;        /* the budget of time was over before its work was done */
	struct jw_error stopped; /* why the run had to stop before its end (the cache is full, the disk
								is, no worker stays alive), or was not begun (JW_ERR_UNSUPPORTED:
								more than the cache keeps); JW_OK where it had not */
	bool opaque; /* the driver's cache is not of the known form: its own entries were counted
					instead */
	uint64_t peak_worker_bytes;
	struct jw_prime_failure *failures;
	size_t failure_count;
	char **notes; /* one line each: what was left out, files that could not be read */
	size_t note_count;
	size_t troubles; /* of the notes, those about files that could not be read */
	size_t images;   /* files and members of archives with device code that were read */
};

struct jw_prime_options {
	size_t size;              /* JW_PRIME_OPTIONS_INIT sets it (jitwarm/api.h) */
	const char *const *paths; /* files; directories, which are searched as jw_find does */
	size_t path_count;
	bool everything;                      /* what lies outside the registered sections too */
	const struct jw_recording *recording; /* just the modules that it names; NULL: all */
	/* Only containers at these offsets in their files or members; none: all. */
	const uint64_t *only_offsets;
	size_t only_count;
	unsigned jobs;             /* workers; 0: as many as cores */
	uint64_t max_memory_bytes; /* for all workers; 0: three quarters of what is available */
	uint64_t budget_bytes;     /* what all of it may take in the cache, warm or new; 0: its limit */
	uint64_t budget_ms;        /* wall time of compiling: no module is begun later; 0: no end */
	bool low_priority;
	bool dry_run; /* only say what would come back, be carried over and be compiled */
	/* Neither take from the store nor keep there. So it is in any case with JITWARM_STORE=0, for a
	 * directory that was named (jw_system_options.cache_dir) and for one of this run alone. */
	bool no_store;
	bool carry_over; /* what older drivers' compilers have made, too, as in jw_carry_options; not
						with recompile_carried */
	bool recompile_carried; /* what older drivers' compilers have made counts as cold: the driver's
							   own takes its place, module by module */
	/* A module that takes longer hangs; 0: forty times what is predicted, at least ten minutes. */
	uint64_t module_timeout_ms;
	const char *trace; /* a file for Chrome trace events, NULL for none; whole JSON at any moment */
	const char *ptxas; /* compile with this program (jw_compiler_find) in the driver's place; NULL:
						  the driver */
	/* Of the last modules, where cores would idle, long ones are compiled over several threads, by
	 * a ptxas that can (jw_compiler_can_split): the results are as good, and not the driver's own.
	 */
	bool split;
	struct jw_cancel cancel;
	void *context; /* of the functions below */
	/* All may be NULL. `planned`: the result as far as it is known then, plan and reuse; it returns
	 * false to stop before anything is compiled. */
	bool (*planned)(void *context, const struct jw_prime_result *result);
	void (*progress)(void *context, const struct jw_prime_progress *progress);
	void (*message)(void *context, const char *line);
};
#define JW_PRIME_OPTIONS_INIT JW_INIT(jw_prime_options)

/* Primes the live cache of `system` for its GPUs, by workers that `system->worker` starts;
 * JW_ERR_USAGE where it names none (but for a dry run), and in a worker. 0: the run came to an end,
 * *ret_result tells which; -1: it could not be begun (no GPU, out of memory; JW_ERR_UNSUPPORTED: a
 * driver that keeps nothing, or reads nothing of it; JW_ERR_INTERRUPTED: it was cancelled while
 * files were read). The caller frees with jw_prime_result_free. Interrupted or killed at any
 * moment, the cache is sound and the next run goes on from there. */
int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result);
void jw_prime_result_free(struct jw_prime_result *result);

JW_END_DECLS

#endif
