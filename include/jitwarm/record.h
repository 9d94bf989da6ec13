/* Running a command with an empty cache of its own, to see what it has compiled.
 *
 * Threads: one call of jw_record at a time in a process: it passes on the signals that the process
 * is sent. */
#ifndef JITWARM_RECORD_H
#define JITWARM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/recording.h>
#include <jitwarm/system.h>

JW_BEGIN_DECLS

struct jw_record_options {
	size_t size;                /* JW_RECORD_OPTIONS_INIT sets it (jitwarm/api.h) */
	const char *const *command; /* program and arguments, NULL at the end */
	const char *const *paths;   /* where to look for what it had compiled; none: in the files that
								   its processes mapped (Linux) */
	size_t path_count;
	bool output_to_stderr; /* what the command prints on standard output goes to standard error */
	/* Asked from the end of the command on; what is known when it is cancelled is the result. */
	struct jw_cancel cancel;
};
#define JW_RECORD_OPTIONS_INIT JW_INIT(jw_record_options)

struct jw_record_result {
	int exit_status; /* the command's; 128 + signal where one ended it, as shells have it */
	double seconds;  /* that it ran */
	struct jw_recording *recording; /* paths are as they were found, and packages unknown */
	size_t found;                   /* of its modules, those that are in files */
	size_t added;                   /* to the user's cache */
	size_t there;                   /* in the user's cache already */
	size_t refused;                 /* not put there: damaged, or of a form that is not known */
	uint64_t added_bytes;
	size_t evicted;           /* the oldest entries of the user's cache, which had to make room */
	struct jw_error unwarmed; /* why nothing (more) was put there, JW_OK where all was */
	char **notes;             /* one line each: files that could not be read */
	size_t note_count;
	bool interrupted; /* it was cancelled; not all of the above was done */
};

/* Runs the command to its end and reads what its processes left in the cache. While it runs Ctrl-C
 * reaches the command as ever, and what else asks this process to end is passed on to it; before
 * and after, signals do what they did before the call. -1: it could not be started
 * (JW_ERR_NOT_FOUND: there is no such program), or what it left cannot be read. The caller frees
 * with jw_record_result_free. */
int jw_record(struct jw_error *err, const struct jw_system *system,
			  const struct jw_record_options *options, struct jw_record_result **ret_result);
void jw_record_result_free(struct jw_record_result *result);

JW_END_DECLS

#endif
