/* Running a command with an empty private cache, to see which modules it compiles.
 *
 * Threads: one call of jw_record at a time in a process: it passes on signals that the process
 * receives. */
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
	const char *const *paths; /* files to search for the modules; without paths, the files that its
								 processes mapped (Linux) */
	size_t path_count;
	bool output_to_stderr; /* the command's standard output goes to standard error */
	/* Asked only after the command has ended. On cancelling, the result holds what is known by
	 * then. */
	struct jw_cancel cancel;
	/* The recording is written to this file, and names its files so that the names mean the same on
	 * another machine (jw_recording_name_files); NULL: it is not written, and has paths of here. */
	const char *output;
	/* What jw_find found for the user's names: searched like `paths`, and its packages give the
	 * names. NULL: nothing. */
	const struct jw_found *found;
};
#define JW_RECORD_OPTIONS_INIT JW_INIT(jw_record_options)

struct jw_record_result {
	int exit_status; /* the command's; 128 + signal if a signal ended it, as in shells */
	double seconds;  /* that it ran */
	struct jw_recording *recording; /* without jw_record_options.output, paths are as they were
									   found, and packages unknown */
	size_t found;                   /* of its modules, those that are in files */
	size_t added;                   /* to the user's cache */
	size_t there;                   /* in the user's cache already */
	size_t refused;                 /* not put there: damaged, or of a form that is not known */
	uint64_t added_bytes;
	size_t evicted;           /* the oldest entries of the user's cache, evicted to make room */
	struct jw_error unwarmed; /* why nothing (more) was inserted, JW_OK if all was */
	/* Signs of modules that were compiled without the command's cache, as where the command sets
	 * CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself. */
	bool compiler_seen;  /* its processes had the driver's compiler loaded, which is loaded to
							compile  or to link; a short-lived process may be missed */
	size_t elsewhere;    /* entries that appeared meanwhile in the account's own caches, by whatever
							program */
	char *elsewhere_dir; /* one of those caches, NULL where none appeared */
	char **notes;        /* one line each: files that could not be read */
	size_t note_count;
	bool interrupted;            /* it was cancelled; not all of the above was done */
	struct jw_error not_written; /* why there is no jw_record_options.output, JW_OK if there is */
};

/* Runs the command to its end and reads what its processes left in the cache. While it runs, Ctrl-C
 * reaches the command as usual, and other signals that ask this process to end are passed on to it.
 * Before and after, signals have the same effect as before the call. -1: it could not be started
 * (JW_ERR_NOT_FOUND: no such program), or its cache cannot be read. The caller frees with
 * jw_record_result_free. */
int jw_record(struct jw_error *err, const struct jw_system *system,
			  const struct jw_record_options *options, struct jw_record_result **ret_result);
void jw_record_result_free(struct jw_record_result *result);

JW_END_DECLS

#endif
