/* Runs a command, with an empty private cache or with the user's own, to see which modules it
 * compiles.
 *
 * Threads: one call of jw_record at a time in a process, whose signals it forwards. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/recording.h>
#include <jitwarm/system.h>

struct jw_record_options {
	const char *const *command; /* program and arguments, NULL at the end */
	const char *const *paths; /* files to search for the modules; if there are none, the files that
								 its processes mapped (Linux) */
	size_t path_count;
	bool output_to_stderr; /* the command's standard output goes to standard error */
	/* Polled only after the command has ended. If cancelled, the result has the facts so far. */
	struct jw_cancel cancel;
	/* The file for the recording; its file names then have the same meaning on another machine
	 * (jw_recording_name_files). If NULL, it is not written, and has this machine's paths. */
	const char *output;
	/* The result of jw_find for the user's names: searched like `paths`; its packages give the
	 * names. NULL for none. */
	const struct jw_found *found;
	/* The command uses the user's cache, and the modules that it compiles stay there: they are the
	 * entries that are new afterwards, whichever program made them. If no program uses that cache
	 * (jw_cache_info.why_useless), the command has a private one nevertheless. */
	bool live;
	/* With `live`: the command's CUDA_CACHE_MAXSIZE; 0 to leave it unchanged. */
	uint64_t limit_bytes;
};

struct jw_record_result {
	int exit_status; /* the command's status; 128 + signal if a signal ended it, as in shells */
	double seconds;  /* the command's run time */
	/* The predicted time of compiling its modules; at most `seconds`. */
	double compile_seconds;
	bool live; /* the command had the user's cache */
	/* Without jw_record_options.output, paths are as found, and packages unknown. */
	struct jw_recording *recording;
	size_t found;        /* modules of the recording that were found in files */
	size_t not_by_prime; /* the part of `found` that jw_prime of these files does not compile: left
							out without `everything`, or loaded with options */
	size_t texts;        /* modules whose PTX is in the recording */
	size_t added;        /* entries added to the user's cache */
	size_t there;        /* entries that the user's cache already had */
	size_t refused;      /* entries that were not inserted: damaged, or of an unknown form */
	uint64_t added_bytes;
	size_t evicted;        /* the oldest entries of the user's cache, evicted to make room */
	size_t evicted_in_use; /* those of the evicted entries that belong to the system's driver, and
							  are cold now */
	struct jw_error unwarmed; /* why nothing (more) was inserted; JW_OK if everything was */
	/* A sign of modules that were compiled without the command's cache, for example because the
	 * command sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself. */
	bool compiler_seen; /* its processes had the driver's compiler loaded, which is loaded to
						   compile or to link; a short-lived process may be missed */
	/* A line on the newest NVRTC that its processes had loaded, if the driver does not read that
	 * NVRTC's PTX; else NULL. The driver stores nothing for PTX that it refuses. */
	char *refused_ptx;
	char **searched; /* the files that were searched: those of the options, or those that its
						processes had mapped */
	size_t searched_count;
	char **notes; /* one line each: files that could not be read */
	size_t note_count;
	bool interrupted;            /* the call was cancelled, and part of the above was not done */
	struct jw_error not_written; /* why jw_record_options.output was not written; JW_OK if it was */
	/* Why its modules, or their files, could not be read; then nothing is written. JW_OK if all of
	 * the above is known. */
	struct jw_error unread;
};

/* Runs the command to its end and reads the entries that its processes left in the cache. While it
 * runs, Ctrl-C reaches the command as usual, and other signals that ask this process to end are
 * forwarded to it. Before and after, signals have their previous effect. -1 if it could not be
 * started (JW_ERR_NOT_FOUND: no such program). The caller frees the result with
 * jw_result_free. */
int jw_record(struct jw_error *err, const struct jw_system *system,
			  const struct jw_record_options *options, struct jw_record_result **ret_result);
