/* Shared by the parts of run/run.h: the run and its slots. run.c alone starts, feeds and ends
 * workers and looks at the clock. run_answers.c handles their answers and lost workers,
 * memory_budget.c memory. job_queue.c decides the next step of a worker, and run_report.c tells the
 * caller. run_remote.c speaks to a place of objects. */
#pragma once

#include <uv.h>

#include "base/pace.h"
#include "machine/driver_session.h"
#include "run/job_queue.h"
#include "run/memory_budget.h"
#include "run/remote.h"
#include "run/run.h"
#include "run/run_report.h"
#include "worker/child.h"

/* A second job waits in the worker's pipe, so that a short one costs no round trip. */
enum { RUN_DEPTH = 2 };

/* A job that was sent and not yet answered. */
struct run_job {
	size_t module, device; /* indices in the plan and in the pool */
};

struct slot {
	struct run *run;
	struct child *child; /* NULL: no process */
	char *cache_dir;
	struct run_job jobs[RUN_DEPTH]; /* oldest first */
	size_t job_count;
	uint64_t since_ns; /* start of its oldest job, of its own start, or of its end */
	bool greeted, hung;
	bool finishing;                      /* it was told that no more jobs come */
	bool yielded;                        /* ended to make room: its module is not to blame */
	uint64_t resident_bytes, peak_bytes; /* now, and the peak */
	double cpu_ms;    /* processor time at the last look; 0: did not compile then */
	uint64_t devices; /* a bit for each device of the pool that it has used */
	bool spent;       /* it reported that it cannot continue, and ends by itself */
	bool retired;     /* there is no room for so many workers: it is not replaced */
};

struct run {
	const struct run_setup *setup;
	struct jw_prime_compiled *result;
	struct jw_forecast *forecast; /* of the plan */
	struct jw_error *err;         /* the caller's; `broken` says that it is set */
	bool broken, stopping, ended;
	uv_loop_t loop;
	uv_timer_t tick;
	uv_signal_t stop_signal; /* Ctrl-Z */
	struct job_queue queue;
	struct device_pool pool;
	struct insert_backlog later;
	struct remote remote;
	struct memory_budget memory;
	uint64_t looked_ns; /* the last check of memory */
	bool held_back;     /* some worker waits for room */
	bool on_battery;    /* all workers wait because of it */
	bool told_short;
	uint64_t last_ns; /* when the last worker ended, or an entry came that waits for the lock */
	struct slot *slots;
	unsigned threads, cores;    /* available to this process */
	unsigned alive;             /* slots with a child */
	unsigned unborn, fruitless; /* children in a row that ended outside a compile, and in one */
	char no_context[256];       /* why the last of them got no context, "" if it got one */
	uint64_t began_ns;
	uint64_t ticked_ns; /* the last tick of the clock */
	size_t done;
	uint64_t done_bytes;
	int64_t grown_bytes; /* of the cache, by inserted entries */
	double done_weight;
	struct pace pace;
	double start_ms;     /* start time of the last worker's driver; 0: none has started */
	double *free_ms;     /* scratch space for the workers */
	uint64_t guessed_ns; /* when the time left was computed */
	bool steady;         /* the run itself has said once how long it takes */
	struct jw_prime_progress progress;
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

/* ---- run_report.c */

/* Reports the run's progress. */
void run_report(struct run *run);
void run_message(struct run *run, const char *line);
void run_module_done(struct run *run, size_t index);
void run_module_failed(struct run *run, size_t index, const char *reason, const char *log);
/* Starts no further worker, and ends all. */
void run_stop(struct run *run);
/* A failure that ends the whole run: run->err holds it. The first one counts. */
void run_break_off(struct run *run);
void run_break_off_with(struct run *run, const struct jw_error *why);

/* ---- memory_budget.c */

/* The predicted memory of the compile. */
uint64_t run_job_bytes(const struct run *run, const struct run_job *job);
/* Whether memory has room for this job beside the others. A module alone is always admitted. */
bool run_has_room(const struct run *run, const struct slot *slot, const struct run_job *job);
/* The GPU memory that must stay free when this worker has a context there. */
uint64_t run_gpu_spare(const struct run *run, const struct slot *slot, size_t device);
/* Called once a second. Looks at memory and returns a worker that has to end because memory runs
 * out, or NULL. Looks at the battery: a run in the background waits while the machine is on it. */
struct slot *run_look_at_machine(struct run *run);

/* ---- job_queue.c */

/* Workers that are compiling. */
unsigned run_busy_workers(const struct run *run);
double run_first_cost_ms(const struct run *run, const struct slot *slot);
/* Whether there is work for another worker. */
bool run_needs_worker(const struct run *run);
/* How many modules wait for workers; SIZE_MAX without a place of objects. */
size_t run_remote_ready(const struct run *run);
/* Decides the next step of this worker, and takes its module from the queue. */
struct run_order run_next_order(struct run *run, const struct slot *slot);
/* A job in the form for the worker. */
void run_describe_job(const struct run *run, const struct slot *slot, const struct run_job *job,
					  struct protocol_job *ret_job);

/* ---- run_answers.c */

/* The time after which a compile counts as hung. */
uint64_t run_limit_ns(const struct run *run, double cost_ms);
/* Each worker takes memory of the machine and of the GPU; an exclusive GPU accepts only one. False
 * if it is the only worker, which is not retired. */
bool run_retire(struct run *run, struct slot *slot, const char *why);
/* The device gives no context; the module is not to blame and goes back to the queue. */
void run_without_context(struct run *run, struct slot *slot, struct run_job job, const char *why);
/* Counts a worker that this module ended. Too many in a row end the run. */
void run_count_loss(struct run *run, size_t index);
/* When a worker has ended, blames the oldest of its jobs. */
void run_blame(struct run *run, struct slot *slot, const struct child_end *how);
/* Whether starting further workers is pointless; run->err then says why. `in_compile`: it was
 * compiling a module. */
bool run_is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
					 bool in_compile);

/* ---- run_answers.c */

/* False if this worker gets no work. */
bool run_take_hello(struct run *run, struct slot *slot, const struct protocol_hello *hello);
/* False for an answer to a job other than the one sent. */
bool run_take_answer(struct run *run, struct slot *slot, const struct protocol_answer *answer);
/* The entry of a module is in the live cache, or was refused (`why`). */
void run_inserted(void *context, size_t index, int64_t grown_bytes, const struct jw_error *why);

/* ---- run_remote.c */

/* With a place of objects: starts the worker that speaks to it. `wake` gives work to workers that
 * were held back, after its answers. */
int run_remote_open(struct run *run, void (*wake)(struct run *run));
void run_remote_free(struct run *run);
/* Looks at answers that are late, puts what was compiled, and claims modules for idle workers. */
void run_remote_step(struct run *run);
/* Whether the run has to wait for that worker, although no other one is left. */
bool run_remote_is_needed(const struct run *run);
/* Ends it. */
void run_remote_end(struct run *run);

/* ---- run_answers.c */

/* While the loop runs, Ctrl-Z stops the workers too. */
void run_catch_stop(struct run *run);
void run_release_stop(struct run *run);
