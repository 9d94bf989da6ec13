/* The inside of run.c, for run_remote.c and the tests: the supervisor's five parts, and what lies
 * beside them. */
#pragma once

#include <uv.h>

#include "base/pace.h"
#include "driver/child.h"
#include "driver/driver_session.h"
#include "work/job_queue.h"
#include "work/memory_budget.h"
#include "work/remote.h"
#include "work/run.h"

struct run_loop {
	uv_loop_t uv;
	uv_timer_t tick;
	uv_signal_t stop_signal; /* Ctrl-Z */
	uint64_t began_ns;       /* the run */
	uint64_t ticked_ns;      /* the last tick of the clock */
	bool stopping;           /* no worker is started any more, and those that live are ended: */
	bool ended;
	bool broken; /* a failure ends the whole run: run->err says which */
};

/* A second job waits in the worker's pipe, so that a short one costs no round trip. */
enum { RUN_DEPTH = 2 };

/* A job that was sent and not yet answered. */
struct run_job {
	size_t module, device; /* indices in the plan and in the pool */
};

/* What a worker does. All changes stand in worker_event() (run.c). */
enum worker_state {
	WORKER_NONE,     /* no process */
	WORKER_STARTING, /* it has not greeted yet */
	WORKER_MUTE,     /* it was killed, since it did not greet in time */
	/* From here on it has greeted: */
	WORKER_READY,     /* compiles its jobs, or waits for some */
	WORKER_FINISHING, /* it was told that no more jobs come */
	WORKER_SPENT,     /* it reported that it cannot continue, and ends by itself */
	WORKER_HUNG,      /* it was killed, since its job or its end took too long */
	WORKER_YIELDING,  /* it was killed to make room: its module is not to blame */
};

struct slot {
	struct run *run;
	struct child *child; /* NULL: no process */
	char *cache_dir;
	enum worker_state state;
	bool retired;                   /* there is no room for so many workers: it is not replaced */
	struct run_job jobs[RUN_DEPTH]; /* oldest first */
	size_t job_count;
	uint64_t since_ns; /* start of its oldest job, of its own start, or of its end */
	uint64_t resident_bytes, peak_bytes; /* now, and the peak */
	double cpu_ms;    /* processor time at the last look; 0: did not compile then */
	uint64_t devices; /* a bit for each device of the pool that it has used */
};

struct run_workers {
	struct slot *slots; /* setup->workers of them */
	unsigned alive;     /* slots with a child */
	bool held_back;     /* some worker waits for room */
	struct device_pool pool;
	unsigned failed_starts,
		failed_compiles;     /* children in a row that ended outside a compile, and in one */
	char no_context[256];    /* why the last of them got no context, "" if it got one */
	double start_ms;         /* start time of the last worker's driver; 0: none has started */
	unsigned threads, cores; /* available to this process */
};

struct run_memory {
	struct memory_budget budget;
	uint64_t looked_ns; /* the last look at the machine */
	bool on_battery;    /* all workers wait because of it */
	bool told_short;
};

struct run_report {
	struct jw_prime_progress progress; /* its done_weight includes running compiles */
	double done_weight;
	int64_t grown_bytes; /* of the cache, by inserted entries */
	struct pace pace;
	uint64_t guessed_ns; /* when the time left was computed */
};

/* Compiled modules whose entries wait for the live cache's lock, which another process holds. Their
 * files lie in the run's folder, outside the workers' directories. */
struct late_entries {
	size_t *modules;
	size_t count;
	uint64_t tried_ns;   /* when the lock was last tried */
	uint64_t news_ns;    /* when one came or went, or the last worker ended */
	struct jw_error why; /* the reason of the last refusal */
};

struct run {
	const struct run_setup *setup;
	struct jw_prime_compiled *result;
	struct jw_forecast *forecast; /* of the plan */
	struct jw_error *err;         /* the caller's */
	struct run_loop loop;
	struct job_queue queue;
	struct run_workers workers;
	struct run_memory memory;
	struct run_report report;
	struct late_entries late;
	struct remote remote;
};

/* The next step of a worker. */
struct run_order {
	enum {
		ORDER_NOTHING,
		ORDER_FINISH,  /* end: nothing is left for it */
		ORDER_COMPILE, /* job */
		ORDER_MET,     /* skip: another run has compiled job.module */
		ORDER_CANNOT,  /* skip: job.module cannot be compiled, `why` */
	} what;
	struct run_job job;
	char why[256];
};

/* ---- run.c, for run_remote.c */

/* A failure that ends the whole run. The first one counts. */
void run_break_off(struct run *run, const struct jw_error *why);
/* Workers that are compiling. */
unsigned run_busy_workers(const struct run *run);
/* The entry of a module is in the live cache, or was refused (`why`). */
void run_inserted(struct run *run, size_t index, int64_t grown_bytes, const struct jw_error *why);
/* The lock was refused (`why`): the entry at `path` waits for it. */
int run_put_off(struct jw_error *err, struct run *run, size_t index, const char *path,
				const struct jw_error *why);
/* Gives work to workers that were held back, and starts new ones if there is room again. */
void run_wake_workers(struct run *run);

/* ---- run_remote.c. Without a shared folder, each does nothing. */

/* Starts the worker that reads and writes it. */
int run_remote_open(struct run *run);
void run_remote_free(struct run *run);
/* Looks at answers that are late, puts what was compiled, and claims modules for idle workers. */
void run_remote_step(struct run *run);
/* Whether the run has to wait for that worker, although no other one is left. */
bool run_remote_is_needed(const struct run *run);
/* Whether a worker may begin this module now. */
bool run_remote_allows(const struct run *run, size_t module);
/* How many modules wait for workers; SIZE_MAX without a shared folder. */
size_t run_remote_ready(const struct run *run);
/* Ends it. */
void run_remote_end(struct run *run);

/* ---- run.c's steps, for its tests */

/* Decides the next step of this worker, and takes its module from the queue. */
struct run_order run_next_order(struct run *run, const struct slot *slot);
/* Called once a second. Looks at memory and returns a worker that has to end because memory runs
 * out, or NULL. Looks at the battery: a run in the background waits while the machine is on it. */
struct slot *run_check_machine(struct run *run);
void run_module_failed(struct run *run, size_t index, const char *reason, const char *log);
/* The device gives no context; the module is not to blame and goes back to the queue. */
void run_without_context(struct run *run, struct slot *slot, struct run_job job, const char *why);
/* When a worker has ended, blames the oldest of its jobs. */
void run_blame(struct run *run, struct slot *slot, const struct child_end *how);
/* Whether starting further workers is pointless; run->err then says why. `in_compile`: it was
 * compiling a module. */
bool run_is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
					 bool in_compile);
/* False if this worker gets no work. */
bool run_take_hello(struct run *run, struct slot *slot, const struct protocol_hello *hello);
/* False for an answer to a job other than the one sent. */
bool run_take_answer(struct run *run, struct slot *slot, const struct protocol_answer *answer);
