/* Which releases of a package run on a GPU under a driver, from facts about their wheels: those of
 * the list in the program, and those that were learnt from an index. Needs no network, no GPU and
 * no driver.
 *
 * Threads: any number of threads may call these functions at the same time. */
#ifndef JITWARM_WHICH_H
#define JITWARM_WHICH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/target.h>

/* The answer for a release on a GPU. The newest release with one of the first two is installed. */
enum jw_which_answer {
	JW_WHICH_RUNS,      /* as it is, or after compiling less than a second's worth */
	JW_WHICH_PART,      /* but a program that uses some of its code fails */
	JW_WHICH_COMPILES,  /* after compiling */
	JW_WHICH_CPU,       /* it has no code for GPUs: it runs on the CPU */
	JW_WHICH_FAILS,     /* no code for the GPU, or a driver that is too old */
	JW_WHICH_NO_PYTHON, /* its wheels are for other versions of Python */
	JW_WHICH_NO_WHEEL,  /* it has no wheel for the platform */
	JW_WHICH_UNKNOWN,   /* jitwarm's list has nothing of its wheel for the platform */
};

struct jw_which_release {
	char *version;
	char *file;    /* the wheel that was looked at; "" if the release was not; NULL: no wheel */
	bool inferred; /* not looked at itself: the releases beside it are alike */
	enum jw_which_answer answer;
	struct jw_driver needs; /* the first driver with which that does not fail, or zeros */
	char *why;      /* if it or a part fails: "no code for sm_61", "needs driver 580 (CUDA 13.0) or
					   newer"; with NO_PYTHON: the versions that it is for; else NULL */
	char *library;  /* the largest one that fails, or of which a part does; else NULL */
	size_t modules; /* that a start compiles, at most */
	struct jw_seconds start; /* that it takes, at most */
	enum jw_loading loading; /* when a program compiles them */
	char *pin; /* a package that it requires in one version which fails: "nvidia-cudnn-cu12
				  9.1.0.70"; NULL: none is known. Of a release that runs otherwise, a part fails. */
};

struct jw_which {
	char *package; /* normalised */
	char *date;    /* of the list */
	struct jw_target target;
	struct jw_which_release *releases; /* newest first */
	size_t count;
	const char *newest; /* the newest that runs as it is, or of which a part fails, or NULL */
	const char *newest_compiles; /* a newer one that runs after compiling, or NULL */
};

struct jw_which_options {
	const char *package; /* as typed */
	struct jw_target target;
	struct jw_driver driver; /* zeros: the newest */
	const char *platform;    /* linux, linux-aarch64, windows */
	const char *python;      /* "3.11"; NULL: any */
	struct jw_speed speed;   /* of the machine in question */
};

/* JW_ERR_NOT_FOUND: the list lacks the package. JW_ERR_USAGE: not a package's name, or an unknown
 * platform. The caller frees the result. */
int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which *ret_which);
void jw_which_free(struct jw_which *which);

/* This machine's, as indexes name it: linux, linux-aarch64 or windows. */
const char *jw_which_own_platform(void);

/* The release to install in place of one that fails. */
struct jw_cure {
	char *package;
	char *version; /* the newest that runs, if it can be without compiling; NULL: none does */
};
/* `package`: of the file that fails, normalised; NULL: the file is a wheel ("torch-2.9.0-….whl",
 * "torch-2.9.0-….whl: MEMBER"), whose name has package and platform, else there is no cure.
 * `python` NULL: any. False: the list lacks the package. The caller frees. */
bool jw_which_cure(const char *package, const char *file, struct jw_target target,
				   const struct jw_driver *driver, const char *python, struct jw_cure *ret_cure);
void jw_cure_free(struct jw_cure *cure);

/* The packages that a requirements file, a pylock.toml or pip's report names, normalised. */
struct jw_which_names {
	char **items;
	size_t count;
};
/* JW_ERR_FORMAT: the file is none of these, or names no package. */
int jw_which_read_names(struct jw_error *err, const char *path, struct jw_which_names *ret_names);
void jw_which_names_free(struct jw_which_names *names);

#endif
