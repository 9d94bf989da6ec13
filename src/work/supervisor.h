/* The inside of run.c, for its tests: the supervisor's five parts, and the state beside them. */
#pragma once

#include <uv.h>

#include <jitwarm/prime.h>

#include "base/pace.h"
#include "driver/child.h"
#include "driver/driver_session.h"
#include "work/job_queue.h"
#include "work/memory_budget.h"

struct run_setup; /* work/run.h */

struct run_loop {
	uv_loop_t uv;
	uv_timer_t tick;
	uv_signal_t stop_signal; /* Ctrl-Z */
	uint64_t began_ns;       /* when the run began */
	uint64_t ticked_ns;      /* when the clock last ticked */
	bool stopping;           /* no worker is started any more, and living ones will be killed */
	bool ended;              /* they have been killed (end_event) */
	bool broken;             /* a failure ends the whole run; run->err is the reason */
};

/* The jobs of a worker. The second job waits in the worker's pipe, so that a short one costs no
 * round trip. */
enum { RUN_DEPTH = 2 };

/* A job that was sent and not yet answered. */
struct run_job {
	size_t module, device; /* indices in the plan and in the pool */
};

/* The state of a worker. All changes are in worker_event() (run.c). */
enum worker_state {
	WORKER_NONE,     /* no process */
	WORKER_STARTING, /* it has not sent its hello yet */
	WORKER_MUTE,     /* it was killed because its hello took too long */
	/* From here on it has sent its hello: */
	WORKER_READY,     /* it compiles its jobs, or waits for some */
	WORKER_FINISHING, /* the supervisor has told it that no more jobs come */
	WORKER_SPENT,     /* it reported that it cannot continue, and ends by itself */
	WORKER_HUNG,      /* it was killed because its job or its end took too long */
	WORKER_YIELDING,  /* it was killed to make room, so its module is not to blame */
};

struct slot {
	struct run *run;
	struct child *child; /* NULL without a process */
	char *cache_dir;
	enum worker_state state;
	bool retired; /* there is no room for so many workers, so it is not replaced */
	struct run_job jobs[RUN_DEPTH]; /* oldest first */
	size_t job_count;
	uint64_t since_ns; /* start of its oldest job, of its own start, or of its end */
	uint64_t resident_bytes, peak_bytes; /* current and peak */
	double cpu_ms;    /* processor time at the last check; 0 if it did not compile then */
	uint64_t devices; /* a bit for each device of the pool that it has used */
};

struct run_workers {
	struct slot *slots; /* an array of setup->workers */
	unsigned alive;     /* the number of slots with a child */
	bool held_back;     /* some worker waits for room */
	struct device_pool pool;
	/* Children in a row that ended outside a compile, and in one. */
	unsigned failed_starts, failed_compiles;
	char no_context[256]; /* why the last of them got no context; "" if it got one */
	double start_ms; /* how long the last worker's driver took to start; 0 if none has started */
	unsigned threads, cores; /* available to this process */
};

struct run_memory {
	struct memory_budget budget;
	uint64_t checked_ns; /* when the machine was last checked */
	bool on_battery;     /* all workers wait because the machine runs on its battery */
	bool reported_short;
};

struct run_report {
	struct jw_prime_progress progress; /* its done_weight_ms includes running compiles */
	double done_weight_ms;             /* of finished modules alone */
	int64_t grown_bytes;               /* the growth of the cache by inserted entries */
	struct pace pace;
	uint64_t guessed_ns; /* when the time left was computed */
};

/* Compiled modules whose entries wait for the live cache's lock, which another process holds. Their
 * files are in the run's folder, outside the workers' directories. */
struct late_entries {
	size_t *modules;
	size_t count;
	uint64_t tried_ns;   /* when the lock was last tried */
	uint64_t news_ns;    /* when an entry came or went, or the last worker ended */
	struct jw_error why; /* why the lock was last refused */
};

struct run {
	const struct run_setup *setup;
	struct jw_prime_result *outcome; /* the caller's, of which `result` is a part */
	struct jw_prime_compiled *result;
	size_t failure_capacity;
	struct jw_forecast *forecast; /* the plan's */
	struct jw_error *err;         /* the caller's */
	struct run_loop loop;
	struct job_queue queue;
	struct run_workers workers;
	struct run_memory memory;
	struct run_report report;
	struct late_entries late;
};

/* The next step of a worker. */
struct run_order {
	enum {
		ORDER_NOTHING,
		ORDER_FINISH,  /* nothing is left: end the worker */
		ORDER_COMPILE, /* compile `job` */
		ORDER_MET,     /* another run has compiled job.module: skip it */
		ORDER_CANNOT,  /* job.module cannot be compiled (`why`): skip it */
	} what;
	struct run_job job;
	char why[256];
};

/* ---- run.c's steps, for its tests */

/* Ends the whole run with a failure; the first one counts. */
void run_break_off(struct run *run, const struct jw_error *why);
/* Records that the entry of a module is in the live cache, or was refused (`why`). */
void run_inserted(struct run *run, size_t index, int64_t grown_bytes, const struct jw_error *why);
/* Decides the next step of this worker, and takes its module from the queue. */
struct run_order run_next_order(struct run *run, const struct slot *slot);
/* Returns the GPU memory that must stay free when this worker has a context on a device of the
 * pool, because another worker has one there. */
uint64_t run_gpu_spare_bytes(const struct run *run, const struct slot *slot, size_t device);
/* Called at each tick; acts once a second. Checks memory, and returns a worker that has to end
 * because memory runs out, or NULL. Checks the battery: a run in the background waits while the
 * machine runs on it. */
struct slot *run_check_machine(struct run *run);
/* Records that a module has failed for good, with the compiler's log. */
void run_module_failed(struct run *run, size_t index, const char *reason, const char *log);
/* Records that the device gives no context; the module is not to blame and goes back to the
 * queue. */
void run_without_context(struct run *run, struct slot *slot, struct run_job job, const char *why);
/* Blames the oldest of a worker's jobs when the worker has ended. */
void run_blame(struct run *run, struct slot *slot, const struct child_end *how);
/* Returns whether starting further workers is pointless; run->err is then the reason. With
 * `in_compile`, the worker was compiling a module. */
bool run_is_hopeless(struct run *run, struct slot *slot, const struct child_end *how,
					 bool in_compile);
/* Takes a worker's hello; false if this worker gets no work. */
bool run_take_hello(struct run *run, struct slot *slot, const struct protocol_hello *hello);
/* Takes a worker's answer; false if it is for another job than the one sent. */
bool run_take_answer(struct run *run, struct slot *slot, const struct protocol_answer *answer);
