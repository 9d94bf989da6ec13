/* Finds the releases of a package that run on a GPU under a driver, from facts about their wheels:
 * those of the list in the program, and those that were learnt from an index. Needs no network, no
 * GPU and no driver. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/check.h>
#include <jitwarm/compiler.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/scan.h>
#include <jitwarm/target.h>

/* A start that compiles for less than this counts as compiling nothing: every TensorFlow 2 has some
 * modules of a few milliseconds. From JW_WHICH_NOTABLE_S on, people are told the time even of a
 * release whose code mostly runs without compiling. */
enum { JW_WHICH_NEGLIGIBLE_S = 1, JW_WHICH_NOTABLE_S = 60 };

/* The answer for a release on a GPU. */
enum jw_which_answer {
	JW_WHICH_RUNS,       /* most of its main library runs without compiling */
	JW_WHICH_COMPILES,   /* it runs after compiling most of its main library */
	JW_WHICH_CPU,        /* it has no code for GPUs: it runs on the CPU */
	JW_WHICH_UNFOLLOWED, /* it has no code for GPUs itself, and requires packages that jitwarm's
							list lacks */
	JW_WHICH_FAILS,      /* it has no code for the GPU, or the driver is too old */
	JW_WHICH_NO_PYTHON,  /* its wheels are for other versions of Python */
	JW_WHICH_NO_WHEEL,   /* it has no wheel for the platform */
	JW_WHICH_SOURCE,     /* the index has its source code alone */
	JW_WHICH_UNKNOWN,    /* jitwarm's list has no facts about its wheel for the platform */
};

struct jw_which_release {
	char *version;
	char *file; /* the wheel that was examined; "" if the release was not examined; NULL if there is
				   no wheel */
	bool inferred; /* not examined itself: the releases before and after it are alike; `file` is
					  the wheel of the newer one */
	/* A build that is outside of PyPI: whose build script says for which GPUs it has machine code,
	 * which is all that is known of it: “PyTorch”. NULL for what was examined. */
	const char *declared_by;
	char *options; /* what pip needs to find a build: "--index-url https://…/whl/cu126"; or NULL */
	enum jw_which_answer answer;
	/* If it fails: the first driver with which it does not, or zeros. If it runs: the first driver
	 * with which `newer` runs, too. */
	struct jw_driver needs;
	char *why; /* if it fails, or `without` is set: "no code for sm_61"; if it runs otherwise, the
				  condition; with NO_PYTHON, the versions that it is for; or NULL */
	char *library; /* the largest library that fails, or that of `without`; else NULL */
	char *lacks;   /* what it needs that has no code for the GPU: "cuBLAS 11"; or NULL */
	char *newer;   /* what needs a newer driver, if it runs: "FlashAttention 2, …"; or NULL */
	char *without; /* what does not run on the GPU, if it runs otherwise: "torch.linalg"; or NULL */
	size_t modules;          /* the most modules that a start compiles */
	struct jw_seconds start; /* the most time that it takes */
	struct jw_seconds whole; /* the time that all its modules take, whether programs load them or
								not */
	enum jw_loading loading; /* when a program compiles them */
	/* The requirement that fails, and so lets it fail: "nvidia-cudnn-cu12 9.1.0.70", or
	 * "torch>=2.8", of which each release that jitwarm knows fails; NULL if none is known. */
	char *pin;
	/* Requirements that pip needs beside the release, with a blank between two: “torch<2.8.0
	 * nvidia-cudnn-cu12<9.11.1.4”, because the newest releases, which pip takes otherwise, do not
	 * run with it on the GPU. NULL if all do. */
	char *beside;
	/* A required package without which the release runs, but that fails: "triton 3.3.1", and why;
	 * or NULL. */
	char *required, *required_why;
	/* The required package that has to be installed first, with the versions that are allowed,
	 * "torch>=2.10": pip takes a wheel without device code for this platform, or builds the release
	 * with the installed package (--no-build-isolation). NULL if there is none. */
	char *needs_first;
	/* The major versions of the CUDA runtime that it may be linked to, a bit for each; 0: all. */
	uint32_t needs_runtimes;
	/* If it has no device code of its own: the listed packages with device code that it requires,
	 * "torch>=2.8", and the names of the required packages that the list lacks. */
	char **uses, **unfollowed;
	size_t use_count, unfollowed_count;
};

struct jw_which {
	char *package; /* normalised */
	char *index;   /* "PyPI", or as jw_asked_index */
	char *date;    /* the date of the list */
	struct jw_target target;
	/* Newest first; those that were examined before the builds of the same version, and these by
	 * their CUDA version, newest first. */
	struct jw_which_release *releases;
	size_t count;
	/* The newest release that runs; else the newest that runs after compiling; else the newest that
	 * runs without some of it; or NULL. */
	const struct jw_which_release *advised;
	/* The oldest examined release, if jitwarm has not examined older ones: the number of these. If
	 * no release has been examined, NULL and the number of all. With `version`, NULL and 0. */
	const char *examined_from;
	size_t unexamined;
	/* Set by the caller that has asked for several GPUs (jw_which_common), or NULL. */
	const char *newest_on_all;
};

struct jw_asked;

struct jw_which_options {
	const char *package; /* as typed */
	/* That release alone, the newest examined build of “2.5.1” and all declared ones; NULL for
	 * all. */
	const char *version;
	const char *range;  /* the releases that agree with it alone: ">=2,<2.3"; NULL for all */
	const char *extras; /* the extras that are installed with it: "[and-cuda]"; NULL for none */
	uint32_t runtimes;  /* only builds for these major versions of CUDA, a bit for each; 0: all */
	struct jw_target target;
	struct jw_driver driver; /* zeros for the newest driver */
	const char *platform;    /* linux, linux-aarch64, windows */
	const char *python;      /* "3.11"; NULL for any */
	struct jw_speed speed;   /* the speed of the machine in question */
	/* jw_asked_index and jw_asked_text of the same package and platform; NULLs for the program's
	 * list. */
	const char *index, *list;
};

/* Answers the question; with no release if the list lacks the one of `version`. JW_ERR_NOT_FOUND if
 * the list lacks the package. JW_ERR_USAGE if it is not a package's name, or an unknown platform.
 * The caller frees the result with jw_result_free. */
int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which **ret_which);

/* Returns whether the time that a release compiles is long enough to tell people. */
bool jw_which_has_time(const struct jw_which_release *release);
/* Returns whether two releases have the same answer: times and numbers may differ. */
bool jw_which_same(const struct jw_which_release *a, const struct jw_which_release *b);
/* Returns the release to install for all GPUs of `count` answers, at least one, to questions that
 * differ only in the GPU. Releases are ranked as for `advised`, each by the GPU on which it runs
 * worst; the result belongs to that GPU's answer. NULL if no release runs on all. */
const struct jw_which_release *jw_which_common(const struct jw_which *answers, size_t count);

/* Returns the command of pip that installs a release of an answer (or of a copy of it), with what
 * pip needs beside it: “pip install torch==2.7.1+cu126 --index-url https://…/whl/cu126”. `install`
 * is the package as pip gets it, with extras. The caller frees it. */
char *jw_which_install(const struct jw_which *which, const struct jw_which_release *release,
					   const char *install);

/* ---- names of packages */

enum { JW_WHICH_NAME = 256 };

/* A package as people type it: NAME, NAME==VERSION, NAME[EXTRA]>=VERSION,<VERSION, or the name of a
 * wheel. */
struct jw_which_name {
	const char *typed; /* with versions and extras */
	/* As typed, without extras; or the package with the device code that an extra brings:
	 * jax-cuda12-plugin. */
	char name[JW_WHICH_NAME];
	char extras[JW_WHICH_NAME];      /* "[cuda12]", or "" */
	char install[2 * JW_WHICH_NAME]; /* what pip installs: the name as typed with its extras */
	const char *version;             /* of NAME==VERSION and of a wheel's name; else NULL */
	const char *range;               /* of NAME>=VERSION,<VERSION; else NULL */
	char versions[JW_WHICH_NAME];
	const char *const *with; /* the first release that needs an extra, and that extra; or NULL */
};
/* Reads one; it must not be copied. JW_ERR_USAGE if the text is none. */
int jw_which_name_read(struct jw_error *err, const char *text, struct jw_which_name *ret_name);
/* Returns what pip installs for a release, with the extra that it needs; the caller frees it. */
char *jw_which_install_name(const struct jw_which_name *name, const char *version);
/* Returns whether something is known of the package that a word names. */
bool jw_which_knows(const char *word);
/* Returns the packages that have the device code of a package, with a blank between two, or “|” if
 * one is enough; NULL if it has its own. */
const char *jw_which_sources(const char *package);
/* Returns the package that has a package's wheels for a platform, if its name differs; or NULL. */
const char *jw_which_name_on(const char *platform, const char *package);

/* Returns whether the program's list has a package of this name. */
bool jw_which_lists(const char *package);

/* Returns the next package of the program's list whose name differs only in the version of CUDA:
 * “cupy-cuda12x” for “cupy-cuda13x”; `at` is 0 at first. NULL after the last one. The caller frees
 * it. */
char *jw_which_sibling(const char *package, size_t *at);

/* Returns the package, of the program's list or with its code in one of them, whose name is nearest
 * to an unknown one; NULL if none is near. The caller frees it. */
char *jw_which_nearest(const char *package);

/* Returns the newest of these of which a release runs, by a question about the package; NULL if
 * there is none. The caller frees it. */
char *jw_which_running_sibling(const struct jw_which_options *asked, const char *package);

/* Returns this machine's platform, as indexes name it: linux, linux-aarch64 or windows. */
const char *jw_which_own_platform(void);

/* ---- the releases of a package index, examined as far as an answer needs it
 *
 *     jw_asked_open(...)           lists the releases, by pip
 *     jw_asked_plan(...)           counts the wheels that may be fetched, and their bytes
 *     jw_asked_examine(...)        fetches them, the newest first, then by bisection
 *     jw_which(... .list = ...)    answers
 *
 * A release is known if the program's list has a wheel of it with the SHA-256 in the index, or an
 * earlier jw_asked_examine has examined it. A release between two that are alike is inferred. */

struct jw_ask_options {
	const char *package, *platform; /* as in jw_which_options */
	const char *python;             /* "3.11"; NULL for the active environment's */
	const char *state_dir;          /* where facts are remembered; NULL to remember none */
	/* `fetch.context` is also passed to `fetches`, with each wheel's name, and to `lacks`, with
	 * the name of a wheel that stays unknown, and the reason. */
	struct jw_compiler_fetch_options fetch;
	void (*fetches)(void *context, const char *file);                /* may be NULL */
	void (*lacks)(void *context, const char *file, const char *why); /* may be NULL */
};
/* Asks the index which releases there are. JW_ERR_USAGE as for jw_which; else the reason. The
 * options are copied; the texts must outlive it. */
int jw_asked_open(struct jw_error *err, const struct jw_ask_options *options,
				  struct jw_asked **ret_asked);
/* Returns what the last jw_asked_examine for this package and platform has remembered, without
 * asking the index; NULL if there is nothing, or if the program's list has the package and is newer
 * or from another index. It has a text and an index, and examines nothing. */
struct jw_asked *jw_asked_kept(const struct jw_ask_options *options);
void jw_asked_close(struct jw_asked *asked); /* may be NULL */

/* Returns "PyPI", or "download.example/whl/cu126". */
const char *jw_asked_index(const struct jw_asked *asked);
/* Returns a list of wheels (which/wheel_list.h). */
const char *jw_asked_text(const struct jw_asked *asked);
struct jw_asked_plan {
	size_t lacking;      /* releases without known facts that have a wheel for the Python */
	size_t most;         /* the most wheels that may be fetched */
	uint64_t most_bytes; /* the size of the largest ones of that number; 0 if unknown */
};
/* Counts the wheels that jw_asked_examine may fetch to answer for these GPUs. Ignores `target`,
 * `index` and `list` of `options`. */
int jw_asked_plan(struct jw_error *err, struct jw_asked *asked,
				  const struct jw_which_options *options, const struct jw_target *targets,
				  size_t count, struct jw_asked_plan *ret_plan);
/* Examines the newest release and, unless it runs as it is, others by bisection, until the newest
 * one that does is known. `options` are those of the question; `index` and `list` are not used.
 */
int jw_asked_examine(struct jw_error *err, struct jw_asked *asked,
					 const struct jw_which_options *options);

/* ---- advice: all that an answer shows, decided before it is printed */

/* The most rows, unless all are requested. */
enum { JW_WHICH_ROWS = 8 };

/* Releases that follow each other with the same answer. */
struct jw_which_row {
	char *index;    /* "PyPI", or the label of builds: "cu126"; "" after the first row of one */
	char *versions; /* "2.7.1 – 1.0.1", or "2.7.0, as 2.7.1" */
	char *says;     /* "fail: no code for sm_61" */
	enum jw_which_answer answer;
	bool partly; /* it runs, but not all of it */
};

enum jw_which_note_kind {
	JW_WHICH_NOTE_NONE,
	JW_WHICH_NOTE_OTHER_CUDA,   /* a package that is built for another CUDA runs */
	JW_WHICH_NOTE_OTHER_NAME,   /* the package for this platform has another name */
	JW_WHICH_NOTE_WSL,          /* it runs in WSL 2 */
	JW_WHICH_NOTE_USES,         /* it has no device code of its own */
	JW_WHICH_NOTE_UNFOLLOWED,   /* what it requires was not followed */
	JW_WHICH_NOTE_UNEXAMINED,   /* older releases were not examined */
	JW_WHICH_NOTE_REQUIRED,     /* a package fails that pip also installs */
	JW_WHICH_NOTE_NEWER_DRIVER, /* some of it needs a newer driver */
	JW_WHICH_NOTE_BUILT,        /* pip compiles it for other versions of a package */
	JW_WHICH_NOTE_RENAMED,      /* newer releases have another name */
	JW_WHICH_NOTE_OTHERS,       /* other releases */
	JW_WHICH_NOTE_INDEX,        /* another index has other builds */
};
struct jw_which_note {
	enum jw_which_note_kind kind;
	char *text;    /* one line for people; before a command it ends with a blank */
	char *command; /* or NULL */
};

struct jw_which_question {
	const struct jw_which_name *name;
	struct jw_which_options options; /* without the package, which is the name's */
	const char *platform_title;      /* "Linux x86-64" */
	const char *command;         /* that answers for other packages: "jitwarm which --target t4" */
	const char *const *packages; /* all packages in question, as typed */
	size_t package_count;
	bool all;          /* a row for each release */
	bool asks;         /* the index was asked */
	bool python_typed; /* the Python was named, and is not only the active one */
	bool other_index;  /* pip uses another index than PyPI (PIP_INDEX_URL) */
};

struct jw_which_advice {
	void *owner; /* of all texts: the advice itself */
	struct jw_which *answer;
	const struct jw_which_release *release; /* that `install` installs; or NULL */
	char *verdict; /* the words before `install`, "Newest that runs: "; without it, why none runs */
	char *before;  /* the command to run before `install`; or NULL */
	char *install; /* or NULL */
	struct jw_which_note instead; /* if no release runs */
	struct jw_which_row *rows;
	size_t row_count, left_out; /* left_out: how many rows are only shown with `all` */
	struct jw_which_note *notes;
	size_t note_count;
	/* Nothing is known of the requested release; rows are those before and after it. */
	bool unknown;
};
/* Answers for a package on one GPU. JW_ERR_NOT_FOUND as jw_which. The caller frees it with
 * jw_result_free. */
int jw_which_advise(struct jw_error *err, const struct jw_which_question *question,
					struct jw_which_advice **ret_advice);

/* Set the error for a package that the list lacks, for one whose device code is in others, and for
 * a release of which nothing is known (`which` has none, or it is unknown). Return -1. */
int jw_which_refuse_package(struct jw_error *err, const struct jw_which_question *question);
int jw_which_refuse_for_sources(struct jw_error *err, const struct jw_which_question *question);
int jw_which_refuse_release(struct jw_error *err, const struct jw_which_question *question,
							const struct jw_which *which);

/* A package on all GPUs. */
struct jw_which_sum {
	const char *package;
	const struct jw_which_release *common;  /* jw_which_common */
	const struct jw_which_release *release; /* the newest of the index that runs; else `common` */
	char *why;                 /* why the newest does not run, or none does; "" if it does */
	struct jw_target fails_on; /* the first GPU on which the newest does not run */
};
/* Sums up at least one advice for a package, one for each GPU. `owner` gets the texts. */
void jw_which_sum_up(void *owner, const struct jw_which_advice *advices, size_t count,
					 struct jw_which_sum *ret_sum);
/* Returns the newest release of the index, or, if all are builds of another one, of that. */
const struct jw_which_release *jw_which_newest(const struct jw_which *which);

/* The release to install in place of one that fails. */
struct jw_cure {
	const char *package;
	bool listed;         /* false: jitwarm knows no release of the package, only an index does */
	const char *version; /* of the release that `which` advises; NULL if none is known */
	const char
		*install;    /* the command of pip that installs it (jw_which_install); NULL like version */
	bool unexamined; /* if none is known: jitwarm has not examined older releases */
};
/* Finds the release to install in place of a failing file, which `which` advises too. `question`
 * has GPU, driver and Python, and the file's package, normalised; NULL if the file is a wheel
 * ("torch-2.9.0-….whl", "torch-2.9.0-….whl: MEMBER"), whose name has package and platform;
 * otherwise there is no cure. `state_dir` has what an index has answered, or is NULL. False if
 * there is no cure. `result`, any result that jw_result_free frees, gets the cure's texts. */
bool jw_which_cure(const struct jw_which_options *question, const char *file, const char *state_dir,
				   void *result, struct jw_cure *ret_cure);

/* Finds for each failing file of a check the release of its package that runs, and sets what to do.
 */
void jw_which_cures(const char *state_dir, struct jw_check_result *result);
/* A jw_required_judge: wheels fail if torch, or a library of NVIDIA's, fails that they require. One
 * whose METADATA cannot be read requires nothing. */
jw_required_judge jw_which_required;

/* Finds the newest examined release before that of a wheel ("torch-2.9.0-….whl", with or without
 * its folder), for the wheel's platform, and any Python. Returns the answer that owns the release,
 * which the caller frees with jw_result_free; NULL if the list has no such release. */
struct jw_which *jw_which_before(const char *file, struct jw_target target,
								 const struct jw_driver *driver, const struct jw_speed *speed,
								 const struct jw_which_release **ret_release);

/* The packages that a requirements file, a pylock.toml or pip's report names. */
struct jw_which_names {
	char **items; /* the normalised name, with extras and versions as written: "jax[cuda12]>=0.4" */
	size_t count;
	size_t left_out; /* how many lines name no package: options, files, addresses, other lists */
	char **unread;   /* lines that cannot be read, in order: "requirements.txt:3" */
	size_t unread_count;
};
/* Reads the names from a file, or from "-", standard input, or /dev/fd/N. A line whose marker
 * leaves the package out on this platform, with this Python ("3.11"; NULL for 3.12), is passed
 * over. JW_ERR_FORMAT if the file is none of these, or names no package. The caller frees the
 * names with jw_result_free. */
int jw_which_read_names(struct jw_error *err, const char *path, const char *platform,
						const char *python, struct jw_which_names **ret_names);
