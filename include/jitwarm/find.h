/* Finds the files that may hold device code, from the names that a user types.
 *
 * A name is a path (file, directory, wheel; a file of a kind that holds no device code, such as a
 * script, is refused with JW_ERR_USAGE), else a package of the active environment, with or without
 * extras and versions ("jax[cuda12]", "xgboost>=1.3,<2"). For root, an installed package has
 * priority over a path without a separator in a folder that another account can change. Without
 * names it is the whole environment: VIRTUAL_ENV, else CONDA_PREFIX, else the one in which the
 * program of this process is installed, else that of the python3 or python on PATH, which is found
 * without running it. Reads environment variables; writes only to the state directory.
 *
 * Threads: during jw_use_environment, no other call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>

struct jw_found_file {
	char *path;          /* as given, or absolute; the file exists */
	const char *package; /* the package that installed it, and its version; NULL if unknown */
	const char *version;
	uint64_t size_bytes; /* the size when the file was found */
	int64_t mtime_ns;   /* the last write when the file was found, in nanoseconds since 1970, UTC */
	int64_t changed_ns; /* the last change of content or attributes, which programs cannot set; 0 if
						   the system does not report it */
	uint64_t device, inode;
};

/* A line for messages; UTF-8 if the names in it are. */
struct jw_found_note {
	char *text;
	bool is_trouble; /* about an unresolved name or something unreadable; otherwise only information
					  */
	enum jw_code code;
};

struct jw_found {
	struct jw_found_file *files; /* each file once (device and inode), in the order of the names */
	size_t file_count;
	struct jw_found_note *notes;
	size_t note_count, trouble_count;
	char *environment; /* the environment that was searched; NULL if the user named only paths */
	bool whole;        /* the whole environment, since the user gave no name */
	struct find_package *packages; /* private */
	size_t package_count;
};

struct jw_find_options {
	const char *const *names;
	size_t name_count;           /* 0, and no packages, for the whole environment */
	const char *const *packages; /* names of packages, even if there are files with these names */
	size_t package_count;
	struct jw_cancel cancel;
	bool sources; /* take CUDA C sources (*.cu), too, which jw_prime compiles */
	bool owners;  /* name the packages of named files, too, as of those in named folders */
};

/* Finds the files that the names mean. -1 only if no name was found (with the first one's reason),
 * if there is no environment to fall back on, or JW_ERR_INTERRUPTED. The caller frees
 * *ret_found with jw_result_free. */
int jw_find(struct jw_error *err, const struct jw_find_options *options,
			struct jw_found **ret_found);

/* Resolves a name that jw_find takes as a path; *ret_path is NULL if the name means something else.
 * The caller frees it with jw_text_free. */
int jw_find_path(struct jw_error *err, const char *name, char **ret_path);

/* Returns whether a package in which no device code was found was built for the CPU: its name
 * promises device code, or its version denies it (2.9.0+cpu). If `version` is NULL, `name` is a
 * wheel's file name. */
bool jw_is_cpu_build(const char *name, const char *version);
/* Returns the package to install instead of a CPU build: “faiss-gpu” for faiss-cpu; NULL if
 * unknown. */
const char *jw_with_gpu_code(const char *name, const char *version);

/* Makes `dir`, a virtual or conda environment, the active one for all calls of this process, and
 * for the processes that it starts. Sets VIRTUAL_ENV or CONDA_PREFIX and unsets the other one, so
 * no other thread may read the environment meanwhile. JW_ERR_NOT_FOUND if there is no such
 * directory; JW_ERR_USAGE if it has neither an environment's mark nor packages. */
int jw_use_environment(struct jw_error *err, const char *dir);

/* Finds the version of the active environment's Python, "3.11", by the names of its folders. False
 * if there is no environment, or its folders do not name the version (Windows). */
enum { JW_PYTHON_VERSION = 8 };
bool jw_environment_python(char version[JW_PYTHON_VERSION]);

/* Finds the file of an NVRTC (libnvrtc.so.12, nvrtc64_120_0.dll). `name` is a file, a folder that
 * is or contains a toolkit, or a package that includes or requires one; NULL for the environment's,
 * else that of CUDA_HOME, CUDA_PATH or /usr/local/cuda. JW_ERR_NOT_FOUND. The caller frees
 * *ret_path with jw_text_free. */
int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path);
