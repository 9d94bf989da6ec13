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

#include <jitwarm/compiler.h>
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

struct jw_asked;

struct jw_which_options {
	const char *package; /* as typed */
	struct jw_target target;
	struct jw_driver driver;      /* zeros: the newest */
	const char *platform;         /* linux, linux-aarch64, windows */
	const char *python;           /* "3.11"; NULL: any */
	struct jw_speed speed;        /* of the machine in question */
	const struct jw_asked *asked; /* the same package's and platform's; NULL: the program's list */
};

/* JW_ERR_NOT_FOUND: the list lacks the package. JW_ERR_USAGE: not a package's name, or an unknown
 * platform. The caller frees the result. */
int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which *ret_which);
void jw_which_free(struct jw_which *which);

/* This machine's, as indexes name it: linux, linux-aarch64 or windows. */
const char *jw_which_own_platform(void);

/* ---- the releases of a package index, looked at as far as an answer needs it
 *
 *     jw_asked_open(...)           what releases there are: pip tells
 *     jw_asked_plan(...)           how many wheels will be fetched, and how large they are
 *     jw_asked_look(...)           fetches them, newest first, then by bisection
 *     jw_which(... .asked = ...)   the answer
 *
 * A release is known if the program's list has a wheel of it with the SHA-256 that the index tells,
 * or an earlier jw_asked_look has seen it. One between two that are alike is inferred. */

struct jw_ask_options {
	const char *package, *platform;         /* as in jw_which_options */
	const char *python;                     /* "3.11"; NULL: the active environment's */
	const char *state_dir;                  /* where facts are remembered; NULL: nowhere */
	struct jw_compiler_fetch_options fetch; /* `context` also gets each wheel's name: */
	void (*fetches)(void *context, const char *file); /* may be NULL */
};
/* JW_ERR_USAGE as jw_which; else pip's words. The options are copied; the texts must outlive it. */
int jw_asked_open(struct jw_error *err, const struct jw_ask_options *options,
				  struct jw_asked **ret_asked);
void jw_asked_close(struct jw_asked *asked); /* may be NULL */

const char *jw_asked_index(const struct jw_asked *asked); /* "PyPI", "download.example/whl/cu126" */
const char *jw_asked_text(const struct jw_asked *asked);  /* a list of wheels (plan/wheel_list.h) */
struct jw_asked_plan {
	size_t lacking;      /* releases of which nothing is known, that have a wheel for the Python */
	size_t most;         /* wheels that may be fetched */
	uint64_t most_bytes; /* of the largest ones of that number; 0: not known */
};
/* For these GPUs; the options' target and `asked` are not read. */
int jw_asked_plan(struct jw_error *err, struct jw_asked *asked,
				  const struct jw_which_options *options, const struct jw_target *targets,
				  size_t count, struct jw_asked_plan *ret_plan);
/* Looks at the newest release and, unless it runs as it is, by bisection at others, until the
 * newest one that does is known. `options`: of the question; its `asked` is not read. */
int jw_asked_look(struct jw_error *err, struct jw_asked *asked,
				  const struct jw_which_options *options);

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
