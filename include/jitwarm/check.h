/* Whether the modules that the driver would compile are already in its cache. Compiles nothing, and
 * wakes up no GPU.
 *
 * Threads: any number of threads may call these functions at the same time. A jw_system may serve
 * several of them. */
#ifndef JITWARM_CHECK_H
#define JITWARM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/recording.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

struct jw_check_options {
	const char *const *paths; /* files; directories, which are searched as by jw_find */
	size_t path_count;
	const struct jw_system *system;  /* the machine: its GPUs, driver, cache and state directory */
	const struct jw_target *targets; /* GPUs instead of the system's */
	size_t target_count;             /* 0: those of the system */
	bool store;                      /* look for what the store gives back; reads its packs */
	const char *driver; /* a driver that is not installed here ("550.163.01", "12.2"); NULL: the
						   system's */
	bool everything;    /* include modules outside the registered sections of libraries */
	const struct jw_recording *recording; /* only its modules, and its texts; NULL: all */
	bool explain; /* find out why modules are cold; reads more of the cache and may take longer */
	struct jw_cancel cancel;
	const struct jw_found *found; /* instead of paths: the files of this search; the result then has
									 their packages, */
	const char *const *named;     /* of which these count even below a package's tests folder */
	size_t named_count;
};

/* Why a module is cold, according to data on disk. */
enum jw_cold_reason {
	JW_COLD_NOT,     /* it is not cold */
	JW_COLD_UNKNOWN, /* the names of this driver's entries are unknown */
	JW_COLD_NEVER,   /* no trace of it was found */
	JW_COLD_DAMAGED, /* its entry exists, but no driver accepts it */
	JW_COLD_DRIVER,  /* another driver has compiled it */
	JW_COLD_FILE,    /* compiled from an earlier version of the file */
	JW_COLD_EVICTED, /* evicted to make room */
	JW_COLD_DELETED, /* deleted by somebody, or by a driver that wiped the cache */
};
/* "never", "damaged", "driver" … as in `check --json`. */
const char *jw_cold_reason_name(enum jw_cold_reason reason);

/* The cold modules of a library for one architecture that have one reason. */
struct jw_check_cause {
	char *path, *member; /* member NULL for a file */
	struct jw_target target;
	enum jw_cold_reason reason;
	char *text; /* a line for people */
	size_t modules;
};

/* Of one GPU architecture. */
struct jw_check_gpu {
	struct jw_target target;
	size_t modules; /* that the driver would compile; warm + cold */
	size_t warm, cold;
	size_t restored; /* of the cold ones, those that the store gives back at once */
	size_t damaged;  /* of the cold ones, those with a damaged entry in the cache */
	size_t unread;   /* of the cold ones, those whose entry this account cannot read */
	struct jw_unplanned unplanned;
	size_t link;                 /* of the cold ones, inputs of a link that is needed */
	size_t left_out;             /* modules that `everything` would include */
	uint64_t cold_bytes;         /* PTX of the cold ones */
	struct jw_forecast forecast; /* of the cold ones */
};

/* A library with cold modules. */
struct jw_check_file {
	char *path, *member; /* member NULL for a file */
	size_t warm, cold;
	double seconds;
};

/* A file with which a program fails: its device code cannot run on a GPU. Of files whose names
 * differ in a version or a GPU only, none counts for want of code if one runs. */
struct jw_check_failing {
	char *file; /* "path" or "path: member" */
	struct jw_target target;
	char *why;    /* a line for people: "will fail: no kernel image for sm_90" */
	bool refused; /* the driver has refused modules of it, which is not for want of code */
	struct jw_driver needs; /* the first driver that is new enough; zeros: its age is not why */
	char *package;          /* of the file; NULL: it is in none that the list of releases has */
	char *runs;             /* the newest release of it that runs on the GPU; NULL: none is known */
};

/* A compiler with which programs compile while they run (NVRTC, NVVM, nvJitLink, ptxas), in the
 * environment of a search, else among its files: too new for the driver or for a GPU, or too old
 * for that. */
struct jw_check_compiler {
	const char *name;               /* "NVRTC" */
	uint32_t cuda;                  /* its CUDA version, 12080 */
	uint32_t needs;                 /* too old: the first CUDA version that knows the GPU; else 0 */
	uint32_t last;                  /* too new for the GPU: the last one that knows it; else 0 */
	bool fails;                     /* false: programs compile more slowly */
	char *file, *package, *version; /* package and version NULL if unknown */
	char *why;                      /* a line for people */
};

/* A package with device code, on one GPU architecture. A module that several packages hold counts
 * for the first. */
struct jw_check_package_gpu {
	struct jw_target target;
	size_t warm, cold;
	size_t failing;              /* files with which a program fails */
	size_t refused;              /* of these, those of which the driver has refused modules */
	bool unsure;                 /* it has pieces of `tile` or `unknown` */
	struct jw_forecast forecast; /* of the cold ones */
};

struct jw_check_package {
	char *name, *version;              /* both NULL for files that no package has installed */
	struct jw_check_package_gpu *gpus; /* those of the result, in its order; without a warm, cold or
										  failing one nothing is compiled */
	size_t gpu_count;
};

struct jw_check_result {
	struct jw_check_gpu *gpus;
	size_t gpu_count;
	struct jw_check_gpu all;     /* the sum of these; has no target */
	struct jw_check_file *files; /* those with modules to compile, the most expensive first */
	size_t file_count;
	struct jw_check_cause *causes; /* with `explain`: in the order of files */
	size_t cause_count;
	struct jw_driver driver;
	uint64_t limit_bytes; /* of the cache under that driver: CUDA_CACHE_MAXSIZE, or its default */
	struct jw_cache_outlook cache; /* entries and bytes are those of a sound index */
	bool here;                     /* the GPUs are this machine's, and so is the driver */
	bool names_known; /* false: the names of this driver's entries are unknown, so all modules count
						 as cold */
	/* One line each: files that could not be read; and last, `assumptions` of them: modules that
	 * were left out, and how others are taken to be loaded. */
	char **notes;
	size_t note_count, assumptions;
	size_t troubles; /* with those of options.found */
	size_t images;   /* files and members of archives with device code that were read */
	struct jw_check_failing *failing;
	size_t failing_count;
	struct jw_check_compiler *compilers; /* of options.found: those that do not fit */
	size_t compiler_count;
	const char *named; /* if !names_known: a release of its branch whose names are known, or NULL */
	struct jw_check_package
		*packages; /* of options.found; the most expensive first, then by name */
	size_t package_count;
	enum jw_verdict verdict;
};

/* -1: no GPU to ask about (JW_ERR_NOT_FOUND), an invalid driver version, JW_ERR_INTERRUPTED. The
 * caller frees with jw_check_result_free. */
int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result);
void jw_check_result_free(struct jw_check_result *result);

#endif
