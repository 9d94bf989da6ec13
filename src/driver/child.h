/* The supervisor's end of one worker process.
 *
 *     child_start(err, loop, &setup, &events, &child);
 *     ... events.hello once; events.answer for each job, in the order they were sent;
 *         events.end last of all ...
 *
 * Everything runs on the loop's thread. After events.end the child is freed. */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "driver/protocol.h"

struct child;

struct child_end {
	int exit_status;
	int signal;           /* 0, or the signal that killed it */
	bool killed;          /* killed by child_kill */
	bool stuck;           /* it was killed but has not ended: it is stuck in the kernel */
	const char *said;     /* the end of its stderr, "" if it is empty */
	const char *protocol; /* why its answers could not be read; "" if they could */
};

struct child_events {
	void *context;
	void (*hello)(void *context, struct child *child, const struct protocol_hello *hello);
	void (*answer)(void *context, struct child *child, const struct protocol_answer *answer);
	void (*end)(void *context, struct child *child, const struct child_end *how);
	/* If not NULL, called for each line instead of the first two. -1 if the line is malformed. */
	int (*line)(struct jw_error *err, void *context, const char *line, size_t size);
};

struct child_setup {
	const char *const *command; /* program and arguments, NULL at the end */
	const char *cache_dir;      /* the cache directory of the worker's driver; NULL for the one that
								   programs use */
	uint64_t cache_limit_bytes; /* the limit of that cache */
	bool low_priority;
	/* The file that names another compiler (driver/task.h); NULL for the driver's. */
	const char *task;
};

/* JW_ERR_USAGE if no command is given, and in a worker, which must not start workers: otherwise a
 * program would start itself endlessly. */
int child_check_command(struct jw_error *err, const char *const *command);
/* Starts a worker. There are no events if it cannot be started. */
int child_start(struct jw_error *err, uv_loop_t *loop, const struct child_setup *setup,
				const struct child_events *events, struct child **ret_child);
/* Sends a job. It is no failure that the worker has just ended: events.end follows. */
int child_send(struct jw_error *err, struct child *child, const struct protocol_job *job);
/* Sends a line in the same way, and takes ownership of it. */
int child_send_line(struct jw_error *err, struct child *child, struct buf *line);
/* The number of the process. */
int child_pid(const struct child *child);
/* Pauses the process, or lets it continue. */
void child_pause(struct child *child, bool paused);
/* Sends no more jobs; the worker ends after the jobs that it has. */
void child_finish(struct child *child);
/* Kills the process. events.end follows within two seconds, whatever the process does. */
void child_kill(struct child *child);
/* Ends a worker whose answers are malformed; events.end has the reason. */
void child_distrust(struct child *child, const char *why);
/* Describes a signal that ended a process: "ended by signal 11 (segmentation fault)"; returns
 * `text`. */
const char *child_signal_text(char *text, size_t size, int number);
/* Describes the end: "ended by signal 11 (segmentation fault)", "ended with status 3", "its answer
 * cannot be read: ..."; returns `text`. */
const char *child_end_text(char *text, size_t size, const struct child_end *how);
