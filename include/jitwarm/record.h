/* Runs a command, with an empty private cache or with the user's own, to see which modules it
 * compiles.
 *
 * Threads: one call of jw_record at a time in a process, whose signals it forwards. */
#ifndef JITWARM_RECORD_H
#define JITWARM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/recording.h>
#include <jitwarm/system.h>

struct jw_record_options {
	const char *const *command; /* program and arguments, NULL at the end */
	const char *const *paths; /* files to search for the modules; without paths, the files that its
								 processes mapped (Linux) */
	size_t path_count;
	bool output_to_stderr; /* the command's standard output goes to standard error */
	/* Polled only after the command has ended. Cancelled, the result holds what is known by then */
	struct jw_cancel cancel;
	/* The file for the recording. Its file names then have the same meaning on another machine
	 * (jw_recording_name_files). NULL: it is not written, and has this machine's paths. */
	const char *output;
	/* Result of jw_find for the user's names: searched like `paths`; its packages give the names.
	 * NULL: none. */
	const struct jw_found *found;
	/* The command uses the user's cache, and what it compiles stays there: its modules are the
	 * entries that are new afterwards, whichever program made them. If no program uses that
	 * cache (jw_cache_info.why_useless), the command has a private one nevertheless. */
	bool live;
	uint64_t limit_bytes; /* with `live`: the command's CUDA_CACHE_MAXSIZE; 0: unchanged */
};

struct jw_record_result {
	int exit_status; /* the command's; 128 + signal if a signal ended it, as in shells */
	double seconds;  /* the command's run time */
	/* Of compiling its modules, predicted; at most `seconds`. */
	double compile_seconds;
	bool live;                      /* it had the user's cache */
	struct jw_recording *recording; /* without jw_record_options.output, paths are as found, and
									   packages unknown */
	size_t found;                   /* of its modules, those found in files */
	size_t not_by_prime; /* of these, those that jw_prime of their files does not compile:
							left out without `everything`, or loaded with options */
	size_t texts;        /* modules whose PTX the recording holds */
	size_t added;        /* to the user's cache */
	size_t there;        /* in the user's cache already */
	size_t refused;      /* not inserted: damaged, or of an unknown form */
	uint64_t added_bytes;
	size_t evicted;           /* the oldest entries of the user's cache, evicted to make room */
	size_t evicted_in_use;    /* of these: entries of the system's driver, which are cold now */
	struct jw_error unwarmed; /* why nothing (more) was inserted, JW_OK if all was */
	/* A sign of modules that were compiled without the command's cache, for example if the command
	 * sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself. */
	bool compiler_seen; /* its processes had the driver's compiler loaded, which is loaded to
						   compile or to link; a short-lived process may be missed */
	/* A line on the newest NVRTC that its processes had loaded, if the driver does not read what it
	 * writes; else NULL. Of PTX that it refuses, the driver keeps nothing. */
	char *refused_ptx;
	char **notes; /* one line each: files that could not be read */
	size_t note_count;
	bool interrupted;            /* it was cancelled; part of the above was not done */
	struct jw_error not_written; /* why jw_record_options.output was not written, JW_OK if it was */
	/* Why its modules, or their files, could not be read; nothing is written then. JW_OK: all of
	 * the above is known. */
	struct jw_error unread;
};

/* Runs the command to its end and reads the entries that its processes left in the cache. While it
 * runs, Ctrl-C reaches the command as usual, and other signals that ask this process to end are
 * forwarded to it. Before and after, signals have their previous effect. -1: it could not be
 * started (JW_ERR_NOT_FOUND: no such program). The caller frees with jw_record_result_free. */
int jw_record(struct jw_error *err, const struct jw_system *system,
			  const struct jw_record_options *options, struct jw_record_result **ret_result);
void jw_record_result_free(struct jw_record_result *result);

#endif
