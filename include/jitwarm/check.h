/* Whether what the driver would compile is in its cache already. Nothing is compiled, and no GPU
 * wakes up. */
#ifndef JITWARM_CHECK_H
#define JITWARM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>
#include <jitwarm/system.h>

struct jw_check_options {
	const char *const *paths; /* files and directories, as jw_find gives them */
	size_t path_count;
	const struct jw_system *system;  /* whose GPUs, driver, cache and state directory it is about */
	const struct jw_target *targets; /* GPUs instead of the system's */
	size_t target_count;             /* 0: those of the system */
	const char *driver; /* a driver that is not here ("550.163.01", "12.2"); NULL: the system's */
	bool everything;    /* what lies outside the registered sections of libraries too */
};

/* Of one GPU architecture. */
struct jw_check_gpu {
	struct jw_target target;
	size_t modules; /* that the driver would compile; warm + cold */
	size_t warm, cold;
	size_t cannot;   /* containers with PTX for the GPU which its driver cannot use */
	size_t link;     /* of the cold ones, inputs of a link that is needed */
	size_t left_out; /* modules that everything would include */
	uint64_t cold_bytes, cache_bytes; /* PTX of the cold ones; what they will take in the cache */
	double seconds, longest_seconds;  /* of compiling them, one core; the dearest of them */
};

/* A library with cold modules. */
struct jw_check_file {
	char *path, *member; /* member NULL for a file */
	size_t warm, cold;
	double seconds;
};

struct jw_check_result {
	struct jw_check_gpu *gpus;
	size_t gpu_count;
	struct jw_check_file *files; /* those with modules to compile, the dearest first */
	size_t file_count;
	struct jw_driver driver;
	bool names_known; /* false: the names of this driver's entries are not known, so that all counts
						 as cold */
	char **notes;     /* one line each: what was left out, files that could not be read */
	size_t note_count, troubles;
};

/* -1: no GPU to ask about (JW_ERR_NOT_FOUND), a driver that makes no sense, out of memory. The
 * caller frees with jw_check_result_free. */
int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result);
void jw_check_result_free(struct jw_check_result *result);

#endif
